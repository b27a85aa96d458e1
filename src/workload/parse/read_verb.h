/* SPDX-License-Identifier: MIT
 *
 * What read_verb.c (which verb, which sets, sizes) and read_pick.c (which positions, how many)
 * share. Nobody else includes it.
 */
#ifndef AB_WORKLOAD_PARSE_READ_VERB_H
#define AB_WORKLOAD_PARSE_READ_VERB_H

#include "workload/parse/read.h"

#include <string.h>

enum ab_verb_option {
    AB_OPT_AT = 1,
    AB_OPT_ORDER = 2,
    AB_OPT_COUNT = 4,
    AB_OPT_FRACTION = 8,
    AB_OPT_SIZE = 16,
    AB_OPT_ALIGN = 32,
    AB_OPT_TOUCH = 64,
    AB_OPT_DO = 128,
    AB_OPT_FROM = 256,
    AB_OPT_TO = 512,
    AB_OPT_THEN = 1024,
    AB_OPT_INTO = 2048,
    AB_OPT_WITH = 4096,
    AB_OPT_WITH_AT = 8192,
    AB_OPT_MODE = 16384,
};

struct ab_verb_def {
    const char *name;
    unsigned options; /* enum ab_verb_option */
    unsigned kinds;   /* of sets: 1 << enum ab_set_kind */
};

/* A verb while it is read. */
struct verb_reader {
    struct ab_reader *r;
    const struct ab_node *node;
    const struct ab_raw_verb *raw;
    const struct ab_verb_def *def;
    struct ab_verb *v;
};

static const struct ab_limits ab_count_range = {AB_UNIT_COUNT, 1, (UINT64_C(1) << 63) - 1};

static inline struct ab_yaml_field ab_verb_field(const struct verb_reader *vr, const char *key,
                                            const char *text)
{
    return ab_field_of(vr->r, vr->node, key, text);
}

static inline bool ab_is_call(const struct ab_value *v, const char *name)
{
    return v->kind == AB_VALUE_CALL && strlen(name) == v->n_text &&
           memcmp(v->text, name, v->n_text) == 0;
}

#endif
