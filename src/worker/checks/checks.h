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
    unsigned proves;         /* enum ab_proof: what the checker reports */
    uint32_t deadline_ms;
    struct ab_facts facts; /* what the heap is opened with */
    void (*run)(struct ab_trial *t);
};

extern const struct ab_check ab_checks[];
extern const uint32_t ab_check_count;

/* Runs it to its end: afterwards report->answer says what came out. What is wrong ends in
 * checker.fail, which the caller has set along with the rng and the report. */
void ab_check_run(const struct ab_check *check, struct ab_trial *t);

/* The functions of the rows. */
#define REQUIRED(name, unit, floor, run, ...) void run(struct ab_trial *t);
#define REQUIRED_OR_ABORT REQUIRED
#define INFO(name, run, rule) void run(struct ab_trial *t);
#include "worker/checks/checks.def"
#undef REQUIRED
#undef REQUIRED_OR_ABORT
#undef INFO

#endif
