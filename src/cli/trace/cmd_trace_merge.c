/* SPDX-License-Identifier: MIT
 *
 * `trace merge`: several traces as one.
 */
#include "cli/trace/cmd_trace.h"
#include "core/text.h"
#include "trace_tools/rewrite/merge.h"

static void print_summary(const struct ab_options *o, const struct ab_merge_report *r)
{
    fprintf(stderr, "allocbench: %s: %llu events of %llu thread%s, %s\n", AB_SHOWN(600, o->output),
            (unsigned long long)r->info.events, (unsigned long long)r->info.threads,
            r->info.threads == 1 ? "" : "s",
            o->is_serial    ? "one trace after the other"
            : r->is_by_time ? "side by side by their times"
                            : "side by side in proportion to their lengths");
    if (r->has_lost_times)
        fputs("allocbench: the times are left out: not every trace has them\n", stderr);
    if (r->n_lost_marks > 0)
        fprintf(stderr, "allocbench: marks omitted, more than a trace can have: %llu\n",
                (unsigned long long)r->n_lost_marks);
}

enum ab_status ab_trace_cmd_merge(const struct ab_options *o, int *exit_code, struct ab_err *err)
{
    struct ab_trace_watch watch = {.path = o->output};
    struct ab_output out = {0};
    struct ab_merge_report report;
    (void)exit_code;
    AB_TRY(ab_trace_open_output(o, "merge", 1, &out, err));
    ab_progress_begin(&watch.line, o->is_quiet);
    struct ab_merge_request merge = {.paths = o->args + 1,
                                     .n = o->n_args - 1,
                                     .is_serial = o->is_serial,
                                     .is_partial = o->is_partial,
                                     .to = out.to,
                                     .progress = watch.line.is_on ? ab_trace_watch_show : NULL,
                                     .user = &watch};
    enum ab_status status = ab_trace_merge(&merge, &report, err);
    ab_trace_watch_end(&watch);
    if (status == AB_OK)
        status = ab_output_commit(&out, err);
    if (status == AB_OK && !o->is_quiet)
        print_summary(o, &report);
    ab_output_abandon(&out);
    return status;
}
