/* SPDX-License-Identifier: MIT
 *
 * A back end under test, an opened heap of it, and patterns to fill blocks with. The helpers check
 * what holds for every block.
 */
#ifndef AB_TESTS_CONTRACT_SUBJECT_H
#define AB_TESTS_CONTRACT_SUBJECT_H

#include "backend/settings.h"
#include "base/bits.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#endif

enum { MIB = 1 << 20 };

static const struct ab_facts facts = {
    .largest_bytes = MIB + 1,
    .largest_align = MIB,
    .live_peak_blocks = 4096,
    .live_peak_bytes = 64 * MIB,
    .total_bytes = UINT64_C(512) * MIB,
    .total_blocks = 100000,
    .lanes = 1,
    .kinds = 0x3f,
};

static const size_t sizes[] = {1,    2,     3,     7,      8,      9,      15,   16,   17,
                               24,   31,    32,    33,     48,     63,     64,   65,   100,
                               127,  128,   129,   255,    1000,   1024,   1025, 4095, 4096,
                               4097, 32768, 65537, 131071, 131072, 200000, MIB};
enum { N_SIZES = AB_ARRAY_LEN(sizes) };

/* The release build looks at the results of all. AddressSanitizer is there for the code that computes
 * them, which is the same for the first of these, and poisons what each of them gave. */
static inline unsigned repeats(unsigned all, unsigned some)
{
#ifdef __SANITIZE_ADDRESS__
    (void)all;
    return some;
#else
    return getenv("AB_FULL") != NULL ? all : some;
#endif
}

struct subject {
    const struct ab_backend *b;
    const char *params;
};

struct heap {
    const struct ab_backend *b;
    struct ab_heap *h;
};

static struct heap heap_open_for(const struct subject *s, const struct ab_facts *work)
{
    uint64_t values[AB_PARAMS_MAX];
    assert_int_equal(ab_params_parse(s->b, s->params, values, NULL), AB_OK);
    struct ab_open_args args = {.size = sizeof args, .facts = work, .values = values};
    struct heap heap = {.b = s->b};
    assert_int_equal(s->b->open(&args, &heap.h), 0);
    assert_non_null(heap.h);
    return heap;
}

static struct heap heap_open(const struct subject *s)
{
    return heap_open_for(s, &facts);
}

static void *address(const struct heap *x, ab_ref ref)
{
    return x->b->resolve != NULL ? x->b->resolve(x->h, ref) : (void *)ref;
}

static void drop(const struct heap *x, ab_ref ref, size_t size)
{
    if (x->b->free != NULL)
        x->b->free(x->h, ref, size);
}

static void check_alignment(const void *p, size_t size)
{
    size_t natural = size >= 16 ? 16 : size == 0 ? 1 : (size_t)1 << ab_log2(size);
    assert_int_equal((uintptr_t)p % natural, 0);
}

static ab_ref alloc(const struct heap *x, size_t size)
{
    ab_ref ref = x->b->alloc(x->h, size);
    assert_true(ref != 0);
    check_alignment(address(x, ref), size);
    return ref;
}

/* Byte i of a block's pattern is key * 31 + i * 7 + (i >> 8). Of 256 bytes in a row that is a part of
 * one table, as 7 * 183 = 1 modulo 256: blocks are written and compared a row at a time. */
enum { ROW = 256 };

static const unsigned char *pattern_row(unsigned key, size_t row)
{
    static unsigned char table[2 * ROW];
    if (table[1] == 0)
        for (unsigned k = 0; k < 2 * ROW; k++)
            table[k] = (unsigned char)(k * 7);
    return &table[(key * 31 + row) * 183 % ROW];
}

static size_t row_bytes(size_t size, size_t row)
{
    return size - row * ROW < ROW ? size - row * ROW : ROW;
}

/* To AddressSanitizer, each byte of it: of a few bytes memcpy and memcmp look at some only. */
static void check_accessible(const struct heap *x, const void *p, size_t size)
{
#ifdef __SANITIZE_ADDRESS__
    const unsigned char *bad = __asan_region_is_poisoned((void *)(uintptr_t)p, size);
    if (bad != NULL)
        fail_msg("%s: byte %td of %zu is poisoned", x->b->name, bad - (const unsigned char *)p,
                 size);
#else
    (void)x, (void)p, (void)size;
#endif
}

static void fill(const struct heap *x, ab_ref ref, size_t size, unsigned key)
{
    unsigned char *p = address(x, ref);
    check_accessible(x, p, size);
    for (size_t row = 0; row * ROW < size; row++)
        memcpy(p + row * ROW, pattern_row(key, row), row_bytes(size, row));
}

static void check_fill(const struct heap *x, ab_ref ref, size_t size, unsigned key)
{
    const unsigned char *p = address(x, ref);
    check_accessible(x, p, size);
    for (size_t row = 0; row * ROW < size; row++) {
        const unsigned char *expected = pattern_row(key, row), *found = p + row * ROW;
        size_t n = row_bytes(size, row), i = 0;
        if (memcmp(found, expected, n) == 0)
            continue;
        while (found[i] == expected[i])
            i++;
        fail_msg("%s: byte %zu of %zu changed", x->b->name, row * ROW + i, size);
    }
}

static void check_zero(const struct heap *x, ab_ref ref, size_t size)
{
    static const unsigned char zeros[ROW];
    const unsigned char *p = address(x, ref);
    check_accessible(x, p, size);
    for (size_t row = 0; row * ROW < size; row++)
        if (memcmp(p + row * ROW, zeros, row_bytes(size, row)) != 0)
            fail_msg("%s: of %zu bytes some from byte %zu on are not zero", x->b->name, size,
                     row * ROW);
}

#endif
