/* SPDX-License-Identifier: MIT
 *
 * Whose calls `record --mark-function` and `--marks` mark.
 */
#ifndef AB_CLI_RECORD_MARK_FUNCTIONS_H
#define AB_CLI_RECORD_MARK_FUNCTIONS_H

#include "cli/options/options.h"
#include "cli/record/launch.h"

/* Those of --mark-function first, each once. The names stay the options'. */
enum ab_status ab_mark_functions_list(const struct ab_options *o, const char *out[AB_SPOOL_HOOKS],
                                      size_t *n, struct ab_err *err);
/* Says which of them were not seen. */
void ab_mark_functions_print_unseen(const struct ab_launch *l, const struct ab_options *o);

#endif
