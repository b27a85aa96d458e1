/* SPDX-License-Identifier: MIT
 *
 * Quicksort for numbers, with an insertion sort for short ranges.
 */
#include "worker/sort.h"

enum { SHORT = 16 };

static void sort_short(uint64_t *x, uint32_t n)
{
    for (uint32_t i = 1; i < n; i++) {
        uint64_t moved = x[i];
        uint32_t k = i;
        for (; k > 0 && x[k - 1] > moved; k--)
            x[k] = x[k - 1];
        x[k] = moved;
    }
}

static void swap(uint64_t *a, uint64_t *b)
{
    uint64_t was = *a;
    *a = *b;
    *b = was;
}

/* Moves the pivot to the front: the median of three elements at pseudo-random positions. With fixed
 * positions, two interleaved ascending series would take quadratic time. */
static void choose_pivot(uint64_t *x, uint32_t n)
{
    uint64_t random = (n ^ x[n / 2]) * UINT64_C(0x9e3779b97f4a7c15);
    uint64_t *a = &x[(uint32_t)(random >> 40) % n], *b = &x[(uint32_t)(random >> 20) % n];
    uint64_t *c = &x[n / 2];
    uint64_t *low = *a < *b ? a : b, *high = *a < *b ? b : a;
    swap(x, *c < *low ? low : *c > *high ? high : c);
}

/* Recurses into the smaller part and loops over the larger one, so that the stack stays small. */
void ab_sort_ascending(uint64_t *x, uint32_t n)
{
    while (n > SHORT) {
        choose_pivot(x, n);
        const uint64_t pivot = x[0];
        uint32_t i = 0, k = n - 1;
        for (;; i++, k--) {
            while (x[i] < pivot)
                i++;
            while (x[k] > pivot)
                k--;
            if (i >= k)
                break;
            swap(&x[i], &x[k]);
        }
        uint32_t n_low = k + 1;
        uint64_t *small = n_low < n - n_low ? x : x + n_low;
        ab_sort_ascending(small, n_low < n - n_low ? n_low : n - n_low);
        if (small == x)
            x += n_low;
        n = n_low < n - n_low ? n - n_low : n_low;
    }
    sort_short(x, n);
}
