/* SPDX-License-Identifier: MIT */
#include "core/clock.h"

#include <time.h>

static uint64_t read_clock(clockid_t id)
{
    struct timespec ts;
    clock_gettime(id, &ts);
    return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

uint64_t ab_clock_now_ns(void)
{
    return read_clock(CLOCK_MONOTONIC);
}

uint64_t ab_clock_thread_cpu_ns(void)
{
    return read_clock(CLOCK_THREAD_CPUTIME_ID);
}

uint64_t ab_clock_process_cpu_ns(void)
{
    return read_clock(CLOCK_PROCESS_CPUTIME_ID);
}

/* A pair (raw time, ticks) whose two readings lie as close together as 64 tries allow. */
static void read_pair(uint64_t *raw_ns, uint64_t *ticks)
{
    uint64_t best = UINT64_MAX;
    for (int i = 0; i < 64; i++) {
        uint64_t a = ab_tick_begin(), ns = read_clock(CLOCK_MONOTONIC_RAW), b = ab_tick_end();
        if (b - a < best) {
            best = b - a;
            *raw_ns = ns;
            *ticks = a + (b - a) / 2;
        }
    }
}

enum { GAP_MAX = 2048 };

/* Mean distance of neighbouring clusters; a cluster that no reading hit leaves a wider gap, which
 * does not count. Fewer than three clusters prove no step. */
static double cluster_step(const unsigned *starts, unsigned n)
{
    unsigned least = GAP_MAX, sum = 0, gaps = 0;
    for (unsigned i = 1; i < n; i++)
        if (starts[i] - starts[i - 1] < least)
            least = starts[i] - starts[i - 1];
    for (unsigned i = 1; i < n; i++) {
        unsigned gap = starts[i] - starts[i - 1];
        if (gap < least + least / 2) {
            sum += gap;
            gaps++;
        }
    }
    return n < 3 ? 1 : (double)sum / gaps;
}

/* Counters that are fed by a slower clock move in steps: the differences of readings taken at
 * dithered distances then fall into clusters, one step apart. Differences within two ticks of each
 * other are one cluster (a fed counter may still differ by one inside a step). */
static double quantum_ticks_once(void)
{
    static uint32_t seen[GAP_MAX];
    for (unsigned i = 0; i < GAP_MAX; i++)
        seen[i] = 0;
    for (unsigned i = 0; i < 100000; i++) {
        uint64_t a = ab_tick_begin();
        for (volatile unsigned spin = i * 7u % 13u; spin > 0; spin--)
            ;
        uint64_t d = ab_tick_end() - a;
        if (d < GAP_MAX)
            seen[d]++;
    }
    unsigned starts[GAP_MAX / 4], n = 0, previous = 0, widest = 0;
    for (unsigned i = 1; i < GAP_MAX; i++) {
        if (seen[i] < 20)
            continue;
        if (n == 0 || i - previous > 3)
            starts[n++] = i;
        if (i - starts[n - 1] > widest)
            widest = i - starts[n - 1];
        previous = i;
    }
    return widest > 6 ? 1 : cluster_step(starts, n); /* a dense range has no steps */
}

/* The middle of three: a try that was interrupted may miss clusters. */
static double quantum_ticks(void)
{
    double a = quantum_ticks_once(), b = quantum_ticks_once(), c = quantum_ticks_once();
    return a < b ? (b < c ? b : a < c ? c : a) : (a < c ? a : b < c ? c : b);
}

void ab_clock_calibrate(struct ab_clock *clock)
{
    uint64_t ns0, ns1, t0, t1;
    read_pair(&ns0, &t0);
    double quantum = quantum_ticks();
    struct timespec rest = {0, 50000000};
    nanosleep(&rest, NULL);
    read_pair(&ns1, &t1);
    clock->ns_per_tick = (double)(ns1 - ns0) / (double)(t1 - t0);
    clock->quantum_ns = quantum * clock->ns_per_tick;
}
