/* SPDX-License-Identifier: MIT
 *
 * The search for libraries, in directories made for it: nothing here needs an allocator to be
 * installed.
 */
#include "backend/presets.h"

#include "guests.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char root[] = "/tmp/allocbench-presets-XXXXXX";
static char first[64], second[64];
static const char *const dirs[] = {first, second, NULL};

static const char *in(const char *dir, const char *file)
{
    static char path[256];
    snprintf(path, sizeof path, "%s/%s", dir, file);
    return path;
}

static void put_library(const char *dir, const char *file)
{
    char guest[4096];
    assert_int_equal(symlink(guest_path(guest, "libplug_malloc.so"), in(dir, file)), 0);
}

static void put_text(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static int make_dirs(void **state)
{
    (void)state;
    assert_non_null(mkdtemp(root));
    snprintf(first, sizeof first, "%s/first", root);
    snprintf(second, sizeof second, "%s/second", root);
    return mkdir(first, 0700) | mkdir(second, 0700);
}

static void clear(void)
{
    static const char *const files[] = {"libtcmalloc_minimal.so.4",
                                        "libtcmalloc.so.4",
                                        "libjemalloc.so.2",
                                        "libjemalloc.so",
                                        "x-9.so",
                                        "x-14.so",
                                        "status"};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        unlink(in(first, files[i]));
        unlink(in(second, files[i]));
    }
}

static int remove_dirs(void **state)
{
    (void)state;
    clear();
    return rmdir(first) | rmdir(second) | rmdir(root);
}

static void every_preset_is_found_by_name_and_names_its_package(void **state)
{
    (void)state;
    static const char *const wanted[] = {"glibc",    "jemalloc", "tcmalloc", "tcmalloc_minimal",
                                         "mimalloc", "scudo",    "tbb",      "slab_malloc"};
    assert_int_equal(ab_preset_count(), 8);
    for (size_t i = 0; i < 8; i++) {
        const struct ab_preset *p = ab_preset_find(wanted[i]);
        assert_non_null(p);
        assert_true(p->package[0] != 0 && p->summary[0] != 0);
        assert_true((p->files[0] == NULL) == (i == 0));
    }
    assert_null(ab_preset_find("jemallo"));
}

static void what_lies_beside_the_program_is_found_there(void **state)
{
    (void)state;
    static const char *const files[] = {"$ORIGIN/none.so", "$ORIGIN/ab_test_preset.so", NULL};
    struct ab_preset preset = {"own", "own", "own", files};
    char path[4200] = "untouched", self[4096], want[4200];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    assert_true(n > 0);
    self[n] = 0;
    *strrchr(self, '/') = 0;
    snprintf(want, sizeof want, "%s/ab_test_preset.so", self);
    assert_false(ab_preset_locate(&preset, dirs, path, sizeof path));
    assert_string_equal(path, "untouched");
    put_library(self, "ab_test_preset.so");
    assert_true(ab_preset_locate(&preset, dirs, path, sizeof path));
    unlink(want);
    assert_string_equal(path, want);
    assert_string_equal(ab_preset_version(&preset, path, self, sizeof self), AB_VERSION);
}

static void nothing_there_is_not_found_and_leaves_the_path_alone(void **state)
{
    (void)state;
    char path[256] = "untouched";
    clear();
    assert_false(ab_preset_locate(ab_preset_find("tcmalloc"), dirs, path, sizeof path));
    assert_string_equal(path, "untouched");
}

static void the_better_file_wins_over_the_earlier_directory(void **state)
{
    (void)state;
    char path[256];
    clear();
    put_library(first, "libtcmalloc_minimal.so.4");
    assert_true(ab_preset_locate(ab_preset_find("tcmalloc"), dirs, path, sizeof path));
    assert_string_equal(path, in(first, "libtcmalloc_minimal.so.4"));
    put_library(second, "libtcmalloc.so.4");
    assert_true(ab_preset_locate(ab_preset_find("tcmalloc"), dirs, path, sizeof path));
    assert_string_equal(path, in(second, "libtcmalloc.so.4"));
    assert_true(ab_preset_locate(ab_preset_find("tcmalloc_minimal"), dirs, path, sizeof path));
    assert_string_equal(path, in(first, "libtcmalloc_minimal.so.4"));
    unlink(in(first, "libtcmalloc_minimal.so.4"));
    assert_false(ab_preset_locate(ab_preset_find("tcmalloc_minimal"), dirs, path, sizeof path));
}

static void what_is_no_library_is_passed_over_but_better_than_nothing(void **state)
{
    (void)state;
    char path[256];
    clear();
    put_text(in(first, "libjemalloc.so.2"), "INPUT(-ljemalloc)\n");
    assert_true(ab_preset_locate(ab_preset_find("jemalloc"), dirs, path, sizeof path));
    assert_string_equal(path, in(first, "libjemalloc.so.2"));
    put_text(in(second, "libjemalloc.so"), "another text\n");
    assert_true(ab_preset_locate(ab_preset_find("jemalloc"), dirs, path, sizeof path));
    assert_string_equal(path, in(first, "libjemalloc.so.2"));
    unlink(in(second, "libjemalloc.so"));
    put_library(second, "libjemalloc.so");
    assert_true(ab_preset_locate(ab_preset_find("jemalloc"), dirs, path, sizeof path));
    assert_string_equal(path, in(second, "libjemalloc.so"));
}

static void of_a_pattern_the_newest_match_wins(void **state)
{
    (void)state;
    char path[256], pattern[128];
    clear();
    put_library(first, "x-9.so");
    put_library(first, "x-14.so");
    snprintf(pattern, sizeof pattern, "%s/x-*.so", first);
    const char *const files[] = {pattern, NULL};
    struct ab_preset preset = {"x", "", "", files};
    assert_true(ab_preset_locate(&preset, dirs, path, sizeof path));
    assert_string_equal(path, in(first, "x-14.so"));
    unlink(in(first, "x-14.so"));
    put_text(in(first, "x-14.so"), "not ELF");
    assert_true(ab_preset_locate(&preset, dirs, path, sizeof path));
    assert_string_equal(path, in(first, "x-9.so"));
}

static void versions_are_those_of_installed_packages(void **state)
{
    (void)state;
    char version[64], status[128];
    clear();
    strcpy(status, in(first, "status"));
    put_text(status, "Package: libfoo2\nStatus: deinstall ok config-files\nVersion: 1.0-1\n\n"
                     "Package: libfoo22\nStatus: install ok installed\nVersion: 1:9.9\n\n"
                     "Package: libbar\nStatus: install ok installed\nPriority: optional\n"
                     "Version: 2.0.9+ds-2\nDescription: Version: 3\n");
    assert_string_equal(ab_package_version("libbar", status, version, sizeof version),
                        "2.0.9+ds-2");
    assert_string_equal(ab_package_version("libfoo2", status, version, sizeof version), "");
    assert_string_equal(ab_package_version("libfoo22", status, version, sizeof version), "9.9");
    assert_string_equal(ab_package_version("libnone", status, version, sizeof version), "");
    assert_string_equal(ab_package_version("libbar", "/no/file", version, sizeof version), "");
    assert_string_equal(ab_package_version("libbar", status, version, 4), "2.0");
}

static void the_path_tells_the_version_of_llvm(void **state)
{
    (void)state;
    char version[64];
    const struct ab_preset *scudo = ab_preset_find("scudo");
    ab_preset_version(scudo, "/usr/lib/llvm-19/lib/clang/19.1/lib/linux/x.so", version, 64);
    assert_string_equal(version, "19.1");
    ab_preset_version(scudo, "/usr/local/lib/libscudo.so", version, 64);
    assert_string_equal(version, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_preset_is_found_by_name_and_names_its_package),
        cmocka_unit_test(what_lies_beside_the_program_is_found_there),
        cmocka_unit_test(nothing_there_is_not_found_and_leaves_the_path_alone),
        cmocka_unit_test(the_better_file_wins_over_the_earlier_directory),
        cmocka_unit_test(what_is_no_library_is_passed_over_but_better_than_nothing),
        cmocka_unit_test(of_a_pattern_the_newest_match_wins),
        cmocka_unit_test(the_path_tells_the_version_of_llvm),
        cmocka_unit_test(versions_are_those_of_installed_packages),
    };
    return cmocka_run_group_tests_name("presets", tests, make_dirs, remove_dirs);
}
