/* SPDX-License-Identifier: MIT
 *
 * Reads a file into valid records, in three steps. parse_schema.c finds wrong keys and shapes, and
 * lets libcyaml load the texts. parse_fields.c reads a text by its type. parse.c, parse_verb.c and
 * parse_dist.c put the values into the records. A value's text comes from libcyaml and its place
 * from the pre-scan. An error says what was found and what is allowed, and reading continues.
 */
#ifndef AB_WORKLOAD_PARSE_H
#define AB_WORKLOAD_PARSE_H

#include "workload/config.h"

#include <string.h>

/* ---- parse_schema.c: keys and texts ---- */

struct ab_schema {
    struct ab_raw_top *top;
    size_t used_bytes; /* memory of the loader, which has a limit */
};

/* Compares the tree with the tables, reports every unknown, unsupported or misshapen key, and loads
 * the source into a zeroed schema. Wrong parts are left out there and hidden in the tree, so that
 * later values are checked as well. Returns false if there is nothing to read; diag says why. */
bool ab_schema_load(struct ab_tree *tree, struct ab_diag *diag, struct ab_schema *out);
void ab_schema_fini(struct ab_schema *schema);

/* ---- parse_fields.c: single values ---- */

struct ab_reader {
    struct ab_workload *w;
    const struct ab_workload_options *options;
    struct ab_tree *tree;
    struct ab_diag *diag;
    const size_t *chosen; /* by parameter: index of the value to use; NULL = the first of each */
    /* an entry without a usable name was found. Unknown names may be a consequence, so they are not
     * reported */
    bool has_nameless_param, has_nameless_size, has_nameless_set;
    uint32_t first_lane, end_lane; /* lanes that run the body which is read now */
    enum ab_unit_kind dist_unit;   /* unit of the results of a distribution: BYTES or COUNT */
};

/* One scalar: its node, and its text from libcyaml; NULL = absent. All readers accept an absent
 * field and then leave the result unchanged. Each returns false after an error. */
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
/* Returns the field of a key of a map that libcyaml loaded into `raw`. */
#define AB_FIELD(r, map, raw, key) ab_field_of(r, map, #key, (raw)->key)

/* Reports an error about bytes [offset, offset + n) of a field. Always returns false. */
bool ab_field_fail(const struct ab_reader *r, const struct ab_yaml_field *f, size_t offset,
                   size_t n, const char *fmt, ...) __attribute__((format(printf, 5, 6)));

/* Report an error about a whole field, or about the bytes that a value was read from. */
#define AB_REFUSE_FIELD(r, f, ...) ab_field_fail(r, f, 0, strlen((f)->text), __VA_ARGS__)
#define AB_REFUSE_VALUE(r, f, v, ...) ab_field_fail(r, f, (v)->offset, (v)->n, __VA_ARGS__)

/* Reports "'key' is missing in WHAT" at the map. Always returns false. */
bool ab_field_missing(const struct ab_reader *r, const struct ab_node *map, const char *key,
                      const char *what);

/* Writes "; did you mean 'NAME'?" with the most similar of n names, or `otherwise` if none is
 * similar. Returns buf, which needs AB_SUGGESTION_BYTES. */
enum { AB_SUGGESTION_BYTES = 500 };
const char *ab_suggest(char *buf, const char *word, const char *const *names, size_t n,
                       const char *otherwise);

/* Reads all values of a map whose type is in the table of keys into their records. Absent ones get
 * the defaults of the table. */
bool ab_read_keys(const struct ab_reader *r, enum ab_block_id id, const struct ab_node *map,
                  const void *raw, void *record);
/* Reads one of these values. */
bool ab_read_key(const struct ab_reader *r, const struct ab_key *key, const struct ab_node *map,
                 const void *raw, void *record);

/* Parses a field by the grammar of values.h. Free *value with ab_value_fini. */
bool ab_field_value(const struct ab_reader *r, const struct ab_yaml_field *f,
                    enum ab_unit_kind unit, struct ab_value *value);

/* Read the part of a value that `what` names, as a whole number in range or as a real number. */
bool ab_field_whole(const struct ab_reader *r, const struct ab_yaml_field *f, const char *what,
                    const struct ab_value *value, struct ab_limits range, uint64_t *out);
bool ab_field_real(const struct ab_reader *r, const struct ab_yaml_field *f, const char *what,
                   const struct ab_value *value, double min, double max, double *out);

/* Prints a number with at most six decimals, "0.9", without the locale's comma. 0 <= x < 2^63.
 * Returns buf. */
const char *ab_print_real(char *buf, size_t cap, double x);

bool ab_field_name(const struct ab_reader *r, const struct ab_yaml_field *f,
                   char out[AB_NAME_MAX + 1]);

/* Finds which of n words or calls a value is. */
bool ab_field_choose(const struct ab_reader *r, const struct ab_yaml_field *f,
                     const struct ab_value *value, const struct ab_word *words, size_t n,
                     unsigned *out);
/* Reads the only argument of a call such as ops(n). The caller has checked that it is a call. */
bool ab_field_argument(const struct ab_reader *r, const struct ab_yaml_field *f,
                       const struct ab_value *call, struct ab_limits range, uint64_t *out);

/* Reads a duration, such as 30s. */
bool ab_field_duration(const struct ab_reader *r, const struct ab_yaml_field *f,
                       const struct ab_value *value, uint64_t *ns);

/* Records that lanes [first, end) use the set. */
static inline void ab_set_add_lanes(struct ab_set_def *set, uint32_t first, uint32_t end)
{
    bool is_first = set->end_lane == 0;
    if (is_first || first < set->first_lane)
        set->first_lane = first;
    if (end > set->end_lane)
        set->end_lane = end;
}

/* ---- parse_dist.c: distributions as they are written; dist.h says what they mean ---- */

/* Reads a distribution, or the name of one of `sizes`. *index receives its index in w->dists. */
bool ab_dist_read(struct ab_reader *r, const struct ab_yaml_field *f, size_t *index);

/* Reads a table beside the workload, of at most `most` bytes. Returns NULL and sets *out to its
 * malloc'ed text; on failure returns a message. */
enum { AB_TABLE_BYTES = 1 << 20, AB_MODEL_BYTES = 1 << 26 };
const char *ab_table_read(const struct ab_workload *w, const char *name, size_t most, char **out);

/* Reads `mix:` of a size. The items of `raw` correspond to those of `list`. */
bool ab_dist_read_mix(struct ab_reader *r, const struct ab_node *list,
                      const struct ab_raw_part *raw, unsigned n, size_t *index);

/* ---- parse_verb.c: `do:` of a role or a verb. The caller owns the result, also on failure ---- */

void ab_read_body(struct ab_reader *r, const struct ab_node *list, const struct ab_raw_verb *raw,
                  unsigned n, struct ab_verb **body, size_t *n_body);

/* ---- parse.c: reads the whole workload into r->w ---- */

void ab_read_workload(struct ab_reader *r, const struct ab_raw_top *raw);

#endif
