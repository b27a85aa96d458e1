/* SPDX-License-Identifier: MIT
 *
 * Private to hdr_encode.c and hdr_decode.c: the V2 wire format of HdrHistogram, big-endian.
 *
 *   wrapper  u32 cookie, u32 bytes that follow, zlib stream of:
 *   header   u32 cookie, u32 payload bytes, u32 normalizing index offset, u32 significant digits,
 *            u64 lowest, u64 highest, u64 bits of a double (integer to double ratio, 1.0)
 *   payload  one ZigZag LEB128 a counter, from 0 to the highest one in use: a count, or minus
 *            the length of a run of zeroes. LEB128 here ends after 9 bytes; the 9th has 8 bits.
 */
#ifndef AB_RESULT_HDR_V2_H
#define AB_RESULT_HDR_V2_H

#include "result/hdr.h"

/* Cookies. The second nibble is a word size in V1, and 1 for LEB128 in V2; readers mask that
 * nibble. */
#define AB_HDR_V2_COOKIE UINT32_C(0x1c849313)
#define AB_HDR_V2_COOKIE_ZLIB UINT32_C(0x1c849314)
#define AB_HDR_V2_COOKIE_MASK UINT32_C(0xffffff0f)
#define AB_HDR_V2_RATIO UINT64_C(0x3ff0000000000000) /* 1.0 */

enum {
    AB_HDR_V2_WRAPPER_BYTES = 8,
    AB_HDR_V2_HEADER_BYTES = 40,
    AB_HDR_V2_LEB_MAX = 9,
    AB_HDR_V2_BYTES_MAX = AB_HDR_V2_HEADER_BYTES + AB_HDR_V2_LEB_MAX * AB_HDR_COUNTS,
    /* zlib expands data that cannot be compressed by less than a thousandth and 13 bytes. */
    AB_HDR_V2_ZLIB_MAX = AB_HDR_V2_BYTES_MAX + AB_HDR_V2_BYTES_MAX / 1000 + 64,
    AB_HDR_V2_TEXT_MAX = (AB_HDR_V2_WRAPPER_BYTES + AB_HDR_V2_ZLIB_MAX + 2) / 3 * 4,
};

#endif
