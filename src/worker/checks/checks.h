/* SPDX-License-Identifier: MIT
 *
 * The checks of `allocbench verify`: the rule that each proves, the least work for a proof, and the
 * facts that its heap is opened with. The worker runs one check in a process of its own; the parent
 * reads the same table. A required check fails the back end. An informational check reports
 * behavior that the standards leave open, and fails only what the back end itself claims.
 */
#ifndef AB_WORKER_CHECKS_CHECKS_H
#define AB_WORKER_CHECKS_CHECKS_H

#include "base/rng.h"
#include "wire/run_page.h"
#include "worker/checks/checker.h"

/* ---- one running check, and helpers for all checks ---- */

struct ab_trial { /* one running check */
    const struct ab_target *target;
    struct ab_checker checker;
    struct ab_rng rng;
    struct ab_verify_report *report;
    /* Opens one more heap of the target, like the first one; NULL = the target has only one
     * heap. */
    bool (*reopen)(void *user, struct ab_heap **out);
};

/* Ends the check with the answer "skipped", because it does not apply here. */
void ab_trial_skip(struct ab_trial *t, const char *why);
/* Returns is_there. If it is false, ends the check as skipped, because the target lacks the
 * function `what`. */
bool ab_trial_needs(struct ab_trial *t, bool is_there, const char *why);
/* Ends the check as skipped if frees do not give memory back. */
bool ab_trial_needs_free(struct ab_trial *t);
void ab_trial_info(struct ab_trial *t, const char *answer);
/* Ends an informational check whose answer contradicts a claim of the back end. */
void ab_trial_break(struct ab_trial *t, const char *answer);
_Noreturn void ab_trial_fail(struct ab_trial *t, const struct ab_words *w);
_Noreturn void ab_trial_fail_text(struct ab_trial *t, const char *text);
/* Writes all kinds of calls that the target has to `calls`; returns their number. */
uint32_t ab_trial_calls(const struct ab_trial *t, enum ab_call calls[AB_CALL_COUNT]);
/* Returns a random size from 1 to `most`; small sizes are much more likely. */
size_t ab_trial_size(struct ab_trial *t, size_t most);
/* Returns a request of this size with a random kind of call; alignments are from 16 to
 * most_align. */
struct ab_ask ab_trial_ask(struct ab_trial *t, size_t size, size_t most_align);
/* Returns a request with the given kind of call; drops the alignment for calls that take none, and
 * rounds the size up for aligned_alloc. */
struct ab_ask ab_ask_of(enum ab_call call, size_t align, size_t size);
/* Limits the memory that the process may newly get from now on. Returns false if that is not
 * possible here. */
bool ab_trial_bound(uint64_t bytes);
void ab_trial_unbound(void);
struct ab_block { /* a block of the trial's own heap; ref 0 = none */
    ab_ref ref;
    size_t size;
};
/* ab_trial_take() allocates a block and describes it in *b; the others resize and free the block of
 * *b. All three go through the checker. */
void ab_trial_take(struct ab_trial *t, struct ab_block *b, const struct ab_ask *ask);
void ab_trial_resize(struct ab_trial *t, struct ab_block *b, size_t size);
void ab_trial_drop(struct ab_trial *t, struct ab_block *b);

/* True if the back end claims to detect invalid frees. */
bool ab_trial_claims_misuse(const struct ab_trial *t);
/* Returns the live bytes by the heap's own statistics; AB_UNKNOWN = not available. */
uint64_t ab_trial_live_bytes(const struct ab_trial *t);

struct ab_check {
    /* name of the check, such as "alignment", and the rule that it proves, in one line */
    const char *name, *rule;
    const char *unit; /* unit of its work, such as "blocks" */
    uint64_t floor;   /* least amount of work that proves the rule */
    bool is_info;     /* True if informational, else the check is required. */
    bool may_abort;   /* True if it is also a valid answer that the process aborts. */
    unsigned proves;  /* properties that the checker reports, as bits of enum ab_proof */
    uint32_t deadline_ms;
    struct ab_facts facts; /* facts that the heap is opened with */
    void (*run)(struct ab_trial *t);
};

extern const struct ab_check ab_checks[];
extern const uint32_t ab_check_count;

/* Runs the check to its end and sets report->answer. An error calls checker.fail. The caller has
 * set checker.fail, the rng and the report. */
void ab_check_run(const struct ab_check *check, struct ab_trial *t);

/* ---- functions of the checks ---- */
#define REQUIRED(name, unit, floor, run, ...) void run(struct ab_trial *t);
#define REQUIRED_OR_ABORT REQUIRED
#define INFO(name, run, rule) void run(struct ab_trial *t);
#include "worker/checks/checks.def"
#undef REQUIRED
#undef REQUIRED_OR_ABORT
#undef INFO

/* ---- telling a full heap from a broken one ---- */

/* ab_trial_null ends the trial after a NULL where there should be room. If the checker does not
 * know the caller's blocks, the caller first sets report->n_live. ab_trial_prove_full then proves
 * that the heap is full rather than broken. */
_Noreturn void ab_trial_null(struct ab_trial *t, const char *text);
void ab_trial_prove_full(struct ab_trial *t);
/* For a heap that had returned NULL, after which n blocks were freed: fails the check if `again`,
 * the number of blocks that could then be allocated, is 0 or less than n / 8. */
void ab_trial_expect_again(struct ab_trial *t, uint32_t n, uint32_t again);

#endif
