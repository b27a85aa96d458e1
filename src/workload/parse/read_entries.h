/* SPDX-License-Identifier: MIT
 *
 * Entries of a list of named records.
 */
#ifndef AB_WORKLOAD_PARSE_READ_ENTRIES_H
#define AB_WORKLOAD_PARSE_READ_ENTRIES_H

#include "workload/parse/fields.h"

/* An array of n records, or NULL after an error; `list` is where to complain. */
void *ab_read_new_records(const struct ab_reader *r, const struct ab_node *list, unsigned n,
                          size_t bytes);

/* The entries of a list that were read so far; each record begins with its name. */
struct ab_entries {
    const char *what; /* what the list is called */
    const void *records;
    size_t n, stride;
};

/* The name of an entry: there, well formed, and not in use before. */
bool ab_read_entry_name(const struct ab_reader *r, const struct ab_node *node, const char *text,
                        const struct ab_entries *before, char out[AB_NAME_MAX + 1]);

#endif
