/* SPDX-License-Identifier: MIT
 *
 * Reserving, committing and everything else that is not the fast path. Pages above `dirty` were
 * never handed out since the system zeroed them, which is what makes zeroed blocks cheap; `dirty`
 * is raised only where the pointer goes down, so that allocation never has to.
 */
#include "arena.h"

#include "../common/pages.h"

#include <errno.h>
#include <string.h>

static const size_t first_step_bytes = (size_t)64 << 10;
static const size_t largest_step_bytes = (size_t)64 << 20;
static const uint32_t magic_open = 0xA7E4AB0Bu;

/* An arena that was never opened, or is closed, would hand out what is not its own. */
static void check(const struct ab_arena *a)
{
    if (AB_ARENA_CHECKS && a->magic != magic_open)
        __builtin_trap();
}

static void open_at(struct ab_arena *arena, char *base, char *limit, char *end)
{
    memset(arena, 0, sizeof *arena);
    arena->next = arena->base = base;
    arena->limit = arena->dirty = limit; /* what is committed already need not be zero */
    arena->end = end;
    arena->keep_bytes = SIZE_MAX;
    arena->magic = magic_open;
    AB_MARK_POOL_CREATE(arena);
}

int ab_arena_init(struct ab_arena *arena, const struct ab_arena_options *o)
{
    size_t page = ab_page_size(), step = o->step_bytes;
    if (o->huge && step < AB_HUGE_PAGE_BYTES)
        step = AB_HUGE_PAGE_BYTES;
    size_t align = step >= AB_HUGE_PAGE_BYTES ? AB_HUGE_PAGE_BYTES : page;
    if (o->reserve_bytes == 0 || o->reserve_bytes > PTRDIFF_MAX - align)
        return ENOMEM;
    size_t bytes = ab_round_up(o->reserve_bytes, page);
    char *base = (char *)ab_pages_reserve(bytes, align);
    if (base == NULL)
        return errno;
    int error = o->huge ? ab_pages_want_huge(base, bytes) : 0;
    if (error != 0) {
        ab_pages_release(base, bytes);
        return error;
    }
    open_at(arena, base, base, base + bytes);
    arena->step_bytes = step > bytes ? bytes : ab_round_up(step, page);
    arena->keep_bytes = o->keep_bytes == 0 ? SIZE_MAX : o->keep_bytes;
    arena->page_bytes = page;
    arena->n_os_calls = 1u + o->huge;
    arena->populates = o->populate;
    return 0;
}

void ab_arena_init_buffer(struct ab_arena *arena, void *buffer, size_t bytes)
{
    size_t head = -(uintptr_t)buffer & (AB_ARENA_ALIGN - 1);
    if (head >= bytes)
        head = bytes = 0;
    char *base = head > 0 ? (char *)buffer + head : (char *)buffer;
    bytes = (bytes - head) & ~(AB_ARENA_ALIGN - 1);
    char *end = bytes > 0 ? base + bytes : base;
    open_at(arena, base, end, end);
    AB_MARK_UNUSED(base, bytes);
}

void ab_arena_fini(struct ab_arena *arena)
{
    check(arena);
    AB_MARK_POOL_DESTROY(arena);
    AB_MARK_DEFINED(arena->base, ab_arena_committed(arena));
    if (arena->page_bytes != 0)
        ab_pages_release(arena->base, (size_t)(arena->end - arena->base));
    memset(arena, 0, sizeof *arena);
}

/* Growing: as much again as there is, so that n bytes cost O(log n) calls. */
static size_t next_step(const struct ab_arena *a)
{
    if (a->step_bytes != 0)
        return a->step_bytes;
    size_t step = ab_arena_committed(a);
    if (step < first_step_bytes)
        step = first_step_bytes;
    return step < largest_step_bytes ? step : largest_step_bytes;
}

/* Makes [limit, limit + need) usable; need ≤ end − limit. */
static bool commit(struct ab_arena *a, size_t need)
{
    size_t room = (size_t)(a->end - a->limit), step = next_step(a);
    size_t bytes = need > step ? ab_round_up(need, a->page_bytes) : step;
    if (bytes > room)
        bytes = room;
    a->n_os_calls += 1u + a->populates;
    if (ab_pages_commit(a->limit, bytes) != 0)
        return false;
    if (a->populates && ab_pages_populate(a->limit, bytes) != 0) {
        ab_pages_decommit(a->limit, bytes);
        return false;
    }
    AB_MARK_UNUSED(a->limit, bytes);
    a->limit += bytes;
    return true;
}

/* Makes [from, from + size) and its gap usable, or says that it cannot. */
static bool cover(struct ab_arena *a, const char *from, size_t size)
{
    size_t last = ab_arena_last_byte(size), room = (size_t)(a->end - from);
    if (last >= room || room - last <= AB_ARENA_GAP)
        return false;
    const char *end = from + ab_arena_block_bytes(size);
    return end <= a->limit || commit(a, (size_t)(end - a->limit));
}

__attribute__((noinline)) void *ab_arena_take_slow(struct ab_arena *a, size_t align, size_t size)
{
    check(a);
    size_t pad = -(uintptr_t)a->next & (align - 1);
    if (pad > (size_t)(a->end - a->next) || !cover(a, a->next + pad, size))
        return NULL;
    char *block = a->next + pad;
    a->next = block + ab_arena_block_bytes(size);
    return block;
}

void *ab_arena_alloc_aligned(struct ab_arena *a, size_t align, size_t size)
{
    if (align == 0 || (align & (align - 1)) != 0)
        return NULL;
    if (align <= AB_ARENA_ALIGN)
        return ab_arena_alloc(a, size);
    return ab_arena_born(a, ab_arena_take_slow(a, align, size), size);
}

void *ab_arena_alloc_zeroed(struct ab_arena *a, size_t size)
{
    char *block = (char *)ab_arena_alloc(a, size);
    if (block != NULL && (AB_ARENA_CHECKS || block < a->dirty)) {
        size_t stale = AB_ARENA_CHECKS ? size : (size_t)(a->dirty - block);
        memset(block, 0, size < stale ? size : stale);
    }
    if (block != NULL)
        AB_MARK_DEFINED(block, size);
    return block;
}

void *ab_arena_alloc_array(struct ab_arena *a, size_t align, size_t n, size_t each_bytes)
{
    size_t bytes;
    if (__builtin_mul_overflow(n, each_bytes, &bytes))
        return NULL;
    return ab_arena_alloc_aligned(a, align, bytes);
}

/* [from, next) is dead. */
static void bury(char *from, char *next)
{
    if (AB_ARENA_CHECKS) {
        AB_MARK_DEFINED(from, (size_t)(next - from));
        memset(from, 0xDD, (size_t)(next - from));
    }
    AB_MARK_UNUSED(from, (size_t)(next - from));
    (void)from;
    (void)next;
}

static void move_down(struct ab_arena *a, char *to)
{
    if (a->next > a->dirty)
        a->dirty = a->next;
    bury(to, a->next);
    a->next = to;
}

/* The bytes from old_size on become part of the block, or cease to be; the granule that both
 * share is set anew. */
static void resize_in_place(struct ab_arena *a, char *block, size_t old_size, size_t new_size)
{
    char *to = block + ab_arena_block_bytes(new_size);
    size_t kept = new_size & ~(size_t)7;
    if (to < a->next) {
        move_down(a, to);
    } else {
        a->next = to;
        if (AB_ARENA_CHECKS) {
            AB_MARK_DEFINED(block, new_size);
            memset(block + old_size, 0xCD, new_size > old_size ? new_size - old_size : 0);
        }
    }
    AB_MARK_RESIZE(a, block, new_size);
    AB_MARK_UNUSED(block + kept, (size_t)(to - block) - kept);
    AB_MARK_DEFINED(block, new_size);
    (void)kept;
}

void *ab_arena_resize(struct ab_arena *a, void *block, size_t old_size, size_t new_size)
{
    char *p = (char *)block;
    size_t old_bytes = ab_arena_block_bytes(old_size);
    /* A block of another arena may end where this one begins. */
    bool is_top = p >= a->base && p + old_bytes == a->next;
    if (is_top) {
        if (!cover(a, p, new_size))
            return NULL;
        resize_in_place(a, p, old_size, new_size);
        return p;
    }
    if (new_size <= old_bytes - AB_ARENA_GAP) {
        AB_MARK_DEFINED(p, new_size);
        return p;
    }
    void *copy = ab_arena_alloc(a, new_size);
    if (copy == NULL)
        return NULL;
    memcpy(copy, p, old_size);
    if (AB_ARENA_CHECKS)
        memset(p, 0xDD, old_size);
    AB_MARK_FREE(a, p, old_size);
    return copy;
}

size_t ab_arena_save(const struct ab_arena *a)
{
    return ab_arena_used(a);
}

void ab_arena_restore(struct ab_arena *a, size_t mark)
{
    check(a);
    if (mark >= ab_arena_used(a))
        return;
    AB_MARK_POOL_TRIM(a, a->base, mark);
    move_down(a, a->base + mark);
    if ((size_t)(a->limit - a->next) > a->keep_bytes)
        ab_arena_trim(a, a->keep_bytes);
}

void ab_arena_purge(struct ab_arena *a)
{
    if (a->page_bytes == 0)
        return;
    char *from = a->base + ab_round_up(ab_arena_used(a), a->page_bytes);
    if (from >= a->limit)
        return;
    a->n_os_calls++;
    if (ab_pages_discard(from, (size_t)(a->limit - from)) == 0 && a->dirty > from)
        a->dirty = from;
}

void ab_arena_trim(struct ab_arena *a, size_t keep_bytes)
{
    check(a);
    size_t used = ab_arena_used(a);
    if (a->page_bytes == 0 || keep_bytes >= ab_arena_committed(a) - used)
        return;
    char *from = a->base + ab_round_up(used + keep_bytes, a->page_bytes);
    if (from >= a->limit)
        return;
    size_t bytes = (size_t)(a->limit - from);
    a->n_os_calls += 2;
    if (ab_pages_decommit(from, bytes) != 0)
        return; /* what is still there counts as dirty as it did */
    if (a->dirty > from)
        a->dirty = from;
    AB_MARK_DEFINED(from, bytes);
    a->limit = from;
}

void ab_arena_release(struct ab_arena *a)
{
    ab_arena_reset(a);
    ab_arena_trim(a, 0);
}
