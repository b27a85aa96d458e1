/* SPDX-License-Identifier: MIT
 *
 * Which functions only hand memory on, by their names, files and modules.
 */
#include "symbols/site_match.h"

#include "base/bits.h"
#include "support/cmocka.h"

static void names_are_bare(void **state)
{
    static const char *const names[][2] = {
        {"void ns::box<int, std::allocator<int> >::add(int)", "ns::box::add"},
        {"operator new(unsigned long)", "operator new"},
        {"ns::(anonymous namespace)::draw(int)", "ns::(anonymous namespace)::draw"},
        {"draw(std::vector<int, std::allo", "draw"},
        {"main", "main"},
        {"", ""},
    };
    (void)state;
    for (size_t i = 0; i < AB_ARRAY_LEN(names); i++) {
        char bare[64];
        ab_wrappers_bare_name(names[i][0], bare, sizeof bare);
        assert_string_equal(bare, names[i][1]);
    }
}

static void who_hands_memory_on_is_passed_over(void **state)
{
    (void)state;
    static const char *const yes[] = {"malloc",
                                      "xmalloc",
                                      "operator new(unsigned long)",
                                      "void std::vector<int, std::allocator<int> >::push_back(int)",
                                      "PyMem_RawMalloc",
                                      "g_strdup",
                                      "je_calloc",
                                      "my::allocator<int>::allocate(unsigned long)"};
    static const char *const no[] = {"main",
                                     "spawn_trail",
                                     "parse(std::string const&)",
                                     "void Game::load<std::string>(int)",
                                     "",
                                     "deallocate_all",
                                     "std_parse(int)"};
    for (size_t i = 0; i < AB_ARRAY_LEN(yes); i++)
        if (!ab_wrappers_has_name(yes[i]))
            fail_msg("%s", yes[i]);
    for (size_t i = 0; i < AB_ARRAY_LEN(no); i++)
        if (ab_wrappers_has_name(no[i]))
            fail_msg("%s", no[i]);
}

static void headers_of_the_system_are_a_library_whatever_their_functions_are_called(void **state)
{
    const struct ab_symbol of_header = {.function = "push_back",
                                        .file = "/usr/include/c++/12/bits/stl_vector.h"},
                           own = {.function = "push_back", .file = "/home/me/game/list.hpp"};
    const struct ab_site_module cxx = {.path = "/lib/x86_64-linux-gnu/libstdc++.so.6"},
                                c = {.path = "/lib/x86_64-linux-gnu/libc.so.6"};
    (void)state;
    assert_true(ab_wrappers_is_library(NULL, &of_header));
    assert_true(ab_wrappers_has(NULL, &of_header));
    assert_false(ab_wrappers_is_library(NULL, &own));
    assert_false(ab_wrappers_has(NULL, &own));
    assert_true(ab_wrappers_is_library(&cxx, &own));
    assert_true(ab_wrappers_has(&c, &own)); /* it is shown, but is no place of the program */
    assert_false(ab_wrappers_is_library(&c, &own));
}

static void rust_s_library_and_crates_are_passed_over_a_program_s_own_functions_are_not(
    void **state)
{
    static const struct {
        struct ab_symbol symbol;
        bool is_library;
    } cases[] = {
        {{.function = "push",
          .file = "/home/me/a.rs",
          .defined_in = "/rustc/5980/library/alloc/src/vec/mod.rs"},
         true},
        {{.function = "index::main",
          .file = "/rustc/5980/library/alloc/src/vec/mod.rs",
          .defined_in = "/home/me/a.rs"},
         false},
        {{.function = "::clone", .file = "library/alloc/src/string.rs", .defined_in = ""}, true},
        {{.function = "from_str",
          .file = "",
          .defined_in = "/home/me/.cargo/registry/src/x/serde-1.0/src/de.rs"},
         true},
        {{.function = "<alloc::string::String as core::clone::Clone>::clone",
          .file = "",
          .is_rust = true},
         true},
        {{.function = "<index::Tree as core::clone::Clone>::clone", .file = "", .is_rust = true},
         false},
        {{.function = "core::Engine::load(int)", .file = "engine.cpp"}, false}, /* of C++ */
        {{.function = "core::Engine::load", .file = "", .is_rust = true}, true},
    };
    (void)state;
    for (size_t i = 0; i < AB_ARRAY_LEN(cases); i++)
        if (ab_wrappers_is_library(NULL, &cases[i].symbol) != cases[i].is_library)
            fail_msg("%s in %s", cases[i].symbol.function, cases[i].symbol.file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_bare),
        cmocka_unit_test(who_hands_memory_on_is_passed_over),
        cmocka_unit_test(
            rust_s_library_and_crates_are_passed_over_a_program_s_own_functions_are_not),
        cmocka_unit_test(headers_of_the_system_are_a_library_whatever_their_functions_are_called),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
