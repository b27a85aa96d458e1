/* SPDX-License-Identifier: MIT
 *
 * Typed reading of a JSON document that may be hostile. A node knows its path, so that each error
 * names the place ("results[3].hdr_v2"). The reader keeps the first error. After an error, all
 * functions return something harmless and do nothing, so callers need to check only once, at the
 * end.
 */
#ifndef AB_DOCUMENT_JSON_IN_H
#define AB_DOCUMENT_JSON_IN_H

#include "core/status.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ab_json_reader {
    const char *file; /* name of the file in messages */
    enum ab_status status;
    struct ab_err *err;
};

/* A value and its path. A node must outlive its children, which point to it. `json` is NULL after
 * an error. */
struct ab_json_node {
    json_t *json;
    const struct ab_json_node *parent; /* NULL = the value is the document */
    /* key in the parent; NULL = the value is the item `index` of the array `parent` */
    const char *key;
    size_t index;
};

/* Reads a whole regular file of at most `cap_bytes` into at most `cap_memory` bytes. Syntax errors
 * name line and column. Free the document with ab_json_free. */
enum ab_status ab_json_load(const char *path, size_t cap_bytes, size_t cap_memory, json_t **out,
                            struct ab_err *err);
/* Like ab_json_load, for text in memory; `shown` names it in errors. */
enum ab_status ab_json_parse(const char *text, size_t n, size_t cap_memory, const char *shown,
                             json_t **out, struct ab_err *err);
/* Reads the contents of a regular file of at most `cap_bytes` into a malloc'ed text. */
enum ab_status ab_json_read_file(const char *path, size_t cap_bytes, char **text, size_t *n,
                                 struct ab_err *err);
void ab_json_free(json_t *document);

/* Stores the error "FILE: PATH: …" in the reader, unless it already has one. */
void ab_json_fail(struct ab_json_reader *r, const struct ab_json_node *node, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* Returns a member of an object. Fails if it is missing. */
struct ab_json_node ab_json_member(struct ab_json_reader *r, const struct ab_json_node *parent,
                                   const char *key);
/* Return a member that is an object, or an array. Fail if it is missing or of another type. */
struct ab_json_node ab_json_object(struct ab_json_reader *r, const struct ab_json_node *parent,
                                   const char *key);
struct ab_json_node ab_json_array(struct ab_json_reader *r, const struct ab_json_node *parent,
                                  const char *key);
/* True if the member exists; false after an error. */
bool ab_json_has(const struct ab_json_reader *r, const struct ab_json_node *o, const char *key);
/* True if the member exists and is not null. */
bool ab_json_has_value(const struct ab_json_reader *r, const struct ab_json_node *o,
                       const char *key);

/* Returns the number of items. Fails if there are more than `max`. */
size_t ab_json_count(struct ab_json_reader *r, const struct ab_json_node *array, size_t max);
struct ab_json_node ab_json_item(const struct ab_json_node *array, size_t i);
/* Returns an item of an array. Fails if the item is not an object. */
struct ab_json_node ab_json_item_object(struct ab_json_reader *r, const struct ab_json_node *array,
                                        size_t i);

/* The next functions read the value of a node (…_at), or of the member o[key], which must exist. */

/* Returns a string, which belongs to the document; "" for null. */
const char *ab_json_text_at(struct ab_json_reader *r, const struct ab_json_node *at);
const char *ab_json_text(struct ab_json_reader *r, const struct ab_json_node *o, const char *key);
/* Returns a number; NaN for null. */
double ab_json_number_at(struct ab_json_reader *r, const struct ab_json_node *at);
double ab_json_number(struct ab_json_reader *r, const struct ab_json_node *o, const char *key);
/* Returns a whole number from 0 to max; `unknown` for null. */
uint64_t ab_json_whole_at(struct ab_json_reader *r, const struct ab_json_node *at, uint64_t max,
                          uint64_t unknown);
uint64_t ab_json_whole(struct ab_json_reader *r, const struct ab_json_node *o, const char *key,
                       uint64_t max, uint64_t unknown);
bool ab_json_flag_at(struct ab_json_reader *r, const struct ab_json_node *at);
/* Returns the index of a string in `names`. Fails and returns 0 if it is not one of these. */
size_t ab_json_one_of_at(struct ab_json_reader *r, const struct ab_json_node *at,
                         const char *const *names, size_t n);
size_t ab_json_one_of(struct ab_json_reader *r, const struct ab_json_node *o, const char *key,
                      const char *const *names, size_t n);

#endif
