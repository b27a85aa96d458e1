/* SPDX-License-Identifier: MIT
 *
 * Reads a workload file into valid records, in three steps. parse_schema.c finds wrong keys and
 * shapes, and lets libcyaml load the texts. parse_fields.c reads one text according to its type.
 * parse.c, parse_verb.c and parse_dist.c put the values into the records.
 *
 * The text of a value comes from libcyaml, and its place in the file from the pre-scan
 * (yaml_index.h). An error message says what was found and what is allowed, and reading continues.
 */
#ifndef AB_WORKLOAD_PARSE_H
#define AB_WORKLOAD_PARSE_H

#include "workload/config.h"

#include <string.h>

/* ---- parse_schema.c: keys and texts ---- */

struct ab_schema {
    struct ab_raw_top *top;
    size_t used_bytes; /* bytes that libcyaml has allocated; limited */
};

/* Compares the keys of the tree with the tables and reports every unknown, unsupported or misshapen
 * key. Loads the source into *out, which must be zeroed. Wrong parts are not loaded and are hidden
 * in the tree, so that the other values can still be checked. Returns false if nothing could be
 * loaded; `diag` has the reason. */
bool ab_schema_load(struct ab_tree *tree, struct ab_diag *diag, struct ab_schema *out);
void ab_schema_fini(struct ab_schema *schema);

/* ---- parse_fields.c: single values ---- */

struct ab_reader {
    struct ab_workload *w;
    const struct ab_workload_options *options;
    struct ab_tree *tree;
    struct ab_diag *diag;
    /* index of the value to use, for each parameter that has a list; NULL = use the first values */
    const size_t *chosen;
    /* True if an entry of the list has no usable name. Unknown names are not reported then, because
     * they may mean this entry */
    bool has_nameless_param, has_nameless_size, has_nameless_set;
    uint32_t first_lane, end_lane; /* range of the lanes that execute the body that is being read */
    /* unit of the numbers in a distribution: AB_UNIT_BYTES or AB_UNIT_COUNT */
    enum ab_unit_kind dist_unit;
};

/* One scalar: its node in the tree, and its text as libcyaml loaded it; text NULL = the key is
 * absent. All functions that read a field return false after an error. */
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
/* Returns the field of `key` in a map, whose texts libcyaml loaded into `raw`. */
#define AB_FIELD(r, map, raw, key) ab_field_of(r, map, #key, (raw)->key)

/* Reports an error about the n bytes from `offset` of a field's text. Always returns false. */
bool ab_field_fail(const struct ab_reader *r, const struct ab_yaml_field *f, size_t offset,
                   size_t n, const char *fmt, ...) __attribute__((format(printf, 5, 6)));

/* Report an error about a whole field, or about the bytes that a value was read from. */
#define AB_REFUSE_FIELD(r, f, ...) ab_field_fail(r, f, 0, strlen((f)->text), __VA_ARGS__)
#define AB_REFUSE_VALUE(r, f, v, ...) ab_field_fail(r, f, (v)->offset, (v)->n, __VA_ARGS__)

/* Reports "'key' is missing in WHAT" at the place of the map. Always returns false. */
bool ab_field_missing(const struct ab_reader *r, const struct ab_node *map, const char *key,
                      const char *what);

/* Writes "; did you mean 'NAME'?" with the name that is most similar to `word`; `otherwise` if none
 * is similar. Returns buf, which has AB_SUGGESTION_BYTES. */
enum { AB_SUGGESTION_BYTES = 500 };
const char *ab_suggest(char *buf, const char *word, const char *const *names, size_t n,
                       const char *otherwise);

/* Reads all values of a map whose type is in the table of keys (workload_language.h) into their
 * records. An absent key gets the default of the table. */
bool ab_read_keys(const struct ab_reader *r, enum ab_block_id id, const struct ab_node *map,
                  const void *raw, void *record);
/* Does the same for one key. */
bool ab_read_key(const struct ab_reader *r, const struct ab_key *key, const struct ab_node *map,
                 const void *raw, void *record);

/* Parses the text of a field by the grammar of values.h. Release *value with ab_value_fini(). */
bool ab_field_value(const struct ab_reader *r, const struct ab_yaml_field *f,
                    enum ab_unit_kind unit, struct ab_value *value);

/* Read a number from `value`, as a whole number in `range` or as a real number from min to max.
 * `what` names it in error messages. */
bool ab_field_whole(const struct ab_reader *r, const struct ab_yaml_field *f, const char *what,
                    const struct ab_value *value, struct ab_limits range, uint64_t *out);
bool ab_field_real(const struct ab_reader *r, const struct ab_yaml_field *f, const char *what,
                   const struct ab_value *value, double min, double max, double *out);

/* Writes a number with at most six decimals, as in "0.9". The decimal separator is always a point.
 * x must be at least 0 and below 2^63. Returns buf. */
const char *ab_print_real(char *buf, size_t cap, double x);

bool ab_field_name(const struct ab_reader *r, const struct ab_yaml_field *f,
                   char out[AB_NAME_MAX + 1]);

/* Finds which of the n words or calls `value` is. Any other value is an error. */
bool ab_field_choose(const struct ab_reader *r, const struct ab_yaml_field *f,
                     const struct ab_value *value, const struct ab_word *words, size_t n,
                     unsigned *out);
/* Reads the only argument of a call such as ops(n). `value` must be a call. */
bool ab_field_argument(const struct ab_reader *r, const struct ab_yaml_field *f,
                       const struct ab_value *call, struct ab_limits range, uint64_t *out);

/* Reads a duration, such as 30s. */
bool ab_field_duration(const struct ab_reader *r, const struct ab_yaml_field *f,
                       const struct ab_value *value, uint64_t *ns);

/* Records that the lanes [first, end) use the set. */
static inline void ab_set_add_lanes(struct ab_set_def *set, uint32_t first, uint32_t end)
{
    bool is_first = set->end_lane == 0;
    if (is_first || first < set->first_lane)
        set->first_lane = first;
    if (end > set->end_lane)
        set->end_lane = end;
}

/* ---- parse_dist.c: distributions as they are written; dist.h says what they mean ---- */

/* Reads a distribution, or the name of an entry of `sizes`. Sets *index to its index in w->dists;
 * leaves *index unchanged if the key is absent. */
bool ab_dist_read(struct ab_reader *r, const struct ab_yaml_field *f, size_t *index);

/* Reads a table file of at most `most` bytes from the workload's folder. Returns NULL and sets *out
 * to its malloc'ed text; on failure returns an error message. */
enum { AB_TABLE_BYTES = 1 << 20, AB_MODEL_BYTES = 1 << 26 };
const char *ab_table_read(const struct ab_workload *w, const char *name, size_t most, char **out);

/* Reads `mix:` of an entry of `sizes`. `raw` and `list` have the same items in the same order. */
bool ab_dist_read_mix(struct ab_reader *r, const struct ab_node *list,
                      const struct ab_raw_part *raw, unsigned n, size_t *index);

/* ---- parse_verb.c: `do:` of a role or a verb. The caller owns the result, also on failure ---- */

void ab_read_body(struct ab_reader *r, const struct ab_node *list, const struct ab_raw_verb *raw,
                  unsigned n, struct ab_verb **body, size_t *n_body);

/* ---- parse.c: reads the whole workload into r->w ---- */

void ab_read_workload(struct ab_reader *r, const struct ab_raw_top *raw);

#endif
