/* SPDX-License-Identifier: MIT
 *
 * Gates: bounds on numbers that make a run fail. A gate is one line of text:
 *
 *     [BACKEND:]PHASE/OP|ITERATION/STAT  < | <= | > | >=  BOUND     (= too, of a count)
 *     [BACKEND:]MOMENT/pins/PATTERN/STAT  likewise                  (stats/pin_groups.h)
 *     BOUND := 2us | 64MiB | 5% | 1000 | 0.5x BACKEND [floor SIZE] | 1.5x live [floor SIZE]
 *            | +10% [floor SIZE] | -5% [floor SIZE]       (a change against the baseline)
 *
 * The phase '*' stands for each measured phase that has the op. Gates are parsed before anything is
 * measured, against what the run will have, and judged afterwards. A gate that could not be
 * evaluated fails, so that CI does not pass by accident.
 *
 * A claim is a figure that somebody published. It has the same form, with `=` and a ratio to a back
 * end. It is shown, never judged.
 */
#ifndef AB_STATS_GATE_H
#define AB_STATS_GATE_H

#include "stats/check.h"
#include "stats/metric.h"

#define AB_GATE_EACH UINT32_MAX            /* no back end named: all of the session */
#define AB_GATE_ELSEWHERE (UINT32_MAX - 1) /* a known back end that the session does not have */

struct ab_gate {
    const char *text, *place; /* borrowed; the caller sets place */
    struct ab_metric metric;
    uint32_t backend; /* index in the session, EACH or ELSEWHERE */
    enum ab_check_compare compare;
    enum ab_check_against against;
    double bound;
    uint32_t other;                  /* index of the bound's BACKEND in the session, or ELSEWHERE */
    double floor;                    /* smaller differences pass; 0 = none */
    char name[128], other_name[128]; /* names of back ends, as written */
    char spelt[300];                 /* the text with '*' replaced by the phase; "" = as written */
    bool is_warning;                 /* set by the caller: the gate does not fail the run */
    const char *says, *source;       /* for claims, set by the caller; "" = not given */
};

/* Word for the iterations of any phase, whatever their name, because the name of a mark may equal
 * that of an op. */
#define AB_GATE_ITERATION "iteration"

struct ab_gate_phase {
    const char *name;
    uint32_t kinds;        /* bit 1 << enum ab_op_kind is set if the phase has such ops */
    const char *iteration; /* name of one of its iterations; NULL = it has none */
    bool has_budget;       /* iterations have a time budget */
};

/* The phases, back ends and numbers that a gate may name. */
struct ab_gate_scope {
    const struct ab_gate_phase *phases; /* the measured phases */
    size_t n_phases;
    const char *const *backends; /* back ends of the session, in its order */
    size_t n_backends;
    const char *const *known; /* names that are allowed even if the session does not have them */
    size_t n_known;
    const struct ab_field *const *named; /* numbers that the user named */
    size_t n_named;
    bool is_exec;    /* a real program: it has its own statistics, and no memory pass */
    bool is_partial; /* the back ends that will run are not known yet, so any name is allowed */
};

struct ab_gate_error {
    size_t offset, n; /* position and length of the wrong part of the text */
    char text[600];   /* printable */
};

/* Parses a gate or a claim. On failure, fills *error and leaves *out unchanged. */
bool ab_gate_parse(const char *text, bool is_claim, const struct ab_gate_scope *scope,
                   struct ab_gate *out, struct ab_gate_error *error);

/* Parses a gate whose phase may be '*' into one gate for each phase that has the op. Fills
 * out[0..*n); out needs room for scope->n_phases gates, and at least 1. */
bool ab_gate_parse_each(const char *text, const struct ab_gate_scope *scope, struct ab_gate *out,
                        size_t *n, struct ab_gate_error *error);

/* True if the text of a gate names pinned pages, for which the owners of blocks must be known. */
bool ab_gate_is_of_pins(const char *text);

/* True if the gate bounds a latency below what the clock can resolve; timing an empty op reads at
 * least `floor_ns`. Then writes the message to `why`, else leaves it unchanged. */
bool ab_gate_is_below(const struct ab_gate *gate, double floor_ns, char *why, size_t cap);

/* Judges all gates into session->gates: malloc'ed, in order, one entry for each back end. The
 * entries borrow from `gates`. Changes are judged against `baseline`; if it is NULL they are not
 * evaluated. */
void ab_gates_judge(const struct ab_gate *gates, size_t n, struct ab_session *session,
                    const struct ab_session *baseline);

/* Measures the published figures that claims name, into session->claims: malloc'ed, in order. The
 * machine and the library differ from the published ones, so they are shown without a verdict. For
 * ns_per_op, `relative` is the ratio after subtracting the harness from both, which is ns_per_op of
 * the null back end at the boundary of each. NaN = not known, or one of them is no more than its
 * harness. */
void ab_claims_measure(const struct ab_gate *claims, size_t n, struct ab_session *session);

/* Returns AB_CONFIG if a gate is below the clock's floor, else AB_GATE if one did not pass, else
 * AB_INCONCLUSIVE if one is inconclusive, else AB_OK. */
enum ab_status ab_gates_status(const struct ab_session *session);

#endif
