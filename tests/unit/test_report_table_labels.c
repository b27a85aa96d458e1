/* SPDX-License-Identifier: MIT */
#include "report/table/table.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* The head of a table with these rows of back ends, up to NULL. */
static const char *head_of(const char *const *names)
{
    static char head[AB_LABEL_HEAD_BYTES];
    struct ab_table t;
    ab_table_init(&t, NULL, 0);
    ab_table_add(&t, "a heading with { braces", true);
    for (; *names != NULL; names++) {
        struct ab_backend_info b = {0};
        snprintf(b.name, sizeof b.name, "%s", *names);
        ab_table_add_backend(&t, &b);
    }
    ab_table_label_head(&t, head);
    ab_table_fini(&t);
    return head;
}
#define HEAD(...) head_of((const char *const[]){__VA_ARGS__, NULL})

static void what_all_settings_share_is_left_out(void **state)
{
    (void)state;
    assert_string_equal(
        HEAD("jemalloc", "jemalloc{MALLOC_CONF=narenas:1}", "jemalloc{MALLOC_CONF=tcache:false}"),
        "jemalloc{MALLOC_CONF=");
    assert_string_equal(HEAD("glibc{GLIBC_TUNABLES=glibc.malloc.mxfast=0}",
                             "glibc{GLIBC_TUNABLES=glibc.malloc.arena_max=1}", "slab"),
                        "glibc{GLIBC_TUNABLES=glibc.malloc.");
    assert_string_equal(
        HEAD("tcmalloc{TCMALLOC_RELEASE_RATE=0}", "tcmalloc{TCMALLOC_TRANSFER_NUM_OBJ=512}"),
        "tcmalloc{");
}

static void names_and_values_stay_whole(void **state)
{
    (void)state;
    assert_string_equal(HEAD("a{X=dirty_decay_ms:0}", "a{X=dirty_decay_max:1}"), "a{X=");
    assert_string_equal(HEAD("a{X=0.5}", "a{X=0.25}"), "a{");
    assert_string_equal(
        HEAD("g{T=glibc.malloc.tcache_count=0}", "g{T=glibc.malloc.tcache_count=1}"),
        "g{T=glibc.malloc.");
    assert_string_equal(HEAD("mimalloc{A=1;B=2}", "mimalloc{A=2}"), "mimalloc{");
    assert_string_equal(HEAD("mimalloc{A=1;B=2}", "mimalloc{A=2;B=2}"), "mimalloc{");
    assert_string_equal(HEAD("jemalloc{A=x:1}", "jemalloc{A=2}"), "jemalloc{");
}

static void nothing_is_left_out_of_what_has_nothing_in_common(void **state)
{
    (void)state;
    assert_string_equal(HEAD("glibc", "jemalloc"), "");
    assert_string_equal(HEAD("jemalloc", "jemalloc{MALLOC_CONF=narenas:1}"), "");
    assert_string_equal(HEAD("jemalloc{X=1}", "jemalloc{X=1}"), "");
    assert_string_equal(HEAD("jemalloc{X=1}", "glibc{X=1}"), "");
}

static void a_label_keeps_what_differs(void **state)
{
    char buf[64];
    (void)state;
    assert_string_equal(ab_table_label_short(buf, sizeof buf, "a{X=", "a{X=b:1} (partial)"),
                        "{b:1} (partial)");
    assert_string_equal(ab_table_label_short(buf, sizeof buf, "a{X=", "a"), "a");
    assert_string_equal(ab_table_label_short(buf, sizeof buf, "", "a{X=b:1}"), "a{X=b:1}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_all_settings_share_is_left_out),
        cmocka_unit_test(names_and_values_stay_whole),
        cmocka_unit_test(nothing_is_left_out_of_what_has_nothing_in_common),
        cmocka_unit_test(a_label_keeps_what_differs),
    };
    return cmocka_run_group_tests_name("table labels", tests, NULL, NULL);
}
