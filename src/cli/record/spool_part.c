/* SPDX-License-Identifier: MIT
 *
 * A file that lacks its end is read as far as it goes and written again, with all of its events.
 */
#include "cli/record/spool_part.h"

#include "trace_tools/rewrite/filter.h"

enum ab_status ab_spool_part_write(const char *part, FILE *to, struct ab_convert_report *report,
                                   struct ab_err *err)
{
    struct ab_walk walk = {.path = part, .is_partial = true};
    struct ab_filter all = {.sizes = AB_EXTENT_ALL, .events = AB_EXTENT_ALL};
    struct ab_filter_report written;
    *report = (struct ab_convert_report){.is_short = true};
    AB_TRY(ab_trace_filter(&walk, &all, to, &written, err));
    report->info = written.info;
    report->n_threads = written.info.threads;
    snprintf(report->damage, sizeof report->damage,
             "it was converted while it ran, and not to the end: what came after is lost");
    return AB_OK;
}
