/* SPDX-License-Identifier: MIT
 *
 * Finds baselines by name, and reads stored results. Refuses results that were altered after they
 * were written.
 */
#include "app/baselines.h"

#include "app/file_kind.h"
#include "app/result_store.h"
#include "app/say.h"
#include "backend/presets.h"
#include "base/nearest.h"
#include "core/alloc.h"
#include "core/output.h"
#include "core/text.h"
#include "document/json.h"
#include "document/json_in.h"
#include "result/numbers.h"
#include "result/result_fields.h"
#include "stats/compare.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
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

static enum ab_status check_name(const char *name, struct ab_err *err)
{
    char shown[300];
    if (is_name(name, strlen(name)))
        return AB_OK;
    return ab_fail(err, AB_USAGE,
                   "'%s' cannot be the name of a baseline: 1 to %d letters, digits, '.', '_' and "
                   "'-', the first a letter or a digit",
                   ab_text_printable(shown, sizeof shown, name), AB_BASELINE_NAME_MAX);
}

static bool is_file(const char *name_or_file)
{
    return strchr(name_or_file, '/') != NULL || ab_text_ends_with(name_or_file, ENDING) ||
           ab_text_ends_with(name_or_file, ".html");
}

enum ab_status ab_baseline_path(const struct ab_store_wanted *store, const char *name, char **out,
                                struct ab_err *err)
{
    char *folder = NULL;
    AB_TRY(check_name(name, err));
    AB_TRY(ab_baseline_folder(store, &folder, err));
    *out = ab_strdupf("%s/%s" ENDING, folder, name);
    free(folder);
    return AB_OK;
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

/* Fails with AB_INPUT because there is no such baseline. The error suggests the nearest name. */
static enum ab_status fail_missing(const struct ab_store_wanted *store, const char *name,
                                   struct ab_err *err)
{
    char *folder = NULL, **names = NULL, shown[2][300];
    size_t n = 0;
    struct ab_err ignored;
    if (ab_baseline_folder(store, &folder, &ignored) != AB_OK ||
        ab_baseline_names(folder, &names, &n, &ignored) != AB_OK)
        n = 0;
    const char *near = n > 0 ? ab_text_nearest(name, (const char *const *)names, n) : NULL;
    ab_text_printable(shown[0], sizeof shown[0], name);
    ab_text_printable(shown[1], sizeof shown[1], folder != NULL ? folder : "");
    ab_fail(err, AB_INPUT, "there is no baseline '%s' in %s%s%s%s; allocbench baseline save %s",
            shown[0], shown[1], near != NULL ? "; did you mean '" : "", near != NULL ? near : "",
            near != NULL ? "'?" : "", shown[0]);
    ab_baseline_names_fini(names, n);
    free(folder);
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

static enum ab_status base_read(const struct ab_talk *talk, const char *path, struct ab_base *out,
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

enum ab_status ab_base_find(const struct ab_store_wanted *store, const struct ab_talk *talk,
                            const char *name_or_file, struct ab_base *out, struct ab_err *err)
{
    char *path = NULL;
    if (is_file(name_or_file))
        return base_read(talk, name_or_file, out, err);
    AB_TRY(ab_baseline_path(store, name_or_file, &path, err));
    enum ab_status status =
        access(path, F_OK) != 0 && errno == ENOENT
            ? fail_missing(store, name_or_file, err)
            : read_base(talk, path, ab_strdupf(AB_BASELINE_LABEL "%s", name_or_file), out, err);
    free(path);
    return status;
}

/* True if the session counted instructions. One round of counted instructions is enough for a
 * verdict. */
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

/* Returns the path of a baseline or file, malloc'ed; NULL = no such name. */
static char *path_of(const struct ab_store_wanted *store, const char *name_or_file)
{
    struct ab_err ignored;
    char *path = NULL;
    if (is_file(name_or_file))
        return ab_strdup(name_or_file);
    return ab_baseline_path(store, name_or_file, &path, &ignored) == AB_OK ? path : NULL;
}

bool ab_base_is_suite(const struct ab_store_wanted *store, const char *name_or_file)
{
    char *path = path_of(store, name_or_file);
    bool is = path != NULL && ab_file_kind_of(path) == AB_FILE_SUITE;
    free(path);
    return is;
}

enum ab_status ab_base_find_suite(const struct ab_store_wanted *store, const struct ab_talk *talk,
                                  const char *name_or_file, struct ab_suite *out,
                                  struct ab_err *err)
{
    char *path = path_of(store, name_or_file);
    bool is = path != NULL && ab_file_kind_of(path) == AB_FILE_SUITE;
    enum ab_status status =
        is ? ab_suite_read_unaltered(path, out, err)
           : ab_fail(err, path != NULL && access(path, R_OK) != 0 ? AB_INPUT : AB_USAGE,
                     "%s is not the result of several workloads, as of run FILE FILE or run "
                     "@GROUP",
                     AB_SHOWN(512, name_or_file));
    if (status == AB_OK)
        ab_unsealed_tell(talk, AB_SHOWN(512, name_or_file), out->checksum, out->is_unsealed);
    free(path);
    return status;
}

/* ---- results as baselines ---- */

/* Copies the document of `from` with a checksum. A copy of a document without a checksum is marked
 * as unsealed. */
static enum ab_status write_document(const char *from, FILE *to, struct ab_err *err)
{
    json_t *document = NULL;
    char text[AB_CHECKSUM_BYTES];
    AB_TRY(ab_json_load(from, AB_STORED_FILE_MAX, AB_STORED_DOCUMENT_MAX, &document, err));
    if (ab_checksum_take(document) == AB_CHECKSUM_NONE)
        ab_json_put(document, AB_SEALED_KEY, json_false());
    ab_checksum_make(document, text);
    ab_json_put(document, AB_CHECKSUM_KEY, ab_json_string(text));
    ab_json_write(document, to, 12);
    return AB_OK;
}

static enum ab_status make_folder(const struct ab_baseline_request *r, const char *folder,
                                  struct ab_err *err)
{
    const char *results = ab_store_folder(&r->store);
    if ((mkdir(results, 0777) != 0 && errno != EEXIST) ||
        (mkdir(folder, 0777) != 0 && errno != EEXIST))
        return ab_fail_errno(err, AB_USAGE, "cannot create the folder '%s'", folder);
    return AB_OK;
}

static enum ab_status write_file(const struct ab_baseline_request *r, const char *folder,
                                 const char *from, struct ab_err *err)
{
    struct ab_output file;
    char name[AB_BASELINE_NAME_MAX + 8];
    AB_FIT(name, "%s" ENDING, r->name);
    AB_TRY(make_folder(r, folder, err));
    AB_TRY(ab_output_open_new(folder, &file, err));
    enum ab_status status = write_document(from, file.to, err);
    if (status == AB_OK)
        status = r->is_new ? ab_output_commit_as(&file, name, err)
                           : ab_output_commit_over(&file, name, err);
    ab_output_abandon(&file);
    return status;
}

static enum ab_status store(const struct ab_baseline_request *r,
                            const struct ab_kept_baseline *kept, struct ab_err *err)
{
    char *folder = NULL;
    AB_TRY(ab_baseline_folder(&r->store, &folder, err));
    enum ab_status status = write_file(r, folder, kept->from, err);
    free(folder);
    if (status == AB_OK)
        r->show_kept(r->user, kept);
    return status;
}

/* Refuses the newest result if a named back end failed in it, because nobody would notice that the
 * back end is missing from the baseline. */
static enum ab_status check_failures(const struct ab_baseline_request *r,
                                     const struct ab_base *base, struct ab_err *err)
{
    const struct ab_session *s = &base->stored.session;
    for (uint32_t i = 0; i < s->n_backends && r->result == NULL; i++) {
        const struct ab_backend_info *b = &s->backends[i];
        if (b->was_named && !ab_backend_status_has_numbers(b->status))
            return ab_fail(
                err, AB_BACKEND,
                "the newest result, %s, has no numbers of %s (%s): to keep it as a baseline "
                "anyway, give its path",
                base->label, AB_SHOWN(256, b->name), ab_backend_status_name(b->status));
    }
    return AB_OK;
}

/* True if the back end is a system library. Such libraries usually stay the same while the user's
 * own library changes. */
static bool is_control(const struct ab_backend_info *b)
{
    const struct ab_preset *preset = ab_preset_find(b->name);
    return preset != NULL && !ab_preset_is_own(preset) && b->build_id[0] != 0 &&
           ab_backend_is_comparable(b);
}

/* Compares the new result with the baseline that it will replace. */
static void show_change(const struct ab_baseline_request *r, const struct ab_base *now)
{
    struct ab_base was;
    struct ab_comparison c;
    struct ab_err why;
    if (ab_base_find(&r->store, &r->talk, r->name, &was, &why) != AB_OK) {
        ab_err_context(&why, "the baseline before it could not be read: ");
        r->show_change(r->user, NULL, &why);
        return;
    }
    const struct ab_session *a = &was.stored.session, *b = &now->stored.session;
    if (ab_compare_check_whole(a, was.label, &why) != AB_OK ||
        ab_compare_check_work(a, was.label, b, now->label, &why) != AB_OK) {
        r->show_change(r->user, NULL, &why);
    } else {
        ab_compare_results(a, b, r->limit, &c);
        c.base_label = was.label;
        c.now_label = now->label;
        r->show_change(r->user, &c, NULL);
        ab_comparison_fini(&c);
    }
    ab_base_fini(&was);
}

/* Stores a suite as a baseline. The result of every workload must pass the checks of a baseline. */
static enum ab_status keep_suite(const struct ab_baseline_request *r, struct ab_kept_baseline *kept,
                                 struct ab_err *err)
{
    struct ab_suite suite;
    AB_TRY(ab_base_find_suite(&r->store, &r->talk, kept->from, &suite, err));
    enum ab_status status = AB_OK;
    kept->suite = &suite;
    for (uint32_t i = 0; i < suite.n && status == AB_OK; i++) {
        if (suite.items[i].document == NULL)
            continue;
        struct ab_base base = ab_base_of_item(&suite.items[i], kept->from);
        status = ab_base_check(&base, err);
        if (status == AB_OK)
            status = check_failures(r, &base, err);
        ab_base_fini(&base);
        kept->n_results++;
    }
    if (status == AB_OK)
        status = store(r, kept, err);
    ab_suite_fini(&suite);
    return status;
}

static enum ab_status keep_result(const struct ab_baseline_request *r,
                                  struct ab_kept_baseline *kept, struct ab_err *err)
{
    struct ab_base base;
    AB_TRY(base_read(&r->talk, kept->from, &base, err));
    const struct ab_session *s = &base.stored.session;
    enum ab_status status = ab_base_check(&base, err);
    if (status == AB_OK)
        status = check_failures(r, &base, err);
    if (status == AB_OK && !r->is_new)
        show_change(r, &base);
    kept->base = &base;
    for (uint32_t i = 0; i < s->n_backends; i++)
        kept->has_control = kept->has_control || is_control(&s->backends[i]);
    if (status == AB_OK)
        status = store(r, kept, err);
    ab_base_fini(&base);
    return status;
}

static bool exists(const char *path)
{
    struct stat st;
    return lstat(path, &st) == 0;
}

static enum ab_status keep(const struct ab_baseline_request *r, const char *path,
                           struct ab_err *err)
{
    char *from = NULL;
    if (r->is_new && exists(path))
        return ab_fail(err, AB_USAGE,
                       "there is a baseline '%s' already; replace it with allocbench baseline "
                       "update %s",
                       r->name, r->name);
    if (!r->is_new && !exists(path))
        return fail_missing(&r->store, r->name, err);
    if (r->result != NULL)
        from = ab_strdup(r->result);
    else
        AB_TRY(ab_last_result(&r->store, &r->talk, NULL, &from, err));
    struct ab_kept_baseline kept = {.from = from, .path = path};
    bool is_suite = ab_base_is_suite(&r->store, from);
    enum ab_status status = (is_suite ? keep_suite : keep_result)(r, &kept, err);
    free(from);
    return status;
}

enum ab_status ab_baseline_keep(const struct ab_baseline_request *r, struct ab_err *err)
{
    const char *shown = AB_SHOWN(300, r->name);
    char *path = NULL;
    if (is_file(r->name))
        return ab_fail(err, AB_USAGE,
                       "'%s' is a file, and cannot be the name of a baseline; allocbench baseline "
                       "%s NAME %s",
                       shown, r->is_new ? "save" : "update", shown);
    AB_TRY(ab_baseline_path(&r->store, r->name, &path, err));
    enum ab_status status = keep(r, path, err);
    free(path);
    return status;
}

enum ab_status ab_baseline_drop(const struct ab_store_wanted *wanted, const char *name,
                                struct ab_err *err)
{
    char *path = NULL;
    AB_TRY(ab_baseline_path(wanted, name, &path, err));
    enum ab_status status = AB_OK;
    if (!exists(path))
        status = fail_missing(wanted, name, err);
    else if (unlink(path) != 0)
        status = ab_fail_errno(err, AB_SYSTEM, "cannot remove '%s'", path);
    free(path);
    return status;
}
