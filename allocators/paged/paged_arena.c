/* SPDX-License-Identifier: MIT
 *
 * The arena over its pages: blocks, tags, save points, resizing and popping. Pages come and go at
 * the top of a linked list. A page further down goes when its only block has moved away. `next` and
 * `limit` of the top page are stored in the arena, so that an allocation touches no header.
 */
#include "paged_arena.h"

#include "../common/checked.h"

#include <errno.h>

static const size_t default_page_bytes = (size_t)64 << 10;
static const uint32_t magic_page = 0xA7E4A5EDu;

/* Head of a block with a tag. Stored before the block, or before the bytes that the checked build
 * puts in front of the block. */
struct ab_paged_tagged {
    struct ab_paged_tagged *below;
    /* size << 28 | a magic number << 16 | tag; tag 0: the block has moved away */
    uint64_t size_and_tag;
};
AB_STATIC_ASSERT(sizeof(struct ab_paged_tagged) == AB_PAGED_ALIGN, "blocks stay aligned");

#define TAGGED_BYTES sizeof(struct ab_paged_tagged)
#define TAGGED_MAGIC UINT64_C(0x7A6)

static unsigned tagged_tag(const struct ab_paged_tagged *t)
{
    return (unsigned)(t->size_and_tag & AB_PAGED_TAGS_MAX);
}

static size_t tagged_size(const struct ab_paged_tagged *t)
{
    return (size_t)(t->size_and_tag >> 28);
}

static void tagged_set(struct ab_paged_tagged *t, size_t size, unsigned tag)
{
    t->size_and_tag = (uint64_t)size << 28 | TAGGED_MAGIC << 16 | tag;
}

static struct ab_paged_tagged *tagged_of(const void *block)
{
    return (struct ab_paged_tagged *)((uintptr_t)block - AB_PAGED_FRONT - TAGGED_BYTES);
}

static char *page_end(const struct ab_paged_arena *a, struct ab_paged_page *page)
{
    return page == a->top ? a->next : ab_paged_page_begin(page) + page->used;
}

static bool fits(const struct ab_paged_arena *a, const char *from, size_t size)
{
    size_t last = size - (size != 0), room = (size_t)(a->limit - from);
    return last < room && room - last > AB_PAGED_GAP;
}

/* Ends the process if the arena is NULL or closed; only in the checked build. */
static void demand_open(const struct ab_paged_arena *a)
{
    if (AB_CHECKS && (a == NULL || a->top == NULL))
        ab_guard_end("paged arena", a, AB_SAYS_CLOSED);
}

/* ---- pages ---- */

/* Ends the process if the header of a page was overwritten; only in the checked build. */
static void page_check(const struct ab_paged_page *page)
{
    if (AB_CHECKS && page->magic != magic_page)
        ab_guard_end("paged arena", page, "the header of a page was overwritten");
}

static struct ab_paged_tag_count *count_of(struct ab_paged_arena *a, unsigned tag)
{
    return (struct ab_paged_tag_count *)(uintptr_t)ab_paged_arena_tag_count(a, tag);
}

/* Adds to the counts of a tag; (size_t)-1 and 0 − bytes subtract. Tag 0 is not counted. */
static void tags_add(struct ab_paged_arena *a, unsigned tag, size_t n_blocks, size_t bytes)
{
    struct ab_paged_tag_count *c = count_of(a, tag);
    if (tag == 0)
        return;
    c->n_blocks += n_blocks;
    c->bytes += bytes;
    if (c->peak_bytes < c->bytes)
        c->peak_bytes = c->bytes;
}

/* Subtracts the tagged blocks in [from, to), which must be the youngest ones, from the counts. */
static void forget_tagged(struct ab_paged_arena *a, const char *from, const char *to)
{
    while ((const char *)a->tagged >= from && (const char *)a->tagged < to) {
        tags_add(a, tagged_tag(a->tagged), (size_t)-1, 0 - tagged_size(a->tagged));
        a->tagged = a->tagged->below;
    }
}

/* Puts a page of `bytes` bytes on top, with its header. Returns false if the pool has none. */
static bool page_push(struct ab_paged_arena *a, size_t bytes)
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
    memset(page, 0, sizeof *page);
    page->magic = magic_page;
    page->serial = serial;
    page->below = a->top;
    page->bytes = bytes;
    AB_CHECKED(page->dead_end = ab_paged_page_begin(page));
    a->top = page;
    a->next = ab_paged_page_begin(page);
    a->limit = (char *)page + bytes;
    a->held_bytes += bytes;
    a->n_pages++;
    AB_MARK_POOL_CREATE(page);
    AB_MARK_UNUSED(a->next, (size_t)(a->limit - a->next));
    return true;
}

/* Returns the size of a page that can hold a block of `size` bytes aligned to `align`; 0 on
 * overflow. */
static size_t page_bytes_for(size_t align, size_t size)
{
    size_t bytes, extra = sizeof(struct ab_paged_page) + 2 * AB_PAGED_ALIGN + AB_PAGED_GAP +
                          AB_PAGED_FRONT + TAGGED_BYTES;
    return __builtin_add_overflow(size, align + extra, &bytes) ? 0 : bytes;
}

/* Pushes a page of page_bytes, or a larger one if the block needs it. */
static bool page_push_for(struct ab_paged_arena *a, size_t align, size_t size)
{
    size_t bytes = page_bytes_for(align, size);
    return bytes != 0 && page_push(a, bytes > a->page_bytes ? bytes : a->page_bytes);
}

/* Returns a page, which is no longer in the list, to the pool. */
static void give_back(struct ab_paged_arena *a, struct ab_paged_page *page)
{
    page_check(page);
    a->held_bytes -= page->bytes;
    a->n_pages--;
    page->magic = 0;
    AB_MARK_POOL_DESTROY(page);
    ab_paged_pool_free(a->pool, page);
}

/* Removes the top page; the page below becomes the top one. */
static void page_pop(struct ab_paged_arena *a)
{
    struct ab_paged_page *gone = a->top, *below = gone->below;
    page_check(gone);
    forget_tagged(a, (char *)gone, (char *)gone + gone->bytes);
    AB_CHECKED(ab_block_kill_in(&a->blocks, (char *)gone, (char *)gone + gone->bytes));
    a->top = below;
    if (below != NULL) {
        page_check(below);
        a->next = ab_paged_page_begin(below) + below->used;
        a->limit = (char *)below + below->bytes;
        a->used_below -= below->used;
    }
    give_back(a, gone);
}

/* Removes an empty page that is not the top one. */
static void page_take_out(struct ab_paged_arena *a, struct ab_paged_page *page)
{
    struct ab_paged_page *above = a->top;
    while (above->below != page)
        above = above->below;
    above->below = page->below;
    a->used_below -= page->used;
    give_back(a, page);
}

static void page_set_end(struct ab_paged_arena *a, struct ab_paged_page *page, char *end)
{
    if (page == a->top) {
        a->next = end;
        return;
    }
    size_t used = (size_t)(end - ab_paged_page_begin(page));
    a->used_below += used - page->used;
    page->used = used;
}

/* Resizes a page in place within the pool. Returns false if that is not possible. Its blocks must
 * fit the new size. */
static bool page_resize(struct ab_paged_arena *a, struct ab_paged_page *page, size_t bytes)
{
    size_t old_bytes = page->bytes;
    bytes &= ~(AB_PAGED_ALIGN - 1);
    if (!ab_paged_pool_resize_in_place(a->pool, page, bytes))
        return false;
    page->bytes = bytes;
    a->held_bytes += bytes - old_bytes;
    if (page == a->top)
        a->limit = (char *)page + bytes;
    AB_CHECKED(if (page->dead_end > (char *)page + bytes) page->dead_end = (char *)page + bytes);
    if (bytes > old_bytes)
        AB_MARK_UNUSED((char *)page + old_bytes, bytes - old_bytes);
    return true;
}

/* Marks [from, to), which is at the end of the page's blocks, as dead. */
static void bury(struct ab_paged_page *page, char *from, char *to)
{
    (void)page, (void)from, (void)to;
    AB_CHECKED(AB_MARK_DEFINED(from, (size_t)(to - from)));
    AB_CHECKED(memset(from, AB_GUARD_DEAD, (size_t)(to - from)));
    AB_CHECKED(if (page->dead_end < to) page->dead_end = to);
    AB_MARK_UNUSED(from, (size_t)(to - from));
}

/* Ends the blocks of the page at `to` and marks the rest as dead. If the page has grown far beyond
 * its blocks, gives the rest back to the pool. */
static void page_cut(struct ab_paged_arena *a, struct ab_paged_page *page, char *to)
{
    size_t kept = (size_t)(to - (char *)page) + a->page_bytes;
    if (page == a->top) {
        forget_tagged(a, to, page_end(a, page));
        AB_CHECKED(ab_block_kill_in(&a->blocks, to, page_end(a, page)));
    }
    bury(page, to, page_end(a, page));
    page_set_end(a, page, to);
    if (page->bytes > kept + a->page_bytes)
        page_resize(a, page, kept);
}

/* ---- open and close ---- */

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
    AB_CHECKED(ab_block_list_open(&fresh.blocks, "paged arena"));
    if (!page_push(&fresh, fresh.page_bytes))
        return ENOMEM;
    *arena = fresh;
    return 0;
}

void ab_paged_arena_fini(struct ab_paged_arena *arena)
{
    while (arena->top != NULL)
        page_pop(arena);
    if (arena->more != NULL)
        ab_paged_pool_free(arena->pool, arena->more);
    memset(arena, 0, sizeof *arena);
}

/* ---- blocks ---- */

/* Returns the bytes from `next` to a block with `front` bytes before it. */
static size_t pad_for(const struct ab_paged_arena *a, size_t front, size_t align)
{
    return front + (-((uintptr_t)a->next + front) & (align - 1));
}

/* Allocates a block with `front` bytes of its own before it. */
static char *take(struct ab_paged_arena *a, size_t front, size_t align, size_t size)
{
    demand_open(a);
    AB_CHECKED_CALL(a, "paged arena");
    page_check(a->top);
    size_t pad = pad_for(a, front, align), room = (size_t)(a->limit - a->next);
    if (pad > room || !fits(a, a->next + pad, size)) {
        if (!page_push_for(a, align, size))
            return NULL;
        pad = pad_for(a, front, align);
    }
    char *block = a->next + pad, *end = block + ab_paged_bytes(size);
    AB_CHECKED(
        ab_block_demand_dead(&a->blocks, a->next, end < a->top->dead_end ? end : a->top->dead_end));
    a->next = end;
    return block;
}

__attribute__((noinline)) void *ab_paged_arena_take_slow(struct ab_paged_arena *a, size_t align,
                                                         size_t size)
{
    return take(a, AB_PAGED_FRONT, align, size);
}

static bool is_alignment(size_t align)
{
    return align != 0 && (align & (align - 1)) == 0 && align <= AB_PAGED_POOL_MAX;
}

void *ab_paged_arena_alloc_aligned(struct ab_paged_arena *a, size_t align, size_t size)
{
    if (!is_alignment(align))
        return NULL;
    AB_CHECKED_CALL(a, "paged arena");
    if (align <= AB_PAGED_ALIGN)
        return ab_paged_arena_alloc(a, size);
    return ab_paged_born(a, ab_paged_arena_take_slow(a, align, size), size);
}

void *ab_paged_arena_alloc_zeroed(struct ab_paged_arena *a, size_t size)
{
    AB_CHECKED_CALL(a, "paged arena");
    void *block = ab_paged_arena_alloc(a, size);
    return block == NULL ? NULL : memset(block, 0, size);
}

static uint32_t hash_of(const char *name)
{
    uint32_t hash = 2166136261u;
    for (; *name != 0; name++)
        hash = (hash ^ (unsigned char)*name) * 16777619u;
    return hash;
}

/* Adds a tag from AB_PAGED_TAGS on and returns it; 0 if the pool has no memory for its count. */
static unsigned add_tag(struct ab_paged_arena *a)
{
    enum { FIRST = 48 };
    if (a->n_more == a->more_capacity) {
        unsigned n = a->more_capacity == 0 ? (unsigned)FIRST : 2 * a->more_capacity;
        size_t bytes = n * sizeof *a->more;
        void *table = a->more == NULL ? ab_paged_pool_alloc(a->pool, bytes, a->pool_tag)
                                      : ab_paged_pool_resize(a->pool, a->more, bytes);
        if (table == NULL)
            return 0;
        a->more = (struct ab_paged_tag_count *)table;
        a->more_capacity = n;
    }
    memset(&a->more[a->n_more], 0, sizeof *a->more);
    return AB_PAGED_TAGS + a->n_more++;
}

/* Returns a tag for a new name: the first below AB_PAGED_TAGS that has no name and never had a
 * block, as long as no tag was added; otherwise adds one. Returns 0 if there is no memory, or if
 * there are AB_PAGED_TAGS_MAX names. */
static unsigned unused_tag(struct ab_paged_arena *a)
{
    for (unsigned tag = 1; tag < AB_PAGED_TAGS && a->n_more == 0; tag++)
        if (a->tags[tag].name == NULL && a->tags[tag].n_all == 0)
            return tag;
    return ab_paged_arena_tags(a) <= AB_PAGED_TAGS_MAX ? add_tag(a) : 0;
}

unsigned ab_paged_arena_tag(struct ab_paged_arena *a, const char *name)
{
    uint32_t hash = hash_of(name), *first = &a->buckets[hash % AB_PAGED_BUCKETS];
    for (unsigned tag = *first; tag != 0; tag = count_of(a, tag)->next) {
        const struct ab_paged_tag_count *c = count_of(a, tag);
        if (c->name_hash == hash && strcmp(c->name, name) == 0)
            return tag;
    }
    unsigned tag = unused_tag(a);
    if (tag == 0)
        return 0;
    struct ab_paged_tag_count *c = count_of(a, tag);
    c->name = name;
    c->name_hash = hash;
    c->next = *first;
    *first = tag;
    return tag;
}

void *ab_paged_arena_push(struct ab_paged_arena *a, size_t align, size_t size, unsigned tag)
{
    AB_CHECKED_CALL(a, "paged arena");
    if (tag == 0)
        return ab_paged_arena_alloc_aligned(a, align, size);
    if (tag >= ab_paged_arena_tags(a) || !is_alignment(align) || size > AB_PAGED_POOL_MAX)
        return NULL;
    size_t usual = align > AB_PAGED_ALIGN ? align : AB_PAGED_ALIGN;
    char *block = take(a, AB_PAGED_FRONT + TAGGED_BYTES, usual, size);
    if (block == NULL)
        return NULL;
    struct ab_paged_tagged *t = tagged_of(block);
    AB_MARK_DEFINED(t, sizeof *t);
    t->below = a->tagged;
    tagged_set(t, size, tag);
    a->tagged = t;
    tags_add(a, tag, 1, size);
    struct ab_paged_tag_count *c = count_of(a, tag);
    c->n_all++;
    if (c->align < align)
        c->align = align;
    return ab_paged_born(a, block, size);
}

void *ab_paged_arena_alloc_tagged(struct ab_paged_arena *a, size_t size, unsigned tag)
{
    AB_CHECKED_CALL(a, "paged arena");
    return ab_paged_arena_push(a, AB_PAGED_ALIGN, size, tag);
}

void *ab_paged_arena_push_array(struct ab_paged_arena *a, size_t align, size_t n, size_t each_bytes,
                                unsigned tag)
{
    size_t bytes;
    AB_CHECKED_CALL(a, "paged arena");
    if (__builtin_mul_overflow(n, each_bytes, &bytes))
        return NULL;
    return ab_paged_arena_push(a, align, bytes, tag);
}

void *ab_paged_arena_push_array_zeroed(struct ab_paged_arena *a, size_t align, size_t n,
                                       size_t each_bytes, unsigned tag)
{
    AB_CHECKED_CALL(a, "paged arena");
    void *block = ab_paged_arena_push_array(a, align, n, each_bytes, tag);
    return block == NULL ? NULL : memset(block, 0, n * each_bytes);
}

void *ab_paged_arena_push_named(struct ab_paged_arena *a, size_t align, size_t size,
                                const char *name)
{
    AB_CHECKED_CALL(a, "paged arena");
    return ab_paged_arena_push(a, align, size, ab_paged_arena_tag(a, name));
}

void *ab_paged_arena_push_array_named(struct ab_paged_arena *a, size_t align, size_t n,
                                      size_t each_bytes, const char *name)
{
    AB_CHECKED_CALL(a, "paged arena");
    return ab_paged_arena_push_array(a, align, n, each_bytes, ab_paged_arena_tag(a, name));
}

/* ---- clearing and save points ---- */

void ab_paged_arena_clear(struct ab_paged_arena *a)
{
    demand_open(a);
    AB_CHECKED_CALL(a, "paged arena");
    uint32_t serial = a->top->serial + 1; /* older save points become invalid */
    while (a->top->below != NULL)
        page_pop(a);
    page_check(a->top);
    AB_MARK_POOL_TRIM(a->top, a->top, 0);
    page_cut(a, a->top, ab_paged_page_begin(a->top));
    a->top->serial = a->first_serial = serial;
    AB_CHECKED(ab_block_forget_all(&a->blocks));
}

/* Saves the serial of the top page and the place within it, in units of 16 bytes. */
struct ab_paged_mark ab_paged_arena_save(const struct ab_paged_arena *a)
{
    demand_open(a);
    struct ab_paged_mark mark = {0, 0, 0};
    mark.place = (uint64_t)a->top->serial << 32 |
                 (size_t)(a->next - (char *)a->top) / AB_PAGED_ALIGN;
    AB_CHECKED(mark.arena_id = a->blocks.id);
    AB_CHECKED(mark.serial = ab_block_mark(&a->blocks));
    return mark;
}

/* True if `serial` is older. Serials may wrap around, so that their difference decides. */
static bool is_older(uint32_t serial, uint32_t other)
{
    return (int32_t)(serial - other) < 0;
}

static void go_back(struct ab_paged_arena *a, uint64_t place)
{
    uint32_t serial = (uint32_t)(place >> 32);
    if (is_older(serial, a->first_serial))
        return;
    while (is_older(serial, a->top->serial))
        page_pop(a);
    char *to = (char *)a->top + (uint32_t)place * AB_PAGED_ALIGN;
    if (a->top->serial != serial || to >= a->next)
        return;
    AB_MARK_POOL_TRIM(a->top, ab_paged_page_begin(a->top),
                      (size_t)(to - ab_paged_page_begin(a->top)));
    page_cut(a, a->top, to);
    AB_CHECKED(ab_block_cut_short(&a->blocks, (char *)a->top, a->next));
}

void ab_paged_arena_restore_place(struct ab_paged_arena *a, uint64_t place)
{
    demand_open(a);
    AB_CHECKED_CALL(a, "paged arena");
    go_back(a, place);
    AB_CHECKED(ab_block_forget_dead(&a->blocks));
}

void ab_paged_arena_restore(struct ab_paged_arena *a, struct ab_paged_mark mark)
{
    demand_open(a);
    AB_CHECKED_CALL(a, "paged arena");
    AB_CHECKED(ab_block_demand_mark(&a->blocks, mark.arena_id, mark.serial));
    go_back(a, mark.place);
    AB_CHECKED(ab_block_forget_after(&a->blocks, mark.serial));
}

#ifdef AB_WITH_CHECKS
/* True if the address is in one of the arena's pages, with room for a head before it. */
static bool holds(const struct ab_paged_arena *a, const void *block)
{
    for (struct ab_paged_page *page = a->top; page != NULL; page = page->below) {
        page_check(page);
        if ((const char *)block >= ab_paged_page_begin(page) + AB_PAGED_FRONT &&
            (const char *)block <= page_end(a, page))
            return true;
    }
    return false;
}

void *ab_paged_checked_born(struct ab_paged_arena *a, void *block, size_t size)
{
    AB_CHECKED_CALL(a, "paged arena");
    return ab_block_born(&a->blocks, a->top, block, size, ab_paged_bytes(size));
}
#endif

/* ---- resize and pop ---- */

/* A resize searches its block's page through at most one page per KiB of the block. The search then
 * costs less than the copy that it may avoid. */
enum { LOOK_LOG2 = 10 };

/* True if the block may have that tag. An untagged block has no mark, so that a wrong tag 0 is
 * noticed only for the youngest tagged block. */
static bool has_tag(const struct ab_paged_arena *a, const void *block, unsigned tag)
{
    const struct ab_paged_tagged *t = tagged_of(block);
    if (tag == 0)
        return a->tagged != t;
    return tag < ab_paged_arena_tags(a) && (t->size_and_tag >> 16 & 0xFFF) == TAGGED_MAGIC &&
           tagged_tag(t) == tag;
}

/* Removes a block that has moved away from the list of tagged blocks, because its page may go. The
 * search is short, because the block is in one of the pages that LOOK_LOG2 allows. */
static void unlink_tagged(struct ab_paged_arena *a, const struct ab_paged_tagged *t)
{
    struct ab_paged_tagged **link = &a->tagged;
    while (*link != t)
        link = &(*link)->below;
    *link = t->below;
}

static bool is_last(const struct ab_paged_arena *a, struct ab_paged_page *page, const char *block,
                    size_t size)
{
    const char *end = page_end(a, page);
    return block >= ab_paged_page_begin(page) && block < end && block + ab_paged_bytes(size) == end;
}

/* Returns the page whose last block `block` is. Returns NULL if it is not the last block of a page,
 * or if its page is too far below the top (LOOK_LOG2). */
static struct ab_paged_page *home_of(const struct ab_paged_arena *a, const char *block, size_t size)
{
    struct ab_paged_page *page = a->top;
    size_t n_left = size >> LOOK_LOG2;
    while (page != NULL && !is_last(a, page, block, size))
        page = n_left-- > 0 ? page->below : NULL;
    return page;
}

/* Makes room for the last block of the page to grow to `size`. A page that must grow becomes larger
 * by an additional page_bytes if possible. Returns false if there is no room. */
static bool make_room(struct ab_paged_arena *a, struct ab_paged_page *page, const char *block,
                      size_t size)
{
    if (size > AB_PAGED_POOL_MAX)
        return false;
    size_t need = (size_t)(block - (char *)page) + ab_paged_bytes(size);
    return need <= page->bytes || page_resize(a, page, need + a->page_bytes) ||
           page_resize(a, page, need);
}

static void resize_last(struct ab_paged_arena *a, struct ab_paged_page *page, char *block,
                        size_t old_size, size_t new_size)
{
    char *to = block + ab_paged_bytes(new_size), *end = page_end(a, page);
    AB_CHECKED(ab_block_demand_dead(&a->blocks, end, to < page->dead_end ? to : page->dead_end));
    if (to < end)
        page_cut(a, page, to);
    else
        page_set_end(a, page, to);
    size_t kept = new_size & ~(size_t)7;
    AB_MARK_RESIZE(page, block, new_size);
    AB_MARK_DEFINED(block, new_size);
    if (AB_CHECKS && new_size > old_size)
        memset(block + old_size, AB_GUARD_NEW, new_size - old_size);
    AB_CHECKED(ab_block_set_size(block, new_size, ab_block_tail((size_t)(to - block) - new_size)));
    AB_MARK_UNUSED(block + kept, (size_t)(to - block) - kept);
    AB_MARK_DEFINED(block + kept, new_size - kept);
    (void)old_size, (void)kept;
}

/* Pushes a page for a block that has outgrown its own. The page has room for twice the old size of
 * the block; if the pool has no such page, for less. */
static bool push_growing(struct ab_paged_arena *a, size_t old_size, size_t new_size)
{
    size_t bytes = page_bytes_for(AB_PAGED_ALIGN, new_size);
    if (bytes <= a->page_bytes)
        return page_push_for(a, AB_PAGED_ALIGN, new_size);
    size_t spare = new_size - old_size < old_size ? old_size - (new_size - old_size) : 0;
    for (; spare >= a->page_bytes; spare /= 2)
        if (page_push(a, bytes + spare))
            return true;
    return page_push(a, bytes);
}

/* Returns the first byte that belongs to the block: that of its tag or head, if it has these. */
static char *front_of(char *block, unsigned tag)
{
    return block - AB_PAGED_FRONT - (tag != 0 ? TAGGED_BYTES : 0);
}

/* Frees the old place of a block that has moved away. `home` is the page whose last block it was,
 * or NULL. */
static void leave(struct ab_paged_arena *a, struct ab_paged_page *home, char *block, size_t size,
                  unsigned tag)
{
    (void)size;
    AB_CHECKED(ab_block_moved(&a->blocks, block));
    AB_CHECKED(memset(block, AB_GUARD_DEAD, size));
    if (home == NULL) {
        if (tag != 0)
            tagged_set(tagged_of(block), 0, 0);
        AB_MARK_UNUSED(block, size);
        return;
    }
    if (tag != 0)
        unlink_tagged(a, tagged_of(block));
    AB_MARK_FREE(home, block, size);
    char *front = front_of(block, tag);
    if (front == ab_paged_page_begin(home) && home->below != NULL)
        page_take_out(a, home);
    else
        page_cut(a, home, front);
}

static void *copy_up(struct ab_paged_arena *a, struct ab_paged_page *home, char *block,
                     size_t old_size, size_t new_size, unsigned tag)
{
    size_t front = AB_PAGED_FRONT + (tag != 0 ? TAGGED_BYTES : 0);
    if ((front > (size_t)(a->limit - a->next) || !fits(a, a->next + front, new_size)) &&
        !push_growing(a, old_size, new_size))
        return NULL;
    void *copy = ab_paged_arena_push(a, AB_PAGED_ALIGN, new_size, tag);
    memcpy(copy, block, old_size);
    if (tag != 0) {
        count_of(a, tag)->n_all--; /* the copy does not count as a new block */
        tags_add(a, tag, (size_t)-1, 0 - old_size);
    }
    leave(a, home, block, old_size, tag);
    return copy;
}

static void *resize_here(struct ab_paged_arena *a, struct ab_paged_page *home, char *block,
                         size_t old_size, size_t new_size)
{
    if (home != NULL && make_room(a, home, block, new_size)) {
        resize_last(a, home, block, old_size, new_size);
        return block;
    }
    if (new_size > ab_paged_bytes(old_size) - AB_PAGED_GAP)
        return NULL;
    AB_CHECKED(ab_block_set_size_within(block, new_size));
    AB_MARK_DEFINED(block, new_size);
    return block;
}

/* Resizes in place in the usual case: the last block of the top page grows within it, without a
 * tag, checks or marks. Returns false in all other cases. */
static bool grow_plain(struct ab_paged_arena *a, char *block, size_t old_size, size_t new_size,
                       unsigned tag)
{
    if (AB_MARKS || AB_CHECKS || tag != 0 || new_size < old_size ||
        !is_last(a, a->top, block, old_size) || a->tagged == tagged_of(block) ||
        !fits(a, block, new_size))
        return false;
    a->next = block + ab_paged_bytes(new_size);
    return true;
}

void *ab_paged_arena_resize(struct ab_paged_arena *a, void *block, size_t old_size, size_t new_size,
                            unsigned tag)
{
    demand_open(a);
    AB_CHECKED_CALL(a, "paged arena");
    if (grow_plain(a, (char *)block, old_size, new_size, tag))
        return block;
    AB_CHECKED(ab_block_demand(&a->blocks, block, old_size, holds(a, block)));
    if (!has_tag(a, block, tag))
        return NULL;
    struct ab_paged_page *home = home_of(a, (char *)block, old_size);
    void *resized = resize_here(a, home, (char *)block, old_size, new_size);
    if (resized == NULL)
        return copy_up(a, home, (char *)block, old_size, new_size, tag);
    if (tag != 0) {
        tagged_set(tagged_of(block), new_size, tag);
        tags_add(a, tag, 0, new_size - old_size);
    }
    return resized;
}

bool ab_paged_arena_pop(struct ab_paged_arena *a, void *block, size_t size, unsigned tag)
{
    char *p = (char *)block;
    demand_open(a);
    AB_CHECKED_CALL(a, "paged arena");
    if (p == NULL || !is_last(a, a->top, p, size) || !has_tag(a, block, tag))
        return false;
    AB_MARK_FREE(a->top, p, size);
    char *front = front_of(p, tag);
    if (front == ab_paged_page_begin(a->top) && a->top->below != NULL)
        page_pop(a);
    else
        page_cut(a, a->top, front);
    return true;
}
