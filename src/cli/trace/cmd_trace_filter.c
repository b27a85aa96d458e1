/* SPDX-License-Identifier: MIT
 *
 * `trace filter` and `trace anonymize`: a trace with less in it, and what is left out.
 */
#include "cli/trace/cmd_trace.h"
#include "core/text.h"
#include "trace_tools/rewrite/filter.h"

static enum ab_status write_filtered(const struct ab_options *o, const char *word,
                                     const struct ab_filter *filter,
                                     struct ab_filter_report *report, struct ab_err *err)
{
    struct ab_trace_watch watch;
    struct ab_walk walk = {0};
    struct ab_output out = {0};
    AB_TRY(ab_trace_open_output(o, word, &out, err));
    ab_trace_watch_begin(&watch, o, o->args[1], &walk);
    enum ab_status status = ab_trace_filter(&walk, filter, out.to, report, err);
    ab_trace_watch_end(&watch);
    if (status == AB_OK)
        status = ab_output_commit(&out, err);
    ab_output_abandon(&out);
    return status;
}

/* Before the filter, so that it is said of the command and not of the trace. */
static enum ab_status check_filter(const struct ab_options *o, struct ab_err *err)
{
    if (o->n_trace_threads > 0 || o->has_sizes || o->has_times || o->has_events)
        return AB_OK;
    return ab_fail(err, AB_USAGE,
                   "trace filter needs --thread, --size, --time or --events: which blocks to keep");
}

enum ab_status ab_trace_cmd_filter(const struct ab_options *o, int *exit_code, struct ab_err *err)
{
    struct ab_filter filter = {.threads = o->trace_threads,
                               .n_threads = o->n_trace_threads,
                               .sizes = o->has_sizes ? o->sizes : AB_EXTENT_ALL,
                               .events = AB_EXTENT_ALL,
                               .has_times = o->has_times};
    struct ab_filter_report r;
    (void)exit_code;
    AB_TRY(check_filter(o, err));
    if (o->has_events)
        filter.events = (struct ab_extent){o->first_event, o->end_event};
    if (o->has_times) /* the clock of a trace has ticks of 1 us: of B the tick that begins before it */
        filter.times_us = (struct ab_extent){
            (o->times.first + 999) / 1000,
            o->times.end == UINT64_MAX ? UINT64_MAX : (o->times.end + 999) / 1000};
    AB_TRY(write_filtered(o, "filter", &filter, &r, err));
    if (!o->is_quiet)
        fprintf(stderr, "allocbench: %s: %llu of %llu events\n", AB_SHOWN(600, o->output),
                (unsigned long long)r.info.events, (unsigned long long)r.before.events);
    return AB_OK;
}

enum ab_status ab_trace_cmd_anonymize(const struct ab_options *o, int *exit_code,
                                      struct ab_err *err)
{
    struct ab_filter filter = {
        .sizes = AB_EXTENT_ALL, .events = AB_EXTENT_ALL, .is_anonymous = true};
    struct ab_filter_report r;
    (void)exit_code;
    AB_TRY(write_filtered(o, "anonymize", &filter, &r, err));
    if (o->is_quiet)
        return AB_OK;
    fprintf(stderr, "allocbench: %s: %llu events\n", AB_SHOWN(600, o->output),
            (unsigned long long)r.info.events);
    if (r.before.program[0] != 0)
        fprintf(stderr, "allocbench: removed: the name of the program (%s)\n",
                AB_SHOWN(1024, r.before.program));
    if (r.before.has_sites)
        fputs("allocbench: removed: the call sites\n", stderr);
    if (r.before.has_marks)
        fputs("allocbench: removed: the names of the marks\n", stderr);
    if (r.before.bypass.is_there)
        fputs("allocbench: removed: the note of what was not seen, with the names of libraries\n",
              stderr);
    if (r.before.optional_chunks > 0)
        fprintf(stderr, "allocbench: removed: %llu chunk%s of optional data\n",
                (unsigned long long)r.before.optional_chunks,
                r.before.optional_chunks == 1 ? "" : "s");
    fprintf(stderr,
            "allocbench: kept: calls, sizes, alignments, threads as numbers%s, and their "
            "order\n",
            r.before.has_time ? ", times since the first call" : "");
    return AB_OK;
}
