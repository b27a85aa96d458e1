/* SPDX-License-Identifier: MIT
 *
 * Names of harnesses: the boundary, or the rows that share one.
 */
#include "answer/words.h"

#include "support/cmocka.h"

#include <stdio.h>
#include <string.h>

static struct ab_backend_info backends[] = {
    {.name = "glibc", .boundary = "malloc"}, {.name = "@map", .boundary = "routed"},
    {.name = "@map2", .boundary = "routed"}, {.name = "@map3", .boundary = "routed"},
    {.name = "@map4", .boundary = "routed"}, {.name = "odd"}};
static const struct ab_session session = {.backends = backends, .n_backends = 6};
static char name[AB_HARNESS_NAME_BYTES];

static int set_up(void **state)
{
    (void)state;
    static const char *const placements[] = {"", "aa", "bb", "aa", "aa", ""};
    for (uint32_t i = 0; i < session.n_backends; i++) {
        backends[i].status = AB_BACKEND_OK;
        strcpy(backends[i].rules.placement, placements[i]);
    }
    return 0;
}

static const char *name_of(uint32_t backend)
{
    ab_harness_name(&session, backend, name);
    return name;
}

static void rows_name_what_their_boundary_does_not(void **state)
{
    (void)state;
    assert_string_equal(name_of(0), "malloc");
    assert_string_equal(name_of(1), "@map, @map3, @map4");
    assert_string_equal(name_of(2), "@map2");
    assert_true(ab_harness_is_used(&session, 1));
    assert_false(ab_harness_is_used(&session, 3)); /* @map stands for it */
    assert_false(ab_harness_is_used(&session, 5)); /* not known how it was called */
}

/* Rows without numbers have none, but stand for those that do. */
static void rows_that_failed_name_nothing(void **state)
{
    (void)state;
    backends[1].status = AB_BACKEND_CRASHED;
    assert_true(ab_harness_is_used(&session, 1));
    assert_string_equal(name_of(1), "@map3, @map4");
    backends[2].status = AB_BACKEND_ABSENT;
    assert_false(ab_harness_is_used(&session, 2));
    assert_string_equal(name_of(1), "routed"); /* the only one that is left */
}

static void many_rows_end_with_an_ellipsis(void **state)
{
    (void)state;
    memset(backends[3].name, 'x', AB_BACKEND_NAME_BYTES - 1);
    memset(backends[4].name, 'y', AB_BACKEND_NAME_BYTES - 1);
    const char *shown = name_of(1);
    assert_memory_equal(shown, "@map, xxx", 9);
    assert_string_equal(shown + strlen(shown) - 6, "x, ...");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(rows_name_what_their_boundary_does_not, set_up),
        cmocka_unit_test_setup(rows_that_failed_name_nothing, set_up),
        cmocka_unit_test_setup(many_rows_end_with_an_ellipsis, set_up),
    };
    return cmocka_run_group_tests_name("harness_name", tests, NULL, NULL);
}
