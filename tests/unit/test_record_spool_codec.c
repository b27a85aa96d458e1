/* SPDX-License-Identifier: MIT
 *
 * Whatever a half holds comes back; damaged words never do as something else unnoticed.
 */
#include "record/preload/spool_codec.h"

#include "base/rng.h"
#include "support/cmocka.h"

#include <string.h>

enum { N = 512, WORDS = 4 * N };

static struct ab_spool_event events[N], back[N];
static uint64_t words[WORDS + 1];

static void expect_round_trip(size_t n)
{
    size_t used = ab_half_pack(events, n, words, WORDS);
    assert_true(n == 0 || used > 0);
    memset(back, 0x5a, sizeof back);
    assert_true(ab_half_unpack(words, used, back, n));
    assert_memory_equal(events, back, n * sizeof events[0]);
}

static uint64_t stamped(uint64_t stamp, unsigned kind)
{
    return stamp << 4 | kind;
}

static void steady_calls_take_a_word_each(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < N; i++)
        events[i] = (struct ab_spool_event){stamped(1000000 + i * 40, AB_SPOOL_ALLOC),
                                            0x7f0000000000 + i * 8 * (i % 3), i % 1000};
    assert_int_equal(ab_half_pack(events, N, words, WORDS), 4 + (N - 1));
    expect_round_trip(N);
}

static void blocks_of_two_regions_take_a_word_each(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < N; i++)
        events[i] = (struct ab_spool_event){stamped(1000000 + i * 40, (unsigned)(1 + i % 6)),
                                            (i % 3 == 0 ? 0x7f0000000000 : 0x560000000000) + i * 16,
                                            i};
    assert_int_equal(ab_half_pack(events, N, words, WORDS), 2 * 4 + (N - 2));
    expect_round_trip(N);
}

/* Each value one below, at and one above where a field ends. */
static void the_ends_of_every_field_come_back(void **state)
{
    static const uint64_t sizes[] = {0, 65535, 65536, UINT64_MAX};
    static const int64_t moves[] = {
        0, 8, -8, 4, 1, (1 << 29) - 8, 1 << 29, -(1 << 29), -(1 << 29) - 8, INT64_MAX, INT64_MIN};
    static const int64_t ticks[] = {0, 65535, 65536, -1, INT64_MAX >> 5};
    (void)state;
    for (size_t s = 0; s < 4; s++)
        for (size_t m = 0; m < 11; m++)
            for (size_t t = 0; t < 5; t++)
                for (unsigned kind = 0; kind < 16; kind++) {
                    events[0] = (struct ab_spool_event){stamped(1 << 20, 1), 0x100000000, 1};
                    events[1] = (struct ab_spool_event){
                        stamped((1 << 20) + (uint64_t)ticks[t], kind),
                        0x100000000 + (uint64_t)moves[m], sizes[s]};
                    expect_round_trip(2);
                }
}

static void any_bits_come_back(void **state)
{
    struct ab_rng rng;
    (void)state;
    ab_rng_init(&rng, 7, 7);
    for (int round = 0; round < 200; round++) {
        for (size_t i = 0; i < N; i++) {
            unsigned shift = (unsigned)(ab_rng_next(&rng) % 64);
            events[i] = (struct ab_spool_event){
                ab_rng_next(&rng) >> shift, ab_rng_next(&rng) >> shift, ab_rng_next(&rng) >> shift};
        }
        expect_round_trip(N);
    }
}

/* They are no differences, and what is around them stays one. */
static void call_sites_take_a_word_or_two(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < N; i += 4) {
        events[i] = (struct ab_spool_event){AB_SPOOL_SITE, 0, i};
        events[i + 1] = (struct ab_spool_event){stamped(500, AB_SPOOL_ALLOC),
                                                0x7f0000000000 + i * 8, 24};
        events[i + 2] = (struct ab_spool_event){AB_SPOOL_FRAME, 0x1234567 * i, i | i << 40};
        events[i + 3] = (struct ab_spool_event){AB_SPOOL_MODULE, i | i << 16, ~i};
    }
    assert_int_equal(ab_half_pack(events, N, words, WORDS), N / 4 * (1 + 1 + 2 + 2) + 3);
    expect_round_trip(N);
}

static void an_event_that_was_never_written_stays_one(void **state)
{
    (void)state;
    events[0] = (struct ab_spool_event){stamped(50, AB_SPOOL_FREE), 0x1000, 0};
    events[1] = (struct ab_spool_event){0, 0x1000, 0};
    events[2] = (struct ab_spool_event){stamped(51, AB_SPOOL_ALLOC), 0x1000, 8};
    expect_round_trip(3);
    assert_int_equal(AB_SPOOL_KIND(&back[1]), AB_SPOOL_NOTHING);
}

static void what_does_not_fit_is_not_packed_at_all(void **state)
{
    (void)state;
    for (size_t i = 0; i < N; i++)
        events[i] = (struct ab_spool_event){stamped(1, AB_SPOOL_ALLOC), (i + 1) << 40, 1};
    for (size_t cap = 0; cap < WORDS; cap++) {
        words[cap] = 0xabcdef;
        assert_int_equal(ab_half_pack(events, N, words, cap), 0);
        assert_int_equal(words[cap], 0xabcdef); /* nothing behind the end */
    }
    assert_int_equal(ab_half_pack(events, N, words, WORDS), WORDS);
}

static void a_full_half_fits_where_nothing_is_packed(void **state)
{
    (void)state;
    assert_true(sizeof(struct ab_spool_event) * AB_SPOOL_HALF_EVENTS == AB_SPOOL_HALF);
    assert_true(AB_SPOOL_HALF % AB_SPOOL_PAGE == 0);
    assert_true(AB_SPOOL_HALF_EVENTS * 4 * 8 + sizeof(struct ab_spool_chunk) <=
                AB_SPOOL_PACK_BYTES);
}

static void words_that_are_cut_or_too_many_are_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < N; i++)
        events[i] = (struct ab_spool_event){stamped(i << (i % 40), AB_SPOOL_ALLOC), i << 30, i};
    size_t used = ab_half_pack(events, N, words, WORDS);
    for (size_t n = 0; n < used; n++)
        assert_false(ab_half_unpack(words, n, back, N));
    words[used] = 0;
    assert_false(ab_half_unpack(words, used + 1, back, N));
    assert_true(ab_half_unpack(words, used, back, N));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steady_calls_take_a_word_each),
        cmocka_unit_test(blocks_of_two_regions_take_a_word_each),
        cmocka_unit_test(the_ends_of_every_field_come_back),
        cmocka_unit_test(any_bits_come_back),
        cmocka_unit_test(call_sites_take_a_word_or_two),
        cmocka_unit_test(an_event_that_was_never_written_stays_one),
        cmocka_unit_test(what_does_not_fit_is_not_packed_at_all),
        cmocka_unit_test(a_full_half_fits_where_nothing_is_packed),
        cmocka_unit_test(words_that_are_cut_or_too_many_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
