/* SPDX-License-Identifier: MIT
 *
 * Finds the word that a misspelled word was probably meant to be.
 */
#ifndef AB_BASE_NEAREST_H
#define AB_BASE_NEAREST_H

#include <stddef.h>

/* Returns the candidate nearest to `word` by optimal string alignment distance. Returns NULL if
 * none is near enough (distance ≤ max(1, length/3)). */
const char *ab_text_nearest(const char *word, const char *const *candidates, size_t n);

#endif
