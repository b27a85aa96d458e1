/* SPDX-License-Identifier: MIT
 *
 * What a program wrote of its large blocks: of each call that gave one how many of the block's pages
 * are known to have been written, or not, after it. The table of a trace, and its optional chunk
 * (traces/FORMAT.md).
 */
#ifndef AB_TRACE_WRITTEN_TABLE_H
#define AB_TRACE_WRITTEN_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    AB_WRITTEN_PAGE = 4096, /* bytes, on whatever machine it was recorded */
    AB_WRITTEN_MAX = 1 << 24,
};

struct ab_trace_written {
    uint64_t call; /* of the trace, from 0: an allocation or a resize that gave the block */
    uint32_t
        known; /* whole pages of the block of which it is known whether they were written, > 0 */
    uint32_t pages; /* of them that were */
};

struct ab_written_table { /* begins as {0} */
    struct ab_trace_written *items;
    size_t n, cap;
};

void ab_written_table_fini(struct ab_written_table *t);
/* Where there are too many it is left out. */
void ab_written_add(struct ab_written_table *t, struct ab_trace_written item);
/* Puts them in the order of their calls. False: there are two of one call. */
bool ab_written_sort(struct ab_written_table *t);

/* Encodes those from *done on, as many as a chunk holds, and moves it on. `raw` has room for
 * AB_TRACE_RAW_MAX bytes. Returns how many it takes; 0 = there are none. They may come in any order. */
size_t ab_written_encode(struct ab_written_table *t, size_t *done, uint8_t *raw);
/* Appends what a chunk holds. NULL, or what is wrong as the end of a sentence. */
const char *ab_written_decode(struct ab_written_table *t, const uint8_t *raw, size_t bytes);

#endif
