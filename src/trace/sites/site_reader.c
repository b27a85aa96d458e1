/* SPDX-License-Identifier: MIT
 *
 * Joins columns of sites with their events.
 */
#include "trace/sites/site_reader.h"

#include "trace/format.h"

#include <stdlib.h>

static const char mismatch[] = "a column of call sites that does not match its events";

void ab_site_reader_fini(struct ab_site_reader *r)
{
    free(r->column);
    *r = (struct ab_site_reader){.column = NULL};
}

static const char *take_column(struct ab_site_reader *r, const struct ab_site_table *table,
                               const uint8_t *raw, size_t bytes)
{
    if (r->has_column)
        return "a second column of call sites for the same events";
    if (r->column == NULL)
        r->column = malloc(AB_TRACE_CHUNK_EVENTS_MAX * sizeof r->column[0]);
    if (r->column == NULL)
        return ab_no_memory;
    r->at = 0;
    r->has_column = true;
    return ab_site_decode_column(table, raw, bytes, r->column, AB_TRACE_CHUNK_EVENTS_MAX, &r->n);
}

const char *ab_site_reader_take(struct ab_site_reader *r, struct ab_site_table *table,
                                bool is_column, const uint8_t *stored, size_t n_stored,
                                uint8_t *raw, size_t n_raw)
{
    const char *wrong = ab_site_unpack(stored, n_stored, raw, n_raw);
    if (wrong != NULL)
        return wrong;
    return is_column ? take_column(r, table, raw, n_raw)
                     : ab_site_decode_definitions(table, raw, n_raw);
}

const char *ab_site_reader_give(struct ab_site_reader *r, struct ab_event *events, size_t n,
                                bool is_last)
{
    if (!r->has_column)
        return NULL;
    for (size_t i = 0; i < n; i++) {
        if (!ab_event_has_site(&events[i]))
            continue;
        if (r->at == r->n)
            return mismatch;
        events[i].site = r->column[r->at++];
    }
    r->has_column = !is_last;
    return is_last && r->at != r->n ? mismatch : NULL;
}
