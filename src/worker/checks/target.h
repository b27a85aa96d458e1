/* SPDX-License-Identifier: MIT
 *
 * An allocator as the checks see it. The same calls reach the hooks of a heap, or the functions of
 * a malloc library. Every request can be written as text, so that a message about a failure names
 * the exact call. Every call is noted (worker/crash/crash.h) in case it does not return.
 */
#ifndef AB_WORKER_CHECKS_TARGET_H
#define AB_WORKER_CHECKS_TARGET_H

#include "allocators/ab_backend.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Text building for a process that may call neither stdio nor malloc. Parts are joined in a fixed
 * buffer, which is always terminated; excess text is cut off. */

struct ab_words {
    char text[400];
    size_t n;
};

void ab_words_add(struct ab_words *w, const char *text);
void ab_words_hex(struct ab_words *w, uint64_t n); /* 0x… */
/* Appends `text`, then the number in decimal. */
void ab_words_pair(struct ab_words *w, const char *text, uint64_t n);

/* The functions under test of the malloc boundary. The loops and the checks call them. */

struct ab_malloc_calls { /* NULL = the library has no such function */
    void *(*malloc)(size_t);
    void (*free)(void *);
    void *(*realloc)(void *, size_t);
    void *(*calloc)(size_t, size_t);
    void *(*memalign)(size_t, size_t);
    size_t (*usable_size)(void *);
    /* aligned_alloc and posix_memalign are only for `verify`: no tape has them */
    void *(*aligned_alloc)(size_t, size_t);
    int (*posix_memalign)(void **, size_t, size_t);
    /* frees a block by size; never NULL, because plain free stands in */
    void (*free_sized)(void *, size_t, int);
    void *free_aligned; /* frees an aligned block by size; NULL: plain free is used */
    /* The two arguments of free_aligned after the block. ALIGN_FIRST: alignment, size; SIZE_FIRST:
     * size, alignment; FLAGS: size, then jemalloc's flags, which hold the log2 of the alignment. */
    enum ab_sized_shape { AB_SIZED_ALIGN_FIRST, AB_SIZED_SIZE_FIRST, AB_SIZED_FLAGS } aligned_shape;
};

/* Frees a block by size that was allocated with an alignment. */
void ab_malloc_free_aligned(const struct ab_malloc_calls *face, void *block, size_t size,
                            unsigned align_log2);

/* Frees a block by size. Calls the function of every library with three arguments, because an
 * adapter would cost some libraries time. Functions with fewer parameters ignore the last
 * arguments. */
static inline __attribute__((always_inline)) void ab_malloc_free_sized(
    const struct ab_malloc_calls *face, void *block, size_t size, unsigned align_log2)
{
    if (__builtin_expect(align_log2 == 0, 1))
        face->free_sized(block, size, 0);
    else
        ab_malloc_free_aligned(face, block, size, align_log2);
}

struct ab_target {
    const struct ab_backend *hooks; /* hooks of a heap, else NULL */
    struct ab_heap *heap;
    struct ab_malloc_calls calls; /* functions of a malloc, else all NULL */
    uint64_t traits;              /* enum ab_trait */
};

enum ab_call {
    AB_CALL_ALLOC,
    AB_CALL_ZEROED,
    AB_CALL_ALIGNED, /* memalign */
    AB_CALL_C11,     /* aligned_alloc; only at the malloc boundary */
    AB_CALL_POSIX,   /* posix_memalign; only at the malloc boundary */
    AB_CALL_COUNT
};

struct ab_ask {
    enum ab_call call;
    size_t align; /* alignment, for the aligned calls; else 0 */
    size_t size;
};

struct ab_sized { /* size and alignment of a block, for a sized free */
    size_t size;
    /* log2 of the alignment that the block was allocated with; 0 = natural alignment */
    unsigned align_log2;
};

bool ab_target_is_malloc(const struct ab_target *t);
bool ab_target_has(const struct ab_target *t, enum ab_call call);
bool ab_target_can_resize(const struct ab_target *t);
bool ab_target_can_free(const struct ab_target *t); /* True if frees give memory back. */

/* Performs the request. Returns the block's reference; 0 = NULL. `heap` is the calling thread's
 * heap; a malloc ignores it. */
ab_ref ab_target_ask(const struct ab_target *t, struct ab_heap *heap, const struct ab_ask *ask);
/* Calls calloc; only for a malloc that has it. */
ab_ref ab_target_calloc(const struct ab_target *t, size_t n, size_t size);
ab_ref ab_target_resize(const struct ab_target *t, struct ab_heap *heap, ab_ref ref,
                        const size_t sizes[2]); /* old size, new size */
void ab_target_free(const struct ab_target *t, struct ab_heap *heap, ab_ref ref, size_t size);
/* Frees a block with the function that takes the size. */
void ab_target_free_sized(const struct ab_target *t, struct ab_heap *heap, ab_ref ref,
                          const struct ab_sized *sized);
/* Resets the heap; only for a heap that has a reset. */
void ab_target_reset(const struct ab_target *t, struct ab_heap *heap);
/* The next three functions are about save points. */
bool ab_target_has_marks(const struct ab_target *t);
uint64_t ab_target_mark(const struct ab_target *t, struct ab_heap *heap);
void ab_target_release(const struct ab_target *t, struct ab_heap *heap, uint64_t mark);
/* Returns the usable size; SIZE_MAX = not available. */
size_t ab_target_usable(const struct ab_target *t, struct ab_heap *heap, ab_ref ref);
/* Returns the address of a block; NULL for a stale handle. */
void *ab_target_address(const struct ab_target *t, struct ab_heap *heap, ab_ref ref);

/* Append the call as text: "memalign(256, 256)", "alloc_aligned(256, 256)"; "realloc(100 ->
 * 200)". */
void ab_words_ask(struct ab_words *w, const struct ab_target *t, const struct ab_ask *ask);
void ab_words_resize(struct ab_words *w, const struct ab_target *t, const size_t sizes[2]);

#endif
