/* SPDX-License-Identifier: MIT
 *
 * Adds up callgrind's output files for the processes of a program: the total, and the part inside
 * the allocator. The part inside is the inclusive cost of calls into the allocator; it includes
 * memset in calloc, and the entry into the kernel. A call counts if it enters the allocator's
 * library from other code. If the C library itself is the allocator, a call counts if it enters a
 * function of the malloc family from any other function.
 */
#ifndef AB_PROGRAM_CALLGRIND_FILE_H
#define AB_PROGRAM_CALLGRIND_FILE_H

#include "program/program.h"

#include <stdbool.h>
#include <stdint.h>

struct ab_grind_object { /* a file that a process has mapped, as callgrind names it */
    char path[4096];
    bool is_allocator;
};

struct ab_grind_sum { /* zero-initialize it except for `wanted` */
    const struct ab_proof_wanted *wanted;
    uint64_t inside[AB_INSTR_EVENTS], total[AB_INSTR_EVENTS];
    uint64_t n_calls;
    /* n_files: number of files; n_cut: of these, incomplete because their process ended too
     * early */
    uint32_t n_files, n_cut;
    uint32_t n_unplaced;             /* number of calls between code whose owner is not known */
    struct ab_grind_object *objects; /* all objects seen so far, malloc'ed */
    size_t n, cap;
};

/* Adds a file that callgrind wrote with --dump-instr=yes and its cache simulation. `maps` is the
 * path of a copy of /proc/PID/maps, made when the process ended. It is needed because callgrind
 * does not know which object code outside of .text belongs to. An unreadable `maps` counts as
 * empty. */
void ab_grind_add(struct ab_grind_sum *sum, const char *path, const char *maps);

#endif
