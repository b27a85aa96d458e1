/* SPDX-License-Identifier: MIT
 *
 * Verifies back ends: each check runs in a process of its own, on generated work, a workload or a
 * trace.
 */
#ifndef AB_APP_VERIFY_BACKENDS_H
#define AB_APP_VERIFY_BACKENDS_H

#include "app/request.h"
#include "backend/selection.h"
#include "runner/run_checks.h"
#include "tape/tape_file.h"

#include <limits.h>

struct ab_verification {
    const struct ab_verification_request *asked;
    const char **names; /* names of back ends */
    size_t n_names;
    const char *work; /* path of a workload or trace; NULL = none */
    struct ab_selection_list selection;
    struct ab_tape tape;
    struct ab_tape_map map;
    struct ab_verify_plan plan;
    struct ab_verify_session session;
    struct ab_backend_info *infos;
    struct ab_verify_line *lines;
    char worker_path[PATH_MAX];
};

/* Verifies the back ends named in asked->args, on the work named there. Sets *exit_code if a
 * back end is missing or failed a check. With asked->checks.is_alone it returns only if the
 * check could not begin. Call ab_verification_fini() in any case. */
enum ab_status ab_verify(const struct ab_verification_request *asked, struct ab_verification *out,
                         int *exit_code, struct ab_err *err);
void ab_verification_fini(struct ab_verification *v);

#endif
