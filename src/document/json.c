/* SPDX-License-Identifier: MIT
 *
 * Builds and writes JSON documents, and computes their checksum.
 */
#include "document/json.h"

#include "core/alloc.h"
#include "core/text.h"
#include "result/hdr.h"
#include "result/session.h"
#include "result/shown.h"

#include <math.h>
#include <sha2.h>
#include <stdlib.h>
#include <string.h>

void ab_json_take_memory(void)
{
    json_set_alloc_funcs(ab_alloc, free);
}

void ab_json_put(json_t *object, const char *key, json_t *value)
{
    json_object_set_new(object, key, value);
}

void ab_json_append(json_t *array, json_t *value)
{
    json_array_append_new(array, value);
}

json_t *ab_json_string(const char *s)
{
    if (s == NULL || *s == 0)
        return json_null();
    json_t *value = json_string(s);
    if (value != NULL)
        return value;
    size_t cap = 4 * strlen(s) + 1;
    char *printable = ab_alloc(cap);
    value = json_string(ab_text_printable(printable, cap, s));
    free(printable);
    return value;
}

json_t *ab_json_integer(uint64_t n)
{
    return n <= INT64_MAX ? json_integer((json_int_t)n) : json_null();
}

json_t *ab_json_real(double x)
{
    /* rounds to 12 digits first, so that 21.0000000000001 becomes the whole number 21 */
    x = ab_number_settle(x);
    if (!isfinite(x))
        return json_null();
    if (fabs(x) < 0x1p53 && x == nearbyint(x))
        return json_integer((json_int_t)x);
    return json_real(x);
}

json_t *ab_json_histogram(const struct ab_hdr *hdr)
{
    char *encoded = NULL;
    struct ab_err err;
    if (ab_hdr_encode(hdr, &encoded, &err) != AB_OK)
        return json_null();
    json_t *value = json_string(encoded);
    free(encoded);
    return value;
}

void ab_json_write(json_t *document, FILE *to, unsigned digits)
{
    json_dumpf(document, to, JSON_INDENT(2) | JSON_REAL_PRECISION(digits));
    fputc('\n', to);
    json_decref(document);
}

/* ---- the checksum: SHA-256 of the canonical form of a document, computed piece by piece ---- */

enum { DIGITS = 12 }; /* significant digits of reals, as in results */

static int add_piece(const char *piece, size_t n, void *sha)
{
    SHA256Update(sha, (const uint8_t *)piece, n);
    return 0;
}

void ab_checksum_make(json_t *document, char text[AB_CHECKSUM_BYTES])
{
    SHA2_CTX sha;
    char hex[SHA256_DIGEST_STRING_LENGTH];
    struct ab_format_guard guard;
    SHA256Init(&sha);
    ab_format_begin(&guard);
    json_dump_callback(document, add_piece, &sha,
                       JSON_COMPACT | JSON_SORT_KEYS | JSON_REAL_PRECISION(DIGITS));
    ab_format_end(&guard);
    SHA256End(&sha, hex);
    snprintf(text, AB_CHECKSUM_BYTES, "sha256:%s", hex);
}

enum ab_checksum ab_checksum_take(json_t *document)
{
    char is[AB_CHECKSUM_BYTES], said[AB_CHECKSUM_BYTES] = "";
    json_t *value = json_object_get(document, AB_CHECKSUM_KEY);
    if (value == NULL)
        return AB_CHECKSUM_NONE;
    if (json_string_value(value) != NULL)
        AB_COPY(said, json_string_value(value));
    json_object_del(document, AB_CHECKSUM_KEY);
    ab_checksum_make(document, is);
    return strcmp(is, said) == 0 ? AB_CHECKSUM_GOOD : AB_CHECKSUM_WRONG;
}
