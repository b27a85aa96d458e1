/* SPDX-License-Identifier: MIT
 *
 * Names of this very program: its functions and lines, and files that are not what they were.
 */
#include "symbols/symbols.h"

#include "base/bits.h"
#include "support/cmocka.h"

#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

__attribute__((noinline)) int a_function_of_the_test(int n);
enum { LINE_OF_FUNCTION = __LINE__ + 2 };
__attribute__((noinline)) int a_function_of_the_test(int n)
{
    return n + (int)getpid();
}

/* Names as compilers of Rust write them, in both of its forms, and one of C++. */
__attribute__((noinline)) int rust_new_form(int n) __asm__("_RNvNtCs1234_7mycrate3foo3bar");
__attribute__((noinline)) int rust_new_form(int n)
{
    return n * (int)getpid();
}
__attribute__((noinline)) int rust_old_form(int n) __asm__(
    "_ZN5index3ops17Ring$LT$T$C$A$GT$4grow17h0123456789abcdefE");
__attribute__((noinline)) int rust_old_form(int n)
{
    return n - (int)getpid();
}
__attribute__((noinline)) int cxx_form(int n) __asm__("_ZN4game4Ring4growEi");
__attribute__((noinline)) int cxx_form(int n)
{
    return n ^ (int)getpid();
}

/* The address in the file. */
static uint64_t address_of(void *code)
{
    return (uint64_t)(uintptr_t)code - (uint64_t)_r_debug.r_map->l_addr;
}

static void a_function_has_a_name_and_a_line(void **state)
{
    struct ab_symbols *s;
    struct ab_symbol all[AB_SYMBOLS_MAX], *symbol = all;
    (void)state;
    assert_int_equal(ab_symbols_open("/proc/self/exe", NULL, 0, &s), AB_SYMBOLS_OPEN);
    assert_int_equal(ab_symbols_find(s, address_of((void *)a_function_of_the_test), all), 1);
    assert_string_equal(symbol->function, "a_function_of_the_test");
    assert_non_null(strstr(symbol->file, "test_symbols_symbols.c"));
    assert_int_equal(symbol->line, LINE_OF_FUNCTION);
    assert_false(symbol->is_new);
    assert_int_equal(ab_symbols_find(s, 1, all), 1); /* in the header of the file */
    assert_string_equal(symbol->file, "");
    assert_int_equal(symbol->line, 0);
    ab_symbols_close(s);
}

static void names_of_rust_and_cxx_are_as_people_write_them(void **state)
{
    const struct {
        void *code;
        const char *name;
        bool is_rust;
    } cases[] = {{(void *)rust_new_form, "mycrate::foo::bar", true},
                 {(void *)rust_old_form, "index::ops::Ring<T,A>::grow", true},
                 {(void *)cxx_form, "game::Ring::grow(int)", false}};
    struct ab_symbols *s;
    struct ab_symbol all[AB_SYMBOLS_MAX];
    (void)state;
    assert_int_equal(ab_symbols_open("/proc/self/exe", NULL, 0, &s), AB_SYMBOLS_OPEN);
    for (size_t i = 0; i < AB_ARRAY_LEN(cases); i++) {
        assert_int_equal(ab_symbols_find(s, address_of(cases[i].code), all), 1);
        assert_string_equal(all[0].function, cases[i].name);
        assert_int_equal(all[0].is_rust, cases[i].is_rust);
        assert_non_null(strstr(all[0].defined_in, "test_symbols_symbols.c"));
    }
    ab_symbols_close(s);
}

static void *inlined_at; /* where the call of innermost() returns to, wherever it was inlined */

__attribute__((noinline)) static void note_caller(void)
{
    inlined_at = __builtin_return_address(0);
}
enum { LINE_OF_INNERMOST = __LINE__ + 3 };
__attribute__((always_inline)) static inline void innermost(void)
{
    note_caller();
    __asm__ volatile(""); /* the call is not the last thing */
}
enum { LINE_OF_MIDDLE = __LINE__ + 3 };
__attribute__((always_inline)) static inline void middle(void)
{
    innermost();
}
enum { LINE_OF_OUTER = __LINE__ + 3 };
__attribute__((noinline)) static void outer(void)
{
    middle();
}

static void inlined_functions_come_first_each_with_the_line_of_its_call(void **state)
{
    static const struct {
        const char *function;
        int line;
    } expected[] = {
        {"innermost", LINE_OF_INNERMOST}, {"middle", LINE_OF_MIDDLE}, {"outer", LINE_OF_OUTER}};
    struct ab_symbols *s;
    struct ab_symbol all[AB_SYMBOLS_MAX];
    (void)state;
    outer();
    assert_int_equal(ab_symbols_open("/proc/self/exe", NULL, 0, &s), AB_SYMBOLS_OPEN);
    assert_int_equal(ab_symbols_find(s, address_of(inlined_at) - 1, all), AB_ARRAY_LEN(expected));
    for (size_t i = 0; i < AB_ARRAY_LEN(expected); i++) {
        assert_string_equal(all[i].function, expected[i].function);
        assert_int_equal(all[i].line, expected[i].line);
        assert_non_null(strstr(all[i].file, "test_symbols_symbols.c"));
        assert_int_equal(all[i].is_inlined, i + 1 < AB_ARRAY_LEN(expected));
    }
    ab_symbols_close(s);
}

static void another_build_is_told(void **state)
{
    struct ab_symbols *s = (void *)1;
    (void)state;
    assert_int_equal(ab_symbols_open("/proc/self/exe", (const uint8_t *)"not it", 6, &s),
                     AB_SYMBOLS_CHANGED);
    assert_null(s);
}

static void what_cannot_be_read_is_missing(void **state)
{
    struct ab_symbols *s = (void *)1;
    (void)state;
    assert_int_equal(ab_symbols_open("/nowhere/at all", NULL, 0, &s), AB_SYMBOLS_MISSING);
    assert_null(s);
    assert_int_equal(ab_symbols_open("tests/unit/test_symbols_symbols.c", NULL, 0, &s),
                     AB_SYMBOLS_MISSING);
    assert_int_equal(ab_symbols_open("/", NULL, 0, &s), AB_SYMBOLS_MISSING);
    assert_null(s);
}

static void put_program(const char *path, const char *program)
{
    char command[200];
    snprintf(command, sizeof command, "cp --remove-destination %s %s", program, path);
    assert_int_equal(system(command), 0);
}

/* It is kept open behind its users, but only as long as it is the same. */
static void a_file_that_was_replaced_is_read_again(void **state)
{
    char folder[] = "/tmp/ab-symbols-XXXXXX", path[64];
    struct ab_symbols *first, *same, *other;
    struct ab_symbol all[AB_SYMBOLS_MAX];
    uint64_t at = address_of((void *)a_function_of_the_test);
    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/program", folder);
    put_program(path, "\"$(realpath /proc/$PPID/exe)\"");
    assert_int_equal(ab_symbols_open(path, NULL, 0, &first), AB_SYMBOLS_OPEN);
    assert_int_equal(ab_symbols_open(path, NULL, 0, &same), AB_SYMBOLS_OPEN);
    assert_ptr_equal(first, same);
    ab_symbols_close(first);
    ab_symbols_find(same, at, all);
    assert_string_equal(all[0].function, "a_function_of_the_test");
    put_program(path, "/bin/true");
    assert_int_equal(ab_symbols_open(path, NULL, 0, &other), AB_SYMBOLS_OPEN);
    ab_symbols_find(other, at, all);
    assert_string_not_equal(all[0].function, "a_function_of_the_test");
    ab_symbols_close(other);
    ab_symbols_close(same);
    unlink(path);
    rmdir(folder);
}

/* Nobody writes into the fifo: to open it would be to wait. */
static void what_is_no_regular_file_is_not_opened(void **state)
{
    char folder[] = "/tmp/ab-symbols-XXXXXX", fifo[64];
    struct ab_symbols *s = (void *)1;
    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(fifo, sizeof fifo, "%s/fifo", folder);
    assert_int_equal(mkfifo(fifo, 0600), 0);
    alarm(20);
    assert_int_equal(ab_symbols_open(fifo, NULL, 0, &s), AB_SYMBOLS_MISSING);
    alarm(0);
    assert_null(s);
    unlink(fifo);
    rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_function_has_a_name_and_a_line),
        cmocka_unit_test(names_of_rust_and_cxx_are_as_people_write_them),
        cmocka_unit_test(inlined_functions_come_first_each_with_the_line_of_its_call),
        cmocka_unit_test(another_build_is_told),
        cmocka_unit_test(what_cannot_be_read_is_missing),
        cmocka_unit_test(a_file_that_was_replaced_is_read_again),
        cmocka_unit_test(what_is_no_regular_file_is_not_opened),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
