/* SPDX-License-Identifier: MIT
 *
 * Adds and drops the entries of blocks; the sums follow.
 */
#include "worker/memory/live_ledger.h"

void ab_book_drop(struct ab_block_book *b, uint32_t slot)
{
    struct ab_block_entry *e = &b->entries[slot];
    if (slot >= b->n_slots || !e->is_live)
        return;
    b->requested_bytes -= e->size;
    b->usable_bytes -= e->usable;
    *e = (struct ab_block_entry){0};
}

void ab_book_put(struct ab_block_book *b, uint32_t slot, const struct ab_given *given)
{
    if (slot >= b->n_slots)
        return;
    ab_book_drop(b, slot);
    b->entries[slot] = (struct ab_block_entry){.at = given->at,
                                               .size = given->size,
                                               .usable = given->usable,
                                               .lane = given->lane,
                                               .is_live = true};
    b->requested_bytes += given->size;
    b->usable_bytes += given->usable;
    if (given->usable < given->size)
        b->is_usable_less = true;
}
