/* SPDX-License-Identifier: MIT
 *
 * Percentiles of memory over the ops of a phase as metrics: fields as those of memory records, but
 * their values come from distributions.
 */
#ifndef AB_STATS_METRIC_DIST_H
#define AB_STATS_METRIC_DIST_H

#include "result/memory_dist.h"
#include "stats/metric.h"

/* "external_ratio.p99" …: field i is number i % AB_DIST_STATS of kind i / AB_DIST_STATS. Their
 * offsets are in no record. */
enum { AB_DIST_FIELDS = AB_DIST_COUNT * AB_DIST_STATS };
extern const struct ab_memory_field ab_dist_fields[AB_DIST_FIELDS];

/* As gates are meant to write them. */
enum { AB_DIST_SHORT = 4 * AB_DIST_STATS };
extern const char *const ab_dist_short_names[AB_DIST_SHORT];

bool ab_metric_is_dist(const struct ab_metric *m);

/* The field of this name; "_ratio" may be left out, and with `is_in_bytes` "_bytes". NULL = none. */
const struct ab_memory_field *ab_dist_field_find(const char *name, size_t n, bool is_in_bytes);

/* All rounds as one, or one round; the caller frees out->hdr. False when there is none. */
#define AB_DIST_ALL_ROUNDS UINT32_MAX
bool ab_session_merge_dist(const struct ab_session *s, uint32_t backend, const char *phase,
                           enum ab_memory_dist_kind kind, uint32_t round,
                           struct ab_memory_dist *out);

/* Returns the value of one round or of all; NaN = n/a. */
double ab_metric_dist_value(const struct ab_session *s, uint32_t backend, const struct ab_metric *m,
                            uint32_t round);
void ab_metric_dist_why(const struct ab_session *s, uint32_t backend, const struct ab_metric *m,
                        char *buf, size_t cap);

#endif
