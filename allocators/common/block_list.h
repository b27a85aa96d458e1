/* SPDX-License-Identifier: MIT
 *
 * What the checked build keeps of blocks; blocks.h says how.
 */
#ifndef AB_ALLOCATORS_BLOCK_LIST_H
#define AB_ALLOCATORS_BLOCK_LIST_H

#include <stddef.h>
#include <stdint.h>

struct ab_block_head { /* just before the block */
    struct ab_block_head *below, *above;
    size_t size;
    uint32_t serial, list_id;
    /* In an arena: numbers serial … covers are this block's or of those that moved away above. In
     * what frees single blocks (checked.h): bytes before the block that are its own. */
    uint32_t covers;
    uint32_t size_check;
    uint64_t canary;
};

/* What a block takes besides its bytes: in front, a multiple of 16, and at least so much after them. */
#define AB_BLOCK_FRONT sizeof(struct ab_block_head)
#define AB_BLOCK_TAIL ((size_t)16)

struct ab_block_list {
    const char *name; /* of the allocator, in messages; a literal */
    struct ab_block_head *top;
    uint32_t id;     /* of the allocator: no other has it */
    uint32_t serial; /* the last one given */
    uint32_t covers; /* as in a block, when there is none below */
    uint32_t reset;  /* save points with a smaller number are older than the last reset */
};

#endif
