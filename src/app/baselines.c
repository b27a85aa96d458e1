/* SPDX-License-Identifier: MIT
 *
 * Finds baselines by name, and reads stored results. Refuses results that were altered.
 */
#include "app/baselines.h"

#include "app/result_store.h"
#include "app/say.h"
#include "base/nearest.h"
#include "core/alloc.h"
#include "core/text.h"
#include "document/suite_document.h"
#include "result/numbers.h"
#include "result/result_fields.h"
#include "stats/compare.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *const ab_baseline_commands[] = {"save", "list", "show", "update", "remove", NULL};

#define ENDING ".json"

/* ---- names ---- */

enum ab_status ab_baseline_folder(const struct ab_store_wanted *store, char **out,
                                  struct ab_err *err)
{
    const char *results = ab_results_folder(store);
    if (results == NULL)
        return ab_fail(err, AB_USAGE,
                       "there is no folder for baselines: $ALLOCBENCH_RESULTS is empty; give one "
                       "with --results DIR");
    *out = ab_strdupf("%s/baselines", results);
    return AB_OK;
}

static bool is_name(const char *name, size_t n)
{
    if (n == 0 || n > AB_BASELINE_NAME_MAX || !isalnum((unsigned char)name[0]))
        return false;
    for (size_t i = 0; i < n; i++)
        if (!isalnum((unsigned char)name[i]) && strchr("._-", name[i]) == NULL)
            return false;
    return true;
}

enum ab_status ab_baseline_check_name(const char *name, struct ab_err *err)
{
    char shown[300];
    if (is_name(name, strlen(name)))
        return AB_OK;
    return ab_fail(err, AB_USAGE,
                   "'%s' cannot be the name of a baseline: 1 to %d letters, digits, '.', '_' and "
                   "'-', the first a letter or a digit",
                   ab_text_printable(shown, sizeof shown, name), AB_BASELINE_NAME_MAX);
}

char *ab_baseline_path(const char *folder, const char *name)
{
    return ab_strdupf("%s/%s" ENDING, folder, name);
}

static int is_baseline(const struct dirent *entry)
{
    size_t n = strlen(entry->d_name), tail = strlen(ENDING);
    return n > tail && strcmp(entry->d_name + n - tail, ENDING) == 0 &&
           is_name(entry->d_name, n - tail);
}

enum ab_status ab_baseline_names(const char *folder, char ***out, size_t *n, struct ab_err *err)
{
    struct dirent **entries = NULL;
    int found = scandir(folder, &entries, is_baseline, alphasort);
    if (found < 0 && errno != ENOENT)
        return ab_fail_errno(err, AB_INPUT, "cannot read '%s'", folder);
    size_t count = found > 0 ? (size_t)found : 0;
    char **names = ab_alloc_zeroed(count + 1, sizeof names[0]);
    for (size_t i = 0; i < count; i++) {
        names[i] = ab_strndup(entries[i]->d_name, strlen(entries[i]->d_name) - strlen(ENDING));
        free(entries[i]);
    }
    free(entries);
    *out = names;
    *n = count;
    return AB_OK;
}

void ab_baseline_names_fini(char **names, size_t n)
{
    for (size_t i = 0; names != NULL && i < n; i++)
        free(names[i]);
    free(names);
}

enum ab_status ab_baseline_fail_missing(const char *folder, const char *name, struct ab_err *err)
{
    char **names = NULL, shown[2][300];
    size_t n = 0;
    struct ab_err ignored;
    if (ab_baseline_names(folder, &names, &n, &ignored) != AB_OK)
        n = 0;
    const char *near = n > 0 ? ab_text_nearest(name, (const char *const *)names, n) : NULL;
    ab_text_printable(shown[0], sizeof shown[0], name);
    ab_text_printable(shown[1], sizeof shown[1], folder);
    ab_fail(err, AB_INPUT, "there is no baseline '%s' in %s%s%s%s; allocbench baseline save %s",
            shown[0], shown[1], near != NULL ? "; did you mean '" : "", near != NULL ? near : "",
            near != NULL ? "'?" : "", shown[0]);
    ab_baseline_names_fini(names, n);
    return AB_INPUT;
}

/* ---- results ---- */

void ab_unsealed_tell(const struct ab_talk *talk, const char *shown, enum ab_checksum checksum,
                      bool is_unsealed)
{
    if (is_unsealed)
        ab_say(talk,
               "allocbench: warning: %s is unsealed: %s, so a change to it would go "
               "unnoticed",
               shown,
               checksum == AB_CHECKSUM_NONE ? "it has no checksum"
                                            : "it was made from a result without a checksum");
}

/* Reads a stored result. Takes ownership of `label`, even on failure. */
static enum ab_status read_base(const struct ab_talk *talk, const char *path, char *label,
                                struct ab_base *out, struct ab_err *err)
{
    struct ab_base base = {.label = label};
    enum ab_status status = ab_stored_read_unaltered(path, &base.stored, err);
    if (status != AB_OK) {
        free(label);
        return status;
    }
    ab_unsealed_tell(talk, label, base.stored.checksum, base.stored.session.is_unsealed);
    *out = base;
    return AB_OK;
}

enum ab_status ab_base_read(const struct ab_talk *talk, const char *path, struct ab_base *out,
                            struct ab_err *err)
{
    char shown[1024];
    return read_base(talk, path, ab_strdup(ab_text_printable(shown, sizeof shown, path)), out, err);
}

struct ab_base ab_base_of_item(const struct ab_suite_item *item, const char *of)
{
    struct ab_base base = {
        .label = ab_strdupf("%s, %s", AB_SHOWN(512, of), AB_SHOWN(256, item->name))};
    ab_suite_item_copy(item, &base.stored);
    return base;
}

bool ab_base_is_file(const char *name_or_file)
{
    return strchr(name_or_file, '/') != NULL || ab_text_ends_with(name_or_file, ENDING) ||
           ab_text_ends_with(name_or_file, ".html");
}

enum ab_status ab_base_find(const struct ab_store_wanted *store, const struct ab_talk *talk,
                            const char *name_or_file, struct ab_base *out, struct ab_err *err)
{
    char *folder = NULL;
    if (ab_base_is_file(name_or_file))
        return ab_base_read(talk, name_or_file, out, err);
    enum ab_status status = ab_baseline_check_name(name_or_file, err);
    if (status != AB_OK || (status = ab_baseline_folder(store, &folder, err)) != AB_OK)
        return status;
    char *path = ab_baseline_path(folder, name_or_file);
    if (access(path, F_OK) != 0 && errno == ENOENT)
        status = ab_baseline_fail_missing(folder, name_or_file, err);
    else
        status = read_base(talk, path, ab_strdupf(AB_BASELINE_LABEL "%s", name_or_file), out, err);
    free(folder);
    free(path);
    return status;
}

/* True if instructions were counted. One round is enough to judge them. */
static bool has_counts(const struct ab_session *s)
{
    for (size_t i = 0; i < ab_field_count; i++)
        for (uint32_t k = 0; k < s->n_results && strcmp(ab_fields[i].unit, "instructions") == 0;
             k++)
            if (ab_field_exists(&ab_fields[i], &s->results[k]))
                return true;
    return false;
}

enum ab_status ab_base_check(const struct ab_base *base, struct ab_err *err)
{
    const struct ab_session *s = &base->stored.session;
    enum ab_status status = ab_compare_check_whole(s, base->label, err);
    if (status == AB_OK && s->n_rounds < AB_EFFECT_MIN_ROUNDS && !has_counts(s))
        status = ab_fail(err, AB_INPUT,
                         "%s has %u rounds, too few for a verdict: at least %d are needed",
                         base->label, s->n_rounds, AB_EFFECT_MIN_ROUNDS);
    return status;
}

void ab_base_fini(struct ab_base *base)
{
    if (base->label != NULL)
        ab_stored_fini(&base->stored);
    free(base->label);
    *base = (struct ab_base){0};
}
