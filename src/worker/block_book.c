/* SPDX-License-Identifier: MIT */
#include "worker/block_book.h"

#include "worker/touch.h"

static void put_page(struct ab_block_book *b, uint64_t page, bool is_firm)
{
    if (ab_page_set_add(&b->pages, page, is_firm))
        ab_page_set_add(&b->regions, page >> (AB_REGION_LOG2 - b->page_log2), true);
}

static void drop_page(struct ab_block_book *b, uint64_t page)
{
    if (ab_page_set_remove(&b->pages, page))
        ab_page_set_remove(&b->regions, page >> (AB_REGION_LOG2 - b->page_log2));
}

static uint64_t page_of(const struct ab_block_book *b, const struct ab_block_entry *e,
                        uint64_t offset)
{
    return (e->at + offset) >> b->page_log2;
}

static void each_page(struct ab_block_book *b, const struct ab_block_entry *e, bool is_put)
{
    uint64_t next = page_of(b, e, 0);
    if (e->span > 0) {
        uint64_t last = page_of(b, e, e->span - 1), firm = page_of(b, e, e->span - 1 - e->soft);
        for (; next <= last; next++)
            if (is_put)
                put_page(b, next, next <= firm);
            else
                drop_page(b, next);
    }
    if (!e->is_ended || e->size == 0 || page_of(b, e, e->size - 1) < next)
        return;
    if (is_put)
        put_page(b, page_of(b, e, e->size - 1), true);
    else
        drop_page(b, page_of(b, e, e->size - 1));
}

static void count_untouched(struct ab_block_book *b, const struct ab_block_entry *e, int sign)
{
    if (e->span == 0)
        b->untouched_bytes += (uint64_t)sign * e->size;
}

static void enter(struct ab_block_book *b, const struct ab_block_entry *e)
{
    b->live_bytes += e->size;
    b->usable_bytes += e->usable;
    count_untouched(b, e, 1);
    each_page(b, e, true);
}

static void leave(struct ab_block_book *b, const struct ab_block_entry *e)
{
    b->live_bytes -= e->size;
    b->usable_bytes -= e->usable;
    count_untouched(b, e, -1);
    each_page(b, e, false);
}

void ab_book_drop(struct ab_block_book *b, uint32_t slot)
{
    struct ab_block_entry *e = &b->entries[slot];
    if (slot >= b->n_slots || !e->is_live)
        return;
    leave(b, e);
    *e = (struct ab_block_entry){0};
}

uint64_t ab_book_put(struct ab_block_book *b, uint32_t slot, const struct ab_given *given)
{
    struct ab_block_entry *e = &b->entries[slot];
    if (slot >= b->n_slots)
        return 0;
    struct ab_block_entry old = *e;
    if (old.is_live && old.at == given->at && old.size == given->size)
        return old.size;
    if (old.is_live)
        leave(b, &old);
    *e = (struct ab_block_entry){.at = given->at,
                                 .usable = given->usable,
                                 .size = given->size,
                                 .lane = (uint16_t)given->lane,
                                 .is_live = true};
    if (given->usable < given->size)
        b->is_usable_less = true;
    if (old.is_live) { /* the contents came along */
        uint64_t firm = old.span - old.soft;
        e->span = old.span < e->size ? old.span : e->size;
        e->soft = (uint16_t)(firm < e->span ? e->span - firm : 0);
    }
    enter(b, e);
    return old.size;
}

/* [0, firm) is written, up to `span` counts. What was touched before stays so. */
static void widen(struct ab_block_book *b, struct ab_block_entry *e, uint64_t firm, uint64_t span,
                  bool is_ended)
{
    struct ab_block_entry wide = *e;
    uint64_t old_firm = e->span - e->soft;
    wide.span = span > e->span ? span : e->span;
    firm = firm > old_firm ? firm : old_firm;
    wide.soft = (uint16_t)(wide.span - firm);
    wide.is_ended = e->is_ended || is_ended;
    if (wide.span == e->span && wide.soft == e->soft && wide.is_ended == e->is_ended)
        return;
    count_untouched(b, e, -1);
    each_page(b, e, false);
    *e = wide;
    count_untouched(b, e, 1);
    each_page(b, e, true);
}

/* Behind the last byte that is written when one in `step` is, from `from` on. */
static uint64_t stride_end(uint64_t from, uint64_t size, uint64_t step)
{
    return from + (size - 1 - from) / step * step + 1;
}

void ab_book_touch(struct ab_block_book *b, uint32_t slot, enum ab_touch how, uint64_t bytes)
{
    struct ab_block_entry *e = &b->entries[slot];
    if (slot >= b->n_slots || !e->is_live || e->size == 0)
        return;
    uint64_t size = e->size;
    switch (how) {
    case AB_TOUCH_NONE:
        break;
    case AB_TOUCH_FIRST:
        bytes = bytes < size ? bytes : size;
        widen(b, e, bytes, bytes, false);
        break;
    case AB_TOUCH_ENDS:
        widen(b, e, 1, 1, true);
        break;
    case AB_TOUCH_PAGE:
        widen(b, e, stride_end(0, size, AB_TOUCH_PAGE_BYTES), size, false);
        break;
    case AB_TOUCH_LINE:
        widen(b, e, stride_end(0, size, AB_TOUCH_LINE_BYTES), size, false);
        break;
    case AB_TOUCH_ALL:
        widen(b, e, size, size, false);
        break;
    }
}

void ab_book_touch_grown(struct ab_block_book *b, uint32_t slot, uint64_t old_size)
{
    struct ab_block_entry *e = &b->entries[slot];
    if (slot >= b->n_slots || !e->is_live || old_size >= e->size)
        return;
    widen(b, e, stride_end(old_size, e->size, AB_TOUCH_PAGE_BYTES), e->size, false);
}
