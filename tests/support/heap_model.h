/* SPDX-License-Identifier: MIT
 *
 * Random work on an opened heap beside a model of what must live in it: every live block is full
 * of its own pattern all the time, so overlap, lost prefixes and dirty zeroed memory show. Also
 * the same from several threads that free each other's blocks.
 */
#ifndef AB_TESTS_HEAP_MODEL_H
#define AB_TESTS_HEAP_MODEL_H

#include "allocators/ab_backend.h"

#include <stdbool.h>
#include <stddef.h>

struct heap_model_work {
    unsigned n_ops;
    size_t largest, largest_align; /* sizes are log-uniform up to it */
    bool may_fail;                 /* the heap may run out: 0 is no error then */
};

/* The table that serves these parameters, written as on the command line. */
const struct ab_backend *heap_model_variant(const struct ab_backend *backend, const char *params);
/* Opens a heap of that table; asserts that it opens. */
struct ab_heap *heap_model_open(const struct ab_backend *backend, const char *params,
                                const struct ab_facts *facts);
/* Allocates, resizes, frees, resets and purges. The heap is empty afterwards. */
void heap_model_run(const struct ab_backend *backend, struct ab_heap *heap,
                    const struct heap_model_work *work);
/* Four threads; a part of the blocks is freed by another one. */
void heap_model_run_threads(const struct ab_backend *backend, struct ab_heap *heap, unsigned n_ops,
                            size_t largest);
/* Was madvise(MADV_HUGEPAGE) said of the mapping that p lies in? */
bool heap_model_asks_huge(const void *p);
/* Resident bytes of whole pages in [from, from + bytes). */
size_t heap_model_resident(const void *from, size_t bytes);

#endif
