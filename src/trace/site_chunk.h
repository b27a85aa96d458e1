/* SPDX-License-Identifier: MIT
 *
 * The optional chunks of call sites (traces/FORMAT.md): definitions, and the column that says of
 * each call of the next chunk of events which stack it came from.
 */
#ifndef AB_TRACE_SITE_CHUNK_H
#define AB_TRACE_SITE_CHUNK_H

#include "core/status.h"
#include "trace/event.h"
#include "trace/site_table.h"

struct ab_site_mark { /* how much of a table has been written */
    size_t n_modules, n_frames, n_stacks;
};

/* Is it a call that has a site: one that may give a block? */
static inline bool ab_event_has_site(const struct ab_event *e)
{
    return e->kind <= AB_EVENT_RESIZE;
}

/* Encodes what comes after *mark, as much as a chunk holds, and moves the mark. `raw` has room for
 * AB_TRACE_RAW_MAX bytes. 0 = there is nothing more. */
size_t ab_site_encode_definitions(const struct ab_site_table *t, struct ab_site_mark *mark,
                                  uint8_t *raw);
/* Appends what a chunk defines. NULL, or what is wrong as the end of a sentence. */
const char *ab_site_decode_definitions(struct ab_site_table *t, const uint8_t *raw, size_t bytes);

/* Of at most AB_TRACE_CHUNK_EVENTS_MAX calls; `raw` as above. */
size_t ab_site_encode_column(const uint32_t *sites, size_t n, uint8_t *raw);
/* sites[0..cap); *n: how many there are. */
const char *ab_site_decode_column(const struct ab_site_table *t, const uint8_t *raw, size_t bytes,
                                  uint32_t *sites, size_t cap, size_t *n);

/* One zstd frame each. `stored` has room for AB_TRACE_STORED_MAX bytes. */
enum ab_status ab_site_pack(const uint8_t *raw, size_t n_raw, uint8_t *stored, size_t *n_stored,
                            struct ab_err *err);
const char *ab_site_unpack(const uint8_t *stored, size_t n_stored, uint8_t *raw, size_t n_raw);

#endif
