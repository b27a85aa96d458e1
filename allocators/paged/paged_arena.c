/* SPDX-License-Identifier: MIT
 *
 * Pages come and go at the top of a linked list; one further down goes when the only block in it
 * has moved away. `next` and `limit` of the top one live in the arena, so that allocation touches
 * no header.
 */
#include "paged_arena.h"

#include <errno.h>

static const uint32_t magic_page = 0xA7E4A5EDu;
static const size_t default_page_bytes = (size_t)64 << 10;

/* A resize looks for its block's page through one page a KiB of the block: that costs less than the
 * copy which it may spare. */
enum { LOOK_LOG2 = 10 };

/* What overflowed into a page's header, or came from elsewhere, must not be followed. */
static void check(const struct ab_paged_page *page)
{
    if (AB_PAGED_CHECKS && page->magic != magic_page)
        __builtin_trap();
}

static bool push_page(struct ab_paged_arena *a, size_t bytes)
{
    void *block = ab_paged_pool_alloc(a->pool, bytes, a->pool_tag);
    if (block == NULL)
        return false;
    struct ab_paged_page *page = (struct ab_paged_page *)block;
    bytes &= ~(AB_PAGED_ALIGN - 1);
    uint32_t serial = 0;
    if (a->top != NULL) {
        a->top->used = (size_t)(a->next - ab_paged_page_begin(a->top));
        a->used_below += a->top->used;
        serial = a->top->serial + 1;
    }
    struct ab_paged_page head = {magic_page, serial, a->top, bytes, 0};
    *page = head;
    a->top = page;
    a->next = ab_paged_page_begin(page);
    a->limit = (char *)page + bytes;
    a->held_bytes += bytes;
    a->n_pages++;
    AB_MARK_POOL_CREATE(page);
    AB_MARK_UNUSED(a->next, (size_t)(a->limit - a->next));
    return true;
}

/* It is out of the list. */
static void give_back(struct ab_paged_arena *a, struct ab_paged_page *page)
{
    check(page);
    a->held_bytes -= page->bytes;
    a->n_pages--;
    page->magic = 0;
    AB_MARK_POOL_DESTROY(page);
    ab_paged_pool_free(a->pool, page);
}

/* The one below becomes the top one. */
static void pop_page(struct ab_paged_arena *a)
{
    struct ab_paged_page *gone = a->top, *below = gone->below;
    a->top = below;
    if (below != NULL) {
        check(below);
        a->next = ab_paged_page_begin(below) + below->used;
        a->limit = (char *)below + below->bytes;
        a->used_below -= below->used;
    }
    give_back(a, gone);
}

/* Not the top one. */
static void take_out(struct ab_paged_arena *a, struct ab_paged_page *page)
{
    struct ab_paged_page *above = a->top;
    while (above->below != page)
        above = above->below;
    above->below = page->below;
    a->used_below -= page->used;
    give_back(a, page);
}

static char *end_of(const struct ab_paged_arena *a, struct ab_paged_page *page)
{
    return page == a->top ? a->next : ab_paged_page_begin(page) + page->used;
}

static void set_end(struct ab_paged_arena *a, struct ab_paged_page *page, char *end)
{
    if (page == a->top) {
        a->next = end;
        return;
    }
    size_t used = (size_t)(end - ab_paged_page_begin(page));
    a->used_below += used - page->used;
    page->used = used;
}

/* Where it lies in the pool, or not at all; what is in it fits. */
static bool resize_page(struct ab_paged_arena *a, struct ab_paged_page *page, size_t bytes)
{
    size_t old_bytes = page->bytes;
    bytes &= ~(AB_PAGED_ALIGN - 1);
    if (!ab_paged_pool_resize_in_place(a->pool, page, bytes))
        return false;
    page->bytes = bytes;
    a->held_bytes += bytes - old_bytes;
    if (page == a->top)
        a->limit = (char *)page + bytes;
    if (bytes > old_bytes)
        AB_MARK_UNUSED((char *)page + old_bytes, bytes - old_bytes);
    return true;
}

int ab_paged_arena_init(struct ab_paged_arena *arena, struct ab_paged_pool *pool, size_t page_bytes,
                        unsigned pool_tag)
{
    size_t smallest = sizeof(struct ab_paged_page) + AB_PAGED_ALIGN;
    struct ab_paged_arena fresh;
    memset(&fresh, 0, sizeof fresh);
    fresh.pool = pool;
    fresh.page_bytes = page_bytes == 0         ? default_page_bytes
                       : page_bytes < smallest ? smallest
                                               : page_bytes;
    fresh.pool_tag = pool_tag;
    if (!push_page(&fresh, fresh.page_bytes))
        return ENOMEM;
    *arena = fresh;
    return 0;
}

void ab_paged_arena_fini(struct ab_paged_arena *arena)
{
    while (arena->top != NULL)
        pop_page(arena);
    memset(arena, 0, sizeof *arena);
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

/* What a page needs to hold such a block; 0 when there is no such number. */
static size_t page_bytes_for(size_t align, size_t size)
{
    size_t bytes, extra = sizeof(struct ab_paged_page) + 2 * AB_PAGED_ALIGN + AB_PAGED_GAP;
    return __builtin_add_overflow(size, align + extra, &bytes) ? 0 : bytes;
}

/* A page of the usual size, or as large as this request needs. */
static bool push_for(struct ab_paged_arena *a, size_t align, size_t size)
{
    size_t bytes = page_bytes_for(align, size);
    return bytes != 0 && push_page(a, bytes > a->page_bytes ? bytes : a->page_bytes);
}

__attribute__((noinline)) void *ab_paged_arena_take_slow(struct ab_paged_arena *a, size_t align,
                                                         size_t size)
{
    check(a->top);
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

/* The last block of [page] ends here now; what was after is dead. Of a page that has grown far
 * beyond what is in it, the pool gets the rest. */
static void move_down(struct ab_paged_arena *a, struct ab_paged_page *page, char *to)
{
    size_t kept = (size_t)(to - (char *)page) + a->page_bytes;
    bury(to, end_of(a, page));
    set_end(a, page, to);
    if (page->bytes > kept + a->page_bytes)
        resize_page(a, page, kept);
}

static bool is_last(const struct ab_paged_arena *a, struct ab_paged_page *page, const char *block,
                    size_t size)
{
    const char *end = end_of(a, page);
    return block >= ab_paged_page_begin(page) && block < end && block + ab_paged_bytes(size) == end;
}

/* The page whose last block it is; NULL when it is the last of none, or of one too far down. */
static struct ab_paged_page *home_of(const struct ab_paged_arena *a, const char *block, size_t size)
{
    struct ab_paged_page *page = a->top;
    size_t n_left = size >> LOOK_LOG2;
    while (page != NULL && !is_last(a, page, block, size))
        page = n_left-- > 0 ? page->below : NULL;
    return page;
}

/* Room for the last block of the page to become that large; the page grows if it must, by a usual
 * page more than that if it can. */
static bool make_room(struct ab_paged_arena *a, struct ab_paged_page *page, const char *block,
                      size_t size)
{
    if (size > AB_PAGED_POOL_MAX)
        return false;
    size_t need = (size_t)(block - (char *)page) + ab_paged_bytes(size);
    return need <= page->bytes || resize_page(a, page, need + a->page_bytes) ||
           resize_page(a, page, need);
}

static void resize_last(struct ab_paged_arena *a, struct ab_paged_page *page, char *block,
                        size_t old_size, size_t new_size)
{
    char *to = block + ab_paged_bytes(new_size);
    if (to < end_of(a, page))
        move_down(a, page, to);
    else
        set_end(a, page, to);
    size_t kept = new_size & ~(size_t)7;
    AB_MARK_RESIZE(page, block, new_size);
    AB_MARK_DEFINED(block, new_size);
    if (AB_PAGED_CHECKS && new_size > old_size)
        memset(block + old_size, 0xCD, new_size - old_size);
    AB_MARK_UNUSED(block + kept, (size_t)(to - block) - kept);
    AB_MARK_DEFINED(block + kept, new_size - kept);
    (void)kept;
}

/* A page for a block that has outgrown its own: room for twice the old size, or as much of that as
 * the pool has. */
static bool push_growing(struct ab_paged_arena *a, size_t old_size, size_t new_size)
{
    size_t bytes = page_bytes_for(AB_PAGED_ALIGN, new_size);
    if (bytes <= a->page_bytes)
        return push_for(a, AB_PAGED_ALIGN, new_size);
    size_t spare = new_size - old_size < old_size ? old_size - (new_size - old_size) : 0;
    for (; spare >= a->page_bytes; spare /= 2)
        if (push_page(a, bytes + spare))
            return true;
    return push_page(a, bytes);
}

/* The block has moved away. */
static void leave(struct ab_paged_arena *a, struct ab_paged_page *home, char *block, size_t size)
{
    if (AB_PAGED_CHECKS)
        memset(block, 0xDD, size);
    if (home == NULL) {
        AB_MARK_UNUSED(block, size);
        return;
    }
    AB_MARK_FREE(home, block, size);
    if (block == ab_paged_page_begin(home) && home->below != NULL)
        take_out(a, home);
    else
        move_down(a, home, block);
}

static void *copy_up(struct ab_paged_arena *a, struct ab_paged_page *home, char *block,
                     size_t old_size, size_t new_size)
{
    if (!fits(a, a->next, new_size) && !push_growing(a, old_size, new_size))
        return NULL;
    void *copy = ab_paged_arena_alloc(a, new_size);
    memcpy(copy, block, old_size);
    leave(a, home, block, old_size);
    return copy;
}

static void *resize(struct ab_paged_arena *a, char *block, size_t old_size, size_t new_size)
{
    struct ab_paged_page *home = home_of(a, block, old_size);
    if (home != NULL && make_room(a, home, block, new_size)) {
        resize_last(a, home, block, old_size, new_size);
        return block;
    }
    if (new_size <= ab_paged_bytes(old_size) - AB_PAGED_GAP) {
        AB_MARK_DEFINED(block, new_size);
        return block;
    }
    return copy_up(a, home, block, old_size, new_size);
}

void *ab_paged_arena_resize(struct ab_paged_arena *a, void *block, size_t old_size, size_t new_size,
                            unsigned tag)
{
    void *resized = resize(a, (char *)block, old_size, new_size);
    if (resized != NULL)
        count(a, tag, 0, new_size - old_size);
    return resized;
}

bool ab_paged_arena_pop(struct ab_paged_arena *a, void *block, size_t size, unsigned tag)
{
    char *p = (char *)block;
    if (p == NULL || !is_last(a, a->top, p, size))
        return false;
    AB_MARK_FREE(a->top, p, size);
    count(a, tag, (size_t)-1, 0 - size);
    if (p == ab_paged_page_begin(a->top) && a->top->below != NULL)
        pop_page(a);
    else
        move_down(a, a->top, p);
    return true;
}

void ab_paged_arena_clear(struct ab_paged_arena *a)
{
    uint32_t serial = a->top->serial + 1; /* what was saved before is older than the first page */
    while (a->top->below != NULL)
        pop_page(a);
    check(a->top);
    AB_MARK_POOL_TRIM(a->top, a->top, 0);
    move_down(a, a->top, ab_paged_page_begin(a->top));
    a->top->serial = a->first_serial = serial;
    memset(a->tags, 0, sizeof a->tags);
}

/* The top page's serial, and in units of 16 bytes where in it. */
uint64_t ab_paged_arena_save(const struct ab_paged_arena *a)
{
    return (uint64_t)a->top->serial << 32 | (size_t)(a->next - (char *)a->top) / AB_PAGED_ALIGN;
}

/* Serials may wrap: their difference says which is older. */
static bool is_older(uint32_t serial, uint32_t other)
{
    return (int32_t)(serial - other) < 0;
}

void ab_paged_arena_restore(struct ab_paged_arena *a, uint64_t mark)
{
    uint32_t serial = (uint32_t)(mark >> 32);
    if (is_older(serial, a->first_serial))
        return;
    while (is_older(serial, a->top->serial))
        pop_page(a);
    char *to = (char *)a->top + (uint32_t)mark * AB_PAGED_ALIGN;
    if (a->top->serial != serial || to >= a->next)
        return;
    AB_MARK_POOL_TRIM(a->top, ab_paged_page_begin(a->top),
                      (size_t)(to - ab_paged_page_begin(a->top)));
    move_down(a, a->top, to);
}
