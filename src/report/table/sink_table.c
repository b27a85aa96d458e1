/* SPDX-License-Identifier: MIT
 *
 * The report for the terminal: first the answer, then the requested topics. For each measured phase
 * these are latencies by op, throughput, details of latency, memory, and the conditions. Numbers
 * cover all rounds: histograms are merged, throughput is a median. The JSON has the exact numbers.
 */
#include "report/table/sink_table.h"

#include "answer/inside_view.h"
#include "answer/instr_view.h"
#include "base/bits.h"
#include "core/alloc.h"
#include "core/text.h"
#include "core/units_show.h"
#include "report/table/table.h"
#include "result/numbers.h"
#include "result/shown.h"
#include "stats/metric.h"
#include "stats/pin_groups.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool is_asked_for(struct ab_table_style style, const char *phase)
{
    return style.phase == NULL || strcmp(style.phase, phase) == 0;
}

/* Draws the grid if it has rows, and frees it. */
static bool print_if(bool has_rows, FILE *to, struct ab_grid *g, struct ab_table_style style,
                     struct ab_legend *legend)
{
    if (has_rows)
        ab_legend_grid(to, g, style, legend);
    ab_grid_fini(g);
    return has_rows;
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
                           ab_format_name(name, sizeof name, ab_backend_label(&s->backends[b]), 24,
                                          style.utf8),
                           phase);
            ab_legend_grid(to, &g, style, legend);
            is_any = true;
        }
        ab_grid_fini(&g);
    }
    return is_any;
}

/* ---- memory ---- */

/* Prints what the columns above mean, in the words of `explain`. */
static void print_words(FILE *to, const struct ab_session *s, struct ab_table_style style)
{
    const char *words[] = {"live",   "internal",  "external", "retained",
                           "x live", "untouched", NULL,       NULL};
    struct ab_text t = {0};
    bool has_during = ab_view_memory_has_during(s, NULL);
    if (has_during)
        words[AB_ARRAY_LEN(words) - 2] = "in calls";
    ab_text_addf(&t, "live + internal + external + retained%s = peak.",
                 has_during ? " + in calls" : "");
    ab_view_terms_legend(&t, words);
    ab_text_add(&t, " mean: resident by requested bytes, over all ops.");
    ab_table_note(to, style, AB_FAINT, &t);
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
    print_words(to, s, style);
    char libraries[1000];
    ab_table_prose(to, style, AB_FAINT, ab_view_libraries(s, libraries, sizeof libraries));
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

/* ---- details of latency ---- */

enum { BACKENDS_MOST = AB_TABLE_COLUMNS_MAX - 1 }; /* back ends in one table by size */

/* Prints two tables per op: p50/p99 with the share of the calls, and p99.9/max. */
bool ab_table_sizes(FILE *to, const struct ab_session *s, const char *phase,
                    struct ab_table_style style)
{
    struct ab_legend legend = {0};
    bool is_any = false, has_dash = false, has_overflow = false;
    for (unsigned op = 0; op < AB_OP_KIND_COUNT; op++)
        for (uint32_t next = 0; next < s->n_backends;) {
            uint32_t list[BACKENDS_MOST], n = 0;
            for (; next < s->n_backends && n < BACKENDS_MOST; next++)
                if (ab_sizes_has(s, phase, op, next))
                    list[n++] = next;
            for (unsigned is_tail = 0; is_tail < 2 && n > 0; is_tail++) {
                struct ab_grid g;
                ab_sizes_grid(s, phase, op, list, n, is_tail, &g);
                if (!is_any)
                    ab_table_linef(to, style, "%s: latency by size of the request", phase);
                is_any = true;
                has_dash |= g.has_dash;
                has_overflow |= g.has_overflow;
                print_if(true, to, &g, style, &legend);
            }
        }
    if (has_dash)
        ab_table_prose(
            to, style, AB_FAINT,
            "-: too few calls of this size; a percentile needs at least 10 slower calls.");
    if (has_overflow)
        ab_table_prose(to, style, AB_FAINT,
                       "-: calls of more than a minute, which are in no counter.");
    return is_any;
}

void ab_table_depth(FILE *to, const struct ab_view *v, struct ab_table_style style)
{
    const struct ab_session *s = v->session;
    struct ab_legend legend = {0};
    struct ab_grid g;
    for (uint32_t i = 0; i < s->n_phases; i++) {
        const char *phase = s->phases[i];
        bool is_any = false;
        if (!is_asked_for(style, phase))
            continue;
        if ((style.topics & AB_TOPIC_PERCENTILES) != 0)
            is_any |= print_if(ab_intervals_grid(s, phase, &g), to, &g, style, &legend);
        if ((style.topics & AB_TOPIC_SIZE) != 0)
            is_any |= ab_table_sizes(to, s, phase, style);
        if ((style.topics & AB_TOPIC_TIME) != 0)
            is_any |= print_if(ab_windows_grid(s, phase, &g), to, &g, style, &legend);
        if ((style.topics & AB_TOPIC_WORST) != 0) {
            for (unsigned of = AB_SLOWEST_CALLS; of <= AB_SLOWEST_ITERATIONS; of++)
                is_any |= print_if(ab_slowest_grid(v, of, i, &g), to, &g, style, &legend);
        }
        if (is_any)
            fputc('\n', to);
    }
}

static bool has_any_result(const struct ab_session *s)
{
    for (uint32_t i = 0; i < s->n_results; i++)
        if (s->results[i].backend < s->n_backends &&
            ab_backend_status_has_numbers(s->backends[s->results[i].backend].status))
            return true;
    return false;
}

static void table_notes(FILE *to, const struct ab_session *s, struct ab_table_style style)
{
    struct ab_view_texts notes = {0};
    ab_view_notes(s, (style.topics & AB_TOPIC_TIME) != 0, style.utf8 ? "\u00b1" : "+-", &notes);
    for (size_t i = 0; i < notes.n; i++)
        ab_table_prose(to, style, AB_FAINT, notes.items[i]);
    ab_view_texts_fini(&notes);
}

static void print_phase(FILE *to, const struct ab_view *v, const char *phase,
                        struct ab_table_style style)
{
    struct ab_legend legend = {0};
    struct ab_grid g;
    ab_latency_grid(v, phase, &g);
    unsigned shown = ab_legend_grid(to, &g, style, &legend);
    if ((shown >> AB_LATENCY_PICTURE & 1) != 0 && g.range.high > g.range.low) {
        struct ab_text line = {0};
        ab_text_addf(&line, "distribution: from %s to %s, both axes logarithmic",
                     AB_TIME(g.range.low), AB_TIME(g.range.high));
        ab_table_line(to, style, AB_FAINT, line.s);
        ab_text_fini(&line);
    }
    ab_grid_fini(&g);
    ab_throughput_grid(v->session, phase, &g);
    print_if(true, to, &g, style, &legend);
    fputc('\n', to);
}

static void print_walks(FILE *to, const struct ab_session *s, struct ab_table_style style)
{
    struct ab_legend legend = {0};
    struct ab_grid g;
    bool has_walks = false;
    for (uint32_t i = 0; i < s->n_phases; i++)
        if (is_asked_for(style, s->phases[i]))
            has_walks |= print_if(ab_walks_grid(s, s->phases[i], &g), to, &g, style, &legend);
    if (has_walks)
        fputc('\n', to);
}

static void print_pins(FILE *to, const struct ab_session *s, struct ab_table_style style)
{
    struct ab_legend legend = {0};
    struct ab_grid g;
    const char *at;
    for (uint32_t i = 0; (at = ab_pins_shown(s, i)) != NULL; i++)
        if (print_if(ab_pins_grid(s, at, &g), to, &g, style, &legend))
            fputc('\n', to);
}

static void print_topics(FILE *to, const struct ab_view *v, struct ab_table_style style)
{
    const struct ab_session *s = v->session;
    for (uint32_t i = 0; i < s->n_phases && (style.topics & AB_TOPIC_TIME) != 0; i++)
        if (is_asked_for(style, s->phases[i]))
            print_phase(to, v, s->phases[i], style);
    ab_table_depth(to, v, style);
    if ((style.topics & AB_TOPIC_MEMORY) != 0)
        ab_table_memory(to, s, style);
    if ((style.topics & AB_TOPIC_PINS) != 0)
        print_pins(to, s, style);
    if (style.topics != 0)
        table_notes(to, s, style);
}

/* ---- counters: a table for each phase, then how they were counted, and why some were not ---- */

static void print_method(FILE *to, const struct ab_session *s, struct ab_table_style style)
{
    const struct ab_counting *c = &s->counting;
    struct ab_text t = {0};
    char ops[AB_CELL_BYTES], all[AB_CELL_BYTES], shown[1000];
    if (c->method[0] == 0) {
        ab_text_addf(&t, "no instructions: %s", ab_text_printable(shown, sizeof shown, c->reason));
    } else {
        ab_text_addf(&t, "instructions: by %s, %s of %s ops; those of the null back end",
                     ab_text_printable(shown, sizeof shown, c->method),
                     ab_format_count(ops, (double)c->n_ops),
                     ab_format_count(all, (double)s->n_tape_ops));
        ab_text_add(
            &t, " (the harness) are subtracted from instr/op. System calls: of the whole phase");
    }
    ab_table_note(to, style, AB_FAINT, &t);
}

static void print_reasons(FILE *to, const struct ab_session *s, struct ab_table_style style)
{
    for (uint32_t i = 0; i < s->n_backends; i++) {
        const struct ab_backend_info *b = &s->backends[i];
        char line[1600], name[300], why[1000];
        if (b->uncounted[0] == 0)
            continue;
        snprintf(line, sizeof line, "%s: %s",
                 ab_text_printable(name, sizeof name, ab_backend_label(b)),
                 ab_text_printable(why, sizeof why, b->uncounted));
        ab_table_prose(to, style, AB_FAINT, line);
    }
}

/* Prints the counters, if they were requested. */
static void table_counts(FILE *to, const struct ab_session *session, struct ab_table_style style)
{
    if (!session->counting.is_asked)
        return;
    for (uint32_t i = 0; i < session->n_phases; i++) {
        struct ab_legend legend = {0};
        struct ab_grid g;
        ab_counts_grid(session, session->phases[i], &g);
        print_if(true, to, &g, style, &legend);
    }
    print_method(to, session, style);
    print_reasons(to, session, style);
    fputc('\n', to);
}

/* ---- the answer: sentences and tables ---- */

static bool has_numbers(const struct ab_view *v)
{
    return v->session->n_results > 0 && v->ranking.n_rows > 0 &&
           v->ranking.rows[0].standing != AB_VIEW_FAILED;
}

static void print_ranking(FILE *to, const struct ab_view *v, struct ab_table_style style,
                          struct ab_legend *legend)
{
    struct ab_grid g;
    ab_ranking_grid(v, &g);
    unsigned shown = ab_legend_grid(to, &g, style, legend);
    legend->has_tail = (shown >> AB_RANKING_P99 & 3) != 0;
    ab_grid_fini(&g);
}

static void print_phases(FILE *to, const struct ab_view *v, struct ab_table_style style,
                         struct ab_legend *legend)
{
    struct ab_grid g;
    if (ab_phases_grid(v, &g)) {
        fputc('\n', to);
        ab_legend_grid(to, &g, style, legend);
    }
    ab_grid_fini(&g);
    if (ab_calls_grid(v, &g, &legend->has_at_floor)) {
        fputc('\n', to);
        ab_legend_grid(to, &g, style, legend);
    }
    ab_grid_fini(&g);
}

static void print_peak(FILE *to, const struct ab_view *v, struct ab_table_style style,
                       struct ab_legend *legend)
{
    struct ab_grid g;
    if (!v->memory.has_parts)
        return;
    ab_memory_peak_grid(v, &g);
    fputc('\n', to);
    unsigned shown = ab_legend_grid(to, &g, style, legend);
    legend->has_live = (shown & 1) != 0;
    legend->has_multiple = (shown >> AB_MEMORY_MULTIPLE & 1) != 0;
    legend->has_aged_heap = v->memory.has_aged_heap;
    legend->has_during = v->memory.has_during;
    legend->has_drain = (shown >> AB_MEMORY_AFTER_FREE & 1) != 0;
    ab_grid_fini(&g);
}

static void print_over_time(FILE *to, const struct ab_session *s, struct ab_table_style style,
                            struct ab_legend *legend)
{
    bool (*const grids[])(const struct ab_session *, struct ab_grid *) = {ab_over_time_grid,
                                                                          ab_growth_grid};
    for (unsigned i = 0; i < AB_ARRAY_LEN(grids); i++) {
        struct ab_grid g;
        if (grids[i](s, &g)) {
            fputc('\n', to);
            ab_legend_grid(to, &g, style, legend);
        }
        ab_grid_fini(&g);
    }
}

static void print_inside_words(FILE *to, const struct ab_view *v, struct ab_table_style style)
{
    char buf[800];
    for (uint32_t i = 0; i < v->ranking.n_rows; i++) {
        const char *sentence = ab_inside_sentence(v, i, buf, sizeof buf);
        if (sentence != NULL)
            ab_table_prose(to, style, AB_PLAIN, sentence);
    }
    ab_table_prose(to, style, AB_FAINT, ab_inside_check(v, buf, sizeof buf));
}

static void print_program(FILE *to, const struct ab_view *v, struct ab_table_style style,
                          struct ab_legend *legend)
{
    struct ab_grid g;
    ab_program_grid(v, style.is_verbose ? AB_PROGRAM_DETAILS : AB_PROGRAM_USUAL, &g);
    fputc('\n', to);
    ab_legend_grid(to, &g, style, legend);
    ab_grid_fini(&g);
    print_if(ab_program_instr_grid(v, &g), to, &g, style, legend);
    bool has_inside = ab_inside_grid(v, &g);
    fputs(has_inside ? "\n" : "", to);
    if (print_if(has_inside, to, &g, style, legend))
        print_inside_words(to, v, style);
    print_if(ab_call_sites_grid(v, &g), to, &g, style, legend);
    for (unsigned op = 0; op < AB_OP_ALL && style.is_verbose; op++)
        print_if(ab_inside_calls_grid(v, op, &g), to, &g, style, legend);
}

static void print_by_value_of(FILE *to, const struct ab_view *v, struct ab_by_value_of of,
                              struct ab_table_style style, struct ab_legend *legend)
{
    struct ab_grid g;
    if (print_if(ab_by_value_grid(v, of, &g), to, &g, style, legend))
        fputc('\n', to);
}

/* Prints the first phases, as many as a screen of 40 lines has room for. Nothing says which phases
 * are the heaviest. */
static void print_by_value(FILE *to, const struct ab_view *v, struct ab_table_style style,
                           struct ab_legend *legend)
{
    enum { LINES = 26 };
    const struct ab_session *s = v->session;
    uint32_t n_lines = v->by_value.n_names + 4, shown = LINES / n_lines;
    shown = shown > 0 ? shown : 1;
    if (s->n_phases > 1)
        print_by_value_of(to, v, (struct ab_by_value_of){AB_BY_VALUE_RUN, 0}, style, legend);
    for (uint32_t p = 0; p < s->n_phases; p++)
        if (p < shown && is_asked_for(style, s->phases[p]))
            print_by_value_of(to, v, (struct ab_by_value_of){AB_BY_VALUE_PHASE, p}, style, legend);
    if (s->n_phases > shown)
        ab_table_prose(to, style, AB_FAINT, "(other phases: -v time)");
    print_by_value_of(to, v, (struct ab_by_value_of){AB_BY_VALUE_PEAK, 0}, style, legend);
}

static void print_control(FILE *to, const struct ab_view *v, struct ab_table_style style)
{
    struct ab_legend legend = {0};
    struct ab_grid g;
    if (ab_program_prediction_grid(v, &g)) {
        fputc('\n', to);
        ab_legend_grid(to, &g, style, &legend);
        ab_table_prose(
            to, style, AB_FAINT,
            "What a call costs with the base, and how much more (+) or less (-) with the others: as "
            "two replays of the trace predict it, from a warm one, with the allocator always in the "
            "caches, to a cold one, with other code between its calls, and as the calls in the program take it; last "
            "column: whether that agrees. Not measurable: the interval of the measured difference "
            "contains 0.");
    }
    ab_grid_fini(&g);
}

/* Prints the sentences, the ranking and the tables. */
static void answer_print(FILE *to, const struct ab_view *v, struct ab_table_style style)
{
    struct ab_legend legend = {0};
    ab_table_prose(to, style, AB_PLAIN, v->title);
    for (unsigned i = 0; i < v->headline.n_sentences; i++)
        ab_table_prose(to, style, i == 0 ? AB_STRONG : AB_PLAIN, v->headline.sentences[i]);
    fputc('\n', to);
    if (!has_numbers(v)) {
        ab_table_names(to, v->session, style);
        return;
    }
    if (v->session->n_combinations > 0) {
        print_by_value(to, v, style, &legend);
        if (style.topics != 0)
            print_ranking(to, v, style, &legend);
    } else {
        print_ranking(to, v, style, &legend);
    }
    if (v->session->n_combinations > 0 && style.topics == 0) {
        /* rows are only shown with -v */
    } else if (ab_session_is_exec(v->session)) {
        print_program(to, v, style, &legend);
    } else {
        print_phases(to, v, style, &legend);
        print_peak(to, v, style, &legend);
    }
    if (v->session->n_combinations == 0 || style.topics != 0)
        print_over_time(to, v->session, style, &legend);
    if (v->session->n_combinations == 0 || style.topics != 0)
        fputc('\n', to);
    ab_legend_print(to, v, &legend, style);
    if (ab_session_is_exec(v->session))
        print_control(to, v, style);
}

/* ---- warnings ---- */

/* Names back ends that are not installed and were not asked for, in one line. With is_aged, names
 * those that have no row on an aged heap. */
static void print_absent(FILE *to, const struct ab_view *v, struct ab_table_style style,
                         bool is_aged)
{
    const char *begin = is_aged ? "no litter, for they cannot free single blocks: "
                                : "not installed: ";
    struct ab_text line = {0};
    char name[4 * sizeof v->session->backends->name];
    for (size_t i = 0; i < v->warnings.n; i++) {
        const struct ab_view_warning *w = &v->warnings.items[i];
        if (strcmp(w->id, "absent") == 0 && w->severity == AB_VIEW_NOTE &&
            (v->session->backends[w->backend].aging.occupancy > 0) == is_aged)
            ab_text_addf(&line, "%s%s", line.s == NULL ? begin : ", ",
                         ab_text_printable(name, sizeof name,
                                           ab_backend_label(&v->session->backends[w->backend])));
    }
    ab_table_note(to, style, AB_FAINT, &line);
}

static bool is_said_elsewhere(const struct ab_view *v, const struct ab_view_warning *w,
                              struct ab_table_style style)
{
    return (strcmp(w->id, "few-rounds") == 0 && v->headline.verdict == AB_VIEW_TOO_FEW) ||
           (strcmp(w->id, "little-work") == 0 && v->headline.verdict == AB_VIEW_TOO_LITTLE) ||
           (strcmp(w->id, "incomplete") == 0 && style.is_live) || /* the headline says so */
           (strcmp(w->id, "absent") == 0 && w->severity == AB_VIEW_NOTE) ||
           (strcmp(w->id, "caveat") == 0 && style.topics == 0);
}

static void print_warning(FILE *to, const struct ab_view_warning *w, struct ab_table_style style)
{
    static const char *const words[] = {
        [AB_VIEW_FAILURE] = "", [AB_VIEW_WARNING] = "warning: ", [AB_VIEW_NOTE] = "note: "};
    struct ab_text line = {0};
    ab_text_addf(&line, "%s%s", words[w->severity], w->text);
    if (w->remedy[0] != 0)
        ab_text_addf(&line, " -> %s", w->remedy);
    ab_table_note(to, style,
                  w->severity == AB_VIEW_FAILURE   ? AB_BAD
                  : w->severity == AB_VIEW_WARNING ? AB_STRONG
                                                   : AB_FAINT,
                  &line);
}

/* Prints the end of every report: warnings and next steps. */
static void answer_end(FILE *to, const struct ab_view *v, struct ab_table_style style)
{
    struct ab_text next = {0}, end = {0};
    ab_rounds_note_end(v->session, &end);
    ab_table_note(to, style, AB_FAINT, &end);
    for (size_t i = 0; i < v->warnings.n; i++)
        if (!is_said_elsewhere(v, &v->warnings.items[i], style))
            print_warning(to, &v->warnings.items[i], style);
    print_absent(to, v, style, false);
    print_absent(to, v, style, true);
    for (unsigned i = 0; i < v->next.n; i++)
        ab_text_addf(&next, "%s%s (%s)", i == 0 ? "next: " : "; ", v->next.items[i].command,
                     v->next.items[i].why);
    ab_table_note(to, style, AB_PLAIN, &next);
    if (style.topics == 0 && has_numbers(v) && !ab_session_is_exec(v->session))
        ab_table_prose(to, style, AB_FAINT,
                       "more: -v [time|size|worst|memory|phase=NAME|all], allocbench explain WORD");
}

static void print_report(FILE *to, const struct ab_view *v, struct ab_table_style style)
{
    const struct ab_session *s = v->session;
    answer_print(to, v, style);
    if (has_any_result(s) && !ab_session_is_exec(s)) {
        table_counts(to, s, style);
        ab_table_iterations(to, s, style);
        ab_table_heaps(to, s, style);
        print_walks(to, s, style);
        if (style.topics != 0)
            print_topics(to, v, style);
    }
    struct ab_text unrun = {0};
    ab_rounds_note_unrun(s, &unrun);
    ab_table_note(to, style, AB_FAINT, &unrun);
    answer_end(to, v, style);
}

void ab_sink_table(FILE *to, const struct ab_session *session, struct ab_table_style style)
{
    struct ab_format_guard guard;
    struct ab_view view;
    ab_format_begin(&guard);
    ab_view_make(session, &view);
    print_report(to, &view, style);
    ab_view_fini(&view);
    ab_format_end(&guard);
}
