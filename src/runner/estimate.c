/* SPDX-License-Identifier: MIT
 *
 * Estimates of memory and time from the facts of a tape, and the limits that follow from them.
 */
#include "runner/estimate.h"

#include "core/system_file.h"
#include "result/passes.h"
#include "runner/sampling.h"

#include <unistd.h>

uint64_t ab_estimate_heap_bytes(const struct ab_facts *f, bool never_frees)
{
    double bytes = never_frees
                       ? (double)f->total_bytes + 16.0 * (double)f->total_blocks
                       : 1.25 * (double)f->live_peak_bytes + 16.0 * (double)f->live_peak_blocks;
    return bytes < 0x1p63 ? (uint64_t)bytes : (uint64_t)1 << 63;
}

uint64_t ab_estimate_harness_bytes(const struct ab_tape_map *tape)
{
    /* of the passes, the memory pass needs the most, for its bookkeeping */
    const struct ab_facts *f = &tape->image->facts;
    uint64_t pages = f->live_peak_bytes / 4096 + 2 * f->live_peak_blocks;
    return tape->image->most_bytes + (uint64_t)tape->image->n_slots * (16 + 40) + 24 * pages +
           10 * (uint64_t)ab_sampling_capacity(tape) + sizeof(struct ab_run_page);
}

double ab_estimate_pass_ns(const struct ab_tape_map *tape)
{
    double pages = 0;
    for (uint32_t i = 0; i < tape->image->n_phases; i++)
        pages += (double)tape->phases[i].touched_pages;
    double fresh = (double)tape->image->facts.live_peak_bytes / 4096;
    /* Most touches hit resident memory, so a page costs its fault only once. The end of a thread
     * and its successor's start take 20 to 50 us in each pass. */
    return 100.0 * tape->image->n_ops + 5.0 * pages + 5000.0 * fresh +
           100e3 * tape->image->n_thread_ends;
}

uint32_t ab_estimate_processes(const struct ab_tape_map *tape)
{
    double n = 150e6 / (15e6 + ab_estimate_pass_ns(tape) / 4);
    return n < 3 ? 3 : (uint32_t)n;
}

/* ns to start a process, map the tape and end; `short_process_ns` is for the throughput pass */
static const double process_ns = 20e6, short_process_ns = 10e6;

static uint32_t rounds_of(const struct ab_session_work *work, enum ab_pass pass)
{
    uint32_t n = 0;
    for (uint32_t round = 0; round < work->rounds; round++)
        n += ab_pass_is_in(&work->passes, pass, round);
    return n;
}

/* Returns the number of processes of a pass, for one back end in all rounds. The memory pass has
 * one more, because its first run only finds the place of the peak. */
static uint32_t processes_of(const struct ab_session_work *work, enum ab_pass pass)
{
    uint32_t rounds = rounds_of(work, pass);
    if (pass == AB_PASS_THROUGHPUT)
        return rounds * work->processes;
    return rounds + (pass == AB_PASS_MEMORY && rounds > 0);
}

/* Returns the time of one process of a pass. A process of the throughput pass takes a quarter of
 * the usual time, because it does not read the clock around each op. */
static double process_of_pass_ns(const struct ab_session_work *work, enum ab_pass pass,
                                 double pass_ns)
{
    if (pass == AB_PASS_THROUGHPUT)
        return short_process_ns + pass_ns / 4;
    return process_ns + pass_ns + (pass == AB_PASS_MEMORY ? (double)work->drain_ns : 0);
}

/* Returns the time of the null back end, which does nothing, in all rounds. It runs the throughput
 * and latency passes once for all back ends together. */
static double null_ns(const struct ab_session_work *work, double pass_ns)
{
    return work->rounds * (work->processes * (short_process_ns + pass_ns / 32)) +
           rounds_of(work, AB_PASS_LATENCY) * (short_process_ns + pass_ns / 4);
}

struct ab_session_cost ab_estimate_session(const struct ab_tape_map *tape,
                                           const struct ab_session_work *work)
{
    struct ab_session_cost cost = {.n_backends = work->n_backends, .rounds = work->rounds};
    /* pass_ns is also the time of the pre-flight */
    double pass_ns = ab_estimate_pass_ns(tape), backend_ns = process_ns + pass_ns;
#define ADD(pass) \
    cost.processes_total += processes_of(work, pass); \
    cost.processes += ab_pass_is_planned(&work->passes, pass) \
                          ? (pass == AB_PASS_THROUGHPUT ? work->processes : 1) \
                          : 0; \
    backend_ns += processes_of(work, pass) * process_of_pass_ns(work, pass, pass_ns);
    AB_ROUND_PASSES(ADD)
#undef ADD
    cost.processes_total++; /* the process of the pre-flight */
    cost.ns = (double)work->n_backends * backend_ns +
              (work->n_backends > 0 ? null_ns(work, pass_ns) : 0);
    cost.pass_ns = pass_ns;
    cost.heap_bytes = ab_estimate_heap_bytes(&tape->image->facts, false);
    cost.unfreed_bytes = ab_estimate_heap_bytes(&tape->image->facts, true);
    cost.harness_bytes = ab_estimate_harness_bytes(tape);
    cost.bytes = (work->never_frees ? cost.unfreed_bytes : cost.heap_bytes) + cost.harness_bytes;
    return cost;
}

uint64_t ab_estimate_timeout_ns(const struct ab_tape_map *tape)
{
    double pages = 0;
    for (uint32_t i = 0; i < tape->image->n_phases; i++)
        pages += (double)tape->phases[i].touched_pages;
    /* With more lanes than CPUs, a lane may have to wait for its turn until each other lane was
     * tried (measured: 66 us a turn, 256 lanes on two CPUs). On a busy machine it also waits for
     * other programs. */
    const struct ab_tape_image *image = tape->image;
    double turns = (double)image->n_turns * image->n_lanes;
    double base = image->n_lanes > 1 ? 60e9 : 10e9;
    return (uint64_t)(base + 20 * ab_estimate_pass_ns(tape) + 10000 * pages + 10000 * turns);
}

uint64_t ab_default_memory_limit(void)
{
    return ab_available_memory() / 10 * 7;
}

/* ---- available memory of the system, limited by the control groups of this process ---- */

static uint64_t of_system(const char *root)
{
    char buf[AB_SYSTEM_FILE_BYTES], value[64] = "";
    ab_system_file_value(value, sizeof value, ab_system_file(root, "/proc/meminfo", buf),
                         "MemAvailable", ':');
    double kib = ab_system_file_parse(value);
    return kib > 0 && kib < 0x1p50
               ? (uint64_t)kib * 1024
               : (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
}

uint64_t ab_available_memory_of(const char *root)
{
    uint64_t system = of_system(root), group = ab_control_group_memory(root);
    return group < system ? group : system;
}

uint64_t ab_available_memory(void)
{
    return ab_available_memory_of("");
}
