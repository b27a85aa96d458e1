/* SPDX-License-Identifier: MIT
 *
 * Chooses the run whose bytes are shown, and says why some of them are not known.
 */
#include "report/view/memory.h"

#include "core/memory.h"
#include "stats/aggregate.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const ab_view_memory_part_names[AB_VIEW_MEMORY_PARTS] = {"live", "internal", "external",
                                                                     "retained"};

static const char *const whys_of_part[AB_VIEW_MEMORY_PARTS][5] = {
    {AB_WHY_FOOTPRINT, AB_WHY_PAGES, NULL},
    {AB_WHY_FOOTPRINT, AB_WHY_PAGES, AB_WHY_INTERNAL, NULL},
    {AB_WHY_FOOTPRINT, AB_WHY_PAGES, NULL},
    {AB_WHY_FOOTPRINT, AB_WHY_PAGES, AB_WHY_RETAINED, NULL},
};
static const char *const whys_of_peak[] = {AB_WHY_FOOTPRINT, NULL};

/* ---- why ---- */

/* The end of "WHAT: why" at `part`, and in *why where the second half begins; NULL = other WHAT. */
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

const char *ab_view_memory_why_drained(const struct ab_session *s, uint32_t backend, char *why,
                                       size_t cap)
{
    static const char *const whats[] = {AB_WHY_FOOTPRINT, AB_WHY_DRAINED, AB_WHY_PURGED, NULL};
    for (uint32_t i = s->n_memory; i-- > 0;) /* of the last phase */
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

static int by_footprint(const void *a, const void *b)
{
    const struct ab_memory *x = *(const struct ab_memory *const *)a;
    const struct ab_memory *y = *(const struct ab_memory *const *)b;
    if (knows(x) != knows(y))
        return knows(x) > knows(y) ? -1 : 1;
    if (x->footprint_bytes != y->footprint_bytes && knows(x) > 0)
        return x->footprint_bytes > y->footprint_bytes ? 1 : -1;
    return (x->round > y->round) - (x->round < y->round);
}

/* The middle one of those that know most; the lower of two. */
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

/* Of all phases of each round the one with the highest peak, and of these the middle one. */
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
        else if (m->footprint_bytes > list[k]->footprint_bytes ||
                 !isfinite(list[k]->footprint_bytes))
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
            most = fmax(most, s->memory[i].live_peak_bytes); /* fmax passes over NaN */
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

void ab_view_memory_read(const struct ab_session *s, const struct ab_memory *of,
                         char (*texts)[AB_MEMORY_REASON_BYTES], struct ab_view_memory_row *row)
{
    const double parts[AB_VIEW_MEMORY_PARTS] = {of->live_bytes, of->internal_bytes,
                                                of->external_bytes, of->retained_bytes};
    clear(row);
    row->of = of;
    for (unsigned i = 0; i < AB_VIEW_MEMORY_PARTS; i++) {
        row->parts[i] = parts[i];
        if (isfinite(parts[i]))
            continue;
        ab_view_memory_why(of->reason, whys_of_part[i], texts[i], sizeof texts[i]);
        row->whys[i] = texts[i];
    }
    row->peak_bytes = of->footprint_bytes;
    if (!isfinite(row->peak_bytes)) {
        ab_view_memory_why(of->reason, whys_of_peak, texts[AB_VIEW_MEMORY_PARTS], sizeof texts[0]);
        row->why_peak = texts[AB_VIEW_MEMORY_PARTS];
    }
    row->live_peak_bytes = live_peak(s, of);
    row->untouched_bytes = of->untouched_bytes;
}

/* Median over the rounds, as nothing has to add up to it. */
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
    if (!ab_session_has_numbers(s, backend))
        return;
    if (ab_session_is_exec(s)) {
        fill_of_program(s, backend, scratch, row);
        return;
    }
    const struct ab_memory *of = typical_of_run(s, backend, scratch);
    if (of != NULL)
        ab_view_memory_read(s, of, &out->texts[(size_t)backend * AB_VIEW_MEMORY_TEXTS], row);
    for (unsigned i = 0; i < AB_VIEW_MEMORY_PARTS; i++)
        out->has_parts = out->has_parts || isfinite(row->parts[i]);
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
