/* SPDX-License-Identifier: MIT
 *
 * Walks this very program's stacks, where the C library's own unwinder says what is right, and
 * stacks and tables that are damaged. What real programs do: tests/cli/sites.bats.
 * tests: eh_frame.c
 */
#include "record/preload/unwind/unwind.h"

#include "base/rng.h"
#include "support/cmocka.h"

#include <alloca.h>
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>

#define APART __attribute__((noinline))

static struct ab_unwind_entry cache[AB_UNWIND_RULES];
static __thread int of_this_thread;

static struct ab_unwinder unwinder_here(void)
{
    return (struct ab_unwinder){.find_object = dlsym(RTLD_DEFAULT, "_dl_find_object"),
                                .cache = cache,
                                .stack_tops = {(uintptr_t)&of_this_thread, getauxval(AT_EXECFN)}};
}

static void need_tables(void)
{
#if !defined(__x86_64__)
    skip();
#endif
    if (dlsym(RTLD_DEFAULT, "_dl_find_object") == NULL)
        skip();
}

struct frames {
    uintptr_t found[AB_STACK_DEPTH_MAX];
    void *expected[AB_STACK_DEPTH_MAX + 4];
    size_t n_found;
    int n_expected;
    enum ab_stack_end end;
};

/* As the recorder is called: from a function with a frame pointer. */
static APART __attribute__((optimize("no-omit-frame-pointer"))) void look(struct ab_unwinder *u,
                                                                          bool is_nested,
                                                                          size_t depth,
                                                                          struct frames *f)
{
    const uintptr_t *frame = __builtin_frame_address(0);
    struct ab_code_place place = {(uintptr_t)__builtin_return_address(0), (uintptr_t)(frame + 2),
                                  frame[0]};
    f->n_expected = backtrace(f->expected, AB_STACK_DEPTH_MAX + 4);
    f->n_found = ab_unwind(u, is_nested, place, f->found, depth, &f->end);
}

/* The library's first ones are in look(), and where a sanitizer stands between, in that. */
static size_t n_own(const struct frames *f)
{
    size_t n = 0;
    while (n < (size_t)f->n_expected && (uintptr_t)f->expected[n] != f->found[0])
        n++;
    assert_true(n < (size_t)f->n_expected && n <= 3);
    return n;
}

static void assert_frames(const struct frames *f, size_t depth)
{
    size_t own = n_own(f), n = (size_t)f->n_expected - own;
    assert_int_equal(f->n_found, n < depth ? n : depth);
    assert_int_equal(f->end, n < depth ? AB_STACK_WHOLE : AB_STACK_DEPTH);
    for (size_t i = 0; i < f->n_found; i++)
        assert_ptr_equal(f->found[i], f->expected[i + own]);
}

static APART void sink(volatile void *p)
{
    __asm__ volatile("" : : "r"(p) : "memory");
}

/* Frames of known sizes, some found by the stack pointer, some by the frame pointer. */
static APART void descend(struct ab_unwinder *u, int n, size_t depth, struct frames *f)
{
    if (n == 0) {
        look(u, false, depth, f);
    } else if (n % 3 == 0) {
        volatile char *room = alloca((size_t)(32 + n * 16));
        sink(room);
        descend(u, n - 1, depth, f);
        sink(room);
    } else if (n % 3 == 1) {
        volatile char room[64] __attribute__((aligned(64)));
        sink(room);
        descend(u, n - 1, depth, f);
        sink(room);
    } else {
        descend(u, n - 1, depth, f);
    }
    sink(f);
}

static void every_frame_is_that_of_the_c_library(void **state)
{
    (void)state;
    need_tables();
    struct ab_unwinder u = unwinder_here();
    for (int round = 0; round < 2; round++) /* the second time from the cache */
        for (int n = 0; n < 12; n++)
            for (size_t depth = 1; depth <= AB_STACK_DEPTH_MAX; depth += 7) {
                struct frames f;
                descend(&u, n, depth, &f);
                assert_frames(&f, depth);
            }
    u.cache = NULL;
    struct frames f;
    descend(&u, 9, AB_STACK_DEPTH_MAX, &f);
    assert_frames(&f, AB_STACK_DEPTH_MAX);
}

/* A handler in the middle of a walk knows the stack already, and changes nothing. */
static void nested_walks_touch_no_cache(void **state)
{
    (void)state;
    need_tables();
    struct ab_unwinder u = unwinder_here();
    struct frames f;
    descend(&u, 5, 3, &f);
    memset(cache, 0x5a, sizeof cache);
    look(&u, true, AB_STACK_DEPTH_MAX, &f);
    assert_frames(&f, AB_STACK_DEPTH_MAX);
    for (size_t i = 0; i < sizeof cache; i++)
        assert_int_equal(((unsigned char *)cache)[i], 0x5a);
    memset(cache, 0, sizeof cache);
}

static struct frames in_thread;
static void *walk_in_thread(void *unused)
{
    struct ab_unwinder u = unwinder_here();
    descend(&u, 4, AB_STACK_DEPTH_MAX, &in_thread);
    return unused;
}

static void a_thread_ends_where_it_was_started(void **state)
{
    pthread_t thread;
    (void)state;
    need_tables();
    pthread_create(&thread, NULL, walk_in_thread, NULL);
    pthread_join(thread, NULL);
    assert_int_equal(in_thread.end, AB_STACK_WHOLE);
    size_t own = n_own(&in_thread);
    for (size_t i = 0; i < in_thread.n_found; i++)
        assert_ptr_equal(in_thread.found[i], in_thread.expected[i + own]);
}

static struct frames in_handler;
static struct ab_unwinder of_handler;
static APART void handle(int number)
{
    look(&of_handler, false, AB_STACK_DEPTH_MAX, &in_handler);
    sink(&number);
}

static void through_a_signal(int flags)
{
    struct sigaction action = {.sa_handler = handle, .sa_flags = flags}, before;
    of_handler = unwinder_here();
    in_handler.n_found = 0;
    sigaction(SIGUSR1, &action, &before);
    raise(SIGUSR1);
    sigaction(SIGUSR1, &before, NULL);
    assert_frames(&in_handler, AB_STACK_DEPTH_MAX);
}

static void a_signal_frame_leads_to_what_was_interrupted(void **state)
{
    (void)state;
    need_tables();
    through_a_signal(0);
    stack_t other = {.ss_sp = malloc(1 << 16), .ss_size = 1 << 16}, none = {.ss_flags = SS_DISABLE};
    sigaltstack(&other, NULL);
    through_a_signal(SA_ONSTACK);
    sigaltstack(&none, NULL);
    free(other.ss_sp);
}

/* ---- damage ---- */

/* A page of a stack, and none after it: what is read beyond ends this program. */
static uintptr_t *make_last_page(void)
{
    char *room = mmap(NULL, 8192, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(room, MAP_FAILED);
    mprotect(room, 4096, PROT_READ | PROT_WRITE);
    return (uintptr_t *)(void *)room;
}

static void no_stack_is_believed(void **state)
{
    enum { WORDS = 512 };
    struct ab_rng rng;
    size_t n_ends[AB_STACK_END_COUNT] = {0};
    (void)state;
    need_tables();
    uintptr_t *page = make_last_page();
    struct ab_unwinder u = unwinder_here();
    ab_rng_init(&rng, 5, 5);
    for (int round = 0; round < 200000; round++) {
        uintptr_t found[AB_STACK_DEPTH_MAX];
        enum ab_stack_end end;
        uintptr_t codes[] = {(uintptr_t)descend, (uintptr_t)qsort, (uintptr_t)handle,
                             (uintptr_t)pthread_create};
        for (int i = 0; i < WORDS; i += 1 + (int)(ab_rng_next(&rng) % 8)) {
            uint64_t r = ab_rng_next(&rng);
            page[i] = r % 4 == 0   ? codes[r / 4 % 4] + r / 16 % 700
                      : r % 4 == 1 ? (uintptr_t)page + r / 4 % 5000
                      : r % 4 == 2 ? r >> (r / 4 % 64)
                                   : r / 4 % 64;
        }
        struct ab_code_place place = {codes[round % 4] + ab_rng_next(&rng) % 700,
                                      (uintptr_t)(page + ab_rng_next(&rng) % (WORDS + 1)),
                                      (uintptr_t)page + ab_rng_next(&rng) % 5000};
        size_t n = ab_unwind(&u, round % 2, place, found, AB_STACK_DEPTH_MAX, &end);
        assert_true(n >= 1 && n <= AB_STACK_DEPTH_MAX && end < AB_STACK_END_COUNT);
        assert_ptr_equal(found[0], place.pc);
        n_ends[end]++;
    }
    assert_true(n_ends[AB_STACK_NO_MEMORY] > 1000);
    assert_true(n_ends[AB_STACK_NO_TABLE] > 1000);
    munmap(page, 8192);
}

/* All of it, what a sanitizer has put between the program's own data as well. */
static __attribute__((no_sanitize("address"))) void copy_segment(volatile char *to,
                                                                 const volatile char *from,
                                                                 size_t n)
{
    for (size_t i = 0; i < n; i++)
        to[i] = from[i];
}

/* Any bytes as tables: nothing outside them is read, and it ends. */
static void no_table_is_believed(void **state)
{
    struct ab_rng rng;
    (void)state;
    need_tables();
    struct ab_unwinder u = unwinder_here();
    uintptr_t pc = (uintptr_t)descend + 8;
    struct ab_unwind_module m = ab_unwind_module(&u, pc);
    ab_unwind_find_tables(&m);
    assert_true(m.low != 0 && m.table >= m.low);
    /* A sanitizer's build may have some instructions without a rule where a function begins. */
    while (pc < (uintptr_t)descend + 64 &&
           ab_eh_frame_rule(m.table, m.low, m.high, pc).cfa == AB_CFA_UNKNOWN)
        pc++;
    int known = (int)ab_eh_frame_rule(m.table, m.low, m.high, pc).cfa;
    assert_int_not_equal(known, AB_CFA_UNKNOWN);
    size_t bytes = m.high - m.low, room = (bytes + 8191) & ~(size_t)4095;
    char *copy = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    mprotect(copy + room - 4096, 4096, PROT_NONE);
    char *low = copy + room - 4096 - bytes;
    uintptr_t moved = (uintptr_t)low - m.low;
    ab_rng_init(&rng, 6, 6);
    for (int round = 0; round < 20000; round++) {
        if (round % 64 == 0) { /* damage adds up to here: without any the table has the function */
            copy_segment(low, (const char *)m.low, bytes);
            assert_int_equal(ab_eh_frame_rule(m.table + moved, (uintptr_t)low,
                                              (uintptr_t)low + bytes, pc + moved)
                                 .cfa,
                             known);
        }
        size_t at = m.table - m.low + ab_rng_next(&rng) % (bytes - (m.table - m.low));
        char was = low[at];
        low[at] = (char)ab_rng_next(&rng);
        uintptr_t wanted = pc + ab_rng_next(&rng) % 4096;
        ab_eh_frame_rule(m.table + moved, (uintptr_t)low, (uintptr_t)low + bytes, wanted + moved);
        if (round % 8 != 0)
            low[at] = was;
    }
    munmap(copy, room);
}

/* What the program has made of its headers: those beyond their page are not read. */
static void no_header_is_believed(void **state)
{
    (void)state;
    uintptr_t *page = make_last_page();
    struct link_map map = {0};
    ElfW(Ehdr) *head = (void *)page;
    memcpy(head->e_ident, ELFMAG, SELFMAG);
    head->e_phentsize = sizeof(ElfW(Phdr));
    head->e_phnum = 100;
    for (unsigned i = 0; i < 64; i++) {
        struct ab_unwind_module m = {.table = 1, .map = (uintptr_t)&map, .begin = (uintptr_t)page};
        head->e_phoff = i == 0 ? 4096 - 64 : -(UINT64_C(1) << i);
        ab_unwind_find_tables(&m);
        assert_int_equal(m.low, 0);
        assert_int_equal(m.high, 0);
    }
    munmap(page, 8192);
}

static void pages_are_tried(void **state)
{
    (void)state;
    uintptr_t *page = make_last_page();
    int saved = errno = 4711;
    assert_true(ab_unwind_can_read((uintptr_t)page));
    assert_true(ab_unwind_can_read((uintptr_t)page + 4095));
    assert_false(ab_unwind_can_read((uintptr_t)page + 4096));
    assert_false(ab_unwind_can_read(0));
    assert_false(ab_unwind_can_read(UINTPTR_MAX - 4095));
    assert_int_equal(errno, saved);
    munmap(page, 8192);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_frame_is_that_of_the_c_library),
        cmocka_unit_test(nested_walks_touch_no_cache),
        cmocka_unit_test(a_thread_ends_where_it_was_started),
        cmocka_unit_test(a_signal_frame_leads_to_what_was_interrupted),
        cmocka_unit_test(no_stack_is_believed),
        cmocka_unit_test(no_table_is_believed),
        cmocka_unit_test(no_header_is_believed),
        cmocka_unit_test(pages_are_tried),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
