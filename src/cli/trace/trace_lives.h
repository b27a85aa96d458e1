/* SPDX-License-Identifier: MIT
 *
 * Sizes of blocks against their lifetimes, as a table: what fits an arena is on the left, what fits
 * a pool or slab is a row, and what stays is on the right.
 */
#ifndef AB_CLI_TRACE_TRACE_LIVES_H
#define AB_CLI_TRACE_TRACE_LIVES_H

#include "report/json.h"
#include "trace_tools/site_stats.h"

#include <stdio.h>

void ab_trace_print_lives(FILE *to, const struct ab_site_stats *s);
json_t *ab_trace_lives_json(struct ab_json *w, const struct ab_site_stats *s);

#endif
