/* SPDX-License-Identifier: MIT
 *
 * Reads a file and digests it, by the instructions of the processor or by libmd.
 */
#include "core/file_digest.h"

#include <errno.h>
#include <fcntl.h>
#include <sha2.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

enum { BLOCK = 64, BUFFER = 1 << 16 };

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>

/* FIPS 180-4, 4.2.2 */
static const uint32_t round_constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static bool has_sha(void)
{
    unsigned a, b, c, d;
    return __builtin_cpu_supports("sse4.1") && __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 &&
           (b >> 29 & 1) != 0;
}

/* The instructions keep the state as the words a, b, e, f and c, d, g, h, the first uppermost. */
__attribute__((target("sha,sse4.1"))) static void take_blocks(uint32_t state[8], const uint8_t *p,
                                                              size_t n_blocks)
{
    const __m128i to_words = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
    __m128i badc = _mm_shuffle_epi32(_mm_loadu_si128((const __m128i *)state), 0xb1);
    __m128i hgfe = _mm_shuffle_epi32(_mm_loadu_si128((const __m128i *)(state + 4)), 0x1b);
    __m128i abef = _mm_alignr_epi8(badc, hgfe, 8), cdgh = _mm_blend_epi16(hgfe, badc, 0xf0);
    for (; n_blocks > 0; n_blocks--, p += BLOCK) {
        __m128i abef_before = abef, cdgh_before = cdgh, w[4];
#pragma GCC unroll 16
        for (unsigned i = 0; i < 16; i++) { /* four rounds */
            __m128i *now = &w[i % 4], *last = &w[(i + 3) % 4];
            if (i < 4)
                *now = _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)(p + 16 * i)), to_words);
            else
                *now = _mm_sha256msg2_epu32(
                    _mm_add_epi32(_mm_sha256msg1_epu32(*now, w[(i + 1) % 4]),
                                  _mm_alignr_epi8(*last, w[(i + 2) % 4], 4)),
                    *last);
            __m128i sum = _mm_add_epi32(
                *now, _mm_loadu_si128((const __m128i *)(round_constants + 4 * (size_t)i)));
            cdgh = _mm_sha256rnds2_epu32(cdgh, abef, sum);
            abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(sum, 0x0e));
        }
        abef = _mm_add_epi32(abef, abef_before);
        cdgh = _mm_add_epi32(cdgh, cdgh_before);
    }
    __m128i feba = _mm_shuffle_epi32(abef, 0x1b), dchg = _mm_shuffle_epi32(cdgh, 0xb1);
    _mm_storeu_si128((__m128i *)state, _mm_blend_epi16(feba, dchg, 0xf0));
    _mm_storeu_si128((__m128i *)(state + 4), _mm_alignr_epi8(dchg, feba, 8));
}
#else
static bool has_sha(void)
{
    return false;
}

static void take_blocks(uint32_t state[8], const uint8_t *p, size_t n_blocks)
{
    (void)state, (void)p, (void)n_blocks;
}
#endif

/* Up to n bytes, fewer only at the end of the file; -1 when it cannot be read. */
static ssize_t fill(int fd, uint8_t *to, size_t n)
{
    size_t got = 0;
    while (got < n) {
        ssize_t k = read(fd, to + got, n - got);
        if (k < 0 && errno == EINTR)
            continue;
        if (k < 0)
            return -1;
        if (k == 0)
            break;
        got += (size_t)k;
    }
    return (ssize_t)got;
}

bool ab_file_digest(const char *path, char hex[65])
{
    uint8_t buffer[BUFFER];
    SHA2_CTX sha;
    ssize_t n;
    const bool is_fast = has_sha();
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0)
        return false;
    SHA256Init(&sha);
    while ((n = fill(fd, buffer, BUFFER)) > 0) {
        size_t whole = is_fast ? (size_t)n / BLOCK * BLOCK : 0;
        take_blocks(sha.state.st32, buffer, whole / BLOCK);
        sha.bitcount[0] += whole * 8;
        SHA256Update(&sha, buffer + whole, (size_t)n - whole);
        if (n < BUFFER) { /* the end: libmd has a rest now, which nothing may follow */
            n = 0;
            break;
        }
    }
    int error = errno;
    close(fd);
    errno = error;
    SHA256End(&sha, hex);
    return n == 0;
}
