/* SPDX-License-Identifier: MIT
 *
 * Canaries and poison around blocks, and a record of each block. The checked build,
 * -DAB_WITH_CHECKS, uses them for all allocators. The back ends with debug=on put them around the
 * blocks of an allocator that is not a checked build.
 *
 *   head, 64 bytes: links, size, place, … | 0xDEADBEEFCAFEBABE | block: 0xCD | 0xFEEDFACEDEADC0DE …
 *
 * The canary after a block extends to the end of the memory that the block takes, at least 16
 * bytes. A seal in the head is a checksum of the head. A dead block is filled with 0xDD, except for
 * the links that an allocator keeps at its start. Before memory is handed out again, this filling
 * is verified: a write to it meanwhile ends the process. A block that a caller passes is checked
 * before anything is done. For example, a resize of a dead block must not reuse that block's own
 * memory.
 *
 * Every fault ends the process with one line on standard error, because damaged memory cannot be
 * trusted any more. The line says where the block was allocated and freed, if that is known:
 *
 *     pool: 0x00007f0123456780: overflow past its end, at byte 40; 40 bytes, allocated at
 *     ./game+0x12ab        (in one line; addr2line -i -e ./game 0x12ab translates the place)
 *
 * The live blocks of the checked build are in a list in the order of their allocation. Each has a
 * serial number that its arena never gives again. A save point stores the number of the arena and
 * of the youngest block; it is stale once that block died by a reset or a restore. A block that has
 * moved leaves the list, and the block below takes over its number (`covers`). A lock-free pool and
 * the back ends with debug=on have no list.
 *
 * With a sanitizer or Valgrind, the tool watches dead bytes and the bytes after a block, so that
 * they are not checked here. The lock of an allocator, if it has one, also protects this data.
 */
#ifndef AB_ALLOCATORS_CHECKED_H
#define AB_ALLOCATORS_CHECKED_H

#include "language.h"
#include "marks.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

#define AB_GUARD_FRONT UINT64_C(0xDEADBEEFCAFEBABE)
#define AB_GUARD_BACK UINT64_C(0xFEEDFACEDEADC0DE)
#define AB_GUARD_DEAD_ID UINT32_C(0xDDDDDDDD)
#define AB_GUARD_NOWHERE PTRDIFF_MIN
#define AB_BLOCK_TAIL_MAX ((size_t)1 << 16)
enum { AB_GUARD_NEW = 0xCD, AB_GUARD_DEAD = 0xDD };

/* Messages about faults, the same for all allocators. */
#define AB_SAYS_OVERFLOW "overflow past its end"
#define AB_SAYS_UNDERFLOW "corrupted before its start"
#define AB_SAYS_FREED "freed already"
#define AB_SAYS_DEAD "dead already" /* in an arena, which does not free single blocks */
#define AB_SAYS_FOREIGN "not from this heap"
#define AB_SAYS_NO_BLOCK "not the begin of a live block"
#define AB_SAYS_SIZE "its size is another one"
#define AB_SAYS_WRITTEN "written to after it was dead"
#define AB_SAYS_STALE "a stale save point: what it was after is dead"
#define AB_SAYS_NO_MARK "a save point of another arena, or of none"
#define AB_SAYS_CLOSED "a heap that is not open"
#define AB_SAYS_TWO_THREADS "used by two threads at the same time"
#define AB_SAYS_THREAD "the heap of another thread"

/* Writes "NAME: 0x00007f0123456780: WHAT" to standard error and raises SIGABRT. */
AB_COMMON_API void ab_guard_end(const char *name, const void *block, const char *what)
    __attribute__((noreturn));
/* Ends the process like ab_guard_end, with details. `at` is the byte of the block where the fault
 * is, or AB_GUARD_NOWHERE. `of` are the facts about the block, or NULL. */
AB_COMMON_API void ab_guard_end_at(const char *name, const void *block, const char *what,
                                   ptrdiff_t at, const struct ab_block_death *of)
    __attribute__((noreturn));
/* Writes a line like ab_guard_end, but does not end the process. */
AB_COMMON_API void ab_guard_note(const char *name, const void *block, const char *what,
                                 const struct ab_block_death *of);

/* True if `bytes` bytes can be read at `from`. */
AB_COMMON_API bool ab_guard_can_read(const void *from, size_t bytes);

/* ---- the calling thread, and the place of its call ---- */

/* Returns the address of a variable of this thread. The variable holds the place of the program's
 * call in progress, or NULL. Its address identifies the thread. */
AB_COMMON_API const void **ab_guard_place(void);

struct ab_block_call {
    const void **user;  /* the heap's `user`; NULL for a heap that several threads may use */
    const void *before; /* the value of *user before: this thread, or NULL */
    bool is_outer;
};

/* Begins a call. *user is the thread that is in a call of the heap; `user` is NULL if several
 * threads may be in calls. Ends the process if another thread is in a call. */
static inline struct ab_block_call ab_block_call_of(const void **user, const char *name,
                                                    const void *heap, const void *place)
{
    const void **own = ab_guard_place();
    struct ab_block_call call = {user, NULL, *own == NULL};
    if (user != NULL)
        call.before = __atomic_exchange_n(user, (const void *)own, __ATOMIC_ACQ_REL);
    if (call.before != NULL && call.before != (const void *)own)
        ab_guard_end(name, heap, AB_SAYS_TWO_THREADS);
    if (call.is_outer)
        *own = place;
    return call;
}

static inline struct ab_block_call ab_block_call_begin(struct ab_block_list *list, const char *name,
                                                       const void *place)
{
    if (list == NULL || list->id == 0)
        ab_guard_end(name, list, AB_SAYS_CLOSED);
    return ab_block_call_of(list->is_locked ? NULL : &list->user, name, list, place);
}

static inline void ab_block_call_end(const struct ab_block_call *call)
{
    if (call->is_outer)
        *ab_guard_place() = NULL;
    if (call->user != NULL)
        __atomic_store_n(call->user, call->before, __ATOMIC_RELEASE);
}

/* Declares that this thread is in a call of the heap up to the end of the enclosing block. The heap
 * may be NULL, which ends the process. */
#ifdef AB_WITH_CHECKS
#define AB_CHECKED_CALL(heap, name) \
    __attribute__((cleanup(ab_block_call_end), unused)) const struct ab_block_call ab_call = \
        ab_block_call_begin((heap) == NULL ? NULL : (struct ab_block_list *)&(heap)->blocks, name, \
                            __builtin_return_address(0))
#else
#define AB_CHECKED_CALL(heap, name) ((void)0)
#endif

/* Leave and reenter a call around a function of the program, which may leave by longjmp. */
static inline const void *ab_block_step_out(struct ab_block_list *list)
{
    const void **own = ab_guard_place(), *place = *own;
    *own = NULL;
    __atomic_store_n(&list->user, (const void *)NULL, __ATOMIC_RELEASE);
    return place;
}

static inline void ab_block_step_in(struct ab_block_list *list, const void *place)
{
    const void **own = ab_guard_place();
    *own = place;
    __atomic_store_n(&list->user, (const void *)own, __ATOMIC_RELEASE);
}

/* ---- a block ---- */

#ifdef AB_WITH_CHECKS
/* The id given last. The program has one such variable, even if several of its files contain an
 * allocator. Atomic. */
#pragma weak ab_block_last_id
uint32_t ab_block_last_id;

/* Opens a list with an id that no other list has. Ids are even and not 0, so that none is
 * AB_GUARD_DEAD_ID, which is odd. */
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

static inline uint64_t ab_block_seal_of(const struct ab_block_head *head)
{
    uint64_t words[offsetof(struct ab_block_head, seal) / 8], seal = AB_GUARD_FRONT;
    memcpy(words, (const void *)head, sizeof words);
    for (size_t i = 0; i < sizeof words / 8; i++) {
        seal = (seal ^ words[i]) * UINT64_C(0x9E3779B97F4A7C15);
        seal ^= seal >> 29;
    }
    return seal;
}

static inline void ab_block_seal(struct ab_block_head *head)
{
    head->seal = ab_block_seal_of(head);
}

/* Writes the canary after a block: AB_GUARD_BACK repeatedly, the last time perhaps only a part. */
static inline void ab_block_write_tail(char *end, size_t n)
{
    uint64_t back = AB_GUARD_BACK;
    for (; n >= sizeof back; n -= sizeof back, end += sizeof back)
        memcpy(end, &back, sizeof back);
    memcpy(end, &back, n);
}

/* Returns the offset of the first overwritten byte of the canary; n if the canary is intact. */
static inline size_t ab_block_tail_whole(const char *end, size_t n)
{
    uint64_t back = AB_GUARD_BACK, word;
    size_t at = 0;
    for (; n - at >= sizeof back; at += sizeof back) {
        memcpy(&word, end + at, sizeof word);
        if (word != back)
            break;
    }
    while (at < n && (unsigned char)end[at] == (unsigned char)(back >> 8 * (at & 7)))
        at++;
    return at;
}

/* Returns the length of the canary of a block that is followed by `bytes` bytes of its own; 0 with
 * ASan or Valgrind. */
static inline size_t ab_block_tail(size_t bytes)
{
    return AB_MARKS ? 0 : bytes < AB_BLOCK_TAIL_MAX ? bytes : AB_BLOCK_TAIL_MAX;
}

/* Sets the size of a block and writes its canary over the `tail` bytes after it, which belong to
 * the block. */
static inline void ab_block_set_size(void *block, size_t size, size_t tail)
{
    struct ab_block_head *head = ab_block_head_of(block);
    head->size = size;
    head->tail = (uint32_t)tail;
    ab_block_write_tail((char *)block + size, tail);
    ab_block_seal(head);
}

/* Sets the size of a block within the bytes that it takes already. */
static inline void ab_block_set_size_within(void *block, size_t size)
{
    const struct ab_block_head *head = ab_block_head_of(block);
    size_t old_size = head->size, all = old_size + head->tail;
    if (!AB_MARKS && size > old_size)
        memset((char *)block + old_size, AB_GUARD_NEW, size - old_size);
    ab_block_set_size(block, size, ab_block_tail(all - size));
}

static inline struct ab_block_death ab_block_facts(const struct ab_block_head *head)
{
    struct ab_block_death facts = {(const char *)(head + 1), head->size, head->place, NULL};
    return facts;
}

/* Ends the process unless the head is intact. Call it before any use of the head. */
static inline void ab_block_demand_head(const char *name, const struct ab_block_head *head)
{
    bool is_sealed = head->seal == ab_block_seal_of(head);
    if (head->canary == AB_GUARD_FRONT && is_sealed)
        return;
    struct ab_block_death facts = ab_block_facts(head);
    const unsigned char *canary = (const unsigned char *)&head->canary;
    /* distance from the block to the nearest overwritten byte before it */
    ptrdiff_t at = sizeof head->canary;
    while (at > 0 && canary[sizeof head->canary - (size_t)at] ==
                         (unsigned char)(AB_GUARD_FRONT >> 8 * (sizeof head->canary - (size_t)at)))
        at--;
    ab_guard_end_at(name, head + 1, AB_SAYS_UNDERFLOW, at > 0 ? -at : AB_GUARD_NOWHERE,
                    is_sealed ? &facts : NULL);
}

static inline void ab_block_look_at(const char *name, const struct ab_block_head *head)
{
    ab_block_demand_head(name, head);
    size_t at = ab_block_tail_whole((const char *)(head + 1) + head->size, head->tail);
    if (at == head->tail)
        return;
    struct ab_block_death facts = ab_block_facts(head);
    ab_guard_end_at(name, head + 1, AB_SAYS_OVERFLOW, (ptrdiff_t)(head->size + at), &facts);
}

/* ---- the list ---- */

/* Creates a live block that is in no list. AB_BLOCK_FRONT bytes before it and `tail` bytes after it
 * must be available. */
static inline struct ab_block_head *ab_block_make(uint32_t list_id, void *block, size_t size,
                                                  size_t tail, size_t covers)
{
    struct ab_block_head *head = ab_block_head_of(block);
    memset((void *)head, 0, sizeof *head);
    head->place = *ab_guard_place();
    head->list_id = list_id;
    head->covers = (uint32_t)covers;
    head->canary = AB_GUARD_FRONT;
    ab_block_set_size(block, size, tail);
    return head;
}

static inline void ab_block_enter(struct ab_block_list *list, struct ab_block_head *head)
{
    head->below = list->top;
    head->serial = ++list->serial;
    if (head->covers == 0)
        head->covers = head->serial;
    ab_block_seal(head);
    if (list->top != NULL) {
        ab_block_demand_head(list->name, list->top);
        list->top->above = head;
        ab_block_seal(list->top);
    }
    list->top = head;
}

/* Creates a live block of an arena and puts it into the list. Fills the block and marks it for ASan
 * and Valgrind, to which `pool` identifies the arena. block_bytes reach to the end of its canary.
 * If `block` is NULL, returns NULL. */
static inline void *ab_block_born(struct ab_block_list *list, const void *pool, void *block,
                                  size_t size, size_t block_bytes)
{
    char *p = (char *)block;
    size_t kept = size & ~(size_t)7;
    (void)pool, (void)kept;
    if (p == NULL)
        return NULL;
    AB_MARK_DEFINED(ab_block_head_of(p), AB_BLOCK_FRONT + size);
    memset(p, AB_GUARD_NEW, size);
    ab_block_enter(list, ab_block_make(list->id, p, size, ab_block_tail(block_bytes - size), 0));
    AB_MARK_UNUSED(p + kept, block_bytes - kept);
    AB_MARK_ALLOC(pool, p, size);
    return p;
}

/* Calls `visit` for every live block, the youngest first. */
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

/* Takes a block out of the list, from any position. */
static inline void ab_block_take_out(struct ab_block_list *list, const struct ab_block_head *head)
{
    struct ab_block_head *below = head->below, *above = head->above;
    if (below != NULL) {
        ab_block_demand_head(list->name, below);
        below->above = above;
        ab_block_seal(below);
    }
    if (above == NULL) {
        list->top = below;
        return;
    }
    ab_block_demand_head(list->name, above);
    above->below = below;
    ab_block_seal(above);
}

/* Records the death of a block for messages; the last few deaths are kept. */
static inline void ab_block_note_death(struct ab_block_list *list, const struct ab_block_head *head)
{
    struct ab_block_death death = ab_block_facts(head);
    death.died = *ab_guard_place();
    list->deaths[list->n_deaths++ % AB_BLOCK_DEATHS] = death;
}

/* Returns the last death of a block that contained the byte at p or began there; NULL if none is
 * known. */
static inline const struct ab_block_death *ab_block_death_at(const struct ab_block_list *list,
                                                             const void *p)
{
    for (uint32_t i = 1; i <= AB_BLOCK_DEATHS && i <= list->n_deaths; i++) {
        const struct ab_block_death *d = &list->deaths[(list->n_deaths - i) % AB_BLOCK_DEATHS];
        if ((const char *)p == d->block || (uintptr_t)p - (uintptr_t)d->block < d->size)
            return d;
    }
    return NULL;
}

/* ---- blocks of arenas ---- */

/* Ends the process unless `block` is a live block of `size` bytes. is_inside: the block is in
 * memory of this arena, so that the head before it may be read. */
__attribute__((no_sanitize_address)) static inline void ab_block_demand(
    const struct ab_block_list *list, const void *block, size_t size, bool is_inside)
{
    const struct ab_block_head *head = ab_block_head_of(block);
    if (!is_inside)
        ab_guard_end(list->name, block, AB_SAYS_FOREIGN);
    if (((uintptr_t)block & 15) != 0)
        ab_guard_end(list->name, block, AB_SAYS_NO_BLOCK);
    if (head->list_id == AB_GUARD_DEAD_ID)
        ab_guard_end_at(list->name, block, AB_SAYS_DEAD, AB_GUARD_NOWHERE,
                        ab_block_death_at(list, block));
    if (head->list_id != list->id)
        ab_guard_end(list->name, block, AB_SAYS_NO_BLOCK);
    ab_block_look_at(list->name, head);
    if (head->size == size)
        return;
    struct ab_block_death facts = ab_block_facts(head);
    ab_guard_end_at(list->name, block, AB_SAYS_SIZE, AB_GUARD_NOWHERE, &facts);
}

/* Removes a block that has moved away. The head is filled as dead, and the block below covers its
 * serial number. */
static inline void ab_block_moved(struct ab_block_list *list, void *block)
{
    struct ab_block_head *head = ab_block_head_of(block), *below = head->below;
    uint32_t *covers = below != NULL ? &below->covers : &list->covers;
    ab_block_note_death(list, head);
    ab_block_take_out(list, head);
    if (*covers < head->covers)
        *covers = head->covers;
    if (below != NULL)
        ab_block_seal(below);
    memset((void *)head, AB_GUARD_DEAD, sizeof *head);
}

/* Returns the serial number that a save point stores. */
static inline uint32_t ab_block_mark(const struct ab_block_list *list)
{
    return list->top != NULL ? list->top->covers : list->covers;
}

/* Ends the process unless the save point is of this arena and none of the blocks before it has
 * died. */
static inline void ab_block_demand_mark(const struct ab_block_list *list, uint32_t list_id,
                                        uint32_t serial)
{
    const struct ab_block_head *head = list->top;
    if (list_id != list->id)
        ab_guard_end(list->name, list, AB_SAYS_NO_MARK);
    while (head != NULL && head->serial > serial)
        head = head->below;
    if (serial < list->reset || (head != NULL ? head->covers : list->covers) < serial)
        ab_guard_end(list->name, list, AB_SAYS_STALE);
}

/* Ends the life of the blocks in [from, end), the youngest first, and checks each. */
static inline void ab_block_kill_in(struct ab_block_list *list, const char *from, const char *end)
{
    while (list->top != NULL && (const char *)list->top >= from && (const char *)list->top < end) {
        ab_block_look_at(list->name, list->top);
        list->top = list->top->below;
    }
    if (list->top == NULL)
        return;
    ab_block_demand_head(list->name, list->top);
    list->top->above = NULL;
    ab_block_seal(list->top);
}

/* Marks the serial numbers after `serial` as dead, so that save points with such a number are
 * stale. `serial` is that of the youngest live block or of a save point. */
static inline void ab_block_forget_after(struct ab_block_list *list, uint32_t serial)
{
    uint32_t *covers = list->top != NULL ? &list->top->covers : &list->covers;
    if (*covers > serial)
        *covers = serial;
    if (list->top != NULL)
        ab_block_seal(list->top);
}

/* Marks all serial numbers after that of the youngest live block as dead. */
static inline void ab_block_forget_dead(struct ab_block_list *list)
{
    ab_block_forget_after(list, list->top != NULL ? list->top->serial : list->reset);
}

/* Marks all serial numbers as dead. The reset gets a number too, so that save points of an empty
 * arena become stale as well. */
static inline void ab_block_forget_all(struct ab_block_list *list)
{
    list->covers = list->reset = ++list->serial;
}

/* Shortens the youngest block to end at `end` again, because it may have grown since the save
 * point. */
static inline void ab_block_cut_short(struct ab_block_list *list, const char *begin,
                                      const char *end)
{
    if (list->top == NULL)
        return;
    char *block = (char *)(list->top + 1);
    if (block >= begin && block + AB_BLOCK_TAIL <= end &&
        block + list->top->size + AB_BLOCK_TAIL > end)
        ab_block_set_size(block, (size_t)(end - block) - AB_BLOCK_TAIL, AB_BLOCK_TAIL);
}

/* Ends the process if [from, to), which may be empty, was written to since it was filled with
 * AB_GUARD_DEAD. Does nothing with ASan or Valgrind, which report the write itself. */
__attribute__((no_sanitize_address)) static inline void ab_block_demand_dead(
    const struct ab_block_list *list, const char *from, const char *to)
{
    if (AB_MARKS)
        return;
    const uint64_t dead = UINT64_C(0xDDDDDDDDDDDDDDDD);
    uint64_t word = dead;
    while (to - from >= (ptrdiff_t)sizeof word && memcpy(&word, from, sizeof word) && word == dead)
        from += sizeof word;
    for (; from < to; from++) {
        if ((unsigned char)*from == AB_GUARD_DEAD)
            continue;
        const struct ab_block_death *of = ab_block_death_at(list, from);
        ab_guard_end_at(list->name, of != NULL ? of->block : from, AB_SAYS_WRITTEN,
                        of != NULL ? from - of->block : AB_GUARD_NOWHERE, of);
    }
}

/* ---- blocks of allocators that free single blocks ---- */

enum { AB_CHECKED_LEAKS_MAX = 16 }; /* maximum number of leaks that are listed */

/* Returns the bytes before a block of this alignment. Alignments up to 16, and 0, are like
 * malloc's. */
static inline size_t ab_checked_lead(size_t align)
{
    return align <= AB_BLOCK_FRONT ? AB_BLOCK_FRONT : align;
}

/* Returns the bytes to request from the allocator for a block. On overflow returns SIZE_MAX, a
 * request that every allocator refuses. */
static inline size_t ab_checked_bytes(size_t align, size_t size)
{
    bool is_absurd = size > PTRDIFF_MAX / 4 || align > UINT32_MAX / 2;
    return is_absurd ? SIZE_MAX : ab_checked_lead(align) + size + AB_BLOCK_TAIL;
}

/* Creates a block in raw memory, which must not be NULL. The block is in no list. Memory before the
 * head is filled with 0xDD as long as the block lives. */
static inline void *ab_checked_wrap(uint32_t list_id, void *raw, size_t align, size_t size,
                                    size_t tail)
{
    size_t lead = ab_checked_lead(align);
    if (!AB_MARKS)
        memset(raw, AB_GUARD_DEAD, lead - AB_BLOCK_FRONT);
    return ab_block_make(list_id, (char *)raw + lead, size, tail, lead) + 1;
}

/* Creates a block like ab_checked_wrap, fills it, and marks it for ASan and Valgrind. All raw_bytes
 * except the block belong to the head and the canary. */
static inline void *ab_checked_make(uint32_t list_id, void *raw, size_t align, size_t size,
                                    size_t raw_bytes)
{
    size_t lead = ab_checked_lead(align);
    char *block = (char *)raw + lead;
    AB_MARK_UNUSED(raw, lead + size + AB_BLOCK_TAIL);
    AB_MARK_FRESH(block, size);
    AB_MARK_DEFINED(ab_block_head_of(block), AB_BLOCK_FRONT);
    ab_checked_wrap(list_id, raw, align, size, ab_block_tail(raw_bytes - lead - size));
    if (!AB_MARKS) /* ASan and Valgrind must see the memory as not written yet */
        memset(block, AB_GUARD_NEW, size);
    return block;
}

/* Creates a block like ab_checked_make and puts it into the list. Returns NULL if raw is NULL. */
static inline void *ab_checked_begin(struct ab_block_list *list, void *raw, size_t align,
                                     size_t size, size_t raw_bytes)
{
    if (raw == NULL)
        return NULL;
    void *block = ab_checked_make(list->id, raw, align, size, raw_bytes);
    ab_block_enter(list, ab_block_head_of(block));
    return block;
}

/* Checks a block like ab_block_look_at, and also the memory before its head. */
static inline void ab_checked_look_at(const char *name, const struct ab_block_head *head)
{
    ab_block_look_at(name, head);
    const unsigned char *block = (const unsigned char *)(head + 1), *at = block - head->covers;
    if (AB_MARKS)
        return;
    for (; at < (const unsigned char *)head; at++)
        if (*at != AB_GUARD_DEAD)
            ab_guard_end_at(name, block, AB_SAYS_UNDERFLOW, at - block, NULL);
}

/* True if `block` is in the list, though its head was overwritten; for the message only. Searches
 * up to the next overwritten head. */
static inline bool ab_checked_lists(const struct ab_block_list *list, const void *block)
{
    const struct ab_block_head *head = list->top;
    while (head != NULL && head + 1 != block && head->canary == AB_GUARD_FRONT)
        head = head->below;
    return head != NULL && head + 1 == block;
}

/* Ends the process unless `block` is a live block and nothing around it was overwritten. is_inside:
 * the block is in memory of this heap, so that the head before it may be read. */
__attribute__((no_sanitize_address)) static inline void ab_checked_demand(
    const struct ab_block_list *list, const void *block, bool is_inside)
{
    const struct ab_block_head *head = ab_block_head_of(block);
    bool is_aligned = ((uintptr_t)block & 15) == 0;
    if (!is_inside || (is_aligned && head->list_id == AB_GUARD_DEAD_ID)) {
        const struct ab_block_death *death = ab_block_death_at(list, block);
        if (!is_inside && (death == NULL || death->block != block))
            ab_guard_end(list->name, block, AB_SAYS_FOREIGN);
        ab_guard_end_at(list->name, block, AB_SAYS_FREED, AB_GUARD_NOWHERE, death);
    }
    if (!is_aligned || head->list_id != list->id || head->canary != AB_GUARD_FRONT) {
        if (is_aligned && ab_checked_lists(list, block))
            ab_block_demand_head(list->name, head);
        ab_guard_end(list->name, block, AB_SAYS_NO_BLOCK);
    }
    ab_checked_look_at(list->name, head);
}

/* Checks a block like ab_checked_demand, without a list. A raw block must begin `lead` bytes before
 * the block. */
__attribute__((no_sanitize_address)) static inline void ab_checked_demand_alone(const char *name,
                                                                                uint32_t list_id,
                                                                                const void *block,
                                                                                size_t lead)
{
    const struct ab_block_head *head = ab_block_head_of(block);
    if (head->list_id == AB_GUARD_DEAD_ID)
        ab_guard_end(name, block, AB_SAYS_FREED);
    if (head->list_id != list_id && head->canary != AB_GUARD_FRONT)
        ab_guard_end(name, block, AB_SAYS_NO_BLOCK);
    ab_block_demand_head(name, head);
    if (head->list_id != list_id || head->covers != lead)
        ab_guard_end(name, block, AB_SAYS_NO_BLOCK);
    ab_checked_look_at(name, head);
}

/* Returns the requested size of a live block. */
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
    struct ab_block_death facts = ab_block_facts(ab_block_head_of(block));
    if (facts.size != size)
        ab_guard_end_at(list->name, block, AB_SAYS_SIZE, AB_GUARD_NOWHERE, &facts);
}

/* Ends the life of a block: takes it out of the list and fills all raw_bytes with 0xDD. Returns the
 * raw block, which may be given to the allocator. */
static inline char *ab_checked_end(struct ab_block_list *list, void *block, size_t raw_bytes)
{
    char *raw = ab_checked_raw(block);
    ab_block_note_death(list, ab_block_head_of(block));
    ab_block_take_out(list, ab_block_head_of(block));
    AB_MARK_DEFINED(raw, raw_bytes);
    memset(raw, AB_GUARD_DEAD, raw_bytes);
    return raw;
}

/* Sets the size of a block in place and marks the bytes that it gains or loses. raw_bytes: all
 * bytes that the block takes from now on. */
static inline void ab_checked_set_size(void *block, size_t new_size, size_t raw_bytes)
{
    size_t old_size = ab_checked_size(block), lead = ab_block_head_of(block)->covers;
    char *kept = (char *)block + (old_size < new_size ? old_size : new_size);
    ab_block_set_size(block, new_size, ab_block_tail(raw_bytes - lead - new_size));
    if (new_size > old_size) {
        AB_MARK_FRESH(kept, new_size - old_size);
        if (!AB_MARKS)
            memset(kept, AB_GUARD_NEW, new_size - old_size);
    } else {
        AB_MARK_UNUSED(kept, old_size - new_size);
    }
}

/* Checks and lists all live blocks when a heap is closed, the youngest first. `what` is a text like
 * "never freed". */
static inline void ab_checked_leaks(const struct ab_block_list *list, const char *what)
{
    struct ab_block_death more = {NULL, 0, NULL, NULL};
    size_t n = 0;
    for (const struct ab_block_head *head = list->top; head != NULL; head = head->below) {
        struct ab_block_death facts = ab_block_facts(head);
        ab_checked_look_at(list->name, head);
        if (n++ < AB_CHECKED_LEAKS_MAX)
            ab_guard_note(list->name, head + 1, what, &facts);
        else
            more.size += head->size;
    }
    if (n > AB_CHECKED_LEAKS_MAX)
        ab_guard_note(list->name, list, "and older ones, together", &more);
}

/* ---- around a whole allocator: back ends with debug=on ---- */

/* The allocator whose blocks get canaries; `heap` is the first argument of its functions. */
struct ab_guard_below {
    const char *name;
    void *(*alloc)(void *heap, size_t align, size_t size, bool is_zeroed);
    void (*free)(void *heap, void *raw);
    bool (*owns)(void *heap, const void *raw);
};

enum { AB_GUARD_ID = 1 }; /* an id that no list has */

static inline void *ab_guard_alloc(const struct ab_guard_below *below, void *heap, size_t align,
                                   size_t size, bool is_zeroed)
{
    size_t bytes = ab_checked_bytes(align, size);
    void *raw = below->alloc(heap, align, bytes, false);
    if (raw == NULL)
        return NULL;
    void *block = ab_checked_wrap(AB_GUARD_ID, raw, align, size, AB_BLOCK_TAIL);
    return memset(block, is_zeroed ? 0 : AB_GUARD_NEW, size);
}

/* Ends the process unless the block is intact. Its raw block begins at one of a few addresses
 * before it, one for each power of two. These are tried before anything is read, because a foreign
 * pointer may be invalid. */
static inline void ab_guard_demand(const struct ab_guard_below *below, void *heap,
                                   const void *block)
{
    size_t lead = AB_BLOCK_FRONT, most = (size_t)1 << 31;
    while (lead <= most && lead <= (uintptr_t)block &&
           !below->owns(heap, (const char *)block - lead))
        lead *= 2;
    if (lead > most || lead > (uintptr_t)block)
        ab_guard_end(below->name, block, AB_SAYS_FOREIGN);
    ab_checked_demand_alone(below->name, AB_GUARD_ID, block, lead);
}

static inline void ab_guard_free(const struct ab_guard_below *below, void *heap, void *block)
{
    if (block == NULL)
        return;
    ab_guard_demand(below, heap, block);
    char *raw = ab_checked_raw(block);
    memset(raw, AB_GUARD_DEAD,
           (size_t)((char *)block - raw) + ab_checked_size(block) + ab_block_head_of(block)->tail);
    below->free(heap, raw);
}

/* Always moves the block, so that uses of the old place read poison. Checks the old block before it
 * allocates the new one. Otherwise a block that was freed already could be handed out again, with
 * new canaries, and look like a live block. */
static inline void *ab_guard_resize(const struct ab_guard_below *below, void *heap, void *block,
                                    size_t new_size)
{
    ab_guard_demand(below, heap, block);
    size_t old_size = ab_checked_size(block);
    void *copy = ab_guard_alloc(below, heap, 0, new_size, false);
    if (copy == NULL)
        return NULL;
    memcpy(copy, block, old_size < new_size ? old_size : new_size);
    ab_guard_free(below, heap, block);
    return copy;
}

/* Defines functions of the checked build that are the same for all allocators that free single
 * blocks: free_sized, reset and fini. `says` is the name of the allocator in messages. demand(heap,
 * block) ends the process unless the block lives. end_block(heap, block) fills it with poison and
 * takes it out of the list. */
#define AB_CHECKED_DEFINE(name, type, says, demand, end_block) \
    void name##_free_sized(type *heap, void *block, size_t size) \
    { \
        AB_CHECKED_CALL(heap, says); \
        if (block == NULL) \
            return; \
        demand(heap, block); \
        ab_checked_demand_size(&heap->blocks, block, size); \
        name##_free(heap, block); \
    } \
    void name##_reset(type *heap) \
    { \
        AB_CHECKED_CALL(heap, says); \
        while (heap->blocks.top != NULL) { \
            demand(heap, heap->blocks.top + 1); \
            end_block(heap, heap->blocks.top + 1); \
        } \
        name##_plain_reset(heap); \
    } \
    void name##_fini(type *heap) \
    { \
        (void)ab_block_call_begin(heap == NULL ? NULL : &heap->blocks, says, NULL); \
        ab_checked_leaks(&heap->blocks, "never freed"); \
        name##_plain_fini(heap); \
    }

#ifdef __cplusplus
}
#endif

#endif
