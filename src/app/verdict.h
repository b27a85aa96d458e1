/* SPDX-License-Identifier: MIT
 *
 * Turns a comparison into an exit code and the next command to type.
 */
#ifndef AB_APP_VERDICT_H
#define AB_APP_VERDICT_H

#include "app/options.h"
#include "report/table/style.h"
#include "stats/compare.h"

/* Returns the status of the command, gates on the new result included, under --strict and
 * --inconclusive: AB_BACKEND, AB_CONFIG, AB_GATE, AB_INCONCLUSIVE or AB_OK. NULL = no comparison,
 * gates alone. */
enum ab_status ab_verdict_status(const struct ab_options *o, const struct ab_comparison *c,
                                 const struct ab_session *session);
/* The one of the two that outweighs the other. */
enum ab_status ab_verdict_worse(enum ab_status a, enum ab_status b);

/* The line "next: …" where there is something to do: the command with the rounds that would settle
 * what is open, of the comparison (NULL = none) or of the gates of `session`; where a regression
 * can be seen; how a baseline is renewed, with `file`, as `baseline update` takes it ("" = the
 * newest result; NULL = not stored). */
void ab_verdict_print_next(FILE *to, const struct ab_options *o, const struct ab_comparison *c,
                           const struct ab_session *session, const char *file,
                           struct ab_table_style style);

#endif
