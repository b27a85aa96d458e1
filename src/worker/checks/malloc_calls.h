/* SPDX-License-Identifier: MIT
 *
 * The malloc boundary: the functions under test, for the loops and for the checks.
 */
#ifndef AB_WORKER_CHECKS_MALLOC_CALLS_H
#define AB_WORKER_CHECKS_MALLOC_CALLS_H

#include <stddef.h>

struct ab_malloc_calls { /* NULL = it has none */
    void *(*malloc)(size_t);
    void (*free)(void *);
    void *(*realloc)(void *, size_t);
    void *(*calloc)(size_t, size_t);
    void *(*memalign)(size_t, size_t);
    size_t (*usable_size)(void *);
    void *(*aligned_alloc)(size_t, size_t); /* these two for verify alone: no tape has them */
    int (*posix_memalign)(void **, size_t, size_t); /* from memalign */
};

#endif
