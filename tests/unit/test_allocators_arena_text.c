/* SPDX-License-Identifier: MIT
 *
 * Strings and growable arrays in an arena: the headers arena_text.h and arena_array.h.
 */
#include "allocators/arena/arena_array.h"
#include "allocators/arena/arena_text.h"

#include "support/small_pages.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

enum { KIB = 1024, MIB = 1024 * 1024 };

static struct ab_arena a;

static int make(void **state)
{
    (void)state;
    struct ab_arena_options options = {.reserve_bytes = 4 * MIB};
    if (ab_arena_init(&a, &options) != 0)
        return 1;
    memset(ab_arena_alloc(&a, 64 * KIB), 0xEE, 64 * KIB); /* no zero is there by chance */
    ab_arena_reset(&a);
    return 0;
}

static int end(void **state)
{
    (void)state;
    ab_arena_fini(&a);
    return 0;
}

static void strings_are_copied_to_their_length(void **state)
{
    (void)state;
    const char *hello = ab_arena_strdup(&a, "hello"), *he = ab_arena_strndup(&a, hello, 2);
    assert_string_equal(hello, "hello");
    assert_string_equal(he, "he");
    assert_string_equal(ab_arena_strdup(&a, ""), "");
    assert_string_equal(ab_arena_strndup(&a, "x", 0), "");
    assert_null(ab_arena_strndup(&a, "x", SIZE_MAX));
#ifndef __SANITIZE_ADDRESS__
    assert_ptr_equal(he, hello + 6);
    assert_int_equal(ab_arena_used(&a), 16);
#endif
}

static void printf_takes_what_it_prints(void **state)
{
    (void)state;
    for (int width = 0; width < 600; width += 37) {
        char expected[700];
        snprintf(expected, sizeof expected, "%*d|%s", width, 42, "end");
        assert_string_equal(ab_arena_printf(&a, "%*d|%s", width, 42, "end"), expected);
    }
    char exact[AB_PRINT_BYTES + 1];
    for (int n = AB_PRINT_BYTES - 1; n <= AB_PRINT_BYTES; n++) {
        memset(exact, 'x', sizeof exact);
        exact[n] = 0;
        assert_string_equal(ab_arena_printf(&a, "%s", exact), exact);
    }
    ab_arena_alloc(&a, ab_arena_available(&a));
    assert_null(ab_arena_printf(&a, "%d", 1));
}

static void a_builder_grows_where_it_is(void **state)
{
    (void)state;
    struct ab_string t = ab_string_begin(&a);
    ab_string_add(&t, "0");
    const char *place = t.bytes;
    for (int i = 1; i < 2000; i++)
        ab_string_printf(&t, ",%d", i);
    ab_string_add_bytes(&t, "!?", 1);
    ab_string_add(&t, "");
    const char *text = ab_string_end(&t);
    assert_ptr_equal(text, place);
    assert_int_equal(strlen(text), t.length);
    assert_int_equal(text[t.length - 1], '!');
    for (int i = 0; i < 2000; i++, text++)
        assert_int_equal(strtol(text, (char **)&text, 10), i);
#ifndef __SANITIZE_ADDRESS__
    assert_true(ab_arena_used(&a) < t.length + 32); /* what it did not need went back */
#endif
    ab_string_add(&t, "more");
    assert_string_equal(ab_string_end(&t) + t.length - 5, "!more");
    struct ab_string empty = ab_string_begin(&a);
    assert_string_equal(ab_string_end(&empty), "");
}

static void a_builder_moves_when_something_follows_it(void **state)
{
    (void)state;
    struct ab_string t = ab_string_begin(&a);
    for (int i = 0; i < 300; i++) {
        ab_string_add(&t, "abc");
        ab_arena_alloc(&a, 1);
    }
    const char *text = ab_string_end(&t);
    for (int i = 0; i < 300; i++)
        assert_memory_equal(text + 3 * i, "abc", 3);
}

static void a_builder_without_memory_says_so_at_the_end(void **state)
{
    (void)state;
    char buffer[100];
    struct ab_arena small;
    ab_arena_init_buffer(&small, buffer, sizeof buffer);
    struct ab_string t = ab_string_begin(&small);
    for (int i = 0; i < 30; i++)
        ab_string_add(&t, "12345");
    assert_null(ab_string_end(&t));
    ab_string_add(&t, "");
    ab_string_printf(&t, "x");
    assert_null(ab_string_end(&t));
    ab_arena_fini(&small);
}

static void parts_are_joined(void **state)
{
    (void)state;
    static const char *const parts[] = {"a", "", "ccc"};
    assert_string_equal(ab_arena_join(&a, parts, 3, ", "), "a, , ccc");
    assert_string_equal(ab_arena_join(&a, parts, 1, ", "), "a");
    assert_string_equal(ab_arena_join(&a, parts, 0, ", "), "");
}

struct point {
    double x, y;
};

static void an_array_grows_where_it_is(void **state)
{
    (void)state;
    AB_ARRAY(struct point) points = {0};
    assert_true(AB_ARRAY_PUSH(&a, &points, (struct point){0, 1}));
    const struct point *place = points.at;
    for (int i = 1; i < 10000; i++)
        assert_true(AB_ARRAY_PUSH(&a, &points, (struct point){i, i + 1}));
    assert_ptr_equal(points.at, place);
    assert_int_equal(points.n, 10000);
    for (int i = 0; i < 10000; i++)
        assert_true(points.at[i].x == i && points.at[i].y == i + 1);
    AB_ARRAY_SWAP_POP(&points, 0);
    assert_true(points.at[0].x == 9999 && points.n == 9999);
}

static void arrays_that_grow_in_turn_move_few_times(void **state)
{
    (void)state;
    AB_ARRAY(int) even = {0};
    AB_ARRAY(int) odd = {0};
    int n_moves = 0;
    for (int i = 0; i < 20000; i++) {
        const int *before = even.at;
        assert_true(i % 2 == 0 ? AB_ARRAY_PUSH(&a, &even, i) : AB_ARRAY_PUSH(&a, &odd, i));
        n_moves += before != even.at;
    }
    assert_true(n_moves < 20);
    for (int i = 0; i < 10000; i++)
        assert_true(even.at[i] == 2 * i && odd.at[i] == 2 * i + 1);
}

static void an_array_that_cannot_grow_stays_as_it_is(void **state)
{
    (void)state;
    char buffer[256];
    struct ab_arena small;
    ab_arena_init_buffer(&small, buffer, sizeof buffer);
    AB_ARRAY(char) bytes = {0};
    size_t n = 0;
    while (AB_ARRAY_PUSH(&small, &bytes, (char)n))
        n++;
    assert_true(n >= 128 && n <= 256); /* not twice as large, but as large as there is room */
    assert_int_equal(bytes.n, n);
    for (size_t i = 0; i < n; i++)
        assert_int_equal((unsigned char)bytes.at[i], i);
    bool is_there = AB_ARRAY_RESERVE(&small, &bytes, SIZE_MAX);
    assert_false(is_there);
    AB_ARRAY(struct point) points = {0};
    is_there = AB_ARRAY_RESERVE(&a, &points, SIZE_MAX / 8);
    assert_false(is_there);
    assert_null(points.at);
    ab_arena_fini(&small);
}

int main(void)
{
#define IN_ARENA(test) cmocka_unit_test_setup_teardown(test, make, end)
    const struct CMUnitTest tests[] = {
        IN_ARENA(strings_are_copied_to_their_length),
        IN_ARENA(printf_takes_what_it_prints),
        IN_ARENA(a_builder_grows_where_it_is),
        IN_ARENA(a_builder_moves_when_something_follows_it),
        IN_ARENA(a_builder_without_memory_says_so_at_the_end),
        IN_ARENA(parts_are_joined),
        IN_ARENA(an_array_grows_where_it_is),
        IN_ARENA(arrays_that_grow_in_turn_move_few_times),
        IN_ARENA(an_array_that_cannot_grow_stays_as_it_is),
    };
    test_with_small_pages();
    return cmocka_run_group_tests_name("arena text", tests, NULL, NULL);
}
