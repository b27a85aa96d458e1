/* SPDX-License-Identifier: MIT
 *
 * Counts the blocks' bytes on each page, stretch by stretch, in a table of fixed size, and compares
 * them with the page tables.
 */
#include "worker/page_walk.h"

#include "worker/page_ledger.h"
#include "worker/pins.h"

#include <string.h>

enum { STRETCHES = 512, STRETCHES_USED_MAX = STRETCHES / 4 * 3 };
#define STRETCH_BYTES (UINT64_C(1) << AB_STRETCH_LOG2)

struct ab_stretch { /* bytes of live blocks on each page of a stretch */
    struct page_load {
        /* sums of usable and of requested bytes; usable includes requested */
        uint32_t requested, usable;
    } pages[AB_RESIDENCY_PAGES_MAX];
};

size_t ab_page_walk_bytes(void)
{
    return STRETCHES * (sizeof(struct ab_stretch) + sizeof(uint64_t));
}

void ab_page_walk_init(struct ab_page_walk *w, void *memory, const struct ab_residency *residency,
                       const struct ab_page_runs *baseline)
{
    *w = (struct ab_page_walk){.residency = residency,
                               .baseline = baseline,
                               .table = memory,
                               .numbers = (uint64_t *)((struct ab_stretch *)memory + STRETCHES)};
}

/* ---- comparing a stretch with the page tables ---- */

static void tally_page(struct ab_page_walk *w, uint64_t page, bool is_resident,
                       const struct page_load *load)
{
    struct ab_page_tally *t = w->tally;
    uint64_t bytes = UINT64_C(1) << w->residency->page_log2;
    if (load->usable > bytes)
        t->is_overlapping = true;
    if (!is_resident) {
        t->untouched += load->requested;
    } else if (ab_page_runs_have(w->baseline, page)) {
        t->baseline += load->requested;
    } else {
        t->live += load->requested;
        t->internal += load->usable - load->requested;
        t->external += bytes - load->usable;
        t->n_pages++;
    }
}

/* Adds a stretch to the tally. `loads` has one entry for each page; with is_same, one entry for all
 * pages. Reads the page tables only between the first and the last page with a load, because most
 * stretches have few blocks on few pages. */
static void tally_stretch(struct ab_page_walk *w, uint64_t number, const struct page_load *loads,
                          bool is_same)
{
    bool is_there[AB_RESIDENCY_PAGES_MAX];
    unsigned log2 = AB_STRETCH_LOG2 - w->residency->page_log2;
    uint32_t first = 0, end = UINT32_C(1) << log2;
    uint64_t before = w->tally->n_pages;
    while (!is_same && first < end && loads[first].usable == 0)
        first++;
    while (!is_same && first < end && loads[end - 1].usable == 0)
        end--;
    if (!ab_residency_read(w->residency, (number << log2) + first, end - first, is_there)) {
        w->tally->is_unreadable = true;
        return;
    }
    for (uint32_t i = first; i < end; i++) {
        const struct page_load *load = is_same ? loads : &loads[i];
        if (load->usable > 0)
            tally_page(w, (number << log2) + i, is_there[i - first], load);
    }
    w->tally->n_stretches += w->tally->n_pages > before;
}

/* ---- the blocks ---- */

static uint64_t hash(uint64_t number)
{
    return number * UINT64_C(0x9e3779b97f4a7c15) >> 20;
}

/* Returns the table entry of a stretch; NULL = the stretch belongs to another pass, or the table is
 * full. */
static struct ab_stretch *find(struct ab_page_walk *w, uint64_t number)
{
    uint64_t h = hash(number);
    if ((h & (w->n_passes - 1)) != w->pass || w->is_full)
        return NULL;
    uint32_t i = (uint32_t)(h >> 20) & (STRETCHES - 1);
    while (w->numbers[i] != 0 && w->numbers[i] != number + 1)
        i = (i + 1) & (STRETCHES - 1);
    if (w->numbers[i] == 0) {
        w->is_full = w->n_used == STRETCHES_USED_MAX;
        if (w->is_full)
            return NULL;
        w->numbers[i] = number + 1;
        w->n_used++;
    }
    return &w->table[i];
}

/* Adds the bytes [begin, end) of a block, which lie in one stretch, to the pages of the stretch. */
static void add_part(struct ab_page_walk *w, uint64_t begin, uint64_t end, bool is_requested)
{
    unsigned log2 = w->residency->page_log2;
    struct ab_stretch *s = find(w, begin >> AB_STRETCH_LOG2);
    if (s == NULL)
        return;
    for (uint64_t page = begin >> log2; begin < end; page++) {
        uint64_t stop = (page + 1) << log2 < end ? (page + 1) << log2 : end;
        struct page_load *load = &s->pages[page & ((UINT64_C(1) << (AB_STRETCH_LOG2 - log2)) - 1)];
        load->usable += (uint32_t)(stop - begin);
        load->requested += is_requested ? (uint32_t)(stop - begin) : 0;
        begin = stop;
    }
}

/* Adds a range of bytes, stretch by stretch. A stretch that one block fills needs no entry in the
 * table. */
static void add_range(struct ab_page_walk *w, uint64_t begin, uint64_t end, bool is_requested)
{
    uint32_t page = UINT32_C(1) << w->residency->page_log2;
    const struct page_load full = {is_requested ? page : 0, page};
    while (begin < end && !w->is_full) {
        uint64_t stop = ((begin >> AB_STRETCH_LOG2) + 1) << AB_STRETCH_LOG2;
        stop = stop < end ? stop : end;
        if (stop - begin < STRETCH_BYTES)
            add_part(w, begin, stop, is_requested);
        else if (w->pass == 0)
            tally_stretch(w, begin >> AB_STRETCH_LOG2, &full, true);
        begin = stop;
    }
}

static void add_block(struct ab_page_walk *w, const struct ab_block_entry *e)
{
    /* addresses and sizes from here on are invalid */
    const uint64_t top = UINT64_C(1) << 56, most_slack = UINT64_C(1) << 40;
    uint64_t end = e->at + e->size, slack = e->usable > e->size ? e->usable - e->size : 0;
    if (e->at >= top || e->size >= top || slack > most_slack) {
        w->tally->is_overlapping = true;
        return;
    }
    add_range(w, e->at, end, true);
    add_range(w, end, end + slack, false);
}

static void end_pass(struct ab_page_walk *w)
{
    for (uint32_t i = 0; i < STRETCHES; i++) {
        if (w->numbers[i] == 0)
            continue;
        if (!w->is_full)
            tally_stretch(w, w->numbers[i] - 1, w->table[i].pages, false);
        memset(&w->table[i], 0, sizeof w->table[i]);
        w->numbers[i] = 0;
    }
    w->n_used = 0;
}

static bool is_meant(const struct ab_page_walk *w, const struct ab_block_entry *e)
{
    return e->is_live && (w->only == 0 || w->only == e->heap + 1u);
}

/* Walks over the book once for each of the n_passes parts of the stretches. Returns false if a part
 * has more stretches than the table holds. */
static bool walk_in_passes(struct ab_page_walk *w, const struct ab_block_book *book)
{
    *w->tally = (struct ab_page_tally){0};
    w->is_full = false;
    for (w->pass = 0; w->pass < w->n_passes && !w->is_full; w->pass++) {
        for (uint32_t slot = 0; slot < book->n_slots && !w->is_full; slot++)
            if (is_meant(w, &book->entries[slot]))
                add_block(w, &book->entries[slot]);
        end_pass(w);
    }
    return !w->is_full;
}

void ab_page_walk(struct ab_page_walk *w, const struct ab_block_book *book,
                  struct ab_page_tally *tally)
{
    w->tally = tally;
    for (w->n_passes = 1; !walk_in_passes(w, book) && !tally->is_unreadable; w->n_passes *= 2) {
    }
}

/* ---- entries of the book, and their sums ---- */

void ab_book_drop(struct ab_block_book *b, uint32_t slot)
{
    struct ab_block_entry *e = &b->entries[slot];
    if (slot >= b->n_slots || !e->is_live)
        return;
    if (b->pages != NULL)
        ab_page_ledger_drop(b->pages, e->at, e->size, e->usable);
    if (AB_UNLIKELY(b->pins != NULL))
        ab_pins_drop(b->pins, slot, e);
    b->requested_bytes -= e->size;
    b->usable_bytes -= e->usable;
    e->is_live = false;
}

/* Replaces the block of a slot. If the address stays the same, the new block is added before the
 * old one is dropped, so that the ledger does not forget its pages. */
static void replace(struct ab_block_book *b, uint32_t slot, const struct ab_given *given,
                    uint64_t usable)
{
    const struct ab_block_entry *e = &b->entries[slot];
    if (b->pages != NULL && e->at == given->at) {
        b->pages->is_resizing = true;
        ab_page_ledger_put(b->pages, given->at, given->size, usable);
        ab_book_drop(b, slot);
        b->pages->is_resizing = false;
        return;
    }
    ab_book_drop(b, slot);
    if (b->pages == NULL)
        return;
    b->pages->n_moves += given->size >= b->pages->page_bytes;
    ab_page_ledger_put(b->pages, given->at, given->size, usable);
}

void ab_book_put(struct ab_block_book *b, uint32_t slot, const struct ab_given *given)
{
    struct ab_block_entry *e = &b->entries[slot];
    const uint64_t usable = b->is_usable_unknown ? given->size : given->usable;
    if (slot >= b->n_slots)
        return;
    if (e->is_live)
        replace(b, slot, given, usable);
    else if (b->pages != NULL)
        ab_page_ledger_put(b->pages, given->at, given->size, usable);
    *e = (struct ab_block_entry){.at = given->at,
                                 .size = given->size,
                                 .usable = usable,
                                 .lane = given->lane,
                                 .is_live = true};
    b->requested_bytes += given->size;
    b->usable_bytes += usable;
    if (usable < given->size)
        b->is_usable_less = true;
}
