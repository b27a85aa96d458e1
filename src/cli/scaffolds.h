/* SPDX-License-Identifier: MIT
 *
 * Files that `init` writes: a commented workload for each kind of program, ready to run.
 */
#ifndef AB_CLI_SCAFFOLDS_H
#define AB_CLI_SCAFFOLDS_H

#include <stddef.h>

struct ab_scaffold_file {
    const char *folder; /* relative path; "." = current folder */
    const char *name, *text;
};

struct ab_scaffold {
    const char *name;             /* "frame" */
    struct ab_scaffold_file main; /* the workload */
    /* second file, the workflow of "ci"; text NULL = there is none */
    struct ab_scaffold_file second;
};

extern const struct ab_scaffold ab_scaffolds[];
extern const size_t ab_scaffold_count;

#endif
