/* SPDX-License-Identifier: MIT
 *
 * Memory for the moment: each thread has two arenas, which are opened when it first asks and closed
 * when it ends. What is allocated between ab_scratch_begin and ab_scratch_end dies at the end.
 * Example: allocators/examples/string_building.c.
 *
 * A function that allocates its result in an arena of its caller's, and needs memory for the moment
 * itself, names that arena as a conflict: it may be the very scratch arena of the caller, and the
 * result would die at the end. With two arenas there is always another one, as long as each
 * function names what it was given:
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
#define AB_SCRATCH_RESERVE_BYTES ((size_t)1 << 32) /* of addresses, at most; chained */
#define AB_SCRATCH_KEEP_BYTES ((size_t)4 << 20)    /* stay committed when it is empty */

struct ab_scratch {
    struct ab_arena *arena; /* NULL: memory is exhausted, or all of them are conflicts */
    struct ab_arena_mark mark;
};

/* Those of this thread; NULL: not opened yet. */
extern __thread struct ab_arena *ab_scratch_arenas[AB_SCRATCHES];

/* After the inline fast path: looks at all of them, and opens what is not open. */
struct ab_scratch ab_scratch_begin_slow(struct ab_arena *const *conflicts, size_t n);

/* An arena of this thread that is none of the n conflicts (NULL, 0: there are none). */
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

/* In the order of the beginnings reversed, by the thread that began. */
static inline void ab_scratch_end(struct ab_scratch scratch)
{
    if (scratch.arena != NULL)
        ab_arena_restore(scratch.arena, scratch.mark);
}
/* Closes those of this thread now. */
void ab_scratch_close(void);

/* From here to the end of the block around it, however it is left, but for longjmp. */
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
