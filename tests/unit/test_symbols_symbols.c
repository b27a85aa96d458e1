/* SPDX-License-Identifier: MIT
 *
 * Names of this very program: its functions and lines, and files that are not what they were.
 */
#include "symbols/symbols.h"

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

/* The address in the file. */
static uint64_t address_of(void *code)
{
    return (uint64_t)(uintptr_t)code - (uint64_t)_r_debug.r_map->l_addr;
}

static void a_function_has_a_name_and_a_line(void **state)
{
    struct ab_symbols *s;
    struct ab_symbol symbol;
    (void)state;
    assert_int_equal(ab_symbols_open("/proc/self/exe", NULL, 0, &s), AB_SYMBOLS_OPEN);
    ab_symbols_find(s, address_of((void *)a_function_of_the_test), &symbol);
    assert_string_equal(symbol.function, "a_function_of_the_test");
    assert_non_null(strstr(symbol.file, "test_symbols_symbols.c"));
    assert_int_equal(symbol.line, LINE_OF_FUNCTION);
    assert_false(symbol.is_new);
    ab_symbols_find(s, 1, &symbol); /* in the header of the file */
    assert_string_equal(symbol.file, "");
    assert_int_equal(symbol.line, 0);
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
        cmocka_unit_test(another_build_is_told),
        cmocka_unit_test(what_cannot_be_read_is_missing),
        cmocka_unit_test(what_is_no_regular_file_is_not_opened),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
