/* SPDX-License-Identifier: MIT
 *
 * Estimates the cost of a run before it starts, for the refusal above --mem-limit, for deadlines
 * and for `allocbench check`. Wherever these numbers are shown they are called estimates.
 */
#ifndef AB_RUNNER_ESTIMATE_H
#define AB_RUNNER_ESTIMATE_H

#include "core/status.h"
#include "result/result.h"
#include "tape/tape_file.h"
#include "wire/run_page.h"

#include <stdbool.h>
#include <stdint.h>

/* Estimates the heap in bytes: the live peak plus a quarter, or everything ever requested if
 * nothing is freed. */
uint64_t ab_estimate_heap_bytes(const struct ab_facts *facts, bool never_frees);
/* Estimates the memory of the harness in bytes: tape, slots, samples. */
uint64_t ab_estimate_harness_bytes(const struct ab_tape_map *tape);
/* Estimates the time of one pass: 100 ns for each op (a slow malloc) and 5 us for each touched
 * page. */
double ab_estimate_pass_ns(const struct ab_tape_map *tape);
/* Chooses the number of processes of the throughput pass in a round: as many as run in about 150
 * ms, but at least 3. The mean of fewer depends on the addresses that a single process happens to
 * get. */
uint32_t ab_estimate_processes(const struct ab_tape_map *tape);
/* Returns a deadline that only a hanging run can miss: at least 10 s plus 20 times the estimated
 * time; with several lanes at least 60 s plus 20 times that time. */
uint64_t ab_estimate_timeout_ns(const struct ab_tape_map *tape);
/* Returns 70 % of the available memory. */
uint64_t ab_default_memory_limit(void);

/* The work of a whole run. */
struct ab_session_work {
    size_t n_backends;
    bool never_frees; /* true if one of the back ends never frees */
    uint32_t rounds;
    /* number of processes of the throughput pass, per back end and round */
    uint32_t processes;
    struct ab_pass_plan passes; /* plan that tells in which rounds each pass runs */
    uint64_t drain_ns;
};

/* Estimated cost of a session: pre-flights, all rounds, the wait of the memory pass. It is accurate
 * within a factor of two or three, because the time of the allocator is not known yet. */
struct ab_session_cost {
    size_t n_backends;
    uint32_t rounds;
    /* number for each back end in the first round, which has all passes */
    uint32_t processes;
    /* number for each back end in the whole session, including its pre-flight */
    uint32_t processes_total;
    double ns;
    uint64_t bytes; /* peak of one worker: its heap, and the memory of the harness */
    /* parts of these numbers, for one back end and one pass */
    double pass_ns;
    uint64_t heap_bytes, unfreed_bytes; /* unfreed_bytes: the heap if nothing is freed */
    uint64_t harness_bytes;
};
struct ab_session_cost ab_estimate_session(const struct ab_tape_map *tape,
                                           const struct ab_session_work *work);

/* Returns the available memory: what the system reports as available, or the limit of this
 * process's control group if that is less. */

uint64_t ab_available_memory(void);
/* Reads the available memory from /proc and /sys/fs/cgroup below `root`. */
uint64_t ab_available_memory_of(const char *root);

#endif
