/* SPDX-License-Identifier: MIT
 *
 * Implements `baseline`: stores results under names in RESULTS/baselines, each with a checksum.
 */
#include "app/baselines.h"
#include "app/measure_suite.h"
#include "app/result_store.h"
#include "backend/presets.h"
#include "base/bits.h"
#include "base/nearest.h"
#include "cli/commands.h"
#include "cli/suite_output.h"
#include "cli/terminal.h"
#include "core/alloc.h"
#include "core/output.h"
#include "core/text.h"
#include "document/json.h"
#include "document/json_in.h"
#include "report/table/sink_checks.h"
#include "report/table/sink_table.h"
#include "stats/compare.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct request {
    const struct ab_options *options;
    const char *name; /* NULL for `list` */
    char *folder;     /* folder of baselines */
    char *path;       /* file of this baseline; NULL for `list` */
};

/* ---- the result to keep ---- */

static enum ab_status choose_result(const struct ab_options *o, char **out, struct ab_err *err)
{
    if (o->n_args <= 2)
        return ab_last_result_strictly(&o->store, out, err);
    *out = ab_strdup(o->args[2]);
    return AB_OK;
}

/* Copies the document of `from` with a checksum. A document that had none is marked as unsealed. */
static enum ab_status write_document(const char *from, FILE *to, struct ab_err *err)
{
    json_t *document = NULL;
    char text[AB_CHECKSUM_BYTES];
    enum ab_status status = ab_json_load(from, AB_STORED_FILE_MAX, AB_STORED_DOCUMENT_MAX,
                                         &document, err);
    if (status != AB_OK)
        return status;
    if (ab_checksum_take(document) == AB_CHECKSUM_NONE)
        ab_json_put(document, AB_SEALED_KEY, json_false());
    ab_checksum_make(document, text);
    ab_json_put(document, AB_CHECKSUM_KEY, ab_json_string(text));
    ab_json_write(document, to, 12);
    return AB_OK;
}

static enum ab_status make_folder(const struct request *r, struct ab_err *err)
{
    const char *results = ab_store_folder(&r->options->store);
    if ((mkdir(results, 0777) != 0 && errno != EEXIST) ||
        (mkdir(r->folder, 0777) != 0 && errno != EEXIST))
        return ab_fail_errno(err, AB_USAGE, "cannot create the folder '%s'", r->folder);
    return AB_OK;
}

static enum ab_status store(const struct request *r, const char *from, bool is_new,
                            struct ab_err *err)
{
    struct ab_output file;
    char name[AB_BASELINE_NAME_MAX + 8];
    snprintf(name, sizeof name, "%s.json", r->name);
    enum ab_status status = make_folder(r, err);
    if (status != AB_OK || (status = ab_output_open_new(r->folder, &file, err)) != AB_OK)
        return status;
    status = write_document(from, file.to, err);
    if (status == AB_OK)
        status = is_new ? ab_output_commit_as(&file, name, err)
                        : ab_output_commit_over(&file, name, err);
    ab_output_abandon(&file);
    return status;
}

/* Refuses the newest result if a named back end failed in it, because nobody would notice that it
 * is missing from the baseline. */
static enum ab_status check_failures(const struct request *r, const struct ab_base *base,
                                     struct ab_err *err)
{
    const struct ab_session *s = &base->stored.session;
    for (uint32_t i = 0; i < s->n_backends && r->options->n_args <= 2; i++) {
        const struct ab_backend_info *b = &s->backends[i];
        if (b->was_named && !ab_backend_status_has_numbers(b->status))
            return ab_fail(err, AB_BACKEND,
                           "%s is %s in the newest result, %s: name it if that is meant",
                           AB_SHOWN(256, b->name), ab_backend_status_name(b->status), base->label);
    }
    return AB_OK;
}

/* Reads the new result and checks that it can be compared with. Frees *path on failure. */
static enum ab_status read_new(const struct request *r, char **path, struct ab_base *out,
                               struct ab_err *err)
{
    enum ab_status status = ab_base_read(&r->options->talk, *path, out, err);
    if (status == AB_OK && ((status = ab_base_check(out, err)) != AB_OK ||
                            (status = check_failures(r, out, err)) != AB_OK))
        ab_base_fini(out);
    if (status != AB_OK) {
        free(*path);
        *path = NULL;
    }
    return status;
}

static bool exists(const struct request *r)
{
    struct stat st;
    return lstat(r->path, &st) == 0;
}

/* Prints the rows of a baseline: "truth, 6 rounds: glibc works". */
static void print_rows(const struct ab_session *s)
{
    printf("%s, %u rounds:", AB_SHOWN(300, s->name), s->n_rounds);
    for (uint32_t i = 0; i < s->n_backends; i++)
        if (ab_session_has_numbers(s, i) && !ab_backend_is_null(&s->backends[i]))
            printf(" %s", AB_SHOWN(300, s->backends[i].name));
}

/* True if the back end is a system library, which usually does not change while the user's own
 * does. */
static bool is_control(const struct ab_backend_info *b)
{
    const struct ab_preset *preset = ab_preset_find(b->name);
    return preset != NULL && !ab_preset_is_own(preset) && b->build_id[0] != 0 &&
           ab_backend_is_comparable(b);
}

/* Prints the rows of the baseline and when it was written. Adds a note if no system library is in
 * it as a control, because a change of the machine then looks like a change of the library. */
static void print_kept(const struct ab_session *s, const char *from)
{
    char when[32];
    struct tm tm;
    struct stat st;
    bool has_control = false;
    fputs("  ", stdout);
    if (stat(from, &st) == 0 && gmtime_r(&st.st_mtime, &tm) != NULL &&
        strftime(when, sizeof when, "%Y-%m-%d %H:%M UTC", &tm) > 0)
        printf("written %s: ", when);
    print_rows(s);
    putchar('\n');
    for (uint32_t i = 0; i < s->n_backends; i++)
        has_control = has_control || is_control(&s->backends[i]);
    if (!has_control)
        printf("note: there is no library of the system in it, so that a machine that changes "
               "looks\n  like a library that does; measure glibc along: -b glibc,…\n");
}

/* ---- commands ---- */

/* Prints how the new baseline differs from the old one, or why the two cannot be compared. */
static void print_change(const struct request *r, const struct ab_base *now)
{
    struct ab_base was;
    struct ab_comparison c;
    struct ab_err why;
    if (ab_base_find(&r->options->store, &r->options->talk, r->name, &was, &why) != AB_OK) {
        printf("the baseline before it could not be read: %s\n", why.text);
        return;
    }
    const struct ab_session *a = &was.stored.session, *b = &now->stored.session;
    if (ab_compare_check_whole(a, was.label, &why) != AB_OK ||
        ab_compare_check_work(a, was.label, b, now->label, &why) != AB_OK) {
        printf("%s\n", why.text);
    } else {
        ab_compare_results(a, b, r->options->verdicts.limit, &c);
        c.base_label = was.label;
        c.now_label = now->label;
        ab_sink_compare(stdout, &c, ab_terminal_style(r->options));
        ab_comparison_fini(&c);
    }
    ab_base_fini(&was);
}

/* Stores a suite as a baseline. Every workload that has a result must pass the checks of a
 * baseline. */
static enum ab_status keep_suite(const struct request *r, const char *from, bool is_new,
                                 struct ab_err *err)
{
    struct ab_suite suite;
    AB_TRY(ab_suite_find_file(&r->options->store, &r->options->talk, from, &suite, err));
    enum ab_status status = AB_OK;
    uint32_t n = 0;
    for (uint32_t i = 0; i < suite.n && status == AB_OK; i++) {
        if (suite.items[i].document == NULL)
            continue;
        struct ab_base base = ab_base_of_item(&suite.items[i], from);
        status = ab_base_check(&base, err);
        if (status == AB_OK)
            status = check_failures(r, &base, err);
        ab_base_fini(&base);
        n++;
    }
    if (status == AB_OK)
        status = store(r, from, is_new, err);
    if (status == AB_OK)
        printf("%s baseline %s: %u %ss of %s\n", is_new ? "saved" : "updated", r->name, n,
               ab_session_kind_names[suite.kind], AB_SHOWN(512, from));
    ab_suite_fini(&suite);
    return status;
}

/* Stores a new baseline, or replaces an existing one. */
static enum ab_status keep(const struct request *r, bool is_new, struct ab_err *err)
{
    struct ab_base base;
    char *from = NULL;
    if (is_new && exists(r))
        return ab_fail(err, AB_USAGE,
                       "there is a baseline '%s' already; replace it with allocbench baseline "
                       "update %s",
                       r->name, r->name);
    if (!is_new && !exists(r))
        return ab_baseline_fail_missing(r->folder, r->name, err);
    AB_TRY(choose_result(r->options, &from, err));
    if (ab_suite_is_file(&r->options->store, from)) {
        enum ab_status kept = keep_suite(r, from, is_new, err);
        free(from);
        return kept;
    }
    AB_TRY(read_new(r, &from, &base, err));
    if (!is_new)
        print_change(r, &base);
    enum ab_status status = store(r, from, is_new, err);
    if (status == AB_OK && is_new)
        printf("saved %s as baseline %s: %s\n", base.label, r->name, r->path);
    else if (status == AB_OK)
        printf("updated baseline %s from %s\n", r->name, base.label);
    if (status == AB_OK)
        print_kept(&base.stored.session, from);
    ab_base_fini(&base);
    free(from);
    return status;
}

static enum ab_status show(const struct request *r, struct ab_err *err)
{
    struct ab_base base;
    if (ab_suite_is_file(&r->options->store, r->name))
        return ab_report_suite(r->options, r->path, err);
    enum ab_status status = ab_base_find(&r->options->store, &r->options->talk, r->name, &base,
                                         err);
    if (status != AB_OK)
        return status;
    ab_sink_table(stdout, &base.stored.session, ab_terminal_style(r->options));
    ab_base_fini(&base);
    return AB_OK;
}

static enum ab_status drop(const struct request *r, struct ab_err *err)
{
    if (!exists(r))
        return ab_baseline_fail_missing(r->folder, r->name, err);
    if (unlink(r->path) != 0)
        return ab_fail_errno(err, AB_SYSTEM, "cannot remove '%s'", r->path);
    printf("removed baseline %s\n", r->name);
    return AB_OK;
}

/* Prints one line of the list. Returns AB_INPUT if the baseline cannot be used. */
static enum ab_status list_one(const struct ab_options *o, const char *name)
{
    struct ab_base base;
    struct ab_err why;
    struct ab_suite suite;
    if (ab_suite_is_file(&o->store, name) &&
        ab_suite_find_file(&o->store, &o->talk, name, &suite, &why) == AB_OK) {
        printf("%-20s  %u %ss\n", name, suite.n, ab_session_kind_names[suite.kind]);
        ab_suite_fini(&suite);
        return AB_OK;
    }
    enum ab_status status = ab_base_find(&o->store, &o->talk, name, &base, &why);
    if (status != AB_OK) {
        printf("%-20s  unusable: %s\n", name, why.text);
        return status;
    }
    const struct ab_session *s = &base.stored.session;
    printf("%-20s  ", name);
    print_rows(s);
    if (ab_base_check(&base, &why) != AB_OK) {
        printf("; unusable: %s", why.text);
        status = why.status;
    }
    putchar('\n');
    ab_base_fini(&base);
    return status;
}

static enum ab_status list(const struct request *r, int *exit_code, struct ab_err *err)
{
    char **names;
    size_t n;
    enum ab_status status = ab_baseline_names(r->folder, &names, &n, err);
    if (status != AB_OK)
        return status;
    if (n == 0)
        printf("no baselines in %s; allocbench baseline save NAME RESULT.json\n", r->folder);
    for (size_t i = 0; i < n; i++) {
        enum ab_status one = list_one(r->options, names[i]);
        if (one != AB_OK)
            *exit_code = ab_status_exit_code(one);
    }
    ab_baseline_names_fini(names, n);
    return AB_OK;
}

/* ---- which one ---- */

enum word { SAVE, LIST, SHOW, UPDATE, REMOVE, N_WORDS }; /* in the order of ab_baseline_commands */

static enum ab_status find_word(const struct ab_options *o, enum word *out, struct ab_err *err)
{
    char shown[256];
    if (o->n_args == 0)
        return ab_fail(err, AB_USAGE,
                       "baseline needs a command: save, list, show, update or remove");
    for (size_t i = 0; i < N_WORDS; i++)
        if (strcmp(ab_baseline_commands[i], o->args[0]) == 0) {
            *out = (enum word)i;
            return AB_OK;
        }
    const char *near = ab_text_nearest(o->args[0], ab_baseline_commands, N_WORDS);
    ab_text_printable(shown, sizeof shown, o->args[0]);
    return ab_fail(err, AB_USAGE, "baseline %s: unknown command; %s%s%s", shown,
                   near != NULL ? "did you mean "
                                : "allowed are save, list, show, update and remove",
                   near != NULL ? near : "", near != NULL ? "?" : "");
}

static enum ab_status check_arguments(const struct ab_options *o, enum word word,
                                      struct ab_err *err)
{
    size_t most = word == LIST ? 1 : word == SAVE || word == UPDATE ? 3 : 2;
    if (o->n_args > most)
        return ab_fail(err, AB_USAGE, "baseline %s takes %s", ab_baseline_commands[word],
                       word == LIST ? "no name"
                       : most == 3  ? "a name and a result"
                                    : "one name");
    if (word != LIST && o->n_args < 2)
        return ab_fail(err, AB_USAGE, "baseline %s needs a name: allocbench baseline %s NAME%s",
                       ab_baseline_commands[word], ab_baseline_commands[word],
                       most == 3 ? " [RESULT.json]" : "");
    if ((word == SAVE || word == UPDATE) && ab_base_is_file(o->args[1]))
        return ab_fail(err, AB_USAGE,
                       "'%s' is a file, and cannot be the name of a baseline; allocbench baseline "
                       "%s NAME %s",
                       AB_SHOWN(300, o->args[1]), ab_baseline_commands[word],
                       AB_SHOWN(300, o->args[1]));
    return word == LIST ? AB_OK : ab_baseline_check_name(o->args[1], err);
}

enum ab_status ab_cmd_baseline(const struct ab_options *o, int *exit_code, struct ab_err *err)
{
    struct request r = {.options = o};
    enum word word = LIST;
    enum ab_status status = find_word(o, &word, err);
    if (status != AB_OK || (status = check_arguments(o, word, err)) != AB_OK ||
        (status = ab_baseline_folder(&o->store, &r.folder, err)) != AB_OK)
        return status;
    *exit_code = 0;
    if (word == LIST) {
        status = list(&r, exit_code, err);
    } else {
        r.name = o->args[1];
        r.path = ab_baseline_path(r.folder, r.name);
        status = word == SAVE     ? keep(&r, true, err)
                 : word == UPDATE ? keep(&r, false, err)
                 : word == SHOW   ? show(&r, err)
                                  : drop(&r, err);
    }
    free(r.folder);
    free(r.path);
    return status;
}
