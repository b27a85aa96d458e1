/* SPDX-License-Identifier: MIT
 *
 * Merges records that differ only in their round. To find them, sorts records by everything else,
 * so that they are next to each other.
 */
#include "result/merge/merge_rounds.h"

#include "core/alloc.h"
#include "result/numbers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct record { /* identity of a record, without its round */
    const char *phase;
    uint64_t kind; /* op; op and size class; or the beginning of a window */
    uint32_t backend, index;
};

static int by_kind(const void *a, const void *b)
{
    const struct record *x = a, *y = b;
    int order = strcmp(x->phase, y->phase);
    if (order == 0)
        order = (x->backend > y->backend) - (x->backend < y->backend);
    if (order == 0)
        order = (x->kind > y->kind) - (x->kind < y->kind);
    return order;
}

static int by_kind_then_index(const void *a, const void *b)
{
    uint32_t x = ((const struct record *)a)->index, y = ((const struct record *)b)->index;
    int order = by_kind(a, b);
    return order != 0 ? order : (x > y) - (x < y);
}

static void *copy(const void *items, uint32_t n, size_t bytes)
{
    void *to = ab_alloc((size_t)n * bytes + 1);
    if (n > 0)
        memcpy(to, items, (size_t)n * bytes);
    return to;
}

/* Adds the histogram `later` to *first. Before the first addition, *first points to the original's
 * histogram, and is replaced by a copy. */
static void add(struct ab_merged_rounds *m, struct ab_hdr **first, const struct ab_hdr *later)
{
    bool is_own = m->n_hdrs > 0 && m->hdrs[m->n_hdrs - 1] == *first;
    if (!is_own) {
        struct ab_hdr *made = ab_alloc(sizeof *made);
        ab_hdr_init(made);
        ab_hdr_merge(made, *first);
        *first = m->hdrs[m->n_hdrs++] = made;
    }
    ab_hdr_merge(*first, later);
}

static void merge_results(struct ab_merged_rounds *m, struct record *records)
{
    struct ab_session *s = &m->session;
    struct ab_result *first = NULL;
    for (uint32_t i = 0; i < s->n_results; i++)
        records[i] = (struct record){s->results[i].phase, s->results[i].op, s->results[i].backend,
                                     i};
    qsort(records, s->n_results, sizeof records[0], by_kind_then_index);
    for (uint32_t i = 0; i < s->n_results; i++) {
        struct ab_result *r = &s->results[records[i].index];
        if (i == 0 || by_kind(&records[i - 1], &records[i]) != 0) {
            first = r;
            continue;
        }
        add(m, &first->hdr, r->hdr);
        r->hdr = m->empty;
    }
}

static void merge_classes(struct ab_merged_rounds *m, struct record *records)
{
    struct ab_session *s = &m->session;
    struct ab_size_class *first = NULL;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < s->n_size_classes; i++) {
        const struct ab_size_class *c = &s->size_classes[i];
        records[i] = (struct record){c->phase, (uint64_t)c->op * AB_SIZE_CLASS_COUNT + c->log2,
                                     c->backend, i};
    }
    qsort(records, s->n_size_classes, sizeof records[0], by_kind_then_index);
    for (uint32_t i = 0; i < s->n_size_classes; i++) {
        struct ab_size_class *c = &s->size_classes[records[i].index];
        if (i == 0 || by_kind(&records[i - 1], &records[i]) != 0) {
            first = c;
            continue;
        }
        add(m, &first->hdr, c->hdr);
        c->hdr = NULL;
    }
    for (uint32_t i = 0; i < s->n_size_classes; i++)
        if (s->size_classes[i].hdr != NULL)
            s->size_classes[kept++] = s->size_classes[i];
    s->n_size_classes = kept;
}

static void merge_heap_parts(struct ab_merged_rounds *m, struct record *records)
{
    struct ab_session *s = &m->session;
    struct ab_heap_part *first = NULL;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < s->n_heap_parts; i++) {
        const struct ab_heap_part *p = &s->heap_parts[i];
        records[i] = (struct record){p->phase, (uint64_t)p->heap * (AB_OP_ALL + 1) + p->op,
                                     p->backend, i};
    }
    qsort(records, s->n_heap_parts, sizeof records[0], by_kind_then_index);
    for (uint32_t i = 0; i < s->n_heap_parts; i++) {
        struct ab_heap_part *p = &s->heap_parts[records[i].index];
        if (i == 0 || by_kind(&records[i - 1], &records[i]) != 0) {
            first = p;
            continue;
        }
        add(m, &first->hdr, p->hdr);
        p->hdr = NULL;
        first->time_ns = ab_heap_time_sum(first->time_ns, p->time_ns);
    }
    for (uint32_t i = 0; i < s->n_heap_parts; i++)
        if (s->heap_parts[i].hdr != NULL)
            s->heap_parts[kept++] = s->heap_parts[i];
    s->n_heap_parts = kept;
}

static void merge_windows(struct ab_merged_rounds *m, struct record *records)
{
    struct ab_session *s = &m->session;
    struct ab_window *first = NULL;
    for (uint32_t i = 0; i < s->n_windows; i++)
        records[i] = (struct record){s->windows[i].phase, s->windows[i].begin,
                                     s->windows[i].backend, i};
    qsort(records, s->n_windows, sizeof records[0], by_kind_then_index);
    for (uint32_t i = 0; i < s->n_windows; i++) {
        struct ab_window *w = &s->windows[records[i].index];
        if (i == 0 || by_kind(&records[i - 1], &records[i]) != 0) {
            first = w;
            continue;
        }
        for (unsigned bin = 0; bin < AB_WINDOW_BINS; bin++)
            first->counts[bin] += w->counts[bin];
        memset(w->counts, 0, sizeof w->counts);
    }
}

static void keep_first_timelines(struct ab_session *s)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < s->n_timelines; i++) {
        uint32_t before = 0;
        while (before < kept && s->timelines[before].backend != s->timelines[i].backend)
            before++;
        if (before == kept)
            s->timelines[kept++] = s->timelines[i];
    }
    s->n_timelines = kept;
}

static void copy_lists(const struct ab_session *s, struct ab_merged_rounds *m)
{
    struct ab_session *out = &m->session;
    out->results = copy(s->results, s->n_results, sizeof s->results[0]);
    out->size_classes = copy(s->size_classes, s->n_size_classes, sizeof s->size_classes[0]);
    out->windows = copy(s->windows, s->n_windows, sizeof s->windows[0]);
    out->heap_parts = copy(s->heap_parts, s->n_heap_parts, sizeof s->heap_parts[0]);
    out->timelines = copy(s->timelines, s->n_timelines, sizeof s->timelines[0]);
    m->hdrs = ab_alloc(((size_t)s->n_results + s->n_size_classes + s->n_heap_parts + 1) *
                       sizeof m->hdrs[0]);
    m->empty = ab_alloc_zeroed(1, sizeof *m->empty);
    m->empty->min = UINT64_MAX;
}

void ab_merge_rounds(const struct ab_session *session, struct ab_merged_rounds *out)
{
    struct ab_merged_rounds m = {.session = *session};
    size_t most = (size_t)session->n_results + session->n_size_classes + session->n_windows +
                  session->n_heap_parts;
    struct record *records = ab_alloc((most + 1) * sizeof records[0]);
    copy_lists(session, &m);
    merge_results(&m, records);
    merge_classes(&m, records);
    merge_heap_parts(&m, records);
    merge_windows(&m, records);
    keep_first_timelines(&m.session);
    m.session.is_histogram_merged = true;
    *out = m;
    free(records);
}

void ab_merged_rounds_fini(struct ab_merged_rounds *m)
{
    for (uint32_t i = 0; i < m->n_hdrs; i++)
        free(m->hdrs[i]);
    free(m->hdrs);
    free(m->empty);
    free(m->session.results);
    free(m->session.size_classes);
    free(m->session.heap_parts);
    free(m->session.windows);
    free(m->session.timelines);
    *m = (struct ab_merged_rounds){0};
}

/* ---- iterations, summed over the rounds ---- */

/* Returns a time from which that of the null back end was subtracted; NaN if nothing is left, so
 * that the two cannot be distinguished. */
static double seen(double net)
{
    return net > 0 ? net : (double)NAN;
}

void ab_iterations_summarise(struct ab_iterations *x)
{
    x->p50 = seen(ab_result_quantile(x->hdr, 0.5));
    x->p99 = seen(ab_result_quantile(x->hdr, 0.99));
    bool has_all = ab_hdr_total(x->hdr) > 0 && x->hdr->overflow == 0;
    x->max = has_all ? seen((double)x->hdr->max) : (double)NAN;
}

bool ab_session_merge_iterations(const struct ab_session *s, uint32_t backend, const char *phase,
                                 uint32_t round, struct ab_hdr *hdr, struct ab_iterations *out)
{
    uint32_t n_rounds = 0;
    double call_ns = 0;
    ab_hdr_init(hdr);
    for (uint32_t i = 0; i < s->n_iterations; i++) {
        const struct ab_iterations *x = &s->iterations[i];
        if (x->backend != backend || strcmp(x->phase, phase) != 0 ||
            (round != AB_ITERATIONS_ALL_ROUNDS && x->round != round))
            continue;
        if (n_rounds++ == 0) {
            *out = *x;
            out->n = out->n_over_budget = out->n_scheduler = out->n_calls = 0;
            out->n_worst = out->n_stretches = 0;
        }
        out->n += x->n;
        out->n_over_budget += x->n_over_budget;
        out->n_scheduler += x->n_scheduler;
        out->n_calls += x->n_calls;
        if (x->n_calls_most > out->n_calls_most)
            out->n_calls_most = x->n_calls_most;
        call_ns += x->call_ns;
        ab_hdr_merge(hdr, x->hdr);
    }
    if (n_rounds == 0)
        return false;
    out->hdr = hdr;
    out->call_ns = call_ns / n_rounds;
    ab_iterations_summarise(out);
    if (out->n > 0)
        out->reason[0] = 0;
    return true;
}
