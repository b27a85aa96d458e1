/* SPDX-License-Identifier: MIT
 *
 * How much data of its own a program uses between its calls, by what allocators cost in it: of some
 * sizes of a buffer (replay --cache) the one with which replays differ between allocators most as
 * the program does. For each allocator the size is chosen by the others alone, so that what is then
 * predicted for it is a prediction. Pure functions.
 */
#ifndef AB_CLI_EXEC_CACHE_FIT_H
#define AB_CLI_EXEC_CACHE_FIT_H

#include "stats/effect.h"

#include <stddef.h>

enum { AB_CACHE_FIT_SIZES = 4 };
/* In bytes; the first is 0, a replay without a buffer. */
extern const uint64_t ab_cache_fit_sizes[AB_CACHE_FIT_SIZES];

/* Differences to the base in ns a call, of one allocator; NaN = not known. */
struct ab_cache_fit {
    struct ab_effect measured; /* in the program */
    double predicted[AB_CACHE_FIT_SIZES];
};

/* Does the program show a difference: has it an interval, which leaves out 0? */
bool ab_cache_fit_is_measurable(const struct ab_effect *measured);
/* The size (its index) with the least sum of squares of predicted - measured over all allocators
 * that show a difference but `skip`, each by the width of its interval; the smallest where several
 * are equal. AB_CACHE_FIT_SIZES where there is none to go by. */
size_t ab_cache_fit_choose(const struct ab_cache_fit *fits, size_t n, size_t skip);

#endif
