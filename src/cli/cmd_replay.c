/* SPDX-License-Identifier: MIT
 *
 * `replay`: the traces of a command line in their order, each a session with its own answer, files
 * and result; of several, all in one table at the end.
 */
#include "cli/cmd_replay.h"

#include "app/replay.h"
#include "app/trace_outputs.h"
#include "base/bits.h"
#include "cli/commands.h"
#include "cli/terminal.h"
#include "core/text.h"
#include "report/table/sink_traces.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct several {
    const struct ab_options *options;
    struct ab_trace_sums sums;
    bool is_short_of_memory;
    int exit_code;
};

int ab_replay_worse(int a, int b)
{
    static const int by_weight[] = {0, 5, 1, 2, 3, 4};
    size_t of_a = 0, of_b = 0;
    for (size_t i = 0; i < AB_ARRAY_LEN(by_weight); i++) {
        of_a = by_weight[i] == a ? i : of_a;
        of_b = by_weight[i] == b ? i : of_b;
    }
    return of_b > of_a ? b : a;
}

static void keep(void *user, const struct ab_session *session)
{
    struct several *all = user;
    if (!ab_trace_sums_add(&all->sums, session))
        all->is_short_of_memory = true;
}

/* Refuses options that belong to one trace, and missing files, before hours have passed. */
static enum ab_status check(const struct ab_options *o, struct ab_err *err)
{
    if (o->resume != NULL)
        return ab_fail(err, AB_USAGE, "--resume goes on with one trace, %zu are given", o->n_args);
    if (o->baseline != NULL)
        return ab_fail(err, AB_USAGE,
                       "--baseline is of one trace, %zu are given; replay one at a time",
                       o->n_args);
    for (size_t i = 0; i < o->n_args; i++) {
        if (strcmp(o->args[i], "-") == 0)
            return ab_fail(err, AB_USAGE, "standard input (-) cannot be one of several traces");
        if (access(o->args[i], R_OK) != 0)
            return ab_fail_errno(err, AB_INPUT, "cannot read %s", AB_SHOWN(512, o->args[i]));
    }
    return ab_trace_outputs_check(o, err);
}

/* An error of one trace. */
static void tell(struct several *all, enum ab_status status, const char *trace,
                 const struct ab_err *err)
{
    fprintf(stderr, "allocbench: %s\n", AB_SHOWN(1024, err->text));
    if (!ab_trace_sums_add_failed(&all->sums, trace))
        all->is_short_of_memory = true;
    all->exit_code = ab_replay_worse(all->exit_code, ab_status_exit_code(status));
}

/* Not AB_OK: the others are not replayed either. What the first one refuses about the options is taken
 * to concern them all. */
static enum ab_status replay_one(struct several *all, size_t i, struct ab_err *err)
{
    struct ab_options one = *all->options;
    struct ab_replay_watch watch = {.seen = keep, .user = all};
    int exit_code = 0;
    one.args = &all->options->args[i];
    one.n_args = 1;
    if (i > 0 && !one.is_quiet)
        fputc('\n', stdout);
    enum ab_status status = ab_replay(&one, &watch, &exit_code, err);
    all->exit_code = ab_replay_worse(all->exit_code, exit_code);
    if (status == AB_OK || status == AB_INTERRUPTED || (status == AB_USAGE && i == 0))
        return status;
    tell(all, status, one.args[0], err);
    return AB_OK;
}

static void name_rest(const struct ab_options *o, size_t from, struct ab_err *err)
{
    char list[512] = "";
    for (size_t i = from; i < o->n_args; i++)
        ab_text_join(list, sizeof list, ", ", AB_SHOWN(128, o->args[i]));
    if (list[0] != 0 && !o->is_quiet) {
        struct ab_err plain = *err;
        ab_fail(err, plain.status, "%s\nnot replayed: %s", plain.text, list);
    }
}

/* A trace that cannot be read, or whose replay fails, is reported and does not stop the others; what is
 * wrong with the command line stops all. *exit_code is the worst. */
static enum ab_status replay_several(const struct ab_options *o, int *exit_code, struct ab_err *err)
{
    struct several all = {.options = o};
    AB_TRY(check(o, err));
    enum ab_status status = AB_OK;
    size_t i = 0;
    for (; i < o->n_args && status == AB_OK; i++)
        status = replay_one(&all, i, err);
    if (status == AB_INTERRUPTED)
        name_rest(o, i, err);
    if (status != AB_USAGE && !o->is_quiet && all.sums.n > 0) {
        fputc('\n', stdout);
        ab_sink_traces(stdout, &all.sums, ab_terminal_style(o));
    }
    if (status == AB_OK && all.is_short_of_memory)
        status = ab_fail(err, AB_SYSTEM, "out of memory for the table of all traces");
    ab_trace_sums_fini(&all.sums);
    *exit_code = all.exit_code;
    return status;
}

enum ab_status ab_cmd_replay(const struct ab_options *o, int *exit_code, struct ab_err *err)
{
    static const struct ab_replay_watch unwatched;
    return o->n_args > 1 ? replay_several(o, exit_code, err)
                         : ab_replay(o, &unwatched, exit_code, err);
}
