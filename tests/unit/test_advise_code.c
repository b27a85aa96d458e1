/* SPDX-License-Identifier: MIT
 *
 * Generated code, as tests/golden/advise/code-NAME.txt holds it; tests/cli/advise-code.bats compiles
 * and runs these very files. AB_UPDATE_GOLDEN=1 rewrites them.
 * tests: code.c
 */
#include "advise/code.h"

#include "base/bits.h"
#include "base/rng.h"
#include "support/cmocka.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct ab_advice_heap kinds[] = {
    {.kind = AB_ADVICE_FRAME, .align = 16, .most_bytes = 60000, .capacity_bytes = 131072},
    {.kind = AB_ADVICE_POOL,
     .size_most = 96,
     .align = 16,
     .most_blocks = 2048,
     .capacity_blocks = 2560},
    {.kind = AB_ADVICE_DOUBLE, .align = 64, .most_bytes = 9000, .capacity_bytes = 65536},
    {.kind = AB_ADVICE_STACK, .align = 16, .most_bytes = 3000},
    {.kind = AB_ADVICE_SLAB, .align = 16, .size_most = 200, .backend = "slab"},
    {.kind = AB_ADVICE_POOL,
     .size_most = 96,
     .align = 64,
     .most_blocks = 10,
     .capacity_blocks = 16},
    {.kind = AB_ADVICE_SLAB, .align = 64, .size_most = 600, .backend = "slab"},
    {.kind = AB_ADVICE_KEEP},
    {.kind = AB_ADVICE_NESTED,
     .align = 16,
     .most_bytes = 5000,
     .capacity_bytes = 8192,
     .n_nested = 3600},
};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

/* Of each heap a place in C and one in C++, but for the last slab; and one that stays. */
enum { CXX = KINDS, NO_CXX = 6, STAYS = 2 * KINDS, GROUPS };
static struct ab_advice_group groups[GROUPS];
static uint32_t heaps = UINT32_MAX; /* that are built */

static struct ab_advice advice(uint32_t n_threads, bool is_local)
{
    struct ab_advice a = {.groups = groups,
                          .n_groups = GROUPS,
                          .n_heaps = KINDS,
                          .calls = KINDS * 1000,
                          .n_scopes = 300,
                          .program = "game"};
    memset(groups, 0, sizeof groups);
    for (uint32_t i = 0; i < KINDS; i++) {
        struct ab_advice_group *g = &groups[i];
        a.heaps[i] = kinds[i];
        a.heaps[i].calls = 1000;
        a.heaps[i].n_threads = n_threads;
        a.heaps[i].is_local = is_local;
        snprintf(g->function, sizeof g->function, "make_%u", i);
        snprintf(g->file, sizeof g->file, "game.c");
        g->line = (int)(10 * i + 7);
        g->calls = 1000;
        g->frees = i % 2 != 0 ? 900 : 0;
        g->resizes = i % 3;
        g->heap = i;
        g[CXX] = (struct ab_advice_group){.line = g->line,
                                          .call = i % 2 != 0 ? AB_ADVICE_CALL_NEW
                                                             : AB_ADVICE_CALL_STD,
                                          .heap = i == NO_CXX ? AB_ADVICE_NO_HEAP : i};
        snprintf(g[CXX].function, sizeof g->function, "game::make_%u", i);
        snprintf(g[CXX].file, sizeof g->file, "game.cpp");
    }
    snprintf(groups[STAYS].key, sizeof groups[STAYS].key, "libx.so+0x1234");
    groups[STAYS].calls = 12;
    groups[STAYS].why = "few calls, large blocks";
    groups[STAYS].heap = AB_ADVICE_NO_HEAP;
    return a;
}

static void expect_golden(const char *name, const struct ab_advice *a)
{
    char path[128];
    struct ab_text text = {0};
    snprintf(path, sizeof path, "tests/golden/advise/code-%s.txt", name);
    ab_code_write(a, heaps, "game.abt", &text);
    if (getenv("AB_UPDATE_GOLDEN") != NULL) {
        FILE *f = fopen(path, "w");
        assert_non_null(f);
        fputs(text.s, f);
        fclose(f);
    }
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    char *golden = calloc(1, text.n + 2);
    assert_int_equal(fread(golden, 1, text.n + 1, f), text.n);
    fclose(f);
    assert_string_equal(text.s, golden);
    free(golden);
    ab_text_fini(&text);
}

static void each_kind_of_heap_for_one_thread(void **state)
{
    (void)state;
    struct ab_advice a = advice(1, true);
    expect_golden("one", &a);
}

static void each_kind_of_heap_for_several_threads(void **state)
{
    (void)state;
    struct ab_advice a = advice(2, true);
    a.is_marked = true;
    expect_golden("threads", &a);
}

static void scopes_of_each_thread_end_by_themselves(void **state)
{
    (void)state;
    struct ab_advice a = advice(2, false);
    for (size_t i = 0; i < KINDS; i++)
        a.heaps[i].is_of_thread_scopes = kinds[i].kind == AB_ADVICE_FRAME ||
                                         kinds[i].kind == AB_ADVICE_DOUBLE;
    expect_golden("scopes", &a);
}

static void nothing_gains(void **state)
{
    (void)state;
    struct ab_advice a = advice(1, true);
    a.n_heaps = 0;
    for (size_t i = 0; i < a.n_groups; i++)
        a.groups[i].heap = AB_ADVICE_NO_HEAP;
    expect_golden("keep", &a);
}

static uint32_t row_of(const char *class_name)
{
    for (uint32_t i = 0; i < AB_ADVICE_CONTAINERS; i++)
        if (strcmp(ab_advice_containers[i].class_name, class_name) == 0)
            return UINT32_C(1) << i;
    fail_msg("there is no container %s", class_name);
    return 0;
}

/* A map of vectors in one line, strings in three others: what is to be done with each stands once. */
static void containers_have_their_names_and_an_instruction_stands_once(void **state)
{
    (void)state;
    struct ab_advice_group places[] = {
        {.function = "broadphase", .file = "game.cpp", .line = 23, .column = 74, .calls = 400},
        {.function = "broadphase", .file = "game.cpp", .line = 23, .column = 85, .calls = 388},
        {.function = "ui", .file = "game.cpp", .line = 35, .calls = 96},
        {.function = "ui", .file = "game.cpp", .line = 36, .calls = 20},
        {.function = "ui", .file = "game.cpp", .line = 37, .calls = 2},
        {.function = "load", .file = "game.cpp", .line = 66, .calls = 9, .why = "too few calls"},
        {.function = "load", .file = "game.cpp", .line = 67, .calls = 8, .why = "too few calls"},
    };
    const uint32_t containers[] = {row_of("unordered_map") | row_of("_Hashtable"),
                                   row_of("_Vector_base"), row_of("__cxx11::basic_string"),
                                   row_of("__cxx11::basic_string"), 0};
    struct ab_advice a = {.groups = places,
                          .n_groups = AB_ARRAY_LEN(places),
                          .heaps = {kinds[0]},
                          .n_heaps = 1,
                          .calls = 1000,
                          .n_scopes = 300,
                          .program = "game"};
    for (size_t i = 0; i < a.n_groups; i++) {
        bool is_built = i < AB_ARRAY_LEN(containers);
        places[i].heap = is_built ? 0 : AB_ADVICE_NO_HEAP;
        places[i].call = AB_ADVICE_CALL_STD;
        places[i].containers = is_built ? containers[i] : 0;
        places[i].frees = places[i].calls;
    }
    expect_golden("containers", &a);
}

static bool has(const struct ab_advice *a, const char *what)
{
    struct ab_text text = {0};
    ab_code_write(a, heaps, "game.abt", &text);
    bool found = strstr(text.s, what) != NULL;
    ab_text_fini(&text);
    return found;
}

static void heaps_of_one_kind_have_names_of_their_own(void **state)
{
    char name[48];
    (void)state;
    struct ab_advice a = advice(1, true);
    const char *const names[] = {"frame", "pool_96",   "frames", "stack",
                                 "slab",  "pool_96_2", "slab_2"};
    for (size_t i = 0; i < AB_ARRAY_LEN(names); i++)
        assert_string_equal(ab_code_name(&a, i, name, sizeof name), names[i]);
}

static void blocks_that_another_thread_frees_make_a_shared_heap_but_not_a_shared_arena(void **state)
{
    (void)state;
    struct ab_advice a = advice(1, false);
    a.n_heaps = 1;
    assert_false(ab_advice_is_shared(&a.heaps[0]));
    assert_false(has(&a, "_shared"));
    a.heaps[0] = a.heaps[1];
    assert_true(ab_advice_is_shared(&a.heaps[0]));
    assert_true(has(&a, "ab_pool_shared_free"));
}

static void what_only_c_asks_for_has_no_resource(void **state)
{
    (void)state;
    struct ab_advice a = advice(1, true);
    assert_true(has(&a, "inline ab::slab_resource slab("));
    assert_false(has(&a, "advised::slab_2") || has(&a, " slab_2(&"));
    a.n_groups = CXX;
    assert_false(has(&a, "namespace advised") || has(&a, "heaps.hpp\""));
    assert_true(has(&a, "C++ containers (std::pmr) take a resource of these heaps instead"));
}

static void what_an_arena_holds_is_not_freed(void **state)
{
    (void)state;
    struct ab_advice a = advice(1, true);
    assert_true(has(&a, "malloc(size) -> frame_alloc(size)\n"));
    groups[0].frees = 1;
    assert_true(has(&a, "malloc(size) -> frame_alloc(size), and delete the free()\n"));
}

static void a_heap_that_is_not_built_leaves_its_blocks_with_malloc(void **state)
{
    (void)state;
    struct ab_advice a = advice(1, true);
    assert_true(has(&a, "malloc:\n *   make_7  game.c:77"));
    heaps &= ~UINT32_C(1);
    assert_true(
        has(&a, "malloc:\n *   make_0  game.c:7  (1000 calls)\n *       a heap was proposed"));
    assert_false(has(&a, "frame_alloc"));
    assert_true(has(&a, "pool_96_2_alloc"));
    heaps = 0;
    assert_true(has(&a, "none are advised"));
    assert_false(has(&a, "ADVISED_HEAPS"));
    heaps = UINT32_MAX;
}

static void names_of_the_program_end_no_comment(void **state)
{
    (void)state;
    struct ab_advice a = advice(1, true);
    a.n_heaps = 1;
    strcpy(groups[0].function, "operator*/*/ (*)()\n#error x");
    strcpy(groups[0].file, "a/*b.c");
    strcpy(a.program, "*/");
    assert_true(has(&a, "operator* / * / (*)()\\x0a#error x  a/ *b.c:7"));
    assert_true(has(&a, "Heaps of * /,"));
}

/* Pieces of which names are made that would end a comment, a line or a string. */
static void make_name(struct ab_rng *rng, char *name, size_t cap)
{
    static const char *const pieces[] = {"*/",
                                         "/*",
                                         "*",
                                         "/",
                                         "//",
                                         "\\",
                                         "\"",
                                         "'",
                                         "\n",
                                         "\r",
                                         "\t",
                                         "?\?/",
                                         "?\?/\n",
                                         "\n#error x\n",
                                         "\xe2\x80\xae",
                                         "\xff",
                                         "\033[2J",
                                         "%s%n",
                                         "operator*",
                                         "std::map<int, A<B>>::f(char const*)",
                                         "*\\\n/",
                                         "*?\?/\n/",
                                         "make",
                                         ";",
                                         "}"};
    size_t n = 0;
    for (uint64_t k = ab_rng_below(rng, 12) + 1; k > 0; k--) {
        const char *piece = pieces[ab_rng_below(rng, AB_ARRAY_LEN(pieces))];
        if (n + strlen(piece) < cap)
            n += (size_t)sprintf(name + n, "%s", piece);
    }
}

/* One comment, whose lines all begin as ours do, and behind it the code that plain names give. */
static void check_code(const struct ab_text *text, const char *plain)
{
    const char *end = strstr(text->s, "*/");
    assert_non_null(end);
    assert_string_equal(end, plain);
    assert_null(strstr(text->s + 2, "\xe2\x80\xae"));
    for (const char *p = text->s + 2; p < end; p++) {
        if (*p == '/' && p[1] == '*')
            fail_msg("a comment in the comment: %.80s", p);
        if (*p == '\n' && strncmp(p + 1, " *", 2) != 0)
            fail_msg("a line of its own: %.80s", p);
        if ((unsigned char)*p < 0x20 && *p != '\n')
            fail_msg("a control character before %.80s", p);
        if (p[1] == '\n' && (*p == '\\' || strncmp(p - 2, "?\?/", 3) == 0))
            fail_msg("a line that goes on: %.80s", p - 20);
    }
}

static void no_name_whatever_changes_the_code_below_the_comment(void **state)
{
    (void)state;
    struct ab_rng rng;
    struct ab_advice a = advice(1, true);
    struct ab_text text = {0};
    a.n_heaps = 1;
    ab_code_write(&a, heaps, "game.abt", &text);
    char *plain = strdup(strstr(text.s, "*/"));
    ab_rng_init(&rng, 1, 0);
    for (unsigned i = 0; i < 10000; i++) {
        char trace[64];
        make_name(&rng, trace, sizeof trace);
        make_name(&rng, a.program, sizeof a.program);
        make_name(&rng, groups[i % 2].function, sizeof groups[0].function);
        make_name(&rng, groups[i % 2].file, sizeof groups[0].file);
        make_name(&rng, groups[STAYS].key, sizeof groups[0].key);
        ab_text_fini(&text);
        ab_code_write(&a, heaps, trace, &text);
        check_code(&text, plain);
    }
    ab_text_fini(&text);
    free(plain);
}

static void no_more_than_some_places_of_a_heap_are_listed(void **state)
{
    static struct ab_advice_group many[50];
    (void)state;
    struct ab_advice a = advice(1, true);
    for (size_t i = 0; i < AB_ARRAY_LEN(many); i++)
        many[i] = groups[0];
    a.groups = many;
    a.n_groups = AB_ARRAY_LEN(many);
    assert_true(has(&a, " *   and 10 more\n"));
    a.n_groups = 40;
    assert_false(has(&a, "more\n"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_kind_of_heap_for_one_thread),
        cmocka_unit_test(each_kind_of_heap_for_several_threads),
        cmocka_unit_test(scopes_of_each_thread_end_by_themselves),
        cmocka_unit_test(nothing_gains),
        cmocka_unit_test(containers_have_their_names_and_an_instruction_stands_once),
        cmocka_unit_test(heaps_of_one_kind_have_names_of_their_own),
        cmocka_unit_test(
            blocks_that_another_thread_frees_make_a_shared_heap_but_not_a_shared_arena),
        cmocka_unit_test(what_only_c_asks_for_has_no_resource),
        cmocka_unit_test(what_an_arena_holds_is_not_freed),
        cmocka_unit_test(a_heap_that_is_not_built_leaves_its_blocks_with_malloc),
        cmocka_unit_test(names_of_the_program_end_no_comment),
        cmocka_unit_test(no_name_whatever_changes_the_code_below_the_comment),
        cmocka_unit_test(no_more_than_some_places_of_a_heap_are_listed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
