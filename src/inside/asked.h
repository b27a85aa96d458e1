/* SPDX-License-Identifier: MIT
 *
 * What the library that notes where the blocks of a program have been shares with its parent, `exec`: a
 * file, mostly holes, which begins with a head; a map for each process follows.
 */
#ifndef AB_INSIDE_ASKED_H
#define AB_INSIDE_ASKED_H

#include "base/places.h"

#include <stdint.h>

#define AB_ASKED_NAME "liballocbench-asked.so"
#define AB_ASKED_VARIABLE "ALLOCBENCH_ASKED" /* the path of the file */

/* More processes than there are maps: the last ones note nothing. */
enum { AB_ASKED_MAPS = 64, AB_ASKED_HEAD_BYTES = 65536, AB_ASKED_MAP_BYTES = 1 << 28 };
_Static_assert(UINT64_C(1) << (47 - AB_PLACE_LOG2) == UINT64_C(8) * AB_ASKED_MAP_BYTES,
               "a bit for each place");

struct ab_asked_head {
    uint32_t n_maps; /* atomic: that were taken */
    int32_t pids
        [AB_ASKED_MAPS]; /* atomic: who notes in each; a later program of a process takes another */
};

#endif
