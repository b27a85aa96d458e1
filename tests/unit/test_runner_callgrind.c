/* SPDX-License-Identifier: MIT
 *
 * Files of callgrind: which phase, how many instructions; half a file is none.
 */
#include "runner/callgrind.h"
#include "support/cmocka.h"
#include "wire/run_page.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct ab_callgrind grind;

static int open_it(void **state)
{
    (void)state;
    static char folder[] = "/tmp/allocbench-grind-XXXXXX";
    static char program[64];
    char path[80];
    assert_non_null(mkdtemp(folder));
    snprintf(program, sizeof program, "%s/valgrind", folder);
    FILE *f = fopen(program, "w");
    assert_non_null(f);
    fclose(f);
    setenv("PATH", "relative:/none", 1);
    assert_false(ab_callgrind_open(&grind));
    snprintf(path, sizeof path, "/none::%s", folder);
    setenv("PATH", path, 1);
    assert_false(ab_callgrind_open(&grind)); /* not to be run */
    chmod(program, 0700);
    setenv("TMPDIR", folder, 1);
    assert_true(ab_callgrind_open(&grind));
    assert_string_equal(grind.arguments[0], program);
    assert_memory_equal(grind.folder.path, folder, strlen(folder));
    unlink(program);
    return 0;
}

static int close_it(void **state)
{
    (void)state;
    char folder[sizeof grind.folder.path];
    memcpy(folder, grind.folder.path, sizeof folder);
    ab_callgrind_close(&grind);
    assert_int_equal(access(folder, F_OK), -1);
    *strrchr(folder, '/') = 0;
    rmdir(folder);
    return 0;
}

static void write_file(const char *name, const char *text)
{
    char path[1200];
    snprintf(path, sizeof path, "%s/%s", grind.folder.path, name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static void each_phase_has_its_file(void **state)
{
    (void)state;
    uint64_t n[4];
    write_file("n.1", "version: 1\ndesc: Trigger: Client Request: phase 2\n\nfn=main\n5 7\n\n"
                      "totals: 123456789012\n");
    write_file("n.2", "desc: Trigger: Client Request: phase 0\ntotals: 5\n");
    write_file("n.3", "desc: Trigger: Client Request: phase 1\nfn=cut off\n");
    write_file("n.4", "desc: Trigger: Client Request: phase 9\ntotals: 5\n");
    write_file("n", "desc: Trigger: Program termination\ntotals: 77\n");
    ab_callgrind_take(&grind, n, 4);
    assert_int_equal(n[0], 5);
    assert_true(n[1] == AB_NOT_COUNTED);
    assert_int_equal(n[2], 123456789012);
    assert_true(n[3] == AB_NOT_COUNTED);
    ab_callgrind_take(&grind, n, 4); /* they are gone */
    assert_true(n[0] == AB_NOT_COUNTED);
}

static void what_valgrind_said_is_without_its_number(void **state)
{
    (void)state;
    char text[64];
    ab_callgrind_message(&grind, text, sizeof text);
    assert_string_equal(text, "");
    write_file("log", "==4321== valgrind: cannot run\n==4321== more\n");
    ab_callgrind_message(&grind, text, sizeof text);
    assert_string_equal(text, "valgrind: cannot run");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_phase_has_its_file),
        cmocka_unit_test(what_valgrind_said_is_without_its_number),
    };
    return cmocka_run_group_tests(tests, open_it, close_it);
}
