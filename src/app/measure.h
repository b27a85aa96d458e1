/* SPDX-License-Identifier: MIT
 *
 * Runs one measurement from start to end for `run`, `replay` and `exec`. Opens outputs before
 * anything runs, runs the rounds, makes the verdicts and writes the results. An engine runs the
 * subject: a tape (app/measure_tape.h) or a program (app/exec.h).
 */
#ifndef AB_APP_MEASURE_H
#define AB_APP_MEASURE_H

#include "app/decision.h"
#include "app/gate_set.h"
#include "app/outputs.h"
#include "app/request.h"
#include "app/result_store.h"
#include "backend/selection.h"
#include "result/result.h"

struct ab_measurement;

struct ab_engine {
    /* Sets m->selection to the chosen back ends. */
    enum ab_status (*select)(struct ab_measurement *m, struct ab_err *err);
    /* Prepares row i and completes its description. Row i is back end i % n of combination i / n,
     * for n back ends. */
    void (*add_case)(struct ab_measurement *m, size_t i, struct ab_backend_info *info);
    /* Chooses the passes, once the gates are known. NULL = the engine has no choice of passes. */
    enum ab_status (*choose)(struct ab_measurement *m, struct ab_err *err);
    /* Describes the work in m->session. */
    void (*describe)(struct ab_measurement *m);
    enum ab_status (*run)(struct ab_measurement *m, struct ab_err *err);
    /* Adds facts to m->session that are known only after the last run; NULL = none. */
    void (*conclude)(struct ab_measurement *m);
};

/* A request, and the engine and work that are measured for it. */
struct ab_measure_task {
    const struct ab_measure_request *asked;
    const struct ab_engine *engine;
    void *work;                         /* data of the engine */
    const struct ab_workload *workload; /* source of gates and claims; NULL for a trace or
                                           program */
    const struct ab_phase *phases;
    uint32_t n_phases;
    uint32_t n_combinations;    /* combinations of values, each with all back ends; 0 counts as 1 */
    bool is_exec;               /* True for a real program */
    struct ab_session *resumed; /* partial session to continue; NULL = none */
    /* further files that are read, which outputs must not replace; NULL = none */
    const char *others[2];
};

/* The state of a task from its preparation to its end. */
struct ab_measurement {
    const struct ab_engine *engine;
    void *work;
    uint32_t n_combinations;
    /* partial session to continue; NULL = none, and for the rounds that confirm a verdict */
    struct ab_session *resumed;
    /* rules of the request; the rounds that confirm a verdict have other rules */
    struct ab_stop_rules rules;
    struct ab_selection_list selection;
    struct ab_outputs outputs;
    struct ab_store store;
    struct ab_gate_set gates;
    struct ab_decision decision;
    struct ab_session session;
    const struct ab_session *replay; /* first replay of the program's trace; NULL = none */
    uint32_t n_left;
    bool is_again; /* True for the rounds that confirm a verdict */
};

/* Measures, writes the results and has them shown. Sets *exit_code to that of a failed back end,
 * else to that of the verdicts. */
enum ab_status ab_measure(const struct ab_measure_task *task, int *exit_code, struct ab_err *err);

#endif
