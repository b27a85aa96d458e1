/* SPDX-License-Identifier: MIT
 *
 * Distributions as they are written: names, arguments, limits, with their errors. dist.h says
 * what they mean and draws from them.
 */
#ifndef AB_WORKLOAD_PARSE_DIST_READ_H
#define AB_WORKLOAD_PARSE_DIST_READ_H

#include "workload/parse/fields.h"
#include "workload/parse/schema.h"

/* Reads a distribution or the name of one of `sizes`; *index says where it is in w->dists. */
bool ab_dist_read(struct ab_reader *r, const struct ab_yaml_field *f, size_t *index);

/* Reads `mix:` of a size; `raw` and the items of `list` go side by side. */
bool ab_dist_read_mix(struct ab_reader *r, const struct ab_node *list,
                      const struct ab_raw_part *raw, unsigned n, size_t *index);

#endif
