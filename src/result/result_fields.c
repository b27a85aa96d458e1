/* SPDX-License-Identifier: MIT
 *
 * Expands the two .def files to tables, and reads values by them.
 */
#include "result/result_fields.h"

#include "base/bits.h"

#include <math.h>

const struct ab_field ab_fields[] = {
#define AB_FIELD(g, n, m, t, u, b, s, d) \
    {.name = n, \
     .json_key = AB_FIELD_KEY(g, n), \
     .unit = u, \
     .doc = d, \
     .group = AB_FIELD_##g, \
     .type = AB_FIELD_##t, \
     .better = AB_FIELD_##b, \
     .offset = offsetof(struct ab_result, m)},
#include "result/result_fields.def"
#undef AB_FIELD
};
const size_t ab_field_count = AB_ARRAY_LEN(ab_fields);

const struct ab_memory_field ab_memory_fields[] = {
#define AB_MEMORY_FIELD(n, m, u, b, d) \
    {.name = n, \
     .unit = u, \
     .doc = d, \
     .better = AB_FIELD_##b, \
     .offset = offsetof(struct ab_memory, m)},
#include "result/memory_fields.def"
#undef AB_MEMORY_FIELD
};
const size_t ab_memory_field_count = AB_ARRAY_LEN(ab_memory_fields);

uint64_t ab_field_u64(const struct ab_field *field, const struct ab_result *result)
{
    return *(const uint64_t *)((const char *)result + field->offset);
}

double ab_field_f64(const struct ab_field *field, const struct ab_result *result)
{
    if (field->type == AB_FIELD_U64)
        return (double)ab_field_u64(field, result);
    return *(const double *)((const char *)result + field->offset);
}

bool ab_field_exists(const struct ab_field *field, const struct ab_result *result)
{
    if (field->group == AB_FIELD_ALL && result->op != AB_OP_ALL)
        return false;
    if (field->group == AB_FIELD_TAIL && result->tail_n == 0)
        return false;
    if (field->group == AB_FIELD_PROGRAM && !(result->wall_ns > 0))
        return false;
    return field->type == AB_FIELD_U64 ? ab_field_u64(field, result) != UINT64_MAX
                                       : isfinite(ab_field_f64(field, result));
}

void ab_fields_forget(struct ab_result *result, enum ab_field_group group)
{
    for (size_t i = 0; i < ab_field_count; i++)
        if (ab_fields[i].group == group && ab_fields[i].type == AB_FIELD_F64)
            *(double *)((char *)result + ab_fields[i].offset) = NAN;
}

void ab_fields_forget_all(struct ab_result *result)
{
    for (unsigned group = 0; group < AB_FIELD_GROUP_COUNT; group++)
        ab_fields_forget(result, (enum ab_field_group)group);
}
