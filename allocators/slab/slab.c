/* SPDX-License-Identifier: MIT
 *
 * Where slabs come from and go to. Each slab in use is in one list of its class, `full` or
 * `partial`, so that a class can be emptied without looking at the others; `n_out` of a slab counts
 * what is hot and not carved yet, so the fast paths touch the record only to put a block back.
 */
#include "allocators/slab/slab.h"

#include "allocators/os_map.h"

#include <string.h>

static const size_t first_commit_slabs = 16, largest_commit_slabs = 1024;
enum { HOT_MAX = 64, HOT_BYTES = 16 << 10 };

_Static_assert(sizeof(struct ab_slab) == 32, "two records a cache line");
_Static_assert(sizeof(struct ab_slab_class) == 64, "a class is a cache line");

static size_t records_bytes(size_t span_bytes)
{
    return ab_os_round_up((span_bytes >> AB_SLAB_LOG2) * sizeof(struct ab_slab),
                          ab_os_page_bytes());
}

int ab_slabs_init(struct ab_slabs *slabs, size_t reserve_bytes, size_t keep_max,
                  size_t spare_max_bytes)
{
    if (reserve_bytes == 0 || reserve_bytes > PTRDIFF_MAX)
        return ENOMEM;
    size_t span = ab_os_round_up(reserve_bytes, AB_SLAB_BYTES);
    char *base = ab_os_map(span, AB_SLAB_BYTES, PROT_NONE);
    if (base == NULL)
        return errno;
    struct ab_slab *records = ab_os_map(records_bytes(span), 0, PROT_READ | PROT_WRITE);
    if (records == NULL) {
        int error = errno;
        munmap(base, span);
        return error;
    }
    *slabs = (struct ab_slabs){.base = base,
                               .span_bytes = span,
                               .slabs = records,
                               .keep_max = keep_max,
                               .spare_max_bytes = spare_max_bytes,
                               .n_os_calls = 2};
    for (unsigned i = 0; i < AB_SLAB_CLASSES; i++) {
        size_t n = HOT_BYTES / ab_slab_class_bytes(i);
        slabs->classes[i].hot_max = n < HOT_MAX ? (uint32_t)n : HOT_MAX;
    }
    return 0;
}

void ab_slabs_fini(struct ab_slabs *slabs)
{
    while (slabs->large != NULL)
        ab_slabs_large_free(slabs, slabs->large + 1);
    ab_slabs_large_purge(slabs);
    munmap(slabs->base, slabs->span_bytes);
    munmap(slabs->slabs, records_bytes(slabs->span_bytes));
    *slabs = (struct ab_slabs){0};
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

/* Growing: as many again as there are. False when the system refuses. */
static bool commit(struct ab_slabs *s)
{
    size_t n = s->n_committed, room = (s->span_bytes >> AB_SLAB_LOG2) - n;
    n = n < first_commit_slabs ? first_commit_slabs : n;
    n = n > largest_commit_slabs ? largest_commit_slabs : n;
    n = n > room ? room : n;
    s->n_os_calls++;
    if (n == 0 || mprotect(s->base + (s->n_committed << AB_SLAB_LOG2), n << AB_SLAB_LOG2,
                           PROT_READ | PROT_WRITE) != 0)
        return false;
    s->n_committed += n;
    return true;
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
    if (s->n_fresh == s->n_committed && !commit(s))
        return NULL;
    struct ab_slab *slab = &s->slabs[s->n_fresh++];
    slab->is_zero = true;
    return slab;
}

static void give_pages_back(struct ab_slabs *s, struct ab_slab *slab)
{
    s->n_os_calls++;
    slab->is_zero = madvise(slab_base(s, slab), AB_SLAB_BYTES, MADV_DONTNEED) == 0;
    push(&s->returned, slab);
    s->n_returned++;
}

/* The slab is in no list any more, and no block of it is anywhere. */
static void retire(struct ab_slabs *s, struct ab_slab *slab)
{
    slab->free = NULL;
    slab->is_zero = false;
    if (s->n_kept >= s->keep_max) {
        give_pages_back(s, slab);
        return;
    }
    push(&s->kept, slab);
    s->n_kept++;
}

/* From now on all blocks of the slab are out. */
static void take_all(struct ab_slab_class *c, struct ab_slab *slab)
{
    slab->n_out = (uint16_t)(AB_SLAB_BYTES / ab_slab_class_bytes(slab->class));
    slab->free = NULL;
    push(&c->full, slab);
}

/* ---- classes ---- */

static void *pop_run(struct ab_slab_class *c)
{
    struct ab_slab_block *block = c->run;
    c->run = block->next;
    c->n_out++;
    return block;
}

/* Nothing hot, nothing to carve. */
__attribute__((noinline)) void *ab_slabs_alloc_slow(struct ab_slabs *s, struct ab_slab_class *c)
{
    if (c->run != NULL)
        return pop_run(c);
    if (c->partial != NULL) {
        struct ab_slab *slab = pop(&c->partial);
        c->run = slab->free;
        take_all(c, slab);
        return pop_run(c);
    }
    struct ab_slab *slab = take_empty(s);
    if (slab == NULL)
        return NULL;
    slab->class = (uint8_t)(c - s->classes);
    take_all(c, slab);
    c->next = slab_base(s, slab);
    c->limit = c->next + AB_SLAB_BYTES;
    return ab_slabs_alloc(s, ab_slab_class_bytes(slab->class));
}

/* No block of the class is live, or none is to be: its slabs are empty. */
static void empty_class(struct ab_slabs *s, struct ab_slab_class *c)
{
    while (c->full != NULL)
        retire(s, pop(&c->full));
    while (c->partial != NULL)
        retire(s, pop(&c->partial));
    *c = (struct ab_slab_class){.hot_max = c->hot_max};
}

/* A class that holds one slab keeps it, so that the only block of a class can come and go. */
__attribute__((noinline)) void ab_slabs_class_idle(struct ab_slabs *s, struct ab_slab_class *c)
{
    const struct ab_slab *full = c->full, *partial = c->partial;
    bool holds_one = full == NULL ? partial->next == NULL : full->next == NULL && partial == NULL;
    if (!holds_one)
        empty_class(s, c);
}

/* A block was put back into `slab`: the first, or the last, or the last of the class. */
__attribute__((noinline)) void ab_slabs_settle(struct ab_slabs *s, struct ab_slab *slab)
{
    struct ab_slab_class *c = &s->classes[slab->class];
    if (slab->n_out == 0) {
        take_out(&c->partial, slab);
        retire(s, slab);
    } else if (slab->free->next == NULL) {
        take_out(&c->full, slab);
        push(&c->partial, slab);
    }
    if (c->n_out == c->n_hot && (c->full != NULL || c->partial != NULL))
        ab_slabs_class_idle(s, c);
}

/* ---- requests that are not the fast path ---- */

__attribute__((noinline)) void *ab_slabs_alloc_odd(struct ab_slabs *s, size_t size)
{
    return size == 0 ? ab_slabs_alloc(s, 1) : ab_slabs_large_alloc(s, 0, size, false);
}

void *ab_slabs_alloc_aligned(struct ab_slabs *s, size_t align, size_t size)
{
    if (align == 0 || (align & (align - 1)) != 0)
        return NULL;
    if (align > AB_SLAB_LARGEST || size > AB_SLAB_LARGEST)
        return ab_slabs_large_alloc(s, align, size, false);
    return ab_slabs_alloc(s, size > align ? size : align); /* a block is aligned to its class */
}

void *ab_slabs_alloc_zeroed(struct ab_slabs *s, size_t size)
{
    if (size - 1 >= AB_SLAB_LARGEST)
        return size == 0 ? ab_slabs_alloc_zeroed(s, 1) : ab_slabs_large_alloc(s, 0, size, true);
    const struct ab_slab_class *c = &s->classes[ab_slab_class_of(size)];
    bool is_carved = c->hot == NULL &&
                     (c->next != c->limit || (c->run == NULL && c->partial == NULL));
    void *block = ab_slabs_alloc(s, size);
    if (block != NULL && !(is_carved && ab_slab_of(s, block)->is_zero))
        memset(block, 0, size);
    return block;
}

void *ab_slabs_resize(struct ab_slabs *s, void *block, size_t old_size, size_t new_size)
{
    bool is_small = ab_slabs_is_small(s, block);
    size_t usable = ab_slabs_usable(s, block);
    if (is_small && new_size <= usable &&
        (new_size == 0 || ab_slab_class_of(new_size) == ab_slab_of(s, block)->class))
        return block;
    if (!is_small && new_size > AB_SLAB_LARGEST)
        return ab_slabs_large_resize(s, block, new_size);
    void *copy = ab_slabs_alloc(s, new_size);
    if (copy == NULL)
        return new_size <= usable ? block : NULL;
    size_t bytes = old_size < new_size ? old_size : new_size;
    memcpy(copy, block, bytes < usable ? bytes : usable);
    ab_slabs_free(s, block);
    return copy;
}

size_t ab_slabs_usable(const struct ab_slabs *s, const void *block)
{
    return ab_slabs_is_small(s, block) ? ab_slab_class_bytes(ab_slab_of(s, block)->class)
                                       : ab_slabs_large_usable(block);
}

/* ---- all at once ---- */

void ab_slabs_reset(struct ab_slabs *s)
{
    for (unsigned i = 0; i < AB_SLAB_CLASSES; i++)
        empty_class(s, &s->classes[i]);
    while (s->large != NULL)
        ab_slabs_large_free(s, s->large + 1);
}

/* Puts blocks back that their class holds outside of their slabs. Returns how many. */
static size_t put_back(struct ab_slabs *s, struct ab_slab_block **list)
{
    size_t n = 0;
    for (struct ab_slab_block *block = *list, *next; block != NULL; block = next, n++) {
        struct ab_slab *slab = ab_slab_of(s, block);
        next = block->next;
        block->next = slab->free;
        slab->free = block;
        slab->n_out--;
        ab_slabs_settle(s, slab);
    }
    *list = NULL;
    return n;
}

void ab_slabs_purge(struct ab_slabs *s)
{
    for (struct ab_slab_class *c = s->classes; c < s->classes + AB_SLAB_CLASSES; c++) {
        if (c->n_out == c->n_hot) {
            empty_class(s, c);
            continue;
        }
        c->n_out -= put_back(s, &c->hot);
        c->n_hot = 0;
        put_back(s, &c->run);
    }
    while (s->kept != NULL)
        give_pages_back(s, pop(&s->kept));
    s->n_kept = 0;
    ab_slabs_large_purge(s);
}

size_t ab_slabs_live(const struct ab_slabs *s)
{
    size_t bytes = s->large_bytes;
    for (unsigned i = 0; i < AB_SLAB_CLASSES; i++)
        bytes += (s->classes[i].n_out - s->classes[i].n_hot) * ab_slab_class_bytes(i);
    return bytes;
}
