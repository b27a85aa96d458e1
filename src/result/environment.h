/* SPDX-License-Identifier: MIT
 *
 * Reads the facts of this machine, once, before anything is measured. Reading never fails: a fact
 * that cannot be read is unknown ("", 0 or NaN). This file reports facts only; warnings about them
 * are made elsewhere.
 */
#ifndef AB_RESULT_ENVIRONMENT_H
#define AB_RESULT_ENVIRONMENT_H

#include "result/result.h"

void ab_environment_read(struct ab_host *out);

/* Adds the host name of the machine. Only a result that is a part of another one records this name,
 * so that nodes can be told apart. */
void ab_environment_read_name(struct ab_host *out);

/* Reads the same facts from /proc, /sys and /etc below `root`, for tests; "" = the real root. Facts
 * from system calls and from the CPU itself still describe the real machine. */
void ab_environment_read_below(const char *root, struct ab_host *out);

#endif
