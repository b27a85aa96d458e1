/* SPDX-License-Identifier: MIT
 *
 * Which back ends are measured where none is named. The rule is in defaults.def; it is decided by
 * sums over the work alone, so that the same work gets the same rows on every machine that has the
 * same libraries.
 */
#ifndef AB_BACKEND_DEFAULTS_H
#define AB_BACKEND_DEFAULTS_H

#include "backend/presets.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ab_work {                          /* of the whole tape, what is not measured included */
    uint64_t n_requests, requested_bytes; /* allocations, and resizes with their new size */
    uint64_t largest_bytes;               /* largest request */
    uint64_t live_peak_bytes;
    uint64_t stretch_bytes; /* most that is requested between two bulk resets, or the ends */
};

struct ab_default {
    const char *name;                          /* of a built-in, or of a library of allocbench's */
    bool (*is_suited)(const struct ab_work *); /* NULL = never by itself */
    const char *why, *rule; /* "small mixed sizes"; a sentence without its stop */
};

/* More would take too long: time is per back end. */
enum { AB_DEFAULT_MOST = 8 };

size_t ab_default_count(void);
const struct ab_default *ab_default_at(size_t index);
/* Is the built-in at `index` one of those that the work gets? Of no work (no request): none. */
bool ab_default_suits(size_t index, const struct ab_work *work);
/* Is the library measured by default? Not when it is allocbench's own, nor when it stands for the same
 * allocator as one before it: its first file is one that the other takes in place of its own. */
bool ab_default_has_library(const struct ab_preset *preset);

#endif
