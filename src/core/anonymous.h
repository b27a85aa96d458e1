/* SPDX-License-Identifier: MIT
 *
 * Anonymous memory of a process, and where it lies: memory that was written to and that no file stands
 * behind, as blocks, what of them was given back, stacks and variables.
 */
#ifndef AB_CORE_ANONYMOUS_H
#define AB_CORE_ANONYMOUS_H

#include "base/places.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Bytes, resident or swapped out; 0 = the process is gone. */
uint64_t ab_anonymous_bytes(pid_t pid);

enum { AB_ANONYMOUS_PAGE = 4096, AB_PLACE_PAGES = (1 << AB_PLACE_LOG2) / AB_ANONYMOUS_PAGE };

struct ab_anonymous_look {
    /* Where the variables end of the module whose mapped file ends at `begin`, which is returned where no
     * module does. NULL: all that follows a mapping of a file counts as variables. */
    uint64_t (*variables_end)(void *user, uint64_t begin);
    /* `n` places from `first` on have so many pages each. */
    void (*see)(void *user, uint64_t first, uint64_t n, uint64_t pages);
    void *user;
};

/* Stacks are left out, by where the stack pointers of threads that wait are, and variables of program
 * and libraries, which follow their files. False: the process cannot be looked into. */
bool ab_anonymous_look(pid_t pid, const struct ab_anonymous_look *look);

#endif
