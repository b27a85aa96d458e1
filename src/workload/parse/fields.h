/* SPDX-License-Identifier: MIT
 *
 * Readers of single fields: text from libcyaml, place from the pre-scan, result or an error that
 * says what was found and what is allowed. An absent field (text NULL) is fine and leaves the
 * result as it was. Each returns false after an error.
 */
#ifndef AB_WORKLOAD_PARSE_FIELDS_H
#define AB_WORKLOAD_PARSE_FIELDS_H

#include "workload/config.h"
#include "workload/parse/yaml_index.h"

#include <string.h>

struct ab_reader {
    struct ab_workload *w;
    struct ab_tree *tree;
    struct ab_diag *diag;
    /* an entry without a usable name was met: unknown names may be its fault, and are not errors
     * of their own */
    bool has_nameless_param, has_nameless_size, has_nameless_set;
    uint32_t first_lane, end_lane; /* that carry out the body which is read now */
};

/* One scalar: its node and what libcyaml read; text NULL = absent. */
struct ab_yaml_field {
    const struct ab_node *node;
    const char *text;
};

struct ab_limits {
    enum ab_unit_kind unit; /* COUNT or BYTES */
    uint64_t min, max;
};

struct ab_yaml_field ab_field_of(const struct ab_reader *r, const struct ab_node *map,
                                 const char *key, const char *text);

/* An error about bytes [offset, offset + n) of a field; always false. */
bool ab_field_fail(const struct ab_reader *r, const struct ab_yaml_field *f, size_t offset,
                   size_t n, const char *fmt, ...) __attribute__((format(printf, 5, 6)));

/* The same about all of a field, and about the bytes that a value was read from. */
#define AB_REFUSE_FIELD(r, f, ...) ab_field_fail(r, f, 0, strlen((f)->text), __VA_ARGS__)
#define AB_REFUSE_VALUE(r, f, v, ...) ab_field_fail(r, f, (v)->offset, (v)->n, __VA_ARGS__)

/* "'key' is missing in WHAT" at the map; always false. */
bool ab_field_missing(const struct ab_reader *r, const struct ab_node *map, const char *key,
                      const char *what);

/* Reads by the grammar of values.h; *value must go through ab_value_fini. */
bool ab_field_value(const struct ab_reader *r, const struct ab_yaml_field *f,
                    enum ab_unit_kind unit, struct ab_value *value);

/* The part of a value that `what` names, as a whole number in range or a real one. */
bool ab_field_whole(const struct ab_reader *r, const struct ab_yaml_field *f, const char *what,
                    const struct ab_value *value, struct ab_limits range, uint64_t *out);
bool ab_field_real(const struct ab_reader *r, const struct ab_yaml_field *f, const char *what,
                   const struct ab_value *value, double min, double max, double *out);

/* "0.9": at most six decimals, never the locale's comma. 0 <= x < 2^63. Returns buf. */
const char *ab_print_real(char *buf, size_t cap, double x);

/* Whole fields. */
bool ab_field_number(const struct ab_reader *r, const struct ab_yaml_field *f,
                     struct ab_limits range, uint64_t *out);
bool ab_field_name(const struct ab_reader *r, const struct ab_yaml_field *f,
                   char out[AB_NAME_MAX + 1]);
bool ab_field_bool(const struct ab_reader *r, const struct ab_yaml_field *f, bool *out);

/* One word of a list that ends with NULL; `later` as below. *index says which one. */
bool ab_field_word(const struct ab_reader *r, const struct ab_yaml_field *f,
                   const char *const *words, const char *const *later, unsigned *index);

/* The only argument of a call such as ops(n); the caller has checked that it is a call. */
bool ab_field_argument(const struct ab_reader *r, const struct ab_yaml_field *f,
                       const struct ab_value *call, struct ab_limits range, uint64_t *out);

/* The message for a value that is none of the words or calls of a table. `later` (may be NULL)
 * lists what the language has and this version has not; both end with NULL; "ops(n)" counts as
 * the word "ops". Always false. */
bool ab_field_not_in(const struct ab_reader *r, const struct ab_yaml_field *f,
                     const struct ab_value *value, const char *const *allowed,
                     const char *const *later);

#endif
