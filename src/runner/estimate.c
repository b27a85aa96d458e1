/* SPDX-License-Identifier: MIT
 *
 * Estimates of memory and time from the facts of a tape, and the limits that follow from them.
 */
#include "runner/estimate.h"

#include "runner/available.h"
#include "runner/sample_plan.h"

uint64_t ab_estimate_heap_bytes(const struct ab_facts *f, bool never_frees)
{
    double bytes = never_frees
                       ? (double)f->total_bytes + 16.0 * (double)f->total_blocks
                       : 1.25 * (double)f->live_peak_bytes + 16.0 * (double)f->live_peak_blocks;
    return bytes < 0x1p63 ? (uint64_t)bytes : (uint64_t)1 << 63;
}

uint64_t ab_estimate_harness_bytes(const struct ab_tape_map *tape)
{
    const struct ab_facts *f = &tape->image->facts; /* the largest is the memory pass: its books */
    uint64_t pages = f->live_peak_bytes / 4096 + 2 * f->live_peak_blocks;
    return tape->image->most_bytes + (uint64_t)tape->image->n_slots * (16 + 40) + 24 * pages +
           10 * (uint64_t)ab_sampling_capacity(tape) + sizeof(struct ab_run_page) +
           tape->image->n_lanes * tape->image->cache_bytes;
}

double ab_estimate_pass_ns(const struct ab_tape_map *tape)
{
    double pages = 0;
    for (uint32_t i = 0; i < tape->image->n_phases; i++)
        pages += (double)tape->phases[i].touched_pages;
    double fresh = (double)tape->image->facts.live_peak_bytes / 4096;
    /* Of two ops one is a call at most where there is a buffer to be read before each. */
    double lines = (double)tape->image->n_ops / 2 *
                   ((double)tape->image->cache_bytes / AB_CACHE_CALLS / AB_CACHE_LINE);
    /* Most touches hit memory that is resident already: a page costs its fault once. */
    return 100.0 * tape->image->n_ops + 5.0 * pages + 5000.0 * fresh + 10.0 * lines;
}

uint32_t ab_estimate_processes(const struct ab_tape_map *tape)
{
    double run_ns = 15e6 + ab_estimate_pass_ns(tape) / 4;
    return run_ns > 500e6 / 3 ? 3 : run_ns < 500e6 / 12 ? 12 : (uint32_t)(500e6 / run_ns);
}

struct ab_session_cost ab_estimate_session(const struct ab_tape_map *tape, size_t n_backends,
                                           bool never_frees, uint32_t rounds,
                                           uint32_t throughput_processes, uint64_t drain_ns)
{
    enum { OTHER_PASSES = 3 }; /* latency, tail, memory: a process each */
    /* The passes and the nulls; workers that start and end. The pre-flight, and the first memory
     * pass, which only looks for the peak, are like one round more. */
    double round = (3.5 + throughput_processes / 4.0) * ab_estimate_pass_ns(tape) +
                   (double)drain_ns + 70e6 + 10e6 * throughput_processes;
    return (struct ab_session_cost){
        .n_backends = n_backends,
        .rounds = rounds,
        .processes = throughput_processes + OTHER_PASSES,
        .ns = (double)n_backends * (rounds + 1.0) * round,
        .bytes = ab_estimate_heap_bytes(&tape->image->facts, never_frees) +
                 ab_estimate_harness_bytes(tape),
    };
}

uint64_t ab_estimate_timeout_ns(const struct ab_tape_map *tape)
{
    double pages = 0;
    for (uint32_t i = 0; i < tape->image->n_phases; i++)
        pages += (double)tape->phases[i].touched_pages;
    /* Where lanes outnumber the CPUs, a turn may have to wait until each of the others was asked
     * (measured: 66 us a turn, 256 lanes on two CPUs); and on a busy machine, for what else runs. */
    const struct ab_tape_image *image = tape->image;
    double turns = (double)image->n_turns * image->n_lanes;
    double base = image->n_lanes > 1 ? 60e9 : 10e9;
    return (uint64_t)(base + 20 * ab_estimate_pass_ns(tape) + 10000 * pages + 10000 * turns);
}

uint64_t ab_default_memory_limit(void)
{
    return ab_available_memory() / 10 * 7;
}
