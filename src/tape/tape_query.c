/* SPDX-License-Identifier: MIT
 *
 * What can be asked of a tape while it is built.
 */
#include "tape/tape.h"

#include "tape/builder.h"

void ab_tape_prefetch(const struct ab_tape_builder *b, uint32_t slot)
{
    if (slot < b->cap_slots)
        __builtin_prefetch(&b->slots[slot], 1);
}

bool ab_tape_is_live(const struct ab_tape_builder *b, uint32_t slot, uint64_t *size)
{
    if (slot >= b->cap_slots || !b->slots[slot].is_live)
        return false;
    if (size != NULL)
        *size = b->slots[slot].size;
    return true;
}

uint64_t ab_tape_count(const struct ab_tape_builder *b)
{
    return b->n_requests;
}

uint64_t ab_tape_allocated_bytes(const struct ab_tape_builder *b)
{
    return b->tape.facts.total_bytes;
}

uint64_t ab_tape_live_bytes(const struct ab_tape_builder *b)
{
    return b->live_bytes;
}

uint64_t ab_tape_live_blocks(const struct ab_tape_builder *b)
{
    return b->live_blocks;
}

uint64_t ab_tape_bytes(const struct ab_tape_builder *b)
{
    return b->n_pushed * sizeof(uint64_t) + b->tape.n_wide * sizeof(struct ab_wide) +
           (b->n_lanes > 1 ? b->tape.n_turns * sizeof(struct ab_turn) : 0);
}
