/* SPDX-License-Identifier: MIT */
#include "backend/selection.h"

#include "backend/presets.h"
#include "base/bits.h"
#include "guests.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static struct ab_selection_list parse(const char *a, const char *b)
{
    struct ab_selection_list list;
    struct ab_err err;
    const char *args[] = {a, b};
    if (ab_selection_parse(args, a == NULL ? 0 : b == NULL ? 1 : 2, NULL, &list, &err) != AB_OK)
        fail_msg("%s", err.text);
    return list;
}

static void expect_usage(const char *a, const char *b, const char *part)
{
    struct ab_selection_list list = {.n = 77};
    struct ab_err err;
    const char *args[] = {a, b};
    assert_int_equal(ab_selection_parse(args, b != NULL ? 2 : 1, NULL, &list, &err), AB_USAGE);
    if (strstr(err.text, part) == NULL)
        fail_msg("%s: \"%s\" does not say \"%s\"", a, err.text, part);
    assert_int_equal(list.n, 77);
}

/* The malloc libraries that are here, one name for each allocator. */
static size_t expect_libraries(const struct ab_selection_list *list, size_t at)
{
    for (size_t i = 0; i < ab_preset_count(); i++) {
        const char *name = ab_preset_at(i)->name;
        struct ab_selection_list one = parse(name, NULL);
        bool is_here = one.items[0].state == AB_SELECTION_OK;
        ab_selection_list_fini(&one);
        if (!is_here || strcmp(name, "tcmalloc_minimal") == 0 || strcmp(name, "slab_malloc") == 0)
            continue;
        assert_true(at < list->n);
        assert_string_equal(list->items[at].name, name);
        assert_false(list->items[at++].was_named);
    }
    return at;
}

static void without_names_the_libraries_that_are_here_are_taken(void **state)
{
    (void)state;
    struct ab_selection_list list = parse(NULL, NULL);
    assert_string_equal(list.items[0].name, "glibc");
    assert_int_equal(expect_libraries(&list, 0), list.n);
    ab_selection_list_fini(&list);
}

static void words_stand_for_several_back_ends(void **state)
{
    (void)state;
    static const char *const built_in[] = {"arena", "pool", "slab", "paged", "handle"};
    struct ab_selection_list list = parse("libraries", NULL);
    assert_int_equal(expect_libraries(&list, 0), list.n);
    ab_selection_list_fini(&list);
    list = parse("slab_malloc", NULL);
    size_t n_own = list.items[0].state == AB_SELECTION_OK; /* where it is built */
    ab_selection_list_fini(&list);
    list = parse("all", NULL);
    size_t n = expect_libraries(&list, 0);
    assert_int_equal(list.n, n + 5 + n_own);
    for (size_t i = 0; i < 5; i++)
        assert_string_equal(list.items[n + i].name, built_in[i]);
    ab_selection_list_fini(&list);
    list = parse("slab:keep=8,glibc", "all"); /* what is there already is not there again */
    assert_string_equal(list.items[1].name, "glibc");
    assert_true(list.items[1].was_named);
    assert_int_equal(list.n, n + 6 + n_own);
    ab_selection_list_fini(&list);
    list = parse("libraries,glibc", NULL);
    assert_true(list.items[0].was_named); /* no second row, but asked for */
    assert_int_equal(list.n, n);
    ab_selection_list_fini(&list);
    expect_usage("libraries,glibc,glibc", NULL, "the back end glibc is given twice");
    expect_usage("al", NULL, "did you mean \"all\"?");
}

static void lists_may_be_joined_by_commas_or_repeated(void **state)
{
    (void)state;
    struct ab_selection_list list = parse("arena,skeleton", "glibc");
    assert_int_equal(list.n, 3);
    assert_string_equal(list.items[1].name, "skeleton");
    assert_string_equal(list.items[2].name, "glibc");
    assert_true(list.items[2].was_named);
    ab_selection_list_fini(&list);
}

static void built_ins_and_the_c_library_need_no_file(void **state)
{
    (void)state;
    struct ab_selection_list list = parse("arena:reserve=1MiB,glibc,system", NULL);
    struct ab_selection *s = list.items;
    assert_int_equal(s[0].source, AB_SOURCE_BUILTIN);
    assert_string_equal(s[0].builtin->name, "arena");
    assert_string_equal(s[0].name, "arena:reserve=1MiB");
    assert_int_equal(ab_selection_boundary(&s[0]), AB_BOUNDARY_HEAP);
    assert_int_equal(s[0].values[0], 1 << 20);
    assert_true(s[0].never_frees);
    assert_int_equal(s[1].source, AB_SOURCE_LIBC);
    assert_int_equal(ab_selection_boundary(&s[1]), AB_BOUNDARY_MALLOC);
    assert_string_equal(s[1].path, "");
    assert_true(s[1].version[0] == '2');
    assert_false(s[2].never_frees);
    ab_selection_list_fini(&list);
}

static struct ab_selection select_path(const char *path)
{
    struct ab_selection_list list = parse(path, NULL);
    assert_int_equal(list.n, 1);
    struct ab_selection s = list.items[0];
    ab_selection_list_fini(&list);
    return s;
}

static struct ab_selection select_guest(const char *file)
{
    char path[4096];
    return select_path(guest_path(path, file));
}

static void libraries_are_classified_by_their_symbols(void **state)
{
    (void)state;
    struct ab_selection s = select_guest("libplug_malloc.so");
    assert_int_equal(s.state, AB_SELECTION_OK);
    assert_int_equal(s.source, AB_SOURCE_PRELOAD);
    assert_string_equal(s.name, "plug_malloc");
    assert_int_equal(ab_selection_boundary(&s), AB_BOUNDARY_MALLOC);
    struct stat st;
    assert_int_equal(stat(s.path, &st), 0);
    assert_int_equal(s.dev, st.st_dev);
    assert_int_equal(s.ino, st.st_ino);
    s = select_guest("libplug_good.so");
    assert_int_equal(s.state, AB_SELECTION_OK);
    assert_int_equal(s.source, AB_SOURCE_PLUGIN);
    assert_int_equal(ab_selection_boundary(&s), AB_BOUNDARY_HEAP);
}

static void wrong_libraries_say_what_is_missing(void **state)
{
    (void)state;
    struct ab_selection s = select_guest("libplug_partial.so");
    assert_int_equal(s.state, AB_SELECTION_WRONG_LIBRARY);
    assert_non_null(strstr(s.reason, "but not realloc, memalign, aligned_alloc, posix_memalign, "
                                     "malloc_usable_size"));
    s = select_guest("libplug_symbol.so");
    assert_int_equal(s.state, AB_SELECTION_WRONG_LIBRARY);
    assert_string_equal(s.reason, "has no malloc and no ab_backend_v1: nothing to measure");
    s = select_path("/proc/self/exe");
    assert_int_equal(s.state, AB_SELECTION_WRONG_LIBRARY);
    assert_non_null(strstr(s.reason, "is a program"));
    s = select_path("/etc/passwd");
    assert_int_equal(s.state, AB_SELECTION_WRONG_LIBRARY);
    assert_non_null(strstr(s.reason, "is not an ELF file"));
    s = select_path("/tmp");
    assert_int_equal(s.state, AB_SELECTION_WRONG_LIBRARY);
}

static void files_that_do_not_exist_are_absent(void **state)
{
    (void)state;
    struct ab_selection s = select_path("libnothere.so.3");
    assert_int_equal(s.state, AB_SELECTION_ABSENT);
    assert_string_equal(s.name, "nothere");
    assert_string_equal(s.reason, "no such file: libnothere.so.3");
    assert_true(s.was_named);
    s = select_path("./libx.so:a=1"); /* whether it takes any is for the file to say */
    assert_int_equal(s.state, AB_SELECTION_ABSENT);
    assert_string_equal(s.name, "x:a=1");
    assert_string_equal(s.params, "a=1");
}

static void file_names_become_names(void **state)
{
    (void)state;
    static const char *const table[][2] = {
        {"/a/libjemalloc.so.2", "jemalloc"},
        {"libclang_rt.scudo_standalone-x86_64.so", "clang_rt.scudo_standalone-x86_64"},
        {"./mine.so", "mine"},
        {"lib.so", "lib"},
        {"/x/.so", ".so"},
        {"/x/lib", "lib"},
        {"libtcmalloc.so.4.5.10", "tcmalloc"},
        {"liba.social.so.1", "a.social"},
        {"/x/lib a\033,b.so", "_a__b"},
        {"/x/", ""},
    };
    for (size_t i = 0; i < AB_ARRAY_LEN(table); i++) {
        char buf[128];
        assert_string_equal(ab_selection_stem(table[i][0], buf, sizeof buf), table[i][1]);
    }
    char small[4], path[300];
    assert_string_equal(ab_selection_stem("libjemalloc.so", small, sizeof small), "jem");
    memset(path, 'x', sizeof path);
    path[sizeof path - 1] = 0;
    char name[128];
    assert_int_equal(strlen(ab_selection_stem(path, name, sizeof name)), 64);
}

static void a_whole_argument_that_is_a_file_may_have_commas(void **state)
{
    (void)state;
    char dir[] = "/tmp/allocbench-a,b-XXXXXX", path[4096], guest[4096];
    assert_non_null(mkdtemp(dir));
    snprintf(path, sizeof path, "%s/libodd name.so", dir);
    assert_int_equal(symlink(guest_path(guest, "libplug_malloc.so"), path), 0);
    struct ab_selection s = select_path(path);
    unlink(path);
    rmdir(dir);
    assert_int_equal(s.state, AB_SELECTION_OK);
    assert_string_equal(s.name, "odd_name");
    assert_non_null(strstr(s.path, "libplug_malloc.so")); /* links are resolved */
}

static void mistakes_are_named_with_what_is_allowed(void **state)
{
    (void)state;
    expect_usage("jemaloc", NULL, "unknown back end \"jemaloc\"; did you mean \"jemalloc\"?");
    expect_usage("jemaloc", NULL,
                 "Known: glibc, jemalloc, tcmalloc, tcmalloc_minimal, mimalloc, "
                 "scudo, tbb, slab_malloc, arena");
    expect_usage("qqqqqq", NULL, "unknown back end \"qqqqqq\". Known:");
    expect_usage("ar\033[2Jena", NULL, "\\x1b");
    expect_usage("arena,,system", NULL, "an empty name");
    expect_usage("", NULL, "an empty name");
    expect_usage("arena,", NULL, "an empty name");
    expect_usage("glibc:x=1", NULL,
                 "glibc:x=1: a malloc library takes no parameters except trim=TIME or purge=TIME");
    expect_usage("arena:reserv=1", NULL, "did you mean \"reserve\"");
    expect_usage("arena:", NULL, "nothing after ':' in \"arena:\"");
}

static void two_of_one_name_are_refused(void **state)
{
    (void)state;
    char path[4096], guest[4096];
    expect_usage("arena,system,arena", NULL, "the back end arena is given twice");
    expect_usage("arena", "arena", "given twice");
    guest_path(guest, "libplug_malloc.so");
    expect_usage(guest, guest, "the back end plug_malloc is given twice");
    expect_usage(guest, "/elsewhere/libplug_malloc.so.2", "plug_malloc");
    snprintf(path, sizeof path, "/nowhere/libarena.so");
    expect_usage("arena", path, "arena");
    struct ab_selection_list list = parse("arena,arena:commit=4KiB", NULL);
    assert_int_equal(list.n, 2);
    ab_selection_list_fini(&list);
}

static void twins_are_refused_however_they_are_spelled(void **state)
{
    (void)state;
    char guest[4096], text[3 * 4096 + 100];
    expect_usage("arena,arena:commit=0", NULL, "arena and arena:commit=0 are the same back end");
    expect_usage("slab:keep=8:spare=0", "slab:spare=0:keep=8", "leave one out");
    expect_usage("glibc{A=1;B=2}", "glibc{B=2;A=1}", "leave one out");
    expect_usage("glibc{A=1}", "glibc{A=1;}", "leave one out");
    guest_path(guest, "libplug_malloc.so");
    snprintf(text, sizeof text, "%s{A=1},%s{A=2},%s,glibc,glibc{A=1},arena{A=1},arena", guest,
             guest, guest);
    struct ab_selection_list list = parse(text, NULL);
    assert_int_equal(list.n, 7);
    assert_string_equal(list.items[1].name, "plug_malloc{A=2}");
    assert_string_equal(list.items[1].env[0], "A=2");
    ab_selection_list_fini(&list);
}

static void settings_are_checked_as_far_as_no_library_is_needed(void **state)
{
    (void)state;
    char guest[4096], text[4200];
    expect_usage("glibc{A=\033[2J}", NULL, "printable text, found \"{A=\\x1b[2J}\"");
    expect_usage("glibc{A=\xff}", NULL, "printable text");
    expect_usage("./x.so:a", NULL, "\"a\" is not of the form PARAM=VALUE");
    expect_usage("./x.so:a=1:=2", NULL, "\"=2\" is not of the form PARAM=VALUE");
    expect_usage("./x.so:a=1:b=2:a=3", NULL, "a is given twice");
    expect_usage("{A=1}", NULL, "no back end before \"{A=1}\"");
    expect_usage(":a=1", NULL, "no back end before \":a=1\"");
    snprintf(text, sizeof text, "%s:prefx=mi_", guest_path(guest, "libplug_malloc.so"));
    expect_usage(text, NULL, "takes no parameters except purge=TIME");
}

static void a_malloc_can_be_told_to_give_memory_back(void **state)
{
    (void)state;
    struct ab_selection_list list = parse("glibc,glibc:trim=60s,jemalloc:purge=1500ms", NULL);
    assert_int_equal(list.items[0].purge_ns, 0);
    assert_string_equal(list.items[1].name, "glibc:trim=60s");
    assert_true(list.items[1].purge_ns == UINT64_C(60000000000));
    assert_true(list.items[2].purge_ns == UINT64_C(1500000000));
    ab_selection_list_fini(&list);
    expect_usage("glibc:trim=60s,glibc:purge=60000ms", NULL, "the same back end");
    expect_usage("glibc:trim=60", NULL, "glibc:trim=60: trim=60: ");
    expect_usage("glibc:purge=0s", NULL, "purge=0s: must be at least 1ms");
    expect_usage("glibc:purge", NULL, "purge=: ");
    expect_usage("jemalloc:trim=60s", NULL, "except purge=TIME");
    expect_usage("slab:purge=60s", NULL, "slab has no parameter \"purge\"");
}

static void folders_are_searched_behind_all_known_names(void **state)
{
    (void)state;
    char dir[] = "/tmp/allocbench-folder-XXXXXX", folders[64], bare[64], lib[64], guest[4096];
    const char *const names[] = {"glibc,mine"}, *const unknown[] = {"mime"};
    struct ab_selection_list list;
    struct ab_err err;
    assert_non_null(mkdtemp(dir));
    snprintf(folders, sizeof folders, "/nowhere::%s", dir);
    snprintf(bare, sizeof bare, "%s/mine.so", dir);
    snprintf(lib, sizeof lib, "%s/libglibc.so", dir);
    guest_path(guest, "libplug_good.so");
    assert_int_equal(symlink(guest, bare) | symlink(guest, lib), 0);
    assert_int_equal(ab_selection_parse(names, 1, folders, &list, &err), AB_OK);
    assert_int_equal(list.items[0].source, AB_SOURCE_LIBC);
    assert_string_equal(list.items[1].name, "mine");
    assert_int_equal(list.items[1].source, AB_SOURCE_PLUGIN);
    ab_selection_list_fini(&list);
    assert_int_equal(ab_selection_parse(unknown, 1, folders, &list, &err), AB_USAGE);
    assert_non_null(strstr(err.text, "neither libmime.so nor mime.so is in /nowhere::/tmp/"));
    unlink(bare);
    unlink(lib);
    rmdir(dir);
}

static void long_lists_and_names_are_refused(void **state)
{
    (void)state;
    char text[4096] = "", name[300];
    for (int i = 0; i < 65; i++)
        snprintf(text + strlen(text), 64, "%sarena:commit=%d", i > 0 ? "," : "", 4096 + i);
    expect_usage(text, NULL, "more than 64 back ends");
    memset(name, 'a', sizeof name);
    name[sizeof name - 1] = 0;
    expect_usage(name, NULL, "at most 127 characters");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_names_the_libraries_that_are_here_are_taken),
        cmocka_unit_test(words_stand_for_several_back_ends),
        cmocka_unit_test(lists_may_be_joined_by_commas_or_repeated),
        cmocka_unit_test(built_ins_and_the_c_library_need_no_file),
        cmocka_unit_test(libraries_are_classified_by_their_symbols),
        cmocka_unit_test(wrong_libraries_say_what_is_missing),
        cmocka_unit_test(files_that_do_not_exist_are_absent),
        cmocka_unit_test(file_names_become_names),
        cmocka_unit_test(a_whole_argument_that_is_a_file_may_have_commas),
        cmocka_unit_test(mistakes_are_named_with_what_is_allowed),
        cmocka_unit_test(two_of_one_name_are_refused),
        cmocka_unit_test(twins_are_refused_however_they_are_spelled),
        cmocka_unit_test(settings_are_checked_as_far_as_no_library_is_needed),
        cmocka_unit_test(a_malloc_can_be_told_to_give_memory_back),
        cmocka_unit_test(folders_are_searched_behind_all_known_names),
        cmocka_unit_test(long_lists_and_names_are_refused),
    };
    return cmocka_run_group_tests_name("selection", tests, NULL, NULL);
}
