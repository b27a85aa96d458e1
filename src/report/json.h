/* SPDX-License-Identifier: MIT
 *
 * Documents that are built whole before they are written, key order is the order of the calls.
 * Jansson says by return values that memory ran out: the writer notes it, and it is asked for once,
 * at the end. An incomplete document is never written.
 */
#ifndef AB_REPORT_JSON_H
#define AB_REPORT_JSON_H

#include "result/hdr.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct ab_json { /* begins as zeroes */
    bool is_short_of_memory;
};

/* Both take `value`. */
void ab_json_put(struct ab_json *w, json_t *object, const char *key, json_t *value);
void ab_json_append(struct ab_json *w, json_t *array, json_t *value);

/* null for NULL and "". Text from outside need not be UTF-8, JSON has to be: then it is made
 * printable. */
json_t *ab_json_string(const char *s);
/* Integers stay integers: exact, and without ".0". Values that jansson cannot hold are unknown
 * (AB_UNKNOWN is one of them): null. */
json_t *ab_json_integer(uint64_t n);
/* As results are rounded; null for NaN. */
json_t *ab_json_real(double x);

/* As base64, HDR V2 (result/hdr.h); NULL: out of memory. */
json_t *ab_json_histogram(const struct ab_hdr *hdr);

/* Takes `document`; `digits` of reals, 0 = all. False: out of memory. What cannot be written, the
 * stream remembers. */
bool ab_json_write(struct ab_json *w, json_t *document, FILE *to, unsigned digits);

#endif
