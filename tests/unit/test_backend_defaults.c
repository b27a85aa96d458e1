/* SPDX-License-Identifier: MIT */
#include "backend/presets.h"

#include "allocators/builtin.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

/* The names that a work gets, with a space after each. */
static const char *suited(struct ab_work work)
{
    static char names[128];
    names[0] = 0;
    for (size_t i = 0; i < ab_default_count(); i++)
        if (ab_default_suits(i, &work))
            strcat(strcat(names, ab_default_at(i)->name), " ");
    return names;
}

static void small_mixed_sizes_that_come_and_go_get_the_slab(void **state)
{
    (void)state;
    struct ab_work churn = {.n_requests = 1000000,
                            .requested_bytes = 160000000,
                            .largest_bytes = 256,
                            .live_peak_bytes = 160000,
                            .stretch_bytes = 160000000};
    assert_string_equal(suited(churn), "slab ");
    churn.requested_bytes = 512000000;
    churn.largest_bytes = 65536;
    assert_string_equal(suited(churn), "slab ");
    churn.requested_bytes++; /* 512 bytes on average, and a little more */
    assert_string_equal(suited(churn), "");
}

static void requests_of_nearly_one_size_get_the_pool_and_no_slab(void **state)
{
    (void)state;
    struct ab_work particles = {.n_requests = 1000,
                                .requested_bytes = 48000,
                                .largest_bytes = 48,
                                .live_peak_bytes = 4800,
                                .stretch_bytes = 48000};
    assert_string_equal(suited(particles), "pool ");
    particles.largest_bytes = 60; /* 48 is just 80 % */
    assert_string_equal(suited(particles), "pool ");
    particles.largest_bytes = 61;
    assert_string_equal(suited(particles), "slab ");
    particles.largest_bytes = 4 << 20; /* one buffer among them */
    assert_string_equal(suited(particles), "slab ");
}

static void what_is_freed_in_bulk_or_never_gets_the_arena(void **state)
{
    (void)state;
    struct ab_work frames = {.n_requests = 600 * 500,
                             .requested_bytes = 600 * 35000,
                             .largest_bytes = 4096,
                             .live_peak_bytes = 36000,
                             .stretch_bytes = 36000};
    assert_string_equal(suited(frames), "arena slab ");
    frames.stretch_bytes = 600 * 35000; /* the same blocks, freed one by one */
    assert_string_equal(suited(frames), "slab ");
    frames.stretch_bytes = 90000; /* one frame of two without its reset */
    assert_string_equal(suited(frames), "slab ");
    struct ab_work compiler = {.n_requests = 1000,
                               .requested_bytes = 1250000,
                               .largest_bytes = 100000,
                               .live_peak_bytes = 1000000,
                               .stretch_bytes = 1250000};
    assert_string_equal(suited(compiler), "arena ");
    compiler.stretch_bytes++;
    assert_string_equal(suited(compiler), "");
}

static void a_work_without_a_request_gets_none(void **state)
{
    (void)state;
    assert_string_equal(suited((struct ab_work){0}), "");
    assert_string_equal(suited((struct ab_work){.n_requests = 7}), "");
}

static void every_name_is_known_and_has_its_rule(void **state)
{
    (void)state;
    for (size_t i = 0; i < ab_default_count(); i++) {
        const struct ab_default *d = ab_default_at(i);
        assert_true(ab_builtin_find(d->name) != NULL || ab_preset_find(d->name) != NULL);
        assert_true(ab_builtin_find(d->name) != NULL || d->is_suited == NULL);
        assert_true(d->rule[0] != 0 && d->rule[strlen(d->rule) - 1] != '.');
        assert_int_equal(d->is_suited != NULL, d->why[0] != 0);
    }
}

static void a_second_name_for_an_allocator_and_our_own_are_left_out(void **state)
{
    (void)state;
    size_t n = 0;
    for (size_t i = 0; i < ab_preset_count(); i++)
        n += ab_default_has_library(ab_preset_at(i));
    assert_int_equal(n, ab_preset_count() - 2);
    assert_false(ab_default_has_library(ab_preset_find("slab_malloc"))); /* our own */
    assert_false(ab_default_has_library(ab_preset_find("tcmalloc_minimal")));
    assert_true(ab_default_has_library(ab_preset_find("glibc")));
    assert_true(n + 2 <= AB_DEFAULT_MOST); /* arena, and pool or slab */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_mixed_sizes_that_come_and_go_get_the_slab),
        cmocka_unit_test(requests_of_nearly_one_size_get_the_pool_and_no_slab),
        cmocka_unit_test(what_is_freed_in_bulk_or_never_gets_the_arena),
        cmocka_unit_test(a_work_without_a_request_gets_none),
        cmocka_unit_test(every_name_is_known_and_has_its_rule),
        cmocka_unit_test(a_second_name_for_an_allocator_and_our_own_are_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
