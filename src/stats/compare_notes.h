/* SPDX-License-Identifier: MIT
 *
 * Makes the notes that accompany the cells of a comparison.
 */
#ifndef AB_STATS_COMPARE_NOTES_H
#define AB_STATS_COMPARE_NOTES_H

#include "stats/compare.h"

/* The back end of this name; UINT32_MAX = none. */
uint32_t ab_compare_find(const struct ab_session *s, const char *name);
void ab_comparison_note(struct ab_comparison *c, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* That two rows of one name are not the same: what is mapped where is not in it. */
void ab_comparison_note_rules(struct ab_comparison *c, const struct ab_backend_info *a,
                              const struct ab_backend_info *b);

/* Notes what differs between the two: another machine makes the comparison advisory, all else is a
 * note. */
void ab_comparison_describe(struct ab_comparison *c);

#endif
