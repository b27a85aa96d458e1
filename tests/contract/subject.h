/* SPDX-License-Identifier: MIT
 *
 * A back end under test, an opened heap of it, and patterns to fill blocks with. The helpers check
 * what holds for every block.
 */
#ifndef AB_TESTS_CONTRACT_SUBJECT_H
#define AB_TESTS_CONTRACT_SUBJECT_H

#include "backend/params.h"
#include "base/bits.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

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

static void fill(const struct heap *x, ab_ref ref, size_t size, unsigned key)
{
    unsigned char *p = address(x, ref);
    for (size_t i = 0; i < size; i++)
        p[i] = (unsigned char)(key * 31 + i * 7 + (i >> 8));
}

static void check_fill(const struct heap *x, ab_ref ref, size_t size, unsigned key)
{
    const unsigned char *p = address(x, ref);
    for (size_t i = 0; i < size; i++)
        if (p[i] != (unsigned char)(key * 31 + i * 7 + (i >> 8)))
            fail_msg("%s: byte %zu of %zu changed", x->b->name, i, size);
}

static void check_zero(const struct heap *x, ab_ref ref, size_t size)
{
    const unsigned char *p = address(x, ref);
    for (size_t i = 0; i < size; i++)
        if (p[i] != 0)
            fail_msg("%s: byte %zu of %zu is not zero", x->b->name, i, size);
}

#endif
