/* SPDX-License-Identifier: MIT
 *
 * An allocator as the checks see it: hooks of a heap, or the eight functions of a malloc behind
 * the same calls. Every request has a spelling, so that a failure names the exact call that shows
 * it, and every call is noted (worker/crash/crash.h) for the case that it does not return.
 */
#ifndef AB_WORKER_CHECKS_TARGET_H
#define AB_WORKER_CHECKS_TARGET_H

#include "allocators/ab_backend.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Sentences in a process that may call neither stdio nor malloc: parts joined in a fixed buffer,
 * which is always terminated; what does not fit is left off. */

struct ab_words {
    char text[400];
    size_t n;
};

void ab_words_add(struct ab_words *w, const char *text);
void ab_words_hex(struct ab_words *w, uint64_t n); /* 0x… */
/* `text`, then the number. */
void ab_words_pair(struct ab_words *w, const char *text, uint64_t n);

/* The malloc boundary: the functions under test, for the loops and for the checks. */

struct ab_malloc_calls { /* NULL = it has none */
    void *(*malloc)(size_t);
    void (*free)(void *);
    void *(*realloc)(void *, size_t);
    void *(*calloc)(size_t, size_t);
    void *(*memalign)(size_t, size_t);
    size_t (*usable_size)(void *);
    void *(*aligned_alloc)(size_t, size_t); /* these two for verify alone: no tape has them */
    int (*posix_memalign)(void **, size_t, size_t); /* from memalign */
    void (*free_sized)(void *, size_t, int);        /* never NULL: plain free where it has none */
    void *free_aligned; /* by size, of a block with an alignment; NULL: plain free does it */
    enum ab_sized_shape { /* what that takes behind the block; of FLAGS, jemalloc's: the alignment's log2 */
                          AB_SIZED_ALIGN_FIRST,
                          AB_SIZED_SIZE_FIRST,
                          AB_SIZED_FLAGS
    } aligned_shape;
};

/* Of a block that was allocated with an alignment. */
void ab_malloc_free_aligned(const struct ab_malloc_calls *face, void *block, size_t size,
                            unsigned align_log2);

/* Every library's function is called alike, without a shim that would tax some of them: what takes fewer
 * arguments does not look at the last one. */
static inline __attribute__((always_inline)) void ab_malloc_free_sized(
    const struct ab_malloc_calls *face, void *block, size_t size, unsigned align_log2)
{
    if (__builtin_expect(align_log2 == 0, 1))
        face->free_sized(block, size, 0);
    else
        ab_malloc_free_aligned(face, block, size, align_log2);
}

struct ab_target {
    const struct ab_backend *hooks; /* of a heap, else NULL */
    struct ab_heap *heap;
    struct ab_malloc_calls calls; /* of a malloc */
    uint64_t traits;              /* enum ab_trait */
};

enum ab_call {
    AB_CALL_ALLOC,
    AB_CALL_ZEROED,
    AB_CALL_ALIGNED, /* memalign */
    AB_CALL_C11,     /* aligned_alloc; malloc boundary only, like the next */
    AB_CALL_POSIX,   /* posix_memalign */
    AB_CALL_COUNT
};

struct ab_ask {
    enum ab_call call;
    size_t align; /* of the aligned calls, else 0 */
    size_t size;
};

struct ab_sized { /* a block whose size is told where it is freed */
    size_t size;
    unsigned align_log2; /* as it was allocated; 0 = natural */
};

bool ab_target_is_malloc(const struct ab_target *t);
bool ab_target_has(const struct ab_target *t, enum ab_call call);
bool ab_target_can_resize(const struct ab_target *t);
bool ab_target_can_free(const struct ab_target *t); /* and gives back what it frees */

/* `heap` is the calling thread's, of a malloc ignored. */
ab_ref ab_target_ask(const struct ab_target *t, struct ab_heap *heap, const struct ab_ask *ask);
/* Of a malloc that has a calloc. */
ab_ref ab_target_calloc(const struct ab_target *t, size_t n, size_t size);
ab_ref ab_target_resize(const struct ab_target *t, struct ab_heap *heap, ab_ref ref,
                        const size_t sizes[2]); /* old, new */
void ab_target_free(const struct ab_target *t, struct ab_heap *heap, ab_ref ref, size_t size);
/* The same by the function that takes the size. */
void ab_target_free_sized(const struct ab_target *t, struct ab_heap *heap, ab_ref ref,
                          const struct ab_sized *sized);
/* Of a heap that has a reset. */
void ab_target_reset(const struct ab_target *t, struct ab_heap *heap);
/* Of one that has save points. */
bool ab_target_has_marks(const struct ab_target *t);
uint64_t ab_target_mark(const struct ab_target *t, struct ab_heap *heap);
void ab_target_release(const struct ab_target *t, struct ab_heap *heap, uint64_t mark);
/* SIZE_MAX = it does not say. */
size_t ab_target_usable(const struct ab_target *t, struct ab_heap *heap, ab_ref ref);
/* NULL for a stale handle. */
void *ab_target_address(const struct ab_target *t, struct ab_heap *heap, ab_ref ref);

/* "memalign(256, 256)", "alloc_aligned(256, 256)"; "realloc(100 -> 200)". */
void ab_words_ask(struct ab_words *w, const struct ab_target *t, const struct ab_ask *ask);
void ab_words_resize(struct ab_words *w, const struct ab_target *t, const size_t sizes[2]);

#endif
