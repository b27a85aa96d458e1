/* SPDX-License-Identifier: MIT
 *
 * Blocks that become larger or smaller, that move, and the one on top that is given back.
 */
#include "paged_arena.h"
#include "paged_page.h"

/* A resize looks for its block's page through one page a KiB of the block: that costs less than the
 * copy which it may spare. */
enum { LOOK_LOG2 = 10 };

/* Is that the block's tag? Of an untagged one only the youngest is known not to be. */
static bool has_tag(const struct ab_paged_arena *a, const void *block, unsigned tag)
{
    const struct ab_paged_tagged *t = ab_paged_tagged_of(block);
    if (tag == 0)
        return a->tagged != t;
    return tag < AB_PAGED_TAGS && (t->size_and_tag >> 4 & 0xFFFFFF) == AB_PAGED_TAGGED_MAGIC &&
           ab_paged_tagged_tag(t) == tag;
}

/* The block has moved away, its page may go; how far from the top it is, is limited by LOOK_LOG2. */
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
    const char *end = ab_paged_page_end(a, page);
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
    return need <= page->bytes || ab_paged_page_resize(a, page, need + a->page_bytes) ||
           ab_paged_page_resize(a, page, need);
}

static void resize_last(struct ab_paged_arena *a, struct ab_paged_page *page, char *block,
                        size_t old_size, size_t new_size)
{
    char *to = block + ab_paged_bytes(new_size), *end = ab_paged_page_end(a, page);
#ifdef AB_WITH_CHECKS
    ab_block_demand_dead(&a->blocks, end, to < page->dead_end ? to : page->dead_end);
#endif
    if (to < end)
        ab_paged_page_cut(a, page, to);
    else
        ab_paged_page_set_end(a, page, to);
    size_t kept = new_size & ~(size_t)7;
    AB_MARK_RESIZE(page, block, new_size);
    AB_MARK_DEFINED(block, new_size);
#ifdef AB_WITH_CHECKS
    if (new_size > old_size)
        memset(block + old_size, AB_GUARD_NEW, new_size - old_size);
    ab_block_set_size(block, new_size);
#endif
    AB_MARK_UNUSED(block + kept, (size_t)(to - block) - kept);
    AB_MARK_DEFINED(block + kept, new_size - kept);
    (void)old_size, (void)kept;
}

/* A page for a block that has outgrown its own: room for twice the old size, or as much of that as
 * the pool has. */
static bool push_growing(struct ab_paged_arena *a, size_t old_size, size_t new_size)
{
    size_t bytes = ab_paged_page_bytes_for(AB_PAGED_ALIGN, new_size);
    if (bytes <= a->page_bytes)
        return ab_paged_page_push_for(a, AB_PAGED_ALIGN, new_size);
    size_t spare = new_size - old_size < old_size ? old_size - (new_size - old_size) : 0;
    for (; spare >= a->page_bytes; spare /= 2)
        if (ab_paged_page_push(a, bytes + spare))
            return true;
    return ab_paged_page_push(a, bytes);
}

/* Where what belongs to the block begins. */
static char *front_of(char *block, unsigned tag)
{
    return block - AB_PAGED_FRONT - (tag != 0 ? AB_PAGED_TAGGED_BYTES : 0);
}

/* The block has moved away. */
static void leave(struct ab_paged_arena *a, struct ab_paged_page *home, char *block, size_t size,
                  unsigned tag)
{
    (void)size;
#ifdef AB_WITH_CHECKS
    ab_block_moved(&a->blocks, block);
    memset(block, AB_GUARD_DEAD, size);
#endif
    if (home == NULL) {
        if (tag != 0)
            ab_paged_tagged_set(ab_paged_tagged_of(block), 0, 0);
        AB_MARK_UNUSED(block, size);
        return;
    }
    if (tag != 0)
        unlink_tagged(a, ab_paged_tagged_of(block));
    AB_MARK_FREE(home, block, size);
    char *front = front_of(block, tag);
    if (front == ab_paged_page_begin(home) && home->below != NULL)
        ab_paged_page_take_out(a, home);
    else
        ab_paged_page_cut(a, home, front);
}

static void *copy_up(struct ab_paged_arena *a, struct ab_paged_page *home, char *block,
                     size_t old_size, size_t new_size, unsigned tag)
{
    size_t front = AB_PAGED_FRONT + (tag != 0 ? AB_PAGED_TAGGED_BYTES : 0);
    if ((front > (size_t)(a->limit - a->next) || !ab_paged_fits(a, a->next + front, new_size)) &&
        !push_growing(a, old_size, new_size))
        return NULL;
    void *copy = ab_paged_arena_push(a, AB_PAGED_ALIGN, new_size, tag);
    memcpy(copy, block, old_size);
    if (tag != 0) {
        a->tags[tag].n_all--; /* it is the same one */
        ab_paged_tags_add(a, tag, (size_t)-1, 0 - old_size);
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
#ifdef AB_WITH_CHECKS
    ab_block_set_size(block, new_size);
#endif
    AB_MARK_DEFINED(block, new_size);
    return block;
}

/* The usual case in few instructions: the last block of the top page grows in it, without a tag,
 * without checks or marks. */
static bool grow_plain(struct ab_paged_arena *a, char *block, size_t old_size, size_t new_size,
                       unsigned tag)
{
    if (AB_MARKS || AB_PAGED_CHECKS || tag != 0 || new_size < old_size ||
        !is_last(a, a->top, block, old_size) || a->tagged == ab_paged_tagged_of(block) ||
        !ab_paged_fits(a, block, new_size))
        return false;
    a->next = block + ab_paged_bytes(new_size);
    return true;
}

void *ab_paged_arena_resize(struct ab_paged_arena *a, void *block, size_t old_size, size_t new_size,
                            unsigned tag)
{
    ab_paged_demand_open(a);
    if (grow_plain(a, (char *)block, old_size, new_size, tag))
        return block;
#ifdef AB_WITH_CHECKS
    ab_block_demand(&a->blocks, block, old_size);
#endif
    if (!has_tag(a, block, tag))
        return NULL;
    struct ab_paged_page *home = home_of(a, (char *)block, old_size);
    void *resized = resize_here(a, home, (char *)block, old_size, new_size);
    if (resized == NULL)
        return copy_up(a, home, (char *)block, old_size, new_size, tag);
    if (tag != 0) {
        ab_paged_tagged_set(ab_paged_tagged_of(block), new_size, tag);
        ab_paged_tags_add(a, tag, 0, new_size - old_size);
    }
    return resized;
}

bool ab_paged_arena_pop(struct ab_paged_arena *a, void *block, size_t size, unsigned tag)
{
    char *p = (char *)block;
    ab_paged_demand_open(a);
    if (p == NULL || !is_last(a, a->top, p, size) || !has_tag(a, block, tag))
        return false;
    AB_MARK_FREE(a->top, p, size);
    char *front = front_of(p, tag);
    if (front == ab_paged_page_begin(a->top) && a->top->below != NULL)
        ab_paged_page_pop(a);
    else
        ab_paged_page_cut(a, a->top, front);
    return true;
}
