/* SPDX-License-Identifier: MIT
 *
 * The file in which liballocbench-asked.so notes for `exec` where blocks of a program have been.
 * After a header there is one bitmap per process, with one bit for each place: 64 KiB of its
 * address space. Most of the file is holes.
 */
#ifndef AB_INSIDE_ASKED_H
#define AB_INSIDE_ASKED_H

#include "base/places.h"

#include <stdint.h>

#define AB_ASKED_NAME "liballocbench-asked.so"
#define AB_ASKED_VARIABLE "ALLOCBENCH_ASKED" /* path of the file */

/* Processes after the first AB_ASKED_MAPS note nothing. */
enum { AB_ASKED_MAPS = 64, AB_ASKED_HEAD_BYTES = 65536, AB_ASKED_MAP_BYTES = 1 << 28 };
_Static_assert(UINT64_C(1) << (47 - AB_PLACE_LOG2) == UINT64_C(8) * AB_ASKED_MAP_BYTES,
               "a bit for each place");

struct ab_asked_head {
    /* atomic: number of processes that asked for a map; may exceed AB_ASKED_MAPS */
    uint32_t n_maps;
    /* atomic: process of each map; a process that calls exec takes another map */
    int32_t pids[AB_ASKED_MAPS];
};

#endif
