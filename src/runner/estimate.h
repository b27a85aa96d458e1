/* SPDX-License-Identifier: MIT
 *
 * Estimates what a run will cost before it starts: for the refusal above --mem-limit, for the
 * deadline and for `allocbench check`. Estimates, and called so wherever they are shown.
 */
#ifndef AB_RUNNER_ESTIMATE_H
#define AB_RUNNER_ESTIMATE_H

#include "core/status.h"
#include "result/result.h"
#include "tape/tape_file.h"
#include "wire/run.h"

#include <stdbool.h>
#include <stdint.h>

/* Heap bytes: the live peak with a quarter on top, or all that is ever asked for where nothing is
 * given back. */
uint64_t ab_estimate_heap_bytes(const struct ab_facts *facts, bool never_frees);
/* Ours: tape, slots, samples. */
uint64_t ab_estimate_harness_bytes(const struct ab_tape_map *tape);
/* Time of one pass: 100 ns an op (a slow malloc) and 5 us a touched page. */
double ab_estimate_pass_ns(const struct ab_tape_map *tape);
/* How many processes a round the throughput pass is worth: as many as run in about 150 ms, but 3 at
 * least, for the mean of fewer depends on where a single one comes to lie in memory. */
uint32_t ab_estimate_processes(const struct ab_tape_map *tape);
/* A deadline that only what hangs can miss: 10 s and 20 times the estimate. */
uint64_t ab_estimate_timeout_ns(const struct ab_tape_map *tape);
/* 70 % of what is available. */
uint64_t ab_default_memory_limit(void);

/* The work of a whole run. */
struct ab_session_work {
    size_t n_backends;
    bool never_frees; /* one of them */
    uint32_t rounds;
    uint32_t processes;         /* of the throughput pass, a back end and round */
    struct ab_pass_plan passes; /* in which rounds each pass runs */
    uint64_t drain_ns;
};

/* The cost of that work: pre-flights, all rounds, the wait of the memory pass. It is right within a
 * factor of two or three, because the time of the allocator is what has yet to be measured. */
struct ab_session_cost {
    size_t n_backends;
    uint32_t rounds;
    uint32_t processes;       /* of a back end in the first round, which has all passes */
    uint32_t processes_total; /* of a back end in the whole run, its pre-flight among them */
    double ns;
    uint64_t bytes; /* the most at one time: of one worker, its heap and ours */
};
struct ab_session_cost ab_estimate_session(const struct ab_tape_map *tape,
                                           const struct ab_session_work *work);

/* How much memory there is to be had: what the system says is available, or what the control group
 * of this process may have at most, where that is less. */

uint64_t ab_available_memory(void);
/* The same, with /proc and /sys/fs/cgroup beneath `root`. */
uint64_t ab_available_memory_of(const char *root);

#endif
