/* SPDX-License-Identifier: MIT
 *
 * Gates: bounds on numbers that make a run fail. A gate is one line of text,
 *
 *     [BACKEND:]PHASE/OP|ITERATION/STAT  < | <= | > | >=  BOUND     (= too, of a count)
 *     [BACKEND:]MOMENT/pins/PATTERN/STAT  likewise                  (stats/pins.h)
 *     BOUND := 2us | 64MiB | 5% | 1000 | 0.5x BACKEND [floor SIZE] | 1.5x live [floor SIZE]
 *            | +10% [floor SIZE] | -5% [floor SIZE]       (a change against the baseline)
 *
 * PHASE may be '*': each measured phase that has the op.
 *
 * read against what the run will have before anything is measured, and judged afterwards. A gate
 * that could not be evaluated fails: that is what keeps CI from going green by accident.
 * A claim, a figure that somebody published, is the same line with `=` and a ratio to a back end; it is
 * shown, never judged.
 */
#ifndef AB_STATS_GATE_H
#define AB_STATS_GATE_H

#include "stats/check.h"
#include "stats/metric.h"

#define AB_GATE_EACH UINT32_MAX            /* no back end named: each of the session */
#define AB_GATE_ELSEWHERE (UINT32_MAX - 1) /* a known one that the session does not have */

struct ab_gate {
    const char *text, *place; /* borrowed; place is the caller's to set */
    struct ab_metric metric;
    uint32_t backend; /* of the session, EACH or ELSEWHERE */
    enum ab_check_compare compare;
    enum ab_check_against against;
    double bound;
    uint32_t other;                  /* of BACKEND: of the session, or ELSEWHERE */
    double floor;                    /* differences below it pass; 0 = none */
    char name[128], other_name[128]; /* of back ends, as written */
    char spelt[300];                 /* the text with the phase for '*'; "" = as written */
    bool is_warning;                 /* the caller's to set: it fails nothing */
    const char *says, *source;       /* of claims, the caller's to set: "" = not said */
};

/* Iterations of any phase, whatever theirs are called: a mark's name may be that of an op. */
#define AB_GATE_ITERATION "iteration"

struct ab_gate_phase {
    const char *name;
    uint32_t kinds;        /* bit 1 << enum ab_op_kind: the phase has such ops */
    const char *iteration; /* what one of its iterations is called; NULL = it has none */
    bool has_budget;       /* that they may miss */
};

/* The phases and back ends that a gate may name. */
struct ab_gate_scope {
    const struct ab_gate_phase *phases; /* the measured ones */
    size_t n_phases;
    const char *const *backends; /* of the session, in its order */
    size_t n_backends;
    const char *const *known; /* names that are no mistake even where the session lacks them */
    size_t n_known;
    const struct ab_field *const *named; /* numbers that the user has named */
    size_t n_named;
    bool is_exec;    /* of a real program: its own statistics, and no memory pass */
    bool is_partial; /* which back ends will run is not known: any name will do */
};

struct ab_gate_error {
    size_t offset, n; /* the bytes of the text that are wrong */
    char text[600];   /* printable */
};

/* Reads a gate, or a claim. On failure *error tells, and *out is untouched. */
bool ab_gate_parse(const char *text, bool is_claim, const struct ab_gate_scope *scope,
                   struct ab_gate *out, struct ab_gate_error *error);

/* A gate that may have '*' as its phase, as one gate for each phase that has the op: fills
 * out[0..*n), which has room for scope->n_phases, at least 1. */
bool ab_gate_parse_each(const char *text, const struct ab_gate_scope *scope, struct ab_gate *out,
                        size_t *n, struct ab_gate_error *error);

/* Is it a latency that the clock cannot tell, timing nothing reading at least this? Then `why` is the
 * message, else it is untouched. */
bool ab_gate_is_below(const struct ab_gate *gate, double floor_ns, char *why, size_t cap);

/* Judges all gates: session->gates, malloc'ed, in order, one entry a back end; they borrow from
 * `gates`. Changes are against `baseline`; NULL = there is none, they are not evaluated. */
void ab_gates_judge(const struct ab_gate *gates, size_t n, struct ab_session *session,
                    const struct ab_session *baseline);

/* Measures the figures that claims name, which somebody published: session->claims, malloc'ed, in
 * order. Another machine, another library: they are shown, and no verdict comes of them. Of ns_per_op
 * `relative` is the ratio with the harness subtracted from both, as ns_per_op of the null back end at
 * the boundary of each; NaN = not known, or one of them is no more than its harness. */
void ab_claims_measure(const struct ab_gate *claims, size_t n, struct ab_session *session);

/* AB_CONFIG where a gate is below the floor, else AB_GATE where one did not pass, else
 * AB_INCONCLUSIVE where one is, else AB_OK. */
enum ab_status ab_gates_status(const struct ab_session *session);

#endif
