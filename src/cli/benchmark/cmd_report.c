/* SPDX-License-Identifier: MIT
 *
 * Stored results, printed as they were when they were measured, or written in another form.
 */
#include "cli/benchmark/outputs.h"
#include "cli/commands.h"
#include "cli/compare/base_name.h"
#include "cli/compare/report_several.h"
#include "cli/terminal.h"
#include "core/text.h"
#include "report/read/read_comparison.h"
#include "report/read/read_gates.h"
#include "report/read/read_result.h"
#include "report/table/sink_compare.h"
#include "report/table/sink_table.h"

#include <stdio.h>

/* It may still be looked at; what goes on with its numbers refuses it, and so does a file of them,
 * which would have a checksum of its own. */
static void warn_altered(const char *path)
{
    char shown[512];
    fprintf(stderr, "allocbench: warning: %s was altered after it was written\n",
            ab_text_printable(shown, sizeof shown, path));
}

static void print_tables(const struct ab_options *o, const struct ab_session *s)
{
    ab_sink_table(stdout, s, ab_terminal_style(o));
    if (s->comparison == NULL)
        return;
    fputc('\n', stdout);
    ab_sink_compare(stdout, s->comparison, ab_terminal_style(o));
}

static enum ab_status report_one(const struct ab_options *o, const char *path, struct ab_err *err)
{
    struct ab_stored stored;
    struct ab_outputs outputs = {0};
    char shown[300];
    bool makes_file = ab_outputs_asked_for(o) != NULL;
    AB_TRY((makes_file ? ab_stored_read_unaltered : ab_stored_read)(path, &stored, err));
    if (stored.checksum == AB_CHECKSUM_WRONG)
        warn_altered(path);
    enum ab_status status = ab_base_name_set(o->base, &stored.session, err);
    if (status != AB_OK)
        ab_err_context(err, "%s: ", ab_text_printable(shown, sizeof shown, path));
    if (status == AB_OK)
        status = ab_terminal_check_phase(o, &stored.session, err);
    if (status == AB_OK)
        status = ab_stored_read_gates(path, &stored, err);
    if (status == AB_OK)
        status = ab_stored_read_comparison(path, &stored, err);
    if (status == AB_OK)
        status = ab_outputs_open(o, &outputs, err);
    if (status == AB_OK)
        status = ab_outputs_spare_inputs(&outputs, o, err);
    if (status == AB_OK)
        status = ab_outputs_check(&outputs, &stored.session, err);
    if (status == AB_OK && !ab_outputs_use_stdout(o) && !o->is_quiet)
        print_tables(o, &stored.session);
    if (status == AB_OK)
        status = ab_outputs_write(&outputs, &stored.session, err);
    if (status == AB_OK)
        status = ab_outputs_lines(o, &stored.session, ab_outputs_use_stdout(o) ? stderr : stdout,
                                  err);
    ab_outputs_abandon(&outputs);
    ab_stored_fini(&stored);
    return status;
}

enum ab_status ab_cmd_report(const struct ab_options *o, int *exit_code, struct ab_err *err)
{
    enum ab_status status = AB_OK;
    const char *output = ab_outputs_asked_for(o);
    if (o->n_args == 0)
        return ab_fail(err, AB_USAGE, "report needs a result; see allocbench report --help");
    if (ab_report_several_is_asked(o)) {
        *exit_code = 0;
        return ab_report_several(o, err);
    }
    if (o->n_args > 1 && output != NULL)
        return ab_fail(err, AB_USAGE, "--%s takes one result, %zu are given", output, o->n_args);
    for (size_t i = 0; i < o->n_args && status == AB_OK; i++) {
        if (i > 0 && !o->is_quiet)
            fputc('\n', stdout);
        status = report_one(o, o->args[i], err);
    }
    *exit_code = 0;
    return status;
}
