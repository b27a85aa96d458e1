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
    { \
        .largest_bytes = (largest), .largest_align = 4096, .live_peak_blocks = (blocks), \
        .live_peak_bytes = (largest) * (blocks) / 4, .total_bytes = (total), \
        .total_blocks = (total) / 64, .lanes = (n_lanes), .kinds = ALL_KINDS \
    }

#define REQUIRED(name, unit, floor, run, proofs, facts, rule) \
    { \
        name, rule, unit, floor, false, false, proofs, 10000, facts, run \
    }
#define REQUIRED_OR_ABORT(name, unit, floor, run, proofs, facts, rule) \
    { \
        name, rule, unit, floor, false, true, proofs, 10000, facts, run \
    }
#define INFO(name, run, rule) \
    { \
        name, rule, "", 0, true, true, 0, 5000, FACTS(64 * KIB, 4096, 64 * MIB, 1), run \
    }
#define BYTES (AB_PROVE_PLACE | AB_PROVE_CONTENT)

const struct ab_check ab_checks[] = {
    REQUIRED(
        "alignment", "blocks", 2000, ab_check_alignment, AB_PROVE_ALIGN,
        FACTS(64 * KIB, 512, 128 * MIB, 1),
        "blocks are aligned as requested, else to 16 bytes or the largest power of two in size"),
    REQUIRED("overlap", "blocks", 20000, ab_check_overlap, AB_PROVE_PLACE,
             FACTS(2 * KIB, 1024, 128 * MIB, 1),
             "live blocks do not overlap (by address, without writing)"),
    REQUIRED("content", "blocks", 10000, ab_check_content, AB_PROVE_CONTENT,
             FACTS(256 * KIB, 512, 512 * MIB, 1), "a block keeps its contents until it is freed"),
    REQUIRED("usable", "blocks", 500, ab_check_usable, AB_PROVE_USABLE,
             FACTS(64 * KIB, 512, 64 * MIB, 1),
             "usable_size is at least the requested size and constant"),
    REQUIRED("slack", "blocks", 5000, ab_check_slack, BYTES, FACTS(8 * KIB, 512, 128 * MIB, 1),
             "memory up to usable_size belongs to the block and is writable"),
    REQUIRED("prefix", "resizes", 2000, ab_check_prefix, AB_PROVE_PREFIX,
             FACTS(1 * MIB, 64, 1024 * MIB, 1), "a resize preserves the first min(old, new) bytes"),
    REQUIRED("failed-resize", "failures", 100, ab_check_failed_resize, BYTES,
             FACTS(4 * KIB, 256, 16 * MIB, 1),
             "a failed resize leaves the block unchanged and live"),
    REQUIRED("zeroed", "blocks", 300, ab_check_zeroed, AB_PROVE_ZERO,
             FACTS(256 * KIB, 64, 256 * MIB, 1), "zeroed memory is zero, also when reused"),
    REQUIRED("overflow", "calls", 20, ab_check_overflow, 0, FACTS(4 * KIB, 64, 1 * MIB, 1),
             "calloc(n, m) returns NULL if n * m overflows size_t"),
    REQUIRED("zero-size", "blocks", 32, ab_check_zero_size, AB_PROVE_PLACE,
             FACTS(4 * KIB, 256, 1 * MIB, 1),
             "blocks of size 0 are NULL, or distinct and can be freed"),
    REQUIRED("limits", "calls", 100, ab_check_limits, 0, FACTS(4 * KIB, 8192, 64 * MIB, 1),
             "requests over PTRDIFF_MAX return NULL, small ones a block"),
    REQUIRED_OR_ABORT(
        "exhaustion", "blocks", 100, ab_check_exhaustion, BYTES,
        FACTS(32 * KIB, 16384, 1024 * MIB, 1),
        "returns NULL when memory is exhausted, and blocks again after some are freed"),
    REQUIRED("reuse", "pairs", 60000, ab_check_reuse, 0, FACTS(128 * KIB, 64, 2048 * MIB, 1),
             "freed memory is reused, for each kind of call"),
    REQUIRED("remote-reuse", "pairs", 40000, ab_check_remote_reuse, 0,
             FACTS(4 * KIB, 4096, 256 * MIB, 2), "memory freed by another thread is reused"),
    REQUIRED("errno", "frees", 100, ab_check_errno, 0, FACTS(64 * KIB, 64, 64 * MIB, 1),
             "free preserves errno"),
    REQUIRED("threads", "blocks", 10000, ab_check_threads, BYTES,
             FACTS(4 * KIB, 4096, 512 * MIB, 4),
             "blocks can be freed by other threads and outlive the thread that allocated them"),
    REQUIRED("fork", "children", 10, ab_check_fork, 0, FACTS(4 * KIB, 1024, 128 * MIB, 4),
             "the child of a multithreaded process can allocate"),
    REQUIRED("statistics", "blocks", 200, ab_check_statistics, 0, FACTS(4 * KIB, 1024, 16 * MIB, 1),
             "live bytes are at least the requested bytes, and 0 after everything is freed"),
    REQUIRED("reset", "blocks", 1000, ab_check_reset, BYTES, FACTS(4 * KIB, 512, 128 * MIB, 1),
             "a reset frees all blocks, and the heap works afterwards"),
    REQUIRED("mark", "blocks", 1000, ab_check_mark, BYTES, FACTS(4 * KIB, 512, 128 * MIB, 1),
             "a release frees exactly the blocks allocated since its mark"),
    REQUIRED("handles", "handles", 10000, ab_check_handles, AB_PROVE_CONTENT | AB_PROVE_STALE,
             FACTS(4 * KIB, 1024, 128 * MIB, 1),
             "a stale handle is detected, however often its slot was reused"),
    INFO("double-free", ab_behavior_double_free, "a block is freed twice in a row"),
    INFO("late-double-free", ab_behavior_late_double_free,
         "a block is freed twice, with other frees in between"),
    INFO("invalid-free", ab_behavior_invalid_free, "a pointer into the middle of a block is freed"),
    INFO("foreign-handle", ab_behavior_foreign_handle, "a handle is resolved in another heap"),
    INFO("repeatable", ab_behavior_repeatable, "the same calls return the same addresses"),
    INFO("fork-in-handler", ab_behavior_fork_in_handler,
         "a signal handler forks during malloc, the child allocates"),
    INFO("ENOMEM", ab_behavior_enomem, "errno after a request that fails"),
    INFO("malloc(0)", ab_behavior_zero_size, "result of a request of 0 bytes"),
    INFO("realloc(p,0)", ab_behavior_realloc_zero, "result of a resize to 0 bytes"),
    INFO("aligned_alloc(48)", ab_behavior_odd_alignment, "an alignment that is not a power of two"),
    INFO("aligned_alloc(64,100)", ab_behavior_odd_size,
         "a size that is not a multiple of the alignment"),
    INFO("malloc(8)", ab_behavior_small_alignment, "alignment of blocks smaller than 16 bytes"),
};
const uint32_t ab_check_count = AB_ARRAY_LEN(ab_checks);

void ab_check_run(const struct ab_check *check, struct ab_trial *t)
{
    t->checker.proves = check->proves;
    check->run(t);
    if (t->report->answer == AB_ANSWER_NONE)
        t->report->answer = AB_ANSWER_PASS;
}
