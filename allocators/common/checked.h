/* SPDX-License-Identifier: MIT
 *
 * The checked build of what frees single blocks: pool, slab, paged pool, handle arena. It is put over
 * the plain allocator, which is asked for more and knows nothing of it:
 *
 *   raw … | head of blocks.h, 48 bytes | block: 0xCD | 0xFEEDFACEDEADC0DE, 16 bytes
 *
 * A dead block is 0xDD from its raw begin to its raw end, but for the links that the allocator
 * keeps at the begin; before the memory is handed out again it is read, and who wrote to it
 * meanwhile ends the process. What is handed in is looked at before anything is done: a resize of a
 * dead block must not take its memory for the new one.
 *
 * With a sanitizer or Valgrind watching, dead bytes and those after a block are theirs. Whoever
 * locks the allocator locks this.
 */
#ifndef AB_ALLOCATORS_CHECKED_H
#define AB_ALLOCATORS_CHECKED_H

#include "blocks.h"

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { AB_CHECKED_LEAKS_MAX = 16 }; /* that are listed */

/* Bytes before a block that is aligned so; 0, as 16 and less: as malloc does. */
static inline size_t ab_checked_lead(size_t align)
{
    return align <= 16 ? AB_BLOCK_FRONT : (AB_BLOCK_FRONT + align - 1) & ~(align - 1);
}

/* What to ask the allocator for. SIZE_MAX, which none has, when there is no such size. */
static inline size_t ab_checked_bytes(size_t align, size_t size)
{
    bool is_absurd = size > PTRDIFF_MAX / 4 || align > UINT32_MAX / 2;
    return is_absurd ? SIZE_MAX : ab_checked_lead(align) + size + AB_BLOCK_TAIL;
}

/* raw may be NULL: so is the result then. */
static inline void *ab_checked_begin(struct ab_block_list *list, void *raw, size_t align,
                                     size_t size)
{
    size_t lead = ab_checked_lead(align);
    char *block = (char *)raw + lead;
    if (raw == NULL)
        return NULL;
    AB_MARK_UNUSED(raw, lead + size + AB_BLOCK_TAIL);
    AB_MARK_FRESH(block, size);
    ab_block_begin(list, block, size);
    ab_block_head_of(block)->covers = (uint32_t)lead;
    if (!AB_MARKS) /* the tools shall see that it is not written yet */
        memset(block, AB_GUARD_NEW, size);
    return block;
}

/* For the message alone: is a block there, whose head was overwritten? What is past another head
 * that was is not known. */
static inline bool ab_checked_lists(const struct ab_block_list *list, const void *block)
{
    const struct ab_block_head *head = list->top;
    while (head != NULL && head + 1 != block && head->canary == AB_GUARD_FRONT)
        head = head->below;
    return head != NULL && head + 1 == block;
}

/* is_inside: it is in memory of this heap, so that what is before it may be read. Returns only
 * when it is a live block and nothing around it was overwritten. */
__attribute__((no_sanitize_address)) static inline void ab_checked_demand(
    const struct ab_block_list *list, const void *block, bool is_inside)
{
    const struct ab_block_head *head = ab_block_head_of(block);
    if (!is_inside)
        ab_guard_end(list->name, block, "not from this heap");
    bool is_aligned = ((uintptr_t)block & 15) == 0;
    if (is_aligned && head->list_id == UINT32_C(0xDDDDDDDD))
        ab_guard_end(list->name, block, "freed already");
    if (!is_aligned || head->list_id != list->id || head->canary != AB_GUARD_FRONT)
        ab_guard_end(list->name, block,
                     is_aligned && ab_checked_lists(list, block) ? "corrupted before its start"
                                                                 : "not the begin of a live block");
    ab_block_look_at(list, head);
}

/* Of a block that lives. */
static inline size_t ab_checked_size(const void *block)
{
    return ab_block_head_of(block)->size;
}

static inline char *ab_checked_raw(const void *block)
{
    return (char *)(uintptr_t)block - ab_block_head_of(block)->covers;
}

static inline void ab_checked_demand_size(const struct ab_block_list *list, const void *block,
                                          size_t size)
{
    if (ab_checked_size(block) != size)
        ab_guard_end(list->name, block, "its size is another one");
}

/* The block is dead, all raw_bytes are poison. The allocator may be given what this returns. */
static inline char *ab_checked_end(struct ab_block_list *list, void *block, size_t raw_bytes)
{
    char *raw = ab_checked_raw(block);
    ab_block_take_out(list, ab_block_head_of(block));
    AB_MARK_DEFINED(raw, raw_bytes);
    memset(raw, AB_GUARD_DEAD, raw_bytes);
    return raw;
}

/* [raw + links_bytes, raw + raw_bytes) was a dead block's: no thread may have written to it. */
static inline void ab_checked_demand_dead(const struct ab_block_list *list, const char *raw,
                                          size_t links_bytes, size_t raw_bytes)
{
    ab_block_demand_dead(list, raw + links_bytes, raw + raw_bytes);
}

/* In place. What the block gains or loses between its end and the canary's is marked. */
static inline void ab_checked_set_size(void *block, size_t new_size)
{
    size_t old_size = ab_checked_size(block);
    char *kept = (char *)block + (old_size < new_size ? old_size : new_size);
    ab_block_set_size(block, new_size);
    if (new_size > old_size) {
        AB_MARK_FRESH(kept, new_size - old_size);
        if (!AB_MARKS)
            memset(kept, AB_GUARD_NEW, new_size - old_size);
    } else {
        AB_MARK_UNUSED(kept, old_size - new_size);
    }
}

/* At the close: what still lives is looked at and listed, the youngest first. what: "never freed". */
static inline void ab_checked_leaks(const struct ab_block_list *list, const char *what)
{
    size_t n = 0, bytes = 0;
    for (const struct ab_block_head *head = list->top; head != NULL; head = head->below) {
        ab_block_look_at(list, head);
        if (n++ < AB_CHECKED_LEAKS_MAX)
            ab_guard_note(list->name, head + 1, what, head->size);
        else
            bytes += head->size;
    }
    if (n > AB_CHECKED_LEAKS_MAX)
        ab_guard_note(list->name, list, "and older ones, together", bytes);
}

#ifdef __cplusplus
}
#endif

#endif
