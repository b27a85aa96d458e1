/* SPDX-License-Identifier: MIT
 *
 * `replay`: the traces of a command line in their order, each a session with its own answer, files
 * and result; of several, all in one table at the end.
 */
#include "cli/cmd_replay.h"

#include "app/outputs.h"
#include "app/replay.h"
#include "base/bits.h"
#include "cli/commands.h"
#include "cli/show.h"
#include "cli/terminal.h"
#include "core/text.h"
#include "report/table/sink_table.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* What is kept of several traces. */
static struct ab_traces traces;
static const struct ab_replay_watch whole;

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

static void keep(const struct ab_measured *m)
{
    ab_show_measured(m);
    if (m->status == AB_OK)
        ab_traces_add(&traces, m->session);
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

/* Not AB_OK: the others are not replayed either. What the first one refuses about the options is taken
 * to concern them all. */
static enum ab_status replay_one(const struct ab_options *o, size_t i, int *worst,
                                 struct ab_err *err)
{
    struct ab_options one = *o;
    struct ab_listener listener = *o->listener;
    int exit_code = 0;
    listener.show = keep;
    one.listener = &listener;
    one.args = &o->args[i];
    one.n_args = 1;
    if (i > 0 && !one.is_quiet)
        fputc('\n', stdout);
    enum ab_status status = ab_replay(&one, &whole, &exit_code, err);
    *worst = ab_replay_worse(*worst, exit_code);
    if (status == AB_OK || status == AB_INTERRUPTED || (status == AB_USAGE && i == 0))
        return status;
    fprintf(stderr, "allocbench: %s\n", AB_SHOWN(1024, err->text));
    ab_traces_add_failed(&traces, one.args[0]);
    *worst = ab_replay_worse(*worst, ab_status_exit_code(status));
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
    AB_TRY(check(o, err));
    enum ab_status status = AB_OK;
    size_t i = 0;
    for (; i < o->n_args && status == AB_OK; i++)
        status = replay_one(o, i, exit_code, err);
    if (status == AB_INTERRUPTED)
        name_rest(o, i, err);
    if (status != AB_USAGE && !o->is_quiet && traces.n > 0) {
        fputc('\n', stdout);
        ab_sink_traces(stdout, &traces, ab_terminal_style(o));
    }
    ab_traces_fini(&traces);
    return status;
}

enum ab_status ab_cmd_replay(const struct ab_options *o, int *exit_code, struct ab_err *err)
{
    return o->n_args > 1 ? replay_several(o, exit_code, err) : ab_replay(o, &whole, exit_code, err);
}
