/* SPDX-License-Identifier: MIT
 *
 * The file in which liballocbench-asked.so notes, for `exec`, the places in which blocks of a
 * program have been. After a header there is one map per process, with one bit for each place of
 * 64 KiB in its address space. Most of the file is holes.
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
    uint32_t n_maps; /* atomic: maps in use; may exceed AB_ASKED_MAPS */
    int32_t pids
        [AB_ASKED_MAPS]; /* atomic: the process of each map; after an exec it takes another map */
};

#endif
