/* SPDX-License-Identifier: MIT
 *
 * A real program under each allocator, and what a replay of its trace says its allocators cost: to be
 * set beside what the program itself took.
 */
#ifndef AB_APP_EXEC_H
#define AB_APP_EXEC_H

#include "app/options.h"

enum ab_status ab_exec(const struct ab_options *o, int *exit_code, struct ab_err *err);

/* Adds the numbers of a replay to the results of the program, round by round. The program may have
 * more rounds than the replay. Its calls are the same in all. */
void ab_prediction_note(const struct ab_session *replay, struct ab_session *exec);

#endif
