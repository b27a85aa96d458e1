/* SPDX-License-Identifier: MIT
 *
 * A virtual-memory arena: a large range of addresses is reserved without access, pages are
 * committed as the bump pointer crosses them, everything dies together by moving the pointer back.
 * Or the same over a buffer of the caller's. Usable on its own: this folder and ../common. One
 * thread at a time; each thread may have its own (`static _Thread_local`).
 *
 * It does not free single blocks and does not run destructors. The fast path is inline: one
 * comparison, one addition.
 *
 * To look for mistakes, compile every file that includes this with -fsanitize=address, or with
 * -DAB_WITH_VALGRIND for a run under Valgrind: a dead block is then reported at its next use.
 * -DAB_WITH_CHECKS fills new blocks with 0xCD and dead ones with 0xDD, leaves a gap after each
 * block for those two to watch, and traps on an arena that was never opened or is closed.
 */
#ifndef AB_ALLOCATORS_ARENA_H
#define AB_ALLOCATORS_ARENA_H

#include "../common/language.h"
#include "../common/marks.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

#define AB_ARENA_ALIGN ((size_t)16) /* of every block; what malloc gives */

#ifdef AB_WITH_CHECKS
#define AB_ARENA_CHECKS true
#define AB_ARENA_GAP AB_MARK_GAP
#else
#define AB_ARENA_CHECKS false
#define AB_ARENA_GAP ((size_t)0)
#endif

struct ab_arena {
    char *next;        /* first free byte, a multiple of AB_ARENA_ALIGN */
    char *limit;       /* end of what is committed: whole pages, or of the caller's buffer */
    char *base, *end;  /* the reservation */
    char *dirty;       /* highest `next` there was when it last went down: zero from here on */
    size_t step_bytes; /* commit at least this much; 0 = growing steps */
    size_t keep_bytes; /* stay committed after `next` when it goes down */
    size_t page_bytes; /* 0: a caller's buffer */
    uint64_t n_os_calls;
    uint32_t magic;
    bool populates;
};

struct ab_arena_options {
    size_t reserve_bytes; /* addresses, rounded up to pages */
    /* 0 commits 64 KiB first and then as much again as there is, at most 64 MiB at a time; else
     * steps of this size. One page is the textbook's form; 2 MiB and more begin at a multiple of
     * it, for huge pages. */
    size_t step_bytes;
    /* Threshold: a reset or restore leaves at most this much committed after the pointer and
     * returns the rest to the system. 0 = all stays, no system call. */
    size_t keep_bytes;
    bool huge;     /* ask for huge pages; steps of at least 2 MiB */
    bool populate; /* fault pages in as they are committed: one call instead of a fault each */
};

/* Reserves addresses, commits nothing. 0, or an errno; *arena is untouched on failure. */
AB_MUST_USE int ab_arena_init(struct ab_arena *arena, const struct ab_arena_options *options);
/* Over `bytes` at `buffer`, which stays the caller's; it need not be aligned or zero. Never grows,
 * makes no system call. */
void ab_arena_init_buffer(struct ab_arena *arena, void *buffer, size_t bytes);
/* Gives memory and addresses back to the system. */
void ab_arena_fini(struct ab_arena *arena);

/* Commits what is missing; NULL when the reservation or the system's memory is exhausted. */
void *ab_arena_take_slow(struct ab_arena *arena, size_t align, size_t size);
/* align must be a power of two; size need not be a multiple of it. NULL else. */
void *ab_arena_alloc_aligned(struct ab_arena *arena, size_t align, size_t size);
/* Clears only what was handed out before: fresh pages are zero already. */
void *ab_arena_alloc_zeroed(struct ab_arena *arena, size_t size);
/* n objects of each_bytes, aligned; NULL when n × each_bytes overflows. */
void *ab_arena_alloc_array(struct ab_arena *arena, size_t align, size_t n, size_t each_bytes);
/* The top block grows and shrinks in place; any other block that grows is copied. NULL leaves the
 * block as it was. */
void *ab_arena_resize(struct ab_arena *arena, void *block, size_t old_size, size_t new_size);

/* A save point; restoring it kills all younger blocks. Save points nest. One that is ahead of the
 * arena (its blocks are dead already) is ignored. */
size_t ab_arena_save(const struct ab_arena *arena);
void ab_arena_restore(struct ab_arena *arena, size_t mark);
/* Returns the pages after the last block to the system; they stay committed. */
void ab_arena_purge(struct ab_arena *arena);
/* Leaves at most keep_bytes committed after the last block. */
void ab_arena_trim(struct ab_arena *arena, size_t keep_bytes);
/* All blocks die and all memory goes back to the system; the addresses stay, to be used again. */
void ab_arena_release(struct ab_arena *arena);

/* A block, or n in a row, of a type: NULL when exhausted or when n is too large. */
#define AB_ARENA_NEW(arena, type) \
    ((type *)ab_arena_alloc_aligned((arena), AB_ALIGNOF(type), sizeof(type)))
#define AB_ARENA_ARRAY(arena, type, n) \
    ((type *)ab_arena_alloc_array((arena), AB_ALIGNOF(type), (n), sizeof(type)))

/* The statement or block after it is a scope: what it allocates dies at its end, also when it is
 * left by return or goto. It is a loop of one round, so that break and continue leave the scope and
 * not a loop around it. longjmp ends no scope: restore a save point then. Scopes nest.
 *     AB_ARENA_SCOPE(&arena) { char *text = ab_arena_alloc(&arena, 100); … } */
#define AB_ARENA_SCOPE(arena) AB_ARENA_SCOPE_AT(arena, __LINE__)
#define AB_ARENA_SCOPE_AT(arena, line) AB_ARENA_SCOPE_NAMED(arena, line)
#define AB_ARENA_SCOPE_NAMED(arena, line) AB_ARENA_SCOPE_LOOP(arena, ab_scope_##line)
#define AB_ARENA_SCOPE_LOOP(arena, scope) \
    for (struct ab_arena_scope scope \
         __attribute__((cleanup(ab_arena_scope_end))) = ab_arena_scope_begin(arena); \
         scope.is_open; scope.is_open = false)

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

/* What a block of that size takes; only for sizes that were compared with the room. */
static inline size_t ab_arena_block_bytes(size_t size)
{
    return (ab_arena_last_byte(size) | (AB_ARENA_ALIGN - 1)) + 1 + AB_ARENA_GAP;
}

/* A new block as the tools and the eye shall see it; nothing when neither is compiled in. */
static inline void *ab_arena_born(struct ab_arena *a, void *block, size_t size)
{
    (void)a;
    if (block != NULL && (AB_MARKS || AB_ARENA_CHECKS)) {
        AB_MARK_DEFINED(block, size);
        if (AB_ARENA_CHECKS)
            memset(block, 0xCD, size);
        AB_MARK_ALLOC(a, block, size);
    }
    return block;
}

/* Size 0 gives a block of its own. NULL when exhausted. */
static inline void *ab_arena_alloc(struct ab_arena *a, size_t size)
{
    size_t last = ab_arena_last_byte(size), room = (size_t)(a->limit - a->next);
    char *block = a->next;
    if (__builtin_expect(last >= room || (AB_ARENA_GAP != 0 && room - last <= AB_ARENA_GAP), 0))
        return ab_arena_born(a, ab_arena_take_slow(a, AB_ARENA_ALIGN, size), size);
    a->next = block + ab_arena_block_bytes(size);
    return ab_arena_born(a, block, size);
}

/* All blocks die; pages stay committed. O(1), unless there is a threshold. */
static inline void ab_arena_reset(struct ab_arena *a)
{
    if (AB_MARKS || AB_ARENA_CHECKS || a->keep_bytes < (size_t)(a->limit - a->base)) {
        ab_arena_restore(a, 0);
        return;
    }
    if (a->next > a->dirty)
        a->dirty = a->next;
    a->next = a->base;
}

/* For a loop that allocates much: the cursor is a local of the loop's, so the compiler keeps it in
 * registers, which an arena accessed through a pointer does not allow. Nothing else may use the arena until
 * the cursor was given back. */
struct ab_arena_cursor {
    char *next, *limit;
};

static inline struct ab_arena_cursor ab_arena_cursor_of(const struct ab_arena *a)
{
    struct ab_arena_cursor cursor = {a->next, a->limit};
    return cursor;
}

static inline void ab_arena_cursor_end(struct ab_arena *a, const struct ab_arena_cursor *cursor)
{
    a->next = cursor->next;
}

/* NULL: give the cursor back and ask ab_arena_alloc, which may commit more (or, for size 0 and where
 * blocks are marked for the tools, do what a cursor does not). */
static inline void *ab_arena_cursor_alloc(struct ab_arena_cursor *cursor, size_t size)
{
    size_t last = size - 1; /* of size 0: larger than any room */
    char *block = cursor->next;
    if (AB_MARKS || AB_ARENA_CHECKS || __builtin_expect(last >= (size_t)(cursor->limit - block), 0))
        return NULL;
    if (block == NULL)
        __builtin_unreachable(); /* there is room: callers need not look */
    cursor->next = block + (last | (AB_ARENA_ALIGN - 1)) + 1;
    return block;
}

struct ab_arena_scope {
    struct ab_arena *arena;
    size_t mark;
    bool is_open;
};

static inline struct ab_arena_scope ab_arena_scope_begin(struct ab_arena *arena)
{
    struct ab_arena_scope scope = {arena, ab_arena_save(arena), true};
    return scope;
}

static inline void ab_arena_scope_end(const struct ab_arena_scope *scope)
{
    ab_arena_restore(scope->arena, scope->mark);
}

#ifdef __cplusplus
}
#endif

#endif
