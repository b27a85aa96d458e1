/* SPDX-License-Identifier: MIT
 *
 * What read_verb.c (which verb, which sets, sizes) and read_pick.c (which positions, how many)
 * share. Private to these two.
 */
#ifndef AB_WORKLOAD_PARSE_READ_VERB_H
#define AB_WORKLOAD_PARSE_READ_VERB_H

#include "workload/parse/read.h"

#include <string.h>

/* A verb while it is read. */
struct verb_reader {
    struct ab_reader *r;
    const struct ab_node *node, *verb; /* the entry; the value of its verb */
    const struct ab_raw_verb *raw;
    const struct ab_verb_def *def;
    struct ab_verb *v;
    bool has_set; /* false: v->set says nothing */
};

/* The field of an option, absent where the entry has none. */
#define AB_VERB_FIELD(vr, key) ab_field_of((vr)->r, (vr)->node, #key, (vr)->raw->key)

static const struct ab_limits ab_count_range = {AB_UNIT_COUNT, 1, (UINT64_C(1) << 63) - 1};

#endif
