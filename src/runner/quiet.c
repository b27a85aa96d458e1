/* SPDX-License-Identifier: MIT
 *
 * Reads the canary in the parent, between runs.
 */
#include "runner/quiet.h"

#include "base/clock.h"
#include "core/alloc.h"

#include <sched.h>
#include <stdlib.h>

enum { TRIED_CPUS = 8, READINGS = 48, VALUES = AB_CANARY_MAX + 1 };

void ab_quiet_add(struct ab_quiet *q, uint16_t reading)
{
    q->readings[reading]++;
    q->n++;
}

void ab_quiet_settle(struct ab_quiet *q)
{
    uint64_t rank = q->n / 50, seen = 0;
    for (unsigned v = 0; v < VALUES && q->n > 0; v++) {
        seen += q->readings[v];
        if (seen > rank) {
            q->level = (uint16_t)v;
            return;
        }
    }
}

static int by_value(const void *a, const void *b)
{
    return *(const uint16_t *)a - *(const uint16_t *)b;
}

/* Returns the 90th percentile of some readings, so that a CPU counts as quiet only if it nearly
 * always is. */
static uint16_t probe(struct ab_quiet *q)
{
    uint16_t x[READINGS];
    /* discards the first reading, because the process has just moved to this CPU */
    ab_canary_read();
    for (unsigned i = 0; i < READINGS; i++)
        ab_quiet_add(q, x[i] = ab_canary_read());
    qsort(x, READINGS, sizeof x[0], by_value);
    return x[READINGS * 9 / 10];
}

/* Chooses up to TRIED_CPUS CPUs spread over the set, beginning with `last`. */
static unsigned choose_tried(const cpu_set_t *set, int last, int *tried)
{
    unsigned n_set = (unsigned)CPU_COUNT(set), n = 0, seen = 0;
    unsigned step = (n_set + TRIED_CPUS - 1) / TRIED_CPUS;
    if (last >= 0 && CPU_ISSET((unsigned)last, set))
        tried[n++] = last;
    for (int cpu = 0; cpu < CPU_SETSIZE && n < TRIED_CPUS; cpu++)
        if (CPU_ISSET((unsigned)cpu, set) && seen++ % step == 0 && cpu != last)
            tried[n++] = cpu;
    return n;
}

int ab_quiet_cpu(struct ab_quiet *q)
{
    cpu_set_t all, one;
    int tried[TRIED_CPUS], best = -1;
    uint16_t least = AB_CANARY_MAX;
    if (sched_getaffinity(0, sizeof all, &all) != 0)
        return -1;
    unsigned n = choose_tried(&all, q->cpu, tried);
    for (unsigned i = 0; i < n; i++) {
        CPU_ZERO(&one);
        CPU_SET((unsigned)tried[i], &one);
        if (sched_setaffinity(0, sizeof one, &one) != 0)
            continue;
        uint16_t reading = probe(q);
        if (best < 0 || reading + reading / 32u < least) {
            least = reading;
            best = tried[i];
        }
        if (q->level != 0 && reading <= ab_canary_limit(q->level))
            break; /* this CPU is quiet enough; the others need not be tried */
    }
    sched_setaffinity(0, sizeof all, &all);
    ab_quiet_settle(q);
    return q->cpu = best;
}

void ab_quiet_init(struct ab_quiet *q)
{
    *q = (struct ab_quiet){.cpu = -1, .readings = ab_alloc_zeroed(VALUES, sizeof q->readings[0])};
    for (int i = 0; i < 4; i++)
        ab_quiet_cpu(q);
}

void ab_quiet_fini(struct ab_quiet *q)
{
    free(q->readings);
    *q = (struct ab_quiet){0};
}
