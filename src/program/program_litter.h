/* SPDX-License-Identifier: MIT
 *
 * The aged heap of one run of a real program. A shared mapping tells a preloaded library what to
 * allocate, and the library reports there what it made and what that cost.
 */
#ifndef AB_PROGRAM_PROGRAM_LITTER_H
#define AB_PROGRAM_PROGRAM_LITTER_H

#include "base/litter.h"
#include "program/program.h"

struct ab_strew_file;

struct ab_program_litter_run {
    int fd;
    char path[64]; /* environment variable that tells the program where the mapping is */
    struct ab_strew_file *file;
};

enum ab_status ab_program_litter_open(const struct ab_litter_plan *plan,
                                      struct ab_program_litter_run *out, struct ab_err *err);
/* Subtracts the cost of making the aged heap from the outcome. Fails the outcome if the heap was
 * not made, or only in part. */
struct ab_litter_count ab_program_litter_take(const struct ab_program_litter_run *run,
                                              struct ab_program_outcome *o);
void ab_program_litter_close(struct ab_program_litter_run *run);

#endif
