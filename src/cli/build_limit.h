/* SPDX-License-Identifier: MIT
 *
 * --timeout, for what comes before the first run: reading a trace or a workload and making a tape of
 * it. A small file may hold very much, and a part of the work is one long call, so that no loop can
 * look at the clock often enough.
 */
#ifndef AB_CLI_BUILD_LIMIT_H
#define AB_CLI_BUILD_LIMIT_H

#include "app/options.h"

/* From here to the end of the process, or to ab_build_limit_end: once o->timeout_ns is over, says so
 * of `what` and exits. Nothing of ours must be under way that has to be undone. 0 = no limit. */
void ab_build_limit_begin(const struct ab_options *o, const char *what);
void ab_build_limit_end(void);

#endif
