/* SPDX-License-Identifier: MIT
 *
 * A virtual-memory arena: a large range of addresses is reserved without access, pages are
 * committed as the bump pointer crosses them, everything dies together by moving the pointer back.
 * Or the same over a buffer of the caller's. One thread at a time; each thread may have its own.
 * Examples: allocators/examples/frame_loop.c, allocators/examples/request_scope.c, and before and
 * after: allocators/examples/frame-game/frame_game.c.
 * 64-bit Linux with mmap; ../buffer/arena_buffer.h is for other systems.
 *
 * It does not free single blocks and does not run destructors; what must be done when blocks die
 * can be left to the arena (ab_arena_defer). The fast path is inline: one comparison, one addition.
 *
 * Beside it: arena_scratch.h (two arenas of each thread for temporary memory), arena_text.h
 * (strings, printf, a string builder), arena_array.h (growable arrays), arena_allocator.h (the
 * interface of ab_allocator.h), arena_shared.h (for several threads), ../cpp/heaps.hpp (C++17).
 *
 * To look for mistakes, compile every file that includes this with -fsanitize=address, or with
 * -DAB_WITH_VALGRIND for a run under Valgrind: a dead block is then reported at its next use. The
 * checked build, -DAB_WITH_CHECKS, works with and without these. It fills new blocks with 0xCD and
 * dead ones with 0xDD, keeps canaries around each block, and ends the process with one line on the
 * standard error at: a write past the ends of a block (seen when it is resized or dies), a write to
 * dead memory (seen when that is used again), a wrong size or a foreign block at resize, a save
 * point that is stale, of another arena or made up, an arena that is NULL, was never opened or is
 * closed, and two threads in one arena at the same time. It takes 80 bytes more a block.
 */
#ifndef AB_ALLOCATORS_ARENA_H
#define AB_ALLOCATORS_ARENA_H

#ifdef AB_ALLOCATORS_ARENA_BUFFER_H
#error "arena_buffer.h was included before: a program uses one of the two headers"
#endif

#include "../common/language.h"
#include "../common/marks.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define AB_ARENA_ALIGN ((size_t)16) /* of ab_arena_alloc; what malloc gives */
/* Of addresses, where the options do not say; half as many each time that the system refuses. */
#define AB_ARENA_RESERVE_USUAL ((size_t)1 << 34)
#define AB_ARENA_NO_FLOOR ((char *)UINTPTR_MAX)
#define AB_ARENA_CHECKS AB_CHECKS
#define AB_ARENA_FRONT AB_CHECKED_FRONT /* what the checked build has around a block */
#define AB_ARENA_GAP AB_CHECKED_GAP

#ifdef __cplusplus
extern "C" {
#endif

struct ab_arena;
struct ab_arena_region;
struct ab_arena_deferred;

/* Asked when memory for `size` bytes is exhausted: true when it made some (then the request is
 * tried once more), false for NULL. It may also leave by longjmp or end the process. */
typedef bool ab_arena_exhausted(struct ab_arena *arena, size_t size, void *context);

struct ab_arena {
    char *next;       /* first free byte, a multiple of AB_ARENA_ALIGN */
    char *limit;      /* end of what is committed: whole pages, or of the caller's buffer */
    char *base, *end; /* the region that is in use */
    char *dirty;      /* highest `next` there was when it last went down: zero from here on */
    /* Blocks of small alignment are close: the next one begins at `packed` while `packed_end` is
     * where `next` is. NULL: there are none. */
    char *packed, *packed_end;
    /* Going back to a place from here on is an assignment: base, or AB_ARENA_NO_FLOOR where a block is
     * close to another, something is deferred, more than keep_bytes are committed, or there is a
     * further region. */
    char *floor;
    size_t keep_bytes;                  /* stay committed after `next` when it goes down */
    size_t step_bytes;                  /* commit at least this much; 0 = growing steps */
    size_t page_bytes;                  /* 0: a caller's buffer */
    size_t head_bytes;                  /* of the region, before base */
    size_t chain_bytes;                 /* of a further region at least; 0: there will be none */
    size_t used_below, committed_below; /* in the regions before this one */
    struct ab_arena_region *below, *spare;
    struct ab_arena_deferred *deferred; /* the youngest */
    ab_arena_exhausted *exhausted;
    void *exhausted_context;
    uint64_t n_os_calls;
    uint32_t magic;
    bool populates, is_huge;
#ifdef AB_WITH_CHECKS
    struct ab_block_list blocks;
    char *dead_end; /* [next, dead_end) is filled with 0xDD */
#endif
};

struct ab_arena_options {
    size_t reserve_bytes; /* addresses, rounded up to pages; 0 = AB_ARENA_RESERVE_USUAL */
    /* 0 commits 64 KiB first and then as much again as there is, at most 64 MiB at a time; else
     * steps of this size. One page is the textbook's form; 2 MiB and more begin at a multiple of
     * it, for huge pages. */
    size_t step_bytes;
    /* Threshold: a reset or restore leaves at most this much committed after the pointer and
     * returns the rest to the system. 0 = all stays, no system call. */
    size_t keep_bytes;
    bool huge;     /* ask for huge pages; steps of at least 2 MiB */
    bool populate; /* fault pages in as they are committed: one call instead of a fault each */
    /* When the reservation is used up, further regions are reserved: of this size at least, and
     * each as large as all before it. 0: then it is exhausted. */
    size_t chain_bytes;
};

/* Reserves addresses, commits nothing. 0, or an errno; *arena is untouched on failure. The struct
 * may be moved. */
AB_MUST_USE int ab_arena_init(struct ab_arena *arena, const struct ab_arena_options *options);
/* Over `bytes` at `buffer`, which stays the caller's; it need not be aligned or zero. Makes no
 * system call, and grows only when asked to (ab_arena_chain). */
void ab_arena_init_buffer(struct ab_arena *arena, void *buffer, size_t bytes);
/* Runs the clean-ups, gives memory and addresses back to the system. */
void ab_arena_fini(struct ab_arena *arena);

/* The same inside its own memory: one pointer to pass around. NULL and errno on failure. */
AB_MUST_USE struct ab_arena *ab_arena_open(const struct ab_arena_options *options);
/* NULL is fine. */
void ab_arena_close(struct ab_arena *arena);

/* From now on further regions of at least so many bytes, as the option; 0: no more. */
void ab_arena_chain(struct ab_arena *arena, size_t chain_bytes);
/* Who is asked when memory is exhausted; NULL: no callback. */
void ab_arena_on_exhausted(struct ab_arena *arena, ab_arena_exhausted *ask, void *context);

/* Commits what is missing; NULL when the reservation or the system's memory is exhausted. */
void *ab_arena_take_slow(struct ab_arena *arena, size_t align, size_t size);
void *ab_arena_take_packed(struct ab_arena *arena, size_t size);
/* align must be a power of two; size need not be a multiple of it. NULL else. Blocks whose
 * alignment is below 16 are close to each other: floats take 4 bytes, strings their length. */
void *ab_arena_alloc_aligned(struct ab_arena *arena, size_t align, size_t size);
/* Clears only what was handed out before: fresh pages are zero already. */
void *ab_arena_alloc_zeroed(struct ab_arena *arena, size_t size);
/* n objects of each_bytes, aligned; NULL when n × each_bytes overflows. */
void *ab_arena_alloc_array(struct ab_arena *arena, size_t align, size_t n, size_t each_bytes);
void *ab_arena_alloc_array_zeroed(struct ab_arena *arena, size_t align, size_t n,
                                  size_t each_bytes);
/* The top block grows and shrinks in place; any other block that grows is copied. NULL leaves the
 * block as it was. block NULL with old_size 0 is an allocation. */
void *ab_arena_resize(struct ab_arena *arena, void *block, size_t old_size, size_t new_size);
/* A copy is aligned so, and not as ab_arena_alloc does. */
void *ab_arena_resize_aligned(struct ab_arena *arena, size_t align, void *block, size_t old_size,
                              size_t new_size);

/* A save point; restoring it kills all younger blocks. Save points nest, and one may be restored
 * several times. One that is ahead of the arena (its blocks are dead already) is ignored; one that
 * is older than a reset cuts off what was allocated since, and the checked build reports both. */
struct ab_arena_mark {
    size_t position;
    uint32_t arena_id, serial; /* in the checked build, else 0 */
};
struct ab_arena_mark ab_arena_save_slow(const struct ab_arena *arena);
void ab_arena_restore_slow(struct ab_arena *arena, struct ab_arena_mark mark);
/* What restore does, for who keeps positions himself: nothing is looked at. */
void ab_arena_restore_position(struct ab_arena *arena, size_t position);
/* Returns the pages after the last block to the system; they stay committed. */
void ab_arena_purge(struct ab_arena *arena);
/* Leaves at most keep_bytes committed after the last block. */
void ab_arena_trim(struct ab_arena *arena, size_t keep_bytes);
/* All blocks die and all memory goes back to the system; the addresses stay, to be used again. */
void ab_arena_release(struct ab_arena *arena);

/* When what is allocated now dies (reset, restore, release, fini), act(context) is called, the last
 * one left first, while the blocks are still there. What it allocates in the arena dies
 * immediately. False: no memory to remember it. */
AB_MUST_USE bool ab_arena_defer(struct ab_arena *arena, void (*act)(void *context), void *context);

#ifdef AB_WITH_CHECKS
/* Every live block, the youngest first. */
void ab_arena_visit(const struct ab_arena *arena,
                    void (*visit)(void *block, size_t size, void *context), void *context);
void *ab_arena_checked_born(struct ab_arena *arena, void *block, size_t size);
bool ab_arena_checked_holds(const struct ab_arena *arena, const void *block);
#endif

/* A block, or n in a row, of a type, whatever its alignment: NULL when exhausted or when n is too
 * large. */
#define AB_ARENA_NEW(arena, type) \
    ((type *)ab_arena_alloc_packed((arena), AB_ALIGNOF(type), sizeof(type)))
#define AB_ARENA_ARRAY(arena, type, n) \
    ((type *)ab_arena_alloc_array((arena), AB_ALIGNOF(type), (n), sizeof(type)))
#define AB_ARENA_NEW_ZEROED(arena, type) AB_ARENA_ARRAY_ZEROED(arena, type, 1)
#define AB_ARENA_ARRAY_ZEROED(arena, type, n) \
    ((type *)ab_arena_alloc_array_zeroed((arena), AB_ALIGNOF(type), (n), sizeof(type)))

/* What is allocated from here to the end of the block around it dies there, however it is left:
 * at its end, by return, goto, break or continue. Scopes nest. It is a declaration: in a switch it
 * needs braces of its own. longjmp ends no scope: what was allocated stays until an older save
 * point is restored or the arena reset. C++ has ab::arena_scope.
 *     { AB_ARENA_SCOPED(&arena); char *text = ab_arena_alloc(&arena, 100); … } */
#define AB_ARENA_SCOPED(arena) AB_ARENA_SCOPED_AT(arena, __COUNTER__)
#define AB_ARENA_SCOPED_AT(arena, n) AB_ARENA_SCOPED_NAMED(arena, n)
#define AB_ARENA_SCOPED_NAMED(arena, n) \
    __attribute__((cleanup(ab_arena_scope_end), \
                   unused)) struct ab_arena_scope ab_scope_##n = ab_arena_scope_begin(arena)

/* The same with a name, to allocate by: a function that gets the scope needs no arena.
 *     { AB_ARENA_SCOPE(frame, &arena); char *text = ab_arena_scope_alloc(&frame, 100); … } */
#define AB_ARENA_SCOPE(name, arena) \
    __attribute__((cleanup(ab_arena_scope_end), \
                   unused)) struct ab_arena_scope name = ab_arena_scope_begin(arena)

/* Sum of all blocks with padding. */
static inline size_t ab_arena_used(const struct ab_arena *a)
{
    return a->used_below + (size_t)(a->next - a->base);
}

/* Without a further region. */
static inline size_t ab_arena_available(const struct ab_arena *a)
{
    return (size_t)(a->end - a->next);
}

static inline size_t ab_arena_committed(const struct ab_arena *a)
{
    return a->committed_below + (size_t)(a->limit - a->base);
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

/* Marks a new block for the tools and fills it; nothing when neither is compiled in. What names
 * the arena to Valgrind is the end of its region, so that the struct may be moved. */
AB_CHECKED_INLINE static inline void *ab_arena_born(struct ab_arena *a, void *block, size_t size)
{
    (void)a, (void)size;
#ifdef AB_WITH_CHECKS
    return ab_arena_checked_born(a, block, size);
#else
    if (AB_MARKS && block != NULL) {
        AB_MARK_DEFINED(block, size);
        AB_MARK_ALLOC(a->end, block, size);
    }
    return block;
#endif
}

/* Size 0 gives a block of its own; NULL by ab_allocator.h. NULL when exhausted, and of an arena
 * that is NULL, which the checked build reports. */
AB_CHECKED_INLINE static inline void *ab_arena_alloc(struct ab_arena *a, size_t size)
{
    if (!AB_CHECKS && __builtin_expect(a == NULL, 0))
        return NULL;
    if (AB_CHECKS)
        return ab_arena_born(a, ab_arena_take_slow(a, AB_ARENA_ALIGN, size), size);
    size_t last = ab_arena_last_byte(size), room = (size_t)(a->limit - a->next);
    char *block = a->next;
    if (__builtin_expect(last >= room, 0))
        return ab_arena_born(a, ab_arena_take_slow(a, AB_ARENA_ALIGN, size), size);
    a->next = block + ab_arena_block_bytes(size);
    return ab_arena_born(a, block, size);
}

/* A block of a smaller alignment begins where the one before it ends. For the tools each block has
 * its own 16 bytes. align: a power of two. */
AB_CHECKED_INLINE static inline void *ab_arena_alloc_packed(struct ab_arena *a, size_t align,
                                                            size_t size)
{
    if (align > AB_ARENA_ALIGN)
        return ab_arena_alloc_aligned(a, align, size);
    if (AB_MARKS || AB_CHECKS || align == AB_ARENA_ALIGN)
        return ab_arena_alloc(a, size);
    if (__builtin_expect(a == NULL, 0))
        return NULL;
    char *from = a->packed_end == a->next ? a->packed : a->next;
    size_t pad = -(uintptr_t)from & (align - 1), room = (size_t)(a->limit - from);
    size_t last = ab_arena_last_byte(size);
    if (__builtin_expect(pad >= room || last >= room - pad, 0))
        return ab_arena_take_packed(a, size);
    char *block = from + pad;
    a->packed = block + last + 1;
    a->packed_end = a->next = a->packed + (-(uintptr_t)a->packed & (AB_ARENA_ALIGN - 1));
    a->floor = AB_ARENA_NO_FLOOR;
    return block;
}

/* False, and nothing was done: it is no assignment, or `to` is ahead of the arena. */
static inline bool ab_arena_go_back_to(struct ab_arena *a, char *to)
{
    if (AB_MARKS || AB_CHECKS || __builtin_expect(to < a->floor || to > a->next, 0))
        return false;
    if (__builtin_expect(a->next > a->dirty, 0))
        a->dirty = a->next;
    a->next = to;
    return true;
}

/* All blocks die; pages stay committed. O(1), unless there is a threshold. */
static inline void ab_arena_reset(struct ab_arena *a)
{
    if (!ab_arena_go_back_to(a, a->base))
        ab_arena_restore_position(a, 0);
}

static inline struct ab_arena_mark ab_arena_save(const struct ab_arena *a)
{
    if (AB_CHECKS || __builtin_expect(a->next < a->floor, 0))
        return ab_arena_save_slow(a);
    struct ab_arena_mark mark = {(size_t)(a->next - a->base), 0, 0};
    return mark;
}

/* A position that is no multiple is of a time when blocks were close to each other. */
static inline void ab_arena_restore(struct ab_arena *a, struct ab_arena_mark mark)
{
    bool is_behind = mark.position <= (size_t)(a->next - a->base) &&
                     (mark.position & (AB_ARENA_ALIGN - 1)) == 0;
    if (!is_behind || !ab_arena_go_back_to(a, a->base + mark.position))
        ab_arena_restore_slow(a, mark);
}

/* For a loop that allocates much: the cursor is a local of the loop's, so the compiler keeps it in
 * registers, which an arena accessed through a pointer does not allow. Nothing else may use the
 * arena until the cursor was given back. */
struct ab_arena_cursor {
    char *next;
    size_t room; /* bytes from there on */
};

static inline struct ab_arena_cursor ab_arena_cursor_of(const struct ab_arena *a)
{
    struct ab_arena_cursor cursor = {a->next, (size_t)(a->limit - a->next)};
    return cursor;
}

static inline void ab_arena_cursor_end(struct ab_arena *a, const struct ab_arena_cursor *cursor)
{
    a->next = cursor->next;
}

/* NULL: give the cursor back and ask ab_arena_alloc, which may commit more (or, for size 0 and
 * where blocks are marked for the tools, do what a cursor does not). */
static inline void *ab_arena_cursor_alloc(struct ab_arena_cursor *cursor, size_t size)
{
    /* Minus the size rounded up: adding it to the room carries where there is room, so that the
     * test is the sum. Of size 0, and where rounding up is too much for a size_t, it is 0. */
    size_t minus = (0 - size) & ~(size_t)(AB_ARENA_ALIGN - 1), left = cursor->room + minus;
    char *block = cursor->next;
    if (AB_MARKS || AB_CHECKS || __builtin_expect(left >= cursor->room, 0))
        return NULL;
    if (block == NULL)
        __builtin_unreachable(); /* there is room: callers need not look */
    cursor->next = block - minus;
    cursor->room = left;
    return block;
}

struct ab_arena_scope {
    struct ab_arena *arena;
#ifdef AB_WITH_CHECKS
    struct ab_arena_mark mark;
#else
    char *to, *packed; /* next and packed of the arena then: what they mean is seen at the end */
#endif
};

#ifdef AB_WITH_CHECKS
static inline struct ab_arena_scope ab_arena_scope_begin(struct ab_arena *arena)
{
    struct ab_arena_scope scope = {arena, ab_arena_save(arena)};
    return scope;
}

static inline void ab_arena_scope_end(const struct ab_arena_scope *scope)
{
    ab_arena_restore(scope->arena, scope->mark);
}
#else
void ab_arena_scope_end_slow(struct ab_arena *arena, char *to, char *packed);

static inline struct ab_arena_scope ab_arena_scope_begin(struct ab_arena *arena)
{
    struct ab_arena_scope scope = {arena, arena->next, arena->packed};
    return scope;
}

static inline void ab_arena_scope_end(const struct ab_arena_scope *scope)
{
    if (!ab_arena_go_back_to(scope->arena, scope->to))
        ab_arena_scope_end_slow(scope->arena, scope->to, scope->packed);
}
#endif

/* As ab_arena_alloc of the arena of the scope. */
AB_CHECKED_INLINE static inline void *ab_arena_scope_alloc(const struct ab_arena_scope *scope,
                                                           size_t size)
{
    return ab_arena_alloc(scope->arena, size);
}

#ifdef __cplusplus
}
#endif

#endif
