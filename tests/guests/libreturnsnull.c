/* SPDX-License-Identifier: MIT
 *
 * Out of memory from the n-th malloc on.
 */
#define TOY_ON_MALLOC(size) \
    do { \
        if (n_mallocs >= 5000 && (size) > 0) { \
            errno = ENOMEM; \
            return NULL; \
        } \
    } while (0)
#include "toy.h"
