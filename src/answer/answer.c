/* SPDX-License-Identifier: MIT
 *
 * Makes the view of a session. Each part of the view is made when it is first asked for.
 */
#include "answer/answer.h"

#include "answer/headline.h"
#include "answer/latency.h"
#include "answer/memory_view.h"
#include "answer/pictures.h"
#include "answer/ranking.h"
#include "answer/warnings.h"
#include "base/bits.h"
#include "core/alloc.h"
#include "core/median.h"
#include "core/text.h"
#include "core/units_show.h"
#include "result/session.h"
#include "result/shown.h"
#include "stats/compare_drift.h"
#include "stats/pin_groups.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the title ---- */

static const char *plural(uint64_t n)
{
    return n == 1 ? "" : "s";
}

static uint32_t count_shown(const struct ab_session *s)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->n_backends; i++)
        n += s->backends[i].status != AB_BACKEND_ABSENT;
    return n;
}

/* Returns the title for a real program. The setting "output_bytes" exists if the output was the
 * same under all allocators. */
static const char *title_of_program(const struct ab_session *s, struct ab_view_texts *t)
{
    char output[80] = "";
    const char *bytes = ab_session_setting(s, "output_bytes");
    if (bytes != NULL && s->n_results > 0) /* without results, there is no output */
        snprintf(output, sizeof output, ", identical output (%.24s bytes)", AB_SHOWN(64, bytes));
    const uint32_t n_allocators = count_shown(s) / (s->n_programs > 0 ? s->n_programs : 1);
    char programs[24] = "the program";
    if (s->n_programs > 0)
        snprintf(programs, sizeof programs, "%u programs", s->n_programs);
    return ab_view_texts_addf(t, "%s: %s under %u allocator%s%s; %u round%s",
                              AB_SHOWN(2000, s->name),
                              ab_session_is_server(s) ? "the server" : programs, n_allocators,
                              plural(n_allocators), output, s->n_rounds, plural(s->n_rounds));
}

static const char *title_of(const struct ab_session *s, uint64_t n_ops, struct ab_view_texts *t)
{
    char count[AB_CELL_BYTES];
    if (ab_session_is_exec(s))
        return title_of_program(s, t);
    char merged[48] = "";
    if (s->n_parts > 0)
        snprintf(merged, sizeof merged, ", merged from %u results", s->n_parts);
    else if (s->shard.count > 0)
        snprintf(merged, sizeof merged, ", shard %u of %u", s->shard.index, s->shard.count);
    char live[64] = "", combinations[48] = "";
    if (s->n_combinations > 0)
        snprintf(combinations, sizeof combinations, ", %u combinations of values",
                 s->n_combinations);
    if (s->facts.live_peak_bytes != UINT64_MAX)
        snprintf(live, sizeof live, ", up to %s live", AB_BYTES(s->facts.live_peak_bytes));
    char operations[AB_CELL_BYTES + 32] =
        ""; /* empty if the number is unknown: the back ends were refused */
    if (n_ops > 0)
        snprintf(operations, sizeof operations, "%s%s operations, ",
                 s->n_combinations > 0 ? "up to " : "", ab_format_count(count, (double)n_ops));
    return ab_view_texts_addf(t,
                              "%s: %s%u phase%s, %s%u thread%s%s%s; "
                              "%u round%s%s",
                              AB_SHOWN(2000, s->name), operations, s->n_phases, plural(s->n_phases),
                              s->n_combinations > 0 && s->facts.lanes > 1 ? "up to " : "",
                              s->facts.lanes, plural(s->facts.lanes), live, combinations,
                              s->n_rounds, plural(s->n_rounds), merged);
}

/* ---- times by phase ----
 * Makes the matrix of ns per op, and a row for each harness. */

static struct ab_view_time phases_time_of(const struct ab_session *s, uint32_t backend,
                                          const char *phase)
{
    uint32_t base = ab_session_base_of(s, backend);
    struct ab_view_time t = {.ns_per_op = ab_session_ns_per_op(s, backend, phase),
                             .speed = ab_effect_paired(NULL, NULL, 0)};
    if (base != UINT32_MAX && base != backend && ab_backend_is_comparable(&s->backends[backend]))
        t.speed = ab_session_speed(s, backend, base, phase);
    t.vs = ab_view_factor_of(&t.speed);
    if (base != UINT32_MAX && ab_drift_twin(s, backend) == ab_drift_twin(s, base))
        t.vs.is_clear = false;
    t.is_unclear = isfinite(t.speed.ratio) && !t.vs.is_clear;
    t.range_ns = (struct ab_view_span){NAN, NAN};
    return t;
}

static double harness_ns(const struct ab_session *s, uint32_t backend, const char *phase, double *x)
{
    size_t n = 0;
    for (uint32_t i = 0; i < s->n_nulls; i++)
        if (ab_null_is_of(&s->nulls[i], &s->backends[backend]) &&
            strcmp(s->nulls[i].phase, phase) == 0 && isfinite(s->nulls[i].ns_per_op))
            x[n++] = s->nulls[i].ns_per_op;
    return ab_median(x, n);
}

static void add_harness(const struct ab_session *s, uint32_t backend, double *x,
                        struct ab_view_phases *out)
{
    struct ab_view_harness *h = &out->harness[out->n_harness];
    bool is_known = false;
    *h = (struct ab_view_harness){.backend = backend,
                                  .boundary = s->backends[backend].boundary,
                                  .ns_per_op = ab_alloc_zeroed(s->n_phases + 1u, sizeof(double))};
    ab_harness_name(s, backend, h->name);
    for (uint32_t p = 0; p < s->n_phases; p++) {
        h->ns_per_op[p] = harness_ns(s, backend, s->phases[p], x);
        is_known = is_known || isfinite(h->ns_per_op[p]);
    }
    if (is_known)
        out->n_harness++;
    else
        free(h->ns_per_op);
}

/* Adds the harnesses in the order of the boundaries. */
static void add_harnesses(const struct ab_session *s, double *x, struct ab_view_phases *out)
{
    for (uint32_t b = 0; b < s->n_backends; b++)
        out->harness_of[b] = ab_session_harness(s, b);
    for (unsigned i = 0; i < AB_BOUNDARY_COUNT; i++)
        for (uint32_t b = 0; b < s->n_backends; b++)
            if (ab_harness_is_used(s, b) &&
                strcmp(s->backends[b].boundary, ab_boundary_names[i]) == 0)
                add_harness(s, b, x, out);
}

/* Sets the interval of each time in a phase, the number of back ends shown, and the end of the
 * longest bar. The end of an interval counts as at most 3 times its time, so that one wide interval
 * does not make all bars short. */
static void phases_add_ranges(const struct ab_session *s, uint32_t phase,
                              struct ab_view_phases *out)
{
    double *most = &out->phases[phase].most_ns;
    for (uint32_t b = 0; b < s->n_backends; b++) {
        struct ab_view_time *t = &out->times[(size_t)b * s->n_phases + phase];
        double ns = t->ns_per_op.median;
        uint32_t base = ab_session_base_of(s, b);
        if (base != UINT32_MAX && base != b)
            t->range_ns = ab_view_time_range(ab_view_phases_at(out, base, phase)->ns_per_op.median,
                                             &t->speed);
        if (!ab_view_shows(s, b) || !isfinite(ns))
            continue;
        out->phases[phase].n_shown++;
        *most = fmax(*most, isfinite(t->range_ns.high) ? fmin(t->range_ns.high, 3 * ns) : ns);
        *most = fmax(*most, ns);
    }
}

static void phases_fill(const struct ab_session *s, double *x, struct ab_view_phases *out)
{
    for (uint32_t p = 0; p < s->n_phases; p++) {
        out->phases[p] = (struct ab_view_phase){
            s->phases[p], ab_session_phase_ops(s, AB_EVERY_COMBINATION, s->phases[p]), 0};
        for (uint32_t b = 0; b < s->n_backends; b++)
            out->times[(size_t)b * s->n_phases + p] = phases_time_of(s, b, s->phases[p]);
        phases_add_ranges(s, p, out);
    }
    add_harnesses(s, x, out);
}

static void view_phases_make(const struct ab_session *s, struct ab_view_phases *out)
{
    size_t most = s->n_nulls > s->n_results ? s->n_nulls : s->n_results;
    double *x = ab_alloc_zeroed(most + 1, sizeof *x);
    *out = (struct ab_view_phases){.n_phases = s->n_phases, .n_backends = s->n_backends};
    out->phases = ab_alloc_zeroed((size_t)s->n_phases + 1, sizeof *out->phases);
    out->times = ab_alloc_zeroed((size_t)s->n_phases * s->n_backends + 1, sizeof *out->times);
    out->harness = ab_alloc_zeroed(s->n_backends + 1u, sizeof *out->harness);
    out->harness_of = ab_alloc_zeroed(s->n_backends + 1u, sizeof *out->harness_of);
    phases_fill(s, x, out);
    free(x);
}

static void view_phases_fini(struct ab_view_phases *p)
{
    for (unsigned i = 0; i < p->n_harness; i++)
        free(p->harness[i].ns_per_op);
    free(p->harness);
    free(p->harness_of);
    free(p->phases);
    free(p->times);
    *p = (struct ab_view_phases){0};
}

const struct ab_view_time *ab_view_phases_at(const struct ab_view_phases *p, uint32_t backend,
                                             uint32_t phase)
{
    return &p->times[(size_t)backend * p->n_phases + phase];
}

double ab_view_phases_harness(const struct ab_view_phases *p, uint32_t backend, uint32_t phase)
{
    for (unsigned i = 0; i < p->n_harness; i++)
        if (p->harness[i].backend == p->harness_of[backend])
            return p->harness[i].ns_per_op[phase];
    return NAN;
}

/* ---- values of params: finds the rows that belong to one back end ---- */

static void view_by_value_make(const struct ab_session *s, struct ab_view_by_value *out)
{
    *out = (struct ab_view_by_value){.n_values = s->n_combinations};
    out->rows = ab_alloc_zeroed((size_t)s->n_backends * s->n_combinations + 1, sizeof out->rows[0]);
    out->x = ab_alloc_zeroed(s->n_combinations + 1u, sizeof out->x[0]);
    for (uint32_t i = 0; i < s->n_backends && s->n_combinations > 0; i++) {
        if (s->backends[i].combination != 0)
            continue;
        uint32_t *row = &out->rows[(size_t)out->n_names++ * out->n_values];
        for (uint32_t k = 0; k < out->n_values; k++)
            row[k] = UINT32_MAX;
        for (uint32_t b = 0; b < s->n_backends; b++)
            if (s->backends[b].combination < out->n_values && ab_session_row(s, i, b) == b)
                row[s->backends[b].combination] = b;
    }
    bool is_number = true;
    struct ab_format_guard
        guard; /* sets the C locale, because strtod reads numbers in the locale's format */
    ab_format_begin(&guard);
    for (uint32_t k = 0; k < out->n_values; k++) {
        const char *values = s->combinations[k].values, *value = strchr(values, '=');
        out->is_single = strchr(values, ' ') == NULL;
        char *end = NULL;
        out->x[k] = value != NULL ? strtod(value + 1, &end) : NAN;
        is_number = is_number && end != NULL && end != value + 1 && *end == 0;
    }
    ab_format_end(&guard);
    out->is_number = out->is_single && is_number;
}

static void view_by_value_fini(struct ab_view_by_value *b)
{
    free(b->rows);
    free(b->x);
    *b = (struct ab_view_by_value){0};
}

double ab_view_by_value_at(const struct ab_view *v, uint32_t name, uint32_t value,
                           struct ab_by_value_of of)
{
    const struct ab_view_by_value *all = ab_view_by_value(v);
    uint32_t row = all->rows[(size_t)name * all->n_values + value];
    if (row == UINT32_MAX || !ab_session_has_numbers(v->session, row))
        return NAN;
    if (of.what == AB_BY_VALUE_PHASE)
        return ab_view_phases_at(ab_view_phases(v), row, of.phase)->ns_per_op.median;
    const struct ab_view_rank *rank = ab_view_ranking_find(&v->ranking, row);
    if (rank == NULL)
        return NAN;
    return of.what == AB_BY_VALUE_RUN ? rank->figure.median : rank->peak_bytes;
}

/* ---- latency by requested size ----
 * Two sorted lists of the records of back ends that have numbers: one by phase, op, size and back
 * end, the other without the phase. */

struct view_sizes {
    const struct ab_size_class **by_phase, **of_all_phases;
    uint32_t n;
};

typedef int compare_fn(const void *a, const void *b);

static int by_class(const void *a, const void *b)
{
    const struct ab_size_class *x = *(const struct ab_size_class *const *)a;
    const struct ab_size_class *y = *(const struct ab_size_class *const *)b;
    if (x->op != y->op)
        return x->op < y->op ? -1 : 1;
    if (x->log2 != y->log2)
        return x->log2 < y->log2 ? -1 : 1;
    return (x->backend > y->backend) - (x->backend < y->backend);
}

static int by_phase_and_class(const void *a, const void *b)
{
    const struct ab_size_class *x = *(const struct ab_size_class *const *)a;
    const struct ab_size_class *y = *(const struct ab_size_class *const *)b;
    int order = strcmp(x->phase, y->phase);
    return order != 0 ? order : by_class(a, b);
}

/* Returns the index of the first item that is not less than the key. */
static uint32_t find_class(struct ab_view_classes in, struct ab_size_class key, compare_fn *compare)
{
    const struct ab_size_class *const of_key = &key;
    uint32_t low = 0, high = in.n;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (compare(&in.items[middle], &of_key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void view_sizes_make(const struct ab_session *s, struct view_sizes *out)
{
    const size_t most = (size_t)s->n_size_classes + 1;
    *out = (struct view_sizes){.by_phase = ab_alloc(most * sizeof out->by_phase[0]),
                               .of_all_phases = ab_alloc(most * sizeof out->by_phase[0])};
    for (uint32_t i = 0; i < s->n_size_classes; i++)
        if (ab_session_has_numbers(s, s->size_classes[i].backend))
            out->by_phase[out->n++] = &s->size_classes[i];
    memcpy(out->of_all_phases, out->by_phase, out->n * sizeof out->by_phase[0]);
    qsort(out->by_phase, out->n, sizeof out->by_phase[0], by_phase_and_class);
    qsort(out->of_all_phases, out->n, sizeof out->by_phase[0], by_class);
}

static void view_sizes_fini(struct view_sizes *x)
{
    free(x->by_phase);
    free(x->of_all_phases);
}

/* ---- who pins the pages ---- */

static const struct ab_pins_of *pins_at(const struct ab_pins_list *list, uint32_t moment,
                                        uint32_t *n)
{
    const char *at = list->moments[moment];
    uint32_t low = 0, high = list->n;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (strcmp(list->items[middle].pins->at, at) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    for (*n = 0; low + *n < list->n && strcmp(list->items[low + *n].pins->at, at) == 0;)
        ++*n;
    return list->items + low;
}

/* ---- the parts, each made when it is first asked for ---- */

enum part {
    SENTENCES,
    PHASES,
    LATENCY,
    BY_VALUE,
    SLOWEST,
    SLOW_ITERATIONS,
    PICTURES,
    SIZES,
    PINS,
    N_PARTS
};

struct ab_view_parts {
    bool is_made[N_PARTS];
    struct ab_view_sentences sentences;
    struct ab_view_phases phases;
    struct ab_view_latency latency;
    struct ab_view_by_value by_value;
    struct ab_view_slowest slowest, slow_iterations;
    struct ab_view_pictures pictures;
    struct view_sizes sizes;
    struct ab_pins_list pins;
};

/* Returns true the first time that `part` is asked for. The caller then makes the part. */
static bool is_first(struct ab_view_parts *parts, enum part part)
{
    bool is_made = parts->is_made[part];
    parts->is_made[part] = true;
    return !is_made;
}

static void sentences_make(const struct ab_view *v, struct ab_view_sentences *out)
{
    const struct ab_session *s = v->session;
    const struct ab_view_phases *phases = ab_view_phases(v);
    struct ab_format_guard guard;
    uint64_t n_ops = 0;
    ab_format_begin(&guard);
    for (uint32_t p = 0; p < phases->n_phases; p++)
        n_ops += phases->phases[p].n_ops;
    out->title = title_of(s, n_ops, &out->texts);
    ab_view_warnings_make(s, &out->texts, &out->warnings);
    ab_view_headline_make(s, &v->ranking, &out->warnings, &out->texts, &out->headline);
    ab_view_steps_make(s, &out->headline, &v->ranking, &out->texts, &out->next);
    ab_format_end(&guard);
}

const struct ab_view_sentences *ab_view_sentences(const struct ab_view *v)
{
    if (is_first(v->parts, SENTENCES))
        sentences_make(v, &v->parts->sentences);
    return &v->parts->sentences;
}

const struct ab_view_phases *ab_view_phases(const struct ab_view *v)
{
    if (is_first(v->parts, PHASES))
        view_phases_make(v->session, &v->parts->phases);
    return &v->parts->phases;
}

const struct ab_view_latency *ab_view_latency(const struct ab_view *v)
{
    if (is_first(v->parts, LATENCY))
        ab_view_latency_make(v->session, ab_view_slowest(v), &v->parts->latency);
    return &v->parts->latency;
}

const struct ab_view_by_value *ab_view_by_value(const struct ab_view *v)
{
    if (is_first(v->parts, BY_VALUE))
        view_by_value_make(v->session, &v->parts->by_value);
    return &v->parts->by_value;
}

const struct ab_view_slowest *ab_view_slowest(const struct ab_view *v)
{
    if (is_first(v->parts, SLOWEST))
        ab_view_slowest_make(v->session, &v->parts->slowest);
    return &v->parts->slowest;
}

const struct ab_view_slowest *ab_view_slow_iterations(const struct ab_view *v)
{
    if (is_first(v->parts, SLOW_ITERATIONS))
        ab_view_slow_iterations_make(v->session, &v->parts->slow_iterations);
    return &v->parts->slow_iterations;
}

const struct ab_view_pictures *ab_view_pictures(const struct ab_view *v)
{
    if (is_first(v->parts, PICTURES))
        ab_view_pictures_make(v, &v->parts->pictures);
    return &v->parts->pictures;
}

struct ab_view_classes ab_view_sizes(const struct ab_view *v, const char *phase, unsigned op)
{
    const struct view_sizes *all = &v->parts->sizes;
    if (is_first(v->parts, SIZES))
        view_sizes_make(v->session, &v->parts->sizes);
    const struct ab_view_classes in = {phase != NULL ? all->by_phase : all->of_all_phases, all->n};
    compare_fn *compare = phase != NULL ? by_phase_and_class : by_class;
    uint32_t first = find_class(in, (struct ab_size_class){.phase = phase, .op = op}, compare);
    uint32_t end = find_class(in, (struct ab_size_class){.phase = phase, .op = op + 1}, compare);
    return (struct ab_view_classes){in.items + first, end - first};
}

const struct ab_pins_of *ab_view_pins(const struct ab_view *v, uint32_t number, uint32_t *n)
{
    if (is_first(v->parts, PINS))
        ab_pins_list_make(v->session, &v->parts->pins);
    *n = 0;
    return number < v->parts->pins.n_moments ? pins_at(&v->parts->pins, number, n) : NULL;
}

static void parts_free(struct ab_view_parts *p)
{
    ab_view_warnings_fini(&p->sentences.warnings);
    ab_view_texts_fini(&p->sentences.texts);
    view_phases_fini(&p->phases);
    ab_view_latency_fini(&p->latency);
    view_by_value_fini(&p->by_value);
    ab_view_slowest_fini(&p->slowest);
    ab_view_slowest_fini(&p->slow_iterations);
    ab_view_pictures_fini(&p->pictures);
    view_sizes_fini(&p->sizes);
    free(p->pins.moments);
    free(p->pins.items);
    free(p);
}

/* ---- the whole view ---- */

void ab_view_make(const struct ab_session *session, struct ab_view *out)
{
    *out = (struct ab_view){.session = session, .parts = ab_alloc_zeroed(1, sizeof *out->parts)};
    ab_view_memory_make(session, &out->memory);
    ab_view_ranking_make(session, &out->memory, &out->ranking);
}

void ab_view_fini(struct ab_view *v)
{
    ab_view_ranking_fini(&v->ranking);
    ab_view_memory_fini(&v->memory);
    parts_free(v->parts);
    *v = (struct ab_view){0};
}
