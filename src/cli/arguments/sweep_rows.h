/* SPDX-License-Identifier: MIT
 *
 * --sweep NAME,NAME: each name becomes the rows of backend/sweep.h.
 */
#ifndef AB_CLI_ARGUMENTS_SWEEP_ROWS_H
#define AB_CLI_ARGUMENTS_SWEEP_ROWS_H

#include "cli/options/options.h"

/* Puts the rows of o->sweeps behind those of -b, but for those that are there already. Where -b is no
 * list, and `is_beside_defaults`, glibc (unless another is named) and the libraries come first.
 * AB_USAGE for a name that has none. */
enum ab_status ab_sweep_rows_expand(struct ab_options *o, bool is_beside_defaults,
                                    struct ab_err *err);

#endif
