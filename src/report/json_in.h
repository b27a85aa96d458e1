/* SPDX-License-Identifier: MIT
 *
 * Typed reading of a JSON document that may be hostile. A node knows the way to it, so that each
 * error names the place ("results[3].hdr_v2"). The first error sticks in the reader: after it all
 * functions return something harmless and do nothing, and callers ask once, at the end.
 */
#ifndef AB_REPORT_JSON_IN_H
#define AB_REPORT_JSON_IN_H

#include "core/status.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ab_json_reader {
    const char *file; /* for messages */
    enum ab_status status;
    struct ab_err *err;
};

/* A value and the way to it; parents outlive their children on the stack. `json` is NULL where an
 * error has stuck. */
struct ab_json_node {
    json_t *json;
    const struct ab_json_node *parent; /* NULL: the document */
    const char *key;                   /* in the parent; NULL: the item `index` of an array */
    size_t index;
};

/* Reads a whole regular file, at most `cap_bytes` of it, into at most `cap_memory` bytes. Syntax
 * errors tell line and column. Free it with ab_json_free. */
enum ab_status ab_json_load(const char *path, size_t cap_bytes, size_t cap_memory, json_t **out,
                            struct ab_err *err);
/* ab_json_load of text in memory; `shown` names it in errors. */
enum ab_status ab_json_parse(const char *text, size_t n, size_t cap_memory, const char *shown,
                             json_t **out, struct ab_err *err);
/* All of a regular file of at most `cap_bytes`, malloc'ed. */
enum ab_status ab_json_read_file(const char *path, size_t cap_bytes, char **text, size_t *n,
                                 struct ab_err *err);
void ab_json_free(json_t *document);

/* Records the error "FILE: PATH: …" unless there is one already. */
void ab_json_fail(struct ab_json_reader *r, const struct ab_json_node *node, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* A member that has to be there. */
struct ab_json_node ab_json_member(struct ab_json_reader *r, const struct ab_json_node *parent,
                                   const char *key);
/* Members that have to be there and of this type. */
struct ab_json_node ab_json_object(struct ab_json_reader *r, const struct ab_json_node *parent,
                                   const char *key);
struct ab_json_node ab_json_array(struct ab_json_reader *r, const struct ab_json_node *parent,
                                  const char *key);
/* Is there such a member? false after an error. */
bool ab_json_has(const struct ab_json_reader *r, const struct ab_json_node *o, const char *key);
/* And is it not null? */
bool ab_json_has_value(const struct ab_json_reader *r, const struct ab_json_node *o,
                       const char *key);

/* How many items; an error when above `max`. */
size_t ab_json_count(struct ab_json_reader *r, const struct ab_json_node *array, size_t max);
struct ab_json_node ab_json_item(const struct ab_json_node *array, size_t i);
/* An item that has to be an object. */
struct ab_json_node ab_json_item_object(struct ab_json_reader *r, const struct ab_json_node *array,
                                        size_t i);

/* Values: of a node, or of the member o[key], which has to be there. */

/* null is "". The string belongs to the document. */
const char *ab_json_text_at(struct ab_json_reader *r, const struct ab_json_node *at);
const char *ab_json_text(struct ab_json_reader *r, const struct ab_json_node *o, const char *key);
/* Into a fixed buffer; an error when it does not fit. */
void ab_json_chars_at(struct ab_json_reader *r, const struct ab_json_node *at, char *buf,
                      size_t cap);
/* null is NaN. */
double ab_json_number_at(struct ab_json_reader *r, const struct ab_json_node *at);
double ab_json_number(struct ab_json_reader *r, const struct ab_json_node *o, const char *key);
/* A whole number from 0 to max; null is `unknown`. */
uint64_t ab_json_whole_at(struct ab_json_reader *r, const struct ab_json_node *at, uint64_t max,
                          uint64_t unknown);
uint64_t ab_json_whole(struct ab_json_reader *r, const struct ab_json_node *o, const char *key,
                       uint64_t max, uint64_t unknown);
bool ab_json_flag_at(struct ab_json_reader *r, const struct ab_json_node *at);
/* A string that has to be one of `names`: its index. 0 after an error. */
size_t ab_json_one_of_at(struct ab_json_reader *r, const struct ab_json_node *at,
                         const char *const *names, size_t n);
size_t ab_json_one_of(struct ab_json_reader *r, const struct ab_json_node *o, const char *key,
                      const char *const *names, size_t n);

#endif
