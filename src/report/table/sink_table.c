/* SPDX-License-Identifier: MIT
 *
 * The report for the terminal: the answer, then what was asked for beyond it, by topic: of each
 * measured phase latencies by op and throughput, the tables of depth, memory, the conditions. Numbers
 * of all rounds: histograms merged, throughput as median. The exact ones are in the JSON.
 */
#include "report/table/sink_table.h"

#include "base/bits.h"
#include "base/units.h"
#include "core/median.h"
#include "core/memory.h"
#include "core/text.h"
#include "core/units_show.h"
#include "report/format.h"
#include "report/table/legend.h"
#include "report/table/sparkline.h"
#include "report/table/style.h"
#include "report/table/table.h"
#include "report/table/table_depth.h"
#include "report/table/table_noise.h"
#include "report/table/table_rounds.h"
#include "report/table/table_topics.h"
#include "report/view/program.h"
#include "report/view/view.h"
#include "report/view/words.h"
#include "result/result.h"
#include "result/result_fields.h"
#include "result/session.h"
#include "stats/aggregate.h"
#include "stats/metric.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct report {
    FILE *to;
    const struct ab_session *s;
    struct ab_table_style style;
    struct ab_hdr *hdr; /* scratch for merging */
    const struct ab_view *view;
    uint32_t base;
    struct ab_sparkline_range range; /* of the phase that is printed */
};

enum { N_SHOWN_QUANTILES = 4, PICTURE_COLUMN = N_SHOWN_QUANTILES + 2 };
static const double shown_quantiles[N_SHOWN_QUANTILES] = {0.50, 0.90, 0.99, 0.999};
static const struct ab_table_column latency_columns[] = {
    {"p50", 0}, {"p90", 5}, {"p99", 1}, {"p99.9", 4}, {"max", 2}, {"n", 3}, {"distribution", 6},
};

static bool is_shown(const struct report *r, uint32_t backend)
{
    return ab_backend_status_has_numbers(r->s->backends[backend].status);
}

/* A max that repeats in no other round: of the allocator, or an interruption? */
static bool is_single(const struct report *r, uint32_t backend, const char *phase, unsigned op)
{
    const struct ab_view_latency *l = &r->view->latency;
    for (uint32_t c = 0; c < l->n_columns; c++)
        if (l->columns[c].op == op && strcmp(r->s->phases[l->columns[c].phase], phase) == 0)
            return ab_view_latency_at(l, backend, c)->is_max_single;
    return false;
}

static void fill_latency(const struct report *r, uint32_t backend, const char *phase, unsigned op,
                         struct ab_table_row *row)
{
    struct ab_merged m = ab_session_merge(r->s, backend, phase, op, r->hdr);
    double floor_ns = r->s->timer.floor_ns;
    for (unsigned q = 0; q < N_SHOWN_QUANTILES; q++)
        ab_format_ns(row->cells[q], ab_result_quantile(r->hdr, shown_quantiles[q]), floor_ns);
    ab_format_ns(row->cells[N_SHOWN_QUANTILES], m.max, floor_ns);
    if (is_single(r, backend, phase, op))
        strcat(row->cells[N_SHOWN_QUANTILES], "!");
    ab_format_count(row->cells[N_SHOWN_QUANTILES + 1], m.n_rounds == 0 ? NAN : (double)m.n);
    ab_sparkline_hdr(row->cells[PICTURE_COLUMN], r->hdr, &r->range, AB_SPARKLINE_MOST,
                     r->style.utf8);
}

/* One range for all rows of a phase, so that they can be laid over each other. */
static void find_range(struct report *r, const char *phase)
{
    ab_sparkline_begin(&r->range);
    for (uint32_t i = 0; i < r->s->n_results; i++) {
        const struct ab_result *x = &r->s->results[i];
        if (x->op == AB_OP_ALL && is_shown(r, x->backend) && strcmp(x->phase, phase) == 0)
            ab_sparkline_widen(&r->range, x->hdr);
    }
}

static void print_range(const struct report *r)
{
    char low[AB_CELL_BYTES], high[AB_CELL_BYTES], line[160];
    if (!(r->range.high > r->range.low))
        return;
    snprintf(line, sizeof line, "distribution: from %s to %s, both axes logarithmic",
             ab_units_time(low, sizeof low, r->range.low),
             ab_units_time(high, sizeof high, r->range.high));
    ab_table_line(r->to, r->style, AB_FAINT, line);
}

static void print_latencies(const struct report *r, const char *phase)
{
    struct ab_table t;
    ab_table_init(&t, latency_columns, AB_ARRAY_LEN(latency_columns));
    for (unsigned op = 0; op < AB_OP_KIND_COUNT; op++) {
        if (!ab_session_has_op(r->s, phase, op))
            continue;
        ab_table_add(&t, ab_result_op_name(op), true);
        for (uint32_t b = 0; b < r->s->n_backends; b++) {
            struct ab_table_row *row = is_shown(r, b) ? ab_table_add_backend(&t, &r->s->backends[b])
                                                      : NULL;
            if (row != NULL)
                fill_latency(r, b, phase, op, row);
        }
    }
    if ((ab_table_print(r->to, &t, r->style) >> PICTURE_COLUMN & 1) != 0)
        print_range(r);
    ab_table_fini(&t);
}

static void format_half(char cell[AB_CELL_BYTES], double half)
{
    if (isfinite(half))
        snprintf(cell, AB_CELL_BYTES, half < 0.00995 ? "%.1f%%" : "%.0f%%", fmin(half, 9999) * 100);
    else
        snprintf(cell, AB_CELL_BYTES, "-");
}

static void format_speed(const struct report *r, char cell[AB_CELL_BYTES], uint32_t backend,
                         const char *phase)
{
    struct ab_effect speed = ab_session_speed(r->s, backend, r->base, phase);
    struct ab_view_factor factor = ab_view_factor_of(&speed);
    if (backend == r->base || !ab_backend_is_comparable(&r->s->backends[backend]) ||
        speed.n_new == 0)
        snprintf(cell, AB_CELL_BYTES, "%s", backend == r->base ? "base" : "-");
    else
        ab_view_factor_text(cell, &factor, "faster", "slower");
}

/* Green and red only for what is clear; the ratio says it without colour. */
static enum ab_emphasis judge_speed(const struct report *r, uint32_t backend, const char *phase)
{
    const struct ab_backend_info *b = &r->s->backends[backend];
    if (ab_backend_status_is_aside(b->status))
        return AB_FAINT;
    if (r->base == UINT32_MAX || backend == r->base || !ab_backend_is_comparable(b))
        return AB_PLAIN;
    struct ab_effect speed = ab_session_speed(r->s, backend, r->base, phase);
    if (!ab_effect_is_clear(&speed))
        return AB_PLAIN;
    return speed.ratio > 1 ? AB_GOOD : AB_BAD;
}

static void fill_throughput(const struct report *r, uint32_t backend, const char *phase,
                            struct ab_table_row *row)
{
    struct ab_round_range ns = ab_session_ns_per_op(r->s, backend, phase);
    if (ns.median < 999.5)
        ab_format_ratio(row->cells[0], ns.median); /* "4.00": a mean, not a reading of the clock */
    else
        ab_format_ns(row->cells[0], ns.median, NAN);
    format_half(row->cells[1], ab_round_range_half(&ns));
    ab_format_ratio(row->cells[2], 1e3 / ns.median);
    if (r->base != UINT32_MAX)
        format_speed(r, row->cells[3], backend, phase);
}

enum { VERSUS_BYTES = AB_CELL_BYTES * 4 };

/* "vs glibc"; "" where there is nothing to compare with. */
static void format_versus(const struct report *r, char versus[VERSUS_BYTES])
{
    char base[VERSUS_BYTES - 4];
    versus[0] = 0;
    if (r->base != UINT32_MAX)
        snprintf(
            versus, VERSUS_BYTES, "vs %s",
            ab_format_label(base, sizeof base, r->s->backends[r->base].name, 10, r->style.utf8));
}

typedef void fill_row(const struct report *r, uint32_t backend, const char *phase,
                      struct ab_table_row *row);

/* A row for each back end that is shown. */
static void print_backends(const struct report *r, struct ab_table *t, const char *phase,
                           fill_row *fill)
{
    for (uint32_t b = 0; b < r->s->n_backends; b++) {
        struct ab_table_row *row = is_shown(r, b) ? ab_table_add_backend(t, &r->s->backends[b])
                                                  : NULL;
        if (row == NULL)
            continue;
        fill(r, b, phase, row);
        row->emphasis = judge_speed(r, b, phase);
    }
    ab_table_print(r->to, t, r->style);
    ab_table_fini(t);
}

static void print_throughput(const struct report *r, const char *phase)
{
    char versus[VERSUS_BYTES];
    format_versus(r, versus);
    const struct ab_table_column columns[] = {
        {"ns/op", 0},
        {r->style.utf8 ? "\u00b1" : "+-", 3},
        {"Mops/s", 2},
        {versus, 1},
    };
    struct ab_table t;
    ab_table_init(&t, columns, r->base == UINT32_MAX ? 3 : 4);
    ab_table_add(&t, "all ops", true);
    print_backends(r, &t, phase, fill_throughput);
}

/* Ops that the phase asks for in one round, from any complete back end. */
static uint64_t ops_of_phase(const struct ab_session *s, const char *phase)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < s->n_results; i++) {
        const struct ab_result *r = &s->results[i];
        if (r->op == AB_OP_ALL && strcmp(r->phase, phase) == 0 && r->n_ops + r->n_unsupported > n)
            n = r->n_ops + r->n_unsupported;
    }
    return n;
}

static void print_phase(struct report *r, const char *phase)
{
    struct ab_text title = {0};
    char count[AB_CELL_BYTES];
    ab_text_addf(&title, "%s / %s: %s ops per round, %u round%s; values without a unit: ns",
                 r->s->name, phase, ab_format_count(count, (double)ops_of_phase(r->s, phase)),
                 r->s->n_rounds, r->s->n_rounds == 1 ? "" : "s");
    if (title.s != NULL)
        ab_table_line(r->to, r->style, AB_STRONG, title.s);
    ab_text_fini(&title);
    find_range(r, phase);
    print_latencies(r, phase);
    print_throughput(r, phase);
    fputc('\n', r->to);
}

static bool has_any_result(const struct ab_session *s)
{
    for (uint32_t i = 0; i < s->n_results; i++)
        if (s->results[i].backend < s->n_backends &&
            ab_backend_status_has_numbers(s->backends[s->results[i].backend].status))
            return true;
    return false;
}

static bool is_asked_for(const struct report *r, const char *phase)
{
    return r->style.phase == NULL || strcmp(r->style.phase, phase) == 0;
}

/* The notes below the tables by topic: clock and null, meaning of the columns, noise, conditions. */

struct notes {
    FILE *to;
    const struct ab_session *s;
    struct ab_table_style style;
    uint32_t base;
};

/* Median over rounds and phases of what an op costs with nobody serving it. */
static double null_ns(const struct ab_session *s, uint32_t backend)
{
    double *x = ab_alloc_zeroed((size_t)s->n_nulls + 1, sizeof x[0]);
    size_t n = 0;
    for (uint32_t i = 0; i < s->n_nulls; i++)
        if (ab_null_is_of(&s->nulls[i], &s->backends[backend]) && isfinite(s->nulls[i].ns_per_op))
            x[n++] = s->nulls[i].ns_per_op;
    double median = ab_median(x, n);
    free(x);
    return median;
}

static void add_nulls(const struct ab_session *s, struct ab_text *note)
{
    char cell[AB_CELL_BYTES], name[AB_HARNESS_NAME_BYTES], shown[AB_HARNESS_NAME_BYTES * 4];
    const char *before = " Null (the harness alone, not subtracted): ";
    for (uint32_t i = 0; i < s->n_backends; i++) {
        double ns = ab_harness_is_used(s, i) ? null_ns(s, i) : (double)NAN;
        if (!isfinite(ns))
            continue;
        ab_harness_name(s, i, name);
        ab_text_addf(note, "%s%s ns/op (%s)", before, ab_format_ratio(cell, ns),
                     ab_text_printable(shown, sizeof shown, name));
        before = ", ";
    }
}

static void print_note(const struct notes *r, struct ab_text *note)
{
    if (note->s != NULL)
        ab_table_prose(r->to, r->style, AB_FAINT, note->s);
    ab_text_fini(note);
}

static void print_clock(const struct notes *r)
{
    struct ab_text note = {0};
    char cell[AB_CELL_BYTES];
    double floor_ns = r->s->timer.floor_ns;
    if (isfinite(floor_ns))
        ab_text_addf(&note, "timer floor %s; smaller values print as <%s.",
                     ab_units_time(cell, sizeof cell, floor_ns), cell);
    else
        ab_text_add(&note, "timer floor unknown.");
    ab_text_addf(&note, " Clock quantum %s.",
                 isfinite(r->s->timer.quantum_ns)
                     ? ab_units_time(cell, sizeof cell, r->s->timer.quantum_ns)
                     : "unknown");
    add_nulls(r->s, &note);
    print_note(r, &note);
}

static void print_meanings(const struct notes *r)
{
    struct ab_text note = {0};
    ab_text_add(&note, "n: number of timed ops (a random sample, all rounds); a percentile is "
                       "shown only with at least 10 samples above it. max: of all ops; !: it "
                       "repeats in no other round at its place, and may be an interruption.");
    if (r->base != UINT32_MAX)
        ab_text_addf(&note,
                     " Ratios: of time per op; [low, high]: 90 %% interval, with %u "
                     "rounds or more; ~: not clearly different from 1.",
                     AB_EFFECT_MIN_ROUNDS);
    ab_text_addf(&note, " %s: half of (max - min) over the rounds.",
                 r->style.utf8 ? "\u00b1" : "+-");
    print_note(r, &note);
}

static void print_noise(const struct notes *r)
{
    struct ab_text note = {0};
    ab_table_noise(r->s, &note);
    print_note(r, &note);
}

static void print_conditions(const struct notes *r)
{
    const struct ab_session *s = r->s;
    const char *touch = ab_session_setting(s, "touch");
    struct ab_text note = {0};
    ab_text_addf(&note, "touch: %s", touch != NULL ? touch : "workload default");
    if (s->facts.lanes > 1)
        ab_text_addf(&note, "; %u threads%s, window %u", s->facts.lanes,
                     s->is_strict ? " in strict order" : "", s->window);
    if (s->cpu >= 0)
        ab_text_addf(&note, "; CPU affinity: %d", (int)s->cpu);
    else
        ab_text_addf(&note, "; CPU affinity: %s",
                     s->noise.slices_s > 0 ? "the quietest before each throughput run" : "none");
    ab_text_addf(&note, "; %u of %u rounds, seed %llu, tape %.12s, THP %s", s->n_rounds,
                 s->n_rounds_planned, (unsigned long long)s->seed,
                 s->tape_sha256 != NULL ? s->tape_sha256 : "unknown",
                 s->host.thp[0] != 0 ? s->host.thp : "unknown");
    if (s->shard.count > 0)
        ab_text_addf(&note, "; shard %u of %u", s->shard.index, s->shard.count);
    if (s->n_parts > 0)
        ab_text_addf(&note, "; merged from %u results", s->n_parts);
    print_note(r, &note);
}

/* " (94.9 %, 5.1 % of the requests)": what each rule decided on. */
static void add_shares(const struct ab_mapped_rules *rules, struct ab_text *note)
{
    double all = 0;
    for (uint32_t i = 0; i < rules->n; i++)
        all += (double)rules->n_requests[i];
    for (uint32_t i = 0; i < rules->n && all > 0; i++)
        ab_text_addf(note, "%s%.1f %%", i == 0 ? " (" : ", ",
                     (double)rules->n_requests[i] / all * 100);
    if (rules->n > 0 && all > 0)
        ab_text_add(note, " of the requests)");
}

/* Which back end served what, in rows of several. */
static void print_placements(const struct notes *r)
{
    char count[AB_CELL_BYTES], bytes[AB_CELL_BYTES];
    for (uint32_t i = 0; i < r->s->n_backends; i++) {
        const struct ab_backend_info *b = &r->s->backends[i];
        struct ab_text note = {0};
        for (uint32_t h = 0; h < b->n_heaps; h++) {
            const struct ab_mapped_heap *heap = &b->heaps[h];
            ab_text_addf(&note, "%s%s%s %s %s of %s, ", h == 0 ? b->name : "", h == 0 ? ": " : "; ",
                         heap->name, ab_units_count(count, sizeof count, (double)heap->n_requests),
                         heap->n_requests == 1 ? "request" : "requests",
                         ab_units_bytes(bytes, sizeof bytes, (double)heap->requested_bytes));
            ab_text_addf(&note, "up to %s live",
                         ab_units_bytes(bytes, sizeof bytes, (double)heap->live_peak_bytes));
        }
        if (note.s != NULL)
            ab_text_addf(&note, ". Rules: %s", b->map);
        add_shares(&b->rules, &note);
        if (note.s != NULL)
            ab_text_add(&note, ".");
        print_note(r, &note);
    }
}

/* What was not in every round. */
static void print_rounds(const struct notes *r)
{
    struct ab_text passes = {0};
    ab_rounds_note_passes(r->s, &passes);
    print_note(r, &passes);
}

static void table_notes(FILE *to, const struct ab_session *session, struct ab_table_style style)
{
    const struct notes r = {to, session, style, ab_session_base(session)};
    if ((style.topics & AB_TOPIC_TIME) != 0) {
        print_clock(&r);
        print_meanings(&r);
        print_noise(&r);
    }
    print_conditions(&r);
    print_placements(&r);
    print_rounds(&r);
}

static void print_topics(struct report *r)
{
    for (uint32_t i = 0; i < r->s->n_phases && (r->style.topics & AB_TOPIC_TIME) != 0; i++)
        if (is_asked_for(r, r->s->phases[i]))
            print_phase(r, r->s->phases[i]);
    ab_table_depth(r->to, r->view, r->style);
    if ((r->style.topics & AB_TOPIC_MEMORY) != 0)
        ab_table_memory(r->to, r->s, r->style);
    if (r->style.topics != 0)
        table_notes(r->to, r->s, r->style);
}

/* One table for each phase, with how it was counted below, and why something was not. */

/* Columns after the instructions, as fields of result_fields.def. */
static const struct {
    const char *field;
    struct ab_table_column column;
} counted[] = {
    {"faults_minor", {"faults", 2}},    {"syscalls_mmap", {"mmap", 1}},
    {"syscalls_munmap", {"munmap", 1}}, {"syscalls_mremap", {"mremap", 4}},
    {"syscalls_brk", {"brk", 1}},       {"syscalls_madvise", {"madvise", 3}},
    {"syscalls_futex", {"futex", 3}},   {"syscalls_other", {"other calls", 4}},
};
enum { GROSS = 2, FIRST_COUNTED };

static double value(const struct ab_session *s, uint32_t backend, const char *phase,
                    const char *field)
{
    struct ab_metric m = {.phase = phase, .op = AB_OP_ALL};
    for (size_t i = 0; i < ab_field_count; i++)
        if (strcmp(ab_fields[i].name, field) == 0)
            m.field = &ab_fields[i];
    return ab_metric_value(s, backend, &m);
}

static void format(char cell[AB_CELL_BYTES], int decimals, double x)
{
    if (isfinite(x))
        snprintf(cell, AB_CELL_BYTES, "%.*f", decimals, x);
    else
        snprintf(cell, AB_CELL_BYTES, "-");
}

/* Of the loop itself with the harness of the back end; NAN = not counted. */
static double null_instructions(const struct ab_session *s, uint32_t backend, const char *phase)
{
    for (uint32_t i = 0; i < s->n_nulls; i++) {
        const struct ab_null_cost *n = &s->nulls[i];
        if (!isnan(n->instr_per_op) && strcmp(n->phase, phase) == 0 &&
            ab_null_is_of(n, &s->backends[backend]))
            return n->instr_per_op;
    }
    return NAN;
}

static void fill(const struct ab_session *s, uint32_t backend, const char *phase,
                 struct ab_table_row *row)
{
    uint32_t base = ab_session_base(s);
    double n = value(s, backend, phase, "instr_per_op");
    double by = base != UINT32_MAX ? value(s, base, phase, "instr_per_op") : (double)NAN;
    format(row->cells[0], 2, n);
    ab_format_ratio(row->cells[1], by > 0 && n >= 0 ? n / by : (double)NAN);
    format(row->cells[GROSS], 2, n + null_instructions(s, backend, phase));
    for (size_t i = 0; i < AB_ARRAY_LEN(counted); i++)
        format(row->cells[FIRST_COUNTED + i], 0, value(s, backend, phase, counted[i].field));
}

/* What the loop itself takes in this phase, for each harness that is used. */
static void add_harnesses(struct ab_table *t, const struct ab_session *s, const char *phase)
{
    for (uint32_t i = 0; i < s->n_backends; i++) {
        double n = ab_harness_is_used(s, i) ? null_instructions(s, i, phase) : (double)NAN;
        char name[AB_HARNESS_NAME_BYTES], label[AB_HARNESS_NAME_BYTES + 16];
        if (isnan(n))
            continue;
        ab_harness_name(s, i, name);
        snprintf(label, sizeof label, "harness (%s)", name);
        struct ab_table_row *row = ab_table_add(t, label, false);
        if (row == NULL)
            continue;
        format(row->cells[GROSS], 2, n);
        row->emphasis = AB_FAINT;
    }
}

static void table_counts_print_phase(FILE *to, const struct ab_session *s,
                                     struct ab_table_style style, const char *phase)
{
    char by[32] = "", name[24];
    uint32_t base = ab_session_base(s);
    struct ab_table t;
    struct ab_text title = {0};
    struct ab_table_column columns[FIRST_COUNTED + AB_ARRAY_LEN(counted)] = {
        {"instr/op", 0}, {by, 1}, {"with loop", 1}};
    if (base != UINT32_MAX)
        snprintf(by, sizeof by, "x %s",
                 ab_format_label(name, sizeof name, s->backends[base].name, 10, style.utf8));
    for (size_t i = 0; i < AB_ARRAY_LEN(counted); i++)
        columns[FIRST_COUNTED + i] = counted[i].column;
    ab_text_addf(&title, "%s / %s: counts", s->name, phase);
    if (title.s != NULL)
        ab_table_line(to, style, AB_STRONG, title.s);
    ab_text_fini(&title);
    ab_table_init(&t, columns, AB_ARRAY_LEN(columns));
    ab_table_add(&t, "all ops", true);
    for (uint32_t i = 0; i < s->n_backends; i++) {
        struct ab_table_row *row = ab_session_has_numbers(s, i)
                                       ? ab_table_add_backend(&t, &s->backends[i])
                                       : NULL;
        if (row != NULL)
            fill(s, i, phase, row);
    }
    add_harnesses(&t, s, phase);
    ab_table_print(to, &t, style);
    ab_table_fini(&t);
}

static void print_method(FILE *to, const struct ab_session *s, struct ab_table_style style)
{
    const struct ab_counting *c = &s->counting;
    struct ab_text t = {0};
    char ops[AB_CELL_BYTES], all[AB_CELL_BYTES], shown[1000];
    if (c->method[0] == 0) {
        ab_text_addf(&t, "no instructions: %s", ab_text_printable(shown, sizeof shown, c->reason));
    } else {
        ab_text_addf(&t, "instructions: by %s, %s of %s tape ops; those of the null back end",
                     ab_text_printable(shown, sizeof shown, c->method),
                     ab_format_count(ops, (double)c->n_ops),
                     ab_format_count(all, (double)s->n_tape_ops));
        ab_text_add(
            &t, " (the harness) are subtracted from instr/op. System calls: of the whole phase");
    }
    if (t.s != NULL)
        ab_table_prose(to, style, AB_FAINT, t.s);
    ab_text_fini(&t);
}

static void print_reasons(FILE *to, const struct ab_session *s, struct ab_table_style style)
{
    for (uint32_t i = 0; i < s->n_backends; i++) {
        const struct ab_backend_info *b = &s->backends[i];
        char line[1600], name[300], why[1000];
        if (b->uncounted[0] == 0)
            continue;
        snprintf(line, sizeof line, "%s: %s", ab_text_printable(name, sizeof name, b->name),
                 ab_text_printable(why, sizeof why, b->uncounted));
        ab_table_prose(to, style, AB_FAINT, line);
    }
}

/* Nothing where it was not asked for. */
static void table_counts(FILE *to, const struct ab_session *session, struct ab_table_style style)
{
    if (!session->counting.is_asked)
        return;
    for (uint32_t i = 0; i < session->n_phases; i++)
        table_counts_print_phase(to, session, style, session->phases[i]);
    print_method(to, session, style);
    print_reasons(to, session, style);
    fputc('\n', to);
}

/* The order of the answer, its sentences and warnings. */

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
    legend->has_drain = (shown >> AB_MEMORY_AFTER_FREE & 1) != 0;
    ab_grid_fini(&g);
}

/* Of a program: a section for each metric but the wall time, which the ranking has. Values are medians
 * of the rounds; a factor is the ratio of the two medians that are shown, its interval that of the
 * pairs of rounds, so that drift of the machine cancels. */

static const struct {
    const char *field, *title;
    bool is_detail; /* with --verbose only */
} metrics[] = {
    {"cpu_ns", "CPU time", false},
    {"user_ns", "user CPU time", true},
    {"system_ns", "system CPU time", true},
    {"resident_peak_bytes", "peak memory", false},
    {"resident_mean_bytes", "mean memory", false},
    {"faults_minor", "minor page faults", false},
    {"faults_major", "major page faults", true},
    {"switches_voluntary", "voluntary context switches", true},
    {"switches_involuntary", "involuntary context switches", true},
    {"run_delay_ns", "waits for a CPU", true},
};

enum { MEDIAN, VERSUS };

static void format_value(const struct ab_field *f, double x, char cell[AB_CELL_BYTES])
{
    if (!isfinite(x))
        snprintf(cell, AB_CELL_BYTES, "-");
    else if (strcmp(f->unit, "ns") == 0)
        ab_units_time(cell, AB_CELL_BYTES, x);
    else if (strcmp(f->unit, "bytes") == 0)
        ab_units_bytes(cell, AB_CELL_BYTES, x);
    else
        ab_units_count(cell, AB_CELL_BYTES, x);
}

static void format_factor(const struct ab_program_value *value, char cell[AB_CELL_BYTES],
                          struct ab_legend *legend)
{
    char words[AB_CELL_BYTES], interval[AB_CELL_BYTES];
    bool is_clear = ab_effect_is_clear(&value->ratio);
    ab_view_change_words(words, sizeof words, value->ratio.ratio);
    ab_view_change_interval(interval, sizeof interval, &value->ratio);
    if (!isfinite(value->ratio.ratio)) {
        snprintf(cell, AB_CELL_BYTES, "-");
        return;
    }
    snprintf(cell, AB_CELL_BYTES, "%s%.30s%s%.30s", is_clear ? "" : "~", words,
             interval[0] == '[' ? " "
             : interval[0] != 0 ? ", "
                                : "",
             interval);
    legend->has_unclear = legend->has_unclear || !is_clear;
    legend->has_interval = legend->has_interval || interval[0] == '[';
}

static void add_backend(const struct ab_view *v, const struct ab_view_rank *rank,
                        const struct ab_field *field, struct ab_table *t, struct ab_legend *legend)
{
    const struct ab_session *s = v->session;
    struct ab_table_row *row = ab_table_add_backend(t, &s->backends[rank->backend]);
    struct ab_program_value value;
    if (row == NULL)
        return;
    ab_program_value_of(s, rank->backend, v->ranking.base, field, &value);
    format_value(field, value.median, row->cells[MEDIAN]);
    if (rank->is_base)
        snprintf(row->cells[VERSUS], AB_CELL_BYTES, "base");
    else
        format_factor(&value, row->cells[VERSUS], legend);
    if (ab_effect_is_clear(&value.ratio) && field->better != AB_FIELD_NEITHER)
        row->emphasis = value.ratio.ratio < 1 ? AB_GOOD : AB_BAD;
}

static bool is_known(const struct ab_view *v, const struct ab_field *field)
{
    struct ab_program_value value;
    for (uint32_t i = 0; i < v->ranking.n_rows; i++) {
        ab_program_value_of(v->session, v->ranking.rows[i].backend, v->ranking.base, field, &value);
        if (isfinite(value.median))
            return true;
    }
    return false;
}

static void add_section(const struct ab_view *v, const char *title, const struct ab_field *field,
                        struct ab_table *t, struct ab_legend *legend)
{
    ab_table_add(t, title, true);
    for (uint32_t i = 0; i < v->ranking.n_rows; i++)
        if (v->ranking.rows[i].standing != AB_VIEW_FAILED)
            add_backend(v, &v->ranking.rows[i], field, t, legend);
}

static void print_program(FILE *to, const struct ab_view *v, struct ab_table_style style,
                          struct ab_legend *legend)
{
    char versus[AB_CELL_BYTES * 4 + 8] = "", base[AB_CELL_BYTES * 4];
    if (v->ranking.base != UINT32_MAX)
        snprintf(versus, sizeof versus, "vs %s",
                 ab_format_label(base, sizeof base, v->session->backends[v->ranking.base].name, 20,
                                 style.utf8));
    const struct ab_table_column columns[] = {[MEDIAN] = {"median", 0}, [VERSUS] = {versus, 0}};
    struct ab_text unknown = {0};
    struct ab_table t;
    ab_table_init(&t, columns, v->ranking.base == UINT32_MAX || v->ranking.n_ranked < 2 ? 1 : 2);
    for (size_t i = 0; i < AB_ARRAY_LEN(metrics); i++) {
        const struct ab_field *field = ab_program_field(metrics[i].field);
        if (field == NULL || (metrics[i].is_detail && !style.is_verbose))
            continue;
        if (is_known(v, field))
            add_section(v, metrics[i].title, field, &t, legend);
        else
            ab_text_addf(&unknown, "%s%s%s", unknown.n > 0 ? ", " : "not known: ", metrics[i].title,
                         strcmp(metrics[i].field, "resident_mean_bytes") == 0
                             ? " (the program is too short to be sampled)"
                             : "");
    }
    fputc('\n', to);
    ab_table_print(to, &t, style);
    if (unknown.s != NULL)
        ab_table_prose(to, style, AB_FAINT, unknown.s);
    ab_text_fini(&unknown);
    ab_table_fini(&t);
}

static void print_witness(FILE *to, const struct ab_view *v, struct ab_table_style style)
{
    struct ab_legend legend = {0};
    struct ab_grid g;
    if (ab_program_witness_grid(v, &g)) {
        fputc('\n', to);
        ab_legend_grid(to, &g, style, &legend);
        ab_table_prose(
            to, style, AB_FAINT,
            "How much more (+) or less (-) a call costs than with the base: as the replay of "
            "the trace predicts it, and as the program has it, its CPU time by the calls in "
            "the trace; last column: whether the two agree. Not "
            "measurable: the interval of the measured difference contains 0.");
    }
    ab_grid_fini(&g);
}

/* The sentences, ranking and tables; of a real program the sentences alone. */
static void answer_print(FILE *to, const struct ab_view *v, struct ab_table_style style)
{
    struct ab_legend legend = {0};
    ab_table_prose(to, style, AB_PLAIN, v->title);
    for (unsigned i = 0; i < v->headline.n_sentences; i++)
        ab_table_prose(to, style, i == 0 ? AB_STRONG : AB_PLAIN, v->headline.sentences[i]);
    fputc('\n', to);
    if (!has_numbers(v))
        return;
    print_ranking(to, v, style, &legend);
    if (ab_session_is_exec(v->session)) {
        print_program(to, v, style, &legend);
    } else {
        print_phases(to, v, style, &legend);
        print_peak(to, v, style, &legend);
    }
    fputc('\n', to);
    ab_legend_print(to, v, &legend, style);
    if (ab_session_is_exec(v->session))
        print_witness(to, v, style);
}

/* ---- warnings ---- */

/* What is not installed and was not asked for, in one line. */
static void print_absent(FILE *to, const struct ab_view *v, struct ab_table_style style)
{
    struct ab_text line = {0};
    char name[4 * sizeof v->session->backends->name];
    for (size_t i = 0; i < v->warnings.n; i++) {
        const struct ab_view_warning *w = &v->warnings.items[i];
        if (strcmp(w->id, "absent") == 0 && w->severity == AB_VIEW_NOTE)
            ab_text_addf(
                &line, "%s%s", line.s == NULL ? "not installed: " : ", ",
                ab_text_printable(name, sizeof name, v->session->backends[w->backend].name));
    }
    if (line.s != NULL)
        ab_table_prose(to, style, AB_FAINT, line.s);
    ab_text_fini(&line);
}

static bool is_said_elsewhere(const struct ab_view *v, const struct ab_view_warning *w,
                              struct ab_table_style style)
{
    return (strcmp(w->id, "few-rounds") == 0 && v->headline.verdict == AB_VIEW_TOO_FEW) ||
           (strcmp(w->id, "little-work") == 0 && v->headline.verdict == AB_VIEW_TOO_LITTLE) ||
           (strcmp(w->id, "incomplete") == 0 && style.is_live) || /* the headline */
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
    if (line.s != NULL)
        ab_table_prose(to, style,
                       w->severity == AB_VIEW_FAILURE   ? AB_BAD
                       : w->severity == AB_VIEW_WARNING ? AB_STRONG
                                                        : AB_FAINT,
                       line.s);
    ab_text_fini(&line);
}

/* Warnings and next steps: what stands at the end, whatever is between. */
static void answer_end(FILE *to, const struct ab_view *v, struct ab_table_style style)
{
    struct ab_text next = {0}, end = {0};
    ab_rounds_note_end(v->session, &end);
    if (end.n > 0)
        ab_table_prose(to, style, AB_FAINT, end.s);
    ab_text_fini(&end);
    for (size_t i = 0; i < v->warnings.n; i++)
        if (!is_said_elsewhere(v, &v->warnings.items[i], style))
            print_warning(to, &v->warnings.items[i], style);
    print_absent(to, v, style);
    for (unsigned i = 0; i < v->next.n; i++)
        ab_text_addf(&next, "%s%s (%s)", i == 0 ? "next: " : "; ", v->next.items[i].command,
                     v->next.items[i].why);
    if (next.s != NULL)
        ab_table_prose(to, style, AB_PLAIN, next.s);
    if (style.topics == 0 && has_numbers(v) && !ab_session_is_exec(v->session))
        ab_table_prose(to, style, AB_FAINT,
                       "more: -v [time|size|worst|memory|phase=NAME|all], allocbench explain WORD");
    ab_text_fini(&next);
}

static void print_report(struct report *r)
{
    bool has_results = has_any_result(r->s), is_exec = ab_session_is_exec(r->s);
    answer_print(r->to, r->view, r->style);
    if (has_results && !is_exec)
        table_counts(r->to, r->s, r->style);
    if (has_results && !is_exec) {
        ab_table_iterations(r->to, r->s, r->style);
        ab_table_heaps(r->to, r->s, r->style);
    }
    if (has_results && !is_exec && r->style.topics != 0)
        print_topics(r);
    ab_rounds_print(r->to, r->s, r->style);
    answer_end(r->to, r->view, r->style);
}

void ab_sink_table(FILE *to, const struct ab_session *session, struct ab_table_style style)
{
    struct ab_format_guard guard;
    struct report r = {.to = to, .s = session, .style = style, .base = ab_session_base(session)};
    ab_format_begin(&guard);
    struct ab_view view;
    ab_view_make(session, &view);
    r.hdr = ab_alloc(sizeof *r.hdr);
    r.view = &view;
    print_report(&r);
    ab_view_fini(&view);
    free(r.hdr);
    ab_format_end(&guard);
}
