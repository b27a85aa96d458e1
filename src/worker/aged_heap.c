/* SPDX-License-Identifier: MIT
 *
 * Ages the heap of a run (base/aging.h). Sizes are those of the tape. Blocks come from the
 * allocator under test, through the same calls that lane 0 uses. The tables are mapped before the
 * baseline of the memory pass, so that they are in no footprint.
 */
#include "worker/aged_heap.h"

#include "base/rng.h"
#include "worker/page_walk.h"

#include <string.h>

enum { SIZES_MOST = 1 << 16 };

/* Samples the sizes of the tape's first burst, the only burst that is in memory now. Nearly every
 * tape has just one burst. */
static uint32_t sample_sizes(struct ab_worker *w, uint64_t *sizes)
{
    struct ab_aging_sizes s = {.sizes = sizes, .cap = SIZES_MOST};
    struct ab_rng rng;
    ab_rng_init(&rng, w->page->request.aging.seed, AB_AGING_SAMPLE_STREAM);
    for (uint32_t i = 0; i < ab_tape_burst(w->image, w->burst)->n_ops; i++) {
        struct ab_op_view op = ab_op_decode(w->ops[i], w->wide);
        if (op.kind == AB_OP_ALLOC || op.kind == AB_OP_ALLOC_ZEROED ||
            op.kind == AB_OP_ALLOC_ALIGNED)
            ab_aging_sizes_take(&s, &rng, op.size);
    }
    return s.n;
}

static void add_facts(struct ab_facts *f, const struct ab_aging_count *c)
{
    f->live_peak_blocks += c->made_blocks;
    f->live_peak_bytes += c->made_bytes;
    f->total_blocks += c->made_blocks;
    f->total_bytes += c->made_bytes;
    f->kinds |= 1u << AB_OP_ALLOC | 1u << AB_OP_FREE;
}

void ab_aged_heap_open(struct ab_worker *w)
{
    const struct ab_run_request *r = &w->page->request;
    bool is_proof = r->pass == AB_PASS_CHECK || r->pass == AB_PASS_VERIFY;
    if (r->aging.occupancy <= 0 || is_proof || r->decorator != AB_DECORATOR_NONE)
        return;
    uint64_t *sizes = ab_worker_map(w, SIZES_MOST * sizeof sizes[0], "sizes of the aged heap");
    struct ab_aged_heap *l = w->aging = ab_worker_map(w, sizeof *l, "the aged heap");
    l->plan = (struct ab_aging_plan){r->aging, sizes, sample_sizes(w, sizes),
                                     w->image->facts.live_peak_bytes};
    l->foreseen = ab_aging_foresee(&l->plan);
    l->blocks = ab_worker_map(w, (l->foreseen.made_blocks + 1) * sizeof l->blocks[0],
                              "blocks of the aged heap");
    l->facts = w->image->facts;
    add_facts(&l->facts, &l->foreseen);
}

/* ---- calls of the allocator under test ---- */

static bool is_heap(const struct ab_lane *lane)
{
    return lane->face == &lane->own_face;
}

static void *address_of(const struct ab_lane *lane, uintptr_t ref)
{
    const struct ab_heap_face *f = &lane->own_face;
    return is_heap(lane) && f->resolve != NULL ? f->resolve(f->heap, ref) : (void *)ref;
}

/* Allocates a block and writes all of it, as a program does, so that it is resident. */
static uintptr_t take(void *user, size_t size)
{
    struct ab_lane *lane = user;
    uintptr_t ref = is_heap(lane) ? lane->own_face.alloc(lane->own_face.heap, size)
                                  : (uintptr_t)((struct ab_malloc_calls *)lane->face)->malloc(size);
    if (ref != 0)
        memset(address_of(lane, ref), 0x5a, size);
    return ref;
}

static void drop(void *user, uintptr_t ref, size_t size)
{
    struct ab_lane *lane = user;
    if (is_heap(lane))
        lane->own_face.free(lane->own_face.heap, ref, size);
    else
        ((struct ab_malloc_calls *)lane->face)->free((void *)ref);
}

static size_t usable_of(const struct ab_lane *lane, const struct ab_aging_block *b)
{
    const struct ab_heap_face *f = &lane->own_face;
    if (!is_heap(lane))
        return ((struct ab_malloc_calls *)lane->face)->usable_size((void *)b->ref);
    return f->usable_size != NULL ? f->usable_size(f->heap, b->ref) : b->size;
}

static void check_frees(struct ab_worker *w, const struct ab_lane *lane)
{
    const struct ab_backend *b = is_heap(lane) ? lane->own_face.backend : NULL;
    if (b != NULL && (b->free == NULL || (b->traits & AB_TRAIT_NO_FREE) != 0))
        ab_worker_fail(w, AB_FAILURE_OPEN,
                       "it cannot free single blocks, so its heap cannot be aged", NULL);
}

void ab_aged_heap_make(struct ab_lane *lane)
{
    struct ab_worker *w = lane->w;
    struct ab_aged_heap *l = w->aging;
    if (l == NULL || l->is_made)
        return;
    const struct ab_aging_calls calls = {lane, take, drop};
    char blocks[24], size[24];
    check_frees(w, lane);
    l->is_made = true;
    struct ab_aging_count count = ab_aging_make(&l->plan, &calls, l->blocks);
    if (count.made_blocks < l->foreseen.made_blocks)
        ab_worker_fail(w, AB_FAILURE_NULL,
                       "an allocation returned NULL while the heap was aged, after ",
                       ab_worker_number(blocks, count.made_blocks), " blocks of ",
                       ab_worker_number(size, count.made_bytes), " bytes", NULL);
    w->page->report.aging = count;
    l->n_blocks = count.blocks;
}

bool ab_aged_heap_block(const struct ab_worker *w, uint64_t i, struct ab_given *out)
{
    const struct ab_lane *lane = &w->lanes[0];
    if (w->aging == NULL || i >= w->aging->n_blocks)
        return false;
    const struct ab_aging_block *b = &w->aging->blocks[i];
    *out = (struct ab_given){(uintptr_t)address_of(lane, b->ref), b->size, usable_of(lane, b), 0};
    return true;
}
