/* SPDX-License-Identifier: MIT
 *
 * Writing of JSON documents, which are built completely before they are written. Keys keep the
 * order of the calls. Jansson takes its memory from core/alloc, which ends the process if there is
 * none, so no value is ever NULL.
 */
#ifndef AB_DOCUMENT_JSON_H
#define AB_DOCUMENT_JSON_H

#include "result/hdr.h"

#include <jansson.h>
#include <stdint.h>
#include <stdio.h>

/* Makes jansson use core/alloc. Must be called before the first value is made. */
void ab_json_take_memory(void);

/* Both take ownership of `value`. */
void ab_json_put(json_t *object, const char *key, json_t *value);
void ab_json_append(json_t *array, json_t *value);

/* Returns a string value; null for NULL and "". JSON must be UTF-8, so text that is not is made
 * printable. */
json_t *ab_json_string(const char *s);
/* Returns an integer value, exact and without ".0"; null for a value that jansson cannot hold, such
 * as AB_UNKNOWN. */
json_t *ab_json_integer(uint64_t n);
/* Returns a number, rounded as in results; null for NaN. */
json_t *ab_json_real(double x);

/* Returns a histogram in the format HDR V2 (result/hdr.h) as base64; null if its values are too
 * many for that format. */
json_t *ab_json_histogram(const struct ab_hdr *hdr);

/* Writes the document and frees it. `digits`: significant digits of reals, 0 = all. A write error
 * stays set in the stream. */
void ab_json_write(json_t *document, FILE *to, unsigned digits);

/* The checksum is part of a stored result, so that manual changes are detected. It covers the
 * contents of the document, not its bytes: white space and the order of keys may change. */
#define AB_CHECKSUM_KEY "checksum"
enum { AB_CHECKSUM_BYTES = 72 };

/* Key that is false in a document that was made from one without a checksum. Other documents do not
 * have the key. */
#define AB_SEALED_KEY "sealed"

enum ab_checksum {
    AB_CHECKSUM_NONE, /* written by an older allocbench */
    AB_CHECKSUM_GOOD,
    AB_CHECKSUM_WRONG, /* the document was changed after it was written */
};

/* Computes "sha256:…" of the document without its checksum: SHA-256 of compact JSON with sorted
 * keys and reals of 12 significant digits. */
void ab_checksum_make(json_t *document, char text[AB_CHECKSUM_BYTES]);
/* Compares the checksum in the document with that of its contents. Removes the checksum from the
 * document. */
enum ab_checksum ab_checksum_take(json_t *document);

#endif
