/* SPDX-License-Identifier: MIT
 *
 * Takes the number that an explanation names out of a result, for each back end in the first phase
 * that has it.
 */
#include "cli/help/explain_example.h"

#include "base/bits.h"
#include "core/text.h"
#include "core/units_show.h"
#include "result/session.h"
#include "stats/metric.h"

#include <math.h>
#include <string.h>

enum { BACKENDS_SHOWN = 5 };

struct example {
    const struct ab_session *s;
    char *buf;
    size_t cap;
    unsigned n; /* back ends in it */
};

static void show(char *buf, size_t cap, double value, const char *unit)
{
    char text[32];
    if (strcmp(unit, "ns") == 0)
        snprintf(buf, cap, "%s", ab_units_time(text, sizeof text, value));
    else if (strcmp(unit, "bytes") == 0)
        snprintf(buf, cap, "%s", ab_units_bytes(text, sizeof text, value));
    else if (strcmp(unit, "x live") == 0)
        snprintf(buf, cap, "%.2fx", value);
    else if (strcmp(unit, "percent") == 0)
        snprintf(buf, cap, "%.1f %%", value);
    else
        snprintf(buf, cap, "%s", ab_units_count(text, sizeof text, value));
}

/* `least`: smaller values cannot be told from each other. */
static void add(struct example *x, uint32_t backend, double value, double least, const char *unit)
{
    char shown[48], name[160], entry[240];
    if (isnan(value) || x->n >= BACKENDS_SHOWN)
        return;
    shown[0] = '<';
    show(value < least ? shown + 1 : shown, sizeof shown - 1, value < least ? least : value, unit);
    ab_text_printable(name, sizeof name, x->s->backends[backend].name);
    snprintf(entry, sizeof entry, "%s %s", name, shown);
    ab_text_join(x->buf, x->cap, x->n++ == 0 ? ": " : ", ", entry);
}

/* ---- numbers of the whole session ---- */

static void add_range(struct example *x, const char *what, const char *unit,
                      struct ab_round_range (*of)(const struct ab_session *, uint32_t))
{
    snprintf(x->buf, x->cap, "%s", what);
    for (uint32_t b = 0; b < x->s->n_backends; b++)
        if (ab_backend_is_comparable(&x->s->backends[b]))
            add(x, b, of(x->s, b).median, 0, unit);
    if (x->n == 0)
        x->buf[0] = 0;
}

static void show_quiet(struct example *x)
{
    const struct ab_noise *noise = &x->s->noise;
    if (noise->slices_s > 0)
        snprintf(x->buf, x->cap, "quiet for %.0f %% of the time measured in slices",
                 100 * noise->quiet_s / noise->slices_s);
}

static void show_null(struct example *x)
{
    const struct ab_null_cost *null = x->s->n_nulls > 0 ? &x->s->nulls[0] : NULL;
    if (null != NULL && !isnan(null->ns_per_op))
        snprintf(x->buf, x->cap, "%.2f ns/op in the first round of %.64s, %.16s boundary",
                 null->ns_per_op, AB_SHOWN(65, null->phase), null->boundary);
}

static void show_time(struct example *x, double ns)
{
    if (!isnan(ns))
        snprintf(x->buf, x->cap, "%s", AB_TIME(ns));
}

/* True when it is a fact of the session. */
static bool show_fact(struct example *x, const char *fact)
{
    if (strcmp(fact, "run_time") == 0)
        add_range(x, "whole run", "ns", ab_session_run_time);
    else if (strcmp(fact, "rss_peak") == 0)
        add_range(x, "whole run", "bytes", ab_session_rss_peak);
    else if (strcmp(fact, "floor") == 0)
        show_time(x, ab_session_floor(x->s));
    else if (strcmp(fact, "quantum") == 0)
        show_time(x, x->s->timer.quantum_ns);
    else if (strcmp(fact, "null") == 0)
        show_null(x);
    else if (strcmp(fact, "quiet") == 0)
        show_quiet(x);
    else if (strcmp(fact, "rounds") == 0)
        snprintf(x->buf, x->cap, "%u of %u rounds", x->s->n_rounds, x->s->n_rounds_planned);
    else
        return false;
    return true;
}

/* ---- numbers of a phase ---- */

static const struct ab_field *find_field(const char *name)
{
    for (size_t i = 0; i < ab_field_count; i++)
        if (strcmp(ab_fields[i].name, name) == 0)
            return &ab_fields[i];
    return NULL;
}

static const struct ab_memory_field *find_memory(const char *name)
{
    for (size_t i = 0; i < AB_DRAIN_COUNT; i++)
        if (strcmp(ab_drain_fields[i].name, name) == 0)
            return &ab_drain_fields[i];
    for (size_t i = 0; i < ab_memory_field_count; i++)
        if (strcmp(ab_memory_fields[i].name, name) == 0)
            return &ab_memory_fields[i];
    return NULL;
}

/* "OP/NUMBER", or a number alone: then of all ops, or of the first kind that has it. */
static bool find_metric(const char *example, struct ab_metric *out)
{
    const char *slash = strchr(example, '/'), *name = slash != NULL ? slash + 1 : example;
    size_t n_op = slash != NULL ? (size_t)(slash - example) : 0;
    *out = (struct ab_metric){.op = AB_OP_ALL, .at = AB_AT_FOOTPRINT_PEAK};
    bool is_memory = n_op == strlen("memory") && strncmp(example, "memory", n_op) == 0;
    if (!is_memory && (out->field = find_field(name)) != NULL) {
        for (unsigned op = 0; op <= AB_OP_ALL && n_op > 0; op++)
            if (strlen(ab_result_op_name(op)) == n_op &&
                strncmp(ab_result_op_name(op), example, n_op) == 0)
                out->op = op;
        return true;
    }
    out->memory = find_memory(name);
    if (strncmp(name, "drained_", strlen("drained_")) == 0)
        out->at = AB_AT_END;
    return out->memory != NULL;
}

static void show_phase(struct example *x, struct ab_metric *m, const char *phase)
{
    double least = ab_metric_is_latency(m) ? ab_session_floor(x->s) : 0;
    m->phase = phase;
    snprintf(x->buf, x->cap, "%s in %s", m->field != NULL ? ab_result_op_name(m->op) : "memory",
             AB_SHOWN(160, phase));
    for (uint32_t b = 0; b < x->s->n_backends; b++)
        if (ab_backend_is_comparable(&x->s->backends[b]))
            add(x, b, ab_metric_value(x->s, b, m), least, ab_metric_unit(m));
}

void ab_explain_example(const struct ab_session *s, const struct ab_explanation *e, char *buf,
                        size_t cap)
{
    struct example x = {.s = s, .buf = buf, .cap = cap};
    struct ab_metric m;
    buf[0] = 0;
    if (e->example[0] == 0 || show_fact(&x, e->example) || !find_metric(e->example, &m))
        return;
    /* of a real program the one op is the whole program: a time per op says nothing */
    if (ab_session_is_exec(s) && m.field != NULL && m.field->group != AB_FIELD_PROGRAM &&
        strstr(m.field->name, "per_") != NULL)
        return;
    for (uint32_t i = 0; i < s->n_phases && x.n == 0; i++)
        show_phase(&x, &m, s->phases[i]);
    if (x.n == 0)
        buf[0] = 0;
}
