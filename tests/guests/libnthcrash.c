/* SPDX-License-Identifier: MIT
 *
 * SIGSEGV in the n-th malloc. The default lies within the pre-flight, which knows the exact op.
 */
#ifndef NTH
#define NTH 5000
#endif
static volatile int *volatile nowhere = (int *)8;

#define TOY_ON_MALLOC(size) \
    do { \
        if (n_mallocs == NTH) \
            *nowhere = (int)(size); \
    } while (0)
#include "toy.h"
