/* SPDX-License-Identifier: MIT
 *
 * SHA-256 of a JSON document in one canonical form, made piece by piece.
 */
#include "report/checksum.h"

#include "report/format.h"

#include <sha2.h>
#include <stdio.h>
#include <string.h>

enum { DIGITS = 12 }; /* as results are written */

static int add(const char *piece, size_t n, void *sha)
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
    json_dump_callback(document, add, &sha,
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
        snprintf(said, sizeof said, "%s", json_string_value(value));
    json_object_del(document, AB_CHECKSUM_KEY);
    ab_checksum_make(document, is);
    return strcmp(is, said) == 0 ? AB_CHECKSUM_GOOD : AB_CHECKSUM_WRONG;
}
