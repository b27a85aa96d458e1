/* SPDX-License-Identifier: MIT
 *
 * The table of names that all recorded processes share, also when it is full, when a name was never
 * finished, and when many threads name the same.
 */
#include "record/preload/preload_control.c" /* it is in the recorder alone */
#include "support/cmocka.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct ab_spool_control *ab_control;

static int begin(void **state)
{
    (void)state;
    ab_control = calloc(1, sizeof *ab_control);
    return ab_control != NULL ? 0 : -1;
}

static int end(void **state)
{
    (void)state;
    free(ab_control);
    return 0;
}

static const char *text_of(uint32_t number)
{
    assert_true(number >= 1 && number <= AB_SPOOL_MARK_NAMES);
    assert_int_equal(ab_control->mark_names[number - 1].state, AB_SPOOL_NAME_THERE);
    return ab_control->mark_names[number - 1].text;
}

static void a_name_has_one_number(void **state)
{
    (void)state;
    uint32_t frame = ab_mark_name_number("frame"), empty = ab_mark_name_number("");
    assert_string_equal(text_of(frame), "frame");
    assert_string_equal(text_of(empty), "");
    assert_int_not_equal(frame, empty);
    assert_int_equal(ab_mark_name_number("frame"), frame);
    assert_int_not_equal(ab_mark_name_number("frames"), frame);
    assert_int_not_equal(ab_mark_name_number("fram"), frame);
}

static void a_long_name_is_cut(void **state)
{
    char longer[300], cut[AB_SPOOL_MARK_NAME];
    (void)state;
    memset(longer, 'x', sizeof longer - 1);
    longer[sizeof longer - 1] = 0;
    memset(cut, 'x', sizeof cut - 1);
    cut[sizeof cut - 1] = 0;
    uint32_t number = ab_mark_name_number(longer);
    assert_string_equal(text_of(number), cut);
    longer[200] = 'y';
    assert_int_equal(ab_mark_name_number(longer), number);
    assert_int_equal(ab_mark_name_number(cut), number);
}

/* A signal handler may set the mark that it has interrupted; a process may be killed. */
static void a_name_that_is_being_written_is_passed_over(void **state)
{
    (void)state;
    uint32_t first = ab_mark_name_number("frame");
    ab_control->mark_names[first - 1].state = AB_SPOOL_NAME_TAKEN;
    uint32_t second = ab_mark_name_number("frame");
    assert_int_not_equal(second, first);
    assert_string_equal(text_of(second), "frame");
    assert_int_equal(ab_mark_name_number("frame"), second);
}

static void a_full_table_keeps_what_it_has(void **state)
{
    char name[32];
    uint32_t numbers[AB_SPOOL_MARK_NAMES];
    static bool is_taken[AB_SPOOL_MARK_NAMES];
    (void)state;
    for (uint32_t i = 0; i < AB_SPOOL_MARK_NAMES; i++) {
        snprintf(name, sizeof name, "name %u", i);
        numbers[i] = ab_mark_name_number(name);
        assert_string_equal(text_of(numbers[i]), name);
        assert_false(is_taken[numbers[i] - 1]);
        is_taken[numbers[i] - 1] = true;
    }
    assert_int_equal(ab_mark_name_number("one more"), 0);
    for (uint32_t i = 0; i < AB_SPOOL_MARK_NAMES; i++) {
        snprintf(name, sizeof name, "name %u", i);
        assert_int_equal(ab_mark_name_number(name), numbers[i]);
    }
}

enum { THREADS = 4, NAMES = 150 }; /* even if each thread has a place of its own, all fit */

static void *name_all(void *user)
{
    char name[32];
    uint32_t *numbers = user;
    for (uint32_t i = 0; i < NAMES; i++) {
        snprintf(name, sizeof name, "shared %u", i);
        numbers[i] = ab_mark_name_number(name);
    }
    return NULL;
}

static void threads_that_name_the_same_find_it(void **state)
{
    static uint32_t numbers[THREADS][NAMES];
    pthread_t threads[THREADS];
    char name[32];
    (void)state;
    for (int t = 0; t < THREADS; t++)
        assert_int_equal(pthread_create(&threads[t], NULL, name_all, numbers[t]), 0);
    for (int t = 0; t < THREADS; t++)
        pthread_join(threads[t], NULL);
    for (int t = 0; t < THREADS; t++)
        for (uint32_t i = 0; i < NAMES; i++) {
            snprintf(name, sizeof name, "shared %u", i);
            assert_string_equal(text_of(numbers[t][i]), name);
        }
}

#define NAMES_TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        NAMES_TEST(a_name_has_one_number),
        NAMES_TEST(a_long_name_is_cut),
        NAMES_TEST(a_name_that_is_being_written_is_passed_over),
        NAMES_TEST(a_full_table_keeps_what_it_has),
        NAMES_TEST(threads_that_name_the_same_find_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
