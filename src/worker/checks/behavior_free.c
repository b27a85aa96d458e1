/* SPDX-License-Identifier: MIT
 *
 * Behavior after invalid frees. If the process dies, the parent reports it ("detected"). If it goes
 * on, the check requests more blocks and reports what they look like. Nothing here is right or
 * wrong, unless the back end claims to detect such frees (AB_TRAIT_DETECTS_MISUSE).
 */
#include "worker/checks/checks.h"

enum { AFTER = 64, BYTES = 64 };

static _Noreturn void end_null(struct ab_trial *t, uint32_t n_live, const char *text)
{
    t->report->n_live = n_live;
    ab_trial_null(t, text);
}

/* True if two of the blocks that are allocated now are the same block, or overlap. */
static bool is_corrupt(struct ab_trial *t, const ab_ref *live, uint32_t n)
{
    static uintptr_t places[AFTER + 8];
    struct ab_ask ask = {.call = AB_CALL_ALLOC, .size = BYTES};
    uint32_t n_places = 0;
    for (uint32_t i = 0; i < n; i++)
        places[n_places++] = (uintptr_t)ab_target_address(t->target, t->target->heap, live[i]);
    for (uint32_t i = 0; i < AFTER; i++) {
        ab_ref ref = ab_target_ask(t->target, t->target->heap, &ask);
        uintptr_t at = (uintptr_t)ab_target_address(t->target, t->target->heap, ref);
        /* few blocks, because the capacity of the heap may be small */
        if (ref == 0 && ab_trial_claims_misuse(t))
            end_null(t, n_places, "a later allocation returned NULL");
        if (at == 0)
            return true;
        for (uint32_t k = 0; k < n_places; k++)
            if (at < places[k] + BYTES && places[k] < at + BYTES)
                return true;
        places[n_places++] = at;
    }
    return false;
}

static void answer(struct ab_trial *t, bool is_broken)
{
    const char *text = is_broken ? "corrupts" : ab_trial_claims_misuse(t) ? "harmless" : "silent";
    if (ab_trial_claims_misuse(t) && is_broken)
        ab_trial_break(t, text);
    else
        ab_trial_info(t, text);
}

static void ask_blocks(struct ab_trial *t, ab_ref *refs, uint32_t n)
{
    struct ab_ask ask = {.call = AB_CALL_ALLOC, .size = BYTES};
    for (uint32_t i = 0; i < n; i++)
        if ((refs[i] = ab_target_ask(t->target, t->target->heap, &ask)) == 0)
            end_null(t, i, "an allocation returned NULL");
}

static void free_one(struct ab_trial *t, ab_ref ref)
{
    ab_target_free(t->target, t->target->heap, ref, BYTES);
}

void ab_behavior_double_free(struct ab_trial *t)
{
    ab_ref refs[4];
    if (!ab_trial_needs_free(t))
        return;
    ask_blocks(t, refs, 4);
    free_one(t, refs[3]);
    free_one(t, refs[3]);
    answer(t, is_corrupt(t, refs, 3));
}

void ab_behavior_late_double_free(struct ab_trial *t)
{
    ab_ref refs[8];
    if (!ab_trial_needs_free(t))
        return;
    ask_blocks(t, refs, 8);
    free_one(t, refs[7]);
    free_one(t, refs[6]);
    free_one(t, refs[5]);
    free_one(t, refs[7]);
    answer(t, is_corrupt(t, refs, 5));
}

void ab_behavior_invalid_free(struct ab_trial *t)
{
    ab_ref refs[4];
    if (!ab_trial_needs_free(t))
        return;
    ask_blocks(t, refs, 4);
    free_one(t, refs[3] + 16);
    answer(t, is_corrupt(t, refs, 4));
}
