/* SPDX-License-Identifier: MIT
 *
 * Chooses the folder in which results are kept, makes their names, and replaces the JSON there
 * after each round, as long as it is its own.
 */
#include "app/result_store.h"

#include "base/clock.h"
#include "core/text.h"
#include "report/output.h"
#include "report/sinks/sinks.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DEFAULT_FOLDER "results"
#define FOLDER_VARIABLE "ALLOCBENCH_RESULTS"

enum { SAVING_SHARE = 10 }; /* saving takes at most one part in so many of the time */

const char *ab_store_folder(const struct ab_options *o)
{
    const char *from_environment = getenv(FOLDER_VARIABLE);
    if (o->is_store_off)
        return NULL;
    if (o->results != NULL)
        return o->results;
    if (from_environment == NULL)
        return DEFAULT_FOLDER;
    return from_environment[0] != 0 ? from_environment : NULL;
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

enum ab_status ab_store_open(const struct ab_options *o, struct ab_store *out, struct ab_err *err)
{
    struct ab_err why;
    char shown[sizeof why.text];
    struct ab_store store = {.folder = ab_store_folder(o)};
    if (o->is_store_off && o->results != NULL)
        return ab_fail(err, AB_USAGE, "--results and --no-store are mutually exclusive");
    if (store.folder != NULL && try_folder(store.folder, &store.is_made, &why) != AB_OK) {
        if (o->results != NULL)
            return ab_fail(err, AB_USAGE, "--results: %s",
                           ab_text_printable(shown, sizeof shown, why.text));
        if (!o->is_quiet)
            fprintf(stderr, "allocbench: warning: the result will not be stored: %s\n",
                    ab_text_printable(shown, sizeof shown, why.text));
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

/* The file of store->name is still the one that we put there. */
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
    mkdir(store->folder, 0777); /* it may have been removed meanwhile */
    enum ab_status status = ab_output_open_new(store->folder, &file, err);
    if (status != AB_OK)
        return status;
    if (!ab_sink_json(file.to, session)) {
        ab_output_abandon(&file);
        return ab_fail(err, AB_SYSTEM, "out of memory for the result");
    }
    file.is_draft = is_draft;
    fstat(fileno(file.to), &st);
    status = commit(store, session, &file, err);
    if (status == AB_OK) {
        store->is_made = false;
        store->device = st.st_dev;
        store->inode = st.st_ino;
    }
    return status;
}

/* A failure to save is reported at the end, if saving still fails then. */
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

void ab_store_tell(const struct ab_store *store, FILE *to)
{
    char shown[512];
    if (store->folder != NULL && store->name[0] != 0)
        fprintf(to, "Stored: %s/%s\n", ab_text_printable(shown, sizeof shown, store->folder),
                store->name);
}

void ab_store_close(struct ab_store *store)
{
    if (store->folder != NULL && store->is_made)
        rmdir(store->folder); /* fails where something lies in it, as it should */
    *store = (struct ab_store){0};
}
