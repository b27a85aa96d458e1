/* SPDX-License-Identifier: MIT
 *
 * The plan of passes and the rule by which a session ended, out of the JSON.
 */
#ifndef AB_REPORT_READ_ROUNDS_H
#define AB_REPORT_READ_ROUNDS_H

#include "report/read/json_in.h"
#include "result/result.h"

/* Older results have neither: every pass in every round, and a fixed number of rounds. */
void ab_stored_passes(struct ab_json_reader *r, const struct ab_json_node *config,
                      struct ab_pass_plan *out);
void ab_stored_stopping(struct ab_json_reader *r, const struct ab_json_node *config,
                        struct ab_stopping *out);

#endif
