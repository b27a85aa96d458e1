/* SPDX-License-Identifier: MIT
 *
 * An arena (bump allocator) over virtual memory, for one thread; each thread may have its own. The
 * arena reserves a large range of addresses without access. It commits pages as its pointer crosses
 * them, and frees everything together by moving the pointer back. An arena can also use a buffer of
 * the caller. The fast path is inline: one comparison, one addition.
 *
 * Examples: allocators/examples/frame_loop.c, allocators/examples/request_scope.c, and before and
 * after: allocators/examples/frame-game/frame_game.c. Needs 64-bit Linux with mmap;
 * ../buffer/arena_buffer.h is for other systems.
 *
 * The arena does not free single blocks and does not run destructors. A program can register a
 * function that is called when the blocks die (ab_arena_defer).
 *
 * See also: arena_scratch.h (two arenas of each thread for temporary memory), arena_text.h
 * (strings, printf, a string builder), arena_array.h (growable arrays), arena_allocator.h (the
 * interface of ab_allocator.h), arena_shared.h (for several threads), ../cpp/heaps.hpp (C++17).
 *
 * To find mistakes, compile every file that includes this header with -fsanitize=address, or with
 * -DAB_WITH_VALGRIND for a run under Valgrind. A dead block is then reported at its next use.
 *
 * The checked build, -DAB_WITH_CHECKS, works with and without these tools. It fills new blocks with
 * 0xCD and dead ones with 0xDD and keeps canaries around each block, which costs 80 bytes per
 * block. It ends the process with one line on standard error when it finds:
 *   - a write past the ends of a block (found when the block is resized or dies)
 *   - a write to dead memory (found when that memory is used again)
 *   - a wrong size or a foreign block at resize
 *   - a save point that is stale, of another arena or made up
 *   - an arena that is NULL, was never opened or is closed
 *   - two threads in one arena at the same time
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

#define AB_ARENA_ALIGN ((size_t)16) /* alignment of ab_arena_alloc, like malloc's */
/* Bytes of addresses reserved by default; halved each time the system refuses. */
#define AB_ARENA_RESERVE_USUAL ((size_t)1 << 34)
#define AB_ARENA_NO_FLOOR ((char *)UINTPTR_MAX)
#define AB_ARENA_CHECKS AB_CHECKS
/* bytes that the checked build adds before a block; AB_ARENA_GAP: bytes after a block */
#define AB_ARENA_FRONT AB_CHECKED_FRONT
#define AB_ARENA_GAP AB_CHECKED_GAP

#ifdef __cplusplus
extern "C" {
#endif

struct ab_arena;
struct ab_arena_region;
struct ab_arena_deferred;

/* Called when memory for `size` bytes is exhausted. Returns true if it made room; the arena then
 * tries the request once more. If it returns false, the request returns NULL. It may also leave by
 * longjmp or end the process. */
typedef bool ab_arena_exhausted(struct ab_arena *arena, size_t size, void *context);

struct ab_arena {
    char *next;       /* first free byte, a multiple of AB_ARENA_ALIGN */
    char *limit;      /* end of the committed pages, or of the caller's buffer */
    char *base, *end; /* the current region is [base, end) */
    /* highest value of `next` before it last went down; memory from here on is zero */
    char *dirty;
    /* Blocks of an alignment below 16 are packed without padding. The next one begins at `packed`,
     * as long as `next` equals `packed_end`. NULL: there are no packed blocks. */
    char *packed, *packed_end;
    /* Going back to a position from `floor` on needs only an assignment. It is `base`, or
     * AB_ARENA_NO_FLOOR if there is more to do: blocks are packed, a function is deferred, more
     * than keep_bytes are committed, or there is a further region. */
    char *floor;
    /* bytes that stay committed after `next` when it goes down */
    size_t keep_bytes;
    /* commit at least this many bytes at a time; 0 = growing steps */
    size_t step_bytes;
    size_t page_bytes; /* 0: the memory is a buffer of the caller */
    size_t head_bytes; /* bytes of the region before `base` */
    /* minimum size of a further region; 0 = there will be none */
    size_t chain_bytes;
    /* bytes used and bytes committed in the regions before the current one */
    size_t used_below, committed_below;
    struct ab_arena_region *below, *spare;
    struct ab_arena_deferred *deferred; /* the deferred call registered last */
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
    size_t reserve_bytes; /* bytes of addresses, rounded up to pages; 0 = AB_ARENA_RESERVE_USUAL */
    /* Bytes to commit at a time. 0 commits 64 KiB first, then each time as much as is committed
     * already, at most 64 MiB. Steps of 2 MiB and more begin at a multiple of 2 MiB, for huge
     * pages. */
    size_t step_bytes;
    /* A reset or restore leaves at most this many bytes committed after the pointer and returns the
     * rest to the system. 0 = everything stays committed, without a system call. */
    size_t keep_bytes;
    bool huge; /* ask for huge pages; steps are then at least 2 MiB */
    /* populate pages when they are committed: one call instead of one fault per page */
    bool populate;
    /* Minimum size of a further region. When the reservation is used up, the arena reserves further
     * regions, each as large as all before it. 0: the arena is then exhausted. */
    size_t chain_bytes;
};

/* Reserves addresses and commits no memory. Returns 0 or an errno; on failure *arena is untouched.
 * The struct may be moved. */
AB_MUST_USE int ab_arena_init(struct ab_arena *arena, const struct ab_arena_options *options);
/* Opens an arena over the `bytes` at `buffer`, which need not be aligned or zero. The caller keeps
 * owning the buffer. Makes no system call; the arena grows only if ab_arena_chain asks for it. */
void ab_arena_init_buffer(struct ab_arena *arena, void *buffer, size_t bytes);
/* Runs the deferred functions and gives memory and addresses back to the system. */
void ab_arena_fini(struct ab_arena *arena);

/* Opens an arena that is stored in its own memory, so that the program keeps one pointer. Returns
 * NULL and sets errno on failure. */
AB_MUST_USE struct ab_arena *ab_arena_open(const struct ab_arena_options *options);
/* Closes an arena that ab_arena_open returned. NULL does nothing. */
void ab_arena_close(struct ab_arena *arena);

/* Sets the option chain_bytes of an open arena: the minimum size of further regions; 0 = no
 * more. */
void ab_arena_chain(struct ab_arena *arena, size_t chain_bytes);
/* Sets the function that is called when memory is exhausted; NULL = none. */
void ab_arena_on_exhausted(struct ab_arena *arena, ab_arena_exhausted *ask, void *context);

/* Slow paths of the inline functions below. They commit the memory that is missing. Return NULL
 * when the reservation or the memory of the system is exhausted. */
void *ab_arena_take_slow(struct ab_arena *arena, size_t align, size_t size);
void *ab_arena_take_packed(struct ab_arena *arena, size_t size);
/* Allocates a block aligned to `align`; size need not be a multiple of it. Returns NULL if align is
 * not a power of two, or if memory is exhausted. Blocks of an alignment below 16 are packed: floats
 * take 4 bytes, strings their length. */
void *ab_arena_alloc_aligned(struct ab_arena *arena, size_t align, size_t size);
/* Allocates a zeroed block. Clears only memory that was handed out before, because fresh pages are
 * zero already. */
void *ab_arena_alloc_zeroed(struct ab_arena *arena, size_t size);
/* Returns memory for n aligned objects of each_bytes; NULL if n × each_bytes overflows. */
void *ab_arena_alloc_array(struct ab_arena *arena, size_t align, size_t n, size_t each_bytes);
void *ab_arena_alloc_array_zeroed(struct ab_arena *arena, size_t align, size_t n,
                                  size_t each_bytes);
/* Resizes a block. The top block grows and shrinks in place; any other block that grows is copied.
 * Returns NULL on failure and leaves the block as it was. With block NULL and old_size 0 it
 * allocates. */
void *ab_arena_resize(struct ab_arena *arena, void *block, size_t old_size, size_t new_size);
/* Resizes like ab_arena_resize; a copy is aligned to `align`. */
void *ab_arena_resize_aligned(struct ab_arena *arena, size_t align, void *block, size_t old_size,
                              size_t new_size);

/* A save point. Restoring it ends the life of all younger blocks. Save points nest, and one may be
 * restored several times. A save point that is ahead of the arena (its blocks are dead already) is
 * ignored. One that is older than a reset cuts off the blocks allocated since. The checked build
 * reports both. */
struct ab_arena_mark {
    size_t position;
    uint32_t arena_id, serial; /* used in the checked build, otherwise 0 */
};
struct ab_arena_mark ab_arena_save_slow(const struct ab_arena *arena);
void ab_arena_restore_slow(struct ab_arena *arena, struct ab_arena_mark mark);
/* Restores a position without the checks of ab_arena_restore, for callers that store positions
 * themselves. */
void ab_arena_restore_position(struct ab_arena *arena, size_t position);
/* Returns the pages after the last block to the system; they stay committed. */
void ab_arena_purge(struct ab_arena *arena);
/* Leaves at most keep_bytes committed after the last block. */
void ab_arena_trim(struct ab_arena *arena, size_t keep_bytes);
/* Ends the life of all blocks and gives all memory back to the system. The addresses stay reserved,
 * and the arena can be used again. */
void ab_arena_release(struct ab_arena *arena);

/* Calls act(context) when the blocks allocated now die (by reset, restore, release or fini), while
 * they can still be read. The function registered last is called first. Memory that it allocates in
 * the arena dies immediately. Returns false if there is no memory to store the call. */
AB_MUST_USE bool ab_arena_defer(struct ab_arena *arena, void (*act)(void *context), void *context);

#ifdef AB_WITH_CHECKS
/* Calls `visit` for every live block, the youngest first. */
void ab_arena_visit(const struct ab_arena *arena,
                    void (*visit)(void *block, size_t size, void *context), void *context);
void *ab_arena_checked_born(struct ab_arena *arena, void *block, size_t size);
bool ab_arena_checked_holds(const struct ab_arena *arena, const void *block);
#endif

/* Allocate an object of a type, or an array of n, with the alignment of the type. NULL when memory
 * is exhausted or n is too large. */
#define AB_ARENA_NEW(arena, type) \
    ((type *)ab_arena_alloc_packed((arena), AB_ALIGNOF(type), sizeof(type)))
#define AB_ARENA_ARRAY(arena, type, n) \
    ((type *)ab_arena_alloc_array((arena), AB_ALIGNOF(type), (n), sizeof(type)))
#define AB_ARENA_NEW_ZEROED(arena, type) AB_ARENA_ARRAY_ZEROED(arena, type, 1)
#define AB_ARENA_ARRAY_ZEROED(arena, type, n) \
    ((type *)ab_arena_alloc_array_zeroed((arena), AB_ALIGNOF(type), (n), sizeof(type)))

/* Everything allocated from here on dies at the end of the enclosing block, however control leaves
 * it: at its end, by return, goto, break or continue. Scopes nest. The macro is a declaration: in a
 * switch, it needs braces of its own. longjmp ends no scope: the memory then stays until an older
 * save point is restored or the arena is reset. C++ has ab::arena_scope.
 *     { AB_ARENA_SCOPED(&arena); char *text = ab_arena_alloc(&arena, 100); … } */
#define AB_ARENA_SCOPED(arena) AB_ARENA_SCOPED_AT(arena, __COUNTER__)
#define AB_ARENA_SCOPED_AT(arena, n) AB_ARENA_SCOPED_NAMED(arena, n)
#define AB_ARENA_SCOPED_NAMED(arena, n) \
    __attribute__((cleanup(ab_arena_scope_end), \
                   unused)) struct ab_arena_scope ab_scope_##n = ab_arena_scope_begin(arena)

/* A scope with a name, which allocates: a function that gets the scope needs no arena.
 *     { AB_ARENA_SCOPE(frame, &arena); char *text = ab_arena_scope_alloc(&frame, 100); … } */
#define AB_ARENA_SCOPE(name, arena) \
    __attribute__((cleanup(ab_arena_scope_end), \
                   unused)) struct ab_arena_scope name = ab_arena_scope_begin(arena)

/* Returns the sum of the bytes of all blocks, with padding. */
static inline size_t ab_arena_used(const struct ab_arena *a)
{
    return a->used_below + (size_t)(a->next - a->base);
}

/* Returns the free bytes of the current region. */
static inline size_t ab_arena_available(const struct ab_arena *a)
{
    return (size_t)(a->end - a->next);
}

static inline size_t ab_arena_committed(const struct ab_arena *a)
{
    return a->committed_below + (size_t)(a->limit - a->base);
}

/* Returns size − 1 (0 stays 0). Rounding up a size can overflow, so callers first compare this
 * value with the room, which is a multiple of AB_ARENA_ALIGN. */
static inline size_t ab_arena_last_byte(size_t size)
{
    return size - (size != 0);
}

/* Returns the bytes that a block of `size` takes. Call it only for a size that fits the room,
 * because the rounding can overflow. */
static inline size_t ab_arena_block_bytes(size_t size)
{
    return (ab_arena_last_byte(size) | (AB_ARENA_ALIGN - 1)) + 1 + AB_ARENA_GAP;
}

/* Marks a new block for ASan and Valgrind and fills it in the checked build; otherwise does
 * nothing. The end of the block's region identifies the arena to Valgrind, so that the struct may
 * be moved. */
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

/* Allocates a block aligned to 16 bytes. Size 0 gives a block of its own; through ab_allocator.h it
 * gives NULL. Returns NULL when memory is exhausted, and for an arena that is NULL, which the
 * checked build reports. */
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

/* Allocates a block that begins where the packed block before it ends, aligned to `align`, a power
 * of two. With ASan, Valgrind or the checked build, each block starts at a multiple of 16. */
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

/* Moves the pointer back to `to` if that needs only an assignment. Returns false and does nothing
 * if there is more to do, or if `to` is ahead of the arena. */
static inline bool ab_arena_go_back_to(struct ab_arena *a, char *to)
{
    if (AB_MARKS || AB_CHECKS || __builtin_expect(to < a->floor || to > a->next, 0))
        return false;
    if (__builtin_expect(a->next > a->dirty, 0))
        a->dirty = a->next;
    a->next = to;
    return true;
}

/* Ends the life of all blocks; pages stay committed. O(1), unless the option keep_bytes is set. */
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

/* Restores a save point. The position is not a multiple of 16 if blocks were packed at the time. */
static inline void ab_arena_restore(struct ab_arena *a, struct ab_arena_mark mark)
{
    bool is_behind = mark.position <= (size_t)(a->next - a->base) &&
                     (mark.position & (AB_ARENA_ALIGN - 1)) == 0;
    if (!is_behind || !ab_arena_go_back_to(a, a->base + mark.position))
        ab_arena_restore_slow(a, mark);
}

/* The position of an arena, for a loop that allocates much. The cursor is a local variable, so that
 * the compiler keeps it in registers, which it cannot do with an arena accessed through a pointer.
 * Nothing else may use the arena until ab_arena_cursor_end. */
struct ab_arena_cursor {
    char *next;
    size_t room; /* bytes from `next` on */
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

/* Allocates from the cursor. Returns NULL when the cursor cannot serve the request: memory must be
 * committed, size is 0, or the program is built for ASan, Valgrind or checks. Then give the cursor
 * back and call ab_arena_alloc. */
static inline void *ab_arena_cursor_alloc(struct ab_arena_cursor *cursor, size_t size)
{
    /* The rounded size, negated. Adding it to the room wraps around exactly if there is room, so
     * that the sum is also the test. It is 0 for size 0, and for sizes that overflow when
     * rounded. */
    size_t minus = (0 - size) & ~(size_t)(AB_ARENA_ALIGN - 1), left = cursor->room + minus;
    char *block = cursor->next;
    if (AB_MARKS || AB_CHECKS || __builtin_expect(left >= cursor->room, 0))
        return NULL;
    if (block == NULL)
        __builtin_unreachable(); /* the compiler may rely on a result that is not NULL */
    cursor->next = block - minus;
    cursor->room = left;
    return block;
}

struct ab_arena_scope {
    struct ab_arena *arena;
#ifdef AB_WITH_CHECKS
    struct ab_arena_mark mark;
#else
    /* values of `next` and `packed` of the arena at the beginning of the scope */
    char *to, *packed;
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

/* Allocates from the arena of the scope, like ab_arena_alloc. */
AB_CHECKED_INLINE static inline void *ab_arena_scope_alloc(const struct ab_arena_scope *scope,
                                                           size_t size)
{
    return ab_arena_alloc(scope->arena, size);
}

#ifdef __cplusplus
}
#endif

#endif
