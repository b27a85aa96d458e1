/* SPDX-License-Identifier: MIT
 *
 * A virtual-memory arena: a large range of addresses is reserved without access, pages are
 * committed as the bump pointer crosses them, everything dies at once by moving the pointer back.
 * Usable on its own: copy arena.h and arena.c. One thread at a time.
 *
 * It does not free single blocks and does not run destructors. The fast path is inline: one
 * comparison, one addition.
 */
#ifndef AB_ALLOCATORS_ARENA_H
#define AB_ALLOCATORS_ARENA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define AB_ARENA_ALIGN ((size_t)16) /* of every block; what malloc gives */

struct ab_arena {
    char *next;  /* first free byte, a multiple of AB_ARENA_ALIGN */
    char *limit; /* end of what is committed: whole pages */
    char *base, *end;  /* the reservation */
    char *dirty;       /* highest `next` there was when it last went down: zero from here on */
    size_t step_bytes; /* commit at least this much; 0 = growing steps */
    size_t page_bytes;
    uint64_t n_os_calls;
};

/* Reserves reserve_bytes (rounded up to pages). Commits nothing. step_bytes 0 commits 64 KiB first
 * and then as much again as there is, at most 64 MiB at a time; else steps of that size, S0's
 * form being one page; steps of 2 MiB and more begin at a multiple of it, for huge pages.
 * 0, or an errno; *arena is untouched on failure. */
int ab_arena_init(struct ab_arena *arena, size_t reserve_bytes, size_t step_bytes);
/* Gives everything back to the system. */
void ab_arena_fini(struct ab_arena *arena);

/* Commits what is missing; NULL when the reservation or the system's memory is exhausted. */
void *ab_arena_alloc_slow(struct ab_arena *arena, size_t align, size_t size);
/* align must be a power of two; size need not be a multiple of it. NULL else. */
void *ab_arena_alloc_aligned(struct ab_arena *arena, size_t align, size_t size);
/* Clears only what was handed out before: fresh pages are zero already. */
void *ab_arena_alloc_zeroed(struct ab_arena *arena, size_t size);
/* The top block grows and shrinks in place; any other block that grows is copied. NULL leaves the
 * block as it was. */
void *ab_arena_resize(struct ab_arena *arena, void *block, size_t old_size, size_t new_size);

/* All blocks die; pages stay committed. O(1). */
void ab_arena_reset(struct ab_arena *arena);
/* A save point; restoring it kills all younger blocks. Save points nest. One that is ahead of the
 * arena (its blocks are dead already) is ignored. */
size_t ab_arena_save(const struct ab_arena *arena);
void ab_arena_restore(struct ab_arena *arena, size_t mark);
/* Returns the pages behind the last block to the system; they stay committed. */
void ab_arena_purge(struct ab_arena *arena);

static inline size_t ab_arena_used(const struct ab_arena *a)
{
    return (size_t)(a->next - a->base);
}

static inline size_t ab_arena_available(const struct ab_arena *a)
{
    return (size_t)(a->end - a->next);
}

static inline size_t ab_arena_committed(const struct ab_arena *a)
{
    return (size_t)(a->limit - a->base);
}

/* A size as the arena counts it: size − 1 (0 stays 0), so that no rounding can overflow before
 * it was compared with the room, which is a multiple of AB_ARENA_ALIGN. */
static inline size_t ab_arena_last_byte(size_t size)
{
    return size - (size != 0);
}

/* Size 0 gives a block of its own. NULL when exhausted. */
static inline void *ab_arena_alloc(struct ab_arena *a, size_t size)
{
    size_t last = ab_arena_last_byte(size);
    char *block = a->next;
    if (__builtin_expect(last >= (size_t)(a->limit - block), 0))
        return ab_arena_alloc_slow(a, AB_ARENA_ALIGN, size);
    a->next = block + (last | (AB_ARENA_ALIGN - 1)) + 1;
    return block;
}

#endif
