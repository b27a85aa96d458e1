/* SPDX-License-Identifier: MIT
 *
 * The aged heap of one run of a real program. A shared mapping tells a preloaded library what to
 * allocate, and the library reports there what it made and what that cost.
 */
#ifndef AB_PROGRAM_PROGRAM_AGING_H
#define AB_PROGRAM_PROGRAM_AGING_H

#include "base/aging.h"
#include "program/program.h"

struct ab_aging_file;

struct ab_program_aging_run {
    int fd;
    char path[64]; /* environment variable that tells the program where the mapping is */
    struct ab_aging_file *file;
};

enum ab_status ab_program_aging_open(const struct ab_aging_plan *plan,
                                     struct ab_program_aging_run *out, struct ab_err *err);
/* Subtracts the cost of making the aged heap from the outcome. Fails the outcome if the heap was
 * not made, or only in part. */
struct ab_aging_count ab_program_aging_take(const struct ab_program_aging_run *run,
                                            struct ab_program_outcome *o);
void ab_program_aging_close(struct ab_program_aging_run *run);

#endif
