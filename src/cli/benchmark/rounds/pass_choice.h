/* SPDX-License-Identifier: MIT
 *
 * --passes: which passes run, and in how many rounds. What is decided here depends on the command
 * alone, not on what is measured: all shards of a run decide alike.
 */
#ifndef AB_CLI_BENCHMARK_ROUNDS_PASS_CHOICE_H
#define AB_CLI_BENCHMARK_ROUNDS_PASS_CHOICE_H

#include "cli/benchmark/gate_set.h"
#include "result/result.h"

/* `resumed`: the result that is gone on with, whose plan stays unless --passes says otherwise; NULL =
 * none. AB_USAGE: a pass that cannot run here; AB_USAGE or AB_CONFIG: a gate on a number of a pass
 * that will not run, at its place. */
enum ab_status ab_pass_choice_make(const struct ab_options *o, const struct ab_gate_set *gates,
                                   const struct ab_session *resumed, struct ab_pass_plan *out,
                                   struct ab_err *err);

#endif
