/* SPDX-License-Identifier: MIT
 *
 * Temporary memory: each thread has two arenas, which are opened when it first asks and closed when
 * it ends. Memory allocated between ab_scratch_begin and ab_scratch_end dies at ab_scratch_end.
 * Example: allocators/examples/string_building.c.
 *
 * A function may allocate its result in an arena of its caller and need temporary memory itself. It
 * names the caller's arena as a conflict, and gets another one. Otherwise it might get the caller's
 * arena, and the result would die with the temporary memory. Each thread has two arenas, so that
 * one is always free if each function names the arena that it was given:
 *
 *     char *path_of(struct ab_arena *out, const char *name)
 *     {
 *         AB_SCRATCH(scratch, &out, 1);
 *         if (scratch.arena == NULL)
 *             return NULL;
 *         … ab_arena_printf(scratch.arena, …) …
 *         return ab_arena_strdup(out, …);
 *     }
 */
#ifndef AB_ALLOCATORS_ARENA_SCRATCH_H
#define AB_ALLOCATORS_ARENA_SCRATCH_H

#include "arena.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { AB_SCRATCHES = 2 };
/* bytes of addresses of the first region, at most */
#define AB_SCRATCH_RESERVE_BYTES ((size_t)1 << 32)
/* bytes that stay committed when the arena is empty */
#define AB_SCRATCH_KEEP_BYTES ((size_t)4 << 20)

struct ab_scratch {
    struct ab_arena *arena; /* NULL: memory is exhausted, or all scratch arenas are conflicts */
    struct ab_arena_mark mark;
};

/* The scratch arenas of this thread; an entry is NULL until its arena is opened. */
extern __thread struct ab_arena *ab_scratch_arenas[AB_SCRATCHES];

/* Slow path of ab_scratch_begin: looks at all scratch arenas and opens those that are not open. */
struct ab_scratch ab_scratch_begin_slow(struct ab_arena *const *conflicts, size_t n);

/* Returns a scratch arena of this thread that is none of the n conflicts. Without conflicts pass
 * NULL and 0. */
static inline AB_MUST_USE struct ab_scratch ab_scratch_begin(struct ab_arena *const *conflicts,
                                                             size_t n)
{
    struct ab_arena *first = ab_scratch_arenas[0];
    bool is_free = first != NULL;
    for (size_t i = 0; i < n; i++)
        is_free &= conflicts[i] != first;
    if (__builtin_expect(!is_free, 0))
        return ab_scratch_begin_slow(conflicts, n);
    struct ab_scratch scratch = {first, ab_arena_save(first)};
    return scratch;
}

/* Ends the temporary memory. Call it in the thread that began, in reverse order of the
 * beginnings. */
static inline void ab_scratch_end(struct ab_scratch scratch)
{
    if (scratch.arena != NULL)
        ab_arena_restore(scratch.arena, scratch.mark);
}
/* Closes the scratch arenas of this thread now. */
void ab_scratch_close(void);

/* Declares a scratch that ends with the enclosing block, however control leaves it, except by
 * longjmp. */
#define AB_SCRATCH(name, conflicts, n) \
    __attribute__((cleanup(ab_scratch_end_of))) struct ab_scratch name = ab_scratch_begin( \
        (conflicts), (n))

static inline void ab_scratch_end_of(const struct ab_scratch *scratch)
{
    ab_scratch_end(*scratch);
}

#ifdef __cplusplus
}
#endif

#endif
