/* SPDX-License-Identifier: MIT
 *
 * Owners of pinned pages (struct ab_pin): the groups at one moment of a run, and their totals.
 */
#ifndef AB_STATS_PIN_GROUPS_H
#define AB_STATS_PIN_GROUPS_H

#include "result/result.h"

#include <stdbool.h>

struct ab_pins_of {
    const struct ab_pin *pins; /* n groups, the most pinned first; "(others)", "(allocator)" last */
    uint32_t n;
    /* totals over all groups; NaN = not known. resident_bytes: live, internal, pinned and retained
     * bytes together */
    double live_bytes, internal_bytes, pinned_bytes, resident_bytes;
};

/* Finds the groups of a back end at the moment named `at`, in `round` or with AB_PINS_FIRST_ROUND
 * in its first round. If the moment is the end of several phases, takes the last phase. Returns
 * false if there are no groups. */
#define AB_PINS_FIRST_ROUND UINT32_MAX
bool ab_pins_find(const struct ab_session *s, uint32_t backend, uint32_t round, const char *at,
                  struct ab_pins_of *out);

/* The groups of all moments and back ends, so that none needs a search. */
struct ab_pins_list {
    const char **moments; /* that reports show: the one with the most external bytes, the end, then
                             marks and --at */
    uint32_t n_moments, n;
    struct ab_pins_of *items; /* n, as ab_pins_find returns them for the first round of a back end;
                                 sorted by moment, then back end */
};
/* Creates the list. The caller frees moments and items. */
void ab_pins_list_make(const struct ab_session *s, struct ab_pins_list *out);

/* Finds the group of the owner `pin` at another moment or of another back end; NULL = none. */
const struct ab_pin *ab_pins_same(const struct ab_pins_of *in, const struct ab_pin *pin);

/* Writes the name of an owner: "parse_header (http.c:120)", "33-64 B". */
void ab_pin_name(const struct ab_pin *pin, char *buf, size_t cap);

#endif
