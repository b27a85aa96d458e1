/* SPDX-License-Identifier: MIT
 *
 * A NULL where a check needs a block. It may be the end of a capacity that the user's own settings
 * fixed: the parent finds that out, by the same check without them. What is proven here is that
 * the heap is full and nothing worse: its blocks hold what they held, and once they are freed as
 * many can be had again, many times over.
 */
#include "worker/checks/capacity.h"

enum { HELD_MAX = 1024, CYCLES = 16 };

static struct held {
    ab_ref ref;
    size_t size; /* now; a resize may have changed it */
    struct ab_ask ask;
} held[HELD_MAX];

static uint32_t list_live(struct ab_trial *t)
{
    uint32_t n = 0, i = 0;
    struct ab_shadow_block *b;
    while (n < HELD_MAX && (b = ab_shadow_next(&t->checker.shadow, &i)) != NULL)
        held[n++] = (struct held){b->ref, b->size, b->ask};
    return n;
}

static void free_held(struct ab_trial *t, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (held[i].ref != 0)
            ab_checker_free(&t->checker, t->target->heap, held[i].ref, held[i].size);
}

static uint32_t ask_again(struct ab_trial *t, uint32_t n)
{
    uint32_t n_given = 0;
    for (uint32_t i = 0; i < n; i++) {
        held[i].ref = ab_checker_ask(&t->checker, t->target->heap, &held[i].ask);
        held[i].size = held[i].ask.size;
        n_given += held[i].ref != 0;
    }
    return n_given;
}

void ab_trial_expect_again(struct ab_trial *t, uint32_t n, uint32_t again)
{
    struct ab_words w = {.n = 0};
    if (again >= n / 8 && (again > 0 || n == 0)) /* what it keeps for itself is its own affair */
        return;
    ab_words_pair(&w, "of ", n);
    ab_words_pair(&w, " blocks that were freed after a NULL only ", again);
    ab_words_add(&w, " could be had again");
    ab_trial_fail(t, &w);
}

/* Threads that still run would take what is freed. */
static bool can_try_again(const struct ab_trial *t)
{
    return !t->checker.is_shared && ab_target_can_free(t->target) &&
           (t->target->traits & AB_TRAIT_WEARS) == 0;
}

void ab_trial_prove_full(struct ab_trial *t)
{
    struct ab_verify_report *report = t->report;
    t->checker.is_null_told = false;
    if (t->checker.shadow.n_live > report->n_live)
        report->n_live = t->checker.shadow.n_live;
    if (!t->checker.is_shared)
        ab_checker_sweep(&t->checker);
    uint32_t n = can_try_again(t) ? list_live(t) : 0, again = n;
    for (uint32_t i = 0; i < CYCLES && n > 0; i++) {
        free_held(t, n);
        again = ask_again(t, n);
    }
    ab_trial_expect_again(t, n, again);
}

_Noreturn void ab_trial_null(struct ab_trial *t, const char *text)
{
    if (t->checker.fail_null != NULL)
        t->checker.fail_null(t->checker.user, text);
    ab_trial_fail_text(t, text);
}
