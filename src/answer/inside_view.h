/* SPDX-License-Identifier: MIT
 *
 * CPU time inside and outside of the allocator, over the rounds of `exec --inside`.
 */
#ifndef AB_ANSWER_INSIDE_VIEW_H
#define AB_ANSWER_INSIDE_VIEW_H

#include "answer/grid.h"
#include "stats/effect.h"

struct ab_view;

enum { AB_INSIDE_A_CALL, AB_INSIDE_IN, AB_INSIDE_OUT, AB_INSIDE_SUM, AB_INSIDE_PARTS };

/* One part of the CPU time. The effects are times in ns: `ratio` holds the value itself, NaN = not
 * known. */
struct ab_inside_part {
    struct ab_effect value;  /* median of the rounds; for the sum, the sum of the two medians */
    struct ab_effect change; /* excess over the base's value; not known for the base */
};
/* Computes the parts of a back end and their changes against `base`; `base` UINT32_MAX = no
 * base. */
void ab_inside_of(const struct ab_session *s, uint32_t backend, uint32_t base,
                  struct ab_inside_part out[AB_INSIDE_PARTS]);
/* True if the interval of a difference excludes 0. A difference without an interval is never
 * clear. */
bool ab_inside_is_clear(const struct ab_effect *difference);

/* Writes how much more or less CPU time a row of the ranking takes than the base, in malloc and
 * outside. Returns NULL for the base, or if there is no interval. */
const char *ab_inside_sentence(const struct ab_view *v, uint32_t row, char *buf, size_t cap);
/* Writes what the interposer costs, and whether inside and outside add up to the CPU time of the
 * plain runs. Returns NULL if nothing was measured. */
const char *ab_inside_check(const struct ab_view *v, char *buf, size_t cap);

#endif
