/* SPDX-License-Identifier: MIT
 *
 * Who pins the pages (struct ab_pin): the groups of one moment of a run, and what they have in all.
 */
#ifndef AB_STATS_PINS_H
#define AB_STATS_PINS_H

#include "result/result.h"

#include <stdbool.h>

struct ab_pins_of {
    const struct ab_pin
        *pins; /* n of them, the most pinned first; "(others)", "(allocator)" last */
    uint32_t n;
    /* Over all of them; NaN = not known. Resident: all four kinds together. */
    double live_bytes, internal_bytes, pinned_bytes, resident_bytes;
};

/* Of a back end in its first round, or with `round` in that one; of several ends the last. False: it
 * has none. */
#define AB_PINS_FIRST_ROUND UINT32_MAX
bool ab_pins_find(const struct ab_session *s, uint32_t backend, uint32_t round, const char *at,
                  struct ab_pins_of *out);

/* What is shown of a run, by number from 0: the moment with the most external bytes, the end, and those
 * of marks and --at. NULL: there are no more. */
const char *ab_pins_shown(const struct ab_session *s, uint32_t number);

/* The same owner at another moment, or of another back end; NULL = none. */
const struct ab_pin *ab_pins_same(const struct ab_pins_of *in, const struct ab_pin *pin);

/* "parse_header (http.c:120)", "33-64 B". */
void ab_pin_name(const struct ab_pin *pin, char *buf, size_t cap);

#endif
