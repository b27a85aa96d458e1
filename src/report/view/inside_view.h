/* SPDX-License-Identifier: MIT
 *
 * CPU time inside the allocator and outside of it, over the rounds of `exec --inside`.
 */
#ifndef AB_REPORT_VIEW_INSIDE_VIEW_H
#define AB_REPORT_VIEW_INSIDE_VIEW_H

#include "report/view/grid.h"
#include "stats/effect.h"

struct ab_view;

enum { AB_INSIDE_A_CALL, AB_INSIDE_IN, AB_INSIDE_OUT, AB_INSIDE_SUM, AB_INSIDE_PARTS };

/* In ns; `ratio` NaN = not known. */
struct ab_inside_part {
    struct ab_effect value;  /* the median of the rounds; of the sum, that of the two medians */
    struct ab_effect change; /* how much more that is than the base's; of the base not known */
};
/* `base`: UINT32_MAX = none. */
void ab_inside_of(const struct ab_session *s, uint32_t backend, uint32_t base,
                  struct ab_inside_part out[AB_INSIDE_PARTS]);
/* Does the interval of a difference leave out 0? Never without one. */
bool ab_inside_is_clear(const struct ab_effect *difference);

/* A section for each part, for terminals; false: not measured. */
bool ab_inside_grid(const struct ab_view *v, struct ab_grid *g);
/* A column for each part, with bars. */
bool ab_inside_columns(const struct ab_view *v, struct ab_grid *g);
/* Calls of a kind: how many, how long, where the longest was, how many entered the kernel; false: there
 * were none. */
bool ab_inside_calls_grid(const struct ab_view *v, unsigned op, struct ab_grid *g);
/* How much more or less of both a row of the ranking has than the base; NULL: it is the base, or there
 * is no interval. */
const char *ab_inside_sentence(const struct ab_view *v, uint32_t row, char *buf, size_t cap);
/* What the interposer costs, and whether both together are the CPU time of the plain runs; NULL: not
 * measured. */
const char *ab_inside_check(const struct ab_view *v, char *buf, size_t cap);

#endif
