/* SPDX-License-Identifier: MIT
 *
 * Measures how much of a program's anonymous memory was not requested from malloc, so that no
 * other malloc can change it. Such memory is in places where no block has been, as
 * liballocbench-asked.so notes them when it is preloaded.
 */
#ifndef AB_PROGRAM_UNASKED_H
#define AB_PROGRAM_UNASKED_H

#include "inside/asked.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct ab_unasked_run { /* n places from number `first` on, each with `pages` resident pages */
    uint64_t first, n, pages;
};

struct ab_unasked {
    int fd;
    char path[64]; /* environment variable that tells the program where the file is */
    struct ab_asked_head *head;
    uint64_t looked_bytes;    /* anonymous memory at the last look, stacks and variables included */
    uint64_t anonymous_bytes; /* the largest reading, without stacks and variables */
    uint32_t map;             /* map of the process that had them */
    struct ab_unasked_run *runs;
    size_t n, cap;
};

/* Makes the file. Returns false if the system has no memory for it. */
bool ab_unasked_open(struct ab_unasked *out);
/* Reads where the memory of `pid` is, if it has more than any process had in an earlier reading (a
 * quarter more, while the process still runs). Does nothing for a process without a map. */
void ab_unasked_look(struct ab_unasked *u, pid_t pid, bool is_end);
/* Sets how much of anonymous_bytes is in places where no block ever was. To be called after the
 * run. Returns false if it is not known. */
bool ab_unasked_take(const struct ab_unasked *u, uint64_t *unasked_bytes);
void ab_unasked_close(struct ab_unasked *u);

#endif
