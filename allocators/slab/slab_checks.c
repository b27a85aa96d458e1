/* SPDX-License-Identifier: MIT
 *
 * The checked build of the slabs, -DAB_WITH_CHECKS: what is called, over the plain ones of slab.c
 * and slab_large.c. Each request is one for a larger block, with a head before it and a canary
 * behind it; ../common/checked.h says how. A large block is a mapping that goes back at once when
 * it dies: who uses it then crashes there. Empty in every other build.
 */
#include "slab.h"

#include "../common/checked.h"

#include <string.h>

#ifdef AB_WITH_CHECKS

int ab_slabs_init(struct ab_slabs *slabs, const struct ab_slabs_options *options)
{
    struct ab_slabs_options without_spare = *options;
    without_spare.spare_max_bytes = 0;
    int error = ab_slabs_plain_init(slabs, &without_spare);
    if (error == 0)
        ab_block_list_open(&slabs->blocks, "slab");
    return error;
}

/* The block of a class or the large one that p points into; NULL: there is none. */
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
    while (r != NULL &&
           ((const char *)p < (const char *)(r + 1) || (const char *)p >= r->map + r->map_bytes))
        r = r->next;
    return (const char *)(r == NULL ? NULL : r + 1);
}

/* There is room for a head before it. */
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

/* What dies with a block: all of its class's, of a large one what it uses. */
static size_t raw_bytes(const struct ab_slabs *s, const void *block)
{
    const char *raw = ab_checked_raw(block);
    if (ab_slabs_is_small(s, raw))
        return s->classes[ab_slab_of(s, raw)->class_index].bytes;
    return (size_t)((const char *)block - raw) + ab_checked_size(block);
}

static void *alloc(struct ab_slabs *s, size_t align, size_t size)
{
    size_t bytes = ab_checked_bytes(align, size);
    char *raw = (char *)(align <= 16 ? ab_slabs_plain_alloc(s, bytes)
                                     : ab_slabs_plain_alloc_aligned(s, align, bytes));
    if (raw != NULL && ab_slabs_is_small(s, raw))
        ab_checked_demand_dead(&s->blocks, raw, sizeof(struct ab_slab_block),
                               s->classes[ab_slab_of(s, raw)->class_index].bytes);
    return ab_checked_begin(&s->blocks, raw, align, size);
}

void *ab_slabs_alloc(struct ab_slabs *s, size_t size)
{
    return alloc(s, 0, size);
}

void *ab_slabs_alloc_aligned(struct ab_slabs *s, size_t align, size_t size)
{
    return align == 0 || (align & (align - 1)) != 0 ? NULL : alloc(s, align, size);
}

void *ab_slabs_alloc_zeroed(struct ab_slabs *s, size_t size)
{
    void *block = alloc(s, 0, size);
    return block == NULL ? NULL : memset(block, 0, size);
}

void ab_slabs_free(struct ab_slabs *s, void *block)
{
    if (block == NULL)
        return;
    demand(s, block);
    size_t bytes = raw_bytes(s, block);
    ab_slabs_plain_free(s, ab_checked_end(&s->blocks, block, bytes));
}

void ab_slabs_free_sized(struct ab_slabs *s, void *block, size_t size)
{
    if (block == NULL)
        return;
    demand(s, block);
    ab_checked_demand_size(&s->blocks, block, size);
    ab_slabs_free(s, block);
}

/* Always moves: who still uses the old place reads poison. */
void *ab_slabs_resize(struct ab_slabs *s, void *block, size_t old_size, size_t new_size)
{
    demand(s, block);
    ab_checked_demand_size(&s->blocks, block, old_size);
    void *copy = alloc(s, 0, new_size);
    if (copy == NULL) {
        if (new_size > old_size)
            return NULL;
        ab_checked_set_size(block, new_size);
        return block;
    }
    memcpy(copy, block, old_size < new_size ? old_size : new_size);
    ab_slabs_free(s, block);
    return copy;
}

size_t ab_slabs_usable(const struct ab_slabs *s, const void *block)
{
    (void)s;
    return ab_checked_size(block); /* no more than was asked for */
}

bool ab_slabs_owns(const struct ab_slabs *s, const void *p)
{
    return is_inside(s, p);
}

void ab_slabs_reset(struct ab_slabs *s)
{
    while (s->blocks.top != NULL) {
        void *block = s->blocks.top + 1;
        demand(s, block);
        ab_checked_end(&s->blocks, block, raw_bytes(s, block));
    }
    ab_slabs_plain_reset(s);
}

void ab_slabs_fini(struct ab_slabs *s)
{
    ab_checked_leaks(&s->blocks, "never freed");
    ab_slabs_plain_fini(s);
}

void ab_slabs_visit(const struct ab_slabs *s,
                    void (*visit)(void *block, size_t size, void *context), void *context)
{
    ab_block_visit(&s->blocks, visit, context);
}

#endif
