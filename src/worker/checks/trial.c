/* SPDX-License-Identifier: MIT
 *
 * Helpers for all checks: answers, random requests, a limit on memory.
 */
#include "base/bits.h"
#include "worker/checks/checks.h"
#include "worker/crash/crash.h"

#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static void answer(struct ab_trial *t, enum ab_verify_answer what, const char *text)
{
    struct ab_words w = {.n = 0};
    ab_words_add(&w, text);
    w.text[sizeof t->report->text - 1] = 0;
    memcpy(t->report->text, w.text, sizeof t->report->text);
    t->report->answer = what;
}

void ab_trial_skip(struct ab_trial *t, const char *why)
{
    answer(t, AB_ANSWER_SKIPPED, why);
}

bool ab_trial_needs(struct ab_trial *t, bool is_there, const char *why)
{
    if (!is_there)
        ab_trial_skip(t, why);
    return is_there;
}

bool ab_trial_needs_free(struct ab_trial *t)
{
    return ab_trial_needs(t, ab_target_can_free(t->target),
                          "frees only on reset, by its own declaration");
}

void ab_trial_info(struct ab_trial *t, const char *text)
{
    answer(t, AB_ANSWER_INFO, text);
}

void ab_trial_break(struct ab_trial *t, const char *text)
{
    answer(t, AB_ANSWER_BROKEN, text);
}

_Noreturn void ab_trial_fail_text(struct ab_trial *t, const char *text)
{
    t->checker.fail(t->checker.user, text);
}

_Noreturn void ab_trial_fail(struct ab_trial *t, const struct ab_words *w)
{
    ab_trial_fail_text(t, w->text);
}

uint32_t ab_trial_calls(const struct ab_trial *t, enum ab_call calls[AB_CALL_COUNT])
{
    uint32_t n = 0;
    for (enum ab_call call = AB_CALL_ALLOC; call < AB_CALL_COUNT; call++)
        if (ab_target_has(t->target, call))
            calls[n++] = call;
    return n;
}

size_t ab_trial_size(struct ab_trial *t, size_t most)
{
    unsigned log2 = (unsigned)ab_rng_below(&t->rng, ab_log2(most) + 1);
    size_t size = ((size_t)1 << log2) + ab_rng_below(&t->rng, (uint64_t)1 << log2);
    return size < most ? size : most;
}

struct ab_ask ab_ask_of(enum ab_call call, size_t align, size_t size)
{
    if (call < AB_CALL_ALIGNED)
        return (struct ab_ask){call, 0, size};
    /* C11 does not define sizes that are no multiple of the alignment; an informational check
     * reports them. */
    if (call == AB_CALL_C11)
        size = ab_align_up(size, align);
    return (struct ab_ask){call, align, size};
}

struct ab_ask ab_trial_ask(struct ab_trial *t, size_t size, size_t most_align)
{
    enum ab_call calls[AB_CALL_COUNT];
    uint32_t n = ab_trial_calls(t, calls);
    unsigned logs = ab_log2(most_align) - 3;
    enum ab_call call = calls[ab_rng_below(&t->rng, n)];
    size_t align = (size_t)16 << ab_rng_below(&t->rng, logs);
    return ab_ask_of(call, align < most_align ? align : most_align, size);
}

void ab_trial_take(struct ab_trial *t, struct ab_block *b, const struct ab_ask *ask)
{
    *b = (struct ab_block){ab_checker_ask(&t->checker, t->target->heap, ask), ask->size};
}

void ab_trial_resize(struct ab_trial *t, struct ab_block *b, size_t size)
{
    const size_t sizes[2] = {b->size, size};
    *b = (struct ab_block){ab_checker_resize(&t->checker, t->target->heap, b->ref, sizes), size};
}

void ab_trial_drop(struct ab_trial *t, struct ab_block *b)
{
    ab_checker_free(&t->checker, t->target->heap, b->ref, b->size);
    b->ref = 0;
}

bool ab_trial_claims_misuse(const struct ab_trial *t)
{
    return (t->target->traits & AB_TRAIT_DETECTS_MISUSE) != 0;
}

/* Returns the private writable memory of this process in bytes, which RLIMIT_DATA limits. */
static uint64_t data_bytes(void)
{
    char text[256];
    int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? 0 : pread(fd, text, sizeof text - 1, 0);
    if (fd >= 0)
        close(fd);
    uint64_t field = 0, pages = 0;
    for (ssize_t i = 0; i < n && field < 6; i++) {
        bool is_digit = text[i] >= '0' && text[i] <= '9';
        if (is_digit && field == 5)
            pages = 10 * pages + (uint64_t)(text[i] - '0');
        field += !is_digit;
    }
    return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* Limits fresh memory by RLIMIT_DATA. Unlike RLIMIT_AS, it works for allocators that reserve all
 * their addresses at the start: reserved memory counts only once it is made writable. */
bool ab_trial_bound(uint64_t bytes)
{
    uint64_t now = data_bytes();
    struct rlimit limit;
    if (now == 0 || getrlimit(RLIMIT_DATA, &limit) != 0)
        return false;
    limit.rlim_cur = now + bytes < limit.rlim_max ? now + bytes : limit.rlim_max;
    return setrlimit(RLIMIT_DATA, &limit) == 0;
}

void ab_trial_unbound(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_DATA, &limit) != 0)
        return;
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_DATA, &limit);
}

uint64_t ab_trial_live_bytes(const struct ab_trial *t)
{
    const struct ab_backend *hooks = t->target->hooks;
    struct ab_heap_stats stats = {AB_UNKNOWN, AB_UNKNOWN, AB_UNKNOWN, AB_UNKNOWN, AB_UNKNOWN};
    if (hooks == NULL || hooks->stats == NULL)
        return AB_UNKNOWN;
    ab_call_note_begin(AB_CALLED_STATS, 0, 0, 0);
    bool has_stats = hooks->stats(t->target->heap, &stats) == 0;
    ab_call_note_end();
    return has_stats ? stats.live_bytes : AB_UNKNOWN;
}

/* ---- a NULL where a check needs a block ----
 *
 * The heap may be full, because the user's own settings fixed its capacity. The parent finds
 * out, by running the same check without these settings. Here the trial proves that the heap is
 * full and not broken: its blocks keep their contents, and once they are freed, as many can be
 * allocated again, many times over. */

enum { HELD_MAX = 1024, CYCLES = 16 };

static struct held {
    ab_ref ref;
    size_t size; /* size of the block now; a resize may have changed it */
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
    if (again >= n / 8 && (again > 0 || n == 0)) /* the heap may keep some memory for itself */
        return;
    ab_words_pair(&w, "of ", n);
    ab_words_pair(&w, " blocks freed after a NULL only ", again);
    ab_words_add(&w, " could be allocated again");
    ab_trial_fail(t, &w);
}

/* True if freed blocks can be allocated again. Threads that are still running would take them. */
static bool can_try_again(const struct ab_trial *t)
{
    return !t->checker.is_shared && ab_target_can_free(t->target) &&
           (t->target->traits & AB_TRAIT_WEARS) == 0;
}

void ab_trial_prove_full(struct ab_trial *t)
{
    struct ab_verify_report *report = t->report;
    t->checker.is_null_failure = false;
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
