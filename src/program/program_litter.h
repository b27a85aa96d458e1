/* SPDX-License-Identifier: MIT
 *
 * The litter of one run of a real program: a mapping from which a preloaded library takes what to make,
 * and in which it says what it made and what that took.
 */
#ifndef AB_PROGRAM_PROGRAM_LITTER_H
#define AB_PROGRAM_PROGRAM_LITTER_H

#include "base/litter.h"
#include "program/program.h"

struct ab_strew_file;

struct ab_program_litter_run {
    int fd;
    char path[64]; /* of the environment: where the program finds it */
    struct ab_strew_file *file;
};

enum ab_status ab_program_litter_open(const struct ab_litter_plan *plan,
                                      struct ab_program_litter_run *out, struct ab_err *err);
/* Takes what making it took out of the outcome; fails that where it was not made, or not whole. */
struct ab_litter_count ab_program_litter_take(const struct ab_program_litter_run *run,
                                              struct ab_program_outcome *o);
void ab_program_litter_close(struct ab_program_litter_run *run);

#endif
