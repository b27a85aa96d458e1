/* SPDX-License-Identifier: MIT
 *
 * The checksum that a stored result carries of itself, so that a change by hand is seen. It is of
 * what the document says, not of its bytes: white space and the order of keys may change.
 */
#ifndef AB_REPORT_CHECKSUM_H
#define AB_REPORT_CHECKSUM_H

#include <jansson.h>

#define AB_CHECKSUM_KEY "checksum"
enum { AB_CHECKSUM_BYTES = 72 };

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
