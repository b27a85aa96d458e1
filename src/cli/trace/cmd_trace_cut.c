/* SPDX-License-Identifier: MIT
 *
 * `trace cut`: writes a part of a trace as a trace, and says what is in it.
 */
#include "cli/one_file.h"
#include "cli/trace/cmd_trace.h"
#include "core/text.h"
#include "trace_tools/cut.h"

#include <string.h>
#include <unistd.h>

static void print_summary(const char *path, const struct ab_cut_report *r)
{
    fprintf(stderr, "allocbench: %s: %llu events", AB_SHOWN(600, path),
            (unsigned long long)r->info.events);
    if (r->n_kept > 0)
        fprintf(stderr, ", the first %llu are allocations from before the cut",
                (unsigned long long)r->n_kept);
    if (r->n_dropped > 0)
        fprintf(stderr, "; %llu calls on blocks from before the cut omitted",
                (unsigned long long)r->n_dropped);
    fputc('\n', stderr);
}

enum ab_status ab_trace_open_file(const struct ab_options *o, size_t first, const char *path,
                                  struct ab_output *out, struct ab_err *err)
{
    AB_TRY(ab_output_open(path, out, err));
    enum ab_status status = ab_spare_inputs(o, first, out, path, err);
    if (status != AB_OK)
        ab_output_abandon(out);
    return status;
}

enum ab_status ab_trace_open_output(const struct ab_options *o, const char *word, size_t first,
                                    struct ab_output *out, struct ab_err *err)
{
    if (o->output == NULL)
        return ab_fail(err, AB_USAGE, "trace %s needs -o: the trace to write", word);
    if (strcmp(o->output, "-") == 0 && isatty(STDOUT_FILENO))
        return ab_fail(err, AB_USAGE,
                       "a trace is binary and not written to a terminal; give a file");
    return ab_trace_open_file(o, first, o->output, out, err);
}

enum ab_status ab_trace_cmd_cut(const struct ab_options *o, int *exit_code, struct ab_err *err)
{
    struct ab_trace_watch watch;
    struct ab_walk walk = {0};
    struct ab_output out = {0};
    struct ab_cut_report report;
    (void)exit_code;
    if (o->output != NULL && !o->has_events)
        return ab_fail(err, AB_USAGE, "trace cut needs --events A..B: the range to keep");
    AB_TRY(ab_trace_open_output(o, "cut", 1, &out, err));
    ab_trace_watch_begin(&watch, o, o->args[1], &walk);
    enum ab_status status = ab_trace_cut(&walk, !o->is_dropping_live, out.to, &report, err);
    ab_trace_watch_end(&watch);
    if (status == AB_OK)
        status = ab_output_commit(&out, err);
    if (status == AB_OK && !o->is_quiet)
        print_summary(o->output, &report);
    ab_output_abandon(&out);
    return status;
}
