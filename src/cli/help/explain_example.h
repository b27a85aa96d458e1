/* SPDX-License-Identifier: MIT
 *
 * What a word means in the result that was stored last.
 */
#ifndef AB_CLI_HELP_EXPLAIN_EXAMPLE_H
#define AB_CLI_HELP_EXPLAIN_EXAMPLE_H

#include "cli/options/options.h"
#include "explain/explain.h"

/* "alloc in churn: glibc 126 ns, jemalloc 98 ns": at most five back ends, those with numbers. ""
 * where the result has nothing to say of it. */
void ab_explain_example(const struct ab_session *s, const struct ab_explanation *e, char *buf,
                        size_t cap);

#endif
