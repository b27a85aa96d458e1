/* SPDX-License-Identifier: MIT */
#include "workload/yaml_index.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

static bool scan(const char *text, struct ab_tree *tree, struct ab_diag *diag)
{
    *diag = (struct ab_diag){.source = {"f", text, strlen(text)}};
    return ab_tree_scan(tree, diag);
}

static void assert_place(struct ab_place at, uint32_t line, uint32_t col, uint32_t len)
{
    assert_int_equal(at.line, line);
    assert_int_equal(at.col, col);
    assert_int_equal(at.len, len);
}

static void every_value_and_key_has_its_place(void **state)
{
    (void)state;
    struct ab_tree tree;
    struct ab_diag diag;
    assert_true(scan("a: 1\nlist:\n  - {\xc3\xa4: 'x y', b: \"p, q\"}\n  - z\n", &tree, &diag));
    const struct ab_node *root = ab_tree_root(&tree), *list = ab_tree_get(&tree, root, "list");
    assert_place(ab_tree_get(&tree, root, "a")->at, 1, 4, 1);
    assert_place(list->key_at, 2, 1, 4);
    const struct ab_node *map = ab_tree_first(&tree, list);
    assert_int_equal(map->kind, AB_NODE_MAP);
    const struct ab_node *b = ab_tree_get(&tree, map, "b");
    assert_place(b->key_at, 3, 16, 1);
    assert_place(b->at, 3, 19, 6);
    assert_place(ab_node_place(b, 3, 1), 3, 23, 1); /* the q, behind the quote */
    assert_string_equal(ab_tree_next(&tree, map)->text, "z");
    assert_null(ab_tree_next(&tree, ab_tree_next(&tree, map)));
    assert_null(ab_tree_get(&tree, map, "c"));
    ab_tree_fini(&tree);
}

static void a_value_that_is_not_in_the_source_as_it_is_has_one_place(void **state)
{
    (void)state;
    struct ab_tree tree;
    struct ab_diag diag;
    assert_true(scan("a: \"x\\ty z\"\nb: >\n  folded\n  text\n", &tree, &diag));
    const struct ab_node *root = ab_tree_root(&tree);
    assert_place(ab_node_place(ab_tree_get(&tree, root, "a"), 2, 1), 1, 4, 8);
    assert_place(ab_node_place(ab_tree_get(&tree, root, "b"), 2, 1), 2, 4, 1);
    ab_tree_fini(&tree);
}

static void depth_64_is_fine_and_65_is_not(void **state)
{
    (void)state;
    for (int depth = 64; depth <= 65; depth++) {
        char text[200] = "";
        struct ab_tree tree;
        struct ab_diag diag;
        memset(text, '[', (size_t)depth);
        memset(text + depth, ']', (size_t)depth);
        assert_int_equal(scan(text, &tree, &diag), depth == 64);
        ab_tree_fini(&tree);
        ab_diag_fini(&diag);
    }
}

static void what_is_not_part_of_the_language_ends_the_scan(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "",
        "# only a comment\n",
        "&a x",
        "a: *b",
        "!!map {}",
        "[!x y]",
        "%YAML 1.1\n--- {}\n",
        "a: 1\n---\nb: 2\n",
        "? [a]\n: b\n",
        "a: \"\\0\"",
        "a: b\n\tc: d\n",
        "a: \x01",
        "a: \xff",
        "a: \xc0\x80",
        "a: \xe2\x80\xa8",
        "{a: b",
        "a: @b",
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct ab_tree tree;
        struct ab_diag diag;
        if (scan(texts[i], &tree, &diag))
            fail_msg("'%s' was taken", texts[i]);
        assert_int_equal(diag.n_errors, 1);
        ab_tree_fini(&tree);
        ab_diag_fini(&diag);
    }
}

static void a_key_that_is_there_twice_is_an_error_at_the_second(void **state)
{
    (void)state;
    struct ab_tree tree;
    struct ab_diag diag;
    assert_true(scan("a: 1\nb: 2\na: 3\n", &tree, &diag)); /* there is a tree to go on with */
    char *text = ab_diag_render(&diag);
    assert_non_null(strstr(text, "f:3:1: error: duplicate key 'a'; first in line 1"));
    free(text);
    ab_tree_fini(&tree);
    ab_diag_fini(&diag);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_value_and_key_has_its_place),
        cmocka_unit_test(a_value_that_is_not_in_the_source_as_it_is_has_one_place),
        cmocka_unit_test(depth_64_is_fine_and_65_is_not),
        cmocka_unit_test(what_is_not_part_of_the_language_ends_the_scan),
        cmocka_unit_test(a_key_that_is_there_twice_is_an_error_at_the_second),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
