/* SPDX-License-Identifier: MIT
 *
 * What the command line takes as inline+NAME and cursor+NAME is what the worker has a loop for, and nothing is
 * compiled in for settings that ask for more.
 * tests: pass_cursor_arena.c pass_cursor_null.c pass_cursor_pool.c pass_inline_arena.c
 * tests: pass_inline_null.c pass_inline_pool.c pass_inline_slab.c
 */
#include "allocators/builtin.h"
#include "base/bits.h"
#include "support/cmocka.h"
#include "worker/inline_backend.h"

#include <string.h>

static void the_names_are_those_of_the_loops(void **state)
{
    (void)state;
    unsigned n = 0;
    for (size_t i = 0; i < ab_builtin_count(); i++) {
        const struct ab_backend *b = ab_builtin_at(i);
        assert_int_equal(ab_builtin_has_inline(b->name),
                         ab_inline_find(b->name, AB_BOUNDARY_INLINE) != NULL);
        assert_int_equal(ab_builtin_has_cursor(b->name),
                         ab_inline_find(b->name, AB_BOUNDARY_CURSOR) != NULL);
        n += ab_builtin_has_inline(b->name) + ab_builtin_has_cursor(b->name);
    }
    assert_int_equal(n, 4 + 3);
    assert_false(ab_builtin_has_inline("glibc"));
    assert_null(ab_inline_find("glibc", AB_BOUNDARY_INLINE));
}

/* The object behind a heap of the back end with this setting, its default for all others. */
static bool has_object(const char *name, const char *param, uint64_t value, uint32_t lanes)
{
    const struct ab_backend *b = ab_builtin_find(name);
    const struct ab_facts facts = {.largest_bytes = 64,
                                   .live_peak_blocks = 10,
                                   .lanes = lanes,
                                   .live_peak_bytes = 640,
                                   .total_bytes = 640,
                                   .total_blocks = 10};
    uint64_t values[16];
    struct ab_open_args args = {.size = sizeof args, .facts = &facts, .values = values};
    struct ab_heap *heap = NULL, *own = NULL;
    for (size_t i = 0; i < b->n_params; i++)
        values[i] = strcmp(b->params[i].name, param) == 0 ? value : b->params[i].def;
    assert_int_equal(b->open(&args, &heap), 0);
    own = heap;
    if (b->thread_enter != NULL)
        assert_int_equal(b->thread_enter(heap, 0, &own), 0);
    bool has = ab_inline_find(name, AB_BOUNDARY_INLINE)->object_of(own) != NULL;
    b->close(heap);
    return has;
}

static void heaps_with_locks_or_guards_have_nothing_to_compile_in(void **state)
{
    (void)state;
    static const char *const names[] = {"arena", "pool", "slab"};
    for (size_t i = 0; i < AB_ARRAY_LEN(names); i++) {
        assert_true(has_object(names[i], "", 0, 1));
        assert_false(has_object(names[i], "threads", 1, 1)); /* mutex */
    }
    assert_false(has_object("pool", "debug", 1, 1));
    assert_false(has_object("slab", "debug", 1, 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_names_are_those_of_the_loops),
        cmocka_unit_test(heaps_with_locks_or_guards_have_nothing_to_compile_in),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
