/* SPDX-License-Identifier: MIT
 *
 * What read_verb.c (which verb, which sets, sizes) and read_pick.c (which positions, how many)
 * share. Nobody else includes it.
 */
#ifndef AB_WORKLOAD_PARSE_READ_VERB_H
#define AB_WORKLOAD_PARSE_READ_VERB_H

#include "workload/parse/read.h"

#include <string.h>

#define AB_OPTION_BIT(p, name, key) AB_OPTION_BIT_##name,
enum { AB_VERB_OPTIONS(AB_OPTION_BIT, ) AB_OPTION_BIT_DO };
#undef AB_OPTION_BIT
#define AB_OPTION_MASK(p, name, key) AB_OPT_##name = 1 << AB_OPTION_BIT_##name,
enum ab_verb_option { AB_VERB_OPTIONS(AB_OPTION_MASK, ) AB_OPT_DO = 1 << AB_OPTION_BIT_DO };
#undef AB_OPTION_MASK

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
