/* SPDX-License-Identifier: MIT
 *
 * exit(3) in the n-th malloc: a status that could be taken for a result.
 */
#include <stdlib.h>

#define TOY_ON_MALLOC(size) \
    do { \
        (void)(size); \
        if (n_mallocs == 5000) \
            exit(3); \
    } while (0)
#include "toy.h"
