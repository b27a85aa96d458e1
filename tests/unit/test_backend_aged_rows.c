/* SPDX-License-Identifier: MIT
 *
 * Tests that -b and --aged parse aged heaps, and the rows that they make.
 */
#include "backend/aged_rows.h"
#include "support/cmocka.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct ab_err err;

static void expect_read(const char *text, double occupancy, double multiple)
{
    struct ab_aging_request r;
    assert_int_equal(ab_aged_rows_read(text, "-b", &r, &err), AB_OK);
    assert_true(r.occupancy == occupancy && r.multiple == multiple);
}

static void expect_refused(const char *text, const char *why)
{
    struct ab_aging_request r = {.occupancy = 9};
    assert_int_equal(ab_aged_rows_read(text, "-b", &r, &err), AB_USAGE);
    assert_non_null(strstr(err.text, why));
    assert_true(r.occupancy == 9);
}

static void texts_are_read(void **state)
{
    (void)state;
    expect_read("0.75", 0.75, 1);
    expect_read("0.75x2", 0.75, 2);
    expect_read(".5x0.25", 0.5, 0.25);
    expect_refused("", "is not an occupancy");
    expect_refused("half", "is not an occupancy");
    expect_refused("0.5x", "is not an occupancy");
    expect_refused("0.5x2x3", "is not an occupancy");
    expect_refused("-0.5", "is not an occupancy");
    expect_refused("1e-1", "is not an occupancy");
    expect_refused("0", "leave it out for a fresh heap");
    expect_refused("0.96", "0.01 to 0.95");
    expect_refused("0.5x17", "0.01 to 16 times");
}

static void expect_names(const struct ab_selection_list *list, const char *const *names)
{
    size_t n = 0;
    for (; names[n] != NULL; n++) {
        assert_true(n < list->n);
        assert_string_equal(list->items[n].name, names[n]);
    }
    assert_int_equal(list->n, n);
}

static void rows_are_multiplied(void **state)
{
    static const char *const backends[] = {"glibc{GLIBC_TUNABLES=a=b},slab:keep=0",
                                           "arena,pool:litter=0.5"};
    static const char *const aged_lists[] = {"0,0.25", "0.75x2"};
    static const char *const names[] = {"glibc{GLIBC_TUNABLES=a=b}",
                                        "glibc:litter=0.25{GLIBC_TUNABLES=a=b}",
                                        "glibc:litter=0.75x2{GLIBC_TUNABLES=a=b}",
                                        "slab:keep=0",
                                        "slab:keep=0:litter=0.25",
                                        "slab:keep=0:litter=0.75x2",
                                        "arena",
                                        "arena:litter=0.25",
                                        "arena:litter=0.75x2",
                                        "pool:litter=0.5",
                                        NULL};
    struct ab_selection_list list;
    (void)state;
    assert_int_equal(ab_selection_parse(backends, 2, NULL, &list, &err), AB_OK);
    assert_int_equal(ab_aged_rows_add(aged_lists, 2, &list, &err), AB_OK);
    expect_names(&list, names);
    assert_true(list.items[2].aging.occupancy == 0.75 && list.items[2].aging.multiple == 2);
    assert_int_equal(list.items[2].n_env, 1);
    assert_int_equal(list.items[5].state, AB_SELECTION_OK);
    assert_int_equal(list.items[6].state, AB_SELECTION_OK);
    assert_int_equal(list.items[7].state, AB_SELECTION_ABSENT); /* an arena frees no single block */
    assert_string_equal(list.items[7].reason,
                        "cannot free single blocks, so its heap cannot be aged");
    assert_false(list.items[7].was_named); /* so that it is no failure */
    ab_selection_list_fini(&list);
}

static void rows_with_the_same_aging_are_the_same_row(void **state)
{
    static const char *const backends[] = {"glibc:litter=0.25,glibc,checked+glibc:litter=0.5"};
    static const char *const twice[] = {"glibc:litter=0.5,glibc:litter=0.50"};
    struct ab_selection_list list;
    (void)state;
    assert_int_equal(ab_selection_parse(backends, 1, NULL, &list, &err), AB_OK);
    assert_true(list.items[0].aging.occupancy == 0.25);
    assert_true(list.items[1].aging.occupancy == 0);
    assert_int_equal(list.items[2].state, AB_SELECTION_ABSENT);
    ab_selection_list_fini(&list);
    assert_int_equal(ab_selection_parse(twice, 1, NULL, &list, &err), AB_USAGE);
    assert_non_null(strstr(err.text, "are the same back end"));
}

static void too_many_rows_are_refused(void **state)
{
    static const char *const backends[] = {"glibc"};
    struct ab_selection_list list;
    char text[AB_SELECTION_MAX * 8] = "0";
    const char *aged_lists[] = {text};
    (void)state;
    for (int i = 1; i <= AB_SELECTION_MAX; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), ",0.5x%d.%d", i / 10, i % 10);
    assert_int_equal(ab_selection_parse(backends, 1, NULL, &list, &err), AB_OK);
    assert_int_equal(ab_aged_rows_add(aged_lists, 1, &list, &err), AB_USAGE);
    assert_non_null(strstr(err.text, "more than 64 rows"));
    assert_int_equal(list.n, 1);
    ab_selection_list_fini(&list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_are_read),
        cmocka_unit_test(rows_are_multiplied),
        cmocka_unit_test(rows_with_the_same_aging_are_the_same_row),
        cmocka_unit_test(too_many_rows_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
