/* SPDX-License-Identifier: MIT
 *
 * Properties of every block: its alignment, its bytes, its size. Overlap is proven by addresses
 * alone and contents by bytes alone, so that neither hides the other.
 */
#include "worker/checks/checks.h"

#include "base/bits.h"

enum { LIVE_MAX = 512 };

static struct ab_block live[LIVE_MAX];

struct churn { /* blocks are allocated and freed at random indices of `live` */
    size_t most_bytes, most_align;
    /* number of steps between two readings of all blocks; 0: all blocks are read back at the end
     * only */
    uint32_t rounds, sweep_every;
    bool resizes;
};

static void drop(struct ab_trial *t, struct ab_block *l)
{
    if (l->ref != 0)
        ab_trial_drop(t, l);
}

static void replace(struct ab_trial *t, struct ab_block *l, const struct ab_ask *ask)
{
    drop(t, l);
    ab_trial_take(t, l, ask);
}

static void run_churn(struct ab_trial *t, const struct churn *churn)
{
    bool resizes = churn->resizes && ab_target_can_resize(t->target);
    for (uint32_t i = 0; i < churn->rounds; i++) {
        struct ab_block *l = &live[ab_rng_below(&t->rng, LIVE_MAX)];
        size_t size = ab_trial_size(t, churn->most_bytes);
        struct ab_ask ask = ab_trial_ask(t, size, churn->most_align);
        if (resizes && l->ref != 0 && ab_rng_below(&t->rng, 8) == 0)
            ab_trial_resize(t, l, size);
        else if (l->ref != 0 && ab_rng_below(&t->rng, 4) == 0)
            drop(t, l);
        else
            replace(t, l, &ask);
        if (churn->sweep_every != 0 && i % churn->sweep_every == churn->sweep_every - 1)
            ab_checker_sweep(&t->checker);
    }
    ab_checker_sweep(&t->checker);
    for (uint32_t i = 0; i < LIVE_MAX; i++)
        drop(t, &live[i]);
    t->report->work = t->checker.n_asked;
}

/* Requests sizes just below, at and above an alignment, where an allocator's size classes meet. */
static void ask_around(struct ab_trial *t, enum ab_call call, size_t align)
{
    const size_t sizes[] = {1,     8,         16,        24,        align / 2, align - 1,
                            align, align + 1, 2 * align, 3 * align, 4 * align, 1000};
    for (unsigned i = 0; i < AB_ARRAY_LEN(sizes); i++)
        for (unsigned k = 0; k < 4; k++) {
            struct ab_ask ask = ab_ask_of(call, align, sizes[i] > 0 ? sizes[i] : 1);
            replace(t, &live[ab_rng_below(&t->rng, LIVE_MAX)], &ask);
        }
}

void ab_check_alignment(struct ab_trial *t)
{
    enum ab_call calls[AB_CALL_COUNT];
    uint32_t n = ab_trial_calls(t, calls);
    t->checker.fills = false;
    for (uint32_t i = 0; i < n; i++)
        for (size_t align = 8; align <= 4096; align *= 2)
            ask_around(t, calls[i], align);
    run_churn(t, &(struct churn){
                     .most_bytes = 16384, .most_align = 4096, .rounds = 4000, .resizes = true});
}

void ab_check_overlap(struct ab_trial *t)
{
    t->checker.fills = false;
    run_churn(t, &(struct churn){.most_bytes = 2048, .most_align = 256, .rounds = 40000});
}

void ab_check_content(struct ab_trial *t)
{
    run_churn(t, &(struct churn){.most_bytes = 4096,
                                 .most_align = 256,
                                 .rounds = 20000,
                                 .sweep_every = 2500,
                                 .resizes = true});
    t->checker.edge_bytes = 16384;
    run_churn(t, &(struct churn){.most_bytes = 262144,
                                 .most_align = 4096,
                                 .rounds = 1500,
                                 .sweep_every = 500,
                                 .resizes = true});
}

static bool has_usable(const struct ab_target *t)
{
    return ab_target_is_malloc(t) ? t->calls.usable_size != NULL : t->hooks->usable_size != NULL;
}

void ab_check_slack(struct ab_trial *t)
{
    if (!ab_trial_needs(t, has_usable(t->target), "no usable_size"))
        return;
    t->checker.fills_usable = true;
    run_churn(t, &(struct churn){
                     .most_bytes = 8192, .most_align = 256, .rounds = 10000, .sweep_every = 1000});
}

/* Checks that the usable_size of a block stays the same while the block lives. The checker itself
 * finds a usable_size below the requested size. */
void ab_check_usable(struct ab_trial *t)
{
    static size_t usable[LIVE_MAX];
    struct ab_heap *heap = t->target->heap;
    if (!ab_trial_needs(t, has_usable(t->target), "no usable_size"))
        return;
    for (uint32_t i = 0; i < LIVE_MAX; i++) {
        struct ab_ask ask = ab_trial_ask(t, ab_trial_size(t, 65536), 1024);
        replace(t, &live[i], &ask);
        usable[i] = ab_target_usable(t->target, heap, live[i].ref);
    }
    for (uint32_t i = 0; i < LIVE_MAX; i += 2)
        drop(t, &live[i]);
    for (uint32_t i = 1; i < LIVE_MAX; i += 2)
        if (ab_target_usable(t->target, heap, live[i].ref) != usable[i])
            ab_trial_fail_text(t, "usable_size of a live block changed as others were freed");
    t->report->work = t->checker.n_asked;
}
