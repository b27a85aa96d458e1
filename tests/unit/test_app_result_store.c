/* SPDX-License-Identifier: MIT */
#include "app/result_store.h"
#include "result/numbers.h"

#include "base/bits.h"
#include "support/cmocka.h"
#include "support/report_session.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void a_stem_is_name_time_and_digest(void **state)
{
    (void)state;
    static const struct {
        const char *name, *stem;
    } names[] = {
        {"churn", "churn-20260102T030405-0123abcd"},
        {"app.abt", "app.abt-20260102T030405-0123abcd"},
        {"", "result-20260102T030405-0123abcd"},
        {"..", "_.-20260102T030405-0123abcd"},
        {"-rf", "_rf-20260102T030405-0123abcd"},
        {"../../etc/passwd", "_._.._etc_passwd-20260102T030405-0123abcd"},
        {"a b\n\x1b[m/\xc3\xa9", "a_b___m___-20260102T030405-0123abcd"},
    };
    for (size_t i = 0; i < AB_ARRAY_LEN(names); i++) {
        struct ab_session s = {
            .name = names[i].name,
            .tape_sha256 = "0123abcd5e60718293a4b5c6d7e8f900112233445566778899aabbccddeeff00"};
        char stem[128];
        ab_store_stem(&s, 1767323045, stem, sizeof stem);
        assert_string_equal(stem, names[i].stem);
    }
}

static void a_long_name_is_cut(void **state)
{
    (void)state;
    char name[301] = "", stem[128];
    memset(name, 'n', 300);
    struct ab_session s = {.name = name, .tape_sha256 = "0123abcd"};
    ab_store_stem(&s, 0, stem, sizeof stem);
    assert_int_equal(strlen(stem), 64 + strlen("-19700101T000000-0123abcd"));
}

/* How many files a folder has; they go with it where `is_end`. */
static int count_files(const char *folder, bool is_end)
{
    char path[512];
    int n = 0;
    DIR *d = opendir(folder);
    assert_non_null(d);
    for (struct dirent *e; (e = readdir(d)) != NULL;) {
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
            continue;
        n++;
        snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        if (is_end)
            unlink(path);
    }
    closedir(d);
    if (is_end)
        rmdir(folder);
    return n;
}

static ino_t inode_of(const struct ab_store *store)
{
    struct stat st;
    char path[512];
    snprintf(path, sizeof path, "%s/%s", store->folder, store->name);
    assert_int_equal(stat(path, &st), 0);
    return st.st_ino;
}

static void rounds_are_saved_in_one_file_and_no_other_is_replaced(void **state)
{
    (void)state;
    char folder[] = "/tmp/test-store-XXXXXX", name[160], path[512], moved[512];
    assert_non_null(mkdtemp(folder));
    struct fake_session *f = fake_session_new();
    struct ab_store store = {.folder = folder};
    struct ab_err err;
    ab_store_save(&store, &f->s);
    store.cost_ns = 0; /* as if it had taken no time: the next one is not left out */
    ino_t first = inode_of(&store);
    snprintf(name, sizeof name, "%s", store.name);
    ab_store_save(&store, &f->s);
    assert_string_equal(store.name, name);
    assert_int_not_equal(inode_of(&store), first);
    assert_int_equal(count_files(folder, false), 1);

    snprintf(path, sizeof path, "%s/%s", folder, name); /* somebody else's, since */
    FILE *other = fopen(path, "w");
    assert_non_null(other);
    fclose(other);
    snprintf(moved, sizeof moved, "%s/other", folder);
    assert_int_equal(rename(path, moved), 0);
    assert_int_equal(symlink("other", path), 0);
    assert_int_equal(ab_store_write(&store, &f->s, &err), AB_OK);
    assert_string_not_equal(store.name, name);
    assert_int_equal(count_files(folder, true), 3);
    fake_session_free(f);
}

static void saving_is_left_out_where_it_would_take_too_much_of_the_time(void **state)
{
    (void)state;
    char folder[] = "/tmp/test-store-XXXXXX";
    assert_non_null(mkdtemp(folder));
    struct fake_session *f = fake_session_new();
    struct ab_store store = {.folder = folder};
    ab_store_save(&store, &f->s);
    store.cost_ns = UINT64_C(3600000000000); /* the last one took an hour */
    ino_t first = inode_of(&store);
    ab_store_save(&store, &f->s);
    assert_int_equal(inode_of(&store), first);
    assert_int_equal(count_files(folder, true), 1);
    fake_session_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stem_is_name_time_and_digest),
        cmocka_unit_test(a_long_name_is_cut),
        cmocka_unit_test(rounds_are_saved_in_one_file_and_no_other_is_replaced),
        cmocka_unit_test(saving_is_left_out_where_it_would_take_too_much_of_the_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
