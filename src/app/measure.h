/* SPDX-License-Identifier: MIT
 *
 * One measurement from start to end, for `run`, `replay` and `exec`: outputs are opened before
 * anything runs, then come the rounds, the verdicts, and what they are written to. What is measured,
 * a tape (app/measure_tape.h) or a program (app/exec.h), is run by an engine.
 */
#ifndef AB_APP_MEASURE_H
#define AB_APP_MEASURE_H

#include "app/decision.h"
#include "app/gate_set.h"
#include "app/options.h"
#include "app/outputs.h"
#include "app/result_store.h"
#include "backend/selection.h"
#include "result/result.h"

struct ab_measurement;

struct ab_engine {
    /* Chooses the back ends: m->selection. */
    enum ab_status (*select)(struct ab_measurement *m, struct ab_err *err);
    /* Makes row i ready to run, and adds to its description: back end i modulo their number, in
     * combination i divided by it. */
    void (*add_case)(struct ab_measurement *m, size_t i, struct ab_backend_info *info);
    /* The gates are known: chooses what is measured for them. NULL = there is no choice. */
    enum ab_status (*choose)(struct ab_measurement *m, struct ab_err *err);
    /* Describes in m->session what is measured. */
    void (*describe)(struct ab_measurement *m);
    enum ab_status (*run)(struct ab_measurement *m, struct ab_err *err);
    /* Adds to m->session what is known once all has run; NULL = nothing. */
    void (*conclude)(struct ab_measurement *m);
};

/* Takes the session when all rounds are through, in place of all outputs and gates. */
typedef enum ab_status ab_take_session(void *user, const struct ab_session *session,
                                       struct ab_err *err);

/* All of the first block is set by the caller; the rest begins as zeroes. */
struct ab_measurement {
    const struct ab_options *options;
    const struct ab_engine *engine;
    void *work;                         /* the engine's own */
    const struct ab_workload *workload; /* for its gates and claims; NULL = of a trace, a program */
    const struct ab_phase *phases;
    uint32_t n_phases;
    uint32_t n_combinations;    /* of values, each with all back ends; 0 or 1 = one */
    bool is_exec;               /* a program */
    struct ab_session *resumed; /* a partial session to go on with; NULL = none */
    ab_take_session *take;      /* NULL = it is shown and stored */
    void *user;                 /* of take */

    struct ab_selection_list selection;
    struct ab_outputs outputs;
    struct ab_store store;
    struct ab_gate_set gates;
    struct ab_decision decision;
    struct ab_session session;
    const struct ab_session *replay; /* as struct ab_measured */
    uint32_t n_left;
    bool is_again; /* the rounds that confirm a verdict */
};

/* Measures, writes and has it shown (app/say.h). What the measurement holds is released, but for
 * `work`. *exit_code: of failed back ends, else of the verdicts. */
enum ab_status ab_measure(struct ab_measurement *m, int *exit_code, struct ab_err *err);

#endif
