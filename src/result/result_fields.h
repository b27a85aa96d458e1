/* SPDX-License-Identifier: MIT
 *
 * result_fields.def and memory_fields.def as tables, for whoever walks over all numbers of a
 * result or of a memory record.
 */
#ifndef AB_RESULT_RESULT_FIELDS_H
#define AB_RESULT_RESULT_FIELDS_H

#include "result/result.h"

#include <stddef.h>

enum ab_field_group {
    AB_FIELD_EACH,
    AB_FIELD_QUANTILE,
    AB_FIELD_ALL,
    AB_FIELD_TAIL,
    AB_FIELD_PROGRAM,
    AB_FIELD_INSIDE,
    AB_FIELD_GROUP_COUNT
};
enum ab_field_type { AB_FIELD_U64, AB_FIELD_F64 };
enum ab_field_better { AB_FIELD_LOWER, AB_FIELD_HIGHER, AB_FIELD_NEITHER };

/* The key in JSON: the name without its group's prefix. */
enum {
    AB_PREFIX_EACH = 0,
    AB_PREFIX_QUANTILE = 0,
    AB_PREFIX_ALL = 0,
    AB_PREFIX_PROGRAM = 0,
    AB_PREFIX_INSIDE = 0,
    AB_PREFIX_TAIL = sizeof "tail_" - 1
};
#define AB_FIELD_KEY(group, name) (&(name)[AB_PREFIX_##group])

struct ab_field {
    const char *name; /* CSV metric, gate statistic */
    const char *json_key;
    const char *unit, *doc;
    enum ab_field_group group;
    enum ab_field_type type;
    enum ab_field_better better;
    size_t offset; /* in struct ab_result */
};
extern const struct ab_field ab_fields[];
extern const size_t ab_field_count;

/* A number that the user names (exec --metric), a field of the group PROGRAM: the same for the same
 * name and direction as long as the process lives, also of several results. Its unit is ns, us, ms, s, bytes or
 * percent where the name ends so, else "number". NULL: there are AB_NAMED_MAX others, or it is more than letters,
 * digits and '_', begins with a digit, or is too long. */
const struct ab_field *ab_named_field(const char *name, enum ab_field_better better);
/* Its index in ab_result.named. */
size_t ab_named_slot(const struct ab_field *field);

/* Does this result have the number at all? Not: throughput of one kind of op, the tail where no
 * tail pass ran, an F64 that is NaN, a U64 that is UINT64_MAX, latencies of nothing. */
bool ab_field_exists(const struct ab_field *field, const struct ab_result *result);

/* Its value; U64 fields are exact through ab_field_u64 only. */
double ab_field_f64(const struct ab_field *field, const struct ab_result *result);
uint64_t ab_field_u64(const struct ab_field *field, const struct ab_result *result);

/* Makes every F64 of a group, or of all, n/a. */
void ab_fields_forget(struct ab_result *result, enum ab_field_group group);
void ab_fields_forget_all(struct ab_result *result);

struct ab_memory_field {
    const char *name; /* JSON key, CSV metric, gate statistic */
    const char *unit, *doc;
    enum ab_field_better better;
    size_t offset; /* of a double in struct ab_memory */
};
extern const struct ab_memory_field ab_memory_fields[];
extern const size_t ab_memory_field_count;

static inline double ab_memory_value(const struct ab_memory_field *field,
                                     const struct ab_memory *memory)
{
    return *(const double *)((const char *)memory + field->offset);
}

#endif
