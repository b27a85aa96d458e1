/* SPDX-License-Identifier: MIT
 *
 * The checks of `allocbench verify`: what each proves, how much work it must have done to count,
 * and what it asks for. The worker runs one in a process of its own; the parent reads the same
 * table. A required check fails the back end; an informational one reports how it behaves where
 * the standards leave it open, and fails only what the back end itself claims.
 */
#ifndef AB_WORKER_CHECKS_CHECKS_H
#define AB_WORKER_CHECKS_CHECKS_H

#include "worker/checks/trial.h"

struct ab_check {
    const char *name, *rule; /* "alignment", and what is proven in one line */
    const char *unit;        /* of the work: "blocks" */
    uint64_t floor;          /* work below it is no proof */
    bool is_info;            /* else required */
    bool may_abort;          /* ending the process is an answer too */
    unsigned proves;         /* enum ab_proof: what the checker tells */
    uint32_t deadline_ms;
    struct ab_facts facts; /* what the heap is opened with */
    void (*run)(struct ab_trial *t);
};

extern const struct ab_check ab_checks[];
extern const uint32_t ab_check_count;

/* Runs it to its end: afterwards report->answer says what came out. What is wrong ends in
 * checker.fail, which the caller has set along with the rng and the report. */
void ab_check_run(const struct ab_check *check, struct ab_trial *t);

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
void ab_check_errno(struct ab_trial *t);
void ab_check_threads(struct ab_trial *t);
void ab_check_fork(struct ab_trial *t);
void ab_check_statistics(struct ab_trial *t);
void ab_check_reset(struct ab_trial *t);
void ab_check_mark(struct ab_trial *t);
void ab_check_handles(struct ab_trial *t);
/* behavior_*.c */
void ab_behavior_double_free(struct ab_trial *t);
void ab_behavior_late_double_free(struct ab_trial *t);
void ab_behavior_invalid_free(struct ab_trial *t);
void ab_behavior_foreign_handle(struct ab_trial *t);
void ab_behavior_repeatable(struct ab_trial *t);
void ab_behavior_fork_in_handler(struct ab_trial *t);
void ab_behavior_enomem(struct ab_trial *t);
void ab_behavior_zero_size(struct ab_trial *t);
void ab_behavior_realloc_zero(struct ab_trial *t);
void ab_behavior_odd_alignment(struct ab_trial *t);
void ab_behavior_odd_size(struct ab_trial *t);
void ab_behavior_small_alignment(struct ab_trial *t);

#endif
