/* SPDX-License-Identifier: MIT
 *
 * Memory that the library which makes the aged heap of `exec --aged` shares with its parent: a
 * mapping for one run with the request and the result.
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
    uint64_t sizes[AB_AGING_SIZES_MOST]; /* n_sizes of them are used */
    uint32_t n_sizes;
    /* set by the program */
    uint32_t is_claimed; /* atomic; set by the first process, the only one that makes the heap */
    uint32_t is_done;
    struct ab_aging_count foreseen, count;
    uint64_t wall_ns, user_ns, system_ns, faults_minor, faults_major; /* cost of making the heap */
};

#endif
