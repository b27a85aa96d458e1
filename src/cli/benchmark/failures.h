/* SPDX-License-Identifier: MIT
 *
 * What a measurement ends with: the back ends that failed, named on standard error, and the exit
 * code.
 */
#ifndef AB_CLI_BENCHMARK_FAILURES_H
#define AB_CLI_BENCHMARK_FAILURES_H

#include "result/result.h"

#include <stdbool.h>

/* Back ends asked for by name must have worked; what a default list lacks is only a warning. A
 * failed back end outweighs a gate: without it the gate says nothing. */
int ab_failures_tell(const struct ab_session *session, bool is_quiet);

#endif
