/* SPDX-License-Identifier: MIT
 *
 * What machine this is, read once before anything is measured. It never fails: what cannot be
 * read stays unknown ("", 0, NaN). No warnings here: this file tells, others judge.
 */
#ifndef AB_RESULT_ENVIRONMENT_H
#define AB_RESULT_ENVIRONMENT_H

#include "result/result.h"

void ab_environment_read(struct ab_host *out);

/* The node's name as well, which no result has that is not part of another one: it says whose
 * machine it was. */
void ab_environment_read_name(struct ab_host *out);

/* The same with /proc, /sys and /etc below `root` ("" is the real one): for tests. What comes
 * from system calls and the CPU itself is of the real machine. */
void ab_environment_read_below(const char *root, struct ab_host *out);

#endif
