/* SPDX-License-Identifier: MIT
 *
 * Tables about the heaps of a back end that maps calls to several heaps: what each heap served, its
 * latency and its memory. The timed calls of all rounds are merged; memory that belongs to no
 * single heap has its own row.
 */
#include "answer/topics.h"
#include "base/bits.h"
#include "core/alloc.h"
#include "result/numbers.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* If more than this share of a time is unclear (net_time), the heaps' shares of the time are not
 * known. */
static const double most_unclear = 0.1;

struct sums { /* sums of one heap */
    uint32_t heap;
    bool is_there;
    uint64_t n_calls;                           /* calls of one round; exact */
    uint64_t live_peak_blocks, live_peak_bytes; /* exact */
    double net_ns; /* time of the calls in the latency pass; NaN = nothing was timed */
};

/* Returns the time of the calls without the clock's floor, which even an empty call takes. If less
 * than the clock's step remains per call, a call may take up to a step: adds this possible error of
 * all calls to *unclear_ns. */
static double net_time(const struct ab_session *s, const struct ab_heap_part *p, double *unclear_ns)
{
    double mean = ab_hdr_total(p->hdr) > 0 ? ab_hdr_mean(p->hdr) : (double)NAN;
    double floor_ns = isnan(s->timer.floor_ns) ? 0 : s->timer.floor_ns;
    double step_ns = isnan(s->timer.quantum_ns) ? floor_ns : s->timer.quantum_ns;
    if (!(mean > 0) || isnan(p->time_ns))
        return p->time_ns;
    double net_ns = fmax(mean - floor_ns, 0), n_calls = p->time_ns / mean;
    *unclear_ns += net_ns < step_ns ? n_calls * step_ns : 0;
    return n_calls * net_ns;
}

static bool is_of(const struct ab_heap_part *p, uint32_t backend, const char *phase)
{
    return p->backend == backend && strcmp(p->phase, phase) == 0;
}

static void add_parts(const struct ab_session *s, uint32_t backend, const char *phase,
                      struct sums *sums, double *unclear_ns)
{
    for (uint32_t i = 0; i < s->n_heap_parts; i++) {
        const struct ab_heap_part *p = &s->heap_parts[i];
        struct sums *to = &sums[p->heap];
        if (!is_of(p, backend, phase))
            continue;
        if (p->op != AB_OP_ALL) {
            to->net_ns = ab_heap_time_sum(to->net_ns, net_time(s, p, unclear_ns));
            continue;
        }
        to->is_there = true;
        to->n_calls = p->n_calls; /* the same in each round */
        to->live_peak_blocks = p->live_peak_blocks;
        to->live_peak_bytes = p->live_peak_bytes;
    }
}

/* Merges the timed calls of one kind, or of AB_OP_ALL, over all rounds. */
static void merge(const struct ab_session *s, uint32_t backend, const char *phase, uint32_t heap,
                  unsigned op, struct ab_hdr *hdr)
{
    ab_hdr_init(hdr);
    for (uint32_t i = 0; i < s->n_heap_parts; i++) {
        const struct ab_heap_part *p = &s->heap_parts[i];
        if (p->heap == heap && p->op == op && is_of(p, backend, phase))
            ab_hdr_merge(hdr, p->hdr);
    }
}

static int by_calls(const void *a, const void *b)
{
    uint64_t x = ((const struct sums *)a)->n_calls, y = ((const struct sums *)b)->n_calls;
    return (x < y) - (x > y);
}

/* Collects the heaps that served anything, and returns their number. Sets *time to the time of all
 * heaps; NaN = not known, because too much of it belongs to calls shorter than a step of the
 * clock. */
static uint32_t collect(const struct ab_session *s, uint32_t backend, const char *phase,
                        struct sums sums[AB_PLACEMENT_HEAPS_MAX], double *time)
{
    double unclear_ns = 0;
    uint32_t n = 0;
    *time = 0;
    for (uint32_t h = 0; h < AB_PLACEMENT_HEAPS_MAX; h++)
        sums[h] = (struct sums){.heap = h, .net_ns = NAN};
    add_parts(s, backend, phase, sums, &unclear_ns);
    for (uint32_t h = 0; h < AB_PLACEMENT_HEAPS_MAX; h++)
        *time = ab_heap_time_sum(*time, sums[h].net_ns);
    if (!(*time > 0) || unclear_ns > most_unclear * *time)
        *time = NAN;
    for (uint32_t h = 0; h < AB_PLACEMENT_HEAPS_MAX; h++)
        if (sums[h].is_there)
            sums[n++] = sums[h];
    qsort(sums, n, sizeof sums[0], by_calls);
    return n;
}

/* ---- what the heaps served ---- */

enum { SERVES, CALLS, TIME, P50, P99, LIVE, HELD, BLOCKS, KEYS };

static void put_title(struct ab_grid *g, uint32_t backend, const char *what, const char *phase)
{
    char tail[200];
    snprintf(tail, sizeof tail, " %s, %.64s", what, phase);
    ab_grid_heading(g, ab_backend_label(&g->session->backends[backend]), tail);
}

enum { FEW_PHASES = 3 };

/* True if the answer has room for the heaps: it shows them if only one back end has heaps and there
 * are few phases. */
static bool fits_answer(const struct ab_session *s)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->n_backends; i++)
        n += s->backends[i].n_heaps > 0 && ab_session_has_numbers(s, i);
    return n == 1 && s->n_phases <= FEW_PHASES;
}

/* Adds the legend of the columns, or why there are no times. */
static void explain(struct ab_grid *g, const struct ab_topic_at *at, bool is_timed)
{
    if (at->surface != AB_PAGE && !is_timed) /* a page says it above its tables */
        g->note = "no times: too many calls are shorter than one clock tick.";
    if (at->surface == AB_TERMINAL && at->asked != 0)
        ab_view_texts_addf(&g->closing, "%s",
                           "calls, time: share of this heap in the row. serves: rules that choose "
                           "the heap. calls, live peak: exact, from the work. time: of the timed "
                           "calls, without reading the clock. p50, p99: of all calls. held: "
                           "resident memory at the peak of the row. A resize that moves a block "
                           "to another heap counts for the new heap.");
}

/* Fills the table of what each heap of a back end served in a phase, the heap with the most calls
 * first. */
bool ab_heaps_grid(const struct ab_topic_at *at, struct ab_grid *g)
{
    const struct ab_session *s = at->view->session;
    const uint32_t backend = at->backend;
    const char *phase = at->phase;
    if (s->n_heap_parts == 0 || (at->surface == AB_TERMINAL && at->asked == 0 && !fits_answer(s)))
        return false;
    bool is_timed = false;
    struct ab_hdr *scratch = ab_alloc(sizeof *scratch);
    struct sums sums[AB_PLACEMENT_HEAPS_MAX];
    double calls = 0, bytes = 0, time;
    uint32_t n = collect(s, backend, phase, sums, &time);
    const struct ab_memory *m = ab_view_memory_typical(s, backend, phase, AB_AT_FOOTPRINT_PEAK);
    *g = (struct ab_grid){.session = s,
                          .rows_are = "heap",
                          .columns = {[SERVES] = {.in_html = "serves"},
                                      [CALLS] = {"calls", 0, "#calls"},
                                      [TIME] = {"time", 1, "#time"},
                                      [P50] = {"p50", 0, "#p50"},
                                      [P99] = {"p99", 0, "#p99"},
                                      [LIVE] = {"live peak", 2, "#live peak"},
                                      [HELD] = {"held", 3},
                                      [BLOCKS] = {"blocks", 5, "#blocks"},
                                      [KEYS] = {"serves", 4, .width = 24}},
                          .n_columns = KEYS + 1};
    if (n > 0)
        put_title(g, backend, "by heap", phase);
    g->caption = ab_view_texts_addf(&g->texts, "%s: %.64s", ab_backend_label(&s->backends[backend]),
                                    phase);
    for (uint32_t i = 0; i < n; i++) {
        calls += (double)sums[i].n_calls;
        bytes += (double)sums[i].live_peak_bytes;
    }
    for (uint32_t i = 0; i < n; i++) {
        const struct ab_mapped_heap *heap = &s->backends[backend].heaps[sums[i].heap];
        double share = calls > 0 ? (double)sums[i].n_calls / calls : (double)NAN;
        double of_time = sums[i].net_ns / time, live = (double)sums[i].live_peak_bytes;
        merge(s, backend, phase, sums[i].heap, AB_OP_ALL, scratch);
        ab_grid_add(g, heap->name, "");
        ab_grid_say(g, SERVES, "%s", heap->keys)->kind = AB_GRID_CODE;
        ab_grid_say(g, KEYS, "%s", heap->keys);
        ab_grid_put(g, CALLS, AB_GRID_SHARE, share, NULL)->share = share;
        ab_grid_put(g, TIME, AB_GRID_SHARE, of_time, NULL)->share = of_time;
        ab_grid_put(g, P50, AB_GRID_NS, ab_result_quantile(scratch, 0.5), NULL);
        ab_grid_put(g, P99, AB_GRID_NS, ab_result_quantile(scratch, 0.99), NULL);
        /* share of the sum of all peaks, which need not occur at the same moment */
        ab_grid_put(g, LIVE, AB_GRID_BYTES, live, NULL)->share = bytes > 0 ? live / bytes : 0;
        ab_grid_put(g, HELD, AB_GRID_BYTES,
                    m != NULL ? m->heaps[sums[i].heap].footprint_bytes : (double)NAN, NULL);
        ab_grid_put(g, BLOCKS, AB_GRID_COUNT, (double)sums[i].live_peak_blocks, NULL);
        is_timed = is_timed || !isnan(of_time);
    }
    explain(g, at, is_timed);
    free(scratch);
    return n > 0;
}

/* ---- by op ---- */

enum { OP_SAMPLES, OP_P50, OP_P90, OP_P99, OP_P999, OP_MOST, OP_COLUMNS };

/* Fills a table with a row for each heap and op: the number of timed calls, and the percentiles for
 * which these suffice. */
bool ab_heaps_latency_grid(const struct ab_topic_at *at, struct ab_grid *g)
{
    const struct ab_session *s = at->view->session;
    const uint32_t backend = at->backend;
    const char *phase = at->phase;
    struct ab_hdr *scratch = ab_alloc(sizeof *scratch);
    static const double quantiles[] = {
        [OP_P50] = 0.5, [OP_P90] = 0.9, [OP_P99] = 0.99, [OP_P999] = 0.999};
    const struct ab_backend_info *b = &s->backends[backend];
    *g = (struct ab_grid){.session = s,
                          .rows_are = "heap, op",
                          .columns = {[OP_SAMPLES] = {"timed", 0, "#timed"},
                                      [OP_P50] = {"p50", 0, "#p50"},
                                      [OP_P90] = {"p90", 2, "#p90"},
                                      [OP_P99] = {"p99", 0, "#p99"},
                                      [OP_P999] = {"p99.9", 1, "#p99.9"},
                                      [OP_MOST] = {"max", 1, "#max"}},
                          .n_columns = OP_COLUMNS};
    g->caption = ab_view_texts_addf(&g->texts, "%s by heap and op: %.64s", ab_backend_label(b),
                                    phase);
    for (uint32_t h = 0; h < b->n_heaps; h++)
        for (unsigned op = 0; op < AB_OP_KIND_COUNT; op++) {
            char tail[64];
            merge(s, backend, phase, h, op, scratch);
            if (ab_hdr_total(scratch) == 0)
                continue;
            if (g->n_rows == 0)
                put_title(g, backend, "by heap and op", phase);
            snprintf(tail, sizeof tail, " %s", ab_result_op_name(op));
            ab_grid_add(g, b->heaps[h].name, tail);
            ab_grid_put(g, OP_SAMPLES, AB_GRID_COUNT, (double)ab_hdr_total(scratch), NULL);
            for (unsigned c = OP_P50; c <= OP_P999; c++)
                ab_grid_put(g, c, AB_GRID_NS, ab_result_quantile(scratch, quantiles[c]), NULL);
            ab_grid_put(g, OP_MOST, AB_GRID_NS, (double)scratch->max, NULL);
        }
    free(scratch);
    return g->n_rows > 0;
}

/* ---- memory ---- */

enum {
    OF_LIVE,
    OF_INTERNAL,
    OF_EXTERNAL,
    OF_RETAINED,
    OF_HELD,
    MULTIPLE,
    COMMITTED,
    AT_END,
    FREED
};

static const char *why_of(const struct ab_memory *m, const char *const *whats,
                          char why[AB_MEMORY_REASON_BYTES])
{
    ab_view_memory_why(m->reason, whats, why, AB_MEMORY_REASON_BYTES);
    return why;
}

static void put_peak(struct ab_grid *g, const struct ab_memory *peak, uint32_t heap)
{
    static const char *const pages[] = {AB_WHY_FOOTPRINT, AB_WHY_PAGES, AB_WHY_HEAPS, NULL};
    static const char *const internal[] = {AB_WHY_FOOTPRINT, AB_WHY_PAGES, AB_WHY_HEAPS,
                                           AB_WHY_INTERNAL, NULL};
    const struct ab_heap_memory *m = &peak->heaps[heap];
    double held = m->footprint_bytes, live = m->live_bytes;
    char text[AB_MEMORY_REASON_BYTES];
    const char *why = why_of(peak, pages, text);
    ab_grid_put(g, OF_LIVE, AB_GRID_BYTES, live, why);
    ab_grid_put(g, OF_EXTERNAL, AB_GRID_BYTES, m->external_bytes, why);
    ab_grid_put(g, OF_RETAINED, AB_GRID_BYTES, m->retained_bytes, why);
    ab_grid_put(g, OF_HELD, AB_GRID_BYTES, held, why);
    ab_grid_put(g, MULTIPLE, AB_GRID_TIMES, live > 0 ? held / live : (double)NAN,
                live == 0 ? "no live block" : why);
    ab_grid_put(g, OF_INTERNAL, AB_GRID_BYTES, m->internal_bytes, why_of(peak, internal, text));
    ab_grid_put(g, COMMITTED, AB_GRID_BYTES, m->mapped_bytes, "the heap does not report it");
}

static void put_end(struct ab_grid *g, const struct ab_memory *end, uint32_t heap)
{
    static const char *const pages[] = {AB_WHY_FOOTPRINT, AB_WHY_PAGES, AB_WHY_HEAPS, NULL};
    static const char *const drained[] = {AB_WHY_FOOTPRINT, AB_WHY_DRAINED, NULL};
    char why[AB_MEMORY_REASON_BYTES];
    const struct ab_heap_memory *m = end != NULL ? &end->heaps[heap] : NULL;
    if (m == NULL)
        return;
    ab_grid_put(g, AT_END, AB_GRID_BYTES, m->footprint_bytes, why_of(end, pages, why));
    ab_grid_put(g, FREED, AB_GRID_BYTES, m->drained_bytes[0], why_of(end, drained, why));
}

static void put_known(struct ab_grid *g, unsigned column, double bytes)
{
    if (isfinite(bytes))
        ab_grid_put(g, column, AB_GRID_BYTES, bytes, NULL);
}

/* Adds the row for memory that belongs to no single heap. */
static void add_rest(struct ab_grid *g, uint32_t n_heaps, const struct ab_memory *peak,
                     const struct ab_memory *end)
{
    double held = peak->footprint_bytes, at_end = NAN, freed = NAN;
    if (end != NULL) {
        at_end = end->footprint_bytes;
        freed = end->drained_bytes[0];
    }
    for (uint32_t h = 0; h < n_heaps; h++) {
        held -= peak->heaps[h].footprint_bytes;
        at_end -= end != NULL ? end->heaps[h].footprint_bytes : 0;
        freed -= end != NULL ? end->heaps[h].drained_bytes[0] : 0;
    }
    ab_grid_add(g, "of none alone", "")->is_terminal_only = true;
    put_known(g, OF_HELD, held);
    put_known(g, AT_END, at_end);
    put_known(g, FREED, freed);
}

static void add_titles(struct ab_grid *g, const struct ab_topic_at *at, uint32_t backend)
{
    const char *label = ab_backend_label(&g->session->backends[backend]);
    char name[AB_CELL_BYTES * 4];
    g->caption = ab_view_texts_addf(&g->texts, "%s memory by heap: %.64s", label, at->phase);
    g->title = ab_view_texts_addf(&g->texts, "memory by heap / %s, %.64s: at its peak",
                                  ab_format_name(name, sizeof name, label, 24, at->utf8),
                                  at->phase);
    if (at->surface == AB_TERMINAL)
        ab_view_texts_addf(&g->closing, "%s",
                           "held: resident pages that contain a block of the heap, or whose last "
                           "block was one of this heap. of none alone: pages that never contained "
                           "a block. committed: memory that the heap may write to, as it reports "
                           "itself.");
}

/* Fills the table of the bytes of each heap of a back end: at->backend, or at->number if the topic
 * has a turn for each phase. The bytes add up, because they come from the run whose peak the
 * ranking shows (memory_view.h). */
bool ab_heaps_memory_grid(const struct ab_topic_at *at, struct ab_grid *g)
{
    const struct ab_session *s = at->view->session;
    const uint32_t backend = at->backend != UINT32_MAX ? at->backend : at->number;
    const char *phase = at->phase;
    const struct ab_memory *peak = ab_view_memory_typical(s, backend, phase, AB_AT_FOOTPRINT_PEAK);
    const struct ab_memory *end = ab_view_memory_typical(s, backend, phase, AB_AT_END);
    const struct ab_backend_info *b = &s->backends[backend];
    bool has_freed = end != NULL && isfinite(end->drained_bytes[0]);
    *g = (struct ab_grid){
        .session = s,
        .rows_are = "heap",
        .columns = {[OF_LIVE] = {"live", 0, "#live"},
                    [OF_INTERNAL] = {"internal", 0, "#internal"},
                    [OF_EXTERNAL] = {"external", 0, "#external"},
                    [OF_RETAINED] = {"retained", 0, "#retained"},
                    [OF_HELD] = {"= held", 0, "#held"},
                    [MULTIPLE] = {"x live"},
                    [COMMITTED] = {"committed", 0, "#committed"},
                    [AT_END] = {"at end", 0, "#held at the end"},
                    [FREED] = {has_freed ? "when freed" : NULL, 0, "#when freed"}},
        .n_columns = FREED + 1,
        .is_whole = true};
    if (peak == NULL || b->n_heaps == 0 || !ab_session_has_numbers(s, backend))
        return false;
    add_titles(g, at, backend);
    ab_grid_heading(g, phase, "");
    for (uint32_t h = 0; h < b->n_heaps; h++) {
        ab_grid_add(g, b->heaps[h].name, "");
        put_peak(g, peak, h);
        put_end(g, end, h);
    }
    add_rest(g, b->n_heaps, peak, end);
    return true;
}
