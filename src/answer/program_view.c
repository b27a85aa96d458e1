/* SPDX-License-Identifier: MIT
 *
 * Computes the numbers of a real program from its rounds, and fills the tables about it.
 */
#include "answer/program_view.h"

#include "answer/topics.h"
#include "base/bits.h"
#include "core/alloc.h"
#include "core/median.h"
#include "core/text.h"
#include "core/units_show.h"
#include "result/numbers.h"
#include "result/session.h"
#include "stats/metric.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void ab_program_rounds(const struct ab_session *s, uint32_t backend, const struct ab_field *field,
                       double *out)
{
    for (uint32_t i = 0; i < s->n_rounds; i++) {
        const struct ab_result *r = ab_session_find(s, backend, AB_PROGRAM_PHASE, AB_OP_ALL,
                                                    s->rounds[i].index);
        out[i] = r != NULL && ab_field_exists(field, r) ? ab_field_f64(field, r) : (double)NAN;
    }
}

/* Returns the median of the finite values of x[0..n); NaN if there are none. Reorders x. */
static double median_of(double *x, uint32_t n)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < n; i++)
        if (isfinite(x[i]))
            x[kept++] = x[i];
    return ab_median(x, kept);
}

static void add_effect(const struct ab_session *s, const double *now, const double *of_base,
                       struct ab_effect *out)
{
    struct ab_pairs pairs;
    ab_pairs_init(&pairs, s->n_rounds);
    pairs.is_by_round = s->n_hosts > 1;
    for (uint32_t i = 0; i < s->n_rounds; i++)
        ab_pairs_add(&pairs, now[i], of_base[i]);
    *out = ab_pairs_effect(&pairs);
    ab_pairs_fini(&pairs);
}

/* Returns the effect with the ratio of the two medians that are shown. With several machines the
 * medians are not comparable, so the ratio of the rounds is kept. The ratio is unknown if either
 * median is 0. */
static struct ab_effect ratio_of(const struct ab_session *s, const struct ab_effect *effect,
                                 double now, double base)
{
    double ratio = s->n_hosts > 1 ? effect->ratio : now / base;
    bool is_known = isfinite(effect->ratio) && isfinite(ratio) && ratio > 0 && base > 0;
    return is_known ? ab_effect_shown(effect, ratio) : ab_effect_paired(NULL, NULL, 0);
}

void ab_program_value_of(const struct ab_session *s, uint32_t backend, uint32_t base,
                         const struct ab_field *field, struct ab_program_value *out)
{
    double *x = ab_alloc_zeroed((size_t)s->n_rounds * 2 + 1, sizeof x[0]),
           *of_base = x + s->n_rounds;
    bool has_base = base < s->n_backends && backend != base &&
                    ab_backend_is_comparable(&s->backends[backend]);
    *out = (struct ab_program_value){NAN, ab_effect_paired(NULL, NULL, 0)};
    ab_program_rounds(s, backend, field, x);
    if (has_base)
        ab_program_rounds(s, base, field, of_base);
    if (has_base)
        add_effect(s, x, of_base, &out->ratio); /* must precede median_of(), which reorders the
                                                   rounds */
    out->median = median_of(x, s->n_rounds);
    if (has_base)
        out->ratio = ratio_of(s, &out->ratio, out->median, median_of(of_base, s->n_rounds));
    free(x);
}

/* ---- the program beside the replay of its trace ---- */

static bool has_numbers(const struct ab_session *s, const char *name)
{
    const struct ab_field *f = ab_field_find(name);
    for (uint32_t i = 0; f != NULL && i < s->n_results; i++)
        if (ab_field_exists(f, &s->results[i]))
            return true;
    return false;
}

/* Returns the name of the field with the replay's time per call. Older results did not time single
 * calls; their time per op then serves as both the warm and the cold time. */
static const char *replay_field(const struct ab_session *s, bool is_cold)
{
    static const char warm[] = "replay_warm_ns_per_call", cold[] = "replay_cold_ns_per_call";
    if (!has_numbers(s, warm) && !has_numbers(s, cold))
        return "replay_ns_per_call";
    return is_cold ? cold : warm;
}

bool ab_program_has_prediction(const struct ab_session *s)
{
    return has_numbers(s, replay_field(s, false));
}

struct side { /* one side of a difference: a number of a back end, with a value for each round */
    uint32_t backend;
    const char *field;
    bool is_by_calls; /* True to divide by the calls in the trace of the same round */
};

static void collect_side(const struct ab_session *s, const struct side *of, double *calls,
                         double *out)
{
    ab_program_rounds(s, of->backend, ab_field_find(of->field), out);
    if (!of->is_by_calls)
        return;
    ab_program_rounds(s, of->backend, ab_field_find("calls"), calls);
    for (uint32_t i = 0; i < s->n_rounds; i++)
        out[i] /= calls[i];
}

/* Returns the difference `now` - `base` over the rounds. x has room for three numbers per round. */
static struct ab_effect difference(const struct ab_session *s, double *x, struct side base,
                                   struct side now)
{
    double *y = x + s->n_rounds, *calls = y + s->n_rounds;
    collect_side(s, &base, calls, x);
    collect_side(s, &now, calls, y);
    return ab_effect_difference(x, y, s->n_rounds);
}

static struct ab_effect predict(const struct ab_session *s, double *x, uint32_t backend,
                                uint32_t base, bool is_cold)
{
    const char *field = replay_field(s, is_cold);
    return difference(s, x, (struct side){base, field, false},
                      (struct side){backend, field, false});
}

void ab_program_prediction_of(const struct ab_session *s, uint32_t backend, uint32_t base,
                              struct ab_program_prediction *out)
{
    double *x = ab_alloc_zeroed((size_t)s->n_rounds * 3 + 1, sizeof x[0]);
    out->warm = predict(s, x, backend, base, false);
    out->cold = predict(s, x, backend, base, true);
    out->inside = difference(s, x, (struct side){base, "inside_ns_per_call", false},
                             (struct side){backend, "inside_ns_per_call", false});
    out->outside = difference(s, x, (struct side){base, "outside_ns", true},
                              (struct side){backend, "outside_ns", true});
    out->measured = difference(s, x, (struct side){base, "cpu_ns", true},
                               (struct side){backend, "cpu_ns", true});
    free(x);
}

static bool has_interval(const struct ab_effect *e)
{
    return isfinite(e->low) && isfinite(e->high);
}

/* A prediction agrees with the program if its error is at most this share of the measured
 * difference. */
#define CLOSE_ENOUGH 0.25

/* Returns the range from the warm to the cold replay. Its ratio is the value in this range that is
 * nearest to the measured one. */
static struct ab_effect range_of(const struct ab_program_prediction *x,
                                 const struct ab_effect *measured)
{
    const struct ab_effect *w = &x->warm, *c = &x->cold;
    double low = fmin(w->ratio, c->ratio), high = fmax(w->ratio, c->ratio);
    return (struct ab_effect){.ratio = fmin(fmax(measured->ratio, low), high),
                              .low = fmin(w->low, c->low),
                              .high = fmax(w->high, c->high)};
}

static bool is_close(const struct ab_effect *predicted, const struct ab_effect *measured)
{
    bool is_common = predicted->low <= measured->high && measured->low <= predicted->high;
    return is_common ||
           fabs(predicted->ratio - measured->ratio) <= CLOSE_ENOUGH * fabs(measured->ratio);
}

/* Returns the word that compares the prediction with the measured difference. A measured difference
 * whose interval contains 0 says nothing about the prediction. */
const char *ab_program_prediction_word(const struct ab_program_prediction *x,
                                       const struct ab_effect *measured)
{
    if (!has_interval(&x->warm) || !has_interval(&x->cold) || !has_interval(measured))
        return "-";
    const struct ab_effect predicted = range_of(x, measured);
    if (measured->low <= 0 && measured->high >= 0)
        return "not measurable";
    if (is_close(&predicted, measured))
        return "agrees";
    if (predicted.low <= 0 && predicted.high >= 0)
        return "not predicted";
    return (predicted.ratio > 0) == (measured->ratio > 0) ? "same direction" : "opposite";
}

static int decimals_of(double a, double b)
{
    return fabs(a) < 100 && fabs(b) < 100 ? 1 : 0;
}

/* Writes "-6.2 to -11.2". */
static void range_words(double warm, double cold, bool is_signed, char *buf, size_t cap)
{
    int decimals = decimals_of(warm, cold);
    if (is_signed)
        snprintf(buf, cap, "%+.*f to %+.*f", decimals, warm, decimals, cold);
    else
        snprintf(buf, cap, "%.*f to %.*f", decimals, warm, decimals, cold);
}

/* Puts the prediction, with the interval from the lowest to the highest value that either replay
 * allows. */
static void put_predicted(struct ab_grid *g, unsigned column, const struct ab_program_prediction *x)
{
    char words[80];
    const struct ab_effect both = range_of(x, &x->warm);
    if (!isfinite(x->warm.ratio) || !isfinite(x->cold.ratio)) {
        ab_grid_put(g, column, AB_GRID_COUNT, NAN, NULL);
        return;
    }
    range_words(x->warm.ratio, x->cold.ratio, true, words, sizeof words);
    if (has_interval(&x->warm) && has_interval(&x->cold))
        ab_grid_say(g, column, "%s [%+.*f, %+.*f]", words, decimals_of(both.low, both.high),
                    both.low, decimals_of(both.low, both.high), both.high);
    else
        ab_grid_say(g, column, "%s", words);
}

static void put_difference(struct ab_grid *g, unsigned column, const struct ab_effect *e)
{
    if (!isfinite(e->ratio))
        ab_grid_put(g, column, AB_GRID_COUNT, NAN, NULL);
    else if (!isfinite(e->low) || !isfinite(e->high))
        ab_grid_say(g, column, "%+.1f", e->ratio);
    else
        ab_grid_say(g, column, "%+.1f [%+.1f, %+.1f]", e->ratio, e->low, e->high);
}

static double per_call(const struct ab_session *s, uint32_t backend, const char *field,
                       bool is_by_calls)
{
    double *x = ab_alloc_zeroed((size_t)s->n_rounds * 2 + 1, sizeof x[0]);
    collect_side(s, &(struct side){backend, field, is_by_calls}, x + s->n_rounds, x);
    double ns = median_of(x, s->n_rounds);
    free(x);
    return ns;
}

/* Puts a time per call of the base, to which the differences of the other rows can be added. */
static void put_per_call(struct ab_grid *g, unsigned column, uint32_t backend, const char *field,
                         bool is_by_calls)
{
    double ns = per_call(g->session, backend, field, is_by_calls);
    if (isfinite(ns))
        ab_grid_say(g, column, "%.1f", ns);
    else
        ab_grid_put(g, column, AB_GRID_COUNT, NAN, NULL);
}

enum { REPLAY, INSIDE, OUTSIDE, PROGRAM, PREDICTION };

static void put_replayed(struct ab_grid *g, uint32_t base)
{
    char words[80];
    double warm = per_call(g->session, base, replay_field(g->session, false), false);
    double cold = per_call(g->session, base, replay_field(g->session, true), false);
    range_words(warm, cold, false, words, sizeof words);
    if (isfinite(warm) && isfinite(cold))
        ab_grid_say(g, REPLAY, "%s", words);
    else
        ab_grid_put(g, REPLAY, AB_GRID_COUNT, NAN, NULL);
}

static void put_base(struct ab_grid *g, uint32_t base)
{
    ab_grid_add_backend(g, base);
    put_replayed(g, base);
    put_per_call(g, INSIDE, base, "inside_ns_per_call", false);
    put_per_call(g, OUTSIDE, base, "outside_ns", true);
    put_per_call(g, PROGRAM, base, "cpu_ns", true);
    ab_grid_say(g, PREDICTION, "base");
}

/* Adds the row of a back end. Compares the prediction with the calls in the program or, if they
 * could not be timed, with the whole program. */
static void put_prediction(struct ab_grid *g, uint32_t backend, uint32_t base)
{
    struct ab_program_prediction x;
    ab_program_prediction_of(g->session, backend, base, &x);
    ab_grid_add_backend(g, backend);
    put_predicted(g, REPLAY, &x);
    put_difference(g, INSIDE, &x.inside);
    put_difference(g, OUTSIDE, &x.outside);
    put_difference(g, PROGRAM, &x.measured);
    if (isfinite(x.inside.ratio))
        ab_grid_say(g, PREDICTION, "%s", ab_program_prediction_word(&x, &x.inside));
    else
        ab_grid_say(g, PREDICTION, "%s (program)", ab_program_prediction_word(&x, &x.measured));
}

/* Adds the legend of the table. On pages, the legend includes the column of the whole program. */
static void explain_prediction(struct ab_grid *g, enum ab_surface surface, uint32_t base)
{
    if (surface == AB_TERMINAL)
        ab_view_texts_addf(
            &g->closing, "%s",
            "The time of a call with the base, and how much longer (+) or shorter (-) it is with "
            "the others. replay: as two replays of the trace predict it; the warm one keeps the "
            "allocator in the caches, the cold one runs other code between calls. inside: as "
            "measured in the program. prediction: whether the two agree. Not measurable: the "
            "interval of the measured difference contains 0.");
    else
        ab_view_texts_addf(
            &g->closing,
            "How much longer (+) or shorter (-) a call takes than with %s, with 90 %% intervals. "
            "Replay: as two replays of the trace predict it; the warm one keeps the allocator in "
            "the caches, the cold one runs other code between calls. Inside: as measured in the "
            "program. Program: the CPU time of the whole program, divided by the calls in the "
            "trace. Not measurable: the interval of the difference inside contains 0.",
            ab_backend_label(&g->session->backends[base]));
}

/* Fills the table that compares the program with the replay of its trace: the base, then a row for
 * each other back end. */
bool ab_program_prediction_grid(const struct ab_topic_at *at, struct ab_grid *g)
{
    const struct ab_view *v = at->view;
    const struct ab_view_ranking *r = &v->ranking;
    *g = (struct ab_grid){.session = v->session,
                          .rows_are = "allocator",
                          .columns = {[REPLAY] = {"replay, ns/call", 0, "#replay, warm to cold"},
                                      [INSIDE] = {"inside, ns/call", 0, "#inside"},
                                      [OUTSIDE] = {"outside, ns/call", 2, "#outside"},
                                      [PROGRAM] = {"program, ns/call", 1, "#program"},
                                      [PREDICTION] = {"prediction", 0, "the replay"}},
                          .n_columns = PREDICTION + 1};
    if (r->base == UINT32_MAX || !ab_session_is_exec(v->session) ||
        !ab_program_has_prediction(v->session))
        return false;
    explain_prediction(g, at->surface, r->base);
    ab_grid_heading(g, ab_grid_versus(g, "vs", r->base, 20), "");
    put_base(g, r->base);
    for (uint32_t i = 0; i < r->n_rows; i++)
        if (!r->rows[i].is_base && r->rows[i].standing != AB_VIEW_FAILED)
            put_prediction(g, r->rows[i].backend, r->base);
    return true;
}

/* ---- a section for each metric ---- */

static const struct {
    const char *field, *title;
    bool is_detail; /* True if only --verbose shows it */
} metrics[] = {
    {"wall_ns", "wall time", false},
    {"cpu_ns", "CPU time", false},
    {"user_ns", "user CPU time", true},
    {"system_ns", "system CPU time", true},
    {"resident_peak_bytes", "peak memory", false},
    {"resident_mean_bytes", "mean memory", false},
    {"resident_loaded_bytes", "memory at the end of the load", false},
    {"resident_rested_bytes", "memory after the rest", false},
    {"faults_minor", "minor page faults", false},
    {"faults_major", "major page faults", true},
    {"switches_voluntary", "voluntary context switches", true},
    {"switches_involuntary", "involuntary context switches", true},
    {"run_delay_ns", "waits for a CPU", true},
    {"ready_ns", "start until ready", true},
};

enum { MEDIAN, VERSUS };

struct ab_grid_cell *ab_program_put(struct ab_grid *g, unsigned column,
                                    const struct ab_field *field, double value, const char *why)
{
    double ns = ab_format_ns_of_unit(field->unit);
    enum ab_grid_kind kind = ns > 0                              ? AB_GRID_TIME
                             : strcmp(field->unit, "bytes") == 0 ? AB_GRID_BYTES
                                                                 : AB_GRID_AMOUNT;
    return ab_grid_put(g, column, kind, ns > 0 ? value * ns : value, why);
}

static bool is_wall_time(const struct ab_field *field)
{
    return field->offset == offsetof(struct ab_result, wall_ns);
}

/* True if the ranking already has a column of `field`. */
static bool is_ranked(const struct ab_view *v, const struct ab_field *field)
{
    const struct ab_field *by = v->ranking.subject.metric.field;
    return by == field || (by == ab_metric_run_time.field && is_wall_time(field));
}

static void put_factor(struct ab_grid *g, const struct ab_effect *ratio)
{
    char words[AB_CELL_BYTES], interval[AB_CELL_BYTES];
    if (!isfinite(ratio->ratio)) {
        ab_grid_put(g, VERSUS, AB_GRID_TEXT, NAN, NULL);
        return;
    }
    ab_view_change_words(words, sizeof words, ratio->ratio);
    ab_view_change_interval(interval, sizeof interval, ratio);
    ab_grid_say(g, VERSUS, "%s%.30s%s%.30s", ab_effect_is_clear(ratio) ? "" : "~", words,
                interval[0] == '[' ? " "
                : interval[0] != 0 ? ", "
                                   : "",
                interval);
}

/* Adds a section for a metric. Returns false and adds no rows if no back end has it. */
static bool add_metric(struct ab_grid *g, const struct ab_view *v, const char *title,
                       const struct ab_field *field)
{
    size_t before = g->n_rows;
    bool is_any = false;
    ab_grid_heading(g, title, "");
    for (uint32_t i = 0; i < v->ranking.n_rows; i++) {
        const struct ab_view_rank *rank = &v->ranking.rows[i];
        struct ab_program_value value;
        ab_program_value_of(v->session, rank->backend, v->ranking.base, field, &value);
        is_any = is_any || isfinite(value.median);
        if (rank->standing == AB_VIEW_FAILED)
            continue;
        struct ab_grid_row *row = ab_grid_add_backend(g, rank->backend);
        ab_program_put(g, MEDIAN, field, value.median, NULL);
        if (rank->is_base)
            ab_grid_say(g, VERSUS, "base");
        else
            put_factor(g, &value.ratio);
        if (ab_effect_is_clear(&value.ratio) && field->better != AB_FIELD_NEITHER)
            row->emphasis = (value.ratio.ratio < 1) == (field->better == AB_FIELD_LOWER) ? AB_GOOD
                                                                                         : AB_BAD;
    }
    g->n_rows = is_any ? g->n_rows : before; /* cells of numbers and texts own no memory */
    return is_any;
}

/* True for fields that only a server has, because other programs end by themselves. */
static bool is_of_server(const struct ab_field *field)
{
    return field->offset == offsetof(struct ab_result, ready_ns) ||
           field->offset == offsetof(struct ab_result, resident_loaded_bytes) ||
           field->offset == offsetof(struct ab_result, resident_rested_bytes);
}

static void fill_sections(const struct ab_view *v, bool has_details, struct ab_grid *g)
{
    struct ab_text unknown = {0};
    bool is_compared = v->ranking.base != UINT32_MAX && v->ranking.n_ranked >= 2;
    *g = (struct ab_grid){.session = v->session,
                          .columns = {[MEDIAN] = {ab_grid_median(v->session)}},
                          .n_columns = VERSUS + 1};
    if (is_compared)
        g->columns[VERSUS].title = ab_grid_versus(g, "vs", v->ranking.base, 20);
    for (uint32_t i = 0; i < v->session->n_named; i++)
        if (!is_ranked(v, v->session->named[i]))
            add_metric(g, v, v->session->named[i]->name, v->session->named[i]);
    for (size_t i = 0; i < AB_ARRAY_LEN(metrics); i++) {
        const struct ab_field *field = ab_field_find(metrics[i].field);
        bool is_server = ab_session_is_server(v->session);
        /* the load may have a fixed length, so its time is a detail */
        bool is_detail = metrics[i].is_detail || (is_server && is_wall_time(field));
        const char *title = is_server && is_wall_time(field) ? "time of the load"
                                                             : metrics[i].title;
        if (field == NULL || (is_of_server(field) && !is_server) || is_ranked(v, field) ||
            (is_detail && !has_details) || add_metric(g, v, title, field))
            continue;
        ab_text_addf(&unknown, "%s%s%s", unknown.n > 0 ? ", " : "not known: ", title,
                     strcmp(metrics[i].field, "resident_mean_bytes") == 0
                         ? " (the program is too short to be sampled)"
                         : "");
    }
    if (unknown.n > 0)
        g->note = ab_view_texts_addf(&g->texts, "%s", unknown.s);
    ab_text_fini(&unknown);
}

/* ---- a column for each metric ---- */

static void put_number(struct ab_grid *g, unsigned column, const struct ab_field *field,
                       const struct ab_program_value *value)
{
    char words[96], interval[160];
    const struct ab_effect *ratio = &value->ratio;
    struct ab_grid_cell *cell = ab_program_put(g, column, field, value->median, NULL);
    if (!isfinite(ratio->ratio))
        return;
    cell->below = ab_view_texts_addf(&g->texts, "%s%s", ab_effect_is_clear(ratio) ? "" : "~",
                                     ab_view_change_words(words, sizeof words, ratio->ratio));
    cell->interval = ab_view_texts_addf(&g->texts, "%s",
                                        ab_view_change_interval(interval, sizeof interval, ratio));
}

/* The last OF_SERVER columns are those that only a server has. */
static const struct column {
    const char *field, *title;
} columns[] = {{"wall_ns", "#wall time"},
               {"cpu_ns", "#CPU time"},
               {"resident_peak_bytes", "#peak"},
               {"resident_mean_bytes", "#mean"},
               {"faults_minor", "#minor faults"},
               {"resident_loaded_bytes", "#after load"},
               {"resident_rested_bytes", "#after rest"}};
enum { OF_SERVER = 2 };

static void fill_columns(const struct ab_view *v, struct ab_grid *g)
{
    const struct ab_field *fields[AB_GRID_COLUMNS_MAX];
    const struct ab_session *s = v->session;
    unsigned n = AB_ARRAY_LEN(columns) - (ab_session_is_server(s) ? 0 : OF_SERVER);
    *g = (struct ab_grid){.session = s, .rows_are = "allocator"};
    for (uint32_t i = 0; i < s->n_named && g->n_columns + n < AB_GRID_COLUMNS_MAX; i++) {
        if (is_ranked(v, s->named[i]))
            continue;
        fields[g->n_columns] = s->named[i];
        g->columns[g->n_columns++].in_html = ab_view_texts_addf(&g->texts, "#%s",
                                                                s->named[i]->name);
    }
    for (unsigned c = 0; c < n; c++) {
        const struct ab_field *field = ab_field_find(columns[c].field);
        if (is_ranked(v, field) || (is_wall_time(field) && ab_session_is_server(s)))
            continue;
        fields[g->n_columns] = field;
        g->columns[g->n_columns++].in_html = columns[c].title;
    }
    for (uint32_t i = 0; i < v->ranking.n_rows; i++) {
        const uint32_t backend = v->ranking.rows[i].backend;
        if (!ab_view_shows(s, backend))
            continue;
        ab_grid_add_backend(g, backend)->emphasis = AB_PLAIN;
        for (unsigned c = 0; c < g->n_columns; c++) {
            struct ab_program_value value;
            ab_program_value_of(s, backend, v->ranking.base, fields[c], &value);
            put_number(g, c, fields[c], &value);
        }
    }
}

/* Adds the legend of the columns. */
static void explain_columns(struct ab_grid *g, uint32_t base)
{
    if (base != UINT32_MAX && g->n_rows > 1)
        ab_view_texts_addf(
            &g->closing,
            "Each number is the median of the rounds; below it stands how much it is above or "
            "below that of %s, with the 90 %% interval from pairs of rounds. ~: no clear "
            "difference.",
            ab_backend_label(&g->session->backends[base]));
    else
        ab_view_texts_addf(&g->closing, "Medians of the rounds.");
}

/* Fills the table of the metrics of a program, except the one that the ranking has: sections on
 * terminals, columns elsewhere. Values are medians of the rounds. A factor is the ratio of the two
 * shown medians; its interval comes from pairs of rounds, so that drift of the machine cancels. */
bool ab_program_grid(const struct ab_topic_at *at, struct ab_grid *g)
{
    if (!ab_session_is_exec(at->view->session))
        return false;
    if (at->surface == AB_TERMINAL) {
        fill_sections(at->view, at->is_verbose, g);
        return true;
    }
    fill_columns(at->view, g);
    explain_columns(g, at->view->ranking.base);
    return g->n_rows > 0;
}
