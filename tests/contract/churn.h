/* SPDX-License-Identifier: MIT
 *
 * Random work on a back end: blocks come by every hook there is, are resized and go, and each keeps
 * what was written to it.
 */
#ifndef AB_TESTS_CONTRACT_CHURN_H
#define AB_TESTS_CONTRACT_CHURN_H

#include "contract/subject.h"

#include "base/rng.h"

#include <string.h>

enum { N_SLOTS = 300, N_CHURN = 6000 };

struct slot {
    ab_ref ref;
    size_t size;
    unsigned key;
};

static ab_ref churn_alloc(const struct heap *x, struct ab_rng *rng, size_t size)
{
    ab_ref ref;
    switch (ab_rng_below(rng, 4)) {
    case 0:
        if (x->b->alloc_zeroed != NULL) {
            assert_true((ref = x->b->alloc_zeroed(x->h, size)) != 0);
            check_zero(x, ref, size);
            return ref;
        }
        break;
    case 1:
        if (x->b->alloc_aligned != NULL) {
            size_t align = (size_t)1 << ab_rng_below(rng, 10);
            assert_true((ref = x->b->alloc_aligned(x->h, align, size)) != 0);
            assert_int_equal((uintptr_t)address(x, ref) % align, 0);
            return ref;
        }
        break;
    }
    return alloc(x, size);
}

/* Overlap shows as changed contents: every live block is full of its own pattern all the time. */
static void random_work_never_mixes_blocks(const struct subject *s)
{
    struct heap x = heap_open(s);
    static struct slot slots[N_SLOTS];
    struct ab_rng rng;
    unsigned n_work = 0;
    memset(slots, 0, sizeof slots);
    ab_rng_init(&rng, 4711, 1);
    for (unsigned i = 0; i < N_CHURN; i++) {
        struct slot *slot = &slots[ab_rng_below(&rng, N_SLOTS)];
        size_t size = sizes[ab_rng_below(&rng, i % 50 == 0 ? N_SIZES : 26)];
        if (slot->ref == 0) {
            slot->ref = churn_alloc(&x, &rng, size);
        } else if (s->b->resize != NULL && ab_rng_below(&rng, 2) == 0) {
            check_fill(&x, slot->ref, slot->size, slot->key);
            slot->ref = s->b->resize(x.h, slot->ref, slot->size, size);
            assert_true(slot->ref != 0);
            check_alignment(address(&x, slot->ref), size);
            check_fill(&x, slot->ref, size < slot->size ? size : slot->size, slot->key);
        } else {
            check_fill(&x, slot->ref, slot->size, slot->key);
            drop(&x, slot->ref, slot->size);
            slot->ref = 0;
            continue;
        }
        slot->size = size;
        slot->key = i;
        fill(&x, slot->ref, size, i);
        n_work++;
    }
    for (unsigned i = 0; i < N_SLOTS; i++)
        if (slots[i].ref != 0) {
            check_fill(&x, slots[i].ref, slots[i].size, slots[i].key);
            drop(&x, slots[i].ref, slots[i].size);
        }
    assert_true(n_work > N_CHURN / 2);
    s->b->close(x.h);
}

#endif
