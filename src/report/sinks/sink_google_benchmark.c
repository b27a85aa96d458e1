/* SPDX-License-Identifier: MIT
 *
 * The JSON of Google Benchmark, as its compare.py reads it: for each phase and each percentile of
 * an op one entry a round, then mean, median, stddev and cv of the rounds. Times are ns an op, of a
 * real program ns from its start to its end. What is not known has no entry: the reader takes neither null nor NaN for a time.
 */
#include "report/sinks/sinks.h"

#include "core/text.h"
#include "report/ci/series.h"
#include "report/format.h"
#include "report/json.h"
#include "stats/aggregate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct document {
    struct ab_json w;
    json_t *list;
    uint32_t n_families;
};

struct point { /* of one round */
    double real, cpu;
    uint64_t n_ops;
    uint32_t round;
};

struct family {
    const char *name;
    uint32_t index, n; /* points */
    struct point *points;
};

static json_t *context(struct ab_json *w, const struct ab_session *s)
{
    json_t *o = json_object(), *load = json_array();
    struct tm tm;
    char date[40] = "", machine[16] = "unknown";
    if (s->start != 0 && gmtime_r(&s->start, &tm) != NULL)
        strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%S+00:00", &tm);
    ab_json_put(w, o, "date", ab_json_string(date));
    if (s->host.fingerprint[0] != 0) /* which machine, not what it is called */
        snprintf(machine, sizeof machine, "%.12s", s->host.fingerprint);
    ab_json_put(w, o, "host_name", ab_json_string(machine));
    ab_json_put(w, o, "executable", ab_json_string("allocbench"));
    ab_json_put(w, o, "num_cpus", ab_json_integer(s->host.cpus_online));
    if (isfinite(s->timer.ns_per_tick) && s->timer.ns_per_tick > 0)
        ab_json_put(w, o, "mhz_per_cpu", ab_json_real(nearbyint(1e3 / s->timer.ns_per_tick)));
    if (s->host.governor[0] != 0)
        ab_json_put(w, o, "cpu_scaling_enabled",
                    json_boolean(strcmp(s->host.governor, "performance") != 0));
    if (s->host.aslr[0] != 0)
        ab_json_put(w, o, "aslr_enabled", json_boolean(strcmp(s->host.aslr, "off") != 0));
    ab_json_put(w, o, "caches", json_array());
    if (isfinite(s->host.load_1min))
        ab_json_append(w, load, ab_json_real(s->host.load_1min));
    ab_json_put(w, o, "load_avg", load);
    ab_json_put(w, o, "library_version",
                ab_json_string(s->tool.version != NULL ? s->tool.version : AB_VERSION));
    ab_json_put(w, o, "library_build_type", ab_json_string("release"));
    ab_json_put(w, o, "json_schema_version", ab_json_integer(1));
    return o;
}

/* What an entry of a round and an aggregate have in common. */
static json_t *begin_entry(struct document *d, const struct ab_session *s, const struct family *f,
                           const char *suffix)
{
    json_t *o = json_object();
    struct ab_text name = {0};
    ab_text_addf(&name, "%s%s", f->name, suffix);
    ab_json_put(&d->w, o, "name", name.s != NULL ? ab_json_string(name.s) : NULL);
    ab_text_fini(&name);
    ab_json_put(&d->w, o, "family_index", ab_json_integer(f->index));
    ab_json_put(&d->w, o, "per_family_instance_index", ab_json_integer(0));
    ab_json_put(&d->w, o, "run_name", ab_json_string(f->name));
    ab_json_put(&d->w, o, "run_type", ab_json_string(*suffix == 0 ? "iteration" : "aggregate"));
    ab_json_put(&d->w, o, "repetitions", ab_json_integer(f->n));
    ab_json_put(&d->w, o, "threads", ab_json_integer(s->facts.lanes));
    return o;
}

static void end_entry(struct document *d, json_t *o, double real, double cpu)
{
    ab_json_put(&d->w, o, "real_time", ab_json_real(real));
    ab_json_put(&d->w, o, "cpu_time", ab_json_real(cpu));
    ab_json_put(&d->w, o, "time_unit", ab_json_string("ns"));
    ab_json_append(&d->w, d->list, o);
}

static void add_points(struct document *d, const struct ab_session *s, const struct family *f)
{
    for (uint32_t i = 0; i < f->n; i++) {
        json_t *o = begin_entry(d, s, f, "");
        ab_json_put(&d->w, o, "repetition_index", ab_json_integer(i));
        ab_json_put(&d->w, o, "iterations", ab_json_integer(f->points[i].n_ops));
        ab_json_put(&d->w, o, "allocbench_round", ab_json_integer(f->points[i].round));
        end_entry(d, o, f->points[i].real, f->points[i].cpu);
    }
}

struct spread {
    double mean, median, sd;
};

static struct spread spread_of(const struct family *f, bool is_cpu)
{
    struct spread x = {0, NAN, 0};
    double *values = calloc(f->n, sizeof *values);
    for (uint32_t i = 0; i < f->n && values != NULL; i++) {
        values[i] = is_cpu ? f->points[i].cpu : f->points[i].real;
        x.mean += values[i] / f->n;
    }
    for (uint32_t i = 0; i < f->n && values != NULL; i++)
        x.sd += (values[i] - x.mean) * (values[i] - x.mean) / (f->n - 1);
    x.sd = sqrt(x.sd);
    if (values != NULL)
        x.median = ab_round_range_of(values, f->n).median;
    free(values);
    return x;
}

static void add_aggregate(struct document *d, const struct ab_session *s, const struct family *f,
                          const char *name, double real, double cpu)
{
    char suffix[16];
    snprintf(suffix, sizeof suffix, "_%s", name);
    json_t *o = begin_entry(d, s, f, suffix);
    ab_json_put(&d->w, o, "aggregate_name", ab_json_string(name));
    ab_json_put(&d->w, o, "aggregate_unit",
                ab_json_string(strcmp(name, "cv") == 0 ? "percentage" : "time"));
    ab_json_put(&d->w, o, "iterations", ab_json_integer(f->n));
    end_entry(d, o, real, cpu);
}

static void add_family(struct document *d, const struct ab_session *s, const struct family *f)
{
    add_points(d, s, f);
    if (f->n < 2)
        return;
    struct spread real = spread_of(f, false), cpu = spread_of(f, true);
    d->w.is_short_of_memory |= isnan(real.median) || isnan(cpu.median);
    add_aggregate(d, s, f, "mean", real.mean, cpu.mean);
    add_aggregate(d, s, f, "median", real.median, cpu.median);
    add_aggregate(d, s, f, "stddev", real.sd, cpu.sd);
    if (real.mean > 0 && cpu.mean > 0)
        add_aggregate(d, s, f, "cv", real.sd / real.mean, cpu.sd / cpu.mean);
}

/* Of a phase the wall time and the CPU time an op; of a real program those of the whole of it; of a
 * percentile the same number twice: nothing else was timed. */
static struct point point_of(const struct ab_session *s, const struct ab_series *x, uint32_t round)
{
    struct point p = {ab_series_of_round(s, x, round), NAN, 1, round};
    const struct ab_result *r = ab_session_find(s, x->backend, x->metric.phase, x->metric.op,
                                                round);
    if (strcmp(x->name, "wall_ns") == 0) {
        p.cpu = r != NULL ? r->cpu_ns : (double)NAN;
    } else if (x->metric.op == AB_OP_ALL && r != NULL) {
        p.real = isfinite(r->wall_ns_per_op) ? r->wall_ns_per_op : r->ns_per_op;
        p.cpu = r->cpu_ns_per_op;
        p.n_ops = r->n_ops;
    } else if (r != NULL) {
        p.cpu = p.real;
        p.n_ops = r->n;
    }
    return p;
}

static void add_series(const struct ab_session *s, const struct ab_series *x, void *user)
{
    struct document *d = user;
    struct family f = {.index = d->n_families};
    struct ab_text name = {0};
    bool is_phase = x->metric.op == AB_OP_ALL;
    bool is_time = strcmp(x->name, "ns_per_op") == 0 || strcmp(x->name, "wall_ns") == 0;
    if (x->metric.memory != NULL || (is_phase && !is_time))
        return;
    ab_text_addf(&name, "%s/%s", s->backends[x->backend].name, x->metric.phase);
    if (!is_phase)
        ab_text_addf(&name, "/%s/%s", x->place, x->name);
    f.name = name.s;
    f.points = calloc((size_t)s->n_rounds + 1, sizeof f.points[0]);
    for (uint32_t i = 0; i < s->n_rounds && f.points != NULL; i++) {
        struct point p = point_of(s, x, s->rounds[i].index);
        if (isfinite(p.real) && isfinite(p.cpu))
            f.points[f.n++] = p;
    }
    d->w.is_short_of_memory |= f.points == NULL || f.name == NULL;
    if (f.n > 0 && f.name != NULL) {
        add_family(d, s, &f);
        d->n_families++;
    }
    free(f.points);
    ab_text_fini(&name);
}

bool ab_sink_google_benchmark(FILE *to, const struct ab_session *session)
{
    struct document d = {.list = json_array()};
    struct ab_format_guard guard;
    json_t *o = json_object();
    ab_format_begin(&guard);
    ab_json_put(&d.w, o, "context", context(&d.w, session));
    ab_series_each(session, add_series, &d);
    ab_json_put(&d.w, o, "benchmarks", d.list);
    bool ok = ab_json_write(&d.w, o, to, 12);
    ab_format_end(&guard);
    return ok;
}
