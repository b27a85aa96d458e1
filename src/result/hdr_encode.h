/* SPDX-License-Identifier: MIT
 *
 * Base64, as the text form of a histogram needs it.
 */
#ifndef AB_RESULT_HDR_ENCODE_H
#define AB_RESULT_HDR_ENCODE_H

#include <stddef.h>
#include <stdint.h>

/* Base64 of RFC 4648 with padding. dst needs (n + 2) / 3 * 4 + 1 bytes. */
void ab_hdr_base64(char *dst, const uint8_t *src, size_t n);

#endif
