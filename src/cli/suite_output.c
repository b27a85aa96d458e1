/* SPDX-License-Identifier: MIT
 *
 * Shows the results of several workloads. If standard output has a document, nothing else is
 * written there. Failures go to standard error, with the name of their workload.
 */
#include "cli/suite_output.h"

#include "app/file_kind.h"
#include "app/measure_suite.h"
#include "cli/requests.h"

#include "answer/suite_view.h"
#include "app/baselines.h"
#include "app/outputs.h"
#include "cli/show.h"
#include "cli/terminal.h"
#include "core/text.h"
#include "report/suite/suite_forms.h"
#include "report/table/sink_table.h"

#include <stdio.h>
#include <string.h>

/* Prints the failed verdicts. With --quiet, nothing else is printed. */
static void tell_verdicts(const struct ab_suite *suite)
{
    struct ab_suite_view v;
    ab_suite_view_make(suite, &v);
    for (size_t i = 0; i < v.n_verdicts; i++)
        fprintf(stderr, "allocbench: %s\n", v.verdicts[i]);
    ab_suite_view_fini(&v);
}

static void tell_failures(const struct ab_suite *suite, bool is_quiet)
{
    char where[300];
    for (uint32_t i = 0; i < suite->n; i++) {
        snprintf(where, sizeof where, "%s: ", AB_SHOWN(256, suite->items[i].name));
        if (suite->items[i].document != NULL)
            ab_failures_tell(&suite->items[i].stored.session, where, is_quiet);
    }
}

static void print(const struct ab_options *o, const struct ab_suite *suite)
{
    FILE *to = ab_outputs_use_stdout(&o->outputs) ? stderr : stdout;
    if (o->talk.is_quiet || ab_outputs_use_stdout(&o->outputs))
        tell_verdicts(suite);
    else
        ab_suite_table(stdout, suite, ab_terminal_style(o));
    for (unsigned i = 0; i < AB_SINK_COUNT; i++)
        if (o->outputs.wants_lines[i])
            ab_sinks[i].write_suite(to, suite);
    fflush(stdout);
}

bool ab_suite_is_asked(const struct ab_options *o)
{
    return o->n_args > 1 || o->is_group ||
           (o->resume.path != NULL && ab_file_kind_of(o->resume.path) == AB_FILE_SUITE);
}

enum ab_status ab_show_suite(const struct ab_options *o, enum ab_session_kind kind, int *exit_code,
                             struct ab_err *err)
{
    const struct ab_measure_request request = ab_measure_request_of(o);
    struct ab_suite_run run = {0};
    enum ab_status status = ab_suite_measure(&request, kind, &run, exit_code, err);
    if (run.suite.n > 0) {
        print(o, &run.suite);
        if (!o->talk.is_quiet)
            ab_store_tell(&run.store);
        tell_failures(&run.suite, o->talk.is_quiet);
    }
    ab_suite_run_fini(&run);
    return status;
}

enum ab_status ab_report_suite(const struct ab_options *o, const char *path, struct ab_err *err)
{
    const struct ab_inputs inputs = ab_inputs_of(o);
    struct ab_suite suite;
    bool makes_file = ab_outputs_asked_for(&o->outputs) != NULL;
    AB_TRY((makes_file ? ab_suite_read_unaltered : ab_suite_read)(path, &suite, err));
    if (suite.checksum == AB_CHECKSUM_WRONG)
        fprintf(stderr, "allocbench: warning: %s was altered after it was written\n",
                AB_SHOWN(512, path));
    ab_unsealed_tell(&o->talk, AB_SHOWN(512, path), suite.checksum, suite.is_unsealed);
    if (o->verdicts.base != NULL) {
        suite.base = o->verdicts.base;
        ab_suite_settle(&suite);
    }
    enum ab_status status = ab_suite_outputs(&o->outputs, &inputs, &suite, err);
    if (status == AB_OK) {
        print(o, &suite);
        for (uint32_t i = 0;
             i < suite.n && o->passes.topics != 0 && !ab_outputs_use_stdout(&o->outputs); i++)
            if (suite.items[i].document != NULL) {
                fputc('\n', stdout);
                ab_sink_table(stdout, &suite.items[i].stored.session, ab_terminal_style(o));
            }
    }
    ab_suite_fini(&suite);
    return status;
}
