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
#include "report/view/latency.h"
#include "report/view/memory.h"
#include "report/view/pictures.h"
#include "report/view/warnings.h"
#include "report/view/words.h"
#include "result/result.h"
#include "stats/metric.h"

/* Time by phase: ns per op of each back end in each phase, and that of the harness alone, which is in
 * every one of them. */

struct ab_view_phase {
    const char *name;
    uint64_t n_ops;   /* ab_session_phase_ops */
    uint32_t n_shown; /* back ends that pages show and whose time is known */
    double most_ns;   /* the longest time or interval of these */
};

struct ab_view_time {
    struct ab_round_range ns_per_op; /* median is what is shown; n = 0: n/a */
    struct ab_effect speed;          /* above 1: faster than the base; NaN: nothing to compare */
    struct ab_view_factor vs;        /* "~" where not is_clear, of what is no base */
    bool is_unclear;                 /* "~" */
    struct ab_view_span range_ns;    /* what the interval of speed makes of the base's time */
};

struct ab_view_harness { /* the null back end with one of the harnesses */
    uint32_t backend;    /* the first that has it */
    const char *boundary;
    char name[AB_HARNESS_NAME_BYTES]; /* ab_harness_name */
    double *ns_per_op;                /* by phase, median over the rounds; NaN = n/a */
};

struct ab_view_phases {
    struct ab_view_phase *phases;
    uint32_t n_phases, n_backends;
    struct ab_view_time *times;      /* [backend · n_phases + phase] */
    struct ab_view_harness *harness; /* n_harness: those of back ends with numbers, by boundary */
    unsigned n_harness;
    uint32_t *harness_of; /* a back end: the one that stands for its harness */
};

const struct ab_view_time *ab_view_phases_at(const struct ab_view_phases *p, uint32_t backend,
                                             uint32_t phase);
/* ns per op of a back end's harness; NaN = not measured. */
double ab_view_phases_harness(const struct ab_view_phases *p, uint32_t backend, uint32_t phase);

/* The back ends of a session, the fastest first: one row each, with all that decides between them. */

enum ab_view_standing {
    AB_VIEW_RANKED, /* by the number of the subject */
    AB_VIEW_ASIDE, /* has numbers and is not compared: did other work, failed its checks, is wrapped,
                       or is the null back end */
    AB_VIEW_FAILED /* has no numbers: failed, or is not installed */
};

/* The number by which back ends are ranked and of which the first sentence speaks. */
struct ab_view_subject {
    struct ab_metric metric;
    const char *title; /* of its column: "whole run", "CPU time", "p99_us" */
    const char *noun;  /* "No clear difference in `the time of the whole run` between …" */
    const char *over;  /* " over the whole run": behind "faster than glibc"; NULL if is_named */
    const char *alone; /* " for the whole run": behind "glibc takes 3 ms"; NULL if is_named */
    bool is_named;     /* a metric that the user named; it is lower or higher, not faster */
};

struct ab_view_rank {
    uint32_t backend; /* of session->backends */
    uint32_t combination;
    const char *name; /* as asked for, with the values; may be hostile */
    enum ab_view_standing standing;
    bool is_base;
    uint32_t twin; /* the row that stands for this build and its settings (ab_drift_twin) */
    /* A check called it slower, and more rounds did not confirm that; NULL = there is none. */
    const struct ab_checked *taken_back;
    bool is_inlined;              /* compiled into the loop: no like for like, wins nothing */
    bool never_frees;             /* gives nothing back while the work runs */
    bool is_higher_better;        /* of figure */
    struct ab_round_range figure; /* the number of the subject: a time in ns, or a metric */
    struct ab_effect speed;   /* above 1: better than the base. Ratio of the two medians that are
                                     shown; NaN: is the base, or nothing to compare with */
    struct ab_view_factor vs; /* the same in words */
    struct ab_view_span figure_range; /* what the interval of speed makes of the base's figure */
    /* Latency of calls that return a block (alloc, alloc_zeroed, alloc_aligned, resize) in all
     * phases, each weighted by how often the work makes it. ns; NaN = n/a, too few samples */
    double p99_ns, p999_ns;
    double peak_bytes; /* most resident bytes that the heap added, of the run with the median peak:
                          the one of memory; of a real program that of all its processes */
    double times_live; /* peak_bytes by the most live bytes; NaN = n/a */
    struct ab_effect peak_ratio; /* peak_bytes by that of the base, which a reader can work out */
    struct ab_view_span peak_range; /* what its interval makes of the base's peak */
    bool is_placed;                 /* ranked, with a figure and a peak */
    bool is_front;                  /* no other that is placed is both faster and leaner */
    double after_free_bytes; /* resident when all is freed, after the longest wait; NaN = n/a */
    double after_purge_bytes;
    double growth_bytes; /* of the footprint at constant live bytes, in 1,000,000 ops: memory.h */
    double growth_over_ops; /* how many ops it was seen in */
    const char *why_growth; /* it is n/a; "" = it is not */
};

struct ab_view_ranking {
    struct ab_view_rank
        *rows; /* n_rows = session->n_backends: ranked ones, the best first, those of unknown
                                  figure after them; then aside, then failed, as they were asked for.
                                  Of combinations of values one after the other */
    uint32_t n_rows, n_ranked;
    struct ab_view_subject subject;
    uint32_t base;                              /* index of session->backends; UINT32_MAX = none */
    struct ab_view_span figure_ends, peak_ends; /* of all that are placed, with their ranges */
    unsigned drain;                        /* of ab_drain_names: what after_free_bytes is read at */
    bool has_drain, has_purge, has_growth; /* of some back end it is known */
};

/* Row of a back end. */
const struct ab_view_rank *ab_view_ranking_find(const struct ab_view_ranking *r, uint32_t backend);

/* The answer in sentences: who is fastest by the time of the whole run, and at what price. Claims
 * only what the rounds carry: a difference that its interval does not show is called none. */

enum ab_view_verdict {
    AB_VIEW_FASTER,     /* `winner` is clearly faster than `versus` */
    AB_VIEW_NO_CLEAR,   /* between `winner` and `versus`, the fastest two */
    AB_VIEW_TOO_NOISY,  /* the machine was too busy to tell */
    AB_VIEW_TOO_FEW,    /* rounds: there is no interval */
    AB_VIEW_TOO_LITTLE, /* work: it is over before it can be timed */
    AB_VIEW_ALONE,      /* one back end, nothing to compare with */
    AB_VIEW_NOTHING     /* no back end has comparable numbers */
};

enum { AB_VIEW_SENTENCES_MAX = 10 };

struct ab_view_headline {
    enum ab_view_verdict verdict;
    uint32_t winner, versus; /* of session->backends; UINT32_MAX = none */
    struct ab_effect speed;  /* of winner by versus; above 1: faster */
    /* The verdict first, then what else counts: tail, memory, who is left out and why, that it was
     * interrupted. Whole sentences; names in them are printable. */
    const char *sentences[AB_VIEW_SENTENCES_MAX];
    unsigned n_sentences;
};

/* What to type next. */

enum { AB_VIEW_STEPS_MAX = 4 };

struct ab_view_step {
    const char *command; /* an option to add, "--rounds 20", or what a program is started with:
                            "LD_PRELOAD=/usr/lib/libjemalloc.so.2" */
    const char *why;     /* "about 18 rounds would settle it" */
};

struct ab_view_steps {
    struct ab_view_step items[AB_VIEW_STEPS_MAX];
    unsigned n;
};

/* Where params have lists of values: which rows of the session are one back end. */

enum { AB_BY_VALUE_COLUMNS = 8 };

struct ab_view_by_value {
    uint32_t n_names, n_values; /* back ends, combinations; 0 = no param has a list */
    uint32_t *rows;             /* [name · n_values + value]: of the session; UINT32_MAX = none */
    bool is_single, is_number;  /* one param has a list; and of numbers, which are */
    double *x;                  /* by value */
};

/* What of them. */
struct ab_by_value_of {
    enum { AB_BY_VALUE_RUN, AB_BY_VALUE_PHASE, AB_BY_VALUE_PEAK } what;
    uint32_t phase; /* of the session */
};

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
    struct ab_view_by_value by_value;
    struct ab_view_slowest slowest, slow_iterations;
    struct ab_view_warnings warnings;
    struct ab_view_steps next;
    struct ab_view_pictures pictures;
    struct ab_view_texts texts;
};

/* Numbers and texts are spelt in the C locale,
 * whatever the program's is. */
void ab_view_make(const struct ab_session *session, struct ab_view *out);
void ab_view_fini(struct ab_view *v);

/* Paragraphs below the tables; those of the clock, the columns and noise where it `has_time`. `spread`
 * is the title of the column of spreads. */
void ab_view_notes(const struct ab_session *s, bool has_time, const char *spread,
                   struct ab_view_texts *out);
/* Adds a text for each row whose short name hides settings: "bg: jemalloc{MALLOC_CONF=narenas:1}". */
void ab_view_names(const struct ab_session *s, struct ab_view_texts *out);
/* What disturbed the measurement; nothing where nothing is known. */
void ab_view_noise(const struct ab_session *s, struct ab_text *note);
/* "tail and memory in 6 of 10 rounds; not run: latency (--passes)"; nothing where every pass ran in
 * every round. */
void ab_rounds_note_passes(const struct ab_session *s, struct ab_text *out);
/* "not run: tail (--passes)" */
void ab_rounds_note_unrun(const struct ab_session *s, struct ab_text *out);
/* "stopped after 14 rounds: every interval is within 2 %"; nothing where the number was fixed. */
void ab_rounds_note_end(const struct ab_session *s, struct ab_text *out);

/* One number of it: ns of the whole run, ns per op, bytes; NaN = not known. */
double ab_view_by_value_at(const struct ab_view *v, uint32_t name, uint32_t value,
                           struct ab_by_value_of of);

/* Topics as grids; each is ended by the caller. False: there is nothing to show. `scratch` is for
 * merging. */

/* Back ends by values of params; by combinations of several params, or of many values, the other way
 * round. */
bool ab_by_value_grid(const struct ab_view *v, struct ab_by_value_of of, struct ab_grid *g);
/* The ranking, in its order; what failed has a row as well. The column of what is resident after free is
 * without a title: terminals and pages have it with the rest of memory. */
enum {
    AB_RANKING_VERSUS = 1,
    AB_RANKING_P99,
    AB_RANKING_P999,
    AB_RANKING_AFTER_FREE = 5
}; /* columns */
void ab_ranking_grid(const struct ab_view *v, struct ab_grid *g);
/* Time per op of the phases that take most of it, with the harness. */
bool ab_phases_grid(const struct ab_view *v, struct ab_grid *g);
/* p50 and p99 of the calls that are most of the work. *has_floor: one is the clock's floor. */
bool ab_calls_grid(const struct ab_view *v, struct ab_grid *g, bool *has_floor);
/* Of a program: a section, or in HTML a column, for each metric but the wall time, which the ranking
 * has. Values are medians
 * of the rounds; a factor is the ratio of the two that are shown, its interval that of the pairs of
 * rounds, so that drift of the machine cancels. */
enum ab_program_shape { AB_PROGRAM_USUAL, AB_PROGRAM_DETAILS, AB_PROGRAM_COLUMNS };
void ab_program_grid(const struct ab_view *v, enum ab_program_shape shape, struct ab_grid *g);
/* Beside the replay of the trace: a row for each back end but the base. */
bool ab_program_witness_grid(const struct ab_view *v, struct ab_grid *g);

/* The places that call the allocator, those that take most first; false: they were not noted. */
bool ab_call_sites_grid(const struct ab_view *v, struct ab_grid *g);

/* What it was measured with, and what served a real program. */
enum ab_conditions {
    AB_CONDITIONS_MEASUREMENT,
    AB_CONDITIONS_LIBRARIES,
    AB_CONDITIONS_SERVED,
    AB_CONDITIONS_HOST /* the first; one each from here on */
};
void ab_conditions_grid(const struct ab_view *v, unsigned which, struct ab_grid *g);

/* Time in the allocator per iteration of a phase. *n_scheduler: how many are left out because the
 * scheduler took the CPU. */
bool ab_iterations_grid(const struct ab_session *s, const char *phase, struct ab_hdr *scratch,
                        struct ab_grid *g, uint64_t *n_scheduler);
/* The most that one of the stretches [begin, end) took in ns, as median of the rounds; at least 1, NaN
 * = not known. */
double ab_iterations_most(const struct ab_session *s, uint32_t backend, const char *phase,
                          uint32_t begin, uint32_t end);

/* Latency by the size that was asked for, of so many back ends; phase NULL = all of them together.
 * False: no size has AB_SIZES_FEW calls of one back end, which is too few for HTML. */
enum { AB_SIZES_FEW = 20 };
bool ab_sizes_has(const struct ab_session *s, const char *phase, unsigned op, uint32_t backend);
bool ab_sizes_grid(const struct ab_session *s, const char *phase, unsigned op,
                   const uint32_t *backends, unsigned n, bool is_tail, struct ab_grid *g);
/* Calls of a phase that are the slowest, by their place in the work; iterations likewise; or the slowest
 * calls of all phases, those that repeat first. */
enum ab_slowest_of { AB_SLOWEST_CALLS, AB_SLOWEST_ITERATIONS, AB_SLOWEST_LIST };
bool ab_slowest_grid(const struct ab_view *v, enum ab_slowest_of of, uint32_t phase,
                     struct ab_grid *g);
/* Of a phase: percentiles by op, throughput, and what was counted. */
enum { AB_LATENCY_PICTURE = 6 }; /* column of the distribution */
void ab_latency_grid(const struct ab_view *v, const char *phase, struct ab_grid *g);
void ab_throughput_grid(const struct ab_session *s, const char *phase, struct ab_grid *g);
void ab_counts_grid(const struct ab_session *s, const char *phase, struct ab_grid *g);
/* Over the ops of a phase. */
bool ab_windows_grid(const struct ab_session *s, const char *phase, struct ab_grid *g);
/* How far the number of samples carries: an interval that is wide here is narrowed by more samples,
 * one that is narrow while rounds differ is not. */
bool ab_intervals_grid(const struct ab_session *s, const char *phase, struct ab_grid *g);

/* The peak of the whole run. False: of no back end it is known. */
enum { AB_MEMORY_MULTIPLE = AB_VIEW_MEMORY_PARTS + 1, AB_MEMORY_AFTER_FREE }; /* columns */
bool ab_memory_peak_grid(const struct ab_view *v, struct ab_grid *g);
bool ab_memory_phase_grid(const struct ab_session *s, const char *phase, struct ab_grid *g);
/* What the blocks of a walk lie in. False: the phase has no walk. */
bool ab_walks_grid(const struct ab_session *s, const char *phase, struct ab_grid *g);
/* Once all is freed, and over time. */
bool ab_memory_drain_grid(const struct ab_session *s, struct ab_grid *g);
/* Of work that has times: what stays resident in idle stretches, a row for each and back end, and
 * growth with its verdict. False: it has none. */
bool ab_over_time_grid(const struct ab_session *s, struct ab_grid *g);
bool ab_growth_grid(const struct ab_session *s, struct ab_grid *g);
/* Who pins the pages at a moment: a heading for each back end, its groups below; its remark is a
 * sentence about the worst. False: it is not known. */
bool ab_pins_grid(const struct ab_session *s, const char *at, struct ab_grid *g);
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
