/* SPDX-License-Identifier: MIT
 *
 * Measures how much of a program's anonymous memory was not requested from malloc, so that no other
 * malloc can change it. This is memory at addresses where no block has been. The library
 * liballocbench-asked.so records the addresses of blocks when it is preloaded.
 */
#ifndef AB_PROGRAM_UNASKED_H
#define AB_PROGRAM_UNASKED_H

#include "inside/asked.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* n places (units of memory) from number `first` on, each with `pages` resident pages */
struct ab_unasked_run {
    uint64_t first, n, pages;
};

struct ab_unasked {
    int fd;
    char path[64]; /* environment variable that tells the program where the file is */
    struct ab_asked_head *head;
    /* anonymous memory of a process at the last reading, with stacks and variables */
    uint64_t looked_bytes;
    uint64_t anonymous_bytes; /* the largest reading, without stacks and variables */
    uint32_t map;             /* index of the map of the process that had anonymous_bytes */
    struct ab_unasked_run *runs;
    size_t n, cap;
};

/* Creates the file. Returns false if the system has no memory for it, or does not allow a file of
 * this size. */
bool ab_unasked_open(struct ab_unasked *out);
/* Reads where the memory of `pid` is, if it has more than any process had in an earlier reading.
 * While the process still runs (is_end false), it must have a quarter more. Does nothing for a
 * process without a map. */
void ab_unasked_look(struct ab_unasked *u, pid_t pid, bool is_end);
/* Sets *unasked_bytes to the part of anonymous_bytes that is at addresses where no block ever was.
 * Call it after the run. Returns false if the part is not known. */
bool ab_unasked_take(const struct ab_unasked *u, uint64_t *unasked_bytes);
void ab_unasked_close(struct ab_unasked *u);

#endif
