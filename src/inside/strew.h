/* SPDX-License-Identifier: MIT
 *
 * What the library that makes the litter of `exec --litter` shares with its parent: a mapping for the
 * program of one run, which says what to make and takes what it took.
 */
#ifndef AB_INSIDE_STREW_H
#define AB_INSIDE_STREW_H

#include "base/litter.h"

#define AB_STREW_NAME "liballocbench-litter.so"
#define AB_STREW_VARIABLE "ALLOCBENCH_LITTER" /* the path of the mapping */

enum { AB_STREW_SIZES = 1 << 16 };

struct ab_strew_file {
    /* from the parent */
    struct ab_litter_request request;
    uint64_t live_peak_bytes;
    uint64_t sizes[AB_STREW_SIZES]; /* n_sizes */
    uint32_t n_sizes;
    /* from the program */
    uint32_t is_claimed; /* atomic; by the first process, which alone makes it */
    uint32_t is_done;
    struct ab_litter_count foreseen, count;
    uint64_t wall_ns, user_ns, system_ns, faults_minor, faults_major; /* that it took */
};

#endif
