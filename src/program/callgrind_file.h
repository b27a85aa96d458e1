/* SPDX-License-Identifier: MIT
 *
 * What callgrind wrote about the processes of a program, added up: all of it, and of this what calls
 * into the allocator took with all that they called in turn (memset in calloc, the kernel's entry).
 * A call is one that comes from elsewhere into the allocator's library; where the C library itself
 * allocates, into one of its functions of the malloc family from any other function.
 */
#ifndef AB_PROGRAM_CALLGRIND_FILE_H
#define AB_PROGRAM_CALLGRIND_FILE_H

#include "program/program.h"

#include <stdbool.h>
#include <stdint.h>

struct ab_grind_object { /* a file that is mapped into a process */
    char path[4096];
    bool is_allocator;
};

struct ab_grind_sum { /* begins as zeroes but for `wanted` */
    const struct ab_proof_wanted *wanted;
    uint64_t inside[AB_INSTR_EVENTS], total[AB_INSTR_EVENTS];
    uint64_t n_calls;
    uint32_t n_files, n_cut; /* all, and those that are not whole: their process ended before */
    uint32_t n_unplaced;     /* calls between parts of which it is not known whose they are */
    struct ab_grind_object *objects; /* all that was seen, malloc'ed */
    size_t n, cap;
};

/* Adds a file, callgrind's with --dump-instr=yes and the events of its cache model. `maps`: a copy of
 * /proc/PID/maps of the process, from its end; callgrind does not know whose code outside of .text
 * is. One that cannot be read is empty. */
void ab_grind_add(struct ab_grind_sum *sum, const char *path, const char *maps);

#endif
