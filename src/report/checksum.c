/* SPDX-License-Identifier: MIT
 *
 * Digests a JSON document as it would be written, without writing it anywhere.
 */
#include "report/checksum.h"

#include <sha2.h>
#include <stddef.h>
#include <stdint.h>

static int take(const char *buffer, size_t n, void *context)
{
    SHA256Update(context, (const uint8_t *)buffer, n);
    return 0;
}

bool ab_json_checksum(json_t *document, char hex[65])
{
    SHA2_CTX context;
    json_t *rest = json_copy(document); /* shallow */
    if (rest == NULL)
        return false;
    json_object_del(rest, AB_JSON_CHECKSUM);
    SHA256Init(&context);
    bool ok = json_dump_callback(rest, take, &context,
                                 JSON_COMPACT | JSON_SORT_KEYS |
                                     JSON_REAL_PRECISION(AB_JSON_DIGITS)) == 0;
    SHA256End(&context, hex);
    json_decref(rest);
    return ok;
}
