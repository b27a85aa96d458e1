/* SPDX-License-Identifier: MIT
 *
 * Kinds of files by their first bytes: each kind, what only looks like one, and what cannot be read.
 */
#include "app/file_kind.h"

#include "base/bits.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[] = "/tmp/test_file_kind.XXXXXX";
static char path[128];

static void put(const char *bytes, size_t n)
{
    snprintf(path, sizeof path, "%s/file", folder);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, n, f), n);
    fclose(f);
}

static void each_kind_has_its_first_bytes(void **state)
{
    static const struct {
        enum ab_file_kind kind;
        const char *text;
    } cases[] = {
        {AB_FILE_WORKLOAD, "allocbench: 1\nname: x\n"},
        {AB_FILE_WORKLOAD, "\xef\xbb\xbf# a comment\n\n  # another\n---\nallocbench: 1\n"},
        {AB_FILE_WORKLOAD, "#\r\n\r\nallocbench: 1"},
        {AB_FILE_TRACE, "\x89"
                        "ABT\r\n\x1a\n"},
        {AB_FILE_BINARY, "\x7f"
                         "ELF"},
        {AB_FILE_RESULT, "{\n  \"schema\": \"allocbench/2\",\n"},
        {AB_FILE_RESULT, "{\"schema\":\"allocbench/1\"}"},
        {AB_FILE_REPORT, "<!DOCTYPE html>\n<html>"},
        {AB_FILE_REPORT, "\n<HTML>"},
        {AB_FILE_UNKNOWN, "{\"schema\":\"allocbench-calibration/1\"}"},
        {AB_FILE_UNKNOWN, "{\"name\":\"allocbench/2\"}"},
        {AB_FILE_UNKNOWN, "name: x\nallocbench: 1\n"},
        {AB_FILE_UNKNOWN, "# allocbench: 1\n"},
        {AB_FILE_UNKNOWN, "\x89"
                          "AB"},
        {AB_FILE_UNKNOWN, ""},
    };
    (void)state;
    for (size_t i = 0; i < AB_ARRAY_LEN(cases); i++) {
        put(cases[i].text, strlen(cases[i].text));
        if (ab_file_kind_of(path) != cases[i].kind)
            fail_msg("case %zu: %d", i, ab_file_kind_of(path));
    }
}

static void a_shorter_file_after_a_longer_one_is_itself(void **state)
{
    (void)state;
    put("{\"schema\":\"allocbench/2\"}", 25);
    assert_int_equal(ab_file_kind_of(path), AB_FILE_RESULT);
    put("{\"schema\":", 10);
    assert_int_equal(ab_file_kind_of(path), AB_FILE_UNKNOWN);
}

static void what_is_no_file_is_not_waited_for(void **state)
{
    char name[160], control[200];
    (void)state;
    assert_int_equal(ab_file_kind_of("/nonexistent/x"), AB_FILE_UNKNOWN);
    snprintf(name, sizeof name, "%s/fifo", folder);
    assert_int_equal(mkfifo(name, 0600), 0);
    assert_int_equal(ab_file_kind_of(name), AB_FILE_UNKNOWN);
    snprintf(name, sizeof name, "%s/folder", folder);
    assert_int_equal(mkdir(name, 0700), 0);
    assert_int_equal(ab_file_kind_of(name), AB_FILE_UNKNOWN);
    snprintf(control, sizeof control, "%s/control", name);
    fclose(fopen(control, "w"));
    assert_int_equal(ab_file_kind_of(name), AB_FILE_SPOOL);
}

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) == NULL;
}

static int remove_folder(void **state)
{
    char command[160];
    (void)state;
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_kind_has_its_first_bytes),
        cmocka_unit_test(a_shorter_file_after_a_longer_one_is_itself),
        cmocka_unit_test(what_is_no_file_is_not_waited_for),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
