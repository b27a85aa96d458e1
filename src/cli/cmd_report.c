/* SPDX-License-Identifier: MIT
 *
 * Implements `report`: prints stored results as they were printed when they were measured, or
 * writes them in another form.
 */
#include "app/decision.h"
#include "app/measure_suite.h"
#include "app/outputs.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "cli/requests.h"
#include "cli/show.h"
#include "cli/suite_output.h"
#include "cli/terminal.h"
#include "core/alloc.h"
#include "core/text.h"
#include "document/read_result.h"
#include "report/html/report.h"
#include "report/table/sink_checks.h"
#include "report/table/sink_table.h"

#include <stdio.h>
#include <stdlib.h>

/* Warns that the result was altered. The result may still be shown. But commands that use its
 * numbers refuse it, and no file is written from it, because that file would get a valid
 * checksum. */
static void warn_altered(const char *path)
{
    fprintf(stderr, "allocbench: warning: %s was altered after it was written\n",
            AB_SHOWN(512, path));
}

static void print_tables(const struct ab_options *o, const struct ab_session *s)
{
    ab_sink_table(stdout, s, ab_terminal_style(o));
    if (s->comparison == NULL)
        return;
    fputc('\n', stdout);
    ab_sink_compare(stdout, s->comparison, ab_terminal_style(o));
}

/* Reports a stored result. The caller releases `outputs` and `stored`. */
static enum ab_status report_stored(const struct ab_options *o, const char *path,
                                    struct ab_stored *stored, struct ab_outputs *outputs,
                                    struct ab_err *err)
{
    const struct ab_inputs inputs = ab_inputs_of(o);
    struct ab_session *s = &stored->session;
    if (ab_base_name_set(o->verdicts.base, s, err) != AB_OK)
        return ab_err_context(err, "%s: ", AB_SHOWN(300, path));
    AB_TRY(ab_outputs_check_phase(o->outputs.phase, s->phases, s->n_phases, err));
    AB_TRY(ab_stored_read_checks(path, stored, err));
    ab_unsealed_tell(&o->talk, AB_SHOWN(512, path), stored->checksum, s->is_unsealed);
    AB_TRY(ab_outputs_open(&o->outputs, outputs, err));
    AB_TRY(ab_outputs_spare_inputs(outputs, &o->outputs, &inputs, err));
    AB_TRY(ab_outputs_check(outputs, s, err));
    bool is_taken = ab_outputs_use_stdout(&o->outputs);
    if (!is_taken && !o->talk.is_quiet)
        print_tables(o, s);
    AB_TRY(ab_outputs_write(outputs, s, err));
    ab_outputs_lines(&o->outputs, s, is_taken ? stderr : stdout);
    return AB_OK;
}

static enum ab_status report_one(const struct ab_options *o, const char *path, struct ab_err *err)
{
    struct ab_stored stored;
    struct ab_outputs outputs = {0};
    bool makes_file = ab_outputs_asked_for(&o->outputs) != NULL;
    AB_TRY((makes_file ? ab_stored_read_unaltered : ab_stored_read)(path, &stored, err));
    if (stored.checksum == AB_CHECKSUM_WRONG)
        warn_altered(path);
    enum ab_status status = report_stored(o, path, &stored, &outputs, err);
    ab_outputs_abandon(&outputs);
    ab_stored_fini(&stored);
    return status;
}

/* Several results in one HTML report. Each is compared with the first. The pages show the last
 * result, and the page "Compare" shows all comparisons. */

struct several {
    size_t n; /* number of results; n - 1 of them are compared with the first */
    struct ab_base *results;
    struct ab_comparison *comparisons;
    const struct ab_comparison **list;
};

/* True if there are several results and --html is the only output. */
static bool report_several_is_asked(const struct ab_options *o)
{
    if (o->n_args < 2 || o->outputs.sinks[AB_SINK_HTML] == NULL)
        return false;
    for (unsigned i = 0; i < AB_SINK_COUNT; i++)
        if ((i != AB_SINK_HTML && o->outputs.sinks[i] != NULL) || o->outputs.wants_lines[i])
            return false;
    return true;
}

static enum ab_status read_all(const struct ab_options *o, struct several *x, struct ab_err *err)
{
    for (size_t i = 0; i < x->n; i++) {
        struct ab_base *b = &x->results[i];
        struct ab_session *s = &b->stored.session;
        AB_TRY(ab_base_find(&o->store, &o->talk, o->args[i], b, err));
        AB_TRY(ab_base_name_set(o->verdicts.base, s, err));
        AB_TRY(ab_outputs_check_phase(o->outputs.phase, s->phases, s->n_phases, err));
        AB_TRY(ab_compare_check_whole(s, b->label, err));
        if (i > 0)
            AB_TRY(ab_compare_check_work(&x->results[0].stored.session, x->results[0].label, s,
                                         b->label, err));
    }
    return AB_OK;
}

static void compare_all(const struct ab_options *o, struct several *x)
{
    for (size_t i = 1; i < x->n; i++) {
        struct ab_comparison *c = &x->comparisons[i - 1];
        struct ab_session *now = &x->results[i].stored.session;
        ab_compare_results(&x->results[0].stored.session, now, o->verdicts.limit, c);
        c->base_label = x->results[0].label;
        c->now_label = x->results[i].label;
        x->list[i - 1] = c;
    }
}

static enum ab_status write_report(const struct ab_options *o, const struct several *x,
                                   struct ab_err *err)
{
    const struct ab_inputs inputs = ab_inputs_of(o);
    struct ab_outputs outputs;
    enum ab_status status = ab_outputs_open(&o->outputs, &outputs, err);
    if (status == AB_OK)
        status = ab_outputs_spare_inputs(&outputs, &o->outputs, &inputs, err);
    struct ab_session *last = &x->results[x->n - 1].stored.session;
    if (status == AB_OK) {
        last->embed = o->outputs.embed;
        ab_report_write(outputs.files[AB_SINK_HTML].to, last, x->list, x->n - 1);
        status = ab_output_commit(&outputs.files[AB_SINK_HTML], err);
    }
    ab_outputs_abandon(&outputs);
    return status;
}

static void report_several_print_tables(const struct ab_options *o, const struct several *x)
{
    for (size_t i = 0; i < x->n && !o->talk.is_quiet && !ab_outputs_use_stdout(&o->outputs); i++) {
        if (i > 0)
            fputc('\n', stdout);
        ab_sink_table(stdout, &x->results[i].stored.session, ab_terminal_style(o));
    }
}

/* Reports several results. Fails with AB_USAGE if their work differs. Fails with AB_INPUT if one is
 * unreadable, altered or incomplete. */
static enum ab_status report_several(const struct ab_options *o, struct ab_err *err)
{
    struct several x = {.n = o->n_args};
    x.results = ab_alloc_zeroed(x.n, sizeof x.results[0]);
    x.comparisons = ab_alloc_zeroed(x.n, sizeof x.comparisons[0]);
    x.list = ab_alloc_zeroed(x.n, sizeof x.list[0]);
    enum ab_status status = read_all(o, &x, err);
    if (status == AB_OK) {
        compare_all(o, &x);
        status = write_report(o, &x, err);
        report_several_print_tables(o, &x);
    }
    for (size_t i = 0; i < x.n; i++) {
        ab_comparison_fini(&x.comparisons[i]);
        ab_base_fini(&x.results[i]);
    }
    free(x.results);
    free(x.comparisons);
    free(x.list);
    return status;
}

enum ab_status ab_cmd_report(const struct ab_options *o, int *exit_code, struct ab_err *err)
{
    enum ab_status status = AB_OK;
    const char *output = ab_outputs_asked_for(&o->outputs);
    if (o->n_args == 0)
        return ab_fail(err, AB_USAGE, "report needs a result; see allocbench report --help");
    if (report_several_is_asked(o)) {
        *exit_code = 0;
        return report_several(o, err);
    }
    if (o->n_args > 1 && output != NULL)
        return ab_fail(err, AB_USAGE, "--%s takes one result, %zu are given", output, o->n_args);
    for (size_t i = 0; i < o->n_args && status == AB_OK; i++) {
        if (i > 0 && !o->talk.is_quiet)
            fputc('\n', stdout);
        status = (ab_base_is_suite(&o->store, o->args[i]) ? ab_report_suite
                                                          : report_one)(o, o->args[i], err);
    }
    *exit_code = 0;
    return status;
}
