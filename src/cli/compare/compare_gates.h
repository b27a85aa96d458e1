/* SPDX-License-Identifier: MIT
 *
 * --gate of `compare`, read against what a stored result has.
 */
#ifndef AB_CLI_COMPARE_COMPARE_GATES_H
#define AB_CLI_COMPARE_COMPARE_GATES_H

#include "cli/options/options.h"
#include "stats/gates/gate.h"

struct ab_compare_gates {
    struct ab_gate *gates; /* borrow from the session and the command line */
    size_t n;
};

/* AB_USAGE for what cannot be. */
enum ab_status ab_compare_gates_read(const struct ab_options *o, const struct ab_session *now,
                                     struct ab_compare_gates *out, struct ab_err *err);
void ab_compare_gates_fini(struct ab_compare_gates *g);

#endif
