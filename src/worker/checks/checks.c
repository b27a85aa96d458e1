/* SPDX-License-Identifier: MIT
 *
 * The table of all checks: the rule that each proves, the least work for a proof, and the facts
 * that its heap is opened with.
 */
#include "worker/checks/checks.h"

#include "base/bits.h"

#define KIB ((uint64_t)1 << 10)
#define MIB ((uint64_t)1 << 20)
#define ALL_KINDS ((1u << AB_OP_KIND_COUNT) - 1)

/* Facts with which the heap of a check is opened. They are bounds, not counts, because the checks
 * draw at random. */
#define FACTS(largest, blocks, total, n_lanes) \
    { \
        .largest_bytes = (largest), .largest_align = 4096, .live_peak_blocks = (blocks), \
        .live_peak_bytes = (largest) * (blocks) / 4, .total_bytes = (total), \
        .total_blocks = (total) / 64, .lanes = (n_lanes), .kinds = ALL_KINDS \
    }

#define ROW(name_, unit_, floor_, run_, proofs, facts_, rule_, ms, ...) \
    {.name = name_, \
     .unit = unit_, \
     .floor = floor_, \
     .run = run_, \
     .proves = proofs, \
     .facts = FACTS facts_, \
     .rule = rule_, \
     .deadline_ms = ms, \
     __VA_ARGS__},
#define REQUIRED(...) ROW(__VA_ARGS__, 10000, )
#define REQUIRED_OR_ABORT(...) ROW(__VA_ARGS__, 10000, .may_abort = true)
#define INFO(name_, run_, rule_) \
    ROW(name_, "", 0, run_, 0, (64 * KIB, 4096, 64 * MIB, 1), rule_, 5000, .is_info = true, \
        .may_abort = true)
#define BYTES (AB_PROVE_PLACE | AB_PROVE_CONTENT)

const struct ab_check ab_checks[] = {
#include "worker/checks/checks.def"
};
const uint32_t ab_check_count = AB_ARRAY_LEN(ab_checks);

void ab_check_run(const struct ab_check *check, struct ab_trial *t)
{
    t->checker.proves = check->proves;
    check->run(t);
    if (t->report->answer == AB_ANSWER_NONE)
        t->report->answer = AB_ANSWER_PASS;
}
