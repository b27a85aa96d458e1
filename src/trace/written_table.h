/* SPDX-License-Identifier: MIT
 *
 * Written pages of large blocks: for each call that gave a block, the number of pages for which it
 * is known whether the program wrote to them, and the number of pages that it wrote to. The file
 * has the table of a trace, and its optional chunk (traces/FORMAT.md).
 */
#ifndef AB_TRACE_WRITTEN_TABLE_H
#define AB_TRACE_WRITTEN_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    AB_WRITTEN_PAGE = 4096, /* bytes, on every machine */
    AB_WRITTEN_MAX = 1 << 24,
};

struct ab_trace_written {
    uint64_t call; /* index of the allocation or resize that gave the block */
    /* number of whole pages of the block for which it is known whether they were written, > 0 */
    uint32_t known;
    uint32_t pages; /* number of these known pages that were written */
};

struct ab_written_table { /* zero-initialize it */
    struct ab_trace_written *items;
    size_t n, cap;
};

void ab_written_table_fini(struct ab_written_table *t);
/* Adds an item; drops it if the table is full. */
void ab_written_add(struct ab_written_table *t, struct ab_trace_written item);
/* Sorts the items by call. Returns false if two items have the same call. */
bool ab_written_sort(struct ab_written_table *t);

/* Encodes the items after *done, as many as fit into a chunk, in any order, and advances *done.
 * `raw` has AB_TRACE_RAW_MAX bytes. Returns the size; 0 = nothing is left. */
size_t ab_written_encode(struct ab_written_table *t, size_t *done, uint8_t *raw);
/* Appends the items of a chunk. Returns NULL, or what is wrong as the end of a sentence. */
const char *ab_written_decode(struct ab_written_table *t, const uint8_t *raw, size_t bytes);

#endif
