/* SPDX-License-Identifier: MIT
 *
 * Draws the grids of each topic with their titles and notes.
 */
#include "report/table/table_topics.h"

#include "core/memory.h"
#include "core/text.h"
#include "core/units_show.h"
#include "stats/metric.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool is_asked_for(struct ab_table_style style, const char *phase)
{
    return style.phase == NULL || strcmp(style.phase, phase) == 0;
}

/* ---- iterations ---- */

static void print_iterations(FILE *to, const struct ab_session *s, const char *phase,
                             struct ab_hdr *scratch, struct ab_table_style style)
{
    const struct ab_iterations *any = ab_session_iterations(s, phase);
    struct ab_legend legend = {0};
    struct ab_grid g;
    uint64_t n_scheduler;
    if (ab_iterations_grid(s, phase, scratch, &g, &n_scheduler)) {
        fputc('\n', to);
        ab_table_linef(to, style, "%s / %s: time in the allocator per %s", s->name, phase,
                       any->name);
        ab_legend_grid(to, &g, style, &legend);
        struct ab_text t = {0};
        ab_text_add(&t, "net: what the same calls take in the null back end is subtracted");
        if (isfinite(any->budget_ns))
            ab_text_addf(&t, "; missed: more than the budget of %s", AB_TIME(any->budget_ns));
        if (n_scheduler > 0)
            ab_text_addf(&t, "; left out: %llu in which the scheduler took the CPU",
                         (unsigned long long)n_scheduler);
        ab_table_note(to, style, AB_FAINT, &t);
        ab_footnotes_print(to, &legend.notes, style);
    }
    ab_grid_fini(&g);
}

void ab_table_iterations(FILE *to, const struct ab_session *s, struct ab_table_style style)
{
    struct ab_hdr *scratch = ab_alloc(sizeof *scratch);
    for (uint32_t i = 0; i < s->n_phases && s->n_iterations > 0; i++)
        print_iterations(to, s, s->phases[i], scratch, style);
    free(scratch);
}

/* ---- heaps ---- */

enum { FEW_PHASES = 3 };

static bool print_heaps(FILE *to, const struct ab_session *s, uint32_t backend, const char *phase,
                        struct ab_table_style style, struct ab_hdr *scratch)
{
    struct ab_legend legend = {0};
    struct ab_grid g;
    bool is_timed, is_any = ab_heaps_grid(s, backend, phase, scratch, &g, &is_timed);
    if (is_any) {
        fputc('\n', to);
        ab_legend_grid(to, &g, style, &legend);
        if (!is_timed)
            ab_table_prose(to, style, AB_FAINT,
                           "time is not known: too many of the calls take less than a step of the "
                           "clock.");
    }
    ab_grid_fini(&g);
    if (is_any && style.topics != 0) {
        if (ab_heaps_latency_grid(s, backend, phase, scratch, &g)) {
            fputc('\n', to);
            ab_legend_grid(to, &g, style, &legend);
        }
        ab_grid_fini(&g);
    }
    return is_any;
}

static uint32_t count_mapped(const struct ab_session *s)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->n_backends; i++)
        n += s->backends[i].n_heaps > 0 && ab_session_has_numbers(s, i);
    return n;
}

void ab_table_heaps(FILE *to, const struct ab_session *s, struct ab_table_style style)
{
    bool is_short = style.topics == 0, is_any = false;
    if (s->n_heap_parts == 0 || (!is_short && (style.topics & AB_TOPIC_TIME) == 0) ||
        (is_short && (count_mapped(s) != 1 || s->n_phases > FEW_PHASES)))
        return;
    struct ab_hdr *scratch = ab_alloc(sizeof *scratch);
    for (uint32_t b = 0; b < s->n_backends; b++)
        for (uint32_t p = 0; p < s->n_phases && ab_session_has_numbers(s, b); p++)
            if (is_asked_for(style, s->phases[p]))
                is_any |= print_heaps(to, s, b, s->phases[p], style, scratch);
    if (is_any && !is_short) {
        ab_table_prose(to, style, AB_FAINT,
                       "calls, time: shares of the row; serves: the rules of the heap; calls, live "
                       "peak: of the work, exact; time: of the timed calls, without the clock's "
                       "own; p50, p99: of all calls; held: resident, at the peak of the row; a "
                       "resize from heap to heap is the new one's.");
        fputc('\n', to);
    }
    free(scratch);
}

bool ab_table_heap_memory(FILE *to, const struct ab_session *s, const char *phase,
                          struct ab_table_style style, struct ab_legend *legend)
{
    bool is_any = false;
    for (uint32_t b = 0; b < s->n_backends; b++) {
        struct ab_grid g;
        char name[AB_CELL_BYTES * 4];
        if (ab_heaps_memory_grid(s, b, phase, &g)) {
            ab_table_linef(to, style, "memory by heap / %s, %.64s: at its peak",
                           ab_format_name(name, sizeof name, s->backends[b].name, 24, style.utf8),
                           phase);
            ab_legend_grid(to, &g, style, legend);
            is_any = true;
        }
        ab_grid_fini(&g);
    }
    return is_any;
}

/* ---- memory ---- */

/* The columns above, in the words of explain. */
static void print_words(FILE *to, struct ab_table_style style)
{
    static const char *const words[] = {"live",   "internal",  "external", "retained",
                                        "x live", "untouched", NULL};
    struct ab_text t = {0};
    ab_text_add(&t, "live + internal + external + retained = peak.");
    ab_view_terms_legend(&t, words);
    ab_text_add(&t, " mean: resident by requested bytes, over all ops.");
    ab_table_note(to, style, AB_FAINT, &t);
}

/* Draws the grid where it has rows, and ends it. */
static bool print_if(bool has_rows, FILE *to, struct ab_grid *g, struct ab_table_style style,
                     struct ab_legend *legend)
{
    if (has_rows)
        ab_legend_grid(to, g, style, legend);
    ab_grid_fini(g);
    return has_rows;
}

void ab_table_memory(FILE *to, const struct ab_session *s, struct ab_table_style style)
{
    struct ab_legend legend = {0};
    struct ab_grid g;
    bool has_dists = false, has_heaps = false;
    if (s->n_memory == 0)
        return;
    for (uint32_t i = 0; i < s->n_phases; i++) {
        const char *phase = s->phases[i];
        if (!is_asked_for(style, phase))
            continue;
        print_if(ab_memory_phase_grid(s, phase, &g), to, &g, style, &legend);
        has_heaps |= ab_table_heap_memory(to, s, phase, style, &legend);
        for (unsigned half = 0; half < AB_MEMORY_HALVES; half++)
            has_dists |= print_if(ab_memory_over_ops_grid(s, phase, half, &g), to, &g, style,
                                  &legend);
    }
    print_if(ab_memory_drain_grid(s, &g), to, &g, style, &legend);
    print_words(to, style);
    if (has_dists)
        ab_table_prose(to, style, AB_FAINT,
                       "Over the ops: for half, 90 % and 99 % of the ops of the phase it was at "
                       "most this; max: of 1,000 samples or more; 25.0x: that many times live.");
    if (has_heaps)
        ab_table_prose(to, style, AB_FAINT,
                       "By heap: held: resident pages that hold a block of the heap or held one "
                       "last; of none alone: pages that never held a block. committed: as the heap "
                       "reports it, written to or not.");
    ab_footnotes_print(to, &legend.notes, style);
    fputc('\n', to);
}
