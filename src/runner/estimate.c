/* SPDX-License-Identifier: MIT */
#include "runner/estimate.h"

#include "runner/sampling.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

uint64_t ab_estimate_heap_bytes(const struct ab_facts *f, bool never_frees)
{
    double bytes = never_frees ? (double)f->total_bytes + 16.0 * (double)f->total_blocks
                               : 1.25 * (double)f->live_peak_bytes +
                                     16.0 * (double)f->live_peak_blocks;
    return bytes < 0x1p63 ? (uint64_t)bytes : (uint64_t)1 << 63;
}

uint64_t ab_estimate_harness_bytes(const struct ab_tape_map *tape)
{
    const struct ab_facts *f = &tape->image->facts; /* the largest is the memory pass: its books */
    uint64_t pages = f->live_peak_bytes / 4096 + 2 * f->live_peak_blocks;
    return tape->bytes + (uint64_t)tape->image->n_slots * (16 + 40) + 24 * pages +
           10 * (uint64_t)ab_sampling_capacity(tape) + sizeof(struct ab_run_block);
}

double ab_estimate_pass_ns(const struct ab_tape_map *tape)
{
    double pages = 0;
    for (uint32_t i = 0; i < tape->image->n_phases; i++)
        pages += (double)tape->phases[i].touched_pages;
    double fresh = (double)tape->image->facts.live_peak_bytes / 4096;
    /* Most touches hit memory that is resident already: a page costs its fault once. */
    return 100.0 * tape->image->n_ops + 5.0 * pages + 5000.0 * fresh;
}

uint64_t ab_estimate_timeout_ns(const struct ab_tape_map *tape)
{
    double pages = 0;
    for (uint32_t i = 0; i < tape->image->n_phases; i++)
        pages += (double)tape->phases[i].touched_pages;
    /* Where lanes outnumber the CPUs, a turn may have to wait until each of the others was asked
     * (measured: 66 us a turn, 256 lanes on two CPUs); and on a busy machine, for what else runs. */
    const struct ab_tape_image *image = tape->image;
    double turns = (double)image->n_turns * image->n_bursts * image->n_lanes;
    double base = image->n_lanes > 1 ? 60e9 : 10e9;
    return (uint64_t)(base + 20 * ab_estimate_pass_ns(tape) + 10000 * pages + 10000 * turns);
}

uint64_t ab_default_memory_limit(void)
{
    unsigned long long kib = 0;
    char line[256];
    FILE *f = fopen("/proc/meminfo", "re");
    while (f != NULL && fgets(line, sizeof line, f) != NULL)
        if (sscanf(line, "MemAvailable: %llu kB", &kib) == 1)
            break;
    if (f != NULL)
        fclose(f);
    if (kib == 0)
        kib = (unsigned long long)sysconf(_SC_PHYS_PAGES) * (unsigned long long)sysconf(_SC_PAGESIZE) / 1024;
    return (uint64_t)kib * 1024 / 10 * 7;
}
