/* SPDX-License-Identifier: MIT
 *
 * The modules of a process, read from outside: here a test looks at itself.
 */
#include "record/elf_module.h"

#include "support/cmocka.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct ab_modules all;

static int look(void **state)
{
    (void)state;
    return ab_modules_open(getpid(), &all) ? 0 : -1;
}

static int leave(void **state)
{
    (void)state;
    ab_modules_close(&all);
    return 0;
}

static struct ab_module *of_malloc(void)
{
    return ab_modules_find(&all, (uint64_t)(uintptr_t)&malloc);
}

static struct ab_module *of_this_test(void)
{
    return ab_modules_find(&all, (uint64_t)(uintptr_t)&of_this_test);
}

static void an_address_has_its_module(void **state)
{
    char path[PATH_MAX];
    (void)state;
    assert_non_null(of_this_test());
    ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
    assert_true(n > 0);
    path[n] = 0;
    assert_string_equal(of_this_test()->path, path);
    assert_string_equal(basename(of_this_test()->path), strrchr(path, '/') + 1);
    assert_null(ab_modules_find(&all, 16));
    assert_null(ab_modules_find(&all, UINT64_MAX));
}

static void a_module_defines_what_it_has(void **state)
{
    (void)state;
    assert_non_null(of_malloc());
    uint64_t at = (uint64_t)(uintptr_t)&malloc;
    assert_true(ab_module_defines(&all, of_malloc(), "malloc", at));
    assert_false(ab_module_defines(&all, of_malloc(), "malloc", at + 1));
    assert_false(ab_module_defines(&all, of_malloc(), "no_such_function", at));
    assert_false(ab_module_defines(&all, of_this_test(), "malloc", at));
}

static bool is_getpid(const char *name)
{
    return strcmp(name, "getpid") == 0;
}

static void see(const char *name, uint64_t value, void *user)
{
    assert_string_equal(name, "getpid");
    *(uint64_t *)user = value;
}

static void what_is_bound_has_the_address_of_its_target(void **state)
{
    uint64_t found = 0;
    struct ab_module_visit visit = {is_getpid, see, &found};
    (void)state;
    ab_module_bindings(&all, of_this_test(), &visit);
    assert_int_equal(found, (uint64_t)(uintptr_t)&getpid);
    assert_true(ab_module_defines(&all, ab_modules_find(&all, found), "getpid", found));
}

static void what_is_no_module_is_passed_over(void **state)
{
    static char nonsense[4096];
    uint64_t found = 0;
    struct ab_module_visit visit = {is_getpid, see, &found};
    (void)state;
    for (unsigned fill = 0; fill < 256; fill += 51) {
        struct ab_module m = {.begin = (uint64_t)(uintptr_t)nonsense};
        m.end = m.begin + sizeof nonsense;
        memset(nonsense, (int)fill, sizeof nonsense);
        memcpy(nonsense, "\177ELF\2", 5);
        memset(nonsense + 54, 0, 4);
        nonsense[54] = 56; /* bytes of a program header */
        nonsense[56] = 8;
        assert_false(ab_module_defines(&all, &m, "malloc", m.begin));
        ab_module_bindings(&all, &m, &visit);
        free(m.symbols);
        free(m.strings);
    }
    assert_int_equal(found, 0);
}

static void a_process_that_is_gone_cannot_be_looked_into(void **state)
{
    struct ab_modules none;
    (void)state;
    assert_false(ab_modules_open(999999999, &none));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_address_has_its_module),
        cmocka_unit_test(a_module_defines_what_it_has),
        cmocka_unit_test(what_is_bound_has_the_address_of_its_target),
        cmocka_unit_test(what_is_no_module_is_passed_over),
        cmocka_unit_test(a_process_that_is_gone_cannot_be_looked_into),
    };
    return cmocka_run_group_tests(tests, look, leave);
}
