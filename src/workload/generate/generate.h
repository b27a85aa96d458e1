/* SPDX-License-Identifier: MIT
 *
 * A valid workload becomes its tape.
 */
#ifndef AB_WORKLOAD_GENERATE_GENERATE_H
#define AB_WORKLOAD_GENERATE_GENERATE_H

#include "workload/config.h"

/* Errors of the workload itself are AB_CONFIG with `file:line:col: …` and the source line. */
enum ab_status ab_workload_generate(const struct ab_workload *w, struct ab_tape *out,
                                    struct ab_err *err);

#endif
