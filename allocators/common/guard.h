/* SPDX-License-Identifier: MIT
 *
 * Canaries and poison around blocks, for a build that no sanitizer sees. Works on top of any
 * allocator: ask it for ab_guard_bytes(), hand out what ab_guard_wrap() makes of it, and look with
 * ab_guard_check() before the block goes back as what ab_guard_unwrap() returns.
 *
 *   raw … | size, lead | 0xDEADBEEFCAFEBABE | block: 0xCD, freed 0xDD | 0xFEEDFACEDEADC0DE
 *
 * The word before the block says that it was freed as long as the memory was not reused, so a
 * second free shows. The allocator may keep a link in the first 8 bytes of what is free. Whoever
 * finds a fault ends the process: what is damaged cannot be trusted any more.
 */
#ifndef AB_ALLOCATORS_GUARD_H
#define AB_ALLOCATORS_GUARD_H

#include "language.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

#define AB_GUARD_FRONT UINT64_C(0xDEADBEEFCAFEBABE)
#define AB_GUARD_BACK UINT64_C(0xFEEDFACEDEADC0DE)
#define AB_GUARD_FREED UINT64_C(0xDDDDDDDDFEEEFEEE)
enum { AB_GUARD_LEAD = 16, AB_GUARD_TAIL = 8, AB_GUARD_NEW = 0xCD, AB_GUARD_DEAD = 0xDD };

enum ab_guard_fault {
    AB_GUARD_OK,
    AB_GUARD_FOREIGN,  /* set by the allocator itself: not found here */
    AB_GUARD_NOT_LIVE, /* freed already, or never handed out */
    AB_GUARD_FRONT_DAMAGED,
    AB_GUARD_BACK_DAMAGED,
};

struct ab_guard_head {      /* just before the block */
    uint64_t size_and_lead; /* size << 8 | n: the raw block begins 1 << n bytes before */
    uint64_t canary;
};

static inline struct ab_guard_head *ab_guard_head(const void *block)
{
    return (struct ab_guard_head *)(uintptr_t)block - 1;
}

static inline size_t ab_guard_lead_for(size_t align)
{
    return align > AB_GUARD_LEAD ? align : (size_t)AB_GUARD_LEAD;
}

/* What to ask for instead of size, at the same alignment (0 = the natural one, 16). SIZE_MAX when
 * there is no such size. */
static inline size_t ab_guard_bytes(size_t align, size_t size)
{
    size_t lead = ab_guard_lead_for(align);
    bool is_absurd = size > PTRDIFF_MAX / 4 || lead > PTRDIFF_MAX / 4;
    return is_absurd ? SIZE_MAX : lead + size + AB_GUARD_TAIL;
}

/* raw may be NULL: so is the result then. */
static inline void *ab_guard_wrap(void *raw, size_t align, size_t size, bool is_zeroed)
{
    size_t lead = ab_guard_lead_for(align);
    uint64_t back = AB_GUARD_BACK;
    if (raw == NULL)
        return NULL;
    char *block = (char *)raw + lead;
    struct ab_guard_head *head = ab_guard_head(block);
    head->size_and_lead = (uint64_t)size << 8 | (uint64_t)__builtin_ctzll(lead);
    head->canary = AB_GUARD_FRONT;
    memset(block, is_zeroed ? 0 : AB_GUARD_NEW, size);
    memcpy(block + size, &back, sizeof back);
    return block;
}

static inline size_t ab_guard_size(const void *block)
{
    return ab_guard_head(block)->size_and_lead >> 8;
}

static inline size_t ab_guard_lead(const void *block)
{
    return (size_t)1 << (ab_guard_head(block)->size_and_lead & 63);
}

static inline enum ab_guard_fault ab_guard_check(const void *block)
{
    const struct ab_guard_head *head = ab_guard_head(block);
    uint64_t back;
    if (head->canary == AB_GUARD_FREED || head->canary == 0)
        return AB_GUARD_NOT_LIVE;
    if (head->canary != AB_GUARD_FRONT)
        return AB_GUARD_FRONT_DAMAGED;
    memcpy(&back, (const char *)block + ab_guard_size(block), sizeof back);
    return back == AB_GUARD_BACK ? AB_GUARD_OK : AB_GUARD_BACK_DAMAGED;
}

/* Of a block that was checked. */
static inline void *ab_guard_unwrap(void *block)
{
    struct ab_guard_head *head = ab_guard_head(block);
    char *raw = (char *)block - ab_guard_lead(block);
    memset(block, AB_GUARD_DEAD, ab_guard_size(block) + AB_GUARD_TAIL);
    head->canary = AB_GUARD_FREED;
    return raw;
}

AB_COMMON_API const char *ab_guard_fault_text(enum ab_guard_fault fault);
/* "NAME: 0x00007f0123456780: WHAT" on the standard error, then SIGABRT. */
AB_COMMON_API void ab_guard_end(const char *name, const void *block, const char *what)
    __attribute__((noreturn));
/* The same with a number of bytes, and the process goes on: "NAME: 0x…: WHAT, 24 bytes". */
AB_COMMON_API void ab_guard_note(const char *name, const void *block, const char *what,
                                 size_t bytes);
/* As ab_guard_end, with the text of the fault: "overflow past its end". */
AB_COMMON_API void ab_guard_die(const char *name, const void *block, enum ab_guard_fault fault)
    __attribute__((noreturn));

/* ---- under a whole allocator ---- */

/* The allocator below; heap is what its functions take. */
struct ab_guard_below {
    const char *name;
    void *(*alloc)(void *heap, size_t align, size_t size, bool is_zeroed);
    void (*free)(void *heap, void *raw);
    bool (*owns)(void *heap, const void *raw);
};

static inline void *ab_guard_alloc(const struct ab_guard_below *below, void *heap, size_t align,
                                   size_t size, bool is_zeroed)
{
    void *raw = below->alloc(heap, align, ab_guard_bytes(align, size), false);
    return ab_guard_wrap(raw, align, size, is_zeroed);
}

/* The places where a raw block may begin are few: one for each power of two. Looked for before
 * anything there is read: a foreign pointer may point nowhere. */
static inline enum ab_guard_fault ab_guard_inspect(const struct ab_guard_below *below, void *heap,
                                                   const void *block)
{
    for (size_t lead = AB_GUARD_LEAD; lead <= (uintptr_t)block && lead <= ((size_t)1 << 40);
         lead *= 2) {
        const struct ab_guard_head *head = ab_guard_head(block);
        if (!below->owns(heap, (const char *)block - lead))
            continue;
        if (head->canary != AB_GUARD_FRONT || ab_guard_lead(block) == lead)
            return ab_guard_check(block);
    }
    return AB_GUARD_FOREIGN;
}

/* Returns only when the block is in order. */
static inline void ab_guard_demand(const struct ab_guard_below *below, void *heap,
                                   const void *block)
{
    enum ab_guard_fault fault = ab_guard_inspect(below, heap, block);
    if (fault != AB_GUARD_OK)
        ab_guard_die(below->name, block, fault);
}

static inline void ab_guard_free(const struct ab_guard_below *below, void *heap, void *block)
{
    if (block == NULL)
        return;
    ab_guard_demand(below, heap, block);
    below->free(heap, ab_guard_unwrap(block));
}

/* Always moves: what still uses the old place reads poison. The block is looked at before another
 * one is taken: the memory of a freed one would be the first to be handed out, with new canaries,
 * and look like a live block. */
static inline void *ab_guard_resize(const struct ab_guard_below *below, void *heap, void *block,
                                    size_t new_size)
{
    ab_guard_demand(below, heap, block);
    size_t old_size = ab_guard_size(block);
    void *copy = ab_guard_alloc(below, heap, 0, new_size, false);
    if (copy == NULL)
        return NULL;
    memcpy(copy, block, old_size < new_size ? old_size : new_size);
    below->free(heap, ab_guard_unwrap(block));
    return copy;
}

#ifdef __cplusplus
}
#endif

#endif
