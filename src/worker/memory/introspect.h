/* SPDX-License-Identifier: MIT
 *
 * What an allocator says of itself, and how it is told to give memory back. Found by name in the
 * object that serves malloc (a preloaded library must not be asked for what the C library beneath
 * it knows), or among the hooks of a heap. Asking may take long (mallinfo2 walks every free chunk:
 * 326 ms for 1.6 million): at checkpoints only.
 */
#ifndef AB_WORKER_MEMORY_INTROSPECT_H
#define AB_WORKER_MEMORY_INTROSPECT_H

#include "worker/target/allocator_calls.h"

#include <stdbool.h>

enum ab_introspect_kind {
    AB_INTROSPECT_NONE,
    AB_INTROSPECT_MALLINFO,  /* the C library, scudo */
    AB_INTROSPECT_MALLCTL,   /* jemalloc */
    AB_INTROSPECT_EXTENSION, /* tcmalloc */
    AB_INTROSPECT_MIMALLOC,
    AB_INTROSPECT_TBB,  /* can purge, says nothing */
    AB_INTROSPECT_HEAP, /* hooks of a back end */
};

struct ab_introspect {
    enum ab_introspect_kind kind;
    void *ask, *purge; /* functions of the kind; NULL = cannot */
    bool is_libc;
    const struct ab_backend *backend;
    struct ab_heap *heap;
};

/* `object_of` is an address inside the library that serves malloc. */
void ab_introspect_malloc(struct ab_introspect *in, const void *object_of);
void ab_introspect_heap(struct ab_introspect *in, const struct ab_backend *backend,
                        struct ab_heap *heap);

/* UINT64_MAX = it does not say. */
void ab_introspect_ask(const struct ab_introspect *in, uint64_t *allocated, uint64_t *mapped);
/* False when there is no way to. */
bool ab_introspect_purge(const struct ab_introspect *in);

#endif
