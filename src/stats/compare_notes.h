/* SPDX-License-Identifier: MIT
 *
 * What is said beside the cells of a comparison.
 */
#ifndef AB_STATS_COMPARE_NOTES_H
#define AB_STATS_COMPARE_NOTES_H

#include "stats/compare.h"

/* The back end of this name; UINT32_MAX = none. */
uint32_t ab_compare_find(const struct ab_session *s, const char *name);
/* One more note; false when out of memory. */
bool ab_comparison_note(struct ab_comparison *c, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* What differs between the two: another machine makes the comparison advisory, all else is a note.
 * False when out of memory. */
bool ab_comparison_describe(struct ab_comparison *c);

/* Of two results: "regressed" and "improved" become inconclusive where every other back end with the
 * same build id in both moved the same way, at least half as much (on logarithms), and what remains
 * without the least of their changes is within the limit, or the library itself is the same build. */
void ab_comparison_excuse_drift(struct ab_comparison *c);

#endif
