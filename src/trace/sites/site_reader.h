/* SPDX-License-Identifier: MIT
 *
 * The call sites of a file that is being read: their table, which is the caller's, is filled, and
 * the column of the events that come next is kept for them.
 */
#ifndef AB_TRACE_SITES_SITE_READER_H
#define AB_TRACE_SITES_SITE_READER_H

#include "trace/sites/site_chunk.h"

struct ab_site_reader { /* begins as {0} */
    uint32_t *column;
    size_t n, at;
    bool has_column; /* and its events are not through */
};

void ab_site_reader_fini(struct ab_site_reader *r);
/* A chunk of definitions, which go into the table, or a column. `raw` is room for n_raw bytes. NULL, or what is wrong. */
const char *ab_site_reader_take(struct ab_site_reader *r, struct ab_site_table *table,
                                bool is_column, const uint8_t *stored, size_t n_stored,
                                uint8_t *raw, size_t n_raw);
/* Gives the next events of a chunk their sites; is_last: there are no more of them. Events of a
 * chunk without a column have none. */
const char *ab_site_reader_give(struct ab_site_reader *r, struct ab_event *events, size_t n,
                                bool is_last);

#endif
