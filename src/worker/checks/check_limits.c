/* SPDX-License-Identifier: MIT
 *
 * Limits: requests that must fail, requests that must succeed, and the reuse of freed memory.
 */
#include "worker/checks/checks.h"

#include "base/bits.h"

#define BOUND_BYTES ((uint64_t)64 << 20)

enum { EXHAUST_MAX = 16384, EXHAUST_BYTES = 32768 };

static ab_ref held[EXHAUST_MAX];

static _Noreturn void fail_ask(struct ab_trial *t, const struct ab_ask *ask, const char *what)
{
    struct ab_words w = {.n = 0};
    ab_words_ask(&w, t->target, ask);
    ab_words_add(&w, what);
    ab_trial_fail(t, &w);
}

static void ask_too_much(struct ab_trial *t, enum ab_call call)
{
    static const size_t sizes[] = {(size_t)PTRDIFF_MAX + 1,
                                   (size_t)PTRDIFF_MAX + 4096,
                                   SIZE_MAX - 65536,
                                   SIZE_MAX - 8192,
                                   SIZE_MAX - 4096,
                                   SIZE_MAX - 256,
                                   SIZE_MAX - 64,
                                   SIZE_MAX - 33,
                                   SIZE_MAX - 32,
                                   SIZE_MAX - 31,
                                   SIZE_MAX - 17,
                                   SIZE_MAX - 16,
                                   SIZE_MAX - 15,
                                   SIZE_MAX - 8,
                                   SIZE_MAX - 7,
                                   SIZE_MAX - 1,
                                   SIZE_MAX};
    for (unsigned i = 0; i < AB_ARRAY_LEN(sizes); i++)
        for (size_t align = 16; align <= 4096; align *= call >= AB_CALL_ALIGNED ? 16 : 4096) {
            struct ab_ask ask = {call, call >= AB_CALL_ALIGNED ? align : 0, sizes[i]};
            if (ab_target_ask(t->target, t->target->heap, &ask) != 0)
                fail_ask(t, &ask, " returned a block, not NULL");
            t->report->work++;
        }
}

void ab_check_limits(struct ab_trial *t)
{
    enum ab_call calls[AB_CALL_COUNT];
    uint32_t n = ab_trial_calls(t, calls);
    for (uint32_t i = 0; i < n; i++)
        ask_too_much(t, calls[i]);
    t->checker.fills = false;
    for (uint32_t i = 0; i < n; i++)
        for (size_t size = 1; size <= 4096; size += size < 128 ? 1 : 61) {
            struct ab_ask ask = ab_ask_of(calls[i], 16, size);
            ab_ref ref = ab_checker_ask(&t->checker, t->target->heap, &ask);
            ab_checker_free(&t->checker, t->target->heap, ref, ask.size);
            t->report->work++;
        }
}

/* Allocates blocks until there is no more memory. Returns the number of blocks. */
static uint32_t exhaust(struct ab_trial *t)
{
    uint32_t n = 0;
    struct ab_ask ask = {.call = AB_CALL_ALLOC, .size = EXHAUST_BYTES};
    while (n < EXHAUST_MAX && (held[n] = ab_checker_ask(&t->checker, t->target->heap, &ask)) != 0)
        n++;
    return n;
}

/* Fills the memory with blocks. Writes both ends of every block, so that a block that extends
 * beyond mapped memory crashes the check. */
void ab_check_exhaustion(struct ab_trial *t)
{
    t->checker.edge_bytes = 64;
    t->checker.is_null_failure = false;
    if (!ab_trial_needs(t, ab_trial_bound(BOUND_BYTES),
                        "the memory of a process cannot be limited here"))
        return;
    uint32_t n = exhaust(t);
    if (!ab_trial_needs(t, n < EXHAUST_MAX, "all its memory was mapped before the limit was set"))
        return;
    ab_checker_sweep(&t->checker);
    for (uint32_t i = 0; i < n; i++)
        ab_checker_free(&t->checker, t->target->heap, held[i], EXHAUST_BYTES);
    bool comes_back = ab_target_can_free(t->target) && (t->target->traits & AB_TRAIT_WEARS) == 0;
    uint32_t again = comes_back ? exhaust(t) : n;
    ab_trial_unbound();
    t->report->work = n;
    ab_trial_expect_again(t, n, again);
}

static void fail_reuse(struct ab_trial *t, const struct ab_ask *ask, uint32_t n)
{
    struct ab_words w = {.n = 0};
    ab_words_add(&w, "freed memory is not reused: NULL from ");
    ab_words_ask(&w, t->target, ask);
    ab_words_pair(&w, " after ", n);
    ab_words_add(&w, " alloc/free pairs, within 64 MiB");
    ab_trial_null(t, w.text);
}

static void reuse(struct ab_trial *t, const struct ab_ask *ask, uint32_t n_pairs)
{
    for (uint32_t i = 0; i < n_pairs; i++, t->report->work++) {
        ab_ref ref = ab_checker_ask(&t->checker, t->target->heap, ask);
        if (ref == 0)
            fail_reuse(t, ask, i);
        ab_checker_free(&t->checker, t->target->heap, ref, ask->size);
    }
}

static void reuse_resized(struct ab_trial *t, uint32_t n_pairs)
{
    const size_t sizes[2] = {4096, 16384};
    struct ab_ask ask = {.call = AB_CALL_ALLOC, .size = sizes[0]};
    for (uint32_t i = 0; i < n_pairs; i++, t->report->work++) {
        ab_ref ref = ab_checker_ask(&t->checker, t->target->heap, &ask);
        if (ref == 0 || (ref = ab_checker_resize(&t->checker, t->target->heap, ref, sizes)) == 0)
            fail_reuse(t, &ask, i);
        ab_checker_free(&t->checker, t->target->heap, ref, sizes[1]);
    }
}

/* Checks that freed memory is used again. There is one loop for each kind of call, so that other
 * calls do not hide a leak in one of them. */
void ab_check_reuse(struct ab_trial *t)
{
    enum ab_call calls[AB_CALL_COUNT];
    uint32_t n = ab_trial_calls(t, calls);
    if (!ab_trial_needs_free(t))
        return;
    t->checker.fills = false;
    t->checker.is_null_failure = false;
    if (!ab_trial_needs(t, ab_trial_bound(BOUND_BYTES),
                        "the memory of a process cannot be limited here"))
        return;
    for (uint32_t i = 0; i < n; i++) {
        struct ab_ask small = ab_ask_of(calls[i], 64, 2048);
        struct ab_ask large = ab_ask_of(calls[i], 1024, 16384);
        struct ab_ask huge = ab_ask_of(calls[i], 4096, 122880);
        reuse(t, &small, 60000);
        reuse(t, &large, 6000);
        reuse(t, &huge, 1200);
    }
    if (ab_target_can_resize(t->target))
        reuse_resized(t, 20000);
    ab_trial_unbound();
}
