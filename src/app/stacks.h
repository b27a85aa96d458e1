/* SPDX-License-Identifier: MIT
 *
 * Makes flame graphs from the call sites of a trace, weighted by what each stack requested.
 */
#ifndef AB_APP_STACKS_H
#define AB_APP_STACKS_H

#include "app/request.h"
#include "report/flame.h"
#include "symbols/site_match.h"
#include "trace_tools/site_stats.h"
#include "trace_tools/walk.h"

/* Creates a flame graph weighted by one key. Release it with ab_flame_close(). */
struct ab_flame *ab_trace_flame(const struct ab_site_table *table,
                                const struct ab_site_stats *stats, enum ab_flame_by by);
/* Adds the value to the stack of a site; site 0 = unknown stack. Frames are named by function and
 * line, so that two lines of one function are two boxes. */
void ab_stacks_add(struct ab_flame *flame, struct ab_site_names *names, uint32_t site,
                   uint64_t value);
/* Creates a flame graph for each key. Release *out with ab_stacks_fini(). */
void ab_trace_stacks(const struct ab_site_table *table, const struct ab_site_stats *stats,
                     struct ab_stacks *out);
/* Creates the flame graphs by reading the whole file once more. `walk` has path, is_partial and
 * progress. */
enum ab_status ab_trace_stacks_read(const struct ab_walk *walk, struct ab_stacks *out,
                                    struct ab_err *err);

#endif
