/* SPDX-License-Identifier: MIT
 *
 * How a program is started with an allocator as it was measured: for a shell, systemd and Docker.
 */
#ifndef AB_CLI_COMPARE_SNIPPET_H
#define AB_CLI_COMPARE_SNIPPET_H

#include "core/status.h"
#include "core/text.h"
#include "result/result.h"

/* Appends the lines. AB_USAGE for what cannot be preloaded (a back end of allocbench's own, functions
 * with a prefix), and for a path or a variable that does not go into all of these formats as it is:
 * a result may come from anywhere, and these lines are made to be copied. */
enum ab_status ab_snippet_add(const struct ab_backend_info *backend, struct ab_text *out,
                              struct ab_err *err);

/* Can it be preloaded, or is it in every process already? */
bool ab_snippet_is_possible(const struct ab_backend_info *backend);

#endif
