/* SPDX-License-Identifier: MIT
 *
 * Finds out what the traces of a spool lack, and what recording them has cost.
 */
#ifndef AB_APP_RECORD_SPOOL_FACTS_H
#define AB_APP_RECORD_SPOOL_FACTS_H

#include "app/record/spool_traces.h"
#include "record/spool_reader.h"

#include <stdlib.h>

struct ab_spool_facts {           /* begins as {0} */
    struct ab_convert_report sum; /* sums over all traces */
    uint64_t n_running, n_short, n_bypassed;
    uint32_t end; /* reason (enum ab_spool_stop) if recording ended while the processes went on */
    double ns_per_tick;
    struct ab_unseen *unseen; /* programs that were not recorded, the most frequent first */
    size_t n_unseen;
    uint64_t n_lost; /* number of started programs that may not have been recorded */
    /* Name of the program that the command's own process executed and that was not recorded, and
     * why it was not; "" = none. */
    char successor[600], successor_why[1024];
    /* estimate: recording took sum_ns of the of_ns of the program; of_ns 0 = unknown */
    struct ab_recording_cost {
        double sum_ns, of_ns;
        const char *of_kind; /* kind of of_ns, such as " CPU time" */
        /* cost per event, per call site, and of writing all events */
        double event_ns, site_ns, turn_ns;
    } cost;
};

/* Collects the facts about the traces of `t`, which must have been written. The caller ends with
 * ab_spool_facts_fini(). */
void ab_spool_facts_find(const struct ab_spool_traces *t, struct ab_spool_facts *out);
static inline void ab_spool_facts_fini(struct ab_spool_facts *f)
{
    free(f->unseen);
    *f = (struct ab_spool_facts){.unseen = NULL};
}

/* Returns why a program did not load the recorder, as far as the program's file shows now. The text
 * may be stored in *why. */
const char *ab_spool_facts_why_unseen(const struct ab_unseen *u, struct ab_err *why);

/* True if the result has a trace. */
static inline bool ab_spool_has_trace(const struct ab_spool_result *r)
{
    return r->outcome == AB_SPOOL_WHOLE || r->outcome == AB_SPOOL_SHORT;
}

#endif
