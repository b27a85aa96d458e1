/* SPDX-License-Identifier: MIT
 *
 * The pool as a library, and what its glue adds. What all back ends have in common is in
 * tests/contract.
 */
#include "allocators/pool/pool.h"

#include "allocators/builtin.h"
#include "base/rng.h"
#include "support/heap_model.h"
#include "support/small_pages.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

enum { KIB = 1024, MIB = 1024 * 1024 };

static struct ab_pool make(size_t slot_bytes, size_t align, size_t n_slots, bool grows)
{
    struct ab_pool p;
    struct ab_pool_options options = {
        .slot_bytes = slot_bytes, .align = align, .n_slots = n_slots, .grows = grows};
    assert_int_equal(ab_pool_init(&p, &options), 0);
    return p;
}

static void shuffle(void **blocks, size_t n)
{
    struct ab_rng rng;
    ab_rng_init(&rng, n, 1);
    for (size_t i = n - 1; i > 0; i--) {
        size_t k = ab_rng_below(&rng, i + 1);
        void *swapped = blocks[i];
        blocks[i] = blocks[k];
        blocks[k] = swapped;
    }
}

static void slots_are_rounded_up_to_their_alignment(void **state)
{
    (void)state;
    static const size_t table[][3] = {{0, 0, 16},     {1, 0, 16},    {16, 8, 16},     {17, 0, 32},
                                      {100, 64, 128}, {100, 0, 112}, {1, 4096, 4096}, {48, 16, 48}};
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        struct ab_pool p = make(table[i][0], table[i][1], 4, false);
        assert_int_equal(p.slot_bytes, table[i][2]);
        assert_int_equal((uintptr_t)ab_pool_alloc(&p, 1) % p.align, 0);
        assert_int_equal((uintptr_t)ab_pool_alloc(&p, 1) % p.align, 0);
        ab_pool_fini(&p);
    }
}

/* What a type asks for, and room for the link of a free slot; a sanitizer's marks need more. */
static void slots_of_a_type_lie_as_in_an_array_of_it(void **state)
{
    (void)state;
    static const size_t table[][3] = {{28, 4, 28}, {8, 8, 8},   {17, 1, 17}, {33, 8, 40},
                                      {1, 1, 8},   {24, 8, 24}, {12, 4, 12}, {6, 2, 8}};
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        struct ab_pool p;
        enum { N = 100 };
        unsigned char *slots[N];
        assert_int_equal(ab_pool_init_type(&p, table[i][0], table[i][1], N, false), 0);
        assert_true(AB_MARKS || p.stride == table[i][2]);
        for (unsigned round = 0; round < 2; round++) {
            for (unsigned k = 0; k < N; k++) {
                slots[k] = ab_pool_alloc_aligned(&p, table[i][1], table[i][0]);
                assert_int_equal((uintptr_t)slots[k] % table[i][1], 0);
                memset(slots[k], (int)k, table[i][0]);
            }
            assert_true(AB_MARKS || round > 0 || slots[N - 1] == slots[0] + (N - 1) * table[i][2]);
            for (unsigned k = 0; k < N; k++)
                assert_true(slots[k][0] == k && slots[k][table[i][0] - 1] == k);
            shuffle((void **)slots, N);
            for (unsigned k = 0; k < N; k++)
                if (round > 0 ||
                    (char *)slots[k] != p.chunks[0].base) /* one lives: the list is followed */
                    ab_pool_free(&p, slots[k]);
            assert_int_equal(ab_pool_live(&p), 1 - round);
            if (round == 0)
                ab_pool_free(&p, p.chunks[0].base);
        }
        ab_pool_fini(&p);
    }
}

struct particle {
    _Alignas(32) float x;
    int age;
};

static void typed_slots_are_aligned_as_their_type(void **state)
{
    (void)state;
    struct ab_pool p;
    assert_int_equal(AB_POOL_INIT(&p, struct particle, 3, false), 0);
    struct particle *all[3];
    for (unsigned i = 0; i < 3; i++) {
        all[i] = AB_POOL_NEW(&p, struct particle);
        assert_non_null(all[i]);
        assert_int_equal((uintptr_t)all[i] % 32, 0);
        all[i]->age = (int)i;
    }
    assert_null(AB_POOL_NEW(&p, struct particle));
    AB_POOL_DELETE(&p, all[1]);
    assert_ptr_equal(AB_POOL_NEW(&p, struct particle), all[1]);
    assert_int_equal(all[2]->age, 2);
    ab_pool_fini(&p);
}

static void a_pool_over_a_buffer_stays_in_it(void **state)
{
    (void)state;
    static unsigned char memory[1000];
    const struct ab_pool_options options = {.slot_bytes = 24, .align = 8};
    const struct ab_pool_options none = {.slot_bytes = 24, .align = 24};
    struct ab_pool p = {.n_os_calls = 77};
    assert_int_equal(ab_pool_init_buffer(&p, memory, 1000, &none), EINVAL);
    assert_int_equal(ab_pool_init_buffer(&p, memory, 23, &options), ENOMEM);
    assert_int_equal(ab_pool_init_buffer(&p, NULL, 0, &options), ENOMEM);
    assert_int_equal(p.n_os_calls, 77);
    memset(memory, 0xee, sizeof memory);
    assert_int_equal(ab_pool_init_buffer(&p, memory + 3, 900, &options), 0);
    for (unsigned round = 0; round < 3; round++) {
        size_t n = 0;
        for (unsigned char *slot; (slot = ab_pool_alloc_zeroed(&p, 24)) != NULL; n++) {
            assert_true(slot >= memory + 3 && slot + 24 <= memory + 903);
            assert_int_equal((uintptr_t)slot % 8, 0);
            assert_true(slot[0] == 0 && slot[23] == 0);
            memset(slot, 0xee, 24);
        }
        assert_true(AB_MARKS || n == 37); /* 895 bytes, at least, by 24 */
        assert_int_equal(ab_pool_live(&p), n);
        ab_pool_purge(&p); /* none of it is the system's */
        ab_pool_reset(&p);
        assert_int_equal(ab_pool_live(&p), 0);
    }
    assert_true(ab_pool_alloc(&p, 24) != NULL && ab_pool_owns(&p, p.chunks[0].base));
    assert_int_equal(p.n_os_calls, 0);
    ab_pool_fini(&p);
    memset(memory, 1, sizeof memory);
}

static void huge_chunks_are_whole_huge_pages_and_full_of_slots(void **state)
{
    (void)state;
    struct ab_pool p, small = make(4096, 0, 4, true);
    assert_false(heap_model_asks_huge(small.chunks[0].base));
    ab_pool_fini(&small);
    assert_int_equal(
        ab_pool_init(&p, &(struct ab_pool_options){.slot_bytes = 272, .grows = true, .huge = true}),
        0);
    for (size_t i = 0; i < 5 * (2 * MIB / p.stride); i++)
        assert_non_null(ab_pool_alloc(&p, 272));
    assert_true(p.n_chunks > 1);
    for (uint32_t i = 0; i < p.n_chunks; i++) {
        const struct ab_pool_chunk *c = &p.chunks[i];
        assert_int_equal((uintptr_t)c->base % (2 * MIB), 0);
        assert_int_equal(c->map_bytes % (2 * MIB), 0);
        assert_true(c->map_bytes - (size_t)(c->end - c->base) < p.stride);
        assert_true(heap_model_asks_huge(c->base));
    }
    ab_pool_fini(&p);
    assert_int_equal(
        ab_pool_init(&p, &(struct ab_pool_options){.slot_bytes = 272, .n_slots = 3, .huge = true}),
        0);
    assert_true(ab_pool_alloc(&p, 1) && ab_pool_alloc(&p, 1) && ab_pool_alloc(&p, 1));
    assert_null(ab_pool_alloc(&p, 1)); /* no more than were asked for */
    ab_pool_fini(&p);
}

static void slots_that_would_crowd_into_a_few_cache_sets_lie_further_apart(void **state)
{
    (void)state;
    static const size_t table[][3] = {{256, 0, 272},   {512, 16, 544},    {1024, 0, 1088},
                                      {4096, 0, 4160}, {256, 64, 256},    {128, 0, 128},
                                      {192, 0, 192},   {4096, 4096, 4096}};
    const struct ab_backend *b = ab_builtin_find("pool");
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        struct ab_facts facts = {.lanes = 1,
                                 .largest_bytes = table[i][0],
                                 .largest_align = table[i][1],
                                 .live_peak_blocks = 10};
        struct ab_heap *heap = heap_model_open(b, "", &facts);
        ab_ref first = b->alloc(heap, 1), second = b->alloc(heap, 1);
        assert_true(AB_MARKS || second - first == table[i][2]);
        assert_int_equal(b->usable_size(heap, first), table[i][0]);
        b->close(heap);
    }
}

static void pools_that_cannot_be_are_refused(void **state)
{
    (void)state;
    static const struct {
        size_t slot_bytes, align, n_slots;
        bool grows;
    } table[] = {
        {SIZE_MAX, 0, 1, true},      {SIZE_MAX / 2, 0, 2, true},   {SIZE_MAX / 2, 0, 1, false},
        {16, (size_t)1 << 63, 1, 1}, {16, (size_t)1 << 62, 1, 1},  {16, 48, 1, true},
        {64, 0, SIZE_MAX, false},    {64, 0, SIZE_MAX / 64, true}, {(size_t)1 << 60, 0, 0, true}};
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        struct ab_pool p = {.n_os_calls = 77};
        struct ab_pool_options options = {.slot_bytes = table[i].slot_bytes,
                                          .align = table[i].align,
                                          .n_slots = table[i].n_slots,
                                          .grows = table[i].grows};
        assert_in_range(ab_pool_init(&p, &options), 1, 133);
        assert_int_equal(p.n_os_calls, 77);
    }
}

static void an_alignment_that_is_none_is_refused_also_below_the_least(void **state)
{
    (void)state;
    static const size_t aligns[] = {3, 12, 24, 48, ((size_t)1 << 63) + 1};
    for (size_t i = 0; i < sizeof aligns / sizeof aligns[0]; i++) {
        struct ab_pool p = {.n_os_calls = 77};
        struct ab_pool_options options = {.slot_bytes = 16, .align = aligns[i], .n_slots = 1};
        assert_int_equal(ab_pool_init(&p, &options), EINVAL);
        assert_int_equal(p.n_os_calls, 77);
    }
    struct ab_pool p = make(16, 8, 1, false); /* a power of two below the usual one is honoured */
    assert_int_equal(p.align, AB_MARKS ? AB_POOL_ALIGN : 8);
    ab_pool_fini(&p);
}

static void fresh_slots_are_carved_in_order_and_untouched(void **state)
{
    (void)state;
    struct ab_pool p = make(256, 0, 4096, false);
    char *first = ab_pool_alloc(&p, 256);
    for (size_t i = 1; i < 4096; i++)
        assert_ptr_equal(ab_pool_alloc(&p, 1), first + i * p.stride);
    assert_int_equal(heap_model_resident(first, MIB), 0);
    ab_pool_fini(&p);
}

static void the_slot_freed_last_is_served_first(void **state)
{
    (void)state;
    struct ab_pool p = make(64, 0, 100, false);
    void *a = ab_pool_alloc(&p, 64), *b = ab_pool_alloc(&p, 64), *c = ab_pool_alloc(&p, 64);
    ab_pool_free(&p, a);
    ab_pool_free(&p, b);
    ab_pool_free(&p, NULL);
    assert_ptr_equal(ab_pool_alloc(&p, 64), b);
    assert_ptr_equal(ab_pool_alloc(&p, 64), a);
    assert_ptr_equal(ab_pool_alloc(&p, 64), (char *)c + p.stride);
    assert_int_equal(ab_pool_live(&p), 4);
    ab_pool_fini(&p);
}

static void an_exhausted_fixed_pool_says_so_until_a_slot_is_freed(void **state)
{
    (void)state;
    struct ab_pool p = make(100, 0, 1000, false);
    void *last = NULL;
    for (size_t i = 0; i < 1000; i++) {
        assert_non_null(last = ab_pool_alloc(&p, 100));
        memset(last, 1, ab_pool_usable(&p, last));
    }
    assert_null(ab_pool_alloc(&p, 1));
    assert_null(ab_pool_alloc_zeroed(&p, 1));
    assert_null(ab_pool_alloc_aligned(&p, 16, 1));
    ab_pool_free(&p, last);
    assert_ptr_equal(ab_pool_alloc(&p, 1), last);
    assert_int_equal(ab_pool_live(&p), 1000);
    ab_pool_fini(&p);
}

static void a_growing_pool_needs_few_system_calls(void **state)
{
    (void)state;
    struct ab_pool p = make(64, 0, 0, true);
    for (size_t i = 0; i < 100000; i++) {
        char *slot = ab_pool_alloc(&p, 64);
        assert_non_null(slot);
        slot[0] = slot[63] = 1;
    }
    assert_true(p.n_os_calls <= 9);
    assert_true(ab_pool_mapped(&p) <= 2 * 100000 * 64 + 128 * KIB);
    ab_pool_fini(&p);
}

static void what_does_not_fit_a_slot_fails_and_changes_nothing(void **state)
{
    (void)state;
    struct ab_pool p = make(100, 0, 10, true);
    static const size_t sizes[] = {113, 4096, SIZE_MAX / 2, SIZE_MAX - 15, SIZE_MAX};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        assert_null(ab_pool_alloc(&p, sizes[i]));
        assert_null(ab_pool_alloc_zeroed(&p, sizes[i]));
        assert_null(ab_pool_alloc_aligned(&p, 16, sizes[i]));
    }
    for (unsigned bit = 5; bit < 64; bit++)
        assert_null(ab_pool_alloc_aligned(&p, (size_t)1 << bit, 1));
    assert_int_equal(ab_pool_live(&p), 0);
    assert_non_null(ab_pool_alloc(&p, 112));
    ab_pool_fini(&p);
}

/* Chasing the list in the order of random frees is what a pool that ran empty must not do. */
static void a_pool_that_ran_empty_carves_from_the_start_again(void **state)
{
    (void)state;
    enum { N = 20000 };
    static void *blocks[N], *again[N];
    struct ab_pool p = make(48, 0, 0, true);
    for (size_t i = 0; i < N; i++)
        again[i] = blocks[i] = ab_pool_alloc(&p, 48);
    shuffle(blocks, N);
    for (size_t i = 0; i < N; i++)
        ab_pool_free(&p, blocks[i]);
    assert_null(p.free);
    for (size_t i = 0; i < N; i++)
        assert_ptr_equal(ab_pool_alloc(&p, 48), again[i]);
    ab_pool_fini(&p);
}

static void a_pool_in_a_given_range_stays_there(void **state)
{
    (void)state;
    char *range = mmap(NULL, MIB, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), *slot;
    struct ab_pool p;
    struct ab_pool_options options = {
        .slot_bytes = 1000, .grows = true, .range = range, .range_bytes = MIB};
    assert_int_equal(ab_pool_init(&p, &options), 0);
    size_t n = 0;
    for (; (slot = ab_pool_alloc(&p, 1000)) != NULL; n++) {
        assert_true(slot >= range && slot + 1000 <= range + MIB);
        assert_true(ab_pool_owns(&p, slot));
        assert_false(ab_pool_owns(&p, slot + 16));
        memset(slot, 1, 1000);
    }
    assert_true(n * p.stride > MIB * 9 / 10);
    assert_int_equal(ab_pool_live(&p), n);
    ab_pool_reset(&p);
    ab_pool_purge(&p);
    for (size_t i = 0; i < n; i++)
        assert_non_null(slot = ab_pool_alloc_zeroed(&p, 1000)), assert_int_equal(slot[999], 0);
    assert_null(ab_pool_alloc(&p, 1));
    ab_pool_fini(&p);
    assert_int_equal(munmap(range, MIB), 0); /* it is still the caller's */
}

/* Up to where chunks may begin the range is of no use, and there may be nothing behind that. */
static void a_range_that_ends_before_a_chunk_may_begin_is_not_left(void **state)
{
    (void)state;
    char *map = mmap(NULL, 6 * MIB, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char *huge_page = map + (-(uintptr_t)map & (2 * MIB - 1));
    struct ab_pool p = {.n_os_calls = 77};
    struct ab_pool_options options = {.slot_bytes = 64, .grows = true, .huge = true};
    options.range = huge_page + 64 * KIB;
    options.range_bytes = MIB;
    assert_int_equal(ab_pool_init(&p, &options), ENOMEM);
    assert_int_equal(p.n_os_calls, 77);
    assert_int_equal(munmap(map, 6 * MIB), 0);
}

static void a_fresh_buffer_holds_nothing_that_was_handed_out(void **state)
{
    (void)state;
    _Alignas(16) static char memory[64 * KIB];
    struct ab_pool p;
    struct ab_pool_options options = {.slot_bytes = 64};
    assert_int_equal(ab_pool_init_buffer(&p, memory, sizeof memory, &options), 0);
    assert_false(ab_pool_owns(&p, memory));
    assert_int_equal(ab_pool_used(&p), 0);
    char *slot = ab_pool_alloc(&p, 64);
    assert_true(ab_pool_owns(&p, slot) && !ab_pool_owns(&p, slot + p.stride));
    assert_true(ab_pool_used(&p) > 0 && ab_pool_used(&p) < sizeof memory);
    ab_pool_fini(&p);
}

static void reset_keeps_the_chunks_and_starts_over(void **state)
{
    (void)state;
    struct ab_pool p = make(1000, 0, 0, true);
    void *first = ab_pool_alloc(&p, 1);
    for (size_t i = 0; i < 5000; i++)
        memset(ab_pool_alloc(&p, 1000), 1, 1000);
    uint64_t calls = p.n_os_calls;
    size_t mapped = ab_pool_mapped(&p);
    ab_pool_reset(&p);
    assert_ptr_equal(ab_pool_alloc(&p, 1), first);
    for (size_t i = 0; i < 5000; i++)
        assert_non_null(ab_pool_alloc(&p, 1));
    assert_int_equal(p.n_os_calls, calls);
    assert_int_equal(ab_pool_mapped(&p), mapped);
    ab_pool_fini(&p);
}

static void check_zeroed(struct ab_pool *p, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        unsigned char *z = ab_pool_alloc_zeroed(p, 1000);
        for (size_t k = 0; k < 1000; k++)
            assert_int_equal(z[k], 0);
        memset(z, 0xee, ab_pool_usable(p, z));
    }
}

/* Every way by which a slot can come back, over several chunks. */
static void zeroed_slots_are_zero_whatever_lay_there_before(void **state)
{
    (void)state;
    enum { N = 300 };
    struct ab_pool p = make(1000, 0, 0, true);
    void *blocks[N];
    for (int way = 0; way < 5; way++) {
        for (size_t i = 0; i < N; i++)
            memset(blocks[i] = ab_pool_alloc(&p, p.slot_bytes), 0xff, p.slot_bytes);
        if (way == 0)
            ab_pool_reset(&p);
        for (size_t i = 0; i < N && way != 0; i++)
            if (way == 1 || i % 3 != 0)
                ab_pool_free(&p, blocks[i]);
        if (way >= 3)
            ab_pool_purge(&p);
        if (way == 4) {
            ab_pool_reset(&p);
            ab_pool_purge(&p);
        }
        check_zeroed(&p, N + 200);
        ab_pool_reset(&p);
    }
    ab_pool_fini(&p);
}

static void purge_of_an_empty_pool_returns_all_but_the_first_chunk(void **state)
{
    (void)state;
    struct ab_pool p = make(500, 0, 0, true);
    for (size_t i = 0; i < 10000; i++)
        memset(ab_pool_alloc(&p, 500), 1, 500);
    assert_true(ab_pool_used(&p) > 10000 * 500);
    ab_pool_reset(&p);
    ab_pool_purge(&p);
    assert_int_equal(p.n_chunks, 1);
    assert_int_equal(heap_model_resident(p.chunks[0].base, p.chunks[0].map_bytes), 0);
    assert_int_equal(ab_pool_used(&p), 0);
    memset(ab_pool_alloc(&p, 500), 1, 500);
    ab_pool_fini(&p);
}

static void purge_keeps_live_slots_and_empties_large_free_ones(void **state)
{
    (void)state;
    enum { SLOT = 64 * KIB };
    struct ab_pool p = make(SLOT, 0, 16, false);
    char *blocks[16];
    for (size_t i = 0; i < 16; i++)
        memset(blocks[i] = ab_pool_alloc(&p, SLOT), 1 + (int)i, SLOT);
    for (size_t i = 0; i < 16; i += 2)
        ab_pool_free(&p, blocks[i]);
    ab_pool_purge(&p);
    assert_true(heap_model_resident(blocks[0], 16 * (size_t)SLOT) <= 8 * SLOT + 8 * 4 * KIB);
    for (size_t i = 1; i < 16; i += 2)
        for (size_t k = 0; k < SLOT; k += 100)
            assert_int_equal(blocks[i][k], 1 + i);
    for (size_t i = 0; i < 16; i += 2)
        assert_ptr_equal(ab_pool_alloc(&p, SLOT), blocks[14 - i]);
    ab_pool_fini(&p);
}

static void fini_gives_the_addresses_back(void **state)
{
    (void)state;
    struct ab_pool p = make(64, 0, 0, true);
    unsigned char resident;
    for (size_t i = 0; i < 10000; i++)
        ab_pool_alloc(&p, 1);
    char *first = p.chunks[0].base, *last = p.chunks[p.n_chunks - 1].base;
    ab_pool_fini(&p);
    assert_int_equal(mincore(first, 1, &resident), -1);
    assert_int_equal(errno, ENOMEM);
    assert_int_equal(mincore(last, 1, &resident), -1);
}

/* ---- the glue ---- */

static const struct ab_backend *backend;

static void slots_hold_the_largest_request_and_serve_smaller_ones(void **state)
{
    (void)state;
    struct ab_facts facts = {.largest_bytes = 1000, .live_peak_blocks = 50};
    struct ab_heap *heap = heap_model_open(backend, "", &facts);
    ab_ref ref = backend->alloc(heap, 10);
    assert_int_equal(backend->usable_size(heap, ref), 1008);
    assert_int_equal(backend->resize(heap, ref, 10, 1000), ref);
    assert_int_equal(backend->resize(heap, ref, 1000, 1009), 0);
    assert_int_equal(backend->resize(heap, ref, 1000, SIZE_MAX), 0);
    assert_int_equal(backend->alloc(heap, 1009), 0);
    backend->close(heap);
}

/* 20 slots of 64 KiB: were they a power of two apart, all would begin in one set of the cache. */
static void large_slots_do_not_all_begin_in_the_same_cache_set(void **state)
{
    (void)state;
    struct ab_facts facts = {.largest_bytes = 64 * KIB};
    struct ab_heap *heap = heap_model_open(backend, "slots=20", &facts);
    uint64_t sets = 0;
    for (int i = 0; i < 20; i++)
        sets |= UINT64_C(1) << (backend->alloc(heap, 1) / 64 % 64);
    assert_int_equal(__builtin_popcountll(sets), 20);
    backend->close(heap);
    facts.largest_align = 4096;
    heap = heap_model_open(backend, "", &facts);
    assert_int_equal(backend->usable_size(heap, backend->alloc(heap, 1)), 64 * KIB);
    assert_true(backend->alloc_aligned(heap, 4096, 64 * KIB) != 0);
    assert_int_equal(backend->alloc_aligned(heap, 8192, 1), 0);
    backend->close(heap);
}

static void without_growth_there_are_as_many_slots_as_the_work_needs(void **state)
{
    (void)state;
    struct ab_facts facts = {.largest_bytes = 32, .live_peak_blocks = 50};
    static const struct {
        const char *params;
        unsigned n;
    } table[] = {{"grow=off", 50}, {"grow=off:slots=7", 7}, {"grow=off:slot=64:slots=3", 3}};
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        struct ab_heap *heap = heap_model_open(backend, table[i].params, &facts);
        for (unsigned k = 0; k < table[i].n; k++)
            assert_true(backend->alloc(heap, 32) != 0);
        assert_int_equal(backend->alloc(heap, 32), 0);
        backend->close(heap);
    }
}

static void random_work_agrees_with_the_model(void **state)
{
    (void)state;
    static const char *const settings[] = {"", "threads=mutex", "slot=5KiB:slots=1"};
    struct ab_facts facts = {.largest_bytes = 5000, .largest_align = 64};
    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++) {
        struct ab_heap *heap = heap_model_open(backend, settings[i], &facts);
        heap_model_run(backend, heap, &(struct heap_model_work){30000, 5000, 64, false});
        backend->close(heap);
    }
    struct ab_heap *heap = heap_model_open(backend, "grow=off:slots=100", &facts);
    heap_model_run(backend, heap, &(struct heap_model_work){30000, 9000, 4096, true});
    backend->close(heap);
}

static void several_lanes_share_one_pool(void **state)
{
    (void)state;
    struct ab_facts facts = {.largest_bytes = 300, .lanes = 4};
    struct ab_heap *heap = heap_model_open(backend, "", &facts);
    struct ab_heap_stats stats;
    heap_model_run_threads(backend, heap, 10000, 300);
    assert_int_equal(backend->stats(heap, &stats), 0);
    assert_int_equal(stats.live_bytes, 0);
    backend->close(heap);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slots_are_rounded_up_to_their_alignment),
        cmocka_unit_test(slots_of_a_type_lie_as_in_an_array_of_it),
        cmocka_unit_test(typed_slots_are_aligned_as_their_type),
        cmocka_unit_test(a_pool_over_a_buffer_stays_in_it),
        cmocka_unit_test(pools_that_cannot_be_are_refused),
        cmocka_unit_test(an_alignment_that_is_none_is_refused_also_below_the_least),
        cmocka_unit_test(fresh_slots_are_carved_in_order_and_untouched),
        cmocka_unit_test(the_slot_freed_last_is_served_first),
        cmocka_unit_test(an_exhausted_fixed_pool_says_so_until_a_slot_is_freed),
        cmocka_unit_test(a_growing_pool_needs_few_system_calls),
        cmocka_unit_test(what_does_not_fit_a_slot_fails_and_changes_nothing),
        cmocka_unit_test(a_pool_that_ran_empty_carves_from_the_start_again),
        cmocka_unit_test(a_pool_in_a_given_range_stays_there),
        cmocka_unit_test(a_range_that_ends_before_a_chunk_may_begin_is_not_left),
        cmocka_unit_test(a_fresh_buffer_holds_nothing_that_was_handed_out),
        cmocka_unit_test(reset_keeps_the_chunks_and_starts_over),
        cmocka_unit_test(zeroed_slots_are_zero_whatever_lay_there_before),
        cmocka_unit_test(purge_of_an_empty_pool_returns_all_but_the_first_chunk),
        cmocka_unit_test(purge_keeps_live_slots_and_empties_large_free_ones),
        cmocka_unit_test(fini_gives_the_addresses_back),
        cmocka_unit_test(slots_hold_the_largest_request_and_serve_smaller_ones),
        cmocka_unit_test(large_slots_do_not_all_begin_in_the_same_cache_set),
        cmocka_unit_test(without_growth_there_are_as_many_slots_as_the_work_needs),
        cmocka_unit_test(huge_chunks_are_whole_huge_pages_and_full_of_slots),
        cmocka_unit_test(slots_that_would_crowd_into_a_few_cache_sets_lie_further_apart),
        cmocka_unit_test(random_work_agrees_with_the_model),
        cmocka_unit_test(several_lanes_share_one_pool),
    };
    backend = ab_builtin_find("pool");
    test_with_small_pages();
    return cmocka_run_group_tests_name("pool", tests, NULL, NULL);
}
