/* SPDX-License-Identifier: MIT
 *
 * Finds the anonymous memory of a process and its addresses. Anonymous memory was written to and
 * has no file behind it: blocks, freed blocks, stacks and variables.
 */
#ifndef AB_CORE_ANONYMOUS_H
#define AB_CORE_ANONYMOUS_H

#include "base/places.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Returns the number of anonymous bytes of a process, resident or swapped out; 0 = the process is
 * gone. */
uint64_t ab_anonymous_bytes(pid_t pid);

enum { AB_ANONYMOUS_PAGE = 4096, AB_PLACE_PAGES = (1 << AB_PLACE_LOG2) / AB_ANONYMOUS_PAGE };

struct ab_anonymous_look {
    /* Returns the end of the variables of the module whose mapped file ends at `begin`. Returns
     * `begin` if no module's file ends there. NULL: the whole mapping after a file counts as
     * variables. */
    uint64_t (*variables_end)(void *user, uint64_t begin);
    /* Called for `n` consecutive places from number `first` on. Each of these places has `pages`
     * anonymous pages. */
    void (*see)(void *user, uint64_t first, uint64_t n, uint64_t pages);
    void *user;
};

/* Reports the anonymous memory of a process. Leaves out stacks, which are found by the stack
 * pointers of waiting threads. Also leaves out the variables of program and libraries, which are
 * mapped after their files. Returns false if the process cannot be read. */
bool ab_anonymous_look(pid_t pid, const struct ab_anonymous_look *look);

#endif
