/* SPDX-License-Identifier: MIT
 *
 * Chooses the run whose memory is shown, finds the reasons why numbers are not known, and fills the
 * tables of memory.
 */
#include "answer/memory_view.h"

#include "answer/topics.h"
#include "base/bits.h"
#include "core/alloc.h"
#include "core/median.h"
#include "core/text.h"
#include "core/units_show.h"
#include "result/numbers.h"
#include "result/shown.h"
#include "stats/growth.h"
#include "stats/metric.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const ab_view_memory_part_names[AB_VIEW_MEMORY_PARTS] = {
    "live", "internal", "external", "retained", "aged", "during calls"};

static const char *const whys_of_part[AB_VIEW_MEMORY_PARTS][5] = {
    {AB_WHY_FOOTPRINT, AB_WHY_PAGES, NULL}, {AB_WHY_FOOTPRINT, AB_WHY_PAGES, AB_WHY_INTERNAL, NULL},
    {AB_WHY_FOOTPRINT, AB_WHY_PAGES, NULL}, {AB_WHY_FOOTPRINT, AB_WHY_PAGES, AB_WHY_RETAINED, NULL},
    {AB_WHY_FOOTPRINT, AB_WHY_PAGES, NULL}, {AB_WHY_FOOTPRINT, AB_WHY_DURING, NULL},
};
static const char *const whys_of_peak[] = {AB_WHY_FOOTPRINT, NULL};

/* ---- why ---- */

/* Checks whether `part` begins with "WHAT: why" for WHAT = `what`. Returns the end of this reason
 * and sets *why to the text after "WHAT: "; NULL = another WHAT. */
static const char *match(const char *part, const char *what, const char **why)
{
    size_t n = strlen(what);
    const char *end = strstr(part, "; ");
    if (end == NULL)
        end = part + strlen(part);
    if ((size_t)(end - part) <= n + 2 || strncmp(part, what, n) != 0 ||
        strncmp(part + n, ": ", 2) != 0)
        return NULL;
    *why = part + n + 2;
    return end;
}

bool ab_view_memory_why(const char *reason, const char *const *whats, char *why, size_t cap)
{
    why[0] = 0;
    for (; *whats != NULL; whats++)
        for (const char *part = reason; part != NULL && *part != 0;) {
            const char *found, *end = match(part, *whats, &found);
            if (end != NULL) {
                snprintf(why, cap, "%.*s", (int)(end - found), found);
                return true;
            }
            part = strstr(part, "; ");
            part = part != NULL ? part + 2 : NULL;
        }
    return false;
}

/* Writes why the memory that stays after freeing is not known; never "". Returns why. */
static const char *view_memory_why_drained(const struct ab_session *s, uint32_t backend, char *why,
                                           size_t cap)
{
    static const char *const whats[] = {AB_WHY_FOOTPRINT, AB_WHY_DRAINED, AB_WHY_PURGED, NULL};
    for (uint32_t i = s->n_memory; i-- > 0;) /* backwards, to find the last phase */
        if (s->memory[i].backend == backend && s->memory[i].at == AB_AT_END &&
            ab_view_memory_why(s->memory[i].reason, whats, why, cap))
            return why;
    snprintf(why, cap, "not measured when all is freed");
    return why;
}

/* ---- which run ---- */

static double knows(const struct ab_memory *m)
{
    return 2 * isfinite(m->retained_bytes) + isfinite(m->footprint_bytes);
}

/* Returns the footprint of a record; at a peak, plus the memory that is resident only during
 * calls. */
static double resident(const struct ab_memory *m)
{
    bool has_more = m->at == AB_AT_FOOTPRINT_PEAK && isfinite(m->during_calls_bytes);
    return m->footprint_bytes + (has_more ? m->during_calls_bytes : 0);
}

static int by_footprint(const void *a, const void *b)
{
    const struct ab_memory *x = *(const struct ab_memory *const *)a;
    const struct ab_memory *y = *(const struct ab_memory *const *)b;
    if (knows(x) != knows(y))
        return knows(x) > knows(y) ? -1 : 1;
    if (resident(x) != resident(y) && knows(x) > 0)
        return resident(x) > resident(y) ? 1 : -1;
    return (x->round > y->round) - (x->round < y->round);
}

/* Returns the record with the median footprint among the records that know the most numbers
 * (knows). Of two in the middle, returns the lower one. */
static const struct ab_memory *middle(const struct ab_memory **list, uint32_t n)
{
    uint32_t n_best = 0;
    if (n == 0)
        return NULL;
    qsort(list, n, sizeof *list, by_footprint);
    while (n_best < n && knows(list[n_best]) == knows(list[0]))
        n_best++;
    return list[(n_best - 1) / 2];
}

const struct ab_memory *ab_view_memory_typical(const struct ab_session *s, uint32_t backend,
                                               const char *phase, enum ab_memory_at at)
{
    const struct ab_memory **list = ab_alloc_zeroed((size_t)s->n_memory + 1, sizeof *list), *found;
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->n_memory; i++)
        if (s->memory[i].backend == backend && s->memory[i].at == at &&
            strcmp(s->memory[i].phase, phase) == 0)
            list[n++] = &s->memory[i];
    found = middle(list, n);
    free(list);
    return found;
}

/* Takes, for each round, the phase with the highest peak. Returns the record with the median
 * footprint among these. */
static const struct ab_memory *typical_of_run(const struct ab_session *s, uint32_t backend,
                                              const struct ab_memory **list)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->n_memory; i++) {
        const struct ab_memory *m = &s->memory[i];
        uint32_t k = 0;
        if (m->backend != backend || m->at != AB_AT_FOOTPRINT_PEAK)
            continue;
        while (k < n && list[k]->round != m->round)
            k++;
        if (k == n)
            list[n++] = m;
        else if (resident(m) > resident(list[k]) || !isfinite(list[k]->footprint_bytes))
            list[k] = m;
    }
    return middle(list, n);
}

/* ---- a row ---- */

static double live_peak(const struct ab_session *s, const struct ab_memory *of)
{
    double most = NAN;
    for (uint32_t i = 0; i < s->n_memory; i++)
        if (s->memory[i].backend == of->backend && s->memory[i].round == of->round)
            most = fmax(most, s->memory[i].live_peak_bytes); /* fmax ignores NaN */
    return most;
}

static void clear(struct ab_view_memory_row *row)
{
    *row = (struct ab_view_memory_row){
        .peak_bytes = NAN, .why_peak = "", .live_peak_bytes = NAN, .untouched_bytes = NAN};
    for (unsigned i = 0; i < AB_VIEW_MEMORY_PARTS; i++) {
        row->parts[i] = NAN;
        row->whys[i] = "";
    }
}

/* Fills a row from one record. Writes the reasons why numbers are n/a to texts[0 ..
 * AB_VIEW_MEMORY_TEXTS). */
static void view_memory_read(const struct ab_session *s, const struct ab_memory *of,
                             char (*texts)[AB_MEMORY_REASON_BYTES], struct ab_view_memory_row *row)
{
    /* Records count the blocks of the aged heap among the live bytes. All of these blocks were
     * written to. */
    const double aged_bytes = fmin((double)s->backends[of->backend].aged.bytes, of->live_bytes);
    const double parts[AB_VIEW_MEMORY_PARTS] = {of->live_bytes - aged_bytes,
                                                of->internal_bytes,
                                                of->external_bytes,
                                                of->retained_bytes,
                                                isfinite(of->live_bytes) ? aged_bytes : NAN,
                                                of->during_calls_bytes};
    clear(row);
    row->of = of;
    for (unsigned i = 0; i < AB_VIEW_MEMORY_PARTS; i++) {
        row->parts[i] = parts[i];
        if (isfinite(parts[i]))
            continue;
        ab_view_memory_why(of->reason, whys_of_part[i], texts[i], sizeof texts[i]);
        row->whys[i] = texts[i];
    }
    row->peak_bytes = ab_session_has_peaks(s) ? resident(of) : of->footprint_bytes;
    if (!isfinite(row->peak_bytes)) {
        ab_view_memory_why(of->reason, whys_of_peak, texts[AB_VIEW_MEMORY_PARTS], sizeof texts[0]);
        row->why_peak = texts[AB_VIEW_MEMORY_PARTS];
    }
    row->live_peak_bytes = live_peak(s, of);
    row->untouched_bytes = of->untouched_bytes;
}

/* Fills the row of a real program: the peak is the median over the rounds, because it has no parts
 * that must add up to it. */
static void fill_of_program(const struct ab_session *s, uint32_t backend, double *x,
                            struct ab_view_memory_row *row)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->n_results; i++)
        if (s->results[i].backend == backend && isfinite(s->results[i].resident_peak_bytes))
            x[n++] = s->results[i].resident_peak_bytes;
    row->peak_bytes = ab_round_range_of(x, n).median;
}

static void make_row(const struct ab_session *s, uint32_t backend, void *scratch,
                     struct ab_view_memory *out)
{
    struct ab_view_memory_row *row = &out->rows[backend];
    clear(row);
    out->has_aged_heap = out->has_aged_heap || s->backends[backend].aged.bytes > 0;
    if (!ab_session_has_numbers(s, backend))
        return;
    if (ab_session_is_exec(s)) {
        fill_of_program(s, backend, scratch, row);
        return;
    }
    const struct ab_memory *of = typical_of_run(s, backend, scratch);
    if (of != NULL)
        view_memory_read(s, of, &out->texts[(size_t)backend * AB_VIEW_MEMORY_TEXTS], row);
    for (unsigned i = 0; i < AB_VIEW_DURING; i++)
        out->has_parts = out->has_parts || isfinite(row->parts[i]);
    out->has_during = out->has_during || row->parts[AB_VIEW_DURING] > 0;
}

void ab_view_memory_make(const struct ab_session *s, struct ab_view_memory *out)
{
    size_t most = s->n_memory > s->n_results ? s->n_memory : s->n_results;
    void *scratch = ab_alloc_zeroed(most + 1, sizeof(double) > sizeof(void *) ? sizeof(double)
                                                                              : sizeof(void *));
    *out = (struct ab_view_memory){
        .rows = ab_alloc_zeroed((size_t)s->n_backends + 1, sizeof *out->rows),
        .n_rows = s->n_backends};
    out->texts = ab_alloc_zeroed((size_t)s->n_backends * AB_VIEW_MEMORY_TEXTS + 1,
                                 sizeof *out->texts);
    for (uint32_t i = 0; i < s->n_backends; i++)
        make_row(s, i, scratch, out);
    free(scratch);
}

void ab_view_memory_fini(struct ab_view_memory *m)
{
    free(m->rows);
    free(m->texts);
    *m = (struct ab_view_memory){0};
}

/* ---- memory as tables ----
 * The parts at the peak come from the run with the median peak, so that the bytes
 * of a row add up. All other numbers are medians over the rounds. */

enum { PARTS = AB_VIEW_MEMORY_PARTS, PEAK = PARTS };

/* Unit of a table's numbers. The largest number of the table decides how coarse the unit is. */
struct scale {
    double unit;
    int decimals;
    const char *name;
};

static struct scale scale_of(double most_bytes)
{
    static const struct scale units[] = {
        {0x1p40, 0, "TiB"}, {0x1p30, 0, "GiB"}, {0x1p20, 0, "MiB"}, {0x1p10, 0, "KiB"}};
    unsigned i = 0;
    while (i + 1 < AB_ARRAY_LEN(units) && !(most_bytes >= units[i].unit))
        i++;
    struct scale scale = units[i];
    scale.decimals = most_bytes / scale.unit < 100 ? 2 : 1;
    return scale;
}

/* Converts bytes into a number of steps, where a step is 1 in the last decimal that is shown. */
static double steps_of(const struct scale *scale, double bytes)
{
    return nearbyint(bytes / scale->unit * pow(10, scale->decimals));
}

static void put_steps(struct ab_grid *g, unsigned column, const struct scale *scale, double steps,
                      const char *why)
{
    if (isfinite(steps))
        ab_grid_say(g, column, "%.*f", scale->decimals, steps / pow(10, scale->decimals))->kind =
            AB_GRID_SCALED;
    else
        ab_grid_put(g, column, AB_GRID_SCALED, NAN, why);
}

static void put_bytes(struct ab_grid *g, unsigned column, const struct scale *scale, double bytes,
                      const char *why)
{
    put_steps(g, column, scale, steps_of(scale, bytes), why);
}

/* Puts the parts and the peak. Each part is rounded such that the shown parts add up to the shown
 * peak. */
static void put_peak(struct ab_grid *g, const struct ab_view_memory_row *row,
                     const struct scale *scale)
{
    double sum = 0, shown = 0;
    for (unsigned i = 0; i < PARTS; i++) {
        if (isfinite(row->parts[i]))
            sum += row->parts[i];
        put_steps(g, i, scale, isfinite(row->parts[i]) ? steps_of(scale, sum) - shown : NAN,
                  row->whys[i]);
        shown = steps_of(scale, sum);
    }
    put_bytes(g, PEAK, scale, row->peak_bytes, row->why_peak);
}

/* ---- the whole run ---- */

/* Puts the memory growth of a back end. Also adds the growth to the remark if it amounts to more
 * than 1 % of the peak within the measured ops. */
static void put_growth(struct ab_grid *g, unsigned column, const struct ab_view_rank *rank,
                       struct ab_text *remark)
{
    static const double share_worth_saying = 0.01;
    const struct ab_growth growth = ab_growth_of(g->session, rank->backend, AB_GROWTH_ALL_ROUNDS);
    char name[AB_CELL_BYTES * 4];
    ab_grid_put(g, column, AB_GRID_BYTES, growth.bytes, NULL);
    if (isfinite(growth.bytes))
        g->columns[column].in_html = "#growth per M ops";
    if (growth.bytes * growth.over_ops / 1e6 > share_worth_saying * rank->peak_bytes)
        ab_text_addf(remark, "%s%s %s",
                     remark->n == 0 ? "memory growth at constant load, per million ops: " : ", ",
                     ab_format_label(name, sizeof name, rank->name, 24, true),
                     AB_BYTES(growth.bytes));
}

/* Writes what each preloaded library took before its first block, which is in no row: "jemalloc
 * 2.40 MiB (0.35 MiB private), …". Writes "" if nothing is known. Returns buf. */
static const char *name_libraries(const struct ab_session *s, char *buf, size_t cap)
{
    struct ab_text t = {0};
    for (uint32_t i = 0; i < s->n_backends; i++) {
        const struct ab_backend_info *b = &s->backends[i];
        if (b->library_bytes > 0 && ab_session_has_numbers(s, i))
            ab_text_addf(&t, "%s%s %s (%s private)",
                         t.n == 0 ? "Memory that libraries take before their first block, which "
                                    "no row above includes: "
                                  : ", ",
                         ab_backend_label(b), AB_BYTES(b->library_bytes),
                         AB_BYTES(b->library_private_bytes));
    }
    snprintf(buf, cap, "%s%s", t.n > 0 ? t.s : "", t.n > 0 ? "." : "");
    ab_text_fini(&t);
    return buf;
}

/* True if any memory of this phase (NULL: of any phase) is resident only during calls. */
static bool has_during(const struct ab_session *s, const char *phase)
{
    for (uint32_t i = 0; i < s->n_memory; i++) {
        const struct ab_memory *m = &s->memory[i];
        if (m->during_calls_bytes > 0 && (phase == NULL || strcmp(m->phase, phase) == 0))
            return true;
    }
    return false;
}

/* Adds why parts of the peak are not known, and the memory that libraries take themselves. */
static void explain_peak(struct ab_grid *g, const struct ab_view *v)
{
    char libraries[1000];
    for (uint32_t b = 0; b < v->memory.n_rows; b++)
        for (unsigned k = 0; k <= AB_VIEW_RETAINED && ab_view_shows(v->session, b); k++) {
            const struct ab_view_memory_row *row = &v->memory.rows[b];
            if (!isfinite(row->parts[k]) && row->whys[k] != NULL && row->whys[k][0] != 0)
                ab_view_texts_addf(&g->closing, "%s, %s n/a: %s.",
                                   ab_backend_label(&v->session->backends[b]),
                                   ab_view_memory_part_names[k], row->whys[k]);
        }
    if (name_libraries(v->session, libraries, sizeof libraries)[0] != 0)
        ab_view_texts_addf(&g->closing, "%s", libraries);
}

/* Fills the table of memory at the peak of the whole run. Terminals leave it out if no part is
 * known. */
bool ab_memory_peak_grid(const struct ab_topic_at *at, struct ab_grid *g)
{
    const struct ab_view *v = at->view;
    enum { MULTIPLE = AB_VIEW_MEMORY_PARTS + 1, AFTER_FREE, GROWTH };
    const struct ab_view_ranking *ranking = &v->ranking;
    struct ab_text remark = {0};
    double most = NAN;
    if (ab_session_is_exec(v->session) || (at->surface == AB_TERMINAL && !v->memory.has_parts))
        return false;
    for (uint32_t i = 0; i < v->memory.n_rows; i++)
        most = fmax(most, v->memory.rows[i].peak_bytes); /* fmax ignores NaN */
    const struct scale scale = scale_of(most);
    /* The multiple follows from other columns and can be dropped first; "after free" cannot be
     * derived. */
    *g = (struct ab_grid){.session = v->session,
                          .rows_are = "allocator",
                          .columns = {{"live", 2, "#live"},
                                      {"internal", 2, "#+ internal"},
                                      {"external", 2, "#+ external"},
                                      {"retained", 2, "#+ retained"},
                                      {v->memory.has_aged_heap ? "aged" : NULL, 0,
                                       v->memory.has_aged_heap ? "#+ aged" : NULL},
                                      {v->memory.has_during ? "in calls" : NULL, 0,
                                       v->memory.has_during ? "#+ during calls" : NULL},
                                      {"= peak", 0, "#= peak"},
                                      [MULTIPLE] = {"x live", 3, "#÷ live"},
                                      [AFTER_FREE] = {ranking->has_drain ? "after free" : NULL,
                                                      v->memory.has_aged_heap ? 3 : 1}},
                          .n_columns = GROWTH + 1,
                          .unit = scale.name};
    g->columns[0].signs = AB_SIGN_LIVE;
    g->columns[MULTIPLE].signs = AB_SIGN_MULTIPLE;
    g->columns[AFTER_FREE].signs = AB_SIGN_DRAIN;
    g->signs = (v->memory.has_aged_heap ? AB_SIGN_AGED : 0u) |
               (v->memory.has_during ? AB_SIGN_DURING : 0u);
    ab_grid_heading(g, ab_view_texts_addf(&g->texts, "memory, %s", scale.name), "");
    for (uint32_t i = 0; i < ranking->n_rows; i++) {
        const struct ab_view_rank *rank = &ranking->rows[i];
        const struct ab_view_memory_row *m = &v->memory.rows[rank->backend];
        char why[AB_MEMORY_REASON_BYTES];
        if (m->of == NULL)
            continue;
        ab_grid_add_backend(g, rank->backend);
        put_peak(g, m, &scale);
        ab_grid_put(g, MULTIPLE, AB_GRID_TIMES, rank->times_live,
                    !isfinite(rank->peak_bytes) ? m->why_peak
                    : m->live_peak_bytes == 0   ? "nothing was live"
                                                : "the live bytes are not known");
        put_bytes(g, AFTER_FREE, &scale, rank->after_free_bytes,
                  view_memory_why_drained(v->session, rank->backend, why, sizeof why));
        put_growth(g, GROWTH, rank, &remark);
    }
    if (remark.n > 0)
        g->remark = ab_view_texts_addf(&g->texts, "%s", remark.s);
    ab_text_fini(&remark);
    if (at->surface != AB_TERMINAL)
        explain_peak(g, v);
    return at->surface == AB_TERMINAL || isfinite(most);
}

/* ---- a phase ---- */

/* Returns the median over the rounds of the double at `offset` in the memory records of a phase and
 * moment; phase NULL = of any phase and moment. NaN = no record has the number. */
static double median(const struct ab_session *s, uint32_t backend, const char *phase,
                     enum ab_memory_at at, size_t offset)
{
    double *x = ab_alloc_zeroed((size_t)s->n_memory + 1, sizeof *x);
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->n_memory; i++) {
        const struct ab_memory *m = &s->memory[i];
        double value = *(const double *)((const char *)m + offset);
        if (m->backend == backend && isfinite(value) &&
            (phase == NULL || (m->at == at && strcmp(m->phase, phase) == 0)))
            x[n++] = value;
    }
    double found = n == 0 ? NAN : ab_round_range_of(x, n).median;
    free(x);
    return found;
}
#define MEDIAN(member, at) median(s, b, phase, at, offsetof(struct ab_memory, member))

double ab_view_memory_drained(const struct ab_session *s, uint32_t backend, unsigned when)
{
    return median(s, backend, NULL, AB_AT_END,
                  offsetof(struct ab_memory, drained_bytes) + when * sizeof(double));
}

/* True if the back end has memory records of the phase; phase NULL = any. */
static bool has_memory(const struct ab_session *s, uint32_t backend, const char *phase)
{
    for (uint32_t i = 0; i < s->n_memory; i++)
        if (s->memory[i].backend == backend &&
            (phase == NULL || strcmp(s->memory[i].phase, phase) == 0))
            return ab_session_has_numbers(s, backend);
    return false;
}

enum { MULTIPLE = PEAK + 1, UNTOUCHED, MEAN, AT_END, FAULTS };

static const char *why_of(const struct ab_memory *m, const char *const *whats,
                          char why[AB_MEMORY_REASON_BYTES])
{
    why[0] = 0;
    if (m != NULL)
        ab_view_memory_why(m->reason, whats, why, AB_MEMORY_REASON_BYTES);
    return why;
}

static void add_phase_row(struct ab_grid *g, uint32_t b, const char *phase,
                          const struct ab_memory *m, const struct scale *scale)
{
    static const char *const of_peak[] = {AB_WHY_FOOTPRINT, NULL};
    static const char *const of_pages[] = {AB_WHY_FOOTPRINT, AB_WHY_PAGES, NULL};
    static const char *const of_ratios[] = {AB_WHY_FOOTPRINT, AB_WHY_PAGES, AB_WHY_RATIOS, NULL};
    const struct ab_session *s = g->session;
    const struct ab_memory *last = ab_view_memory_typical(s, b, phase, AB_AT_END);
    struct ab_view_memory_row peak;
    char texts[AB_VIEW_MEMORY_TEXTS][AB_MEMORY_REASON_BYTES], why[AB_MEMORY_REASON_BYTES];
    view_memory_read(s, m, texts, &peak);
    ab_grid_add_backend(g, b);
    put_peak(g, &peak, scale);
    ab_grid_put(g, MULTIPLE, AB_GRID_TIMES, m->overhead, why_of(m, of_ratios, why));
    if (g->columns[UNTOUCHED].title != NULL)
        put_bytes(g, UNTOUCHED, scale, m->untouched_bytes, why_of(m, of_pages, why));
    ab_grid_put(g, MEAN, AB_GRID_TIMES, MEDIAN(overhead_mean, AB_AT_FOOTPRINT_PEAK),
                why_of(m, of_ratios, why));
    put_bytes(g, AT_END, scale, MEDIAN(footprint_bytes, AB_AT_END), why_of(last, of_peak, why));
    ab_grid_put(g, FAULTS, AB_GRID_COUNT, MEDIAN(faults_minor, AB_AT_FOOTPRINT_PEAK), NULL);
}

/* Adds the meaning of the columns, in the words of the command `explain`. */
static void explain_phase(struct ab_grid *g)
{
    const struct ab_session *s = g->session;
    const char *words[] = {"live",   "internal",  "external", "retained",
                           "x live", "untouched", NULL,       NULL};
    struct ab_text t = {0};
    char libraries[1000];
    bool is_during = has_during(s, NULL);
    if (is_during)
        words[AB_ARRAY_LEN(words) - 2] = "in calls";
    ab_text_addf(&t, "live + internal + external + retained%s = peak.",
                 is_during ? " + in calls" : "");
    ab_view_terms_legend(&t, words);
    ab_view_texts_addf(&g->closing, "%s mean: resident / requested bytes, over all ops.", t.s);
    ab_text_fini(&t);
    if (name_libraries(s, libraries, sizeof libraries)[0] != 0)
        ab_view_texts_addf(&g->closing, "%s", libraries);
}

bool ab_memory_phase_grid(const struct ab_topic_at *at, struct ab_grid *g)
{
    const struct ab_session *s = at->view->session;
    const char *phase = at->phase;
    double most = NAN, untouched = 0, live = NAN;
    bool has_aged_heap = false;
    for (uint32_t i = 0; i < s->n_memory; i++) {
        const struct ab_memory *m = &s->memory[i];
        if (strcmp(m->phase, phase) != 0 || !has_memory(s, m->backend, phase))
            continue;
        most = fmax(most, fmax(resident(m), m->untouched_bytes));
        if (m->at == AB_AT_FOOTPRINT_PEAK)
            untouched = isfinite(m->untouched_bytes) ? fmax(untouched, m->untouched_bytes) : 0x1p60;
    }
    for (uint32_t b = 0; b < s->n_backends; b++) {
        live = fmax(live, MEDIAN(live_peak_bytes, AB_AT_FOOTPRINT_PEAK) -
                              (double)s->backends[b].aged.bytes);
        has_aged_heap = has_aged_heap || s->backends[b].aged.bytes > 0;
    }
    const struct scale scale = scale_of(most);
    /* untouched memory has its own column if there is any, or if it is not known */
    bool has_untouched = steps_of(&scale, untouched) > 0;
    *g = (struct ab_grid){.session = s,
                          .columns = {{"live"},
                                      {"internal"},
                                      {"external"},
                                      {"retained"},
                                      {has_aged_heap ? "aged" : NULL},
                                      {has_during(s, phase) ? "in calls" : NULL},
                                      {"= peak"},
                                      [MULTIPLE] = {"x live"},
                                      [UNTOUCHED] = {has_untouched ? "untouched" : NULL},
                                      [MEAN] = {"mean"},
                                      [AT_END] = {"at end"},
                                      [FAULTS] = {"faults"}},
                          .n_columns = FAULTS + 1,
                          .is_whole = true};
    g->title = ab_view_texts_addf(&g->texts, "memory / %s, in %s: live peak %s", phase, scale.name,
                                  isfinite(live) ? AB_BYTES(live) : "-");
    ab_grid_heading(g, phase, "");
    for (uint32_t b = 0; b < s->n_backends; b++) {
        const struct ab_memory *m = ab_view_memory_typical(s, b, phase, AB_AT_FOOTPRINT_PEAK);
        if (m != NULL && has_memory(s, b, phase))
            add_phase_row(g, b, phase, m, &scale);
    }
    explain_phase(g);
    return g->n_rows > 1;
}

/* ---- memory that walks read ---- */

/* True if the phase does nothing but walk the heap: read its live blocks. Its time per op is then
 * the time per block. */
static bool only_walks(const struct ab_session *s, const char *phase)
{
    bool is_only = ab_session_has_op(s, phase, AB_OP_ACCESS);
    for (unsigned op = 0; op < AB_OP_KIND_COUNT && is_only; op++)
        is_only = op == AB_OP_ACCESS || !ab_session_has_op(s, phase, op);
    return is_only;
}

/* Fills the table of the cache lines and pages that contain the blocks of a heap walk. */
bool ab_walks_grid(const struct ab_topic_at *at, struct ab_grid *g)
{
    const struct ab_session *s = at->view->session;
    const char *phase = at->phase;
    enum { TIME, BLOCKS, LINES, LINES_EACH, PAGES, SPANS, N };
    bool is_only = only_walks(s, phase);
    *g = (struct ab_grid){.session = s,
                          .columns = {[TIME] = {"time each", 0, "#time per block"},
                                      [BLOCKS] = {"blocks", 0, "#blocks"},
                                      [LINES] = {"lines", 0, "#cache lines"},
                                      [LINES_EACH] = {"a block", 0, "#lines per block"},
                                      [PAGES] = {"pages", 0, "#pages of 4 KiB"},
                                      [SPANS] = {"2 MiB spans", 0, "#spans of 2 MiB"}},
                          .rows_are = "back end",
                          .n_columns = N,
                          .is_whole = true};
    g->title = ab_view_texts_addf(&g->texts, "walk / %.200s: cache lines and pages of its blocks",
                                  phase);
    g->caption = ab_view_texts_addf(&g->texts, "Walk, %.64s: cache lines and pages of its blocks",
                                    phase);
    ab_grid_heading(g, phase, "");
    for (uint32_t b = 0; b < s->n_backends; b++) {
        double blocks = MEDIAN(walk_blocks, AB_AT_END), lines = MEDIAN(walk_lines, AB_AT_END);
        if (!has_memory(s, b, phase) || !(blocks > 0))
            continue;
        ab_grid_add_backend(g, b);
        ab_grid_put(g, TIME, AB_GRID_TIME, is_only ? ab_session_ns_per_op(s, b, phase).median : NAN,
                    "the phase does not only walk");
        ab_grid_put(g, BLOCKS, AB_GRID_COUNT, blocks, NULL);
        ab_grid_put(g, LINES, AB_GRID_COUNT, lines, NULL);
        ab_grid_put_fixed(g, LINES_EACH, 2, lines / blocks);
        ab_grid_put(g, PAGES, AB_GRID_COUNT, MEDIAN(walk_pages, AB_AT_END), NULL);
        ab_grid_put(g, SPANS, AB_GRID_COUNT, MEDIAN(walk_spans, AB_AT_END), NULL);
    }
    return g->n_rows > 1;
}

/* ---- after everything is freed, and over time ---- */

/* Resamples the double at `offset` of the points of the back end's first timeline. Each of the
 * AB_GRID_POINTS results is the largest value in an equal share of the ops. Returns the maximum of
 * all. */
static double resample(const struct ab_session *s, uint32_t backend, size_t offset,
                       double out[AB_GRID_POINTS])
{
    double most = 0;
    for (unsigned i = 0; i < AB_GRID_POINTS; i++)
        out[i] = NAN;
    for (uint32_t t = 0; t < s->n_timelines; t++) {
        const struct ab_timeline *line = &s->timelines[t];
        if (line->backend != backend || line->n == 0)
            continue;
        double end = fmax(1, (double)line->points[line->n - 1].position);
        for (uint32_t i = 0; i < line->n; i++) {
            double value = *(const double *)((const char *)&line->points[i] + offset);
            unsigned cell = (unsigned)fmin(AB_GRID_POINTS - 1,
                                           (double)line->points[i].position / end * AB_GRID_POINTS);
            out[cell] = fmax(out[cell], value);
            most = fmax(most, value);
        }
        break;
    }
    return most;
}

/* Puts a small curve over time. The curves of all back ends have the scale of the largest one. */
static void put_line(struct ab_grid *g, unsigned column, uint32_t backend, size_t offset)
{
    double values[AB_GRID_POINTS], most = 0;
    for (uint32_t b = 0; b < g->session->n_backends; b++)
        if (has_memory(g->session, b, NULL))
            most = fmax(most, resample(g->session, b, offset, values));
    resample(g->session, backend, offset, values);
    ab_grid_put_line(g, column, values, most);
}

static bool has_external(const struct ab_session *s)
{
    for (uint32_t t = 0; t < s->n_timelines; t++)
        for (uint32_t i = 0; i < s->timelines[t].n; i++)
            if (isfinite(s->timelines[t].points[i].external_bytes))
                return true;
    return false;
}

/* Fills the table of the memory that stays resident once everything is freed, and of memory over
 * time. */
bool ab_memory_drain_grid(const struct ab_topic_at *at, struct ab_grid *g)
{
    const struct ab_session *s = at->view->session;
    static const char *const titles[AB_DRAIN_COUNT] = {"immediately", "0.1 s later", "1 s later",
                                                       "10 s later", "after purge"};
    enum { FOOTPRINT = AB_DRAIN_COUNT, EXTERNAL };
    *g = (struct ab_grid){.session = s, .n_columns = EXTERNAL + 1, .is_whole = true};
    g->columns[FOOTPRINT].title = "over time";
    g->columns[EXTERNAL].title = has_external(s) ? "external over time" : NULL;
    ab_grid_heading(g, "after free", "");
    for (uint32_t b = 0; b < s->n_backends; b++) {
        char why[AB_MEMORY_REASON_BYTES];
        if (!has_memory(s, b, NULL))
            continue;
        ab_grid_add_backend(g, b);
        for (unsigned when = 0; when < AB_DRAIN_COUNT; when++) {
            double bytes = ab_view_memory_drained(s, b, when);
            if (isfinite(bytes)) /* a column exists if the value is known of any back end */
                g->columns[when].title = titles[when];
            ab_grid_put(g, when, AB_GRID_BYTES, bytes,
                        view_memory_why_drained(s, b, why, sizeof why));
        }
        put_line(g, FOOTPRINT, b, offsetof(struct ab_timeline_point, footprint_bytes));
        put_line(g, EXTERNAL, b, offsetof(struct ab_timeline_point, external_bytes));
    }
    return g->n_rows > 1;
}

/* ---- over the ops ---- */

enum { KINDS = 2, COLUMNS = KINDS * AB_DIST_STATS };

static void put_percent(struct ab_grid *g, unsigned column, const struct ab_memory_dist *d,
                        unsigned stat)
{
    double ratio = ab_memory_dist_value(d, stat), percent = 100 * ratio;
    char why[200];
    ab_memory_dist_why(d, stat, why, sizeof why);
    if (percent < 999.95)
        ab_grid_say(g, column, "%.*f", percent < 9.995 ? 2 : 1, percent);
    else /* a multiple is easier to read than 25,700 % */
        ab_grid_put(g, column, AB_GRID_TIMES, ratio, why);
}

static void explain_over_ops(struct ab_grid *g)
{
    ab_view_texts_addf(&g->closing, "%s",
                       "half, 90 %, 99 %: for that share of the ops of the phase, the number was "
                       "at most the value shown; max: largest of 1,000 or more samples; 25.0x: 25 "
                       "times the live bytes.");
}

/* Fills the table of percentiles over the ops of memory divided by live bytes: external and
 * retained, or internal and overhead, by at->number. Merges the histograms of all rounds. */
bool ab_memory_over_ops_grid(const struct ab_topic_at *at, struct ab_grid *g)
{
    const struct ab_session *s = at->view->session;
    const char *phase = at->phase;
    const unsigned half = at->number;
    static const enum ab_memory_dist_kind kinds[AB_MEMORY_HALVES][KINDS] = {
        {AB_DIST_EXTERNAL_RATIO, AB_DIST_RETAINED_RATIO},
        {AB_DIST_INTERNAL_RATIO, AB_DIST_OVERHEAD},
    };
    static const char *const titles[AB_MEMORY_HALVES][KINDS] = {{"external p50", "retained p50"},
                                                                {"internal p50", "overhead p50"}};
    *g = (struct ab_grid){.session = s, .n_columns = COLUMNS, .is_whole = true};
    for (unsigned i = 0; i < COLUMNS; i++)
        g->columns[i].title = i % AB_DIST_STATS == 0 ? titles[half][i / AB_DIST_STATS]
                                                     : ab_dist_stat_names[i % AB_DIST_STATS];
    if (half == 0)
        g->title = ab_view_texts_addf(&g->texts, "memory over the ops / %.200s, in %% of live",
                                      phase);
    ab_grid_heading(g, phase, "");
    for (uint32_t b = 0; b < s->n_backends; b++) {
        struct ab_memory_dist d[KINDS];
        if (!ab_session_has_numbers(s, b) ||
            !ab_session_merge_dist(s, b, phase, kinds[half][0], AB_DIST_ALL_ROUNDS, &d[0]))
            continue;
        ab_session_merge_dist(s, b, phase, kinds[half][1], AB_DIST_ALL_ROUNDS, &d[1]);
        ab_grid_add_backend(g, b);
        for (unsigned i = 0; i < COLUMNS; i++)
            put_percent(g, i, &d[i / AB_DIST_STATS], i % AB_DIST_STATS);
        free(d[0].hdr);
        free(d[1].hdr);
    }
    explain_over_ops(g);
    return g->n_rows > 1;
}
