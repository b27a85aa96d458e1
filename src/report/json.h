/* SPDX-License-Identifier: MIT
 *
 * Documents that are built whole before they are written; the order of keys is that of the calls.
 * Jansson takes its memory from core/memory, which ends the process where there is none: no value
 * is ever NULL.
 */
#ifndef AB_REPORT_JSON_H
#define AB_REPORT_JSON_H

#include "result/hdr.h"

#include <jansson.h>
#include <stdint.h>
#include <stdio.h>

/* Gives jansson the memory of core/memory: before the first value is made. */
void ab_json_take_memory(void);

/* Both take `value`. */
void ab_json_put(json_t *object, const char *key, json_t *value);
void ab_json_append(json_t *array, json_t *value);

/* null for NULL and "". Text from outside need not be UTF-8, JSON has to be: then it is made
 * printable. */
json_t *ab_json_string(const char *s);
/* Integers stay integers: exact, and without ".0". Values that jansson cannot hold are unknown
 * (AB_UNKNOWN is one of them): null. */
json_t *ab_json_integer(uint64_t n);
/* As results are rounded; null for NaN. */
json_t *ab_json_real(double x);

/* "n=1000 m=many" as {"n": 1000, "m": "many"}; NULL for "". */
json_t *ab_json_params(const char *values);

/* As base64, HDR V2 (result/hdr.h); null for more values than that can hold. */
json_t *ab_json_histogram(const struct ab_hdr *hdr);

/* Takes `document`; `digits` of reals, 0 = all. What cannot be written, the stream remembers. */
void ab_json_write(json_t *document, FILE *to, unsigned digits);

/* The checksum that a stored result carries of itself, so that a change by hand is seen. It is of
 * what the document says, not of its bytes: white space and the order of keys may change. */
#define AB_CHECKSUM_KEY "checksum"
enum { AB_CHECKSUM_BYTES = 72 };

/* The key that is false in a document that was made from one without a checksum; else there is none. */
#define AB_SEALED_KEY "sealed"

enum ab_checksum {
    AB_CHECKSUM_NONE, /* of an older allocbench */
    AB_CHECKSUM_GOOD,
    AB_CHECKSUM_WRONG, /* the document was changed after it was written */
};

/* "sha256:…" of the document without its checksum: SHA-256 of it as compact JSON with sorted keys
 * and reals of 12 significant digits. */
void ab_checksum_make(json_t *document, char text[AB_CHECKSUM_BYTES]);
/* Takes the key out of the document. */
enum ab_checksum ab_checksum_take(json_t *document);

#endif
