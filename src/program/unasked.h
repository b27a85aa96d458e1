/* SPDX-License-Identifier: MIT
 *
 * Anonymous memory of a program that malloc was not asked for, which no allocator changes: from a run
 * with a library in front that notes where blocks have been.
 */
#ifndef AB_PROGRAM_UNASKED_H
#define AB_PROGRAM_UNASKED_H

#include "inside/asked.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct ab_unasked_run { /* places that follow each other */
    uint64_t first, n, pages;
};

struct ab_unasked {
    int fd;
    char path[64]; /* of the environment: where the program finds the file */
    struct ab_asked_head *head;
    uint64_t looked_bytes;    /* with stacks and variables, at the last look */
    uint64_t anonymous_bytes; /* at the moment of most that was looked at */
    uint32_t map;             /* of the process that had them */
    struct ab_unasked_run *runs;
    size_t n, cap;
};

/* False: the system has no memory for it. */
bool ab_unasked_open(struct ab_unasked *out);
/* Looks where the memory of a process lies, if that is more than any before had; while it runs, if it is
 * a quarter more. Only of those that note. */
void ab_unasked_look(struct ab_unasked *u, pid_t pid, bool is_end);
/* After the run: how much of anonymous_bytes lies in places where no block ever was. False: not known. */
bool ab_unasked_take(const struct ab_unasked *u, uint64_t *unasked_bytes);
void ab_unasked_close(struct ab_unasked *u);

#endif
