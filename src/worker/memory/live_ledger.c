/* SPDX-License-Identifier: MIT
 *
 * Adds and drops the entries of blocks; the sums follow.
 */
#include "worker/memory/live_ledger.h"

#include "worker/memory/page_ledger.h"

void ab_book_drop(struct ab_block_book *b, uint32_t slot)
{
    struct ab_block_entry *e = &b->entries[slot];
    if (slot >= b->n_slots || !e->is_live)
        return;
    if (b->pages != NULL)
        ab_page_ledger_drop(b->pages, e->at, e->size, e->usable);
    b->requested_bytes -= e->size;
    b->usable_bytes -= e->usable;
    e->is_live = false;
}

/* A block that stays where it is keeps its pages: the new one comes before the old one goes. */
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
