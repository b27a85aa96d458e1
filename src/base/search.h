/* SPDX-License-Identifier: MIT
 *
 * Binary search.
 */
#ifndef AB_BASE_SEARCH_H
#define AB_BASE_SEARCH_H

#include <stddef.h>

/* The first of 0..n - 1 that is not `before` (an expression of `i`, true for a first part of them
 * and for none of the rest); n when all are. */
#define AB_SEARCH(i, n, before) \
    __extension__({ \
        size_t low_ = 0, high_ = (n); \
        while (low_ < high_) { \
            size_t i = low_ + (high_ - low_) / 2; \
            if (before) \
                low_ = i + 1; \
            else \
                high_ = i; \
        } \
        low_; \
    })

#endif
