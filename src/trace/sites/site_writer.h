/* SPDX-License-Identifier: MIT
 *
 * The chunks of call sites that go ahead of a chunk of events: what is new in the table, then the
 * column. While one chunk's column waits for its events to be packed, the next one is filled.
 */
#ifndef AB_TRACE_SITES_SITE_WRITER_H
#define AB_TRACE_SITES_SITE_WRITER_H

#include "trace/encoder.h"
#include "trace/sites/site_chunk.h"

struct ab_site_writer {
    const struct ab_site_table *table;
    struct ab_site_mark mark;
    struct { /* one is filled, the other one waits */
        uint32_t *sites;
        size_t n;
    } columns[2];
    unsigned filling;
    uint8_t *raw, *stored;
};

/* Of columns of at most n sites. NULL = out of memory. */
struct ab_site_writer *ab_site_writer_new(const struct ab_site_table *table, size_t n);
void ab_site_writer_free(struct ab_site_writer *w);

/* Of the next call that has one. */
static inline void ab_site_writer_add(struct ab_site_writer *w, uint32_t site)
{
    w->columns[w->filling].sites[w->columns[w->filling].n++] = site;
}

/* The column that was filled belongs to the events that are packed now. */
void ab_site_writer_turn(struct ab_site_writer *w);

/* The next chunk to be written for it, and its kind: the column is the last. */
enum ab_status ab_site_writer_next(struct ab_site_writer *w, uint32_t *kind,
                                   struct ab_stored_chunk *out, struct ab_err *err);

#endif
