/* SPDX-License-Identifier: MIT
 *
 * One check while it runs, and what every check needs.
 */
#ifndef AB_WORKER_CHECKS_TRIAL_H
#define AB_WORKER_CHECKS_TRIAL_H

#include "base/rng.h"
#include "wire/verify_run.h"
#include "worker/checks/checker.h"

struct ab_trial { /* one check while it runs */
    const struct ab_target *target;
    struct ab_checker checker;
    struct ab_rng rng;
    struct ab_verify_report *report;
    /* One more heap of the target, opened like the first; NULL: it has none. */
    bool (*reopen)(void *user, struct ab_heap **out);
};

/* Nothing to check here. */
void ab_trial_skip(struct ab_trial *t, const char *why);
void ab_trial_tell(struct ab_trial *t, const char *answer);
/* The matrix: it claims otherwise. */
void ab_trial_break(struct ab_trial *t, const char *answer);
_Noreturn void ab_trial_fail(struct ab_trial *t, const struct ab_words *w);
_Noreturn void ab_trial_fail_text(struct ab_trial *t, const char *text);
/* All calls that the target has, as a list; how many. */
uint32_t ab_trial_calls(const struct ab_trial *t, enum ab_call calls[AB_CALL_COUNT]);
/* 1 … most, small ones much more often. */
size_t ab_trial_size(struct ab_trial *t, size_t most);
/* A request of this size by one of the calls; aligned ones to 16 … most_align. */
struct ab_ask ab_trial_ask(struct ab_trial *t, size_t size, size_t most_align);
/* `call` with its alignment as it must be: none for the others. */
struct ab_ask ab_ask_of(enum ab_call call, size_t align, size_t size);
/* From now on the process gets no more than so many bytes of fresh memory. False: it cannot be
 * bounded here. */
bool ab_trial_bound(uint64_t bytes);
void ab_trial_unbound(void);
/* What the heap says is live; AB_UNKNOWN when it does not say. */
uint64_t ab_trial_live_bytes(const struct ab_trial *t);

#endif
