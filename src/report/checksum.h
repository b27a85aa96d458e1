/* SPDX-License-Identifier: MIT
 *
 * A result's own checksum: SHA-256 of the document without its key "checksum", compact, keys sorted,
 * reals with 12 significant digits. How the file is indented does not matter, what it says does.
 */
#ifndef AB_REPORT_CHECKSUM_H
#define AB_REPORT_CHECKSUM_H

#include <jansson.h>
#include <stdbool.h>

#define AB_JSON_CHECKSUM "checksum"
enum { AB_JSON_DIGITS = 12 }; /* of reals in a result */

/* In hexadecimal. False when out of memory. */
bool ab_json_checksum(json_t *document, char hex[65]);

#endif
