/* SPDX-License-Identifier: MIT
 *
 * Sorts the JSON files of the folder for results by time, and opens them from the newest on until
 * enough of them are results.
 */
#include "app/last_result.h"

#include "app/file_kind.h"
#include "app/result_store.h"
#include "core/text.h"
#include "report/read/read_result.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Without numbers a result is small: a larger one is not read for that. */
enum { EMPTY_BYTES_MOST = 1 << 20 };

struct candidate {
    char *path; /* malloc'ed */
    struct timespec written;
    off_t bytes;
};

struct candidates {
    struct candidate *items;
    size_t n;
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

static bool is_json(const char *name)
{
    size_t n = strlen(name);
    return n > 5 && name[0] != '.' && strcmp(name + n - 5, ".json") == 0;
}

/* False: out of memory. */
static bool add(struct candidates *list, const char *folder, const char *name)
{
    struct ab_text path = {0};
    struct stat st;
    struct candidate *grown = realloc(list->items, (list->n + 1) * sizeof grown[0]);
    if (grown == NULL)
        return false;
    list->items = grown;
    ab_text_addf(&path, "%s/%s", folder, name);
    if (path.s != NULL && lstat(path.s, &st) == 0 && S_ISREG(st.st_mode))
        list->items[list->n++] = (struct candidate){path.s, st.st_mtim, st.st_size};
    else
        ab_text_fini(&path);
    return true;
}

static bool list_folder(const char *folder, struct candidates *list)
{
    DIR *d = opendir(folder);
    bool ok = true;
    for (struct dirent *e; ok && d != NULL && (e = readdir(d)) != NULL;)
        if (is_json(e->d_name))
            ok = add(list, folder, e->d_name);
    if (d != NULL)
        closedir(d);
    if (list->n > 0)
        qsort(list->items, list->n, sizeof list->items[0], by_age);
    return ok;
}

/* Did every back end fail? Of what cannot be read the command that wants it says why. */
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

/* Takes its path out of the list; NULL where there are fewer. *n is how many there are with numbers,
 * *n_empty how many newer ones without were left out. */
static char *take(struct candidates *list, unsigned back, size_t *n, size_t *n_empty)
{
    *n = *n_empty = 0;
    for (size_t i = 0; i < list->n; i++) {
        if (ab_file_kind_of(list->items[i].path) != AB_FILE_RESULT)
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

/* As ab_last_result; *n_empty newer ones were left out. */
static enum ab_status find(const struct ab_options *o, unsigned back, char **out, size_t *n_empty,
                           struct ab_err *err)
{
    struct ab_options reading = *o;
    struct candidates list = {0};
    size_t n = 0;
    reading.is_store_off = false; /* of what is written, not of what is read */
    const char *folder = ab_store_folder(&reading);
    if (folder == NULL)
        return ab_fail(err, AB_USAGE,
                       "no results are stored here ($ALLOCBENCH_RESULTS is empty): "
                       "give a RESULT.json");
    bool ok = list_folder(folder, &list);
    char *path = ok ? take(&list, back, &n, n_empty) : NULL;
    for (size_t i = 0; i < list.n; i++)
        free(list.items[i].path);
    free(list.items);
    if (!ok)
        return ab_fail(err, AB_SYSTEM, "out of memory");
    if (path == NULL)
        return fail_few(folder, back, n, *n_empty, err);
    *out = path;
    return AB_OK;
}

enum ab_status ab_last_result(const struct ab_options *o, unsigned back, char **out,
                              struct ab_err *err)
{
    size_t n_empty = 0;
    AB_TRY(find(o, back, out, &n_empty, err));
    if (n_empty > 0 && !o->is_quiet)
        fprintf(stderr,
                "allocbench: note: %zu newer result%s left out, in which every back end failed; "
                "this is %s\n",
                n_empty, n_empty == 1 ? " was" : "s were", AB_SHOWN(512, *out));
    return AB_OK;
}

enum ab_status ab_last_result_strictly(const struct ab_options *o, char **out, struct ab_err *err)
{
    size_t n_empty = 0;
    AB_TRY(find(o, 0, out, &n_empty, err));
    if (n_empty == 0)
        return AB_OK;
    enum ab_status status = ab_fail(err, AB_BACKEND,
                                    "every back end failed in the newest result; the newest with "
                                    "numbers is %s: name it if that is meant",
                                    AB_SHOWN(512, *out));
    free(*out);
    *out = NULL;
    return status;
}

enum ab_status ab_last_result_parse(const char *text, unsigned *back, struct ab_err *err)
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
                   "%s is no stored result: @last is the newest, @last~1 the one before it; "
                   "a file of this name is ./%s",
                   AB_SHOWN(256, text), AB_SHOWN(256, text));
}
