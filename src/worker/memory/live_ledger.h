/* SPDX-License-Identifier: MIT
 *
 * Which blocks are live, where they lie, and the sums of what was asked for and of what may be
 * used: kept up with each op. What of it is resident is looked up at checkpoints (page_walk.h).
 */
#ifndef AB_WORKER_MEMORY_LIVE_LEDGER_H
#define AB_WORKER_MEMORY_LIVE_LEDGER_H

#include <stdbool.h>
#include <stdint.h>

struct ab_block_entry { /* one a slot */
    uintptr_t at;
    uint64_t size, usable;
    uint32_t lane;
    uint8_t heap; /* of a placement (heap_memory.h) */
    bool is_live;
};

struct ab_given { /* what an allocation or a resize gave */
    uintptr_t at; /* the address, also of a handle; 0 = nothing */
    uint64_t size, usable;
    uint32_t lane;
};

struct ab_page_ledger;

struct ab_block_book {
    struct ab_block_entry *entries;
    struct ab_page_ledger *pages; /* learns of each block; NULL = none */
    uint32_t n_slots;
    uint64_t requested_bytes, usable_bytes;
    bool is_usable_unknown; /* usable bytes are taken to be those asked for */
    bool is_usable_less;    /* once, a block had less than was asked for */
};

/* The slot holds this block from now on. */
void ab_book_put(struct ab_block_book *book, uint32_t slot, const struct ab_given *given);
void ab_book_drop(struct ab_block_book *book, uint32_t slot);

#endif
