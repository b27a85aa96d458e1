/* SPDX-License-Identifier: MIT
 *
 * Memory from the system: what has access, what is zero, what is gone, and what a call that fails
 * leaves.
 */
#include "allocators/common/pages.h"

#include "base/bits.h"

#include <dlfcn.h>
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* The system's calls that this process makes; which of them shall fail. */
static unsigned n_asked_page_size;
static int failing_advice = -1;

long sysconf(int name)
{
    if (name == _SC_PAGESIZE) {
        n_asked_page_size++;
        return (long)getauxval(AT_PAGESZ);
    }
    long (*next)(int) = (long (*)(int))dlsym(RTLD_NEXT, "sysconf");
    return next(name);
}

int madvise(void *p, size_t bytes, int advice)
{
    if (advice == failing_advice) {
        errno = EINVAL;
        return -1;
    }
    return (int)syscall(SYS_madvise, p, bytes, advice);
}

/* Whether a process that reads or writes there comes to its end. */
static bool may(char *p, bool writes)
{
    pid_t child = fork();
    int status;
    if (child == 0) {
        signal(SIGSEGV, SIG_DFL);
        if (writes)
            *(volatile char *)p = 1;
        else
            (void)*(volatile char *)p;
        _exit(0);
    }
    assert_true(child > 0 && waitpid(child, &status, 0) == child);
    return WIFEXITED(status);
}

static bool is_zero(const char *p, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        if (p[i] != 0)
            return false;
    return true;
}

static void the_system_is_asked_for_its_page_size_once(void **state)
{
    (void)state;
    unsigned before = n_asked_page_size;
    assert_int_equal(ab_page_size(), getauxval(AT_PAGESZ));
    assert_int_equal(n_asked_page_size, before + 1);
    assert_int_equal(ab_page_size(), getauxval(AT_PAGESZ));
    assert_int_equal(n_asked_page_size, before + 1);
}

static void access_comes_and_goes_and_contents_with_it(void **state)
{
    (void)state;
    size_t page = ab_page_size();
    char *p = ab_pages_reserve(4 * page, 0);
    assert_non_null(p);
    assert_false(may(p, false));
    assert_int_equal(ab_pages_commit(p, 2 * page), 0);
    assert_true(is_zero(p, 2 * page));
    assert_false(may(p + 2 * page, true));
    memset(p, 7, 2 * page);
    assert_int_equal(ab_pages_commit(p, 2 * page), 0); /* what was there stays */
    assert_int_equal(p[2 * page - 1], 7);
    assert_int_equal(ab_pages_discard(p + page, page), 0);
    assert_true(p[page - 1] == 7 && is_zero(p + page, page));
    assert_int_equal(ab_pages_decommit(p, page), 0);
    assert_false(may(p, false));
    assert_true(may(p + page, true));
    assert_int_equal(ab_pages_commit(p, page), 0);
    assert_true(is_zero(p, page));
    ab_pages_release(p, 4 * page);
    assert_false(may(p, false));
}

static void every_alignment_is_kept_and_nothing_beside_it(void **state)
{
    (void)state;
    static const size_t aligns[] = {0, 1, 4096, 65536, AB_HUGE_PAGE_BYTES, (size_t)1 << 30};
    for (size_t i = 0; i < AB_ARRAY_LEN(aligns); i++) {
        char *p = ab_pages_map(8192, aligns[i]);
        assert_non_null(p);
        assert_int_equal((uintptr_t)p & (aligns[i] > 1 ? aligns[i] - 1 : 0), 0);
        assert_true(is_zero(p, 8192));
        p[8191] = 1;
        ab_pages_release(p, 8192);
    }
}

static void what_cannot_be_is_refused_with_a_reason(void **state)
{
    (void)state;
    static const size_t table[][2] = {
        {0, 0}, {SIZE_MAX, 0}, {(size_t)PTRDIFF_MAX + 1, 0}, {(size_t)1 << 62, (size_t)1 << 62}};
    for (size_t i = 0; i < AB_ARRAY_LEN(table); i++) {
        errno = 0;
        assert_null(ab_pages_map(table[i][0], table[i][1]));
        assert_int_equal(errno, ENOMEM);
        assert_null(ab_pages_reserve(table[i][0], table[i][1]));
    }
    char *p = ab_pages_map(4096, 0);
    ab_pages_release(p, 4096);
    assert_int_equal(ab_pages_commit(p, 4096), ENOMEM); /* not there any more */
}

static void pages_move_without_a_copy(void **state)
{
    (void)state;
    char *p = ab_pages_map(8192, 0);
    memset(p, 3, 8192);
    p = ab_pages_remap(p, 8192, 1 << 20);
    assert_non_null(p);
    assert_true(p[0] == 3 && p[8191] == 3 && is_zero(p + 8192, (1 << 20) - 8192));
    assert_null(ab_pages_remap(p, 1 << 20, (size_t)1 << 62));
    assert_int_equal(p[8191], 3);
    p = ab_pages_remap(p, 1 << 20, 4096);
    assert_non_null(p);
    assert_int_equal(p[4095], 3);
    ab_pages_release(p, 4096);
}

static void a_system_that_refuses_advice_is_reported(void **state)
{
    (void)state;
    char *p = ab_pages_map(8192, 0);
    memset(p, 5, 8192);
    failing_advice = MADV_DONTNEED;
    assert_int_equal(ab_pages_discard(p, 8192), EINVAL);
    assert_int_equal(ab_pages_decommit(p, 8192), EINVAL);
    assert_int_equal(p[8191], 5);
    failing_advice = MADV_HUGEPAGE;
    assert_int_equal(ab_pages_want_huge(p, 8192), EINVAL);
    failing_advice = -1;
    assert_int_equal(ab_pages_want_huge(p, 8192), 0);
    ab_pages_release(p, 8192);
}

static void what_is_populated_is_there_also_where_the_system_cannot(void **state)
{
    (void)state;
    unsigned char there[4];
    char *p = ab_pages_map(4 * 4096, 0);
    failing_advice = 23; /* populating writes */
    assert_int_equal(ab_pages_populate(p, 4 * 4096), 0);
    failing_advice = -1;
    assert_int_equal(mincore(p, 4 * 4096, there), 0);
    assert_true(there[0] & there[1] & there[2] & there[3] & 1);
    ab_pages_release(p, 4 * 4096);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_system_is_asked_for_its_page_size_once),
        cmocka_unit_test(access_comes_and_goes_and_contents_with_it),
        cmocka_unit_test(every_alignment_is_kept_and_nothing_beside_it),
        cmocka_unit_test(what_cannot_be_is_refused_with_a_reason),
        cmocka_unit_test(pages_move_without_a_copy),
        cmocka_unit_test(a_system_that_refuses_advice_is_reported),
        cmocka_unit_test(what_is_populated_is_there_also_where_the_system_cannot),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
