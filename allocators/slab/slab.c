/* SPDX-License-Identifier: MIT
 *
 * The slab allocator outside of its fast paths: where slabs come from and go to, and large blocks.
 * Each slab in use is in one list of its class, `full` or `partial`, so that a class can be emptied
 * without looking at the others. `n_out` of a slab also counts blocks that are hot or not carved
 * yet. So the fast paths touch the record only to put a block back into its slab.
 */
#include "slab.h"

#include "../common/checked.h"
#include "../common/lock.h"
#include "../common/pages.h"
#include "size_class.h"

#include <errno.h>
#include <string.h>

static const size_t first_commit_slabs = 16, largest_commit_slabs = 1024;
static const size_t least_usual_bytes = (size_t)64 << 20;
enum { HOT_MAX = 64, HOT_BYTES = 16 << 10 };

AB_STATIC_ASSERT(sizeof(struct ab_slab) == 32, "two records a cache line");
AB_STATIC_ASSERT(sizeof(struct ab_slab_class) == 64, "a class is a cache line");

/* ---- blocks larger than AB_SLAB_LARGEST ----
 *
 * Each is a mapping, with its record just before the block. All are in a list, so that a reset
 * finds them. Growing moves pages, not bytes. Mappings of freed blocks are kept up to a bound, with
 * one bin per number of pages. A new mapping costs two system calls and a fault per page: 5 us for
 * 8 KiB. */

enum { LEAD_BYTES = 64 }; /* room for the record; a block begins one cache line into its pages */

AB_STATIC_ASSERT(sizeof(struct ab_slab_large) <= LEAD_BYTES, "the record fits");

static struct ab_slab_large *large_record(const void *block)
{
    return (struct ab_slab_large *)(uintptr_t)block - 1;
}

static size_t large_usable(const struct ab_slab_large *r)
{
    return (size_t)(r->map + r->map_bytes - (const char *)(r + 1));
}

/* Unmaps memory. Clears its marks before, because the next mapping may be at the same address. */
static void large_give_back(char *map, size_t map_bytes)
{
    AB_MARK_DEFINED(map, map_bytes);
    ab_pages_release(map, map_bytes);
}

/* Writes the record of a mapping and puts it into the list. Returns the block after the record. */
static void *large_enter(struct ab_slabs *s, struct ab_slab_large *r, char *map, size_t map_bytes)
{
    struct ab_slab_large record = {NULL, s->large, s, map, map_bytes};
    *r = record;
    s->large = r;
    if (r->next != NULL)
        r->next->prev = r;
    s->n_large++;
    s->large_bytes += large_usable(r);
    s->large_map_bytes += r->map_bytes;
    return r + 1;
}

static void large_leave(struct ab_slabs *s, struct ab_slab_large *r)
{
    if (r->prev != NULL)
        r->prev->next = r->next;
    else
        s->large = r->next;
    if (r->next != NULL)
        r->next->prev = r->prev;
    s->n_large--;
    s->large_bytes -= large_usable(r);
    s->large_map_bytes -= r->map_bytes;
}

/* Returns this heap's share of a limit `all` for all heaps that share it. */
static size_t share_of(const struct ab_slabs *s, size_t all)
{
    uint32_t n = s->n_sharing == NULL ? 1 : __atomic_load_n(s->n_sharing, __ATOMIC_RELAXED);
    return n <= 1 ? all : all / n + (all % n != 0);
}

static bool large_keep(struct ab_slabs *s, char *map, size_t map_bytes)
{
    size_t bin = map_bytes / ab_page_size() - 1, most = share_of(s, s->spare_max_bytes);
    if (bin >= AB_SLAB_SPARE_PAGES || s->spare_bytes > most || map_bytes > most - s->spare_bytes)
        return false;
    struct ab_slab_large *r = large_record(map + LEAD_BYTES);
    struct ab_slab_large record = {NULL, s->spare[bin], NULL, map, map_bytes};
    *r = record;
    AB_CHECKED(AB_MARK_DEFINED(r + 1, map_bytes - LEAD_BYTES));
    AB_CHECKED(memset((void *)(r + 1), AB_GUARD_DEAD, map_bytes - LEAD_BYTES));
    AB_CHECKED(AB_MARK_UNUSED(r + 1, map_bytes - LEAD_BYTES));
    s->spare[bin] = r;
    s->spare_mask |= UINT64_C(1) << bin;
    s->spare_bytes += map_bytes;
    return true;
}

static struct ab_slab_large *large_take_from(struct ab_slabs *s, unsigned bin)
{
    struct ab_slab_large *r = s->spare[bin];
    s->spare[bin] = r->next;
    if (r->next == NULL)
        s->spare_mask &= ~(UINT64_C(1) << bin);
    s->spare_bytes -= r->map_bytes;
    AB_CHECKED(ab_block_demand_dead(&s->blocks, (char *)(r + 1), r->map + r->map_bytes));
    return r;
}

/* Takes the smallest spare mapping of at least map_bytes and less than twice that; NULL if there is
 * none. */
static struct ab_slab_large *large_take_spare(struct ab_slabs *s, size_t map_bytes)
{
    size_t least = map_bytes / ab_page_size() - 1;
    if (least >= AB_SLAB_SPARE_PAGES || s->spare_mask >> least == 0)
        return NULL;
    size_t bin = least + (unsigned)__builtin_ctzll(s->spare_mask >> least);
    return bin <= 2 * least ? large_take_from(s, (unsigned)bin) : NULL;
}

static void large_purge(struct ab_slabs *s)
{
    while (s->spare_mask != 0) {
        struct ab_slab_large *r = large_take_from(s, (unsigned)__builtin_ctzll(s->spare_mask));
        s->n_os_calls++;
        ab_lock_let_go(s->mutex);
        large_give_back(r->map, r->map_bytes);
        ab_lock_take_back(s->mutex);
    }
}

/* Maps a large block. However the block is aligned, only one page before it is kept. */
static void *large_map(struct ab_slabs *s, size_t align, size_t lead, size_t map_bytes)
{
    size_t page = ab_page_size(), spared = lead > page ? lead - page : 0;
    lead -= spared;
    map_bytes -= spared;
    ab_lock_let_go(s->mutex);
    char *map = (char *)ab_pages_map_after(spared > 0 ? lead : 0, map_bytes, align);
    ab_lock_take_back(s->mutex);
    if (map == NULL)
        return NULL;
    s->n_os_calls += spared > 0 ? 3 : 1;
    return large_enter(s, large_record(map + lead), map, map_bytes);
}

static void *large_alloc(struct ab_slabs *s, size_t align, size_t size, bool zeroed)
{
    size_t page = ab_page_size(), lead = align > LEAD_BYTES ? align : (size_t)LEAD_BYTES;
    if (size > PTRDIFF_MAX / 2 || lead > PTRDIFF_MAX / 4)
        return NULL;
    size_t map_bytes = ab_round_up(lead + size + (size == 0), page); /* size 0 takes one byte */
    struct ab_slab_large *spare = lead <= page ? large_take_spare(s, map_bytes) : NULL;
    void *block;
    if (spare != NULL) {
        AB_MARK_DEFINED(spare->map, spare->map_bytes);
        block = large_enter(s, large_record(spare->map + lead), spare->map, spare->map_bytes);
    } else {
        block = large_map(s, align, lead, map_bytes);
    }
    if (block == NULL)
        return NULL;
    AB_MARK_UNUSED(block, large_usable(large_record(block)));
    AB_MARK_ALLOC(s, block, size);
    if (zeroed)
        AB_MARK_DEFINED(block, size);
    return zeroed && spare != NULL ? memset(block, 0, size) : block;
}

static void large_drop(struct ab_slabs *s, struct ab_slab_large *r)
{
    char *map = r->map;
    size_t map_bytes = r->map_bytes;
    large_leave(s, r);
    AB_MARK_UNUSED(r + 1, large_usable(r));
    /* the share has become smaller, because more heaps were opened */
    if (s->spare_bytes > share_of(s, s->spare_max_bytes))
        large_purge(s);
    if (large_keep(s, map, map_bytes))
        return;
    s->n_os_calls++;
    ab_lock_let_go(s->mutex);
    large_give_back(map, map_bytes);
    ab_lock_take_back(s->mutex);
}

static bool large_owns(const struct ab_slabs *s, const void *p)
{
    const struct ab_slab_large *r = s->large;
    while (r != NULL && (const void *)(r + 1) != p)
        r = r->next;
    return r != NULL;
}

void ab_slabs_large_free(struct ab_slabs *s, void *block)
{
    if (block == NULL)
        return;
    AB_MARK_EXPECT(block, large_owns(s, block));
    AB_MARK_FREE(s, block, 0);
    large_drop(s, large_record(block));
}

size_t ab_slabs_large_usable(const void *block)
{
    return large_usable(large_record(block));
}

/* ---- open and close ---- */

static size_t records_bytes(size_t span_bytes)
{
    return ab_round_up((span_bytes >> AB_SLAB_LOG2) * sizeof(struct ab_slab), ab_page_size());
}

/* Sets how many more blocks may become hot, and the bytes of all hot blocks then. `n_taken` blocks
 * are hot now. */
static void renew_hot(struct ab_slab_class *c, size_t n_taken)
{
    size_t n = HOT_BYTES / c->bytes;
    c->room = n < HOT_MAX ? (uint32_t)n : (uint32_t)HOT_MAX;
    c->full_bytes = (c->room + n_taken) * c->bytes;
}

/* Returns the class size after `bytes`. All sizes but the first are multiples of 16. */
static size_t class_after(size_t bytes, enum ab_slab_spacing spacing)
{
    if (spacing == AB_SLAB_POW2 || bytes == 8)
        return 2 * bytes;
    return ab_size_class_bytes(ab_size_class_of(bytes) + 1);
}

static void make_classes(struct ab_slabs *s, enum ab_slab_spacing spacing)
{
    size_t filled = 0; /* number of entries of class_of that are set */
    for (size_t bytes = 8; bytes <= AB_SLAB_LARGEST; bytes = class_after(bytes, spacing)) {
        struct ab_slab_class *c = &s->classes[s->n_classes];
        c->bytes = (uint32_t)bytes;
        renew_hot(c, 0);
        for (; filled <= bytes / 8; filled++)
            s->class_of[filled] = s->n_classes;
        s->n_classes++;
    }
}

/* Returns the limit for the value of an option: 0 means `usual`, AB_SLAB_KEEP_NOTHING means 0. */
static size_t bound_of(size_t option, size_t usual)
{
    return option == 0 ? usual : option == AB_SLAB_KEEP_NOTHING ? 0 : option;
}

/* Reserves addresses for *span bytes. If no option gives the size, halves *span each time the
 * system refuses. Returns NULL and sets errno on failure. */
static char *reserve_span(const struct ab_slabs_options *o, size_t *span)
{
    size_t unit = o->huge ? AB_HUGE_PAGE_BYTES : AB_SLAB_BYTES;
    char *base = o->range != NULL ? o->range : (char *)ab_pages_reserve(*span, unit);
    while (base == NULL && o->reserve_bytes == 0 && *span > least_usual_bytes)
        base = (char *)ab_pages_reserve(*span /= 2, unit);
    return base;
}

/* Maps the records. Returns NULL and sets *error on failure. */
static struct ab_slab *map_records(size_t span_bytes, int *error)
{
    struct ab_slab *records = (struct ab_slab *)ab_pages_map(records_bytes(span_bytes), 0);
    if (records == NULL)
        *error = errno;
    return records;
}

int AB_SLABS_PLAIN(init)(struct ab_slabs *slabs, const struct ab_slabs_options *options)
{
    size_t reserve = options->reserve_bytes == 0 ? AB_SLAB_RESERVE_USUAL : options->reserve_bytes;
    if (reserve > PTRDIFF_MAX || (options->range != NULL && options->reserve_bytes == 0))
        return ENOMEM;
    size_t span = ab_round_up(reserve, AB_SLAB_BYTES);
    char *base = reserve_span(options, &span);
    if (base == NULL)
        return errno;
    int error = options->huge ? ab_pages_want_huge(base, span) : 0;
    struct ab_slab *records = error == 0 ? map_records(span, &error) : NULL;
    if (records == NULL) {
        if (options->range == NULL)
            ab_pages_release(base, span);
        return error;
    }
    memset(slabs, 0, sizeof *slabs);
    slabs->base = base;
    slabs->span_bytes = span;
    slabs->is_range_given = options->range != NULL;
    slabs->slabs = records;
    slabs->keep_max = bound_of(options->keep_max, AB_SLAB_KEEP_USUAL);
    slabs->spare_max_bytes = bound_of(options->spare_max_bytes, AB_SLAB_SPARE_USUAL);
    slabs->huge = options->huge;
    slabs->n_os_calls = (options->range != NULL ? 1u : 2u) + options->huge;
    make_classes(slabs, options->spacing);
    AB_MARK_POOL_CREATE(slabs);
    return 0;
}

void AB_SLABS_PLAIN(fini)(struct ab_slabs *slabs)
{
    AB_MARK_POOL_DESTROY(slabs);
    while (slabs->large != NULL)
        large_drop(slabs, slabs->large);
    large_purge(slabs);
    AB_MARK_DEFINED(slabs->base, slabs->n_fresh << AB_SLAB_LOG2);
    if (!slabs->is_range_given)
        ab_pages_release(slabs->base, slabs->span_bytes);
    ab_pages_release(slabs->slabs, records_bytes(slabs->span_bytes));
    memset(slabs, 0, sizeof *slabs);
}

/* ---- slabs ---- */

static char *slab_base(const struct ab_slabs *s, const struct ab_slab *slab)
{
    return s->base + ((size_t)(slab - s->slabs) << AB_SLAB_LOG2);
}

static void push(struct ab_slab **list, struct ab_slab *slab)
{
    slab->prev = NULL;
    slab->next = *list;
    if (*list != NULL)
        (*list)->prev = slab;
    *list = slab;
}

static void take_out(struct ab_slab **list, struct ab_slab *slab)
{
    if (slab->prev != NULL)
        slab->prev->next = slab->next;
    else
        *list = slab->next;
    if (slab->next != NULL)
        slab->next->prev = slab->prev;
}

static struct ab_slab *pop(struct ab_slab **list)
{
    struct ab_slab *slab = *list;
    take_out(list, slab);
    return slab;
}

/* Commits more slabs, as many as are committed already. Returns false if the system refuses. Other
 * threads may commit the same slabs at the same time, which does no harm. */
static bool commit(struct ab_slabs *s)
{
    size_t from = s->n_committed, room = (s->span_bytes >> AB_SLAB_LOG2) - from, n = from;
    size_t least = s->huge ? AB_HUGE_PAGE_BYTES >> AB_SLAB_LOG2 : first_commit_slabs;
    n = n < least ? least : n;
    n = n > largest_commit_slabs ? largest_commit_slabs : n;
    n = n > room ? room : n;
    if (n == 0)
        return false;
    ab_lock_let_go(s->mutex);
    int error = ab_pages_commit(s->base + (from << AB_SLAB_LOG2), n << AB_SLAB_LOG2);
    ab_lock_take_back(s->mutex);
    s->n_os_calls++;
    if (error == 0 && s->n_committed < from + n)
        s->n_committed = from + n;
    return error == 0;
}

static struct ab_slab *take_empty(struct ab_slabs *s)
{
    if (s->kept != NULL) {
        s->n_kept--;
        return pop(&s->kept);
    }
    if (s->returned != NULL) {
        s->n_returned--;
        return pop(&s->returned);
    }
    if (s->n_fresh == s->n_committed)
        return NULL;
    struct ab_slab *slab = &s->slabs[s->n_fresh++];
    slab->is_zero = true;
    return slab;
}

static void give_pages_back(struct ab_slabs *s, struct ab_slab *slab)
{
    push(&s->leaving, slab);
    if (s->mutex == NULL)
        ab_slabs_let_go(s);
}

void ab_slabs_let_go(struct ab_slabs *s)
{
    struct ab_slab *list = s->leaving;
    s->leaving = NULL;
    ab_lock_let_go(s->mutex);
    for (struct ab_slab *slab = list; slab != NULL; slab = slab->next)
        slab->is_zero = ab_pages_discard(slab_base(s, slab), AB_SLAB_BYTES) == 0;
    ab_lock_take_back(s->mutex);
    while (list != NULL) {
        push(&s->returned, pop(&list));
        s->n_returned++;
        s->n_os_calls++;
    }
}

/* Ends the process if dead memory of the slab was written to; only in the checked build. All of a
 * used slab is filled with 0xDD, except live blocks and the links at the beginning of dead ones. */
static void slab_demand_dead(const struct ab_slabs *s, const struct ab_slab *slab)
{
    (void)s, (void)slab;
#ifdef AB_WITH_CHECKS
    const char *base = slab_base(s, slab);
    size_t bytes = s->classes[slab->class_index].bytes;
    for (size_t at = 0; at + bytes <= AB_SLAB_BYTES; at += bytes)
        ab_block_demand_dead(&s->blocks, base + at + sizeof(struct ab_slab_block),
                             base + at + bytes);
#endif
}

static void slab_bury(const struct ab_slabs *s, const struct ab_slab *slab)
{
    (void)s, (void)slab;
#ifdef AB_WITH_CHECKS
    if (!slab->is_zero) /* its pages still have the contents of its last class */
        slab_demand_dead(s, slab);
    AB_MARK_DEFINED(slab_base(s, slab), AB_SLAB_BYTES);
    memset(slab_base(s, slab), AB_GUARD_DEAD, AB_SLAB_BYTES);
#endif
}

/* Turns a slab into an empty one. The slab must be in no list, and none of its blocks may be in
 * use. */
static void retire(struct ab_slabs *s, struct ab_slab *slab)
{
    slab_demand_dead(s, slab);
    slab->free = NULL;
    slab->n_out = 0; /* the value of slabs that were never used */
    slab->is_zero = false;
    AB_MARK_UNUSED(slab_base(s, slab), AB_SLAB_BYTES);
    push(&s->kept, slab);
    s->n_kept++;
    for (size_t most = share_of(s, s->keep_max); s->n_kept > most; s->n_kept--)
        give_pages_back(s, pop(&s->kept));
}

/* ---- classes ---- */

static size_t hot_bytes(const struct ab_slab_class *c)
{
    return c->full_bytes - (size_t)c->room * c->bytes;
}

static size_t live_bytes(const struct ab_slab_class *c)
{
    return c->out_bytes - (size_t)(c->limit - c->next) - hot_bytes(c);
}

/* Counts all blocks of the slab as outside of its list. Returns the number of blocks that were in
 * it. */
static size_t take_all(struct ab_slab_class *c, struct ab_slab *slab)
{
    size_t n = AB_SLAB_BYTES / c->bytes, n_taken = n - slab->n_out;
    slab->n_out = (uint16_t)n;
    slab->free = NULL;
    c->out_bytes += n_taken * c->bytes;
    push(&c->full, slab);
    return n_taken;
}

static void take_partial(struct ab_slab_class *c)
{
    struct ab_slab *slab = pop(&c->partial);
    c->hot = slab->free;
    renew_hot(c, take_all(c, slab));
}

static void take_fresh(struct ab_slabs *s, struct ab_slab_class *c, struct ab_slab *slab)
{
    slab_bury(s, slab);
    slab->class_index = (uint8_t)(c - s->classes);
    c->next = slab_base(s, slab);
    c->limit = c->next + take_all(c, slab) * c->bytes;
    AB_MARK_UNUSED(c->next, AB_SLAB_BYTES);
}

/* Finds memory when there is no hot block and nothing to carve. After every step that releases the
 * lock, starts again from the beginning. */
__attribute__((noinline)) void *ab_slabs_alloc_slow(struct ab_slabs *s, struct ab_slab_class *c,
                                                    size_t size)
{
    renew_hot(c, 0);
    if (s->collect != NULL && s->collect(s))
        return ab_slabs_alloc_from(s, c, size);
    if (c->partial != NULL) {
        take_partial(c);
        return ab_slabs_alloc_from(s, c, size);
    }
    struct ab_slab *slab = take_empty(s);
    if (slab != NULL)
        take_fresh(s, c, slab);
    else if (!commit(s))
        return NULL;
    return ab_slabs_alloc_from(s, c, size);
}

/* Makes all slabs of the class empty. Its blocks are dead, or die now. */
static void empty_class(struct ab_slabs *s, struct ab_slab_class *c)
{
    struct ab_slab *full = c->full, *partial = c->partial;
    c->hot = NULL;
    c->full = c->partial = NULL;
    c->next = c->limit = NULL;
    c->out_bytes = 0;
    renew_hot(c, 0);
    while (full != NULL)
        retire(s, pop(&full));
    while (partial != NULL)
        retire(s, pop(&partial));
}

/* True if the class has exactly one slab. The class keeps it, so that its last block can be freed
 * and allocated repeatedly without moving the slab. */
static bool holds_one(const struct ab_slab_class *c)
{
    const struct ab_slab *full = c->full, *partial = c->partial;
    return full == NULL ? partial == NULL || partial->next == NULL
                        : full->next == NULL && partial == NULL;
}

/* Moves a slab between the lists of its class after a free. Called if the slab's own list was empty
 * before, if now all of its blocks are in that list, or if no block of the class is live. */
__attribute__((noinline)) void ab_slabs_settle(struct ab_slabs *s, struct ab_slab *slab)
{
    struct ab_slab_class *c = &s->classes[slab->class_index];
    if (slab->n_out == 0) {
        take_out(&c->partial, slab);
        retire(s, slab);
    } else if (ab_slab_next(slab->free) == NULL) {
        take_out(&c->full, slab);
        push(&c->partial, slab);
    }
    if (live_bytes(c) == 0 && !holds_one(c))
        empty_class(s, c);
}

/* ---- requests outside of the fast path ---- */

__attribute__((noinline)) void *ab_slabs_alloc_odd(struct ab_slabs *s, size_t size)
{
    if (size == 0)
        return AB_SLABS_PLAIN(alloc)(s, 1);
    if (s->collect != NULL)
        s->collect(s);
    return large_alloc(s, 0, size, false);
}

/* Allocates from the first class whose size is a multiple of `align`. Its blocks are aligned,
 * because a slab begins at a multiple of every alignment of a class. */
void *AB_SLABS_PLAIN(alloc_aligned)(struct ab_slabs *s, size_t align, size_t size)
{
    if (align == 0 || (align & (align - 1)) != 0)
        return NULL;
    if (align > AB_SLAB_LARGEST || size > AB_SLAB_LARGEST)
        return large_alloc(s, align, size, false);
    struct ab_slab_class *c = ab_slab_class_of(s, size > align ? size : align);
    while (c->bytes % align != 0)
        c++;
    return ab_slabs_alloc_from(s, c, size);
}

#ifndef AB_WITH_CHECKS

void *ab_slabs_alloc_zeroed(struct ab_slabs *s, size_t size)
{
    if (size - 1 >= AB_SLAB_LARGEST)
        return size == 0 ? ab_slabs_alloc_zeroed(s, 1) : large_alloc(s, 0, size, true);
    struct ab_slab_class *c = ab_slab_class_of(s, size);
    /* c->next changes when the block is carved, or when another thread allocates (with a lock) */
    const char *next = c->next;
    void *block = ab_slabs_alloc_from(s, c, size);
    if (block == NULL)
        return NULL;
    AB_MARK_DEFINED(block, size);
    if (c->next == next || s->mutex != NULL || !ab_slab_of(s, block)->is_zero)
        memset(block, 0, size);
    return block;
}

/* Moves a large block on systems that cannot move mappings: copies the bytes from `lead` on to a
 * new mapping. */
static char *large_copy(char *old, size_t old_bytes, size_t map_bytes, size_t lead)
{
    char *map = (char *)ab_pages_map(map_bytes, 0);
    if (map == NULL)
        return NULL;
    memcpy(map + lead, old + lead, (old_bytes < map_bytes ? old_bytes : map_bytes) - lead);
    large_give_back(old, old_bytes);
    return map;
}

static void *large_move(struct ab_slabs *s, struct ab_slab_large *r, size_t map_bytes)
{
    size_t lead = (size_t)((char *)(r + 1) - r->map), old_bytes = r->map_bytes;
    char *old = r->map;
    large_leave(s, r);
    ab_lock_let_go(s->mutex);
    char *map = (char *)ab_pages_remap(old, old_bytes, map_bytes);
    bool is_moved = map != NULL;
    if (!is_moved)
        map = large_copy(old, old_bytes, map_bytes, lead);
    ab_lock_take_back(s->mutex);
    s->n_os_calls += is_moved ? 1 : 2;
    if (map == NULL) {
        large_enter(s, r, old, old_bytes);
        return NULL;
    }
    return large_enter(s, large_record(map + lead), map, map_bytes);
}

static void large_mark(struct ab_slabs *s, void *block)
{
    size_t bytes = large_usable(large_record(block));
    (void)s, (void)bytes;
    AB_MARK_ALLOC(s, block, bytes);
    AB_MARK_DEFINED(block, bytes);
}

/* Resizes a large block. new_size must be larger than AB_SLAB_LARGEST. */
static void *large_resize(struct ab_slabs *s, void *block, size_t new_size)
{
    struct ab_slab_large *r = large_record(block);
    size_t lead = (size_t)((char *)block - r->map), old_usable = large_usable(r);
    if (new_size > PTRDIFF_MAX / 2)
        return NULL;
    size_t map_bytes = ab_round_up(lead + new_size, ab_page_size());
    AB_MARK_FREE(s, block, 0);
    AB_MARK_DEFINED(block, old_usable);
    bool stays = map_bytes <= r->map_bytes && map_bytes > r->map_bytes / 2;
    void *moved = stays ? block : large_move(s, r, map_bytes);
    large_mark(s, moved != NULL ? moved : block);
    return moved != NULL ? moved : new_size <= old_usable ? block : NULL;
}

void *ab_slabs_resize(struct ab_slabs *s, void *block, size_t old_size, size_t new_size)
{
    bool is_small = ab_slabs_is_small(s, block);
    AB_MARK_EXPECT(block, AB_SLABS_PLAIN(owns)(s, block));
    size_t usable = AB_SLABS_PLAIN(usable)(s, block);
    if (is_small && new_size <= usable &&
        (new_size == 0 || ab_slab_class_of(s, new_size)->bytes == usable)) {
        AB_MARK_RESIZE(s, block, usable);
        return block;
    }
    if (!is_small && new_size > AB_SLAB_LARGEST)
        return large_resize(s, block, new_size);
    void *copy = AB_SLABS_PLAIN(alloc)(s, new_size);
    if (copy == NULL)
        return new_size <= usable ? block : NULL;
    size_t bytes = old_size < new_size ? old_size : new_size;
    memcpy(copy, block, bytes < usable ? bytes : usable);
    AB_SLABS_PLAIN(free)(s, block);
    return copy;
}

#endif

/* Returns the usable size of the block, and tells ASan and Valgrind that all these bytes may be
 * accessed. */
size_t AB_SLABS_PLAIN(usable)(const struct ab_slabs *s, const void *block)
{
    size_t usable = ab_slabs_is_small(s, block)
                        ? s->classes[ab_slab_of(s, block)->class_index].bytes
                        : ab_slabs_large_usable(block);
    AB_MARK_DEFINED(block, usable);
    return usable;
}

bool AB_SLABS_PLAIN(owns)(const struct ab_slabs *s, const void *p)
{
    if (!ab_slabs_is_small(s, p))
        return large_owns(s, p);
    const struct ab_slab *slab = ab_slab_of(s, p);
    if (slab >= s->slabs + s->n_fresh)
        return false;
    size_t offset = (uintptr_t)p & (AB_SLAB_BYTES - 1), bytes = s->classes[slab->class_index].bytes;
    return offset % bytes == 0 && offset / bytes < AB_SLAB_BYTES / bytes;
}

/* ---- all blocks and slabs together ---- */

void AB_SLABS_PLAIN(reset)(struct ab_slabs *s)
{
    AB_MARK_POOL_TRIM(s, s->base, 0);
    for (unsigned i = 0; i < s->n_classes; i++)
        empty_class(s, &s->classes[i]);
    while (s->large != NULL)
        large_drop(s, s->large);
    ab_slabs_let_go(s);
}

/* Puts the hot blocks back into their slabs. */
static void cool(struct ab_slabs *s, struct ab_slab_class *c)
{
    struct ab_slab_block *list = c->hot;
    c->hot = NULL;
    renew_hot(c, 0);
    for (struct ab_slab_block *block = list, *next; block != NULL; block = next) {
        struct ab_slab *slab = ab_slab_of(s, block);
        next = ab_slab_next(block);
        ab_slab_link(block, slab->free);
        slab->free = block;
        slab->n_out--;
        c->out_bytes -= c->bytes;
        ab_slabs_settle(s, slab);
    }
}

static bool is_idle(const struct ab_slab *slab, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (slab[i].n_out != 0)
            return false;
    return true;
}

/* Gives back each huge page none of whose slabs is used. The pages of these slabs went back one by
 * one, but the kernel (khugepaged) may have joined them to a huge page again. Also gives back the
 * unused rest of the last huge page. Keeps the lock throughout, because other threads could
 * otherwise take these slabs. */
static void give_huge_pages_back(const struct ab_slabs *s)
{
    size_t n = AB_HUGE_PAGE_BYTES >> AB_SLAB_LOG2;
    for (size_t i = 0; i + n <= s->n_fresh; i += n)
        if (is_idle(&s->slabs[i], n))
            ab_pages_discard(s->base + (i << AB_SLAB_LOG2), AB_HUGE_PAGE_BYTES);
    ab_pages_discard(s->base + (s->n_fresh << AB_SLAB_LOG2), (s->n_committed - s->n_fresh)
                                                                 << AB_SLAB_LOG2);
}

void ab_slabs_purge(struct ab_slabs *s)
{
    AB_CHECKED_CALL(s, "slab");
    if (s->collect != NULL)
        s->collect(s);
    for (struct ab_slab_class *c = s->classes; c < s->classes + s->n_classes; c++) {
        if (live_bytes(c) == 0)
            empty_class(s, c);
        else
            cool(s, c);
    }
    while (s->kept != NULL)
        give_pages_back(s, pop(&s->kept));
    s->n_kept = 0;
    ab_slabs_let_go(s);
    if (s->huge)
        give_huge_pages_back(s);
    large_purge(s);
}

size_t ab_slabs_live(const struct ab_slabs *s)
{
    size_t bytes = s->large_bytes;
    for (unsigned i = 0; i < s->n_classes; i++)
        bytes += live_bytes(&s->classes[i]);
    return bytes;
}

#ifdef AB_WITH_CHECKS

/* ---- the checked build: the functions that programs call, over the plain slabs ----
 *
 * Each request becomes a larger block with a head before it and a canary after it, as
 * ../common/checked.h describes. The mapping of a dead large block is kept as far as the options
 * allow. A mapping of more than AB_SLAB_SPARE_PAGES goes back to the system immediately; a later
 * access to it crashes. */

int ab_slabs_init(struct ab_slabs *slabs, const struct ab_slabs_options *options)
{
    int error = ab_slabs_plain_init(slabs, options);
    if (error == 0)
        ab_block_list_open(&slabs->blocks, "slab");
    return error;
}

static bool is_in_mapping(const struct ab_slab_large *r, const void *p)
{
    return (const char *)p >= (const char *)(r + 1) && (const char *)p < r->map + r->map_bytes;
}

/* Returns the block, small or large, that p points into; a large one may be a spare mapping. NULL:
 * there is none. */
static const char *raw_around(const struct ab_slabs *s, const void *p)
{
    if (ab_slabs_is_small(s, p)) {
        const struct ab_slab *slab = ab_slab_of(s, p);
        size_t offset = (uintptr_t)p & (AB_SLAB_BYTES - 1);
        if (slab >= s->slabs + s->n_fresh)
            return NULL;
        return (const char *)p - offset % s->classes[slab->class_index].bytes;
    }
    const struct ab_slab_large *r = s->large;
    while (r != NULL && !is_in_mapping(r, p))
        r = r->next;
    for (unsigned bin = 0; r == NULL && bin < AB_SLAB_SPARE_PAGES; bin++)
        for (r = s->spare[bin]; r != NULL && !is_in_mapping(r, p);)
            r = r->next;
    return (const char *)(r == NULL ? NULL : r + 1);
}

/* True if `block` points into a block of this heap, with room for a head before it. */
static bool is_inside(const struct ab_slabs *s, const void *block)
{
    const char *raw = raw_around(s, block);
    size_t offset = (uintptr_t)block & (AB_SLAB_BYTES - 1);
    return raw != NULL &&
           (ab_slabs_is_small(s, block) ? offset >= AB_BLOCK_FRONT
                                        : (const char *)block >= raw + AB_BLOCK_FRONT);
}

static void demand(const struct ab_slabs *s, const void *block)
{
    ab_checked_demand(&s->blocks, block, is_inside(s, block));
}

/* Returns the size of the small block, or the bytes up to the end of the large block's mapping. */
static size_t raw_bytes_of(const struct ab_slabs *s, const char *raw)
{
    return ab_slabs_is_small(s, raw) ? s->classes[ab_slab_of(s, raw)->class_index].bytes
                                     : ab_slabs_large_usable(raw);
}

static char *end_block(struct ab_slabs *s, void *block)
{
    return ab_checked_end(&s->blocks, block, raw_bytes_of(s, ab_checked_raw(block)));
}

static void *checked_alloc(struct ab_slabs *s, size_t align, size_t size)
{
    size_t bytes = ab_checked_bytes(align, size), raw_bytes = 0;
    char *raw = (char *)(align <= 16 ? ab_slabs_plain_alloc(s, bytes)
                                     : ab_slabs_plain_alloc_aligned(s, align, bytes));
    if (raw != NULL)
        raw_bytes = raw_bytes_of(s, raw);
    if (raw != NULL && ab_slabs_is_small(s, raw))
        ab_block_demand_dead(&s->blocks, raw + sizeof(struct ab_slab_block), raw + raw_bytes);
    return ab_checked_begin(&s->blocks, raw, align, size, raw_bytes);
}

void *ab_slabs_alloc(struct ab_slabs *s, size_t size)
{
    AB_CHECKED_CALL(s, "slab");
    return checked_alloc(s, 0, size);
}

void *ab_slabs_alloc_aligned(struct ab_slabs *s, size_t align, size_t size)
{
    AB_CHECKED_CALL(s, "slab");
    return align == 0 || (align & (align - 1)) != 0 ? NULL : checked_alloc(s, align, size);
}

void *ab_slabs_alloc_zeroed(struct ab_slabs *s, size_t size)
{
    AB_CHECKED_CALL(s, "slab");
    void *block = checked_alloc(s, 0, size);
    return block == NULL ? NULL : memset(block, 0, size);
}

void ab_slabs_free(struct ab_slabs *s, void *block)
{
    AB_CHECKED_CALL(s, "slab");
    if (block == NULL)
        return;
    demand(s, block);
    ab_slabs_plain_free(s, end_block(s, block));
}

AB_CHECKED_DEFINE(ab_slabs, struct ab_slabs, "slab", demand, end_block)

/* Moves the block, so that a program that still uses the old place reads poison. Only if memory is
 * exhausted, a block that shrinks stays in place. */
void *ab_slabs_resize(struct ab_slabs *s, void *block, size_t old_size, size_t new_size)
{
    AB_CHECKED_CALL(s, "slab");
    demand(s, block);
    ab_checked_demand_size(&s->blocks, block, old_size);
    void *copy = checked_alloc(s, 0, new_size);
    if (copy == NULL) {
        if (new_size > old_size)
            return NULL;
        ab_checked_set_size(block, new_size, raw_bytes_of(s, ab_checked_raw(block)));
        return block;
    }
    memcpy(copy, block, old_size < new_size ? old_size : new_size);
    ab_slabs_free(s, block);
    return copy;
}

size_t ab_slabs_usable(const struct ab_slabs *s, const void *block)
{
    (void)s;
    return ab_checked_size(block); /* the checked build allows only the requested size */
}

bool ab_slabs_owns(const struct ab_slabs *s, const void *p)
{
    return is_inside(s, p);
}

void ab_slabs_visit(const struct ab_slabs *s,
                    void (*visit)(void *block, size_t size, void *context), void *context)
{
    ab_block_visit(&s->blocks, visit, context);
}

#endif
