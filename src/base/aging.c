/* SPDX-License-Identifier: MIT
 *
 * Draws the blocks of an aged heap, allocates them and frees some of them.
 */
#include "base/aging.h"

#include "base/rng.h"

/* Random streams of the seed, for sizes and for their order. Sizes are drawn twice with the same
 * result: by ab_aging_foresee and by ab_aging_make. */
enum { SIZES_STREAM = 0x6c69, ORDER_STREAM = 0x6c6f };

struct draw {
    const struct ab_aging_plan *plan;
    struct ab_rng rng;
    double left; /* bytes of the blocks still to be drawn */
    uint64_t n;
};

static struct draw begin(const struct ab_aging_plan *plan)
{
    struct draw d = {.plan = plan, .left = plan->request.multiple * (double)plan->live_peak_bytes};
    if (plan->n_sizes == 0 || plan->request.occupancy <= 0)
        d.left = 0;
    ab_rng_init(&d.rng, plan->request.seed, SIZES_STREAM);
    return d;
}

/* Draws the next size; returns 0 if there are enough blocks. */
static uint64_t next(struct draw *d)
{
    if (d->left <= 0 || d->n == AB_AGING_BLOCKS_MOST)
        return 0;
    uint64_t size = d->plan->sizes[ab_rng_below(&d->rng, d->plan->n_sizes)];
    if (size == 0)
        size = 1;
    d->left -= (double)size;
    d->n++;
    return size;
}

struct ab_aging_count ab_aging_foresee(const struct ab_aging_plan *plan)
{
    struct ab_aging_count count = {.made_blocks = 0};
    struct draw d = begin(plan);
    for (uint64_t size; (size = next(&d)) != 0; count.made_blocks++)
        count.made_bytes += size;
    return count;
}

struct ab_aging_count ab_aging_make(const struct ab_aging_plan *plan,
                                    const struct ab_aging_calls *calls,
                                    struct ab_aging_block *blocks)
{
    struct ab_aging_count count = {.made_blocks = 0};
    struct draw d = begin(plan);
    struct ab_rng order;
    uintptr_t ref = 1;
    for (uint64_t size; ref != 0 && (size = next(&d)) != 0;) {
        ref = calls->alloc(calls->user, size);
        if (ref == 0)
            continue;
        blocks[count.made_blocks++] = (struct ab_aging_block){ref, size};
        count.made_bytes += size;
    }
    count.blocks = count.made_blocks;
    count.bytes = count.made_bytes;
    if (ref == 0)
        return count;
    ab_rng_init(&order, plan->request.seed, ORDER_STREAM);
    AB_RNG_SHUFFLE(&order, blocks, count.blocks);
    const double kept = plan->request.occupancy * (double)count.made_bytes;
    while (count.blocks > 0 && (double)count.bytes > kept) {
        const struct ab_aging_block *b = &blocks[--count.blocks];
        count.bytes -= b->size;
        calls->free(calls->user, b->ref, b->size);
    }
    return count;
}

void ab_aging_sizes_take(struct ab_aging_sizes *s, struct ab_rng *rng, uint64_t size)
{
    uint64_t at = s->n_seen++;
    if (s->n < s->cap) {
        s->sizes[s->n++] = size;
        return;
    }
    at = ab_rng_below(rng, at + 1);
    if (at < s->cap)
        s->sizes[at] = size;
}
