/* SPDX-License-Identifier: MIT
 *
 * The checks of `allocbench verify`: what each proves, how much work it must have done to count,
 * and what it asks for. The worker runs one in a process of its own; the parent reads the same
 * table. A gate fails the back end; a line of the matrix tells how it behaves where the standards
 * leave it open, and fails only what the back end itself claims.
 */
#ifndef AB_WORKER_CHECKS_CHECKS_H
#define AB_WORKER_CHECKS_CHECKS_H

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

struct ab_check {
    const char *name, *rule; /* "alignment", and what is proven in one line */
    const char *unit;        /* of the work: "blocks" */
    uint64_t floor;          /* work below it is no proof */
    bool is_matrix;
    bool may_abort;          /* ending the process is an answer too */
    unsigned proves;         /* enum ab_proof: what the checker tells */
    uint32_t deadline_ms;
    struct ab_facts facts;   /* what the heap is opened with */
    void (*run)(struct ab_trial *t);
};

extern const struct ab_check ab_checks[];
extern const uint32_t ab_check_count;

/* Runs it to its end: afterwards report->answer says what came out. What is wrong ends in
 * checker.fail, which the caller has set along with the rng and the report. */
void ab_check_run(const struct ab_check *check, struct ab_trial *t);

/* ---- for the checks ---- */

/* Nothing to check here. */
void ab_trial_skip(struct ab_trial *t, const char *why);
void ab_trial_tell(struct ab_trial *t, const char *answer);
/* The matrix: it claims otherwise. */
void ab_trial_break(struct ab_trial *t, const char *answer);
_Noreturn void ab_trial_fail(struct ab_trial *t, const struct ab_words *w);
/* capacity.c: a NULL where there should be room ends the trial; and what its end proves before
 * that, so that being full is told from being broken. report->n_live: blocks that the checker does
 * not know. */
_Noreturn void ab_trial_null(struct ab_trial *t, const char *text);
void ab_trial_prove_full(struct ab_trial *t);
/* Of n blocks that were freed behind a NULL so many could be had again: too few fail. */
void ab_trial_expect_again(struct ab_trial *t, uint32_t n, uint32_t again);
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

/* check_*.c */
void ab_check_alignment(struct ab_trial *t);
void ab_check_overlap(struct ab_trial *t);
void ab_check_content(struct ab_trial *t);
void ab_check_slack(struct ab_trial *t);
void ab_check_usable(struct ab_trial *t);
void ab_check_prefix(struct ab_trial *t);
void ab_check_failed_resize(struct ab_trial *t);
void ab_check_zeroed(struct ab_trial *t);
void ab_check_overflow(struct ab_trial *t);
void ab_check_zero_size(struct ab_trial *t);
void ab_check_limits(struct ab_trial *t);
void ab_check_exhaustion(struct ab_trial *t);
void ab_check_reuse(struct ab_trial *t);
void ab_check_remote_reuse(struct ab_trial *t);
uint64_t ab_trial_live_bytes(const struct ab_trial *t); /* AB_UNKNOWN when it does not say */
void ab_check_errno(struct ab_trial *t);
void ab_check_threads(struct ab_trial *t);
void ab_check_fork(struct ab_trial *t);
void ab_check_statistics(struct ab_trial *t);
void ab_check_reset(struct ab_trial *t);
void ab_check_mark(struct ab_trial *t);
void ab_check_handles(struct ab_trial *t);
/* matrix_*.c */
void ab_matrix_double_free(struct ab_trial *t);
void ab_matrix_late_double_free(struct ab_trial *t);
void ab_matrix_invalid_free(struct ab_trial *t);
void ab_matrix_foreign_handle(struct ab_trial *t);
void ab_matrix_repeatable(struct ab_trial *t);
void ab_matrix_fork_in_handler(struct ab_trial *t);
void ab_matrix_enomem(struct ab_trial *t);
void ab_matrix_zero_size(struct ab_trial *t);
void ab_matrix_realloc_zero(struct ab_trial *t);
void ab_matrix_odd_alignment(struct ab_trial *t);
void ab_matrix_odd_size(struct ab_trial *t);
void ab_matrix_small_alignment(struct ab_trial *t);

#endif
