/* SPDX-License-Identifier: MIT
 *
 * The checked build: what stands around each block, and which blocks are live.
 *
 *   below, above, size, serial … | 0xDEADBEEFCAFEBABE | block | 0xFEEDFACEDEADC0DE
 *
 * The live blocks are a list in the order of their birth, each with a serial number that its arena
 * never gives again. A save point keeps the number of arena and block; it is stale once that block
 * died by a reset or a restore. A block that has moved leaves the list, and the one below answers
 * for its number (`covers`). Whoever finds a fault ends the process with one line on the standard
 * error: what is damaged cannot be trusted any more.
 *
 * What frees single blocks (pool, slab, paged pool, handle arena) is below the checks: it
 * gets larger requests and is not changed.
 *
 *   raw … | head, 48 bytes | block: 0xCD | 0xFEEDFACEDEADC0DE, 16 bytes
 *
 * A dead block is 0xDD from its raw begin to its raw end, but for the links that the allocator
 * keeps at the begin; before the memory is handed out again it is read, and who wrote to it
 * meanwhile ends the process. What is handed in is looked at before anything is done: a resize of a
 * dead block must not take its memory for the new one.
 *
 * With a sanitizer or Valgrind watching, dead bytes and those after a block are theirs, and not looked
 * at. Whoever locks the allocator locks this.
 */
#ifndef AB_ALLOCATORS_CHECKED_H
#define AB_ALLOCATORS_CHECKED_H

#include "guard.h"
#include "marks.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifdef AB_WITH_CHECKS
/* One in the program, whichever of its files has an allocator. Atomic. */
#pragma weak ab_block_last_id
uint32_t ab_block_last_id;

/* The id is no other list's of any allocator, and neither 0 nor that of dead memory, which is odd. */
static inline void ab_block_list_open(struct ab_block_list *list, const char *name)
{
    memset(list, 0, sizeof *list);
    list->name = name;
    list->id = __atomic_add_fetch(&ab_block_last_id, 2, __ATOMIC_RELAXED);
}
#endif

static inline struct ab_block_head *ab_block_head_of(const void *block)
{
    return (struct ab_block_head *)(uintptr_t)block - 1;
}

static inline uint32_t ab_block_size_check(size_t size)
{
    return (uint32_t)size * UINT32_C(2654435761) ^ (uint32_t)(size >> 20);
}

static inline void ab_block_set_size(void *block, size_t size)
{
    struct ab_block_head *head = ab_block_head_of(block);
    uint64_t back = AB_GUARD_BACK;
    head->size = size;
    head->size_check = ab_block_size_check(size);
    if (!AB_MARKS)
        memcpy((char *)block + size, &back, sizeof back);
}

/* A new live block: AB_BLOCK_FRONT before and AB_BLOCK_TAIL after it are ours. */
static inline void ab_block_begin(struct ab_block_list *list, void *block, size_t size)
{
    struct ab_block_head *head = ab_block_head_of(block);
    AB_MARK_DEFINED(head, sizeof *head);
    head->below = list->top;
    head->above = NULL;
    head->serial = head->covers = ++list->serial;
    head->list_id = list->id;
    head->canary = AB_GUARD_FRONT;
    ab_block_set_size(block, size);
    if (list->top != NULL)
        list->top->above = head;
    list->top = head;
}

/* The same where blocks are handed out: filled, and shown to the tools. `pool` names its arena to
 * them; block_bytes reach to the end of its tail. NULL stays NULL. */
static inline void *ab_block_born(struct ab_block_list *list, const void *pool, void *block,
                                  size_t size, size_t block_bytes)
{
    char *p = (char *)block;
    size_t kept = size & ~(size_t)7;
    (void)pool, (void)kept, (void)block_bytes;
    if (p == NULL)
        return NULL;
    AB_MARK_DEFINED(p, size);
    memset(p, AB_GUARD_NEW, size);
    ab_block_begin(list, p, size);
    AB_MARK_UNUSED(p + kept, block_bytes - kept);
    AB_MARK_ALLOC(pool, p, size);
    return p;
}

/* Every live block, the youngest first. */
static inline void ab_block_visit(const struct ab_block_list *list,
                                  void (*visit)(void *block, size_t size, void *context),
                                  void *context)
{
    struct ab_block_head *next;
    for (struct ab_block_head *head = list->top; head != NULL; head = next) {
        next = head->below;
        visit(head + 1, head->size, context);
    }
}

static inline void ab_block_look_at(const struct ab_block_list *list,
                                    const struct ab_block_head *head)
{
    const char *block = (const char *)(head + 1);
    uint64_t back = AB_GUARD_BACK;
    if (head->canary != AB_GUARD_FRONT || head->size_check != ab_block_size_check(head->size))
        ab_guard_end(list->name, block, "corrupted before its start");
    if (!AB_MARKS)
        memcpy(&back, block + head->size, sizeof back);
    if (back != AB_GUARD_BACK)
        ab_guard_end(list->name, block, "overflow past its end");
}

/* What the caller says of a block that it hands in must be so. */
__attribute__((no_sanitize_address)) static inline void ab_block_demand(
    const struct ab_block_list *list, const void *block, size_t size)
{
    const struct ab_block_head *head = ab_block_head_of(block);
    if (((uintptr_t)block & 15) != 0)
        ab_guard_end(list->name, block, "not a block of this arena");
    if (head->list_id == UINT32_C(0xDDDDDDDD))
        ab_guard_end(list->name, block, "dead already");
    if (head->list_id != list->id)
        ab_guard_end(list->name, block,
                     head->canary == AB_GUARD_FRONT ? "a block of another arena"
                                                    : "not a block of this arena");
    ab_block_look_at(list, head);
    if (head->size != size)
        ab_guard_end(list->name, block, "its size is another one");
}

/* The block leaves the list, wherever it is there. */
static inline void ab_block_take_out(struct ab_block_list *list, const struct ab_block_head *head)
{
    if (head->below != NULL)
        head->below->above = head->above;
    if (head->above != NULL)
        head->above->below = head->below;
    else
        list->top = head->below;
}

/* Of a block that moved away: nothing about it is known any more, its number stays known. */
static inline void ab_block_moved(struct ab_block_list *list, void *block)
{
    struct ab_block_head *head = ab_block_head_of(block);
    uint32_t *covers = head->below != NULL ? &head->below->covers : &list->covers;
    if (*covers < head->covers)
        *covers = head->covers;
    ab_block_take_out(list, head);
    memset(head, AB_GUARD_DEAD, sizeof *head);
}

/* What a save point keeps. */
static inline uint32_t ab_block_mark(const struct ab_block_list *list)
{
    return list->top != NULL ? list->top->covers : list->covers;
}

/* A save point must be of this arena and older than nothing that died since. */
static inline void ab_block_demand_mark(const struct ab_block_list *list, uint32_t list_id,
                                        uint32_t serial)
{
    const struct ab_block_head *head = list->top;
    if (list_id != list->id)
        ab_guard_end(list->name, list, "a save point of another arena, or of none");
    while (head != NULL && head->serial > serial)
        head = head->below;
    if (serial < list->reset || (head != NULL ? head->covers : list->covers) < serial)
        ab_guard_end(list->name, list, "a stale save point: what it was after is dead");
}

/* Blocks in [from, end) die, the youngest first; each is looked at. */
static inline void ab_block_kill_in(struct ab_block_list *list, const char *from, const char *end)
{
    while (list->top != NULL && (const char *)list->top >= from && (const char *)list->top < end) {
        ab_block_look_at(list, list->top);
        list->top = list->top->below;
    }
    if (list->top != NULL)
        list->top->above = NULL;
}

/* Numbers after `serial` are dead, which is the last one of those that live, or of a save point. */
static inline void ab_block_forget_after(struct ab_block_list *list, uint32_t serial)
{
    uint32_t *covers = list->top != NULL ? &list->top->covers : &list->covers;
    if (*covers > serial)
        *covers = serial;
}

/* All numbers after the youngest that lives. */
static inline void ab_block_forget_dead(struct ab_block_list *list)
{
    ab_block_forget_after(list, list->top != NULL ? list->top->serial : list->reset);
}

/* All blocks are dead. A save point of when there was none is as stale as any: the reset has a number
 * too. */
static inline void ab_block_forget_all(struct ab_block_list *list)
{
    list->covers = list->reset = ++list->serial;
}

/* The youngest block may have grown since the save point and then ends at `end` again. */
static inline void ab_block_cut_short(struct ab_block_list *list, const char *begin,
                                      const char *end)
{
    if (list->top == NULL)
        return;
    char *block = (char *)(list->top + 1);
    if (block >= begin && block + AB_BLOCK_TAIL <= end &&
        block + list->top->size + AB_BLOCK_TAIL > end)
        ab_block_set_size(block, (size_t)(end - block) - AB_BLOCK_TAIL);
}

/* [from, to), which may be empty, was filled with AB_GUARD_DEAD when it died: who wrote to it since?
 * The tools saw the write. */
__attribute__((no_sanitize_address)) static inline void ab_block_demand_dead(
    const struct ab_block_list *list, const char *from, const char *to)
{
    if (AB_MARKS)
        return;
    const uint64_t dead = UINT64_C(0xDDDDDDDDDDDDDDDD);
    uint64_t word = dead;
    while (to - from >= (ptrdiff_t)sizeof word && memcpy(&word, from, sizeof word) && word == dead)
        from += sizeof word;
    for (; from < to; from++)
        if ((unsigned char)*from != AB_GUARD_DEAD)
            ab_guard_end(list->name, from, "written to after it was dead");
}

/* ---- of what frees single blocks ---- */

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

/* What is called in the checked build and is the same of all that free single blocks: free_sized, reset
 * and fini. demand(heap, block) ends the process unless the block lives; end_block(heap, block) makes
 * it poison and takes it out of the list. */
#define AB_CHECKED_DEFINE(name, type, demand, end_block) \
    void name##_free_sized(type *heap, void *block, size_t size) \
    { \
        if (block == NULL) \
            return; \
        demand(heap, block); \
        ab_checked_demand_size(&heap->blocks, block, size); \
        name##_free(heap, block); \
    } \
    void name##_reset(type *heap) \
    { \
        while (heap->blocks.top != NULL) { \
            demand(heap, heap->blocks.top + 1); \
            end_block(heap, heap->blocks.top + 1); \
        } \
        name##_plain_reset(heap); \
    } \
    void name##_fini(type *heap) \
    { \
        ab_checked_leaks(&heap->blocks, "never freed"); \
        name##_plain_fini(heap); \
    }

#ifdef __cplusplus
}
#endif

#endif
