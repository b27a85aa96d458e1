/* SPDX-License-Identifier: MIT
 *
 * Resizes that succeed, resizes that fail, and memory that must be zero.
 */
#include "worker/checks/checks.h"

#include "base/bits.h"

#include <errno.h>
#include <stdlib.h>

enum { LIVE_MAX = 64 };

static struct ab_block live[LIVE_MAX];

static void ask(struct ab_trial *t, struct ab_block *l, size_t size)
{
    ab_trial_take(t, l, &(struct ab_ask){.call = AB_CALL_ALLOC, .size = size});
}

static void drop_all(struct ab_trial *t, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        ab_trial_drop(t, &live[i]);
}

/* Checks that resizes keep the contents. Other blocks are allocated between the growing blocks, so
 * that not all can grow in place. */
void ab_check_prefix(struct ab_trial *t)
{
    if (!ab_trial_needs(t, ab_target_can_resize(t->target), "no resize"))
        return;
    for (uint32_t i = 0; i < LIVE_MAX; i++)
        ask(t, &live[i], ab_trial_size(t, 512));
    for (uint32_t i = 0; i < 4000; i++)
        ab_trial_resize(t, &live[ab_rng_below(&t->rng, LIVE_MAX)], ab_trial_size(t, 16384));
    for (uint32_t i = 0; i < 100; i++)
        ab_trial_resize(t, &live[ab_rng_below(&t->rng, 4)], ab_trial_size(t, 1 << 20));
    ab_checker_sweep(&t->checker);
    drop_all(t, LIVE_MAX);
    t->report->work = t->checker.n_resized;
}

/* Checks that a failed resize leaves the old block alone. After each failure, allocates blocks of
 * the same size. If the resize had freed the old block, one of them would be at its address. */
void ab_check_failed_resize(struct ab_trial *t)
{
    static const size_t too_large[] = {(size_t)PTRDIFF_MAX + 1, SIZE_MAX - 64, SIZE_MAX};
    if (!ab_trial_needs(t, ab_target_can_resize(t->target), "no resize"))
        return;
    t->checker.is_null_failure = false;
    for (uint32_t i = 0; i < 120; i++) {
        size_t size = ab_trial_size(t, 4096);
        const size_t sizes[2] = {size, too_large[i % AB_ARRAY_LEN(too_large)]};
        ask(t, &live[0], size);
        if (live[0].ref == 0)
            ab_trial_null(t, "an allocation returned NULL");
        if (ab_checker_resize(&t->checker, t->target->heap, live[0].ref, sizes) != 0)
            ab_trial_fail_text(t, "a resize to more than PTRDIFF_MAX returned a block");
        for (uint32_t k = 1; k < 4; k++)
            ask(t, &live[k], size);
        drop_all(t, 4);
        t->report->work++;
    }
}

/* Checks that zeroed blocks are zero: fills blocks with data and frees them, then requests zeroed
 * memory of about the same size. */
void ab_check_zeroed(struct ab_trial *t)
{
    static const size_t sizes[] = {1,    8,    16,   24,   48,    100,   256,    1000,
                                   2048, 4096, 4097, 5000, 10000, 70000, 140000, 262144};
    enum { AT_ONCE = 8 };
    if (!ab_trial_needs(t, ab_target_has(t->target, AB_CALL_ZEROED), "no zeroed allocation"))
        return;
    for (unsigned round = 0; round < 4; round++)
        for (unsigned s = 0; s < AB_ARRAY_LEN(sizes); s++) {
            for (uint32_t i = 0; i < AT_ONCE; i++)
                ask(t, &live[i], sizes[s]);
            drop_all(t, AT_ONCE);
            for (uint32_t i = 0; i < AT_ONCE; i++) {
                struct ab_ask zeroed = {.call = AB_CALL_ZEROED, .size = sizes[s]};
                ab_trial_take(t, &live[i], &zeroed);
                t->report->work++;
            }
            drop_all(t, AT_ONCE);
        }
}

static void fail_overflow(struct ab_trial *t, size_t n, size_t m)
{
    struct ab_words w = {.n = 0};
    ab_words_pair(&w, "calloc(", n);
    ab_words_pair(&w, ", ", m);
    ab_words_add(&w, ") returned a block, but the product overflows size_t");
    ab_trial_fail(t, &w);
}

void ab_check_overflow(struct ab_trial *t)
{
    if (!ab_trial_needs(t, t->target->calls.calloc != NULL, "no calloc"))
        return;
    for (unsigned shift = 1; shift < 32; shift++) {
        /* Element counts whose product with the size overflows to 0, to 1 << shift, and to nearly
         * SIZE_MAX. */
        size_t n = (size_t)1 << (63 - shift), m = (size_t)1 << (shift + 1);
        if (ab_target_calloc(t->target, n, m) != 0)
            fail_overflow(t, n, m);
        if (ab_target_calloc(t->target, n + 1, m) != 0)
            fail_overflow(t, n + 1, m);
        if (ab_target_calloc(t->target, SIZE_MAX / m + 2, m) != 0)
            fail_overflow(t, SIZE_MAX / m + 2, m);
        t->report->work += 3;
    }
}

void ab_check_zero_size(struct ab_trial *t)
{
    enum ab_call calls[AB_CALL_COUNT];
    uint32_t n = ab_trial_calls(t, calls);
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < LIVE_MAX / 2; k++) {
            struct ab_ask nothing = {calls[i], calls[i] >= AB_CALL_ALIGNED ? 64 : 0, 0};
            ab_trial_take(t, &live[k], &nothing);
            t->report->work++;
            if (k == LIVE_MAX / 2 - 1)
                drop_all(t, LIVE_MAX / 2);
        }
}

void ab_check_errno(struct ab_trial *t)
{
    static const size_t sizes[] = {1, 64, 1000, 4096, 65536, 300000, 4 << 20};
    enum { MARK = 4711 };
    if (!ab_trial_needs(t, ab_target_is_malloc(t->target), "errno is not specified for heaps"))
        return;
    for (unsigned i = 0; i < 20 * AB_ARRAY_LEN(sizes); i++) {
        ask(t, &live[0], sizes[i % AB_ARRAY_LEN(sizes)]);
        errno = MARK;
        drop_all(t, 1);
        t->report->work++;
        if (errno == MARK)
            continue;
        struct ab_words w = {.n = 0};
        ab_words_pair(&w, "free of a block of ", live[0].size);
        ab_words_pair(&w, " bytes changed errno to ", (uint64_t)errno);
        ab_trial_fail(t, &w);
    }
}
