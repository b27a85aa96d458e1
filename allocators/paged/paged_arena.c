/* SPDX-License-Identifier: MIT
 *
 * Blocks come and go at the top of a linked list only. `next` and `limit` of the top one live in
 * the arena, so that allocation touches no header.
 */
#include "allocators/paged/paged_arena.h"

#include <errno.h>

static const uint64_t magic_block = 0xB10CB10CA7E4A5EDu;
static const size_t default_block_bytes = (size_t)64 << 10;

/* What overflowed into a block's header, or came from elsewhere, must not be followed. */
static void check(const struct ab_paged_arena *a)
{
    if (AB_PAGED_CHECKS && a->top->magic != magic_block)
        __builtin_trap();
}

static bool push_block(struct ab_paged_arena *a, size_t bytes)
{
    struct ab_paged_block *block = ab_paged_pool_alloc(a->pool, bytes, a->pool_tag);
    if (block == NULL)
        return false;
    bytes &= ~(AB_PAGED_ALIGN - 1);
    if (a->top != NULL) {
        a->top->used = (size_t)(a->next - ab_paged_block_begin(a->top));
        a->used_below += a->top->used;
    }
    *block = (struct ab_paged_block){.magic = magic_block, .below = a->top, .bytes = bytes};
    a->top = block;
    a->next = ab_paged_block_begin(block);
    a->limit = (char *)block + bytes;
    a->held_bytes += bytes;
    a->n_blocks++;
    AB_POOL_CREATE(block);
    AB_MARK_UNUSED(a->next, (size_t)(a->limit - a->next));
    return true;
}

/* The one below becomes the top one. */
static void pop_block(struct ab_paged_arena *a)
{
    struct ab_paged_block *gone = a->top, *below = gone->below;
    check(a);
    a->held_bytes -= gone->bytes;
    a->n_blocks--;
    a->top = below;
    if (below != NULL) {
        a->next = ab_paged_block_begin(below) + below->used;
        a->limit = (char *)below + below->bytes;
        a->used_below -= below->used;
    }
    gone->magic = 0;
    AB_POOL_DESTROY(gone);
    ab_paged_pool_free(a->pool, gone);
}

int ab_paged_arena_init(struct ab_paged_arena *arena, struct ab_paged_pool *pool,
                        size_t block_bytes, unsigned pool_tag)
{
    size_t smallest = sizeof(struct ab_paged_block) + AB_PAGED_ALIGN;
    struct ab_paged_arena fresh = {
        .pool = pool,
        .block_bytes = block_bytes == 0        ? default_block_bytes
                       : block_bytes < smallest ? smallest
                                                : block_bytes,
        .pool_tag = pool_tag,
    };
    if (!push_block(&fresh, fresh.block_bytes))
        return ENOMEM;
    *arena = fresh;
    return 0;
}

void ab_paged_arena_fini(struct ab_paged_arena *arena)
{
    while (arena->top != NULL)
        pop_block(arena);
    *arena = (struct ab_paged_arena){0};
}

/* ---- blocks ---- */

static bool fits(const struct ab_paged_arena *a, const char *from, size_t size)
{
    size_t last = size - (size != 0), room = (size_t)(a->limit - from);
    return last < room && room - last > AB_PAGED_GAP;
}

static size_t pad_for(const struct ab_paged_arena *a, size_t align)
{
    return -(uintptr_t)a->next & (align - 1);
}

/* A block of the usual size, or as large as this request needs. */
static bool push_for(struct ab_paged_arena *a, size_t align, size_t size)
{
    size_t bytes;
    size_t extra = sizeof(struct ab_paged_block) + 2 * AB_PAGED_ALIGN + AB_PAGED_GAP;
    if (__builtin_add_overflow(size, align + extra, &bytes))
        return false;
    return push_block(a, bytes > a->block_bytes ? bytes : a->block_bytes);
}

__attribute__((noinline)) void *ab_paged_arena_take_slow(struct ab_paged_arena *a, size_t align,
                                                         size_t size)
{
    check(a);
    size_t pad = pad_for(a, align), room = (size_t)(a->limit - a->next);
    if (pad > room || !fits(a, a->next + pad, size)) {
        if (!push_for(a, align, size))
            return NULL;
        pad = pad_for(a, align);
    }
    char *block = a->next + pad;
    a->next = block + ab_paged_bytes(size);
    return block;
}

void *ab_paged_arena_alloc_aligned(struct ab_paged_arena *a, size_t align, size_t size)
{
    if (align == 0 || (align & (align - 1)) != 0 || align > AB_PAGED_POOL_MAX)
        return NULL;
    if (align <= AB_PAGED_ALIGN)
        return ab_paged_arena_alloc(a, size);
    return ab_paged_born(a, ab_paged_arena_take_slow(a, align, size), size);
}

void *ab_paged_arena_alloc_zeroed(struct ab_paged_arena *a, size_t size)
{
    void *block = ab_paged_arena_alloc(a, size);
    return block == NULL ? NULL : memset(block, 0, size);
}

static void count(struct ab_paged_arena *a, unsigned tag, size_t n_blocks, size_t bytes)
{
    if (tag == 0)
        return;
    a->tags[tag % AB_PAGED_TAGS].n_blocks += n_blocks;
    a->tags[tag % AB_PAGED_TAGS].bytes += bytes;
}

void *ab_paged_arena_alloc_tagged(struct ab_paged_arena *a, size_t size, unsigned tag)
{
    void *block = ab_paged_arena_alloc(a, size);
    if (block != NULL)
        count(a, tag, 1, size);
    return block;
}

/* [from, to) is dead. */
static void bury(char *from, char *to)
{
    if (AB_PAGED_CHECKS) {
        AB_MARK_DEFINED(from, (size_t)(to - from));
        memset(from, 0xDD, (size_t)(to - from));
    }
    AB_MARK_UNUSED(from, (size_t)(to - from));
    (void)from;
    (void)to;
}

static bool is_top(const struct ab_paged_arena *a, const char *block, size_t size)
{
    return block >= ab_paged_block_begin(a->top) && block < a->next &&
           block + ab_paged_bytes(size) == a->next;
}

static void resize_top(struct ab_paged_arena *a, char *block, size_t old_size, size_t new_size)
{
    char *to = block + ab_paged_bytes(new_size);
    if (to < a->next)
        bury(to, a->next);
    a->next = to;
    size_t kept = new_size & ~(size_t)7;
    AB_MARK_DEFINED(block, new_size);
    if (AB_PAGED_CHECKS && new_size > old_size)
        memset(block + old_size, 0xCD, new_size - old_size);
    AB_MARK_UNUSED(block + kept, (size_t)(to - block) - kept);
    AB_MARK_DEFINED(block + kept, new_size - kept);
    (void)kept;
}

void *ab_paged_arena_resize(struct ab_paged_arena *a, void *block, size_t old_size,
                            size_t new_size, unsigned tag)
{
    char *p = block;
    if (is_top(a, p, old_size) && fits(a, p, new_size)) {
        resize_top(a, p, old_size, new_size);
        count(a, tag, 0, new_size - old_size);
        return p;
    }
    if (new_size <= ab_paged_bytes(old_size) - AB_PAGED_GAP) {
        AB_MARK_DEFINED(p, new_size);
        count(a, tag, 0, new_size - old_size);
        return p;
    }
    void *copy = ab_paged_arena_alloc(a, new_size);
    if (copy == NULL)
        return NULL;
    memcpy(copy, p, old_size);
    if (AB_PAGED_CHECKS)
        memset(p, 0xDD, old_size);
    AB_MARK_UNUSED(p, old_size);
    count(a, tag, 0, new_size - old_size);
    return copy;
}

bool ab_paged_arena_pop(struct ab_paged_arena *a, void *block, size_t size, unsigned tag)
{
    char *p = block;
    if (p == NULL || !is_top(a, p, size))
        return false;
    AB_MARK_FREE(a->top, p, size);
    bury(p, a->next);
    a->next = p;
    count(a, tag, (size_t)-1, 0 - size);
    if (p == ab_paged_block_begin(a->top) && a->top->below != NULL)
        pop_block(a);
    return true;
}

void ab_paged_arena_clear(struct ab_paged_arena *a)
{
    while (a->top->below != NULL)
        pop_block(a);
    check(a);
    AB_POOL_TRIM(a->top, a->top, 0);
    bury(ab_paged_block_begin(a->top), a->next);
    a->next = ab_paged_block_begin(a->top);
    memset(a->tags, 0, sizeof a->tags);
}

uintptr_t ab_paged_arena_save(const struct ab_paged_arena *a)
{
    return (uintptr_t)a->next;
}

static bool has_mark(const struct ab_paged_block *block, uintptr_t mark)
{
    return mark >= (uintptr_t)(block + 1) && mark <= (uintptr_t)block + block->bytes;
}

void ab_paged_arena_restore(struct ab_paged_arena *a, uintptr_t mark)
{
    const struct ab_paged_block *home = a->top;
    while (home != NULL && !has_mark(home, mark))
        home = home->below;
    if (home == NULL)
        return;
    while (a->top != home)
        pop_block(a);
    if (mark >= (uintptr_t)a->next)
        return;
    AB_POOL_TRIM(a->top, ab_paged_block_begin(a->top), mark - (uintptr_t)(a->top + 1));
    bury((char *)mark, a->next);
    a->next = (char *)mark;
}
