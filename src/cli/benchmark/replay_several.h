/* SPDX-License-Identifier: MIT
 *
 * `replay A.abt B.abt …`: one session after the other, each with its own answer, files and result;
 * then all of them in one table.
 */
#ifndef AB_CLI_BENCHMARK_REPLAY_SEVERAL_H
#define AB_CLI_BENCHMARK_REPLAY_SEVERAL_H

#include "cli/options/options.h"

/* A trace that cannot be read, or whose replay fails, is reported and does not stop the others; what is
 * wrong with the command line stops all. *exit_code is the worst: 4, 3, 2, 1, 5, then 0. */
enum ab_status ab_replay_several(const struct ab_options *o, int *exit_code, struct ab_err *err);

/* The worse of two exit codes of `replay`. */
int ab_replay_worse(int a, int b);

#endif
