/* SPDX-License-Identifier: MIT
 *
 * Little-endian loads and stores, zigzag, and varints (LEB128, at most ten bytes). Varints must
 * have the shortest form; any other form of a number is an error. A cursor never passes its end.
 * After the first failure, every later read returns 0.
 */
#ifndef AB_BASE_BYTES_H
#define AB_BASE_BYTES_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "the formats are little-endian and so are x86-64 and aarch64"
#endif

static inline void ab_put_u16(uint8_t *p, uint16_t v)
{
    memcpy(p, &v, sizeof v);
}

static inline void ab_put_u32(uint8_t *p, uint32_t v)
{
    memcpy(p, &v, sizeof v);
}

static inline void ab_put_u64(uint8_t *p, uint64_t v)
{
    memcpy(p, &v, sizeof v);
}

static inline uint32_t ab_get_u32(const uint8_t *p)
{
    uint32_t v;
    memcpy(&v, p, sizeof v);
    return v;
}

static inline uint64_t ab_get_u64(const uint8_t *p)
{
    uint64_t v;
    memcpy(&v, p, sizeof v);
    return v;
}

/* Maps small differences of either sign to small numbers. Exact for all 64-bit differences. */
static inline uint64_t ab_zigzag(uint64_t difference)
{
    return difference << 1 ^ (uint64_t)((int64_t)difference >> 63);
}

static inline uint64_t ab_unzigzag(uint64_t v)
{
    return v >> 1 ^ -(v & 1);
}

#define AB_VARINT_MAX 10

/* Writes v at p, which must have room for AB_VARINT_MAX bytes. Returns the end. */
static inline uint8_t *ab_put_varint(uint8_t *p, uint64_t v)
{
    while (v >= 0x80) {
        *p++ = (uint8_t)(v | 0x80);
        v >>= 7;
    }
    *p++ = (uint8_t)v;
    return p;
}

struct ab_cursor {
    const uint8_t *at, *end;
    bool has_failed;
};

static inline uint64_t ab_read_varint(struct ab_cursor *c)
{
    uint64_t v = 0;
    for (unsigned shift = 0; c->at < c->end && shift < 70; shift += 7) {
        uint8_t byte = *c->at++;
        if (shift == 63 && byte > 1)
            break; /* more than 64 bits */
        v |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80) {
            if (byte == 0 && shift > 0)
                break; /* longer than the shortest form */
            return v;
        }
    }
    c->has_failed = true;
    c->at = c->end;
    return 0;
}

#endif
