/* SPDX-License-Identifier: MIT
 *
 * Reserving, committing and everything else that is not the fast path. Pages above `dirty` were
 * never handed out since the system zeroed them, which is what makes zeroed blocks cheap; `dirty`
 * is raised only where the pointer goes down, so that allocation never has to.
 */
#include "allocators/arena/arena.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static const size_t first_step_bytes = (size_t)64 << 10;
static const size_t huge_page_bytes = (size_t)2 << 20;
static const size_t largest_step_bytes = (size_t)64 << 20;

static size_t round_up(size_t n, size_t align)
{
    return (n + align - 1) & ~(align - 1);
}

/* Maps too much and trims both ends: the system aligns to pages only. NULL and errno on failure. */
static char *reserve_aligned(size_t bytes, size_t align, size_t page)
{
    char *p = mmap(NULL, bytes + align - page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED)
        return NULL;
    size_t head = -(uintptr_t)p & (align - 1), tail = align - page - head;
    if (head > 0)
        munmap(p, head);
    if (tail > 0)
        munmap(p + head + bytes, tail);
    return p + head;
}

int ab_arena_init(struct ab_arena *arena, size_t reserve_bytes, size_t step_bytes)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t align = step_bytes >= huge_page_bytes ? huge_page_bytes : page;
    if (reserve_bytes == 0 || reserve_bytes > PTRDIFF_MAX - align)
        return ENOMEM;
    size_t bytes = round_up(reserve_bytes, page);
    char *base = reserve_aligned(bytes, align, page);
    if (base == NULL)
        return errno;
    *arena = (struct ab_arena){
        .next = base,
        .limit = base,
        .base = base,
        .end = base + bytes,
        .dirty = base,
        .step_bytes = step_bytes > bytes ? bytes : round_up(step_bytes, page),
        .page_bytes = page,
        .n_os_calls = 1,
    };
    return 0;
}

void ab_arena_fini(struct ab_arena *arena)
{
    munmap(arena->base, (size_t)(arena->end - arena->base));
    *arena = (struct ab_arena){0};
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
    size_t bytes = need > step ? round_up(need, a->page_bytes) : step;
    if (bytes > room)
        bytes = room;
    a->n_os_calls++;
    if (mprotect(a->limit, bytes, PROT_READ | PROT_WRITE) != 0)
        return false;
    a->limit += bytes;
    return true;
}

/* Makes [from, from + size) usable, or says that it cannot. */
static bool cover(struct ab_arena *a, const char *from, size_t size)
{
    size_t last = ab_arena_last_byte(size);
    if (last >= (size_t)(a->end - from))
        return false;
    const char *end = from + (last | (AB_ARENA_ALIGN - 1)) + 1;
    return end <= a->limit || commit(a, (size_t)(end - a->limit));
}

static size_t block_bytes(size_t size)
{
    return (ab_arena_last_byte(size) | (AB_ARENA_ALIGN - 1)) + 1;
}

__attribute__((noinline)) void *ab_arena_alloc_slow(struct ab_arena *a, size_t align, size_t size)
{
    size_t pad = -(uintptr_t)a->next & (align - 1);
    if (pad > (size_t)(a->end - a->next) || !cover(a, a->next + pad, size))
        return NULL;
    char *block = a->next + pad;
    a->next = block + block_bytes(size);
    return block;
}

void *ab_arena_alloc_aligned(struct ab_arena *a, size_t align, size_t size)
{
    if (align <= AB_ARENA_ALIGN)
        return align != 0 && (align & (align - 1)) == 0 ? ab_arena_alloc(a, size) : NULL;
    if ((align & (align - 1)) != 0)
        return NULL;
    return ab_arena_alloc_slow(a, align, size);
}

void *ab_arena_alloc_zeroed(struct ab_arena *a, size_t size)
{
    char *block = ab_arena_alloc(a, size);
    if (block != NULL && block < a->dirty) {
        size_t stale = (size_t)(a->dirty - block);
        memset(block, 0, size < stale ? size : stale);
    }
    return block;
}

static void move_down(struct ab_arena *a, char *to)
{
    if (a->next > a->dirty)
        a->dirty = a->next;
    a->next = to;
}

void *ab_arena_resize(struct ab_arena *a, void *block, size_t old_size, size_t new_size)
{
    char *p = block;
    size_t old_bytes = block_bytes(old_size);
    bool is_top = p + old_bytes == a->next;
    if (new_size <= old_bytes) {
        if (is_top)
            move_down(a, p + block_bytes(new_size));
        return p;
    }
    if (is_top) {
        if (!cover(a, p, new_size))
            return NULL;
        a->next = p + block_bytes(new_size);
        return p;
    }
    void *copy = ab_arena_alloc(a, new_size);
    return copy == NULL ? NULL : memcpy(copy, p, old_size);
}

void ab_arena_reset(struct ab_arena *a)
{
    move_down(a, a->base);
}

size_t ab_arena_save(const struct ab_arena *a)
{
    return ab_arena_used(a);
}

void ab_arena_restore(struct ab_arena *a, size_t mark)
{
    if (mark < ab_arena_used(a))
        move_down(a, a->base + mark);
}

void ab_arena_purge(struct ab_arena *a)
{
    char *from = a->base + round_up(ab_arena_used(a), a->page_bytes);
    if (from >= a->limit)
        return;
    a->n_os_calls++;
    if (madvise(from, (size_t)(a->limit - from), MADV_DONTNEED) == 0 && a->dirty > from)
        a->dirty = from;
}
