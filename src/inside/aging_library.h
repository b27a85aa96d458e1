/* SPDX-License-Identifier: MIT
 *
 * Memory that liballocbench-litter.so (`exec --aged`) shares with its parent: a mapping for one
 * run, with the request and the result.
 */
#ifndef AB_INSIDE_AGING_LIBRARY_H
#define AB_INSIDE_AGING_LIBRARY_H

#include "base/aging.h"

#define AB_AGING_LIBRARY "liballocbench-litter.so"
#define AB_AGING_VARIABLE "ALLOCBENCH_LITTER" /* path of the mapping */

enum { AB_AGING_SIZES_MOST = 1 << 16 };

struct ab_aging_file {
    /* set by the parent */
    struct ab_aging_request request;
    uint64_t live_peak_bytes;
    uint64_t sizes[AB_AGING_SIZES_MOST]; /* sizes of blocks; the first n_sizes are used */
    uint32_t n_sizes;
    /* set by the processes of the program */
    uint32_t is_claimed; /* atomic: 1 = a process makes the heap; only the first process does */
    uint32_t is_done;
    struct ab_aging_count foreseen, count;
    /* cost of making the aged heap */
    uint64_t wall_ns, user_ns, system_ns, faults_minor, faults_major;
};

#endif
