/* SPDX-License-Identifier: MIT
 *
 * Chooses the call sites of a page, names them and sums up the others.
 */
#include "cli/trace/trace_page.h"

#include <stdlib.h>

static bool choose(const struct ab_trace_facts *f, size_t most, bool *is_chosen)
{
    static const enum ab_site_order orders[] = {AB_SITES_BY_CALLS, AB_SITES_BY_BYTES,
                                                AB_SITES_BY_PEAK, AB_SITES_BY_NEVER_FREED,
                                                AB_SITES_BY_TEMPORARY};
    for (size_t k = 0; k < AB_ARRAY_LEN(orders); k++) {
        size_t n;
        struct ab_trace_site_row *rows = ab_trace_sort_sites(f, orders[k], &n);
        if (rows == NULL)
            return false;
        for (size_t i = 0; i < n && i < most; i++)
            is_chosen[rows[i].site] = true;
        free(rows);
    }
    return true;
}

static void add(struct ab_trace_report_site *to, const struct ab_site_stat *s)
{
    to->calls += s->calls;
    to->bytes += s->bytes;
    to->peak_bytes += s->peak_bytes;
    to->live_bytes += s->live_bytes;
    to->temporary += s->temporary;
}

/* By bytes; sites that never asked for a byte come last. */
static int by_bytes(const void *a, const void *b)
{
    const struct ab_trace_report_site *x = a, *y = b;
    return x->bytes != y->bytes ? (x->bytes < y->bytes ? 1 : -1) : AB_COMPARE(y->calls, x->calls);
}

static void fill(const struct ab_trace_facts *f, const bool *is_chosen, struct ab_site_names *names,
                 struct ab_trace_report_site *list, struct ab_trace_report *r)
{
    for (uint32_t i = 0; i < f->sites.n; i++) {
        const struct ab_site_stat *s = &f->sites.sites[i];
        if (is_chosen[i]) {
            struct ab_trace_report_site *site = &list[r->n_sites++];
            add(site, s);
            ab_trace_site_frames(names, i, site->frames);
            site->median_life = ab_site_stat_median_life(s);
        } else if (s->calls > 0) {
            add(&r->rest, s);
            r->n_rest++;
        }
    }
    if (r->n_sites > 0)
        qsort(list, r->n_sites, sizeof list[0], by_bytes);
}

bool ab_trace_page_sites(const struct ab_trace_facts *f, size_t most, struct ab_trace_report *r)
{
    struct ab_site_names names;
    bool *is_chosen = calloc(f->sites.n + 1, sizeof is_chosen[0]);
    size_t n = 0;
    bool ok = is_chosen != NULL && choose(f, most, is_chosen);
    for (size_t i = 0; ok && i < f->sites.n; i++)
        n += is_chosen[i];
    struct ab_trace_report_site *list = ok ? calloc(n + 1, sizeof list[0]) : NULL;
    ok = list != NULL && ab_site_names_init(&names, &f->site_table);
    r->sites = list;
    r->rest.median_life = UINT64_MAX;
    if (ok) {
        fill(f, is_chosen, &names, list, r);
        ab_site_names_fini(&names);
    }
    free(is_chosen);
    return ok;
}
