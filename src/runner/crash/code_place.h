/* SPDX-License-Identifier: MIT
 *
 * Finds where in which file a dead process was, from the lines of its /proc/self/maps, the
 * registers and the words of its stack that it left (wire/crash.h).
 */
#ifndef AB_RUNNER_CRASH_CODE_PLACE_H
#define AB_RUNNER_CRASH_CODE_PLACE_H

#include "wire/crash.h"

#include <stdbool.h>
#include <stddef.h>

struct ab_code_map {
    uint64_t begin, end, offset;
    char perms[5];   /* "rw-p" */
    char file[4096]; /* "" = of no file; raw */
};

/* The mapping that holds the address; false when there was none among those that were noted: all
 * code is, and what holds the address of the fault and the stack pointer. */
bool ab_code_map_find(const struct ab_crash_report *crash, uint64_t address,
                      struct ab_code_map *out);
/* Last part of a path, printable. */
const char *ab_code_file(char *buf, size_t cap, const char *path);

/* "libmine.so+0x1139 (free+0x29)"; where that is not in the library under test, also what called it
 * from there: the first word of the stack that a call in the library has left. "" = not known. */
void ab_code_place_tell(const struct ab_crash_report *crash, const char *library, char *buf,
                        size_t cap);

#endif
