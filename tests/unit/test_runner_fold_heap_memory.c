/* SPDX-License-Identifier: MIT
 *
 * Hand-made reports of a mapped row: what its heaps hold adds up to the whole, and what does not is
 * not known, with the reason.
 */
#include "result/numbers.h"
#include "runner/fold.h"
#include "support/cmocka.h"
#include "support/tape.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct ab_tape tape;
static struct ab_tape_map map;
static struct ab_run_page page;
static struct ab_memory_report report;
static struct ab_session s;
static struct ab_outcome run = {.page = &page, .memory = &report};
static const struct ab_fold fold = {.session = &s, .tape = &map, .backend = 0, .round = 2};

static struct {
    struct ab_placement_image image;
    struct ab_placement_heap heaps[3];
} file;
static const struct ab_placement placement = {.image = &file.image};

enum { MIB = 1 << 20, CHURN = 1, SHOWN = 2 };

static struct ab_memory_state *end_state(void)
{
    return &report.phases[CHURN].at[AB_AT_END];
}

/* 6 MiB: of the arena, of which there are two, 1 + 2; of the slab 2; one is of none. */
static int reset(void **state)
{
    (void)state;
    const uint64_t live[3] = {MIB / 2, MIB / 2, MIB};
    memset(&report, 0, sizeof report);
    memset(&page, 0, sizeof page);
    memset(&file, 0, sizeof file);
    file.image.n_heaps = 3;
    file.image.heaps_offset = offsetof(typeof(file), heaps);
    strcpy(file.heaps[0].name, "arena#1");
    strcpy(file.heaps[1].name, "arena#2");
    strcpy(file.heaps[2].name, "slab");
    report.page_bytes = 4096;
    memset(report.heaps_drained_bytes, 0xff, sizeof report.heaps_drained_bytes);
    for (uint32_t p = 0; p < 3; p++)
        for (unsigned at = 0; at < AB_AT_COUNT; at++) {
            struct ab_memory_state *x = &report.phases[p].at[at];
            *x = (struct ab_memory_state){.position = map.phases[p].end - at,
                                          .is_checked = 1,
                                          .requested_bytes = 2 * MIB,
                                          .usable_bytes = 3 * MIB,
                                          .footprint_bytes = 6 * MIB,
                                          .exact_bytes = 6 * MIB,
                                          .live_bytes = 2 * MIB,
                                          .internal_bytes = MIB,
                                          .external_bytes = MIB,
                                          .n_stretches = 3};
            for (uint32_t h = 0; h < 3; h++)
                x->heaps[h] = (struct ab_heap_reading){.requested_bytes = live[h],
                                                       .footprint_bytes = h == 0 ? MIB : 2 * MIB,
                                                       .live_bytes = live[h],
                                                       .internal_bytes = h == 1 ? MIB : 0,
                                                       .external_bytes = h == 2 ? MIB : 0,
                                                       .allocated_bytes = AB_MEMORY_UNKNOWN,
                                                       .mapped_bytes = (h + 2) * MIB,
                                                       .reserved_bytes = h == 1 ? AB_MEMORY_UNKNOWN
                                                                                : 64 * MIB,
                                                       .metadata_bytes = 100 + h};
        }
    return 0;
}

static const struct ab_memory *fold_end(void)
{
    ab_fold_drop(&s, AB_FOLD_ANY, AB_FOLD_ANY);
    ab_fold_memory(&fold, &run);
    ab_fold_heap_memory(&fold, &placement, &run);
    return &s.memory[AB_AT_END];
}

static void heaps_of_one_name_are_one_and_the_bytes_add_up(void **state)
{
    (void)state;
    const struct ab_memory *m = fold_end();
    const struct ab_heap_memory *arena = &m->heaps[0], *slab = &m->heaps[1];
    assert_string_equal(m->phase, "churn");
    assert_true(arena->footprint_bytes == 3 * MIB && slab->footprint_bytes == 2 * MIB);
    assert_true(arena->requested_bytes == MIB && slab->requested_bytes == MIB);
    assert_true(arena->live_bytes == MIB && arena->internal_bytes == MIB &&
                arena->external_bytes == 0 && arena->retained_bytes == MIB);
    assert_true(slab->live_bytes == MIB && slab->internal_bytes == 0 &&
                slab->external_bytes == MIB && slab->retained_bytes == 0);
    assert_true(arena->mapped_bytes == 5 * MIB && slab->mapped_bytes == 4 * MIB);
    assert_true(arena->metadata_bytes == 201 && slab->reserved_bytes == 64 * MIB);
    assert_true(isnan(arena->reserved_bytes)); /* one of the two does not say */
    assert_true(isnan(slab->allocated_bytes) && isnan(m->heaps[SHOWN].footprint_bytes));
    assert_null(strstr(m->reason, "heaps: "));
}

static void assert_no_pages(const struct ab_memory *m)
{
    for (uint32_t h = 0; h < SHOWN; h++) {
        const struct ab_heap_memory *x = &m->heaps[h];
        assert_true(isnan(x->footprint_bytes) && isnan(x->live_bytes) && isnan(x->internal_bytes));
        assert_true(isnan(x->external_bytes) && isnan(x->retained_bytes));
        assert_true(x->requested_bytes == MIB && x->mapped_bytes > 0); /* are of no page */
    }
}

static void pages_that_two_heaps_share_are_not_known(void **state)
{
    (void)state;
    end_state()->heaps[2].external_bytes += 4096;
    const struct ab_memory *m = fold_end();
    assert_no_pages(m);
    assert_non_null(strstr(m->reason, "heaps: two have blocks on one page"));
    assert_true(m->external_bytes == MIB); /* of the whole it is known */
    reset(state);
    end_state()->heaps[0].footprint_bytes = 2 * MIB + 4096; /* one page more than there is */
    m = fold_end();
    assert_no_pages(m);
    assert_non_null(strstr(m->reason, "heaps: two have blocks on one page"));
}

/* What is beyond it is of none; but what a heap says cannot be less than its blocks are on. */
static void a_heap_has_no_more_than_it_mapped(void **state)
{
    (void)state;
    report.drained_bytes[0] = 6 * MIB;
    for (uint32_t h = 0; h < 3; h++)
        report.heaps_drained_bytes[h][0] = 2 * MIB;
    for (uint32_t p = 0; p < 3; p++) {
        report.phases[p].at[AB_AT_END].heaps[0].mapped_bytes = MIB;
        report.phases[p].at[AB_AT_END].heaps[1].mapped_bytes = 3 * MIB / 2;
        report.phases[p].at[AB_AT_END].heaps[2].mapped_bytes = MIB;
    }
    fold_end();
    const struct ab_heap_memory *last = s.memory[2 * AB_AT_COUNT - 1].heaps;
    assert_true(last[0].footprint_bytes == 5 * MIB / 2 && last[0].retained_bytes == MIB / 2);
    assert_true(last[0].drained_bytes[0] == 5 * MIB / 2);
    assert_true(last[1].footprint_bytes == 2 * MIB && last[1].retained_bytes == 0);
    assert_true(last[1].drained_bytes[0] == 2 * MIB);
}

static void what_the_worker_could_not_follow_has_a_reason(void **state)
{
    (void)state;
    end_state()->heaps[1].footprint_bytes = AB_MEMORY_UNKNOWN;
    const struct ab_memory *m = fold_end();
    assert_no_pages(m);
    assert_non_null(strstr(m->reason, "heaps: their blocks are too far apart"));
}

static void what_is_not_known_of_the_whole_is_not_of_its_heaps(void **state)
{
    (void)state;
    end_state()->exact_bytes = 9 * MIB;
    const struct ab_memory *m = fold_end();
    assert_true(isnan(m->footprint_bytes));
    assert_no_pages(m);
    assert_null(strstr(m->reason, "heaps: "));
    reset(state);
    end_state()->usable_bytes = AB_MEMORY_UNKNOWN;
    m = fold_end();
    assert_true(isnan(m->heaps[0].internal_bytes));
    assert_true(m->heaps[0].external_bytes == MIB && m->heaps[0].retained_bytes == MIB);
    reset(state);
    end_state()->position = AB_MEMORY_NEVER;
    m = fold_end();
    assert_true(isnan(m->heaps[0].requested_bytes) && isnan(m->heaps[0].footprint_bytes));
}

static void drains_are_those_of_the_heaps(void **state)
{
    (void)state;
    report.drained_bytes[0] = 3 * MIB;
    report.drained_bytes[1] = AB_MEMORY_UNKNOWN;
    for (uint32_t h = 0; h < 3; h++)
        report.heaps_drained_bytes[h][0] = report.heaps_drained_bytes[h][1] = MIB;
    const struct ab_heap_memory *last;
    fold_end();
    last = s.memory[2 * AB_AT_COUNT - 1].heaps;
    assert_true(last[0].drained_bytes[0] == 2 * MIB && last[1].drained_bytes[0] == MIB);
    assert_true(isnan(last[0].drained_bytes[1]) && isnan(last[1].drained_bytes[4]));
    assert_true(isnan(s.memory[AB_AT_END].heaps[0].drained_bytes[0])); /* not its last phase */
    report.drained_bytes[0] = 3 * MIB - 1; /* less than its heaps have */
    fold_end();
    assert_true(isnan(last[0].drained_bytes[0]) && isnan(last[1].drained_bytes[0]));
}

static void a_row_of_one_heap_is_left_alone(void **state)
{
    (void)state;
    ab_fold_drop(&s, AB_FOLD_ANY, AB_FOLD_ANY);
    ab_fold_memory(&fold, &run);
    ab_fold_heap_memory(&fold, NULL, &run);
    assert_true(s.memory[AB_AT_END].heaps[0].footprint_bytes == 0);
}

static int setup(void **state)
{
    (void)state;
    test_tape_churn_map(300, 3000, &tape, &map);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    ab_fold_drop(&s, AB_FOLD_ANY, AB_FOLD_ANY);
    free(s.memory);
    free(s.timelines);
    free(s.dists);
    ab_tape_map_close(&map);
    ab_tape_fini(&tape);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(heaps_of_one_name_are_one_and_the_bytes_add_up, reset),
        cmocka_unit_test_setup(pages_that_two_heaps_share_are_not_known, reset),
        cmocka_unit_test_setup(a_heap_has_no_more_than_it_mapped, reset),
        cmocka_unit_test_setup(what_the_worker_could_not_follow_has_a_reason, reset),
        cmocka_unit_test_setup(what_is_not_known_of_the_whole_is_not_of_its_heaps, reset),
        cmocka_unit_test_setup(drains_are_those_of_the_heaps, reset),
        cmocka_unit_test_setup(a_row_of_one_heap_is_left_alone, reset),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
