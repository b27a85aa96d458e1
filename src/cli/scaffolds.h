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
    const char *name;               /* "frame" */
    struct ab_scaffold_file main;   /* the workload */
    struct ab_scaffold_file second; /* for "ci": the workflow; else its text is NULL */
};

extern const struct ab_scaffold ab_scaffolds[];
extern const size_t ab_scaffold_count;

#endif
