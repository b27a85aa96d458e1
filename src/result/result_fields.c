/* SPDX-License-Identifier: MIT
 *
 * Expands the two .def files to tables, and reads values through them.
 */
#include "result/result_fields.h"

#include "base/bits.h"
#include "core/text.h"
#include "result/numbers.h"

#include <math.h>
#include <string.h>

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

const struct ab_field *ab_field_find(const char *name)
{
    for (size_t i = 0; i < ab_field_count; i++)
        if (strcmp(ab_fields[i].name, name) == 0)
            return &ab_fields[i];
    return NULL;
}

static struct ab_field named[AB_NAMED_MAX];
static char names[AB_NAMED_MAX][AB_NAMED_BYTES];
static size_t n_named;

/* True for names like "requests_per_s", whose unit is not a time. */
static bool is_rate(const char *name)
{
    return strstr(name, "_per_") != NULL;
}

static const char *unit_of_name(const char *name)
{
    static const char *const units[] = {"ns", "us", "ms", "s", "bytes", "percent"};
    const char *last = strrchr(name, '_');
    for (size_t i = 0; last != NULL && i < AB_ARRAY_LEN(units); i++)
        if (strcmp(last + 1, units[i]) == 0)
            return is_rate(name) ? "number" : units[i];
    return "number";
}

static bool is_name(const char *name)
{
    static const char digits[] = "0123456789",
                      letters[] = "_abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
    size_t n = strspn(name, letters);
    return n > 0 && name[n] == 0 && strchr(digits, name[0]) == NULL && n < AB_NAMED_BYTES;
}

const struct ab_field *ab_named_field(const char *name, enum ab_field_better better)
{
    for (size_t i = 0; i < n_named; i++)
        if (strcmp(names[i], name) == 0 && named[i].better == better)
            return &named[i];
    if (n_named == AB_NAMED_MAX || !is_name(name))
        return NULL;
    AB_COPY(names[n_named], name);
    named[n_named] = (struct ab_field){.name = names[n_named],
                                       .json_key = names[n_named],
                                       .unit = unit_of_name(name),
                                       .doc = "printed by the load",
                                       .group = AB_FIELD_PROGRAM,
                                       .type = AB_FIELD_F64,
                                       .better = better,
                                       .offset = offsetof(struct ab_result, named) +
                                                 n_named * sizeof(double)};
    return &named[n_named++];
}

size_t ab_named_slot(const struct ab_field *field)
{
    return (size_t)(field - named);
}

const struct ab_number_field ab_memory_fields[] = {
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
    if (field->group == AB_FIELD_INSIDE && !(result->n_calls > 0))
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
    for (size_t i = 0; group == AB_FIELD_PROGRAM && i < AB_NAMED_MAX; i++)
        result->named[i] = NAN;
}

void ab_fields_forget_all(struct ab_result *result)
{
    for (unsigned group = 0; group < AB_FIELD_GROUP_COUNT; group++)
        ab_fields_forget(result, (enum ab_field_group)group);
}
