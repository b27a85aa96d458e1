/* SPDX-License-Identifier: MIT
 *
 * The call sites of a trace as flame graphs: each stack by what was asked for there.
 */
#ifndef AB_APP_STACKS_H
#define AB_APP_STACKS_H

#include "app/options.h"
#include "report/flame.h"
#include "symbols/site_match.h"
#include "trace_tools/site_stats.h"
#include "trace_tools/walk.h"

/* By one key; ends by ab_flame_close. */
struct ab_flame *ab_trace_flame(const struct ab_site_table *table,
                                const struct ab_site_stats *stats, enum ab_flame_by by);
/* Adds the value to the stack of a site, 0 = one that is not known. Frames are named by function and line, so
 * that two lines of one function are two boxes. */
void ab_stacks_add(struct ab_flame *flame, struct ab_site_names *names, uint32_t site,
                   uint64_t value);
/* By each key; ends by ab_stacks_fini. */
void ab_trace_stacks(const struct ab_site_table *table, const struct ab_site_stats *stats,
                     struct ab_stacks *out);
/* The same in a pass of its own over a whole file: walk has path, is_partial and progress. */
enum ab_status ab_trace_stacks_read(const struct ab_walk *walk, struct ab_stacks *out,
                                    struct ab_err *err);

#endif
