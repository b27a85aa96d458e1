/* SPDX-License-Identifier: MIT
 *
 * Features that only heaps have: statistics, resets, save points.
 */
#include "worker/checks/checks.h"

enum { LIVE_MAX = 256 };

static struct ab_block live[LIVE_MAX];

static size_t fill_live(struct ab_trial *t, uint32_t begin, uint32_t end)
{
    size_t bytes = 0;
    for (uint32_t i = begin; i < end; i++) {
        struct ab_ask ask = ab_trial_ask(t, ab_trial_size(t, 2048), 64);
        ab_trial_take(t, &live[i], &ask);
        bytes += ask.size;
    }
    t->report->work += end - begin;
    return bytes;
}

static void drop_live(struct ab_trial *t, uint32_t begin, uint32_t end)
{
    for (uint32_t i = begin; i < end; i++)
        ab_trial_drop(t, &live[i]);
}

static void expect_live(struct ab_trial *t, uint64_t before, const char *when)
{
    uint64_t now = ab_trial_live_bytes(t);
    if (now == before || now == AB_UNKNOWN)
        return;
    struct ab_words w = {.n = 0};
    ab_words_pair(&w, "statistics: ", now);
    ab_words_add(&w, " bytes live ");
    ab_words_add(&w, when);
    ab_words_pair(&w, ", there were ", before);
    ab_trial_fail(t, &w);
}

void ab_check_statistics(struct ab_trial *t)
{
    uint64_t before = ab_trial_live_bytes(t);
    if (!ab_trial_needs(t, before != AB_UNKNOWN, "no statistics of live bytes"))
        return;
    size_t asked = fill_live(t, 0, LIVE_MAX);
    uint64_t now = ab_trial_live_bytes(t);
    if (now < before + asked) {
        struct ab_words w = {.n = 0};
        ab_words_pair(&w, "statistics: ", now);
        ab_words_pair(&w, " bytes live, but blocks of ", asked);
        ab_words_add(&w, " bytes are");
        ab_trial_fail(t, &w);
    }
    drop_live(t, 0, LIVE_MAX);
    if (ab_target_can_free(t->target))
        expect_live(t, before, "after everything was freed");
}

void ab_check_reset(struct ab_trial *t)
{
    const struct ab_backend *hooks = t->target->hooks;
    if (!ab_trial_needs(t, hooks != NULL && hooks->reset != NULL, "no reset"))
        return;
    uint64_t before = ab_trial_live_bytes(t);
    for (uint32_t round = 0; round < 20; round++) {
        fill_live(t, 0, LIVE_MAX);
        ab_checker_sweep(&t->checker);
        if (round % 2 == 1) /* every second round also frees some blocks before the reset */
            drop_live(t, 0, LIVE_MAX / 2);
        ab_target_reset(t->target, t->target->heap);
        ab_checker_forget(&t->checker);
        expect_live(t, before, "after a reset");
    }
}

/* Sets a mark, allocates blocks [begin, end), and releases the mark, which ends these blocks
 * without a free. */
static void fill_and_release(struct ab_trial *t, uint32_t begin, uint32_t end, size_t size)
{
    uint64_t mark = ab_target_mark(t->target, t->target->heap);
    for (uint32_t i = begin; i < end; i++, t->report->work++) {
        struct ab_ask ask = size != 0 ? (struct ab_ask){.size = size}
                                      : ab_trial_ask(t, ab_trial_size(t, 2048), 64);
        ab_trial_take(t, &live[i], &ask);
        if (live[i].ref == 0)
            ab_trial_fail_text(t, "memory of released blocks is not reused: NULL within 16 MiB");
    }
    if (size == 0)
        ab_checker_sweep(&t->checker);
    for (uint32_t i = begin; i < end; i++)
        ab_shadow_drop(&t->checker.shadow,
                       (uintptr_t)ab_target_address(t->target, t->target->heap, live[i].ref));
    ab_target_release(t->target, t->target->heap, mark);
}

/* Checks that a release leaves no memory in use. If the heap has no statistics, leaks must add up
 * until the memory is full. So each of these rounds has a block of such a size that all together
 * are twice the memory that there is. */
void ab_check_mark(struct ab_trial *t)
{
    enum { OLDER = LIVE_MAX / 4, LARGE = 4096, ROUNDS = 8192, BOUND_BYTES = 16 << 20 };
    if (!ab_trial_needs(t, ab_target_has_marks(t->target), "no marks"))
        return;
    fill_live(t, 0, OLDER);
    uint64_t before = ab_trial_live_bytes(t);
    for (uint32_t round = 0; round < 20; round++) {
        fill_and_release(t, OLDER, LIVE_MAX, 0);
        ab_checker_sweep(&t->checker);
        expect_live(t, before, "after a release");
    }
    if (before != AB_UNKNOWN || !ab_trial_bound(BOUND_BYTES))
        return;
    t->checker.fills = t->checker.is_null_failure = false;
    for (uint32_t round = 0; round < ROUNDS; round++)
        fill_and_release(t, OLDER, OLDER + 2, LARGE);
    ab_trial_unbound();
    ab_checker_sweep(&t->checker);
}
