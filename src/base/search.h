/* SPDX-License-Identifier: MIT
 *
 * Binary search.
 */
#ifndef AB_BASE_SEARCH_H
#define AB_BASE_SEARCH_H

#include <stddef.h>

/* Returns the first i of 0..n - 1 for which `before` is false; n if there is none. `before` is an
 * expression of `i` that is true up to some i, and false from there on. */
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
