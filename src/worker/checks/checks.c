/* SPDX-License-Identifier: MIT
 *
 * The table of all checks: what each proves, how much work it takes to prove it, and what the heap
 * is told of that work.
 */
#include "worker/checks/checks.h"

#include "base/bits.h"

#define KIB ((uint64_t)1 << 10)
#define MIB ((uint64_t)1 << 20)
#define ALL_KINDS ((1u << AB_OP_KIND_COUNT) - 1)

/* What a heap is told of the work to come; bounds, not counts, for the checks draw at random. */
#define FACTS(largest, blocks, total, n_lanes) \
    {.largest_bytes = (largest), .largest_align = 4096, .live_peak_blocks = (blocks), \
     .live_peak_bytes = (largest) * (blocks) / 4, .total_bytes = (total), \
     .total_blocks = (total) / 64, .lanes = (n_lanes), .kinds = ALL_KINDS}

#define GATE(name, unit, floor, run, proofs, facts, rule) \
    {name, rule, unit, floor, false, false, proofs, 10000, facts, run}
#define GATE_OR_ABORT(name, unit, floor, run, proofs, facts, rule) \
    {name, rule, unit, floor, false, true, proofs, 10000, facts, run}
#define TELL(name, run, rule) \
    {name, rule, "", 0, true, true, 0, 5000, FACTS(64 * KIB, 4096, 64 * MIB, 1), run}
#define BYTES (AB_PROVE_PLACE | AB_PROVE_CONTENT)

const struct ab_check ab_checks[] = {
    GATE("alignment", "blocks", 2000, ab_check_alignment, AB_PROVE_ALIGN,
         FACTS(64 * KIB, 512, 128 * MIB, 1),
         "every call gives what it was asked for: 16 bytes, or the largest power of two in size"),
    GATE("overlap", "blocks", 20000, ab_check_overlap, AB_PROVE_PLACE,
         FACTS(2 * KIB, 1024, 128 * MIB, 1),
         "no live block shares a byte with another, by addresses alone; nothing is written"),
    GATE("content", "blocks", 10000, ab_check_content, AB_PROVE_CONTENT,
         FACTS(256 * KIB, 512, 512 * MIB, 1),
         "a block keeps what was written to it until it is freed"),
    GATE("usable", "blocks", 500, ab_check_usable, AB_PROVE_USABLE,
         FACTS(64 * KIB, 512, 64 * MIB, 1),
         "usable_size is at least the request and stays what it was"),
    GATE("slack", "blocks", 5000, ab_check_slack, BYTES,
         FACTS(8 * KIB, 512, 128 * MIB, 1),
         "memory up to usable_size is the block's own and can be written"),
    GATE("prefix", "resizes", 2000, ab_check_prefix, AB_PROVE_PREFIX,
         FACTS(1 * MIB, 64, 1024 * MIB, 1),
         "a resize keeps the first min(old, new) bytes"),
    GATE("failed-resize", "failures", 100, ab_check_failed_resize, BYTES,
         FACTS(4 * KIB, 256, 16 * MIB, 1),
         "a resize that fails leaves the block as it was, and live"),
    GATE("zeroed", "blocks", 300, ab_check_zeroed, AB_PROVE_ZERO,
         FACTS(256 * KIB, 64, 256 * MIB, 1),
         "zeroed memory is zero, also where it was used before"),
    GATE("overflow", "calls", 20, ab_check_overflow, 0,
         FACTS(4 * KIB, 64, 1 * MIB, 1),
         "calloc(n, m) gives NULL where n times m is more than a size_t holds"),
    GATE("zero-size", "blocks", 32, ab_check_zero_size, AB_PROVE_PLACE,
         FACTS(4 * KIB, 256, 1 * MIB, 1),
         "blocks of size 0 are NULL, or all different and can be freed"),
    GATE("limits", "calls", 100, ab_check_limits, 0,
         FACTS(4 * KIB, 8192, 64 * MIB, 1),
         "more than PTRDIFF_MAX gives NULL, every small size a block"),
    GATE_OR_ABORT("exhaustion", "blocks", 100, ab_check_exhaustion, BYTES,
         FACTS(32 * KIB, 16384, 1024 * MIB, 1),
         "where memory ends there is NULL, and blocks again once some were freed"),
    GATE("reuse", "pairs", 60000, ab_check_reuse, 0,
         FACTS(128 * KIB, 64, 2048 * MIB, 1),
         "what is freed is used again, for each kind of call"),
    GATE("remote-reuse", "pairs", 40000, ab_check_remote_reuse, 0,
         FACTS(4 * KIB, 4096, 256 * MIB, 2),
         "what another thread frees is used again"),
    GATE("errno", "frees", 100, ab_check_errno, 0,
         FACTS(64 * KIB, 64, 64 * MIB, 1),
         "free leaves errno alone"),
    GATE("threads", "blocks", 10000, ab_check_threads, BYTES,
         FACTS(4 * KIB, 4096, 512 * MIB, 4),
         "blocks of one thread are freed by others, and outlive the thread that asked for them"),
    GATE("fork", "children", 10, ab_check_fork, 0,
         FACTS(4 * KIB, 1024, 128 * MIB, 4),
         "the child of a process with threads allocates"),
    GATE("statistics", "blocks", 200, ab_check_statistics, 0,
         FACTS(4 * KIB, 1024, 16 * MIB, 1),
         "live bytes are at least what was asked for, and none once all is freed"),
    GATE("reset", "blocks", 1000, ab_check_reset, BYTES,
         FACTS(4 * KIB, 512, 128 * MIB, 1),
         "a reset ends all blocks, and what comes after it is as good as before"),
    GATE("mark", "blocks", 1000, ab_check_mark, BYTES,
         FACTS(4 * KIB, 512, 128 * MIB, 1),
         "a release ends what is younger than its mark, and nothing else"),
    GATE("handles", "handles", 10000, ab_check_handles, AB_PROVE_CONTENT | AB_PROVE_STALE,
         FACTS(4 * KIB, 1024, 128 * MIB, 1),
         "a stale handle is known as stale, however often its place was used again"),
    TELL("double-free", ab_matrix_double_free, "a block is freed twice in a row"),
    TELL("late-double-free", ab_matrix_late_double_free,
         "a block is freed again, with other frees between"),
    TELL("invalid-free", ab_matrix_invalid_free, "the middle of a block is freed"),
    TELL("foreign-handle", ab_matrix_foreign_handle, "a handle is resolved in another heap"),
    TELL("repeatable", ab_matrix_repeatable, "the same calls give the same places"),
    TELL("fork-in-handler", ab_matrix_fork_in_handler,
         "a signal handler forks within malloc, the child allocates"),
    TELL("ENOMEM", ab_matrix_enomem, "errno after a request that cannot be served"),
    TELL("malloc(0)", ab_matrix_zero_size, "what a request for nothing gives"),
    TELL("realloc(p,0)", ab_matrix_realloc_zero, "what a resize to nothing does"),
    TELL("aligned_alloc(48)", ab_matrix_odd_alignment, "an alignment that is no power of two"),
    TELL("aligned_alloc(64,100)", ab_matrix_odd_size, "a size that is no multiple of it"),
    TELL("malloc(8)", ab_matrix_small_alignment, "how blocks of less than 16 bytes are aligned"),
};
const uint32_t ab_check_count = AB_ARRAY_LEN(ab_checks);

void ab_check_run(const struct ab_check *check, struct ab_trial *t)
{
    t->checker.proves = check->proves;
    check->run(t);
    if (t->report->answer == AB_ANSWER_NONE)
        t->report->answer = AB_ANSWER_PASS;
}
