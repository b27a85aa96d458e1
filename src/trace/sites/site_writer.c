/* SPDX-License-Identifier: MIT
 *
 * Keeps two columns, and packs.
 */
#include "trace/sites/site_writer.h"

#include "trace/format.h"

#include <stdlib.h>

struct ab_site_writer *ab_site_writer_new(const struct ab_site_table *table, size_t n)
{
    struct ab_site_writer *w = calloc(1, sizeof *w);
    if (w == NULL)
        return NULL;
    w->table = table;
    w->raw = malloc(AB_TRACE_RAW_MAX);
    w->stored = malloc(AB_TRACE_STORED_MAX);
    for (unsigned i = 0; i < 2; i++)
        w->columns[i].sites = malloc(n * sizeof w->columns[i].sites[0]);
    if (w->raw != NULL && w->stored != NULL && w->columns[0].sites != NULL &&
        w->columns[1].sites != NULL)
        return w;
    ab_site_writer_free(w);
    return NULL;
}

void ab_site_writer_free(struct ab_site_writer *w)
{
    if (w == NULL)
        return;
    free(w->raw);
    free(w->stored);
    free(w->columns[0].sites);
    free(w->columns[1].sites);
    free(w);
}

void ab_site_writer_turn(struct ab_site_writer *w)
{
    w->filling ^= 1;
    w->columns[w->filling].n = 0;
}

enum ab_status ab_site_writer_next(struct ab_site_writer *w, uint32_t *kind,
                                   struct ab_stored_chunk *out, struct ab_err *err)
{
    unsigned waiting = w->filling ^ 1;
    size_t n_raw = ab_site_encode_definitions(w->table, &w->mark, w->raw), n_stored = 0;
    *kind = AB_TRACE_CHUNK_SITES;
    if (n_raw == 0) {
        n_raw = ab_site_encode_column(w->columns[waiting].sites, w->columns[waiting].n, w->raw);
        *kind = AB_TRACE_CHUNK_SITE_COLUMN;
    }
    AB_TRY(ab_site_pack(w->raw, n_raw, w->stored, &n_stored, err));
    *out = (struct ab_stored_chunk){w->stored, n_stored, n_raw, 0};
    return AB_OK;
}
