/* SPDX-License-Identifier: MIT
 *
 * How often which name was met, as the end of a sentence: "sh (3), true, and 2 others".
 */
#ifndef AB_CLI_RECORD_NAME_COUNTS_H
#define AB_CLI_RECORD_NAME_COUNTS_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct ab_name_counts {
    struct ab_name_count {
        char name[128]; /* as it is shown */
        uint64_t n;
    } * names;
    size_t n, cap;
    uint64_t total;
};

/* Counts `name`; without memory for one more it is in the total alone. */
void ab_name_counts_add(struct ab_name_counts *c, const char *name);
/* The most frequent first, at most ten. */
void ab_name_counts_print(FILE *to, struct ab_name_counts *c);
void ab_name_counts_fini(struct ab_name_counts *c);

#endif
