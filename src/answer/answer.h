/* SPDX-License-Identifier: MIT
 *
 * The answer of a session as data. Terminal, HTML, Markdown and the other formats all show these
 * numbers, so each number is computed once, here.
 * A view reads nothing but the session, which must outlive it and must not change. Times are in ns,
 * sizes in bytes; NaN = n/a. The view owns its texts and lists. Names of back ends, phases and the
 * session are borrowed and may be hostile: each format escapes them in its own way.
 */
#ifndef AB_ANSWER_ANSWER_H
#define AB_ANSWER_ANSWER_H

#include "answer/grid.h"
#include "answer/latency.h"
#include "answer/memory_view.h"
#include "answer/pictures.h"
#include "answer/warnings.h"
#include "answer/words.h"
#include "result/result.h"
#include "stats/metric.h"

/* ---- time by phase ----
 * Ns per op of each back end, and of the harness alone, which is part of every back
 * end's time. */

struct ab_view_phase {
    const char *name;
    uint64_t n_ops; /* ops of the phase in one round (ab_session_phase_ops) */
    /* number of back ends that pages show and whose time in this phase is known */
    uint32_t n_shown;
    /* the longest of the times and upper interval ends of these back ends; an interval's end counts
     * as at most 3 times its time */
    double most_ns;
};

struct ab_view_time {
    /* ns per op over the rounds; reports show the median; n = 0: n/a */
    struct ab_round_range ns_per_op;
    /* speed relative to the base; above 1: faster; NaN: nothing to compare with */
    struct ab_effect speed;
    struct ab_view_factor vs;     /* the speed as a factor; "~" stands before a factor that is
                                        not clear */
    bool is_unclear;              /* True if "~" stands before the time */
    struct ab_view_span range_ns; /* the base's time divided by the interval of `speed` */
};

struct ab_view_harness { /* time of one of the harnesses alone, measured with the null back end */
    uint32_t backend;    /* the first back end that uses this harness */
    const char *boundary;
    char name[AB_HARNESS_NAME_BYTES]; /* name of the harness, as ab_harness_name writes it */
    double *ns_per_op;                /* ns per op of each phase, median over the rounds; NaN =
                                         n/a */
};

struct ab_view_phases {
    struct ab_view_phase *phases;
    uint32_t n_phases, n_backends;
    struct ab_view_time *times;      /* [backend · n_phases + phase] */
    struct ab_view_harness *harness; /* n_harness entries, ordered by boundary; only harnesses of
                                        back ends with numbers */
    unsigned n_harness;
    /* [backend]: index of the back end that represents the harness which `backend` uses
     * (ab_session_harness) */
    uint32_t *harness_of;
};

const struct ab_view_time *ab_view_phases_at(const struct ab_view_phases *p, uint32_t backend,
                                             uint32_t phase);
/* Returns the ns per op of the harness that a back end uses; NaN = not measured. */
double ab_view_phases_harness(const struct ab_view_phases *p, uint32_t backend, uint32_t phase);

/* ---- the ranking ----
 * One row for each back end, the fastest first, with its memory. */

enum ab_view_standing {
    AB_VIEW_RANKED, /* ranked by the number that is the subject (struct ab_view_subject) */
    AB_VIEW_ASIDE,  /* has numbers but is not compared: did other work, failed its checks, is
                       wrapped, or is the null back end */
    AB_VIEW_FAILED  /* has no numbers: failed, or is not installed */
};

/* The number that ranks back ends and that the first sentence is about, with the words for it. */
struct ab_view_subject {
    struct ab_metric metric;
    const char *title; /* title of the number's column: "whole run", "CPU time", "p99_us" */
    const char *noun;  /* completes "No clear difference in … between": "the time of the whole
                          run" */
    const char *over;  /* follows "faster than glibc": " over the whole run"; NULL if is_named */
    const char *alone; /* follows "glibc takes 3 ms": " for the whole run"; NULL if is_named */
    /* True if the user named the metric; sentences then say lower or higher, not faster */
    bool is_named;
};

struct ab_view_rank {
    uint32_t backend; /* index of session->backends */
    uint32_t combination;
    /* name of the back end as the user gave it, with the values of params; may be hostile */
    const char *name;
    enum ab_view_standing standing;
    bool is_base;
    uint32_t twin; /* the back end that represents this build with these settings (ab_drift_twin) */
    /* the check that called this back end slower and that more rounds did not confirm; NULL =
     * none */
    const struct ab_checked *taken_back;
    /* True if compiled into the measuring loop; it cannot win, because others are called */
    bool is_inlined;
    bool never_frees;             /* True if the back end frees no memory while the work runs */
    bool is_higher_better;        /* True if a higher `figure` is better */
    struct ab_round_range figure; /* the number that is ranked: a time in ns, or a metric */
    /* better than the base if above 1: the ratio of the two medians that are shown. NaN: is the
     * base, or there is nothing to compare with */
    struct ab_effect speed;
    struct ab_view_factor vs;         /* `speed` as a factor */
    struct ab_view_span figure_range; /* the base's figure scaled by the interval of `speed` */
    double peak_bytes; /* most resident bytes that the heap added, from the run with the median peak
                          (memory_view.h); for a real program, its resident peak over all its
                          processes */
    double times_live; /* peak_bytes divided by the most live bytes; NaN = n/a */
    struct ab_effect peak_ratio;    /* peak_bytes divided by that of the base */
    struct ab_view_span peak_range; /* the base's peak scaled by the interval of peak_ratio */
    bool is_placed;                 /* True if ranked, with a known figure and peak */
    bool is_front;                  /* True if no other placed back end is both faster and leaner */
    double after_free_bytes; /* resident bytes once everything is freed, after the longest wait; NaN
                                = n/a */
};

struct ab_view_ranking {
    /* n_rows = session->n_backends, sorted by standing: ranked, aside, failed; rows of one standing
     * are sorted by combination. Ranked rows are in the order of the figure, unknown figures last;
     * the others stay in the order of the command line. */
    struct ab_view_rank *rows;
    uint32_t n_rows, n_ranked;
    struct ab_view_subject subject;
    uint32_t base; /* index of session->backends; UINT32_MAX = none */
    /* extent of the figures and of the peaks of all placed rows, including their intervals */
    struct ab_view_span figure_ends, peak_ends;
    unsigned drain; /* index of ab_drain_names: the wait after which
                                                   after_free_bytes is read */
    /* True if after_free_bytes is known for at least one back end */
    bool has_drain;
};

/* Returns the row of a back end; NULL = there is none. */
const struct ab_view_rank *ab_view_ranking_find(const struct ab_view_ranking *r, uint32_t backend);

/* ---- the answer in sentences ----
 * Sentences say who is fastest by the time of the whole run, and at what price. The
 * sentences claim only what the rounds support: a difference that its interval does not show is
 * reported as none. */

enum ab_view_verdict {
    AB_VIEW_FASTER,     /* `winner` is clearly faster than `versus` */
    AB_VIEW_NO_CLEAR,   /* no clear difference between `winner` and `versus`, the fastest two */
    AB_VIEW_TOO_NOISY,  /* the machine was too busy to tell */
    AB_VIEW_TOO_FEW,    /* too few rounds for an interval */
    AB_VIEW_TOO_LITTLE, /* too little work: it ends before it can be timed */
    AB_VIEW_ALONE,      /* only one back end, so nothing to compare with */
    AB_VIEW_NOTHING     /* no back end has comparable numbers */
};

enum { AB_VIEW_SENTENCES_MAX = 10 };

struct ab_view_headline {
    enum ab_view_verdict verdict;
    uint32_t winner, versus; /* indexes of session->backends; UINT32_MAX = none */
    struct ab_effect speed;  /* speed of `winner` divided by that of `versus`; above 1: faster */
    /* The verdict comes first, then tail, memory, which back ends are left out and why, and whether
     * the run was interrupted. Whole sentences; names in them are printable. */
    const char *sentences[AB_VIEW_SENTENCES_MAX];
    unsigned n_sentences;
};

/* ---- the next command to type ---- */

enum { AB_VIEW_STEPS_MAX = 4 };

struct ab_view_step {
    const char *command; /* an option to add, "--rounds 20", or an environment setting for a
                            program: "LD_PRELOAD=/usr/lib/libjemalloc.so.2" */
    const char *why;     /* reason for the command: "about 18 rounds would settle it" */
};

struct ab_view_steps {
    struct ab_view_step items[AB_VIEW_STEPS_MAX];
    unsigned n;
};

/* ---- rows by values of params ----
 * If params have lists of values, each back end has one row per
 * combination of values. */

enum { AB_BY_VALUE_COLUMNS = 8 };

struct ab_view_by_value {
    /* n_names: number of back ends; n_values: number of combinations, 0 = no param has a list */
    uint32_t n_names, n_values;
    /* [name · n_values + value]: index of session->backends; UINT32_MAX = none */
    uint32_t *rows;
    /* is_single: only one param has a list; is_number: in addition, all its values are numbers */
    bool is_single, is_number;
    double *x; /* [value]: the value as a number; NaN = not a number */
};

/* Selects the number that a table by values shows. */
struct ab_by_value_of {
    enum { AB_BY_VALUE_RUN, AB_BY_VALUE_PHASE, AB_BY_VALUE_PEAK } what;
    uint32_t phase; /* index of session->phases; only for AB_BY_VALUE_PHASE */
};

struct ab_view_sentences {
    const char *title; /* "quickstart: 470k operations, 4 phases, 1 thread, up to 13.7 MiB live; 10
                          rounds"; names in it are printable */
    struct ab_view_headline headline;
    struct ab_view_warnings warnings;
    struct ab_view_steps next;
    struct ab_view_texts texts;
};

/* ---- the view ---- */

struct ab_view {
    const struct ab_session *session;
    struct ab_view_ranking ranking;
    struct ab_view_memory memory;
    struct ab_view_parts *parts; /* private: the parts that have been made so far */
};

/* Ranks the back ends of a session. All other parts of the view are made when a topic or a renderer
 * first asks for them. Formats numbers and texts in the C locale, whatever the locale of the
 * program. */
void ab_view_make(const struct ab_session *session, struct ab_view *out);
void ab_view_fini(struct ab_view *v);

/* The parts of a view, which owns them. */
const struct ab_view_sentences *ab_view_sentences(const struct ab_view *v);
const struct ab_view_phases *ab_view_phases(const struct ab_view *v);
const struct ab_view_latency *ab_view_latency(const struct ab_view *v);
const struct ab_view_by_value *ab_view_by_value(const struct ab_view *v);
const struct ab_view_slowest *ab_view_slowest(const struct ab_view *v); /* the slowest calls */
const struct ab_view_slowest *ab_view_slow_iterations(const struct ab_view *v);
const struct ab_view_pictures *ab_view_pictures(const struct ab_view *v);

struct ab_view_classes { /* latency by size of an op; sorted by size, then back end */
    const struct ab_size_class *const *items;
    uint32_t n;
};
/* Returns the latency records of an op, of the back ends that have numbers; phase NULL = of all
 * phases. */
struct ab_view_classes ab_view_sizes(const struct ab_view *v, const char *phase, unsigned op);
/* Returns which blocks pin pages at one of the moments that reports show; `number` counts them from
 * 0. The array has `*n` entries: the back ends, each in its first round. Sets `*n` to 0 if there
 * are none. */
const struct ab_pins_of *ab_view_pins(const struct ab_view *v, uint32_t number, uint32_t *n);

/* Adds the paragraphs below the tables. With `has_time`, they include the clock, the meaning of the
 * columns, and noise. `spread` is the title of the column of spreads. */
void ab_view_notes(const struct ab_session *s, bool has_time, const char *spread,
                   struct ab_view_texts *out);
/* Adds a text for each row whose short name hides settings: "bg: jemalloc{MALLOC_CONF=…}". */
void ab_view_names(const struct ab_session *s, struct ab_view_texts *out);
/* Describes what disturbed the measurement; adds nothing if nothing is known. */
void ab_view_noise(const struct ab_session *s, struct ab_text *note);
/* Adds which passes ran in how many rounds: "tail and memory in 6 of 10 rounds; not run: latency
 * (--passes)". Adds nothing if every pass ran in every round. */
void ab_rounds_note_passes(const struct ab_session *s, struct ab_text *out);
/* Adds the passes that never ran: "not run: tail (--passes)". */
void ab_rounds_note_unrun(const struct ab_session *s, struct ab_text *out);
/* Adds why the run ended: "stopped after 14 rounds: every interval is within 2 %". Adds nothing if
 * the number of rounds was fixed. */
void ab_rounds_note_end(const struct ab_session *s, struct ab_text *out);

/* Returns the number of a back end (`name`) for one combination (`value`): ns of the whole run, ns
 * per op, or bytes; NaN = not known. */
double ab_view_by_value_at(const struct ab_view *v, uint32_t name, uint32_t value,
                           struct ab_by_value_of of);

/* Returns the time in ns of the longest iteration in the stretches [begin, end) of a phase (struct
 * ab_iterations), as median of the rounds; at least 1. NaN = not known. */
double ab_iterations_most(const struct ab_session *s, uint32_t backend, const char *phase,
                          uint32_t begin, uint32_t end);
/* Returns the largest number of tables by size that one phase has. */
uint32_t ab_sizes_grids(const struct ab_session *s);

#endif
