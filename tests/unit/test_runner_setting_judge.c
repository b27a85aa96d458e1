/* SPDX-License-Identifier: MIT
 * tests: setting_judge.c */
#include "runner/setting_judge.h"
#include "support/cmocka.h"

#include <stdio.h>
#include <string.h>

static struct ab_backend_info b;
static struct ab_setting_evidence e;

static int reset(void **state)
{
    (void)state;
    memset(&b, 0, sizeof b);
    e = (struct ab_setting_evidence){
        .serves = AB_SERVES_ANOTHER, .said = "", .complaints = "", .tunables = "", .words = ""};
    return 0;
}

/* What becomes of the setting at `i`. */
#define EXPECT(i, proof, words) \
    do { \
        assert_true(b.n_proofs > (i)); \
        assert_int_equal(b.proofs[i].state, AB_SETTING_##proof); \
        if (strstr(b.proofs[i].why, words) == NULL) \
            fail_msg("%s: %s", b.proofs[i].text, b.proofs[i].why); \
    } while (0)

static void jemalloc_lists_its_options_and_complains_of_others(void **state)
{
    (void)state;
    e.kind = AB_INTROSPECT_MALLCTL;
    e.said =
        "kind: 2\n  opt.narenas: 8\n  opt.dirty_decay_ms: 0 (arenas.dirty_decay_ms: 0)\n"
        "  opt.junk: \"true\"\n  opt.tcache: false\n  opt.thp: \"default\"\n  opt.prof: false\n";
    e.complaints = "<jemalloc>: Invalid conf pair: narena:1\n"
                   "<jemalloc>: Invalid conf value: lg_tcache_max:x\n"
                   "<jemalloc>: Invalid conf pair: prof:true\n";
    ab_setting_judge(&e,
                     "MALLOC_CONF=dirty_decay_ms:0,junk:true,tcache:false,narenas:1,narena:1,"
                     "lg_tcache_max:x,bin_shards:1,thp:always,prof:true,alone",
                     &b);
    assert_int_equal(b.n_proofs, 10);
    EXPECT(0, PROVEN, "");
    assert_string_equal(b.proofs[0].text, "MALLOC_CONF=dirty_decay_ms:0");
    EXPECT(1, PROVEN, "");
    EXPECT(2, PROVEN, "");
    EXPECT(3, IGNORED, "8 is in force");
    EXPECT(4, IGNORED, "no option \"narena\"; did you mean \"narenas\"?");
    EXPECT(5, IGNORED, "refuses this value");
    EXPECT(6, UNPROVEN, "does not say");
    EXPECT(7, UNPROVEN, "says default"); /* words may be translated */
    EXPECT(8, IGNORED, "refuses this value");
    EXPECT(9, IGNORED, "NAME:VALUE");
    assert_string_equal(b.reason,
                        "did not take MALLOC_CONF=narenas:1: 8 is in force"); /* the first */
}

static void a_longer_setting_is_not_the_one_that_was_refused(void **state)
{
    (void)state;
    e.kind = AB_INTROSPECT_MALLCTL;
    e.complaints = "<jemalloc>: Invalid conf pair: xyz:11\n";
    ab_setting_judge(&e, "MALLOC_CONF=xyz:1", &b);
    EXPECT(0, UNPROVEN, "");
}

static void mimalloc_has_the_options_of_its_version(void **state)
{
    (void)state;
    e.kind = AB_INTROSPECT_MIMALLOC;
    e.complaints =
        "mimalloc: option 'purge_delay': 10\nmimalloc: option 'allow_large': 1\n"
        "mimalloc: warning: environment option mimalloc_arena_count has an invalid value.\n"
        "mimalloc: option 'arena_count': 3\nmimalloc: option 'reserve_os_memory': 1024 KiB\n";
    e.words = "MIMALLOC\nlegacy_delay\n";
    ab_setting_judge(&e, "MIMALLOC_PURGE_DELAY=10", &b);
    ab_setting_judge(&e, "mimalloc_allow_large=yes", &b);
    ab_setting_judge(&e, "MIMALLOC_PURGE_DELAY=11", &b);
    ab_setting_judge(&e, "MIMALLOC_PURGE_DELY=11", &b);
    ab_setting_judge(&e, "MIMALLOC_DECOMMIT_DELAY=0", &b);
    ab_setting_judge(&e, "MIMALLOC_LEGACY_DELAY=0", &b);
    ab_setting_judge(&e, "MIMALLOC_ARENA_COUNT=x", &b);
    ab_setting_judge(&e, "MIMALLOC_RESERVE_OS_MEMORY=1048576", &b);
    ab_setting_judge(&e, "MALLOC_CONF=narenas:1", &b);
    EXPECT(0, PROVEN, "");
    EXPECT(1, PROVEN, "");
    EXPECT(2, IGNORED, "10 is in force");
    EXPECT(3, IGNORED, "did you mean \"purge_delay\"?");
    EXPECT(4, IGNORED, "this version has no option \"decommit_delay\"");
    EXPECT(5, UNPROVEN, "");
    EXPECT(6, IGNORED, "refuses this value");
    EXPECT(7, PROVEN, "");
    EXPECT(8, IGNORED, "begin with MIMALLOC_");
}

static void tcmalloc_reads_variables_by_their_names(void **state)
{
    (void)state;
    e.kind = AB_INTROSPECT_EXTENSION;
    e.said = "kind: 3\nTCMALLOC_RELEASE_RATE: 10\nTCMALLOC_MAX_TOTAL_THREAD_CACHE_BYTES: 524288\n";
    e.words = "TCMALLOC_RELEASE_RATE\nTCMALLOC_TRANSFER_NUM_OBJ\n"
              "TCMALLOC_MAX_TOTAL_THREAD_CACHE_BYTES\nrelease_rate\n";
    ab_setting_judge(&e, "TCMALLOC_RELEASE_RATE=10", &b);
    ab_setting_judge(&e, "TCMALLOC_MAX_TOTAL_THREAD_CACHE_BYTES=104", &b);
    ab_setting_judge(&e, "TCMALLOC_TRANSFER_NUM_OBJ=512", &b);
    ab_setting_judge(&e, "TCMALLOC_TRANSFER_NUM_OBJS=512", &b);
    EXPECT(0, PROVEN, "");
    EXPECT(1, IGNORED, "524288 is in force");
    EXPECT(2, UNPROVEN, "does not say");
    EXPECT(3, IGNORED, "did you mean \"TCMALLOC_TRANSFER_NUM_OBJ\"?");
}

static void scudo_names_the_flags_it_does_not_know(void **state)
{
    (void)state;
    e.kind = AB_INTROSPECT_MALLINFO;
    e.complaints = "Scudo WARNING: found 1 unrecognized flag(s):\n    foo=1\n";
    e.words = "SCUDO_OPTIONS\n";
    ab_setting_judge(&e, "SCUDO_OPTIONS=zero_contents=1:foo=1", &b);
    ab_setting_judge(&e, "SCUDO_OPTION=foo=1", &b);
    EXPECT(0, UNPROVEN, "");
    EXPECT(1, IGNORED, "no option \"foo\"");
    EXPECT(2, IGNORED, "reads no variable SCUDO_OPTION; did you mean \"SCUDO_OPTIONS\"?");
}

static void glibcs_tunables_are_those_that_the_loader_lists(void **state)
{
    (void)state;
    const char *five = "GLIBC_TUNABLES=glibc.malloc.arena_max=1:glibc.malloc.perturb=999:"
                       "glibc.malloc.arena_mx=1:glibc.malloc.tcache_count=x:glibc.rtld.nns=4";
    e.serves = AB_SERVES_LIBC;
    e.is_libc = true;
    e.kind = AB_INTROSPECT_MALLINFO;
    e.tunables = "glibc.rtld.nns: 0x4 (min: 0x1, max: 0x10)\n"
                 "glibc.malloc.arena_max: 0x1 (min: 0x1, max: 0xffffffffffffffff)\n"
                 "glibc.malloc.perturb: 0 (min: 0, max: 255)\n"
                 "glibc.malloc.tcache_count: 0x7 (min: 0x0, max: 0xffffffffffffffff)\n";
    ab_setting_judge(&e, five, &b);
    ab_setting_judge(&e, "MALLOC_ARENA_MAX=1", &b);
    ab_setting_judge(&e, "MALLOC_PERTURB_=2", &b);
    ab_setting_judge(&e, "MALLOC_CONF=narenas:1", &b);
    EXPECT(0, PROVEN, "");
    EXPECT(1, IGNORED, "0 is in force");
    EXPECT(2, IGNORED,
           "no tunable \"glibc.malloc.arena_mx\"; did you mean \"glibc.malloc.arena_max\"?");
    EXPECT(3, IGNORED, "0x7 is in force");
    EXPECT(4, PROVEN, "");
    EXPECT(5, PROVEN, "");
    EXPECT(6, IGNORED, "0 is in force");
    EXPECT(7, IGNORED, "reads no variable MALLOC_CONF");
    reset(state);
    e.kind = AB_INTROSPECT_MALLCTL; /* the same with a malloc that is not glibc's */
    e.tunables = "glibc.malloc.arena_max: 0x1\nglibc.rtld.nns: 0x4 \n";
    ab_setting_judge(&e, "GLIBC_TUNABLES=glibc.malloc.arena_max=1:glibc.rtld.nns=4", &b);
    ab_setting_judge(&e, "MALLOC_ARENA_MAX=1", &b);
    EXPECT(0, IGNORED, "another serves this row");
    EXPECT(1, PROVEN, "");
    EXPECT(2, IGNORED, "reads no variable");
}

static void a_listed_option_that_does_not_act_is_not_proven(void **state)
{
    (void)state;
    e.serves = AB_SERVES_LIBC;
    e.is_libc = true;
    e.tunables = "glibc.malloc.check: 3 (min: 0, max: 3)\n"
                 "glibc.malloc.mxfast: 0xa1 (min: 0x0, max: 0xffffffffffffffff)\n"
                 "glibc.malloc.hugetlb: 0x1 (min: 0x0, max: 0xffffffffffffffff)\n"
                 "glibc.malloc.new_one: 0x1 (min: 0x0, max: 0xffffffffffffffff)\n";
    e.libc_minor = 36;
    e.thp = "always madvise [never]\n";
    ab_setting_judge(&e, "MALLOC_CHECK_=3", &b);
    ab_setting_judge(
        &e, "GLIBC_TUNABLES=glibc.malloc.mxfast=161:glibc.malloc.hugetlb=1:glibc.malloc.new_one=1",
        &b);
    EXPECT(0, IGNORED, "libc_malloc_debug");
    EXPECT(1, IGNORED, "values above 160");
    EXPECT(2, UNPROVEN, "switched off");
    EXPECT(3, UNPROVEN, "does not show that it acts");
    reset(state);
    e.serves = AB_SERVES_LIBC;
    e.tunables = "glibc.malloc.check: 3 (min: 0, max: 3)\n"
                 "glibc.malloc.hugetlb: 0x1 (min: 0x0, max: 0xffffffffffffffff)\n";
    e.libc_minor = 33; /* there it was in malloc itself */
    e.thp = "always [madvise] never\n";
    ab_setting_judge(&e, "MALLOC_CHECK_=3", &b);
    ab_setting_judge(&e, "GLIBC_TUNABLES=glibc.malloc.hugetlb=1", &b);
    EXPECT(0, PROVEN, "");
    EXPECT(1, PROVEN, "");
    reset(state);
    e.kind = AB_INTROSPECT_MALLCTL;
    e.said =
        "  opt.tcache: false\n  opt.lg_tcache_max: 12\n  opt.hpa: false\n  opt.hpa_slab_max_alloc: 4096\n";
    ab_setting_judge(&e, "MALLOC_CONF=tcache:false,lg_tcache_max:12,hpa_slab_max_alloc:4096", &b);
    EXPECT(0, PROVEN, "");
    EXPECT(1, IGNORED, "no effect without tcache:true");
    EXPECT(2, IGNORED, "no effect without hpa:true");
}

static void nothing_is_said_of_a_library_that_is_not_known(void **state)
{
    (void)state;
    ab_setting_judge(&e, "MINE_LOG=0", &b);
    e.is_builtin = true;
    ab_setting_judge(&e, "MINE_LOG=0", &b);
    EXPECT(0, UNPROVEN, "does not say");
    EXPECT(1, IGNORED, "a built-in allocator reads no variables");
}

static void a_row_has_room_for_so_many(void **state)
{
    (void)state;
    for (int i = 0; i < AB_SETTINGS_MAX + 3; i++)
        ab_setting_judge(&e, "MINE_LOG=0", &b);
    assert_int_equal(b.n_proofs, AB_SETTINGS_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(jemalloc_lists_its_options_and_complains_of_others, reset),
        cmocka_unit_test_setup(a_longer_setting_is_not_the_one_that_was_refused, reset),
        cmocka_unit_test_setup(mimalloc_has_the_options_of_its_version, reset),
        cmocka_unit_test_setup(tcmalloc_reads_variables_by_their_names, reset),
        cmocka_unit_test_setup(scudo_names_the_flags_it_does_not_know, reset),
        cmocka_unit_test_setup(glibcs_tunables_are_those_that_the_loader_lists, reset),
        cmocka_unit_test_setup(a_listed_option_that_does_not_act_is_not_proven, reset),
        cmocka_unit_test_setup(nothing_is_said_of_a_library_that_is_not_known, reset),
        cmocka_unit_test_setup(a_row_has_room_for_so_many, reset),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
