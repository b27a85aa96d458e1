/* SPDX-License-Identifier: MIT
 *
 * Implements `compare`: prints the comparisons of stored results with the first of them.
 */
#include "app/compare_files.h"
#include "app/decision.h"
#include "app/outputs.h"
#include "cli/commands.h"
#include "cli/requests.h"
#include "cli/show.h"
#include "cli/terminal.h"

#include <stdio.h>
#include <string.h>

static enum ab_status check_arguments(const struct ab_options *o, struct ab_err *err)
{
    const char *output = ab_outputs_asked_for(&o->outputs);
    if (o->n_args < 2)
        return ab_fail(err, AB_USAGE,
                       "compare needs a base and at least one new result: allocbench compare "
                       "BASE.json NEW.json");
    if (o->n_args > 2 && output != NULL)
        return ab_fail(err, AB_USAGE, "--%s takes one new result, %zu are given", output,
                       o->n_args - 1);
    if (output != NULL && ab_base_is_suite(&o->store, o->args[0]))
        return ab_fail(err, AB_USAGE, "--%s is of one workload; of several there is --json",
                       output);
    if (o->json != NULL && strcmp(o->json, "-") == 0 && ab_outputs_use_stdout(&o->outputs))
        return ab_fail(err, AB_USAGE, "only one output can be standard output");
    return AB_OK;
}

static bool is_stdout_taken(const struct ab_options *o)
{
    return ab_outputs_use_stdout(&o->outputs) || (o->json != NULL && strcmp(o->json, "-") == 0);
}

static void print_one(const struct ab_options *o, const struct ab_session *now, const char *file,
                      FILE *to)
{
    struct ab_table_style style = ab_terminal_style(o);
    style.color = style.color && to == stdout;
    ab_verdicts_print(to, o->store.folder, now, file, style);
}

/* Prints the tables, unless standard output has a document or --quiet is given. */
static void print_all(const struct ab_options *o, const struct ab_base *news, size_t n,
                      bool are_of_suites)
{
    bool is_taken = is_stdout_taken(o);
    for (size_t i = 0; i < n; i++) {
        const struct ab_session *now = &news[i].stored.session;
        bool is_bad = ab_verdict_status(&o->verdicts, now) != AB_OK;
        if (o->talk.is_quiet) {
            ab_verdicts_tell(now, o->verdicts.fails_inconclusive);
            continue;
        }
        if (i > 0 && !is_taken)
            fputc('\n', stdout);
        if (!is_taken || is_bad)
            print_one(o, now, are_of_suites ? NULL : o->args[i + 1], is_taken ? stderr : stdout);
    }
}

static void show(void *user, const struct ab_base *news, size_t n, bool are_of_suites,
                 bool is_written)
{
    const struct ab_options *o = user;
    print_all(o, news, n, are_of_suites);
    for (size_t i = 0; i < n && is_written; i++)
        ab_outputs_lines(&o->outputs, &news[i].stored.session,
                         is_stdout_taken(o) ? stderr : stdout);
}

enum ab_status ab_cmd_compare(const struct ab_options *o, int *exit_code, struct ab_err *err)
{
    const struct ab_compare_request request = {
        .talk = o->talk,
        .inputs = ab_inputs_of(o),
        .verdicts = o->verdicts,
        .store = o->store,
        .outputs = o->outputs,
        .json = o->json,
        .show = show,
        .user = (void *)(uintptr_t)o,
    };
    AB_TRY(check_arguments(o, err));
    return ab_compare_files(&request, exit_code, err);
}
