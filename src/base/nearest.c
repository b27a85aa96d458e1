/* SPDX-License-Identifier: MIT
 *
 * Finds the nearest right spelling, without malloc and stdio, because the worker corrects spellings
 * too.
 */
#include "base/nearest.h"

#include <stdint.h>
#include <string.h>

enum { WORD_MAX = 63 };

/* Returns the optimal string alignment distance: edits plus swaps of neighbours; SIZE_MAX for words
 * longer than WORD_MAX. */
static size_t distance(const char *a, const char *b)
{
    size_t la = strlen(a), lb = strlen(b);
    if (la > WORD_MAX || lb > WORD_MAX)
        return SIZE_MAX;
    size_t d[3][WORD_MAX + 2];
    for (size_t j = 0; j <= lb; j++)
        d[0][j] = j;
    for (size_t i = 1; i <= la; i++) {
        size_t *row = d[i % 3], *up = d[(i - 1) % 3], *up2 = d[(i + 1) % 3];
        row[0] = i;
        for (size_t j = 1; j <= lb; j++) {
            size_t best = up[j - 1] + (a[i - 1] != b[j - 1]);
            if (up[j] + 1 < best)
                best = up[j] + 1;
            if (row[j - 1] + 1 < best)
                best = row[j - 1] + 1;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
                up2[j - 2] + 1 < best)
                best = up2[j - 2] + 1;
            row[j] = best;
        }
    }
    return d[la % 3][lb];
}

const char *ab_text_nearest(const char *word, const char *const *candidates, size_t n)
{
    size_t limit = strlen(word) / 3;
    size_t best = (limit < 1 ? 1 : limit) + 1;
    const char *found = NULL;
    for (size_t i = 0; i < n; i++) {
        size_t d = distance(word, candidates[i]);
        if (d < best) {
            best = d;
            found = candidates[i];
        }
    }
    return found;
}
