/* SPDX-License-Identifier: MIT
 *
 * The stream over all blocks: each piece gives its own bytes, in order only, and never others.
 */
#include "trace/compress.h"

#include "base/rng.h"
#include "support/cmocka.h"
#include "trace/format.h"

#include <stdlib.h>
#include <string.h>

enum { PIECES = 5 };

static uint8_t raw[PIECES][AB_TRACE_RAW_MAX];
static uint8_t stored[PIECES][AB_TRACE_STORED_MAX], out[AB_TRACE_RAW_MAX + 1];
static size_t n_raw[PIECES] = {5, 70000, 300, AB_TRACE_RAW_MAX, 1}, n_stored[PIECES];

static void pack_all(void **state)
{
    (void)state;
    struct ab_err err = {.text = ""};
    struct ab_rng rng;
    ZSTD_CCtx *p = ab_packer_new();
    ab_rng_init(&rng, 6, 6);
    for (size_t i = 0; i < PIECES; i++) {
        for (size_t k = 0; k < n_raw[i]; k++) /* the great one does not compress */
            raw[i][k] = (uint8_t)ab_rng_below(&rng, i == 3 ? 256 : 40);
        size_t ends[3] = {n_raw[i] / 3, n_raw[i] / 2, n_raw[i]};
        assert_int_equal(ab_packer_take(p, raw[i], ends, 3, stored[i], &n_stored[i], &err), AB_OK);
        assert_true(n_stored[i] <= AB_TRACE_STORED_MAX);
    }
    ZSTD_freeCCtx(p);
}

static void pieces_come_back_in_order(void **state)
{
    (void)state;
    ZSTD_DCtx *u = ab_unpacker_new();
    pack_all(state);
    for (size_t i = 0; i < PIECES; i++) {
        const char *wrong = ab_unpacker_take(u, stored[i], n_stored[i], out, n_raw[i]);
        if (wrong != NULL)
            fail_msg("piece %zu: %s", i, wrong);
        assert_memory_equal(out, raw[i], n_raw[i]);
    }
    ZSTD_freeDCtx(u);
}

static void a_piece_of_another_length_is_refused(void **state)
{
    (void)state;
    static const size_t wrong_lengths[] = {0, 4, 6, 4000};
    pack_all(state);
    for (size_t i = 0; i < 4; i++) {
        ZSTD_DCtx *u = ab_unpacker_new();
        assert_non_null(ab_unpacker_take(u, stored[0], n_stored[0], out, wrong_lengths[i]));
        ZSTD_freeDCtx(u);
    }
    for (size_t n = 0; n < n_stored[0]; n++) {
        ZSTD_DCtx *u = ab_unpacker_new();
        assert_non_null(ab_unpacker_take(u, stored[0], n, out, n_raw[0]));
        ZSTD_freeDCtx(u);
    }
}

static void a_repetition_over_blocks_costs_nearly_nothing(void **state)
{
    (void)state;
    struct ab_err err = {.text = ""};
    ZSTD_CCtx *p = ab_packer_new();
    size_t first, again;
    pack_all(state);
    assert_int_equal(ab_packer_take(p, raw[1], &n_raw[1], 1, stored[0], &first, &err), AB_OK);
    assert_int_equal(ab_packer_take(p, raw[1], &n_raw[1], 1, stored[0], &again, &err), AB_OK);
    assert_true(again * 100 < first);
    ZSTD_freeCCtx(p);
}

/* Behind so many others that no table of short matches still knows where it was. */
static void a_repetition_after_a_million_bytes_is_found(void **state)
{
    (void)state;
    struct ab_err err = {.text = ""};
    ZSTD_CCtx *p = ab_packer_new();
    size_t first = 0, again = 0, half = AB_TRACE_RAW_MAX / 2;
    pack_all(state);
    assert_int_equal(ab_packer_take(p, raw[3], &half, 1, stored[0], &first, &err), AB_OK);
    assert_int_equal(ab_packer_take(p, raw[3], &half, 1, stored[0], &again, &err), AB_OK);
    assert_true(again * 50 < first);
    ZSTD_freeCCtx(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_come_back_in_order),
        cmocka_unit_test(a_piece_of_another_length_is_refused),
        cmocka_unit_test(a_repetition_over_blocks_costs_nearly_nothing),
        cmocka_unit_test(a_repetition_after_a_million_bytes_is_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
