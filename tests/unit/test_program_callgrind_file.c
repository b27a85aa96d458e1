/* SPDX-License-Identifier: MIT
 *
 * What callgrind wrote, added up: calls into the allocator with all that they called, whoever made
 * them; and what is not whole, or whose code is not known.
 */
#include "program/callgrind_file.h"
#include "support/cmocka.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/tmp/allocbench-grind-XXXXXX", library[64], counts[64], maps[64];

/* With the library in place of each "%s". */
static void write_file(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    for (const char *s = text, *at; *s != 0; s = at) {
        at = strstr(s, "%s");
        fprintf(f, "%.*s%s", (int)(at != NULL ? at - s : (long)strlen(s)), s,
                at != NULL ? library : "");
        at = at != NULL ? at + 2 : s + strlen(s);
    }
    fclose(f);
}

static int begin(void **state)
{
    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(library, sizeof library, "%s/liballocator.so", folder);
    snprintf(counts, sizeof counts, "%s/n.12", folder);
    snprintf(maps, sizeof maps, "%s/maps.12", folder);
    write_file(library, "");
    return 0;
}

static int end(void **state)
{
    (void)state;
    unlink(library);
    unlink(counts);
    unlink(maps);
    return rmdir(folder);
}

static struct ab_proof_wanted wanted(void)
{
    struct stat st;
    assert_int_equal(stat(library, &st), 0);
    return (struct ab_proof_wanted){.path = library, .dev = st.st_dev, .ino = st.st_ino};
}

#define HEAD "version: 1\nevents: Ir Dr Dw I1mr D1mr D1mw ILmr DLmr DLmw\n"

static struct ab_grind_sum read_text(const struct ab_proof_wanted *w, const char *text)
{
    struct ab_grind_sum sum = {.wanted = w};
    write_file(counts, text);
    ab_grind_add(&sum, counts, maps);
    return sum;
}

static void calls_from_outside_count_with_what_they_call(void **state)
{
    (void)state;
    struct ab_proof_wanted w = wanted();
    unlink(maps);
    struct ab_grind_sum sum = read_text(
        &w, HEAD "ob=(1) /bin/program\nfl=(1) ???\nfn=(1) main\n0x10 0 5 1\n"
                 "cob=(2) %s\ncfi=(1)\ncfn=(2) malloc\ncalls=3 0x20 0\n* 0 100 10 20 1 2 3 4 5 6\n"
                 "+4 0 7\n"
                 "ob=(2)\nfn=(2)\n0x20 0 60\ncfn=(3) grow\ncalls=3 0x40 0\n* 0 40 1\n" /* its own */
                 "cob=(3) /lib/libc.so\ncfn=(4) memset\ncalls=1 0x50 0\n* 0 9\n" /* not into it */
                 "fn=(3)\n0x40 0 40\n"
                 "ob=(3)\nfn=(5) strdup\n0x90 0 1\ncob=(2)\ncfn=(2)\ncalls=2 0x20 0\n* 0 50\n"
                 "totals: 1000 100 200 10 20 30 40 50 60\n");
    assert_int_equal(sum.n_calls, 5);
    assert_int_equal(sum.inside[AB_INSTR_EXECUTED], 150);
    assert_int_equal(sum.inside[AB_INSTR_REFERENCES], 30);
    assert_int_equal(sum.inside[AB_INSTR_I1_MISSES], 1);
    assert_int_equal(sum.inside[AB_INSTR_D1_MISSES], 5);
    assert_int_equal(sum.inside[AB_INSTR_LL_MISSES], 15);
    assert_int_equal(sum.total[AB_INSTR_EXECUTED], 1000);
    assert_int_equal(sum.total[AB_INSTR_REFERENCES], 300);
    assert_int_equal(sum.total[AB_INSTR_LL_MISSES], 150);
    assert_int_equal(sum.n_cut, 0);
    assert_int_equal(sum.n_unplaced, 0);
    free(sum.objects);
}

/* malloc lies in a section of its own at 0x5000, of which callgrind does not know whose it is. */
static const char unplaced[] = HEAD
    "ob=(1) /bin/program\nfn=(1) main\n0x10 0 5\n"
    "cob=(2) ???\ncfn=(2) malloc\ncalls=1 0x5010 0\n* 0 100\n"
    "cob=(2)\ncfn=(3) 0x9000\ncalls=1 0x9000 0\n* 0 30\n" /* generated code */
    "ob=(2)\nfn=(2)\n0x5010 0 90\ncob=(3) %s\ncfn=(4) grow\ncalls=1 0x20 0\n+2 0 10\n"
    "fn=(3)\n0x9000 0 20\ncob=(3)\ncfn=(4)\ncalls=1 0x20 0\n* 0 10\n"
    "totals: 500\n";

static void code_outside_of_text_is_placed_by_the_mappings(void **state)
{
    (void)state;
    struct ab_proof_wanted w = wanted();
    write_file(maps, "5000-6000 r-xp 00005000 08:01 77 %s\n"
                     "6000-7000 r--p 00006000 08:01 77 /else\n"
                     "9000-a000 r-xp 00000000 00:00 0 \n");
    struct ab_grind_sum sum = read_text(&w, unplaced);
    assert_int_equal(sum.n_calls, 2);
    assert_int_equal(sum.inside[AB_INSTR_EXECUTED], 110);
    assert_int_equal(sum.n_unplaced, 0);
    free(sum.objects);
    unlink(maps);
    sum = read_text(&w, unplaced);
    assert_true(sum.n_unplaced > 0);
    free(sum.objects);
}

static void of_the_c_library_only_the_family_is_the_allocator(void **state)
{
    (void)state;
    struct ab_proof_wanted w = {.path = NULL};
    struct ab_grind_sum sum = read_text(
        &w,
        HEAD "ob=(1) /bin/program\nfn=(1) main\n0x10 0 5\n"
             "cob=(2) /lib/x86_64-linux-gnu/libc.so.6\ncfn=(2) strlen\ncalls=1 0x20 0\n* 0 7\n"
             "cob=(2)\ncfn=(3) free@@GLIBC_2.2.5\ncalls=1 0x30 0\n* 0 11\n"
             "ob=(2)\nfn=(4) strdup\n0x40 0 1\ncfn=(5) __libc_malloc'2\ncalls=1 0x50 0\n* 0 13\n"
             "fn=(6) realloc\n0x60 0 1\ncfn=(5)\ncalls=1 0x50 0\n* 0 17\n"
             "fn=(4)\n0x40 0 1\ncfn=(7) __libc_freeres\ncalls=1 0x70 0\n* 0 19\n"
             "totals: 500\n");
    if (sum.n > 0 && access("/lib/x86_64-linux-gnu/libc.so.6", R_OK) == 0) {
        assert_int_equal(sum.n_calls, 2);
        assert_int_equal(sum.inside[AB_INSTR_EXECUTED], 24);
    }
    free(sum.objects);
}

static void what_is_not_whole_is_said(void **state)
{
    (void)state;
    struct ab_proof_wanted w = wanted();
    static const char *const texts[] = {
        "", HEAD "fn=(1) main\n0x10 0 5\n", "events: Ir\ntotals: 5\n",
        "ob=(999999999999) x\nfn=(-1) y\ncalls=\n* *\nob=x\nfn=\n-\n+\n"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct ab_grind_sum sum = read_text(&w, texts[i]);
        assert_int_equal(sum.n_files, 1);
        assert_int_equal(sum.n_cut, 1);
        assert_int_equal(sum.inside[AB_INSTR_EXECUTED], 0);
        free(sum.objects);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_from_outside_count_with_what_they_call),
        cmocka_unit_test(code_outside_of_text_is_placed_by_the_mappings),
        cmocka_unit_test(of_the_c_library_only_the_family_is_the_allocator),
        cmocka_unit_test(what_is_not_whole_is_said),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
