/* SPDX-License-Identifier: MIT
 *
 * The fields, and their values from the merged histograms of all rounds.
 */
#include "stats/metric_dist.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STAT(metric, u, d, stat) \
    { \
        .name = metric "." stat, .unit = u, .doc = d, .better = AB_FIELD_LOWER, .offset = SIZE_MAX \
    }
const struct ab_memory_field ab_dist_fields[AB_DIST_FIELDS] = {
#define AB_MEMORY_DIST(id, n, u, s, d) \
    STAT(n, u, d, "p50"), STAT(n, u, d, "p90"), STAT(n, u, d, "p99"), STAT(n, u, d, "max"),
#include "result/memory_dists.def"
#undef AB_MEMORY_DIST
};

const char *const ab_dist_short_names[AB_DIST_SHORT] = {
    "overhead.p50", "overhead.p90", "overhead.p99", "overhead.max", "internal.p50", "internal.p90",
    "internal.p99", "internal.max", "external.p50", "external.p90", "external.p99", "external.max",
    "retained.p50", "retained.p90", "retained.p99", "retained.max",
};

bool ab_metric_is_dist(const struct ab_metric *m)
{
    return m->memory >= ab_dist_fields && m->memory < ab_dist_fields + AB_DIST_FIELDS;
}

/* "external.p99" of "external_ratio.p99", where `suffix` is "_ratio". */
static bool is_short(const char *name, size_t n, const char *whole, const char *suffix)
{
    const char *dot = strchr(whole, '.');
    size_t n_suffix = strlen(suffix), head = (size_t)(dot - whole);
    if (head <= n_suffix || memcmp(dot - n_suffix, suffix, n_suffix) != 0)
        return false;
    head -= n_suffix;
    return n == head + strlen(dot) && memcmp(name, whole, head) == 0 &&
           memcmp(name + head, dot, n - head) == 0;
}

const struct ab_memory_field *ab_dist_field_find(const char *name, size_t n, bool is_in_bytes)
{
    for (unsigned i = 0; i < AB_DIST_FIELDS; i++) {
        const char *whole = ab_dist_fields[i].name;
        if ((n == strlen(whole) && memcmp(name, whole, n) == 0) ||
            is_short(name, n, whole, is_in_bytes ? "_bytes" : "_ratio"))
            return &ab_dist_fields[i];
    }
    return NULL;
}

bool ab_session_merge_dist(const struct ab_session *s, uint32_t backend, const char *phase,
                           enum ab_memory_dist_kind kind, uint32_t round,
                           struct ab_memory_dist *out)
{
    bool is_any = false;
    *out = (struct ab_memory_dist){
        .backend = backend, .phase = phase, .kind = kind, .hdr = ab_memory_dist_histogram()};
    for (uint32_t i = 0; i < s->n_dists && out->hdr != NULL; i++) {
        const struct ab_memory_dist *d = &s->dists[i];
        if (d->backend != backend || d->kind != kind || strcmp(d->phase, phase) != 0 ||
            (round != AB_DIST_ALL_ROUNDS && d->round != round))
            continue;
        is_any = true;
        out->n_ops += d->n_ops;
        out->n_samples += d->n_samples;
        if (d->hdr != NULL)
            ab_hdr_merge(out->hdr, d->hdr);
        if (out->reason[0] == 0)
            memcpy(out->reason, d->reason, sizeof out->reason);
    }
    if (!is_any) {
        free(out->hdr);
        out->hdr = NULL;
    }
    return is_any;
}

static bool find(const struct ab_session *s, uint32_t backend, const struct ab_metric *m,
                 uint32_t round, struct ab_memory_dist *out)
{
    size_t i = (size_t)(m->memory - ab_dist_fields);
    return ab_session_has_numbers(s, backend) &&
           ab_session_merge_dist(s, backend, m->phase,
                                 (enum ab_memory_dist_kind)(i / AB_DIST_STATS), round, out);
}

double ab_metric_dist_value(const struct ab_session *s, uint32_t backend, const struct ab_metric *m,
                            uint32_t round)
{
    struct ab_memory_dist d;
    if (!find(s, backend, m, round, &d))
        return NAN;
    double value = ab_memory_dist_value(&d, (unsigned)(m->memory - ab_dist_fields) % AB_DIST_STATS);
    free(d.hdr);
    return value;
}

void ab_metric_dist_why(const struct ab_session *s, uint32_t backend, const struct ab_metric *m,
                        char *buf, size_t cap)
{
    struct ab_memory_dist d;
    if (!find(s, backend, m, AB_DIST_ALL_ROUNDS, &d)) {
        snprintf(buf, cap, "memory over the ops was not measured");
        return;
    }
    ab_memory_dist_why(&d, (unsigned)(m->memory - ab_dist_fields) % AB_DIST_STATS, buf, cap);
    free(d.hdr);
}
