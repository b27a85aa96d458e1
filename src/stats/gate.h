/* SPDX-License-Identifier: MIT
 *
 * Gates: bounds on numbers that make a run fail. A gate is one line of text:
 *
 *     [BACKEND:]PHASE/OP|ITERATION/STAT   < | <= | > | >=  BOUND    (a count may also have =)
 *     [BACKEND:]MOMENT/pins/PATTERN/STAT  < | <= | > | >=  BOUND    (stats/pin_groups.h)
 *     BOUND := 2us | 64MiB | 5% | 1000 | 0.5x BACKEND [floor SIZE] | 1.5x live [floor SIZE]
 *            | +10% [floor SIZE] | -5% [floor SIZE]       (a change against the baseline)
 *
 * The phase '*' stands for each measured phase that has the op. Gates are parsed before anything is
 * measured, knowing the phases and back ends that the run will have, and judged afterwards. A gate
 * that could not be evaluated fails, so that CI does not pass by accident.
 *
 * A claim is a figure that somebody published. It has the same form as a gate, with `=` and a ratio
 * to a back end. A claim is shown, never judged.
 */
#ifndef AB_STATS_GATE_H
#define AB_STATS_GATE_H

#include "stats/check.h"
#include "stats/metric.h"

/* the gate names no back end, so it applies to all of the session */
#define AB_GATE_EACH UINT32_MAX
/* the gate names a known back end that the session does not have */
#define AB_GATE_ELSEWHERE (UINT32_MAX - 1)

struct ab_gate {
    const char *text, *place; /* borrowed; the caller sets place */
    struct ab_metric metric;
    uint32_t backend; /* index in the session, AB_GATE_EACH or AB_GATE_ELSEWHERE */
    enum ab_check_compare compare;
    enum ab_check_against against;
    double bound;
    /* index in the session of the back end that the bound names, or AB_GATE_ELSEWHERE */
    uint32_t other;
    double floor;                    /* a smaller difference passes; 0 = none */
    char name[128], other_name[128]; /* names of `backend` and `other`, as written */
    char spelt[300];                 /* the text with '*' replaced by the phase; "" = as written */
    bool is_warning;                 /* set by the caller: the gate does not fail the run */
    const char *says, *source;       /* for claims, set by the caller; "" = not given */
};

/* Word for the iterations of a phase whatever their name. Needed because the name of a mark may
 * equal that of an op. */
#define AB_GATE_ITERATION "iteration"

struct ab_gate_phase {
    const char *name;
    uint32_t kinds;        /* bit 1 << k is set if the phase has ops of kind k (enum ab_op_kind) */
    const char *iteration; /* name of its iterations; NULL = it has none */
    bool has_budget;       /* its iterations have a time budget */
};

/* The phases, back ends and numbers that a gate may name. */
struct ab_gate_scope {
    const struct ab_gate_phase *phases; /* the measured phases */
    size_t n_phases;
    const char *const *backends; /* back ends of the session, in its order */
    size_t n_backends;
    const char *const *known; /* names that are allowed even if the session does not have them */
    size_t n_known;
    const struct ab_field *const *named; /* statistics that the user defined for a real program */
    size_t n_named;
    /* the run is of a real program, which has other statistics and no memory pass */
    bool is_exec;
    bool is_partial; /* the back ends that will run are not known yet, so any name is allowed */
};

struct ab_gate_error {
    size_t offset, n; /* position and length of the wrong part of the text */
    char text[600];   /* printable */
};

/* Parses a gate or a claim. On failure returns false, fills *error and leaves *out unchanged. */
bool ab_gate_parse(const char *text, bool is_claim, const struct ab_gate_scope *scope,
                   struct ab_gate *out, struct ab_gate_error *error);

/* Parses a gate whose phase may be '*' into one gate for each phase that has the op. Fills
 * out[0..*n). `out` needs room for scope->n_phases gates, at least for one. */
bool ab_gate_parse_each(const char *text, const struct ab_gate_scope *scope, struct ab_gate *out,
                        size_t *n, struct ab_gate_error *error);

/* True if the text of a gate bounds pinned pages. The run must then record the owners of blocks. */
bool ab_gate_is_of_pins(const char *text);

/* True if the gate bounds a latency below what the clock can resolve. `floor_ns` is the least time
 * that is measured for an empty op. Then writes the message to `why`; otherwise leaves it
 * unchanged. */
bool ab_gate_is_below(const struct ab_gate *gate, double floor_ns, char *why, size_t cap);

/* Judges all gates. session->gates receives a malloc'ed array, in the order of the gates, with one
 * entry for each back end that a gate applies to. The entries borrow from `gates`. Changes are
 * judged against `baseline`; if it is NULL, they are not evaluated. */
void ab_gates_judge(const struct ab_gate *gates, size_t n, struct ab_session *session,
                    const struct ab_session *baseline);

/* Measures the published figures that claims name. session->claims receives a malloc'ed array in
 * the order of the claims. The figures are shown without a verdict, because machine and library
 * differ from the published ones. For ns_per_op, `relative` is the ratio after subtracting the
 * harness (ns_per_op of the null back end) from both sides. It is NaN if it is not known, or if a
 * side is no more than its harness. */
void ab_claims_measure(const struct ab_gate *claims, size_t n, struct ab_session *session);

/* Returns the worst status of the gates: AB_CONFIG if a gate is below the clock's floor, otherwise
 * AB_GATE if one did not pass, otherwise AB_INCONCLUSIVE if one is inconclusive, otherwise
 * AB_OK. */
enum ab_status ab_gates_status(const struct ab_session *session);

#endif
