/* SPDX-License-Identifier: MIT
 *
 * Columns: what was encoded is decoded, and nothing else that is only a bit different.
 * tests: chunk.c
 */
#include "trace/chunk.h"

#include "base/rng.h"
#include "support/cmocka.h"
#include "support/trace_mix.h"
#include "trace/format.h"
#include "trace/live_state.h"

#include <stdlib.h>
#include <string.h>

enum { MOST = 3000 };

static uint8_t raw[AB_TRACE_RAW_MAX + 1];
static struct ab_event decoded[AB_TRACE_CHUNK_EVENTS_MAX];

static size_t encode(struct ab_chunk_codec *c, const struct ab_event *r, size_t n)
{
    size_t ends[AB_CHUNK_COLUMNS];
    struct ab_chunk_event *events = malloc(n * sizeof events[0]);
    uint64_t *times = malloc(n * sizeof times[0]);
    assert_true(events != NULL && times != NULL);
    ab_chunk_codec_fit(c, n);
    for (size_t i = 0; i < n; i++) {
        events[i] = ab_chunk_event_of(&r[i]);
        times[i] = r[i].time_us;
    }
    ab_chunk_encode(c, events, times, n, raw, ends);
    free(events);
    free(times);
    for (size_t i = 1; i < AB_CHUNK_COLUMNS; i++)
        assert_true(ends[i] >= ends[i - 1]);
    return ends[AB_CHUNK_COLUMNS - 1];
}

/* Into memory of exactly that size, so that ASan sees a step too far. */
static const char *decode(struct ab_chunk_codec *c, const uint8_t *bytes, size_t n_bytes, size_t n)
{
    uint8_t *exact = malloc(n_bytes + 1);
    assert_non_null(exact);
    memcpy(exact, bytes, n_bytes);
    exact[n_bytes] = 0xff;
    ab_chunk_codec_fit(c, n);
    const char *wrong = ab_chunk_open(c, exact, n_bytes, n);
    for (size_t at = 0, more; wrong == NULL && (more = ab_chunk_next(c)) > 0; at += more)
        wrong = ab_chunk_take(c, decoded + at);
    free(exact);
    return wrong;
}

static void assert_same(const struct ab_event *a, const struct ab_event *b)
{
    assert_int_equal(a->kind, b->kind);
    assert_int_equal(a->failed, b->failed);
    assert_int_equal(a->released, b->released);
    assert_int_equal(a->thread, b->thread);
    assert_int_equal(a->size, b->size);
    assert_int_equal(a->align, b->align);
    assert_int_equal(a->block, b->block);
    assert_int_equal(a->time_us, b->time_us);
}

/* Does the account take all that was decoded? */
static bool is_possible(uint32_t n)
{
    struct ab_account account;
    const char *wrong = NULL;
    ab_account_init(&account);
    account.info.has_time = true;
    for (uint32_t i = 0; i < n && wrong == NULL; i++) {
        struct ab_event event = decoded[i];
        wrong = ab_account_take(&account, &event);
        if (wrong == NULL && ab_event_gives_block(&event))
            assert_true(event.slot < account.info.slots);
    }
    ab_account_fini(&account);
    return wrong == NULL;
}

static void blocks_of_all_lengths_come_back(void **state)
{
    (void)state;
    for (uint32_t threads = 1; threads <= 9; threads += 4)
        for (uint32_t length = 1; length <= MOST; length = length * 5 / 2 + 1) {
            struct test_mix mix = {.seed = threads,
                                   .n = MOST,
                                   .threads = threads,
                                   .has_time = threads == 5,
                                   .has_thread_ends = true};
            struct ab_event *records = test_mix_records(&mix);
            struct ab_chunk_codec in = {.has_time = mix.has_time}, out = in;
            for (uint32_t at = 0; at < MOST; at += length) {
                uint32_t n = MOST - at < length ? MOST - at : length;
                size_t bytes = encode(&in, records + at, n);
                const char *wrong = decode(&out, raw, bytes, n);
                if (wrong != NULL)
                    fail_msg("%u threads, blocks of %u: %s", threads, length, wrong);
                for (uint32_t i = 0; i < n; i++)
                    assert_same(&decoded[i], &records[at + i]);
            }
            ab_chunk_codec_fini(&in);
            ab_chunk_codec_fini(&out);
            free(records);
        }
}

static void every_value_takes_at_most_its_room(void **state)
{
    (void)state;
    struct ab_event *r = calloc(AB_TRACE_CHUNK_EVENTS_MAX, sizeof r[0]);
    struct ab_chunk_codec c = {.has_time = true, .next_number = UINT64_C(1) << 63}, again = c;
    for (uint32_t i = 0; i < AB_TRACE_CHUNK_EVENTS_MAX; i++)
        r[i] = (struct ab_event){.kind = AB_EVENT_RESIZE,
                                 .size = UINT64_MAX,
                                 .block = i % 2 * (UINT64_C(1) << 62),
                                 .thread = AB_TRACE_THREADS_MAX - 1 - i,
                                 .time_us = i == 0 ? 0 : INT64_MAX};
    size_t bytes = encode(&c, r, AB_TRACE_CHUNK_EVENTS_MAX);
    assert_true(bytes <= AB_TRACE_RAW_MAX);
    assert_null(decode(&again, raw, bytes, AB_TRACE_CHUNK_EVENTS_MAX));
    for (uint32_t i = 0; i < AB_TRACE_CHUNK_EVENTS_MAX; i++)
        assert_same(&decoded[i], &r[i]);
    ab_chunk_codec_fini(&c);
    ab_chunk_codec_fini(&again);
    free(r);
}

static void blocks_that_were_cut_or_have_more_are_refused(void **state)
{
    (void)state;
    struct test_mix mix = {.seed = 4, .n = 301, .threads = 3, .has_time = true};
    struct ab_event *records = test_mix_records(&mix);
    struct ab_chunk_codec c = {.has_time = true};
    size_t bytes = encode(&c, records, mix.n);
    for (size_t n = 0; n <= bytes + 1; n++) {
        struct ab_chunk_codec fresh = {.has_time = true};
        const char *wrong = decode(&fresh, raw, n, mix.n);
        if ((wrong == NULL) != (n == bytes))
            fail_msg("%zu of %zu bytes: %s", n, bytes, wrong == NULL ? "accepted" : wrong);
        ab_chunk_codec_fini(&fresh);
    }
    ab_chunk_codec_fini(&c);
    free(records);
}

/* Whatever the bytes are: refused with a reason or decoded, and never read beyond. */
static void changed_blocks_do_no_harm(void **state)
{
    (void)state;
    struct test_mix mix = {.seed = 8, .n = 200, .threads = 4, .has_thread_ends = true};
    struct ab_event *records = test_mix_records(&mix);
    struct ab_chunk_codec c = {.next_number = 0};
    static uint8_t copy[1 << 16];
    struct ab_rng rng;
    size_t bytes = encode(&c, records, mix.n), n_refused = 0;
    ab_rng_init(&rng, 9, 9);
    for (unsigned round = 0; round < 4000; round++) {
        struct ab_chunk_codec fresh = {.next_number = round};
        memcpy(copy, raw, bytes);
        for (unsigned k = 0; k <= round % 5; k++)
            copy[ab_rng_below(&rng, bytes)] ^= (uint8_t)(1 + ab_rng_below(&rng, 255));
        n_refused += decode(&fresh, copy, bytes, mix.n) != NULL;
        for (uint32_t i = 0; i < mix.n; i++)
            assert_true(decoded[i].thread < AB_TRACE_THREADS_MAX);
        ab_chunk_codec_fini(&fresh);
    }
    assert_true(n_refused > 400);
    ab_chunk_codec_fini(&c);
    free(records);
}

/* Behind the checksums and zstd: whatever one byte of the columns becomes, the block is refused
 * with a reason or it is events, which the account then takes or refuses. */
static void every_changed_byte_of_the_columns_does_no_harm(void **state)
{
    (void)state;
    struct test_mix mix = {
        .seed = 3, .n = 200, .threads = 3, .has_time = true, .has_thread_ends = true};
    struct ab_event *records = test_mix_records(&mix);
    struct ab_chunk_codec c = {.has_time = true};
    static uint8_t copy[1 << 16];
    size_t bytes = encode(&c, records, mix.n), n_refused = 0, n_impossible = 0, n_other = 0;
    memcpy(copy, raw, bytes);
    for (size_t i = 0; i < bytes; i++) {
        for (unsigned change = 1; change <= UINT8_MAX; change++) {
            struct ab_chunk_codec fresh = {.has_time = true};
            copy[i] = raw[i] ^ (uint8_t)change;
            if (decode(&fresh, copy, bytes, mix.n) != NULL)
                n_refused++;
            else if (is_possible(mix.n))
                n_other++;
            else
                n_impossible++;
            ab_chunk_codec_fini(&fresh);
        }
        copy[i] = raw[i];
    }
    assert_true(n_refused > 0 && n_impossible > 0 && n_other > 0);
    ab_chunk_codec_fini(&c);
    free(records);
}

static void a_block_of_one_thread_is_what_the_document_says(void **state)
{
    (void)state;
    static const struct ab_event r[] = {
        {.kind = AB_EVENT_ALLOC, .size = 300, .block = 70},
        {.kind = AB_EVENT_ALLOC_ALIGNED, .size = 5, .align = 64, .block = 71},
        {.kind = AB_EVENT_RESIZE, .size = 9, .block = 70},
        {.kind = AB_EVENT_FREE, .block = 71},
        {.kind = AB_EVENT_RESIZE, .released = true, .block = 69},
    };
    static const uint8_t expected[] = {
        1,    5,    0,    /* one run of five by thread 0 */
        0x20, 0x43, 0x06, /* alloc, aligned; resize, free; released */
        0xac, 2,    5,    /* sizes */
        9,                /* size of the resize */
        2,                /* the free: 71 after 70 */
        1,    3,          /* the resizes: 70 after 71, 69 after 71 */
        6,                /* 64 */
    };
    struct ab_chunk_codec c = {.next_number = 70};
    size_t bytes = encode(&c, r, 5);
    assert_int_equal(bytes, sizeof expected);
    assert_memory_equal(raw, expected, sizeof expected);
    assert_int_equal(c.next_number, 72);
    ab_chunk_codec_fini(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_block_of_one_thread_is_what_the_document_says),
        cmocka_unit_test(blocks_of_all_lengths_come_back),
        cmocka_unit_test(every_value_takes_at_most_its_room),
        cmocka_unit_test(blocks_that_were_cut_or_have_more_are_refused),
        cmocka_unit_test(changed_blocks_do_no_harm),
        cmocka_unit_test(every_changed_byte_of_the_columns_does_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
