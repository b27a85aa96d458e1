/* SPDX-License-Identifier: MIT
 *
 * What a misspelled word was probably meant to be.
 */
#ifndef AB_BASE_NEAREST_H
#define AB_BASE_NEAREST_H

#include <stddef.h>

/* The candidate nearest to `word` by optimal string alignment distance, or NULL when none is
 * near enough to be what was meant (distance ≤ max(1, length/3)). */
const char *ab_text_nearest(const char *word, const char *const *candidates, size_t n);

#endif
