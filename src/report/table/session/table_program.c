/* SPDX-License-Identifier: MIT
 *
 * A section for each metric. Values are medians of the rounds; a ratio is that of the rounds, pair
 * by pair, so that drift of the machine cancels: it need not be the ratio of the two medians.
 */
#include "report/table/session/table_program.h"

#include "base/bits.h"
#include "core/median.h"
#include "core/text.h"
#include "core/units_show.h"
#include "report/table/table.h"
#include "result/result_fields.h"
#include "stats/aggregate.h"
#include "stats/effect.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *field, *title;
    bool is_detail; /* with --verbose only */
} metrics[] = {
    {"wall_ns", "wall time", false},
    {"cpu_ns", "CPU time", false},
    {"user_ns", "user CPU time", true},
    {"system_ns", "system CPU time", true},
    {"resident_peak_bytes", "peak memory", false},
    {"resident_mean_bytes", "mean memory", false},
    {"faults_minor", "minor page faults", false},
    {"faults_major", "major page faults", true},
    {"switches_voluntary", "voluntary context switches", true},
    {"switches_involuntary", "involuntary context switches", true},
};

struct section {
    const struct ab_session *s;
    const struct ab_field *field;
    uint32_t base;
    struct ab_table_style style;
    double *of_base, *now, *sorted; /* one a round */
};

static const struct ab_field *find_field(const char *name)
{
    for (size_t i = 0; i < ab_field_count; i++)
        if (strcmp(ab_fields[i].name, name) == 0)
            return &ab_fields[i];
    return NULL;
}

static void collect(const struct section *t, uint32_t backend, double *out)
{
    for (uint32_t i = 0; i < t->s->n_rounds; i++) {
        const struct ab_result *r = ab_session_find(t->s, backend, AB_PROGRAM_PHASE, AB_OP_ALL,
                                                    t->s->rounds[i].index);
        out[i] = r != NULL && ab_field_exists(t->field, r) ? ab_field_f64(t->field, r)
                                                           : (double)NAN;
    }
}

static void format_value(const struct section *t, const double *x, char cell[AB_CELL_BYTES])
{
    size_t n = 0;
    for (uint32_t i = 0; i < t->s->n_rounds; i++)
        if (isfinite(x[i]))
            t->sorted[n++] = x[i];
    double median = ab_median(t->sorted, n);
    if (!isfinite(median))
        snprintf(cell, AB_CELL_BYTES, "-");
    else if (strcmp(t->field->unit, "ns") == 0)
        ab_units_time(cell, AB_CELL_BYTES, median);
    else if (strcmp(t->field->unit, "bytes") == 0)
        ab_units_bytes(cell, AB_CELL_BYTES, median);
    else
        ab_units_count(cell, AB_CELL_BYTES, median);
}

static void format_ratio(const struct ab_effect *e, char cell[AB_CELL_BYTES])
{
    if (!isfinite(e->ratio))
        snprintf(cell, AB_CELL_BYTES, "-");
    else if (!isfinite(e->low) || !isfinite(e->high))
        snprintf(cell, AB_CELL_BYTES, "~%.3fx", e->ratio);
    else
        snprintf(cell, AB_CELL_BYTES, "%s%.3fx [%.3f, %.3f]", ab_effect_is_clear(e) ? "" : "~",
                 e->ratio, e->low, e->high);
}

/* Of the two medians that are shown, with the interval of the pairs of rounds. */
static struct ab_effect effect_of(const struct section *t)
{
    struct ab_pairs pairs;
    if (!ab_pairs_init(&pairs, t->s->n_rounds))
        return ab_effect_paired(NULL, NULL, 0);
    pairs.is_by_round = t->s->n_hosts > 1;
    for (uint32_t i = 0; i < t->s->n_rounds; i++)
        if (t->of_base[i] > 0) /* of none there is no multiple */
            ab_pairs_add(&pairs, t->now[i], t->of_base[i]);
    struct ab_effect e = ab_pairs_effect(&pairs);
    ab_pairs_fini(&pairs);
    return e;
}

static void add_backend(const struct section *t, uint32_t backend, struct ab_table *table)
{
    const struct ab_backend_info *b = &t->s->backends[backend];
    struct ab_table_row *row = ab_table_add_backend(table, b);
    if (row == NULL)
        return;
    collect(t, backend, t->now);
    format_value(t, t->now, row->cells[0]);
    if (backend == t->base)
        snprintf(row->cells[1], AB_CELL_BYTES, "base");
    else if (t->base != UINT32_MAX && ab_backend_is_comparable(b)) {
        struct ab_effect e = effect_of(t);
        format_ratio(&e, row->cells[1]);
        if (ab_effect_is_clear(&e) && t->field->better != AB_FIELD_NEITHER)
            row->emphasis = e.ratio < 1 ? AB_GOOD : AB_BAD;
    }
}

static void add_section(struct section *t, const char *title, struct ab_table *table)
{
    ab_table_add(table, title, true);
    if (t->base != UINT32_MAX)
        collect(t, t->base, t->of_base);
    for (uint32_t b = 0; b < t->s->n_backends; b++)
        if (ab_session_has_numbers(t->s, b))
            add_backend(t, b, table);
}

/* ---- beside the replay ---- */

/* Each round's number by another of the same round. */
static void collect_by_calls(struct section *t, uint32_t backend, const char *field, double *out)
{
    t->field = find_field("calls");
    collect(t, backend, t->sorted);
    t->field = find_field(field);
    collect(t, backend, out);
    for (uint32_t i = 0; i < t->s->n_rounds; i++)
        out[i] /= t->sorted[i];
}

static bool is_known(const struct ab_effect *e)
{
    return isfinite(e->low) && isfinite(e->high);
}

static void format_difference(const struct ab_effect *e, char cell[AB_CELL_BYTES])
{
    if (!isfinite(e->ratio))
        snprintf(cell, AB_CELL_BYTES, "-");
    else if (!is_known(e))
        snprintf(cell, AB_CELL_BYTES, "%+.1f", e->ratio);
    else
        snprintf(cell, AB_CELL_BYTES, "%+.1f [%+.1f, %+.1f]", e->ratio, e->low, e->high);
}

/* A difference that may be none says nothing about the prediction. */
static const char *word_of(const struct ab_effect *predicted, const struct ab_effect *measured)
{
    if (!is_known(predicted) || !is_known(measured))
        return "-";
    if (measured->low <= 0 && measured->high >= 0)
        return "not measurable";
    if (predicted->low <= measured->high && measured->low <= predicted->high)
        return "agrees";
    if (predicted->low <= 0 && predicted->high >= 0)
        return "not predicted";
    return (predicted->ratio > 0) == (measured->ratio > 0) ? "same direction" : "opposite";
}

/* How far predictions are off where the program shows a difference: without a buffer for the
 * program's own data and with the one that was fitted. */
struct fit {
    double bare, cached; /* sums of |predicted - measured|, ns a call */
    uint32_t n;
};

static struct ab_effect difference_of(struct section *t, uint32_t backend, const char *of_base,
                                      uint32_t base, const char *field)
{
    t->field = find_field(of_base);
    collect(t, base, t->of_base);
    t->field = find_field(field);
    collect(t, backend, t->now);
    return ab_effect_difference(t->of_base, t->now, t->s->n_rounds);
}

/* A row of its own below the allocator's: "with 128 KiB". None where no buffer suits best. */
static void add_cached(struct section *t, uint32_t backend, const struct ab_effect *measured,
                       const struct ab_effect *cached, struct ab_table *table)
{
    char size[AB_CELL_BYTES], label[AB_CELL_BYTES + 16];
    t->field = find_field("replay_cache_bytes");
    collect(t, backend, t->now);
    format_value(t, t->now, size);
    snprintf(label, sizeof label, "    with %s", size);
    bool is_known = strcmp(size, "-") != 0 && strcmp(size, "0 B") != 0;
    struct ab_table_row *row = is_known ? ab_table_add(table, label, false) : NULL;
    if (row == NULL)
        return;
    format_difference(cached, row->cells[0]);
    snprintf(row->cells[2], AB_CELL_BYTES, "%s", word_of(cached, measured));
}

static void add_witness(struct section *t, uint32_t backend, struct fit *fit,
                        struct ab_table *table)
{
    struct ab_table_row *row = ab_table_add_backend(table, &t->s->backends[backend]);
    if (row == NULL)
        return;
    struct ab_effect predicted = difference_of(t, backend, "replay_ns_per_call", t->base,
                                               "replay_ns_per_call");
    struct ab_effect cached = difference_of(t, backend, "replay_cache_base_ns_per_call", backend,
                                            "replay_cache_ns_per_call");
    collect_by_calls(t, t->base, "cpu_ns", t->of_base);
    collect_by_calls(t, backend, "cpu_ns", t->now);
    struct ab_effect measured = ab_effect_difference(t->of_base, t->now, t->s->n_rounds);
    format_difference(&predicted, row->cells[0]);
    format_difference(&measured, row->cells[1]);
    snprintf(row->cells[2], AB_CELL_BYTES, "%s", word_of(&predicted, &measured));
    if (isfinite(cached.ratio))
        add_cached(t, backend, &measured, &cached, table);
    if ((measured.low > 0 || measured.high < 0) && isfinite(predicted.ratio) &&
        isfinite(cached.ratio)) {
        fit->bare += fabs(predicted.ratio - measured.ratio);
        fit->cached += fabs(cached.ratio - measured.ratio);
        fit->n++;
    }
}

static bool has_field(struct section *t, const char *name)
{
    bool has = false;
    t->field = find_field(name);
    for (uint32_t i = 0; i < t->s->n_results; i++)
        has = has || ab_field_exists(t->field, &t->s->results[i]);
    return has;
}

static void print_fit(FILE *to, const struct section *t, const struct fit *fit)
{
    struct ab_text text = {0};
    ab_text_add(&text,
                "Rows \"with\": the replay also reads a buffer of this size between the calls, "
                "as the program reads data of its own (replay --cache); the size is the one with "
                "which the other allocators differ from the base as they do in the program.");
    if (fit->n > 0)
        ab_text_addf(&text,
                     " Where a difference was measured, predictions are off by %.1f ns a call "
                     "without it and by %.1f with it, on average: it %s here.",
                     fit->bare / fit->n, fit->cached / fit->n,
                     fit->cached < fit->bare ? "helps" : "does not help");
    if (text.s != NULL)
        ab_table_prose(to, t->style, AB_FAINT, text.s);
    ab_text_fini(&text);
}

static void print_witness(FILE *to, struct section *t)
{
    static const struct ab_table_column columns[] = {
        {"replay, ns/call", 0}, {"program, ns/call", 0}, {"", 0}};
    struct fit fit = {.n = 0};
    char title[200], base[100];
    struct ab_table table;
    if (t->base == UINT32_MAX || !has_field(t, "replay_ns_per_call"))
        return;
    snprintf(title, sizeof title, "vs %s",
             ab_format_label(base, sizeof base, t->s->backends[t->base].name, 20, t->style.utf8));
    ab_table_init(&table, columns, AB_ARRAY_LEN(columns));
    ab_table_add(&table, title, true);
    for (uint32_t b = 0; b < t->s->n_backends; b++)
        if (b != t->base && ab_session_has_numbers(t->s, b))
            add_witness(t, b, &fit, &table);
    fputc('\n', to);
    ab_table_print(to, &table, t->style);
    ab_table_fini(&table);
    ab_table_prose(to, t->style, AB_FAINT,
                   "What a call costs more than under the base: predicted by the replay of the "
                   "trace, and measured, CPU time of the program by the calls in the trace. Not "
                   "measurable: the interval of the measured difference contains 0.");
    if (has_field(t, "replay_cache_bytes"))
        print_fit(to, t, &fit);
}

static void print_title(FILE *to, const struct ab_session *s, struct ab_table_style style)
{
    struct ab_text title = {0};
    ab_text_addf(&title, "%s: %u round%s; a run each under every allocator", s->name, s->n_rounds,
                 s->n_rounds == 1 ? "" : "s");
    if (title.s != NULL)
        ab_table_line(to, style, AB_STRONG, title.s);
    ab_text_fini(&title);
}

static void print_sections(FILE *to, struct section *t)
{
    char versus[160], base[100];
    snprintf(
        versus, sizeof versus, "vs %s",
        t->base == UINT32_MAX
            ? ""
            : ab_format_label(base, sizeof base, t->s->backends[t->base].name, 20, t->style.utf8));
    const struct ab_table_column columns[] = {{"median", 0}, {versus, 0}};
    struct ab_table table;
    ab_table_init(&table, columns, t->base == UINT32_MAX ? 1 : 2);
    for (size_t i = 0; i < AB_ARRAY_LEN(metrics); i++) {
        if (metrics[i].is_detail && !t->style.is_verbose)
            continue;
        t->field = find_field(metrics[i].field);
        if (t->field != NULL)
            add_section(t, metrics[i].title, &table);
    }
    ab_table_print(to, &table, t->style);
    ab_table_fini(&table);
}

void ab_table_program(FILE *to, const struct ab_session *s, uint32_t base,
                      struct ab_table_style style)
{
    struct section t = {.s = s, .base = base, .style = style};
    double *x = calloc((size_t)s->n_rounds * 3 + 1, sizeof x[0]);
    if (x == NULL || s->n_rounds == 0)
        goto out;
    t.of_base = x;
    t.now = x + s->n_rounds;
    t.sorted = x + 2 * (size_t)s->n_rounds;
    print_title(to, s, style);
    print_sections(to, &t);
    if (base != UINT32_MAX && s->n_rounds < AB_EFFECT_MIN_ROUNDS)
        ab_table_prose(to, style, AB_FAINT,
                       "No intervals: they need at least 6 rounds (--rounds).");
    else if (base != UINT32_MAX && s->n_backends > 1)
        ab_table_prose(to, style, AB_FAINT,
                       "Ratios are of the medians, their 90 % interval of pairs of rounds; ~: no "
                       "clear difference.");
    print_witness(to, &t);
    fputc('\n', to);
out:
    free(x);
}
