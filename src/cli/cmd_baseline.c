/* SPDX-License-Identifier: MIT
 *
 * Implements `baseline`: stores results under names in RESULTS/baselines, each with a checksum.
 */
#include "app/baselines.h"
#include "app/measure_suite.h"
#include "base/nearest.h"
#include "cli/commands.h"
#include "cli/suite_output.h"
#include "cli/terminal.h"
#include "core/text.h"
#include "report/table/sink_checks.h"
#include "report/table/sink_table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* subcommands, in the order of ab_baseline_commands */
enum word { SAVE, LIST, SHOW, UPDATE, REMOVE, N_WORDS };

struct request {
    const struct ab_options *options;
    enum word word;
    const char *name; /* name of the baseline; NULL for `list` */
};

/* Prints the rows of a baseline, such as "truth, 6 rounds: glibc works". */
static void print_rows(const struct ab_session *s)
{
    printf("%s, %u rounds:", AB_SHOWN(300, s->name), s->n_rounds);
    for (uint32_t i = 0; i < s->n_backends; i++)
        if (ab_session_has_numbers(s, i) && !ab_backend_is_null(&s->backends[i]))
            printf(" %s", AB_SHOWN(300, s->backends[i].name));
}

/* Prints the rows of the baseline and when its result was written. Adds a note if the baseline has
 * no system library as a control, because a change of the machine then looks like a change of the
 * library. */
static void print_kept(const struct ab_kept_baseline *kept)
{
    char when[32];
    struct tm tm;
    struct stat st;
    fputs("  ", stdout);
    if (stat(kept->from, &st) == 0 && gmtime_r(&st.st_mtime, &tm) != NULL &&
        strftime(when, sizeof when, "%Y-%m-%d %H:%M UTC", &tm) > 0)
        printf("written %s: ", when);
    print_rows(&kept->base->stored.session);
    putchar('\n');
    if (!kept->has_control)
        printf("note: the baseline contains no system library, so that a change of the machine\n"
               "looks like a change of the library; measure glibc as well: -b glibc,…\n");
}

/* ---- commands ---- */

/* Prints how the new baseline differs from the old one, or why the two cannot be compared. */
static void print_change(void *user, const struct ab_comparison *c, const struct ab_err *why)
{
    const struct request *r = user;
    if (c == NULL)
        printf("%s\n", why->text);
    else
        ab_sink_compare(stdout, c, ab_terminal_style(r->options));
}

static void show_kept(void *user, const struct ab_kept_baseline *kept)
{
    const struct request *r = user;
    bool is_new = r->word == SAVE;
    if (kept->suite != NULL) {
        printf("%s baseline %s: %u %ss of %s\n", is_new ? "saved" : "updated", r->name,
               kept->n_results, ab_session_kind_names[kept->suite->kind],
               AB_SHOWN(512, kept->from));
        return;
    }
    if (is_new)
        printf("saved %s as baseline %s: %s\n", kept->base->label, r->name, kept->path);
    else
        printf("updated baseline %s from %s\n", r->name, kept->base->label);
    print_kept(kept);
}

/* Stores a new baseline, or replaces an existing one. */
static enum ab_status keep(const struct request *r, int *exit_code, struct ab_err *err)
{
    (void)exit_code;
    const struct ab_options *o = r->options;
    const struct ab_baseline_request request = {
        .talk = o->talk,
        .store = o->store,
        .name = r->name,
        .result = o->n_args > 2 ? o->args[2] : NULL,
        .is_new = r->word == SAVE,
        .limit = o->verdicts.limit,
        .show_change = print_change,
        .show_kept = show_kept,
        .user = (void *)(uintptr_t)r,
    };
    return ab_baseline_keep(&request, err);
}

static enum ab_status show(const struct request *r, int *exit_code, struct ab_err *err)
{
    const struct ab_options *o = r->options;
    struct ab_base base;
    char *path = NULL;
    enum ab_status status = AB_OK;
    (void)exit_code;
    AB_TRY(ab_baseline_path(&o->store, r->name, &path, err));
    if (ab_base_is_suite(&o->store, r->name)) {
        status = ab_report_suite(o, path, err);
    } else if ((status = ab_base_find(&o->store, &o->talk, r->name, &base, err)) == AB_OK) {
        ab_sink_table(stdout, &base.stored.session, ab_terminal_style(o));
        ab_base_fini(&base);
    }
    free(path);
    return status;
}

static enum ab_status drop(const struct request *r, int *exit_code, struct ab_err *err)
{
    (void)exit_code;
    AB_TRY(ab_baseline_drop(&r->options->store, r->name, err));
    printf("removed baseline %s\n", r->name);
    return AB_OK;
}

/* Prints one line of the list. Returns AB_INPUT if the baseline cannot be used. */
static enum ab_status list_one(const struct ab_options *o, const char *name)
{
    struct ab_base base;
    struct ab_err why;
    struct ab_suite suite;
    if (ab_base_is_suite(&o->store, name) &&
        ab_base_find_suite(&o->store, &o->talk, name, &suite, &why) == AB_OK) {
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
    char *folder = NULL, **names = NULL;
    size_t n = 0;
    AB_TRY(ab_baseline_folder(&r->options->store, &folder, err));
    enum ab_status status = ab_baseline_names(folder, &names, &n, err);
    if (status == AB_OK && n == 0)
        printf("no baselines in %s; allocbench baseline save NAME RESULT.json\n", folder);
    for (size_t i = 0; i < n; i++) {
        enum ab_status one = list_one(r->options, names[i]);
        if (one != AB_OK)
            *exit_code = ab_status_exit_code(one);
    }
    ab_baseline_names_fini(names, n);
    free(folder);
    return status;
}

/* ---- finding the subcommand ---- */

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
    return AB_OK;
}

enum ab_status ab_cmd_baseline(const struct ab_options *o, int *exit_code, struct ab_err *err)
{
    static enum ab_status (*const commands[])(const struct request *r, int *exit_code,
                                              struct ab_err *err) = {
        [SAVE] = keep, [LIST] = list, [SHOW] = show, [UPDATE] = keep, [REMOVE] = drop};
    struct request r = {.options = o};
    AB_TRY(find_word(o, &r.word, err));
    AB_TRY(check_arguments(o, r.word, err));
    *exit_code = 0;
    r.name = r.word != LIST ? o->args[1] : NULL;
    return commands[r.word](&r, exit_code, err);
}
