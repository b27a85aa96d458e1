/* SPDX-License-Identifier: MIT
 *
 * The checks of `allocbench verify`: what each proves, how much work it must have done to count,
 * and what it asks for. The worker runs one in a process of its own; the parent reads the same
 * table. A required check fails the back end; an informational one reports how it behaves where
 * the standards leave it open, and fails only what the back end itself claims.
 */
#ifndef AB_WORKER_CHECKS_CHECKS_H
#define AB_WORKER_CHECKS_CHECKS_H

#include "base/rng.h"
#include "wire/run.h"
#include "worker/checks/checker.h"

/* One check while it runs, and what every check needs. */

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
/* Is it there? Else the trial is skipped. */
bool ab_trial_needs(struct ab_trial *t, bool is_there, const char *why);
/* The same of frees that give something back. */
bool ab_trial_needs_free(struct ab_trial *t);
void ab_trial_info(struct ab_trial *t, const char *answer);
/* Informational: it claims otherwise. */
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
struct ab_block { /* of the trial's own heap; ref 0: none */
    ab_ref ref;
    size_t size;
};
/* By the checker: a block in place of what was noted there, resized, freed. */
void ab_trial_take(struct ab_trial *t, struct ab_block *b, const struct ab_ask *ask);
void ab_trial_resize(struct ab_trial *t, struct ab_block *b, size_t size);
void ab_trial_drop(struct ab_trial *t, struct ab_block *b);

/* Does the back end claim to notice frees that no program may do? */
bool ab_trial_claims_misuse(const struct ab_trial *t);
/* What the heap says is live; AB_UNKNOWN when it does not say. */
uint64_t ab_trial_live_bytes(const struct ab_trial *t);

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

/* A heap that is full, as against one that is broken. */

/* A NULL where there should be room ends the trial; and what its end proves before
 * that, so that being full is distinguished from being broken. report->n_live: blocks that the
 * checker does not know. */
_Noreturn void ab_trial_null(struct ab_trial *t, const char *text);
void ab_trial_prove_full(struct ab_trial *t);
/* Of n blocks that were freed after a NULL so many could be had again: too few fail. */
void ab_trial_expect_again(struct ab_trial *t, uint32_t n, uint32_t again);

#endif
