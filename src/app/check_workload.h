/* SPDX-License-Identifier: MIT
 *
 * Checks a workload without measuring: finds its errors, the plan and cost of a run, and lints.
 */
#ifndef AB_APP_CHECK_WORKLOAD_H
#define AB_APP_CHECK_WORKLOAD_H

#include "app/gate_set.h"
#include "app/one_file.h"
#include "app/request.h"
#include "backend/selection.h"
#include "core/text.h"
#include "result/passes.h"
#include "runner/estimate.h"
#include "workload/diag.h"

enum { AB_LINTS_MAX = 64 };

struct ab_lint {
    const char *id; /* "align", "reset", "few-samples", "few-ops", "small", "decimal" */
    struct ab_place at;
    char text[256];
};

struct ab_lints {
    struct ab_lint items[AB_LINTS_MAX];
    size_t n, n_left_out;
};

struct ab_workload_check {
    const struct ab_measure_request *asked;
    struct ab_workload *workload;
    const char *file, *name, *about; /* file, name, about, params and seed: those of the workload */
    const char *const *params;
    uint64_t seed;
    struct ab_laid_down tape;
    struct ab_workload_options how; /* options that the workload was loaded with */
    struct ab_selection_list selection;
    struct ab_text choice; /* reason for the choice of back ends; empty if the user named them */
    /* why a run would refuse the back ends; AB_OK = a run would accept them */
    struct ab_err refusal;
    struct ab_gate_set gates;
    struct ab_lints lints;
    struct ab_pass_plan passes; /* passes that a run would have */
    /* total over all combinations; its parts are those of the first */
    struct ab_session_cost cost;
    const char *running[AB_SELECTION_MAX]; /* names of the back ends that can run */
    size_t n_running;
    /* n_combinations combinations of values; tape, lints and gates are those of the first */
    struct ab_combination *combinations;
    size_t n_combinations;
};

typedef enum ab_status ab_show_check(void *user, const struct ab_workload_check *check,
                                     struct ab_err *err);

/* Checks the workload that is the argument, and passes what is found to `show` with asked->user. */
enum ab_status ab_check_workload(const struct ab_measure_request *asked, ab_show_check *show,
                                 struct ab_err *err);

#endif
