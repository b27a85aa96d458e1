/* SPDX-License-Identifier: MIT
 *
 * The arena of arena.h over a buffer of the caller, for a small system: one header without a
 * library. It makes no system call, knows no threads, and works on 32-bit systems too. It needs gcc
 * or clang, and memcpy and memset.
 *
 *     static char memory[4096];
 *     struct ab_arena arena;
 *     ab_arena_init_buffer(&arena, memory, sizeof memory);
 *     struct point *p = AB_ARENA_NEW(&arena, struct point);
 *     { AB_ARENA_SCOPED(&arena); char *text = ab_arena_alloc(&arena, 100); … }  text dies here
 *     ab_arena_reset(&arena);
 *
 * The functions are those of arena.h, with the same names and results. So a program can be tested
 * with arena.h and its checked build on a workstation. A program includes one of the two headers,
 * never both. This header leaves out regions of the system, clean-ups (ab_arena_defer), cursors and
 * the checked build. AddressSanitizer and Valgrind (-DAB_WITH_VALGRIND) report the use of dead
 * blocks here as well.
 *
 * One thread at a time. The arena may be moved; the buffer must stay where it is.
 */
#ifndef AB_ALLOCATORS_ARENA_BUFFER_H
#define AB_ALLOCATORS_ARENA_BUFFER_H

#define AB_ANY_POINTER_SIZE
#include "../common/language.h"
#include "../common/marks.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef AB_ALLOCATORS_ARENA_H
#error "arena.h was included before: it has everything that this header has"
#endif
#ifdef AB_WITH_CHECKS
#error "this header has no checked build: include arena.h, which has the same functions"
#endif

#define AB_ARENA_ALIGN ((size_t)16) /* alignment of ab_arena_alloc */

struct ab_arena;

/* Called when the buffer is exhausted. If it returns true, the request is tried once more. The
 * function may also leave by longjmp or stop the system. */
typedef bool ab_arena_exhausted(struct ab_arena *arena, size_t size, void *context);

struct ab_arena {
    char *next; /* first free byte */
    char *base, *end;
    ab_arena_exhausted *exhausted; /* NULL = no callback */
    void *exhausted_context;
};

/* A save point: the position to which ab_arena_restore goes back. */
struct ab_arena_mark {
    size_t position;
};

/* Returns the sum of all blocks with padding, in bytes. */
static inline size_t ab_arena_used(const struct ab_arena *a)
{
    return (size_t)(a->next - a->base);
}

/* Returns the bytes that are left, before padding. */
static inline size_t ab_arena_available(const struct ab_arena *a)
{
    return (size_t)(a->end - a->next);
}

/* Opens the arena over `bytes` at `buffer`, which need not be aligned or zero. */
static inline void ab_arena_init_buffer(struct ab_arena *arena, void *buffer, size_t bytes)
{
    size_t head = (size_t)(-(uintptr_t)buffer & (AB_ARENA_ALIGN - 1));
    memset(arena, 0, sizeof *arena);
    arena->next = arena->base = (char *)((uintptr_t)buffer + head);
    arena->end = arena->base + (head < bytes ? bytes - head : 0);
    AB_MARK_POOL_CREATE(arena->end);
    AB_MARK_UNUSED(arena->base, (size_t)(arena->end - arena->base));
}

/* Closes the arena. The buffer is the caller's again. */
static inline void ab_arena_fini(struct ab_arena *arena)
{
    AB_MARK_POOL_DESTROY(arena->end);
    AB_MARK_DEFINED(arena->base, (size_t)(arena->end - arena->base));
    memset(arena, 0, sizeof *arena);
}

/* Sets the function that the arena calls when the buffer is exhausted; NULL: no function. */
static inline void ab_arena_on_exhausted(struct ab_arena *arena, ab_arena_exhausted *ask,
                                         void *context)
{
    arena->exhausted = ask;
    arena->exhausted_context = context;
}

/* ---- blocks ---- */

/* Returns the bytes that a block of `size` takes, without padding in front. Under a sanitizer or
 * Valgrind a gap follows each block. Call it only for a size that fits the room. */
static inline size_t ab_arena_taken(size_t size)
{
    size_t bytes = size + (size == 0);
    return AB_MARKS ? ((bytes + 15) & ~(size_t)15) + AB_MARK_GAP : bytes;
}

/* Allocates a block of `size` at a multiple of `align`, and moves `next` to its end. Returns NULL
 * if there is no room. */
static inline char *ab_arena_place(struct ab_arena *a, size_t align, size_t size)
{
    size_t room = ab_arena_available(a);
    size_t pad = (size_t)(-(uintptr_t)a->next & ((AB_MARKS && align < 16 ? 16 : align) - 1));
    if (__builtin_expect(pad >= room || size > room - pad, 0) ||
        (AB_MARKS && ab_arena_taken(size) > room - pad))
        return NULL;
    char *block = a->next + pad;
    a->next = block + ab_arena_taken(size);
    return block;
}

/* Calls the callback for an exhausted buffer. If it made room, tries to allocate once more. */
static inline char *ab_arena_place_late(struct ab_arena *a, size_t align, size_t size)
{
    if (a->exhausted == NULL || !a->exhausted(a, size, a->exhausted_context))
        return NULL;
    return ab_arena_place(a, align, size);
}

static inline void *ab_arena_take(struct ab_arena *a, size_t align, size_t size)
{
    char *block = ab_arena_place(a, align, size);
    if (__builtin_expect(block == NULL, 0) && (block = ab_arena_place_late(a, align, size)) == NULL)
        return NULL;
    AB_MARK_DEFINED(block, size);
    AB_MARK_ALLOC(a->end, block, size);
    return block;
}

/* Returns a block that is aligned to 16 bytes; size 0 gives a block of its own. NULL if the buffer
 * is exhausted or the arena is NULL. */
static inline void *ab_arena_alloc(struct ab_arena *a, size_t size)
{
    return a == NULL ? NULL : ab_arena_take(a, AB_ARENA_ALIGN, size);
}

/* Returns a block at a multiple of `align`; NULL if that is not a power of two. Blocks of a small
 * alignment are packed: floats take 4 bytes, strings their length. */
static inline void *ab_arena_alloc_aligned(struct ab_arena *a, size_t align, size_t size)
{
    bool is_power = align != 0 && (align & (align - 1)) == 0;
    return a == NULL || !is_power ? NULL : ab_arena_take(a, align, size);
}

/* Allocates like ab_arena_alloc_aligned; the alignment must be a power of two. */
static inline void *ab_arena_alloc_packed(struct ab_arena *a, size_t align, size_t size)
{
    return ab_arena_alloc_aligned(a, align, size);
}

static inline void *ab_arena_alloc_zeroed(struct ab_arena *a, size_t size)
{
    void *block = ab_arena_alloc(a, size);
    return block == NULL ? NULL : memset(block, 0, size);
}

/* Returns room for n objects of each_bytes; NULL if n × each_bytes overflows. */
static inline void *ab_arena_alloc_array(struct ab_arena *a, size_t align, size_t n,
                                         size_t each_bytes)
{
    size_t bytes;
    return __builtin_mul_overflow(n, each_bytes, &bytes) ? NULL
                                                         : ab_arena_alloc_aligned(a, align, bytes);
}

static inline void *ab_arena_alloc_array_zeroed(struct ab_arena *a, size_t align, size_t n,
                                                size_t each_bytes)
{
    void *block = ab_arena_alloc_array(a, align, n, each_bytes);
    return block == NULL ? NULL : memset(block, 0, n * each_bytes);
}

/* Allocate an object of a type, or an array of n; NULL if the buffer is exhausted or n is too
 * large. */
#define AB_ARENA_NEW(arena, type) \
    ((type *)ab_arena_alloc_packed((arena), AB_ALIGNOF(type), sizeof(type)))
#define AB_ARENA_ARRAY(arena, type, n) \
    ((type *)ab_arena_alloc_array((arena), AB_ALIGNOF(type), (n), sizeof(type)))
#define AB_ARENA_NEW_ZEROED(arena, type) AB_ARENA_ARRAY_ZEROED(arena, type, 1)
#define AB_ARENA_ARRAY_ZEROED(arena, type, n) \
    ((type *)ab_arena_alloc_array_zeroed((arena), AB_ALIGNOF(type), (n), sizeof(type)))

/* Marks the blocks from `from` on as dead for ASan and Valgrind, and moves `next` back. */
static inline void ab_arena_cut(struct ab_arena *a, char *from)
{
    AB_MARK_UNUSED(from, (size_t)(a->next - from));
    a->next = from;
}

/* Resizes the last block in place. Returns false and changes nothing if there is no room. */
static inline bool ab_arena_resize_top(struct ab_arena *a, char *block, size_t new_size)
{
    char *end = a->next;
    a->next = block;
    if (ab_arena_place(a, 1, new_size) == NULL && ab_arena_place_late(a, 1, new_size) == NULL) {
        a->next = end;
        return false;
    }
    char *from = block + (new_size & ~(size_t)7);
    AB_MARK_UNUSED(from, (size_t)((a->next > end ? a->next : end) - from));
    (void)from;
    AB_MARK_RESIZE(a->end, block, new_size);
    AB_MARK_DEFINED(block, new_size);
    return true;
}

/* Grows or shrinks the last block in place and copies any other block that grows. Returns NULL and
 * leaves the block as it was if the buffer is exhausted. If `block` is NULL, allocates one. */
static inline void *ab_arena_resize_aligned(struct ab_arena *a, size_t align, void *block,
                                            size_t old_size, size_t new_size)
{
    char *p = (char *)block;
    if (p == NULL)
        return ab_arena_alloc_aligned(a, align, new_size);
    if (p >= a->base && p < a->next && p + ab_arena_taken(old_size) == a->next)
        return ab_arena_resize_top(a, p, new_size) ? block : NULL;
    if (new_size <= old_size)
        return block;
    void *copy = ab_arena_alloc_aligned(a, align, new_size);
    if (copy == NULL)
        return NULL;
    memcpy(copy, block, old_size);
    AB_MARK_FREE(a->end, p, old_size);
    return copy;
}

static inline void *ab_arena_resize(struct ab_arena *a, void *block, size_t old_size,
                                    size_t new_size)
{
    return ab_arena_resize_aligned(a, AB_ARENA_ALIGN, block, old_size, new_size);
}

/* ---- save points ---- */

/* Returns a save point. Restoring it ends the life of all younger blocks. Save points nest. */
static inline struct ab_arena_mark ab_arena_save(const struct ab_arena *a)
{
    struct ab_arena_mark mark = {ab_arena_used(a)};
    return mark;
}

/* Goes back to the save point; one that is ahead of the arena is ignored. */
static inline void ab_arena_restore(struct ab_arena *a, struct ab_arena_mark mark)
{
    if (mark.position > ab_arena_used(a))
        return;
    AB_MARK_POOL_TRIM(a->end, a->base, mark.position);
    ab_arena_cut(a, a->base + mark.position);
}

/* Ends the life of all blocks. */
static inline void ab_arena_reset(struct ab_arena *a)
{
    struct ab_arena_mark begin = {0};
    ab_arena_restore(a, begin);
}

struct ab_arena_scope {
    struct ab_arena *arena;
    struct ab_arena_mark mark;
};

static inline struct ab_arena_scope ab_arena_scope_begin(struct ab_arena *arena)
{
    struct ab_arena_scope scope = {arena, ab_arena_save(arena)};
    return scope;
}

static inline void *ab_arena_scope_alloc(const struct ab_arena_scope *scope, size_t size)
{
    return ab_arena_alloc(scope->arena, size);
}

static inline void ab_arena_scope_end(const struct ab_arena_scope *scope)
{
    ab_arena_restore(scope->arena, scope->mark);
}

/* Everything allocated from here on dies at the end of the enclosing block, however control leaves
 * it. Scopes nest. longjmp ends no scope. */
#define AB_ARENA_SCOPED(arena) AB_ARENA_SCOPED_AT(arena, __COUNTER__)
#define AB_ARENA_SCOPED_AT(arena, n) AB_ARENA_SCOPED_NAMED(arena, n)
#define AB_ARENA_SCOPED_NAMED(arena, n) \
    __attribute__((cleanup(ab_arena_scope_end), \
                   unused)) struct ab_arena_scope ab_scope_##n = ab_arena_scope_begin(arena)

/* A scope with a name, for ab_arena_scope_alloc. */
#define AB_ARENA_SCOPE(name, arena) \
    __attribute__((cleanup(ab_arena_scope_end), \
                   unused)) struct ab_arena_scope name = ab_arena_scope_begin(arena)

#endif
