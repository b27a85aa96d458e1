/* SPDX-License-Identifier: MIT
 *
 * Which blocks are live, and what they hold: bytes requested (L), bytes usable (U), pages (P), all
 * kept up with each op, so that they are known together whenever the footprint is read.
 *
 * P counts the pages of what the tape touches. `first(n)` and `ends` touch what they say; `page`,
 * `line` and `all` stand for a program that uses the whole block, so all its pages count. Of
 * these, `page` writes one byte in 4096: a page that a block only reaches into with its tail may
 * be untouched. Such a page is soft, and at a checkpoint mincore decides; a firm one was written
 * to and must be resident.
 */
#ifndef AB_WORKER_BLOCK_BOOK_H
#define AB_WORKER_BLOCK_BOOK_H

#include "trace/op.h"
#include "worker/page_set.h"

struct ab_block_entry { /* one a slot */
    uintptr_t at;
    uint64_t size, usable;
    uint64_t span; /* this many bytes from the start count as touched */
    uint16_t soft; /* the last so many of them were not written: less than a stride of the touch */
    uint16_t lane;
    bool is_ended; /* the last byte is touched as well */
    bool is_live;
};

struct ab_given { /* what an allocation or a resize gave */
    uintptr_t at; /* the address, also of a handle; 0 = nothing */
    uint64_t size, usable;
    uint32_t lane;
};

struct ab_block_book {
    struct ab_block_entry *entries;
    uint32_t n_slots;
    unsigned page_log2;
    struct ab_page_set pages, regions; /* OS pages; aligned stretches of 2 MiB */
    uint64_t live_bytes, usable_bytes, untouched_bytes;
    bool is_usable_less; /* once, a block had less than was asked for */
};
#define AB_REGION_LOG2 21

/* The slot holds this block from now on; its size so far, 0 when it was empty. */
uint64_t ab_book_put(struct ab_block_book *book, uint32_t slot, const struct ab_given *given);
void ab_book_drop(struct ab_block_book *book, uint32_t slot);
void ab_book_touch(struct ab_block_book *book, uint32_t slot, enum ab_touch how, uint64_t bytes);
/* The touch that is part of a resize: once in 4096 bytes from the old size on. */
void ab_book_touch_grown(struct ab_block_book *book, uint32_t slot, uint64_t old_size);

#endif
