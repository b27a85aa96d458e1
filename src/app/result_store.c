/* SPDX-License-Identifier: MIT
 *
 * Chooses the folder for results, names the files, and replaces our JSON file after each round as
 * long as the file is still ours.
 */
#include "app/result_store.h"

#include "app/file_kind.h"
#include "app/say.h"
#include "base/clock.h"
#include "core/alloc.h"
#include "core/output.h"
#include "core/text.h"
#include "document/read_result.h"
#include "document/suite_document.h"
#include "report/sinks/sinks.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DEFAULT_FOLDER "results"
#define FOLDER_VARIABLE "ALLOCBENCH_RESULTS"

enum { SAVING_SHARE = 10 }; /* saving takes at most 1/SAVING_SHARE of the time */

const char *ab_results_folder(const struct ab_store_wanted *wanted)
{
    const char *from_environment = getenv(FOLDER_VARIABLE);
    if (wanted->folder != NULL)
        return wanted->folder;
    if (from_environment == NULL)
        return DEFAULT_FOLDER;
    return from_environment[0] != 0 ? from_environment : NULL;
}

const char *ab_store_folder(const struct ab_store_wanted *wanted)
{
    return wanted->is_off || wanted->is_part ? NULL : ab_results_folder(wanted);
}

static enum ab_status try_folder(const char *folder, bool *is_made, struct ab_err *err)
{
    struct ab_output probe;
    *is_made = mkdir(folder, 0777) == 0;
    if (!*is_made && errno != EEXIST)
        return ab_fail_errno(err, AB_USAGE, "cannot create the folder '%s' for results", folder);
    enum ab_status status = ab_output_open_new(folder, &probe, err);
    if (status == AB_OK)
        ab_output_abandon(&probe);
    else if (*is_made)
        rmdir(folder);
    return status;
}

enum ab_status ab_store_open(const struct ab_store_wanted *wanted, const struct ab_talk *talk,
                             struct ab_store *out, struct ab_err *err)
{
    struct ab_err why;
    struct ab_store store = {.folder = ab_store_folder(wanted)};
    if (wanted->is_off && wanted->folder != NULL)
        return ab_fail(err, AB_USAGE, "--results and --no-store are mutually exclusive");
    if (store.folder != NULL && try_folder(store.folder, &store.is_made, &why) != AB_OK) {
        if (wanted->folder != NULL)
            return ab_fail(err, AB_USAGE, "--results: %s", AB_SHOWN(sizeof why.text, why.text));
        ab_say(talk, "allocbench: warning: the result will not be stored: %s",
               AB_SHOWN(sizeof why.text, why.text));
        store = (struct ab_store){0};
    }
    *out = store;
    return AB_OK;
}

void ab_store_stem(const struct ab_session *session, time_t when, char *buf, size_t cap)
{
    char name[65] = "", stamp[32] = "";
    struct tm tm;
    size_t n = 0;
    for (const char *c = session->name; *c != 0 && n < sizeof name - 1; c++, n++) {
        bool is_plain = isalnum((unsigned char)*c) || strchr("._-", *c) != NULL;
        name[n] = is_plain && !(n == 0 && !isalnum((unsigned char)*c)) ? *c : '_';
    }
    if (gmtime_r(&when, &tm) != NULL)
        strftime(stamp, sizeof stamp, "%Y%m%dT%H%M%S", &tm);
    snprintf(buf, cap, "%s-%s-%.8s", n > 0 ? name : "result", stamp, session->tape_sha256);
}

/* True if the file store->name is still the file that we wrote. */
static bool is_ours(const struct ab_store *store, int directory)
{
    struct stat st;
    return store->name[0] != 0 && fstatat(directory, store->name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
           st.st_dev == store->device && st.st_ino == store->inode;
}

static enum ab_status commit(struct ab_store *store, const struct ab_session *session,
                             struct ab_output *file, struct ab_err *err)
{
    char stem[128];
    if (is_ours(store, file->directory))
        return ab_output_commit_over(file, store->name, err);
    ab_store_stem(session, time(NULL), stem, sizeof stem);
    enum ab_status status = ab_output_commit_new(file, stem, store->name, sizeof store->name, err);
    if (status != AB_OK)
        store->name[0] = 0;
    return status;
}

static enum ab_status put(struct ab_store *store, const struct ab_session *session, bool is_draft,
                          struct ab_err *err)
{
    struct ab_output file;
    struct stat st = {0};
    mkdir(store->folder, 0777); /* the folder may have been removed */
    AB_TRY(ab_output_open_new(store->folder, &file, err));
    if (store->suite != NULL)
        ab_suite_write(file.to, store->suite);
    else
        ab_sink_json(file.to, session);
    file.is_draft = is_draft;
    fstat(fileno(file.to), &st);
    enum ab_status status = commit(store, session, &file, err);
    if (status == AB_OK) {
        store->is_made = false;
        store->device = st.st_dev;
        store->inode = st.st_ino;
    }
    return status;
}

/* Ignores a failure, because ab_store_write() reports it at the end if storing still fails then. */
void ab_store_save(struct ab_store *store, const struct ab_session *session)
{
    struct ab_err err;
    uint64_t begin = ab_clock_now_ns();
    if (store->folder == NULL || begin - store->saved_ns < SAVING_SHARE * store->cost_ns)
        return;
    put(store, session, true, &err);
    store->saved_ns = ab_clock_now_ns();
    store->cost_ns = store->saved_ns - begin;
}

enum ab_status ab_store_write(struct ab_store *store, const struct ab_session *session,
                              struct ab_err *err)
{
    return store->folder == NULL ? AB_OK : put(store, session, false, err);
}

void ab_store_close(struct ab_store *store)
{
    if (store->folder != NULL && store->is_made)
        rmdir(store->folder); /* fails if the folder is not empty, and so keeps it */
    *store = (struct ab_store){0};
}

/* Functions for @last. They sort the JSON files by time, and read files from the newest on until
 * enough of them are results. */

/* Results without numbers are small, so a larger file is not read to find out whether it has
 * numbers. */
enum { EMPTY_BYTES_MOST = 1 << 20 };

struct candidate {
    char *path; /* malloc'ed */
    struct timespec written;
    off_t bytes;
};

struct candidates {
    struct candidate *items;
    size_t n, cap;
};

static int by_age(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;
    if (x->written.tv_sec != y->written.tv_sec)
        return x->written.tv_sec > y->written.tv_sec ? -1 : 1;
    if (x->written.tv_nsec != y->written.tv_nsec)
        return x->written.tv_nsec > y->written.tv_nsec ? -1 : 1;
    return -strcmp(x->path, y->path);
}

static void add(struct candidates *list, char *path)
{
    struct stat st;
    if (lstat(path, &st) != 0 || !S_ISREG(st.st_mode)) {
        free(path);
        return;
    }
    AB_GROW(list->items, list->cap, list->n);
    list->items[list->n++] = (struct candidate){path, st.st_mtim, st.st_size};
}

static void list_folder(const char *folder, struct candidates *list)
{
    DIR *d = opendir(folder);
    for (struct dirent *e; d != NULL && (e = readdir(d)) != NULL;)
        if (e->d_name[0] != '.' && ab_text_ends_with(e->d_name, ".json"))
            add(list, ab_strdupf("%s/%s", folder, e->d_name));
    if (d != NULL)
        closedir(d);
    if (list->n > 0)
        qsort(list->items, list->n, sizeof list->items[0], by_age);
}

/* True if every back end failed. False for a file that cannot be read, because the command that
 * uses the file reports the reason. */
static bool is_empty(const struct candidate *of)
{
    struct ab_stored stored;
    struct ab_err why;
    bool has_numbers = false;
    if (of->bytes > EMPTY_BYTES_MOST || ab_stored_read(of->path, &stored, &why) != AB_OK)
        return false;
    for (uint32_t i = 0; i < stored.session.n_backends; i++)
        has_numbers = has_numbers || ab_session_has_numbers(&stored.session, i);
    has_numbers = has_numbers && stored.session.n_rounds > 0;
    ab_stored_fini(&stored);
    return !has_numbers;
}

/* Removes the path of the result `back` places before the newest from the list and returns it; NULL
 * if there are fewer results. Counts only results with numbers, and sets *n to their number. Sets
 * *n_empty to the number of newer results without numbers. */
static char *take(struct candidates *list, unsigned back, size_t *n, size_t *n_empty)
{
    *n = *n_empty = 0;
    for (size_t i = 0; i < list->n; i++) {
        enum ab_file_kind kind = ab_file_kind_of(list->items[i].path);
        if (kind != AB_FILE_RESULT && kind != AB_FILE_SUITE)
            continue;
        if (is_empty(&list->items[i])) {
            ++*n_empty;
            continue;
        }
        if ((*n)++ < back)
            continue;
        char *path = list->items[i].path;
        list->items[i].path = NULL;
        return path;
    }
    return NULL;
}

static enum ab_status fail_few(const char *folder, unsigned back, size_t n, size_t n_empty,
                               struct ab_err *err)
{
    const char *shown = AB_SHOWN(512, folder);
    if (n == 0 && n_empty > 0)
        return ab_fail(err, AB_INPUT,
                       "there is no stored result with numbers in %s (%zu without: every back end "
                       "failed); give a RESULT.json",
                       shown, n_empty);
    if (n == 0)
        return ab_fail(err, AB_INPUT, "there is no stored result in %s; give a RESULT.json", shown);
    return ab_fail(err, AB_INPUT, "@last~%u: there %s only %zu stored result%s in %s", back,
                   n == 1 ? "is" : "are", n, n == 1 ? "" : "s", shown);
}

/* Finds the result `back` places before the newest. Sets *n_empty to the number of newer results
 * that were skipped. */
static enum ab_status find(const struct ab_store_wanted *wanted, unsigned back, char **out,
                           size_t *n_empty, struct ab_err *err)
{
    struct candidates list = {0};
    size_t n = 0;
    const char *folder = ab_results_folder(wanted);
    if (folder == NULL)
        return ab_fail(err, AB_USAGE,
                       "no results are stored here ($ALLOCBENCH_RESULTS is empty): "
                       "give a RESULT.json");
    list_folder(folder, &list);
    char *path = take(&list, back, &n, n_empty);
    for (size_t i = 0; i < list.n; i++)
        free(list.items[i].path);
    free(list.items);
    if (path == NULL)
        return fail_few(folder, back, n, *n_empty, err);
    *out = path;
    return AB_OK;
}

/* Fails because every back end failed in the newest result. Names in the error the newest result
 * with numbers, *path, and frees that path. */
static enum ab_status refuse_older(char **path, struct ab_err *err)
{
    enum ab_status status = ab_fail(err, AB_BACKEND,
                                    "every back end failed in the newest result; the newest with "
                                    "numbers is %s: give its path to use that one",
                                    AB_SHOWN(512, *path));
    free(*path);
    *path = NULL;
    return status;
}

static enum ab_status parse_last(const char *text, unsigned *back, struct ab_err *err)
{
    static const char name[] = "@last";
    size_t n = sizeof name - 1;
    const char *digits = text + n + 1;
    if (strcmp(text, name) == 0) {
        *back = 0;
        return AB_OK;
    }
    if (strncmp(text, name, n) == 0 && text[n] == '~' && digits[0] != 0 && strlen(digits) <= 6 &&
        strspn(digits, "0123456789") == strlen(digits)) {
        *back = (unsigned)strtoul(digits, NULL, 10);
        return AB_OK;
    }
    return ab_fail(err, AB_USAGE,
                   "%s does not name a stored result: @last is the newest, @last~1 the one before "
                   "it; a file of this name is ./%s",
                   AB_SHOWN(256, text), AB_SHOWN(256, text));
}

enum ab_status ab_last_result(const struct ab_store_wanted *wanted, const struct ab_talk *talk,
                              const char *text, char **out, struct ab_err *err)
{
    size_t n_empty = 0;
    unsigned back = 0;
    if (text != NULL)
        AB_TRY(parse_last(text, &back, err));
    AB_TRY(find(wanted, back, out, &n_empty, err));
    if (text == NULL)
        return n_empty > 0 ? refuse_older(out, err) : AB_OK;
    if (n_empty > 0)
        ab_say(talk,
               "allocbench: note: %zu newer result%s left out, in which every back end failed; "
               "this is %s",
               n_empty, n_empty == 1 ? " was" : "s were", AB_SHOWN(512, *out));
    ab_say(talk, "%s: %s", text, AB_SHOWN(512, *out));
    return AB_OK;
}

/* Files of verified libraries, named by build id. A file is empty if the library passed, else it
 * lists the failed checks, one per line. */

#define FOLDER "verified"
#define NAME_LETTERS "abcdefghijklmnopqrstuvwxyz0123456789_-"

/* Builds the path of the file. Returns false without a build id, with settings, or without a folder
 * for results. */
static bool find_path(const struct ab_store_wanted *wanted, const struct ab_backend_info *b,
                      char out[PATH_MAX])
{
    const char *results = ab_results_folder(wanted);
    bool is_id = b->build_id[0] != 0 &&
                 strspn(b->build_id, "0123456789abcdef") == strlen(b->build_id);
    return results != NULL && is_id && b->settings[0] == 0 &&
           snprintf(out, PATH_MAX, "%s/" FOLDER "/%s", results, b->build_id) < PATH_MAX;
}

static void write_failed(int fd, const struct ab_verify_backend *v, uint32_t n_lines)
{
    if (v->info->status != AB_BACKEND_OK)
        dprintf(fd, "%s\n", ab_backend_status_name(v->info->status));
    for (uint32_t i = 0; v->info->status == AB_BACKEND_OK && i < n_lines; i++)
        if (!v->lines[i].is_info && v->lines[i].verdict != AB_VERIFY_NOT_PROVEN &&
            ab_verify_verdict_fails(v->lines[i].verdict))
            dprintf(fd, "%s\n", v->lines[i].check);
}

void ab_verified_keep(const struct ab_store_wanted *wanted, const struct ab_verify_backend *v,
                      uint32_t n_lines)
{
    const struct ab_backend_info *b = v->info;
    char path[PATH_MAX], folder[PATH_MAX];
    if (!find_path(wanted, b, path))
        return;
    if (v->n_failed > 0 && v->n_failed == v->n_not_proven) { /* no check passed or failed */
        unlink(path);
        return;
    }
    memcpy(folder, path, sizeof folder);
    *strrchr(folder, '/') = 0; /* RESULTS/verified */
    char *end = strrchr(folder, '/');
    *end = 0;
    mkdir(folder, 0777);
    *end = '/';
    mkdir(folder, 0777);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0)
        return;
    write_failed(fd, v, n_lines);
    close(fd);
}

/* Reads the names of failed checks. A line that is not a name ends the list, because anyone may
 * have written the file. */
static void read_failed(FILE *from, struct ab_backend_info *b)
{
    char line[AB_VERIFY_NAME_BYTES + 2];
    while (b->n_verify_failed < AB_VERIFY_FAILED_MAX && fgets(line, sizeof line, from) != NULL) {
        size_t n = strcspn(line, "\n");
        line[n] = 0;
        if (n == 0 || n >= AB_VERIFY_NAME_BYTES || strspn(line, NAME_LETTERS) != n)
            return;
        memcpy(b->verify_failed[b->n_verify_failed++], line, n + 1);
    }
}

void ab_verified_find(const struct ab_store_wanted *wanted, struct ab_session *session)
{
    char path[PATH_MAX];
    for (uint32_t i = 0; i < session->n_backends; i++) {
        struct ab_backend_info *b = &session->backends[i];
        FILE *from = find_path(wanted, b, path) ? fopen(path, "re") : NULL;
        if (from == NULL)
            continue;
        b->n_verify_failed = 0;
        read_failed(from, b);
        b->is_verified = b->n_verify_failed == 0;
        fclose(from);
    }
}
