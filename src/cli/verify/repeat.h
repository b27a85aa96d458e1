/* SPDX-License-Identifier: MIT
 *
 * The command that shows a failure again, in a debugger.
 */
#ifndef AB_CLI_VERIFY_REPEAT_H
#define AB_CLI_VERIFY_REPEAT_H

#include "backend/selection.h"
#include "cli/options/options.h"

/* "gdb -q -ex run --args allocbench verify ./libmine.so --check resize --seed 1 --no-fork", quoted for
 * a shell; malloc'ed, NULL when out of memory. `work`: path of the workload or trace; NULL = none. */
char *ab_repeat_command(const struct ab_options *o, const struct ab_selection *backend,
                        const char *work, const char *check);

#endif
