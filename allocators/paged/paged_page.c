/* SPDX-License-Identifier: MIT
 *
 * Pages come and go at the top of a linked list; one further down goes when the only block in it
 * has moved away. `next` and `limit` of the top one live in the arena, so that allocation touches
 * no header.
 */
#include "paged_page.h"

static const uint32_t magic_page = 0xA7E4A5EDu;

/* What overflowed into a page's header, or came from elsewhere, must not be followed. */
void ab_paged_page_check(const struct ab_paged_page *page)
{
    (void)page;
#ifdef AB_WITH_CHECKS
    if (page->magic != magic_page)
        ab_guard_end("paged arena", page, "the header of a page was overwritten");
#endif
}

void ab_paged_tags_add(struct ab_paged_arena *a, unsigned tag, size_t n_blocks, size_t bytes)
{
    struct ab_paged_tag_count *c = &a->tags[tag];
    if (tag == 0)
        return;
    c->n_blocks += n_blocks;
    c->bytes += bytes;
    if (c->peak_bytes < c->bytes)
        c->peak_bytes = c->bytes;
}

/* Blocks in [from, to), where the youngest ones are, are dead. */
static void forget_tagged(struct ab_paged_arena *a, const char *from, const char *to)
{
    while ((const char *)a->tagged >= from && (const char *)a->tagged < to) {
        ab_paged_tags_add(a, ab_paged_tagged_tag(a->tagged), (size_t)-1,
                          0 - ab_paged_tagged_size(a->tagged));
        a->tagged = a->tagged->below;
    }
}

/* Blocks of the checked build in that range are looked at for the last time. */
static void kill_blocks(struct ab_paged_arena *a, const char *from, const char *to)
{
    (void)a, (void)from, (void)to;
#ifdef AB_WITH_CHECKS
    ab_block_kill_in(&a->blocks, from, to);
#endif
}

bool ab_paged_page_push(struct ab_paged_arena *a, size_t bytes)
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
#ifdef AB_WITH_CHECKS
    page->dead_end = ab_paged_page_begin(page);
#endif
    a->top = page;
    a->next = ab_paged_page_begin(page);
    a->limit = (char *)page + bytes;
    a->held_bytes += bytes;
    a->n_pages++;
    AB_MARK_POOL_CREATE(page);
    AB_MARK_UNUSED(a->next, (size_t)(a->limit - a->next));
    return true;
}

size_t ab_paged_page_bytes_for(size_t align, size_t size)
{
    size_t bytes, extra = sizeof(struct ab_paged_page) + 2 * AB_PAGED_ALIGN + AB_PAGED_GAP +
                          AB_PAGED_FRONT + AB_PAGED_TAGGED_BYTES;
    return __builtin_add_overflow(size, align + extra, &bytes) ? 0 : bytes;
}

bool ab_paged_page_push_for(struct ab_paged_arena *a, size_t align, size_t size)
{
    size_t bytes = ab_paged_page_bytes_for(align, size);
    return bytes != 0 && ab_paged_page_push(a, bytes > a->page_bytes ? bytes : a->page_bytes);
}

/* It is out of the list. */
static void give_back(struct ab_paged_arena *a, struct ab_paged_page *page)
{
    ab_paged_page_check(page);
    a->held_bytes -= page->bytes;
    a->n_pages--;
    page->magic = 0;
    AB_MARK_POOL_DESTROY(page);
    ab_paged_pool_free(a->pool, page);
}

void ab_paged_page_pop(struct ab_paged_arena *a)
{
    struct ab_paged_page *gone = a->top, *below = gone->below;
    ab_paged_page_check(gone);
    forget_tagged(a, (char *)gone, (char *)gone + gone->bytes);
    kill_blocks(a, (char *)gone, (char *)gone + gone->bytes);
    a->top = below;
    if (below != NULL) {
        ab_paged_page_check(below);
        a->next = ab_paged_page_begin(below) + below->used;
        a->limit = (char *)below + below->bytes;
        a->used_below -= below->used;
    }
    give_back(a, gone);
}

void ab_paged_page_take_out(struct ab_paged_arena *a, struct ab_paged_page *page)
{
    struct ab_paged_page *above = a->top;
    while (above->below != page)
        above = above->below;
    above->below = page->below;
    a->used_below -= page->used;
    give_back(a, page);
}

void ab_paged_page_set_end(struct ab_paged_arena *a, struct ab_paged_page *page, char *end)
{
    if (page == a->top) {
        a->next = end;
        return;
    }
    size_t used = (size_t)(end - ab_paged_page_begin(page));
    a->used_below += used - page->used;
    page->used = used;
}

bool ab_paged_page_resize(struct ab_paged_arena *a, struct ab_paged_page *page, size_t bytes)
{
    size_t old_bytes = page->bytes;
    bytes &= ~(AB_PAGED_ALIGN - 1);
    if (!ab_paged_pool_resize_in_place(a->pool, page, bytes))
        return false;
    page->bytes = bytes;
    a->held_bytes += bytes - old_bytes;
    if (page == a->top)
        a->limit = (char *)page + bytes;
#ifdef AB_WITH_CHECKS
    if (page->dead_end > (char *)page + bytes)
        page->dead_end = (char *)page + bytes;
#endif
    if (bytes > old_bytes)
        AB_MARK_UNUSED((char *)page + old_bytes, bytes - old_bytes);
    return true;
}

/* [from, to), the end of the page's blocks, is dead. */
static void bury(struct ab_paged_page *page, char *from, char *to)
{
    (void)page, (void)from, (void)to;
#ifdef AB_WITH_CHECKS
    AB_MARK_DEFINED(from, (size_t)(to - from));
    memset(from, AB_GUARD_DEAD, (size_t)(to - from));
    if (page->dead_end < to)
        page->dead_end = to;
#endif
    AB_MARK_UNUSED(from, (size_t)(to - from));
}

void ab_paged_page_cut(struct ab_paged_arena *a, struct ab_paged_page *page, char *to)
{
    size_t kept = (size_t)(to - (char *)page) + a->page_bytes;
    if (page == a->top) {
        forget_tagged(a, to, ab_paged_page_end(a, page));
        kill_blocks(a, to, ab_paged_page_end(a, page));
    }
    bury(page, to, ab_paged_page_end(a, page));
    ab_paged_page_set_end(a, page, to);
    if (page->bytes > kept + a->page_bytes)
        ab_paged_page_resize(a, page, kept);
}
