/* SPDX-License-Identifier: MIT
 *
 * The answer as data: what terminal, HTML, Markdown and whatever else show of a session is worked
 * out here, once. A figure that several of them show is one number.
 * Pure: nothing is read but the session, which must outlive the view. Times in ns, sizes in bytes,
 * NaN = n/a. Texts and lists belong to the view; names of back ends, phases and the session are
 * borrowed and may be hostile: each format escapes them in its own way.
 */
#ifndef AB_REPORT_VIEW_VIEW_H
#define AB_REPORT_VIEW_VIEW_H

#include "report/view/grid.h"
#include "report/view/headline.h"
#include "report/view/latency.h"
#include "report/view/memory.h"
#include "report/view/next_step.h"
#include "report/view/phases.h"
#include "report/view/ranking.h"
#include "report/view/slowest.h"
#include "report/view/view_text.h"
#include "report/view/warnings.h"

struct ab_view {
    const struct ab_session *session;
    const char *title; /* "quickstart: 470k operations, 4 phases, 1 thread, up to 13.7 MiB live; 10
                          rounds"; names in it are printable */
    uint64_t n_ops;    /* of the measured phases, in one round */
    struct ab_view_headline headline;
    struct ab_view_ranking ranking;
    struct ab_view_phases phases;
    struct ab_view_latency latency;
    struct ab_view_memory memory;
    struct ab_view_slowest slowest, slow_iterations;
    struct ab_view_warnings warnings;
    struct ab_view_steps next;
    struct ab_view_texts texts;
};

/* Numbers and texts are spelt in the C locale,
 * whatever the program's is. */
void ab_view_make(const struct ab_session *session, struct ab_view *out);
void ab_view_fini(struct ab_view *v);

/* Topics as grids; each is ended by the caller. False: there is nothing to show. `scratch` is for
 * merging. */

/* The ranking; what failed has a row as well. */
enum { AB_RANKING_VERSUS = 1, AB_RANKING_P99, AB_RANKING_P999 }; /* columns */
void ab_ranking_grid(const struct ab_view *v, struct ab_grid *g);
/* Time per op of the phases that take most of it, with the harness. */
bool ab_phases_grid(const struct ab_view *v, struct ab_grid *g);
/* p50 and p99 of the calls that are most of the work. *has_floor: one is the clock's floor. */
bool ab_calls_grid(const struct ab_view *v, struct ab_grid *g, bool *has_floor);
/* Beside the replay of the trace: a row for each back end but the base. */
bool ab_program_witness_grid(const struct ab_view *v, struct ab_grid *g);

/* Time in the allocator per iteration of a phase. *n_scheduler: how many are left out because the
 * scheduler took the CPU. */
bool ab_iterations_grid(const struct ab_session *s, const char *phase, struct ab_hdr *scratch,
                        struct ab_grid *g, uint64_t *n_scheduler);

/* The peak of the whole run. False: of no back end it is known. */
enum { AB_MEMORY_MULTIPLE = AB_VIEW_MEMORY_PARTS + 1, AB_MEMORY_AFTER_FREE }; /* columns */
bool ab_memory_peak_grid(const struct ab_view *v, struct ab_grid *g);
bool ab_memory_phase_grid(const struct ab_session *s, const char *phase, struct ab_grid *g);
/* Once all is freed, and over time. */
bool ab_memory_drain_grid(const struct ab_session *s, struct ab_grid *g);
/* Percentiles of the ratios to the live bytes, from the merged histograms of all rounds: in two
 * tables, as wide as a terminal of 80 columns. */
enum { AB_MEMORY_HALVES = 2 };
bool ab_memory_over_ops_grid(const struct ab_session *s, const char *phase, unsigned half,
                             struct ab_grid *g);

/* Heaps of a mapped row in a phase. What they served, the one with the most calls first. `is_timed`:
 * shares of the time are known. */
bool ab_heaps_grid(const struct ab_session *s, uint32_t backend, const char *phase,
                   struct ab_hdr *scratch, struct ab_grid *g, bool *is_timed);
/* A row for each heap and op: how many were timed, and percentiles as far as so many carry. */
bool ab_heaps_latency_grid(const struct ab_session *s, uint32_t backend, const char *phase,
                           struct ab_hdr *scratch, struct ab_grid *g);
/* Bytes that add up, of the run whose peak is the row's (memory.h). */
bool ab_heaps_memory_grid(const struct ab_session *s, uint32_t backend, const char *phase,
                          struct ab_grid *g);

#endif
