/* SPDX-License-Identifier: MIT
 *
 * Spins for ever in the n-th malloc.
 */
#define TOY_ON_MALLOC(size) \
    for (volatile int spin = n_mallocs == 5000; spin;) \
    (void)(size)
#include "toy.h"
