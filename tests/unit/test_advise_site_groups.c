/* SPDX-License-Identifier: MIT
 *
 * Which place a stack's blocks belong to, and whether a rule can name it.
 */
#include "advise/site_groups.h"

#include "support/cmocka.h"
#include "support/trace.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct ab_err err;
static struct ab_site_groups groups;

static ab_site_name *name; /* NULL = names are not known */

/* Addresses from 100 on are calls in one line, of the column that the address says. */
static struct ab_site_named name_by_address(void *user, const struct ab_site_table *table,
                                            const struct ab_site_frame *frame)
{
    static struct ab_symbol symbol = {
        .function = "main", .file = "/src/game.c", .defined_in = "/src/game.c"};
    (void)user, (void)table;
    symbol.line = frame->address < 100 ? (int)frame->address : 100;
    symbol.column = frame->address < 100 ? 5 : (int)(frame->address / 10 - 9);
    return (struct ab_site_named){&symbol, 1};
}

/* Stacks of addresses in one module, outwards, each up to a 0; one call of each. */
static void make(uint64_t stacks[][4], size_t n)
{
    struct ab_site_table t = {0}, read = {0};
    struct ab_trace_writer *w;
    uint32_t module, number;
    uint64_t block;
    char *path = test_trace_file(NULL, 0);
    FILE *to = fopen(path, "wb");
    module = ab_site_know_module(&t, "/opt/game/bin/game", 18, NULL, 0);
    for (size_t i = 0; i < n; i++) {
        struct ab_site_frame frames[4];
        uint32_t depth = 0;
        for (; stacks[i][depth] != 0; depth++)
            frames[depth] = (struct ab_site_frame){stacks[i][depth], module};
        number = ab_site_know_stack(&t, frames, depth, AB_SITE_WHOLE);
        assert_int_equal(number, i + 1);
    }
    struct ab_trace_writer_options options = {.program = "game", .sites = &t};
    assert_int_equal(ab_trace_writer_open_with(to, &options, &w, &err), AB_OK);
    for (uint32_t i = 1; i <= n; i++) {
        struct ab_event e = {.kind = AB_EVENT_ALLOC, .size = 8, .site = i};
        assert_int_equal(ab_trace_write(w, &e, &block, &err), AB_OK);
    }
    assert_int_equal(ab_trace_writer_close(w, NULL, &err), AB_OK);
    fclose(to);
    const struct ab_advise_plan plan = {.path = path, .name = name};
    ab_site_groups_fini(&groups);
    if (ab_site_groups_make(&plan, &read, &groups, &err) != AB_OK)
        fail_msg("%s", err.text);
    ab_site_table_fini(&read);
    ab_site_table_fini(&t);
    unlink(path);
    free(path);
}

static const struct ab_advice_group *of_stack(uint32_t stack)
{
    return &groups.items[groups.of_site[stack]];
}

static void a_place_is_named_by_its_module_and_address(void **state)
{
    (void)state;
    make((uint64_t[][4]){{16, 32, 0}, {17, 32, 0}, {16, 48, 0}}, 3);
    assert_string_equal(of_stack(1)->key, "site:game+0x10");
    assert_string_equal(of_stack(2)->key, "site:game+0x11");
    assert_ptr_equal(of_stack(3), of_stack(1));
}

static void two_calls_on_a_line_are_two_places(void **state)
{
    (void)state;
    name = name_by_address;
    make((uint64_t[][4]){{100, 0}, {120, 0}, {121, 0}, {20, 0}}, 4);
    assert_string_equal(of_stack(1)->key, "site:game.c:100:1");
    assert_string_equal(of_stack(2)->key, "site:game.c:100:3");
    assert_ptr_equal(of_stack(3), of_stack(2));              /* the same call, compiled twice */
    assert_string_equal(of_stack(4)->key, "site:game.c:20"); /* alone on its line */
    name = NULL;
}

/* A rule takes any frame of a stack. */
static void a_place_that_other_places_are_called_from_has_no_rule(void **state)
{
    (void)state;
    make((uint64_t[][4]){{32, 48, 0}, {16, 32, 48, 0}}, 2);
    assert_string_equal(of_stack(1)->key, "");
    assert_true(of_stack(1)->is_shadowed);
    assert_string_equal(of_stack(2)->key, "site:game+0x10");
    assert_false(of_stack(2)->is_shadowed);
    make((uint64_t[][4]){{32, 48, 0}, {32, 32, 48, 0}}, 2); /* it calls itself */
    assert_string_equal(of_stack(1)->key, "site:game+0x20");
    assert_ptr_equal(of_stack(2), of_stack(1));
}

static int release(void **state)
{
    (void)state;
    ab_site_groups_fini(&groups);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_place_is_named_by_its_module_and_address),
        cmocka_unit_test(two_calls_on_a_line_are_two_places),
        cmocka_unit_test(a_place_that_other_places_are_called_from_has_no_rule),
    };
    return cmocka_run_group_tests(tests, NULL, release);
}
