/* SPDX-License-Identifier: MIT
 *
 * Behavior that the standards leave to the allocator. Real allocators differ in each of these
 * points, so none of them is a failure.
 */
#include "worker/checks/checks.h"

#include <errno.h>

static bool is_malloc(struct ab_trial *t)
{
    return ab_trial_needs(t, ab_target_is_malloc(t->target), "applies to malloc only");
}

void ab_behavior_enomem(struct ab_trial *t)
{
    if (!is_malloc(t))
        return;
    errno = 0;
    struct ab_ask most = {.call = AB_CALL_ALLOC, .size = PTRDIFF_MAX};
    ab_ref ref = ab_target_ask(t->target, NULL, &most);
    ab_trial_info(t, ref != 0 ? "block" : errno == ENOMEM ? "set" : "not set");
}

void ab_behavior_zero_size(struct ab_trial *t)
{
    struct ab_ask nothing = {.call = AB_CALL_ALLOC};
    ab_trial_info(t, ab_target_ask(t->target, t->target->heap, &nothing) != 0 ? "block" : "NULL");
}

static void tell_block(struct ab_trial *t, const void *block)
{
    ab_trial_info(t, block != NULL ? "block" : "NULL");
}

void ab_behavior_calloc_zero(struct ab_trial *t)
{
    if (is_malloc(t) && ab_trial_needs(t, t->target->calls.calloc != NULL, "no calloc"))
        tell_block(t, t->target->calls.calloc(0, 8));
}

/* Reports what realloc(NULL, 0) returns. Some programs, GNU grep among them, exit if it is NULL. */
void ab_behavior_realloc_null(struct ab_trial *t)
{
    if (is_malloc(t) && ab_trial_needs(t, t->target->calls.realloc != NULL, "no realloc"))
        tell_block(t, t->target->calls.realloc(NULL, 0));
}

void ab_behavior_aligned_zero(struct ab_trial *t)
{
    if (is_malloc(t) &&
        ab_trial_needs(t, t->target->calls.aligned_alloc != NULL, "no aligned_alloc"))
        tell_block(t, t->target->calls.aligned_alloc(64, 0));
}

static ab_ref resize_to_nothing(const struct ab_target *t)
{
    const size_t sizes[2] = {64, 0};
    struct ab_ask ask = {.call = AB_CALL_ALLOC, .size = sizes[0]};
    return ab_target_resize(t, NULL, ab_target_ask(t, NULL, &ask), sizes);
}

void ab_behavior_realloc_zero(struct ab_trial *t)
{
    if (!is_malloc(t))
        return;
    if (t->target->calls.realloc == NULL)
        ab_trial_skip(t, "no realloc");
    else
        ab_trial_info(t, resize_to_nothing(t->target) != 0 ? "block" : "NULL");
}

static void tell_aligned(struct ab_trial *t, size_t align, size_t size)
{
    if (!is_malloc(t))
        return;
    if (!ab_trial_needs(t, t->target->calls.aligned_alloc != NULL, "no aligned_alloc"))
        return;
    struct ab_ask ask = {AB_CALL_C11, align, size};
    uintptr_t at = (uintptr_t)ab_target_ask(t->target, NULL, &ask);
    ab_trial_info(t, at == 0 ? "refused" : at % align == 0 ? "served" : "not aligned");
}

void ab_behavior_odd_alignment(struct ab_trial *t)
{
    tell_aligned(t, 48, 96);
}

void ab_behavior_odd_size(struct ab_trial *t)
{
    tell_aligned(t, 64, 100);
}

void ab_behavior_small_alignment(struct ab_trial *t)
{
    struct ab_ask ask = {.call = AB_CALL_ALLOC, .size = 8};
    uintptr_t all = 0;
    for (unsigned i = 0; i < 64; i++)
        all |= (uintptr_t)ab_target_address(t->target, t->target->heap,
                                            ab_target_ask(t->target, t->target->heap, &ask));
    ab_trial_info(t, all % 16 == 0 ? "to 16" : all % 8 == 0 ? "to 8" : "below 8");
}

/* ---- the same calls twice, the second time in a new heap ---- */

enum { STEPS = 2000, SLOTS = 64 };

/* Runs the steps and combines all addresses, relative to the first one, into one number. */
static uint64_t run_steps(struct ab_trial *t, struct ab_heap *heap, uint64_t seed)
{
    static ab_ref refs[SLOTS];
    static size_t sizes[SLOTS];
    struct ab_rng rng;
    uint64_t first = 0, fold = 0;
    ab_rng_init(&rng, seed, 0);
    for (uint32_t i = 0; i < SLOTS; i++)
        refs[i] = 0;
    for (uint32_t i = 0; i < STEPS; i++) {
        uint64_t s = ab_rng_below(&rng, SLOTS);
        if (refs[s] != 0)
            ab_target_free(t->target, heap, refs[s], sizes[s]);
        sizes[s] = 1 + ab_rng_below(&rng, 1024);
        struct ab_ask ask = {.call = AB_CALL_ALLOC, .size = sizes[s]};
        refs[s] = ab_target_ask(t->target, heap, &ask);
        uint64_t at = (uint64_t)(uintptr_t)ab_target_address(t->target, heap, refs[s]);
        first = i == 0 ? at : first;
        fold = (fold ^ (at - first)) * 0x9e3779b97f4a7c15;
    }
    return fold;
}

void ab_behavior_repeatable(struct ab_trial *t)
{
    const struct ab_backend *hooks = t->target->hooks;
    struct ab_heap *second = NULL;
    if (!ab_trial_needs(t, hooks != NULL && t->reopen != NULL, "applies to heaps only"))
        return;
    uint64_t seed = ab_rng_next(&t->rng), one = run_steps(t, t->target->heap, seed);
    if (!ab_trial_needs(t, t->reopen(t->checker.user, &second),
                        "a second heap could not be opened"))
        return;
    bool is_same = run_steps(t, second, seed) == one;
    if (!is_same && (t->target->traits & AB_TRAIT_REPEATABLE) != 0)
        ab_trial_break(t, "no");
    else
        ab_trial_info(t, is_same ? "yes" : "no");
}
