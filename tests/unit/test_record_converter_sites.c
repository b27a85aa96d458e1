/* SPDX-License-Identifier: MIT
 *
 * Events of call sites as a recorder writes them, and as none does: what they become in the table,
 * and which site a call has when signal handlers come between.
 */
#include "record/converter.h"

#include "base/rng.h"
#include "support/cmocka.h"

#include <string.h>

static struct ab_stream_sites *stream;
static struct ab_site_table table;
static struct ab_err err;

static int begin(void **state)
{
    (void)state;
    stream = NULL;
    table = (struct ab_site_table){0};
    return 0;
}

static int end(void **state)
{
    (void)state;
    ab_stream_sites_free(stream);
    ab_site_table_fini(&table);
    return 0;
}

static enum ab_status take(unsigned kind, uint64_t address, uint64_t size)
{
    struct ab_spool_event e = {kind, address, size};
    return ab_stream_sites_take(&stream, &e, &table, &err);
}

static void module(uint32_t number, const char *path, const char *build_id)
{
    char text[200] = "";
    size_t n_id = strlen(build_id), n_path = strlen(path);
    text[0] = (char)n_id;
    text[1] = (char)n_path;
    memcpy(text + 3, build_id, n_id);
    memcpy(text + 3 + n_id, path, n_path);
    for (uint64_t at = 0; at < 3 + n_id + n_path; at += 8) {
        uint64_t word;
        memcpy(&word, text + at, 8);
        assert_int_equal(take(AB_SPOOL_MODULE, number | at / 8 << 16, word), AB_OK);
    }
}

static enum ab_status frame(uint32_t stack, unsigned place, uint64_t address, uint64_t of,
                            unsigned ends)
{
    return take(AB_SPOOL_FRAME, address,
                stack | (uint64_t)place << 32 | of << 40 | (uint64_t)ends << 56);
}

static void stack_of_two(uint32_t number, uint64_t address)
{
    assert_int_equal(frame(number, 0, address, 1, 0), AB_OK);
    assert_int_equal(frame(number, 1, address + 1, 1, 1), AB_OK);
}

static void site(uint64_t number)
{
    assert_int_equal(take(AB_SPOOL_SITE, 0, number), AB_OK);
}

static void a_call_has_the_stack_before_it(void **state)
{
    (void)state;
    module(1, "/bin/a", "identity");
    stack_of_two(1, 100);
    site(1);
    assert_int_equal(ab_stream_sites_of_call(stream), 1);
    assert_int_equal(ab_stream_sites_of_call(stream), 0); /* none was noted */
    assert_string_equal(table.modules[0].path, "/bin/a");
    assert_memory_equal(table.modules[0].build_id, "identity", 8);
    assert_int_equal(table.stacks[0].depth, 2);
    assert_int_equal(table.stacks[0].end, AB_SITE_WHOLE);
    assert_int_equal(ab_site_frame(&table, 1, 1)->address, 101);
    assert_int_equal(ab_site_frame(&table, 1, 1)->module, 1);
    assert_int_equal(ab_stream_sites_of_call(NULL), 0);
}

/* What a cache has forgotten is made known again, under another number. */
static void the_same_stack_is_one_site(void **state)
{
    (void)state;
    module(1, "/bin/a", "");
    module(2, "/bin/a", "");
    stack_of_two(1, 100);
    stack_of_two(5, 100);
    site(1);
    assert_int_equal(ab_stream_sites_of_call(stream), 1);
    site(5);
    assert_int_equal(ab_stream_sites_of_call(stream), 1);
    assert_int_equal(table.n_modules, 1);
}

/* A handler between site and call, and one within a stack that is being made known. */
static void handlers_nest(void **state)
{
    (void)state;
    module(1, "/bin/a", "");
    stack_of_two(1, 100);
    assert_int_equal(frame(2, 0, 200, 1, 0), AB_OK);
    stack_of_two(3, 300);
    site(3);
    assert_int_equal(ab_stream_sites_of_call(stream), 2);
    assert_int_equal(frame(2, 1, 201, 1, 2), AB_OK);
    site(2);
    site(1);
    assert_int_equal(ab_stream_sites_of_call(stream), 1);
    assert_int_equal(ab_stream_sites_of_call(stream), 3);
    assert_int_equal(table.stacks[2].end, AB_SITE_DEPTH);
}

/* Handlers that leave by longjmp: what they left never grows, nor hides what comes. */
static void what_was_left_does_not_grow(void **state)
{
    (void)state;
    module(1, "/bin/a", "");
    stack_of_two(1, 100);
    for (uint32_t i = 0; i < 1000; i++) {
        site(1);
        assert_int_equal(frame(i + 10, 0, 5, 1, 0), AB_OK);
        site(1);
        assert_int_equal(ab_stream_sites_of_call(stream), 1);
    }
    ab_stream_sites_end_thread(stream);
    assert_int_equal(ab_stream_sites_of_call(stream), 0);
}

static void what_is_not_known_is_none(void **state)
{
    (void)state;
    site(7);
    assert_int_equal(ab_stream_sites_of_call(stream), 0);
    assert_int_equal(frame(1, 0, 5, 3, 1), AB_OK); /* its module was cut off */
    site(1);
    assert_int_equal(ab_stream_sites_of_call(stream), 1);
    assert_int_equal(ab_site_frame(&table, 1, 0)->module, 0);
    assert_int_equal(ab_site_frame(&table, 1, 0)->address, 0); /* no address of a process */
}

static void what_no_recorder_writes_is_refused(void **state)
{
    (void)state;
    assert_int_equal(frame(1, 0, 5, 0, 6), AB_INPUT);
    assert_int_equal(frame(2, 0, 5, 0, 0), AB_OK);
    assert_int_equal(frame(2, 2, 5, 0, 0), AB_INPUT);
    assert_int_equal(frame(UINT32_MAX, 0, 5, 0, 1), AB_OK); /* more than are kept: not known */
    assert_int_equal(take(AB_SPOOL_MODULE, UINT64_C(1) << 40 | 1, 0), AB_INPUT);
    assert_int_equal(take(AB_SPOOL_MODULE, 1, 0xffffff), AB_INPUT);
}

static void any_events_end_well(void **state)
{
    struct ab_rng rng;
    size_t n_taken = 0;
    (void)state;
    ab_rng_init(&rng, 9, 9);
    for (int i = 0; i < 100000; i++) {
        uint64_t a = ab_rng_next(&rng) >> ab_rng_next(&rng) % 64, b = ab_rng_next(&rng);
        b = ab_rng_next(&rng) % 2 ? b >> ab_rng_next(&rng) % 64
                                  : (b & 3) | (b >> 2 & 3) << 32 | (b >> 4 & 7) << 56;
        n_taken += take(AB_SPOOL_SITE + (unsigned)(ab_rng_next(&rng) % 3), a,
                        b & 0x0fffffffffffffff) == AB_OK;
        assert_true(ab_stream_sites_of_call(stream) <= table.n_stacks);
    }
    assert_true(n_taken > 10000);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)
    const struct CMUnitTest tests[] = {
        TEST(a_call_has_the_stack_before_it),
        TEST(the_same_stack_is_one_site),
        TEST(handlers_nest),
        TEST(what_was_left_does_not_grow),
        TEST(what_is_not_known_is_none),
        TEST(what_no_recorder_writes_is_refused),
        TEST(any_events_end_well),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
