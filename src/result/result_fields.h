/* SPDX-License-Identifier: MIT
 *
 * The fields of result_fields.def and memory_fields.def as tables, for code that iterates over all
 * numbers of a result or of a memory record.
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

/* Length of the prefix that the names of a group have, but not its JSON keys. */
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
    const char *name; /* also the CSV metric, and the statistic in gates */
    const char *json_key;
    const char *unit, *doc;
    enum ab_field_group group;
    enum ab_field_type type;
    enum ab_field_better better;
    size_t offset; /* offset of the member in struct ab_result */
};
extern const struct ab_field ab_fields[];
extern const size_t ab_field_count;
/* Returns the field with this name; NULL = none. */
const struct ab_field *ab_field_find(const char *name);

/* Returns the field for a metric that the user defines (exec --metric); its group is PROGRAM. As
 * long as the process lives, a name and direction always give the same field, even in several
 * results. The unit is ns, us, ms, s, bytes or percent if the name ends in one of these, otherwise
 * "number".
 *
 * Returns NULL if there are AB_NAMED_MAX other fields, or if the name is too long, begins with a
 * digit, or has characters other than letters, digits and '_'. */
const struct ab_field *ab_named_field(const char *name, enum ab_field_better better);
/* Returns the field's index in ab_result.named. */
size_t ab_named_slot(const struct ab_field *field);

/* True if the result has a value of this field. A single kind of op has no throughput. Without a
 * tail pass there is no tail, and without timed ops there are no latencies. NaN of an F64 and
 * UINT64_MAX of a U64 mean that there is no value. */
bool ab_field_exists(const struct ab_field *field, const struct ab_result *result);

/* Returns the value as a double. Large values of U64 fields are exact only through ab_field_u64. */
double ab_field_f64(const struct ab_field *field, const struct ab_result *result);
uint64_t ab_field_u64(const struct ab_field *field, const struct ab_result *result);

/* Sets every F64 field of a group (or, in the second function, of all groups) to n/a. */
void ab_fields_forget(struct ab_result *result, enum ab_field_group group);
void ab_fields_forget_all(struct ab_result *result);

/* A number of a record other than a result: of struct ab_memory, or of another kind of metric
 * (stats/metric.h). */
struct ab_number_field {
    const char *name; /* JSON key, CSV metric, gate statistic */
    const char *unit, *doc;
    enum ab_field_better better;
    size_t offset; /* offset of a double in the record; SIZE_MAX = the number is computed */
};
extern const struct ab_number_field ab_memory_fields[];
extern const size_t ab_memory_field_count;

static inline double ab_memory_value(const struct ab_number_field *field,
                                     const struct ab_memory *memory)
{
    return *(const double *)((const char *)memory + field->offset);
}

#endif
