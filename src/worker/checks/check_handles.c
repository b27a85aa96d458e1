/* SPDX-License-Identifier: MIT
 *
 * Handles: stale handles, handles that were never issued, handles of another heap. Every back end
 * must recognize a stale handle. Only a back end that claims to detect misuse must recognize the
 * others, because an index alone does not show that a block is foreign.
 */
#include "worker/checks/checks.h"

enum { LIVE_MAX = 256, BYTES = 64 };

static ab_ref live[LIVE_MAX], stale[LIVE_MAX], foreign[LIVE_MAX];

static void *address(const struct ab_trial *t, ab_ref ref)
{
    return ab_target_address(t->target, t->target->heap, ref);
}

static ab_ref ask_one(struct ab_trial *t)
{
    struct ab_ask ask = {.call = AB_CALL_ALLOC, .size = BYTES};
    return ab_checker_ask(&t->checker, t->target->heap, &ask);
}

static void fill_live(struct ab_trial *t)
{
    for (uint32_t i = 0; i < LIVE_MAX; i++, t->report->work++)
        live[i] = ask_one(t);
}

static void drop_live(struct ab_trial *t)
{
    for (uint32_t i = 0; i < LIVE_MAX; i++)
        ab_checker_free(&t->checker, t->target->heap, live[i], BYTES);
}

static _Noreturn void fail_handle(struct ab_trial *t, const char *which, ab_ref ref,
                                  const char *what)
{
    struct ab_words w = {.n = 0};
    ab_words_add(&w, which);
    ab_words_hex(&w, ref);
    ab_words_add(&w, what);
    ab_trial_fail(t, &w);
}

static void expect_stale(struct ab_trial *t, ab_ref ref, const char *what)
{
    t->report->work++;
    if (address(t, ref) != NULL)
        fail_handle(t, "a stale handle, ", ref, what);
}

/* Allocates and frees a block 70,000 times, so that its slot is reused more often than 16 bits can
 * count. */
static void reuse_one_place(struct ab_trial *t)
{
    enum { TIMES = 70000 };
    ab_ref first = ask_one(t);
    ab_checker_free(&t->checker, t->target->heap, first, BYTES);
    for (uint32_t i = 0; i < TIMES; i++) {
        ab_ref ref = ask_one(t);
        expect_stale(t, first, ", resolves to a block after enough reuses of its slot");
        ab_checker_free(&t->checker, t->target->heap, ref, BYTES);
    }
}

static bool is_live(ab_ref ref)
{
    for (uint32_t i = 0; i < LIVE_MAX; i++)
        if (live[i] == ref)
            return true;
    return false;
}

/* Resolves a forged handle. This must not end the process, and must give NULL if the back end
 * claims to detect misuse. */
static void resolve_forged(struct ab_trial *t, ab_ref ref)
{
    t->report->work++;
    if (address(t, ref) != NULL && ab_trial_claims_misuse(t) && !is_live(ref))
        fail_handle(t, "a handle that was never issued, ", ref,
                    ", resolves to a block, but the back end claims to detect misuse");
}

/* Resolves random handles, and handles that differ from a true one by one bit, or by one step of an
 * index. */
static void resolve_all_forged(struct ab_trial *t)
{
    for (unsigned i = 0; i < 1000; i++) {
        ab_ref like = live[i % LIVE_MAX];
        resolve_forged(t, ab_rng_next(&t->rng) | 1);
        resolve_forged(t, like ^ (ab_ref)1 << i % 64);
        resolve_forged(t, like + i * LIVE_MAX);
    }
}

static bool has_handles(struct ab_trial *t)
{
    bool has = t->target->hooks != NULL && t->target->hooks->resolve != NULL;
    return ab_trial_needs(t, has, "its blocks are addresses, not handles") &&
           ab_trial_needs_free(t);
}

void ab_check_handles(struct ab_trial *t)
{
    if (!has_handles(t))
        return;
    fill_live(t);
    for (uint32_t i = 0; i < LIVE_MAX; i++)
        stale[i] = live[i];
    drop_live(t);
    for (uint32_t i = 0; i < LIVE_MAX; i++)
        expect_stale(t, stale[i], ", resolves to a block that was freed");
    fill_live(t);
    for (uint32_t i = 0; i < LIVE_MAX; i++)
        expect_stale(t, stale[i], ", resolves to the block that reused its slot");
    resolve_all_forged(t);
    ab_checker_sweep(&t->checker);
    drop_live(t);
    reuse_one_place(t);
}

/* ---- handles of another heap ---- */

/* Fills both heaps with the same number of blocks, so that their handles differ only in the heap.
 * Returns NULL if there is no second heap. */
static struct ab_heap *fill_both(struct ab_trial *t)
{
    struct ab_heap *other = NULL;
    struct ab_ask ask = {.call = AB_CALL_ALLOC, .size = BYTES};
    if (t->reopen == NULL || !t->reopen(t->checker.user, &other))
        return NULL;
    fill_live(t);
    for (uint32_t i = 0; i < LIVE_MAX; i++)
        if ((foreign[i] = ab_target_ask(t->target, other, &ask)) == 0)
            ab_trial_null(t, "an allocation returned NULL");
    return other;
}

/* Frees handles of the other heap in this one, where no live block has such a handle. All live
 * blocks must be unchanged. Only for back ends that claim to detect misuse, because in others a
 * foreign handle may match a live block. */
static void free_foreign(struct ab_trial *t)
{
    for (uint32_t i = 0; i < LIVE_MAX; i++)
        ab_target_free(t->target, t->target->heap, foreign[i], BYTES);
    ab_checker_sweep(&t->checker);
}

void ab_behavior_foreign_handle(struct ab_trial *t)
{
    uint32_t n_resolved = 0;
    if (!has_handles(t))
        return;
    if (!ab_trial_needs(t, fill_both(t) != NULL, "a second heap could not be opened"))
        return;
    for (uint32_t i = 0; i < LIVE_MAX; i++)
        n_resolved += address(t, foreign[i]) != NULL;
    if (n_resolved > 0 && ab_trial_claims_misuse(t))
        ab_trial_break(t, "resolves");
    else if (n_resolved == 0 && ab_trial_claims_misuse(t))
        free_foreign(t);
    if (t->report->answer == AB_ANSWER_NONE)
        ab_trial_info(t, n_resolved > 0 ? "resolves" : "refused");
}
