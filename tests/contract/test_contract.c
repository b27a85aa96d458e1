/* SPDX-License-Identifier: MIT
 *
 * One suite over every built-in back end, over settings of them that change the code that runs,
 * and over the malloc of this process seen from the malloc boundary. What it checks is what
 * allocators/ab_backend.h promises. A check whose hook is NULL does not apply; the nulls, which
 * lie by design, are held to the shape only.
 * tests: arena_backend.c handle_backend.c paged_backend.c pool_backend.c skeleton.c slab_backend.c
 * tests: system_backend.c
 */
#include "contract/churn.h"
#include "contract/malloc_boundary.h"
#include "contract/pages.h"
#include "contract/subject.h"

#include "allocators/builtin.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "allocator_may_return_null=1:quarantine_size_mb=1";
}

/* ---- the checks ---- */

static void the_table_is_valid(const struct subject *s)
{
    const struct ab_backend *b = s->b;
    assert_int_equal(b->abi, AB_BACKEND_ABI);
    assert_true(b->size >= sizeof *b);
    assert_in_range(strlen(b->name), 1, 64);
    assert_int_equal(strspn(b->name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                     "0123456789._-"),
                     strlen(b->name));
    assert_non_null(b->summary);
    assert_null(strchr(b->summary, '\n'));
    assert_true(b->open != NULL && b->close != NULL && b->alloc != NULL);
    assert_true((b->mark == NULL) == (b->release == NULL));
    assert_true(b->n_params <= AB_PARAMS_MAX);
    for (size_t i = 0; i < b->n_params; i++) {
        const struct ab_param *p = &b->params[i];
        assert_true(p->name != NULL && p->name[0] != 0 && p->help != NULL);
        assert_true(p->type == AB_PARAM_CHOICE ? p->choices != NULL
                                               : p->min <= p->def && p->def <= p->max);
    }
}

static void blocks_are_aligned_and_keep_their_contents(const struct subject *s)
{
    struct heap x = heap_open(s);
    ab_ref refs[N_SIZES * 8];
    for (unsigned i = 0; i < N_SIZES * 8; i++)
        fill(&x, refs[i] = alloc(&x, sizes[i % N_SIZES]), sizes[i % N_SIZES], i);
    for (unsigned i = 0; i < N_SIZES * 8; i++)
        check_fill(&x, refs[i], sizes[i % N_SIZES], i);
    for (unsigned i = 0; i < N_SIZES * 8; i++)
        drop(&x, refs[i], sizes[i % N_SIZES]);
    s->b->close(x.h);
}

static void resize_keeps_the_prefix(const struct subject *s)
{
    struct heap x = heap_open(s);
    for (unsigned i = 0; i < N_SIZES; i++)
        for (unsigned k = 0; k < N_SIZES; k += 3) {
            ab_ref ref = alloc(&x, sizes[i]), fence = 0;
            fill(&x, ref, sizes[i], i);
            if (k % 2 == 0) /* else the block is the youngest: some grow in place then */
                fill(&x, fence = alloc(&x, 64), 64, 99);
            ab_ref moved = s->b->resize(x.h, ref, sizes[i], sizes[k]);
            assert_true(moved != 0);
            check_alignment(address(&x, moved), sizes[k]);
            check_fill(&x, moved, sizes[i] < sizes[k] ? sizes[i] : sizes[k], i);
            fill(&x, moved, sizes[k], k);
            if (fence != 0) {
                check_fill(&x, fence, 64, 99);
                drop(&x, fence, 64);
            }
            drop(&x, moved, sizes[k]);
        }
    s->b->close(x.h);
}

static void make_memory_dirty(const struct heap *x)
{
    ab_ref refs[200];
    for (unsigned i = 0; i < 200; i++) {
        refs[i] = alloc(x, 2000);
        memset(address(x, refs[i]), 0xff, 2000);
    }
    for (unsigned i = 0; i < 200; i++)
        drop(x, refs[i], 2000);
    if (x->b->reset != NULL)
        x->b->reset(x->h);
}

static void zeroed_blocks_are_zero_on_recycled_memory(const struct subject *s)
{
    struct heap x = heap_open(s);
    for (unsigned round = 0; round < 3; round++) {
        make_memory_dirty(&x);
        for (unsigned i = 0; i < N_SIZES; i++) {
            ab_ref ref = s->b->alloc_zeroed(x.h, sizes[i]);
            assert_true(ref != 0);
            check_alignment(address(&x, ref), sizes[i]);
            check_zero(&x, ref, sizes[i]);
            memset(address(&x, ref), 0xff, sizes[i]);
            drop(&x, ref, sizes[i]);
        }
    }
    s->b->close(x.h);
}

static void aligned_blocks_are_aligned_up_to_a_mebibyte(const struct subject *s)
{
    static const size_t odd[] = {1, 3, 16, 17, 100, 255, 4097, 70001};
    struct heap x = heap_open(s);
    for (unsigned log2 = 0; log2 <= 20; log2++) {
        ab_ref refs[AB_ARRAY_LEN(odd)];
        for (unsigned i = 0; i < AB_ARRAY_LEN(odd); i++) {
            refs[i] = s->b->alloc_aligned(x.h, (size_t)1 << log2, odd[i]);
            assert_true(refs[i] != 0);
            assert_int_equal((uintptr_t)address(&x, refs[i]) & (((size_t)1 << log2) - 1), 0);
            check_alignment(address(&x, refs[i]), odd[i]);
            fill(&x, refs[i], odd[i], i);
        }
        for (unsigned i = 0; i < AB_ARRAY_LEN(odd); i++) {
            check_fill(&x, refs[i], odd[i], i);
            drop(&x, refs[i], odd[i]);
        }
    }
    s->b->close(x.h);
}

static void usable_size_covers_the_request_and_can_be_written(const struct subject *s)
{
    struct heap x = heap_open(s);
    ab_ref refs[N_SIZES];
    for (unsigned i = 0; i < N_SIZES; i++) {
        refs[i] = alloc(&x, sizes[i]);
        assert_true(s->b->usable_size(x.h, refs[i]) >= sizes[i]);
        fill(&x, refs[i], s->b->usable_size(x.h, refs[i]), i);
    }
    for (unsigned i = 0; i < N_SIZES; i++) {
        check_fill(&x, refs[i], s->b->usable_size(x.h, refs[i]), i);
        drop(&x, refs[i], sizes[i]);
    }
    s->b->close(x.h);
}

static void size_zero_is_harmless(const struct subject *s)
{
    struct heap x = heap_open(s);
    ab_ref before = alloc(&x, 32), zero[20], after;
    fill(&x, before, 32, 1);
    for (unsigned i = 0; i < 20; i++)
        zero[i] = s->b->alloc(x.h, 0);
    after = alloc(&x, 32);
    fill(&x, after, 32, 1);
    for (unsigned i = 0; i < 20; i++)
        if (zero[i] != 0 && i % 2 == 0 && s->b->resize != NULL) {
            zero[i] = s->b->resize(x.h, zero[i], 0, 40);
            assert_true(zero[i] != 0);
            fill(&x, zero[i], 40, 1);
            drop(&x, zero[i], 40);
        } else {
            drop(&x, zero[i], 0);
        }
    check_fill(&x, before, 32, 1);
    check_fill(&x, after, 32, 1);
    drop(&x, before, 32);
    drop(&x, after, 32);
    s->b->close(x.h);
}

static void huge_requests_fail_and_the_heap_stays_usable(const struct subject *s)
{
    static const size_t huge[] = {SIZE_MAX,      SIZE_MAX - 1,     SIZE_MAX - 15,
                                  SIZE_MAX - 16, SIZE_MAX - 17,    SIZE_MAX - 63,
                                  SIZE_MAX / 2,  SIZE_MAX / 2 + 2, (size_t)1 << 60};
    struct heap x = heap_open(s);
    ab_ref ref = alloc(&x, 100);
    fill(&x, ref, 100, 3);
    for (unsigned i = 0; i < AB_ARRAY_LEN(huge); i++) {
        assert_true(s->b->alloc(x.h, huge[i]) == 0);
        if (s->b->alloc_zeroed != NULL)
            assert_true(s->b->alloc_zeroed(x.h, huge[i]) == 0);
        for (unsigned log2 = 0; log2 <= 20 && s->b->alloc_aligned != NULL; log2 += 4)
            assert_true(s->b->alloc_aligned(x.h, (size_t)1 << log2, huge[i]) == 0);
        if (s->b->resize != NULL)
            assert_true(s->b->resize(x.h, ref, 100, huge[i]) == 0);
        check_fill(&x, ref, 100, 3);
        ab_ref other = alloc(&x, 5000);
        fill(&x, other, 5000, i);
        check_fill(&x, ref, 100, 3);
        drop(&x, other, 5000);
    }
    drop(&x, ref, 100);
    s->b->close(x.h);
}

/* More rounds than memory: what reset does not give back is missed. */
static void reset_makes_room_again(const struct subject *s)
{
    struct heap x = heap_open(s);
    unsigned n = repeats(2000, 1100); /* times 1 MiB; reserved: 1 GiB */
    for (unsigned round = 0; round < n; round++) {
        ab_ref a = alloc(&x, MIB), b = alloc(&x, 24);
        fill(&x, b, 24, round);
        *(char *)address(&x, a) = 1;
        check_fill(&x, b, 24, round);
        s->b->reset(x.h);
    }
    s->b->close(x.h);
}

static void a_released_mark_kills_only_what_is_younger(const struct subject *s)
{
    struct heap x = heap_open(s);
    for (unsigned round = 0; round < 2000; round++) {
        uint64_t outer = s->b->mark(x.h);
        ab_ref old = alloc(&x, 100);
        fill(&x, old, 100, round);
        uint64_t inner = s->b->mark(x.h);
        ab_ref young = alloc(&x, MIB);
        fill(&x, young, 100, round + 1);
        s->b->release(x.h, inner);
        ab_ref again = alloc(&x, 500);
        fill(&x, again, 500, round + 2);
        check_fill(&x, old, 100, round);
        s->b->release(x.h, outer);
    }
    s->b->close(x.h);
}

static void purge_leaves_live_blocks_alone(const struct subject *s)
{
    struct heap x = heap_open(s);
    ab_ref live = alloc(&x, 70001);
    fill(&x, live, 70001, 5);
    ab_ref gone = alloc(&x, MIB);
    memset(address(&x, gone), 0xff, MIB);
    drop(&x, gone, MIB);
    s->b->purge(x.h);
    s->b->purge(x.h);
    check_fill(&x, live, 70001, 5);
    fill(&x, alloc(&x, MIB), MIB, 6);
    check_fill(&x, live, 70001, 5);
    s->b->close(x.h);
}

static void two_heaps_do_not_know_each_other(const struct subject *s)
{
    struct heap x = heap_open(s), y = heap_open(s);
    ab_ref a = alloc(&x, 3000), b = alloc(&y, 3000);
    fill(&x, a, 3000, 1);
    fill(&y, b, 3000, 2);
    check_fill(&x, a, 3000, 1);
    if (s->b->reset != NULL)
        s->b->reset(y.h);
    else
        drop(&y, b, 3000);
    ab_ref c = alloc(&y, 3000);
    memset(address(&y, c), 0xff, 3000);
    check_fill(&x, a, 3000, 1);
    drop(&y, c, 3000);
    s->b->close(y.h);
    check_fill(&x, a, 3000, 1);
    ab_ref d = alloc(&x, 3000);
    fill(&x, d, 3000, 4);
    check_fill(&x, a, 3000, 1);
    drop(&x, d, 3000);
    drop(&x, a, 3000);
    s->b->close(x.h);
}

static void free_of_nothing_does_nothing(const struct subject *s)
{
    struct heap x = heap_open(s);
    s->b->free(x.h, 0, 0);
    s->b->free(x.h, 0, 100);
    ab_ref ref = alloc(&x, 100);
    fill(&x, ref, 100, 1);
    s->b->free(x.h, 0, 100);
    ab_ref other = alloc(&x, 100);
    assert_true(other != 0);
    s->b->free(x.h, other, 100);
    s->b->free(x.h, ref, 100);
    s->b->close(x.h);
}

/* Asked for far more than the facts announced. Heaps over all of memory never get to the end. */
static void an_exhausted_heap_says_so_and_keeps_its_blocks(const struct subject *s)
{
    struct heap x = heap_open_for(s,
                                  &(struct ab_facts){.total_bytes = 20 * MIB, .total_blocks = 100});
    enum { N = 300 };
    static ab_ref refs[N];
    size_t n = 0;
    for (; n < N; n++) {
        size_t align = s->b->alloc_aligned != NULL ? (size_t)1 << (5 + n % 15) : 16;
        refs[n] = align > 16 ? s->b->alloc_aligned(x.h, align, MIB - n) : s->b->alloc(x.h, MIB);
        if (refs[n] == 0)
            break;
        unsigned char *p = address(&x, refs[n]);
        p[0] = (unsigned char)n;
        p[MIB - n - 1] = (unsigned char)~n;
    }
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(*(unsigned char *)address(&x, refs[i]), (unsigned char)i);
        drop(&x, refs[i], MIB - i);
    }
    s->b->close(x.h);
}

/* However often the slot of a handle is used again; a stale one is also nothing to free. */
static void a_stale_ref_resolves_to_nothing(const struct subject *s)
{
    struct heap x = heap_open(s);
    enum { N = 64 };
    ab_ref old[N];
    assert_null(s->b->resolve(x.h, 0));
    for (unsigned i = 0; i < N; i++) {
        drop(&x, old[i] = alloc(&x, 100), 100);
        ab_ref live = alloc(&x, 100);
        fill(&x, live, 100, i);
        for (unsigned k = 0; k <= i; k++) {
            assert_null(s->b->resolve(x.h, old[k]));
            drop(&x, old[k], 100);
        }
        check_fill(&x, live, 100, i);
        if (i % 8 == 7 && s->b->reset != NULL) {
            s->b->reset(x.h);
            assert_null(s->b->resolve(x.h, live));
        }
    }
    s->b->close(x.h);
}

/* A back end without AB_TRAIT_NO_FREE must give memory back: up to 8 GiB through a small heap. */
static void freed_memory_is_used_again(const struct subject *s)
{
    if ((s->b->traits & AB_TRAIT_NO_FREE) != 0)
        return;
    struct heap x = heap_open(s);
    /* times 1 MiB; announced: 512 MiB */
    unsigned n = repeats(8192, 1024);
    for (unsigned i = 0; i < n; i++)
        drop(&x, alloc(&x, MIB), MIB);
    s->b->close(x.h);
}

static void stats_are_filled_in(const struct subject *s)
{
    struct heap x = heap_open(s);
    struct ab_heap_stats stats;
    alloc(&x, 1000);
    assert_int_equal(s->b->stats(x.h, &stats), 0);
    assert_true(stats.reserved_bytes >= 1000);
    assert_true(stats.committed_bytes == AB_UNKNOWN ||
                (stats.committed_bytes >= 1000 && stats.committed_bytes <= stats.reserved_bytes));
    assert_true(stats.live_bytes == AB_UNKNOWN || stats.live_bytes >= 1000);
    s->b->close(x.h);
}

/* The harness would count what the C library keeps as the back end's. */
static void no_malloc_is_called(const struct subject *s)
{
    if (s->b == &malloc_boundary || strcmp(s->b->name, "system") == 0)
        return;
    struct mallinfo2 before = mallinfo2();
    struct heap x = heap_open(s);
    for (unsigned i = 0; i < 1000; i++)
        alloc(&x, 24 + i);
    struct mallinfo2 after = mallinfo2();
    assert_int_equal(after.uordblks + after.hblkhd, before.uordblks + before.hblkhd);
    s->b->close(x.h);
}

static void absurd_facts_are_refused_or_served(const struct subject *s)
{
    struct ab_facts absurd;
    uint64_t values[AB_PARAMS_MAX];
    memset(&absurd, 0xff, sizeof absurd);
    absurd.largest_align = UINT64_C(1) << 63;
    assert_int_equal(ab_params_parse(s->b, s->params, values, NULL), AB_OK);
    struct ab_open_args args = {.size = sizeof args, .facts = &absurd, .values = values};
    for (int i = 0; i < 2; i++) {
        struct ab_heap *h = (struct ab_heap *)&absurd;
        int error = s->b->open(&args, &h);
        if (error == 0) {
            struct heap x = {s->b, h};
            drop(&x, alloc(&x, 10), 10);
            s->b->close(h);
        } else {
            assert_in_range(error, 1, 133);
            assert_ptr_equal(h, &absurd);
        }
        absurd = (struct ab_facts){0}; /* nothing to do at all */
    }
}

static size_t address_space_pages(void)
{
    size_t pages = 0;
    FILE *f = fopen("/proc/self/statm", "re");
    assert_non_null(f);
    assert_int_equal(fscanf(f, "%zu", &pages), 1);
    fclose(f);
    return pages;
}

/* For little work: what is reserved for much is poisoned and freed of it by AddressSanitizer each time,
 * and takes most of the suite's time. A heap that keeps half a MiB of its mapping is found all the same. */
static void close_gives_everything_back(const struct subject *s)
{
    const struct ab_facts little = {.largest_bytes = MIB + 1,
                                    .largest_align = 16,
                                    .live_peak_blocks = 8,
                                    .live_peak_bytes = 8 * MIB,
                                    .total_bytes = 16 * MIB,
                                    .total_blocks = 16,
                                    .lanes = 1,
                                    .kinds = 0x3f};
    size_t before = 0;
    for (unsigned i = 0; i < 70; i++) {
        if (i == 6)
            before = address_space_pages();
        struct heap x = heap_open_for(s, &little);
        ab_ref ref = alloc(&x, MIB);
        memset(address(&x, ref), 1, MIB);
        drop(&x, ref, MIB);
        s->b->close(x.h);
    }
    assert_true(address_space_pages() < before + (32 * MIB >> 12));
}

struct check {
    const char *name;
    void (*run)(const struct subject *);
    size_t hook; /* offset of the hook it needs; 0 = none */
    bool holds_for_null;
};

#define CHECK(f) \
    { \
#f, f, 0, false \
    }
#define CHECK_HOOK(f, hook) \
    { \
#f, f, offsetof(struct ab_backend, hook), false \
    }
static const struct check checks[] = {
    {"the_table_is_valid", the_table_is_valid, 0, true},
    {"absurd_facts_are_refused_or_served", absurd_facts_are_refused_or_served, 0, true},
    {"close_gives_everything_back", close_gives_everything_back, 0, true},
    {"freed_memory_is_used_again", freed_memory_is_used_again, 0, true},
    CHECK(no_malloc_is_called),
    CHECK(an_exhausted_heap_says_so_and_keeps_its_blocks),
    CHECK(blocks_are_aligned_and_keep_their_contents),
    CHECK(random_work_never_mixes_blocks),
    CHECK(size_zero_is_harmless),
    CHECK(huge_requests_fail_and_the_heap_stays_usable),
    CHECK(two_heaps_do_not_know_each_other),
    {"free_of_nothing_does_nothing", free_of_nothing_does_nothing,
     offsetof(struct ab_backend, free), true},
    CHECK_HOOK(resize_keeps_the_prefix, resize),
    CHECK_HOOK(zeroed_blocks_are_zero_on_recycled_memory, alloc_zeroed),
    CHECK_HOOK(aligned_blocks_are_aligned_up_to_a_mebibyte, alloc_aligned),
    CHECK_HOOK(usable_size_covers_the_request_and_can_be_written, usable_size),
    {"reset_makes_room_again", reset_makes_room_again, offsetof(struct ab_backend, reset), false},
    CHECK_HOOK(a_released_mark_kills_only_what_is_younger, mark),
    CHECK_HOOK(purge_leaves_live_blocks_alone, purge),
    CHECK_HOOK(a_stale_ref_resolves_to_nothing, resolve),
    CHECK_HOOK(stats_are_filled_in, stats),
    CHECK(pages_add_up_at_every_sample),
};
enum { N_CHECKS = AB_ARRAY_LEN(checks), SUBJECTS_MAX = 32 };

static struct subject subjects[SUBJECTS_MAX];
static size_t n_subjects;

struct cell {
    const struct subject *subject;
    const struct check *check;
    char name[160];
};
static struct cell cells[SUBJECTS_MAX * N_CHECKS];
static struct CMUnitTest tests[SUBJECTS_MAX * N_CHECKS];

static void run_cell(void **state)
{
    const struct cell *cell = *state;
    cell->check->run(cell->subject);
}

static void add_subject(const struct ab_backend *b, const char *params)
{
    if (n_subjects == SUBJECTS_MAX)
        abort();
    uint64_t values[AB_PARAMS_MAX];
    if (ab_params_parse(b, params, values, NULL) != AB_OK)
        abort();
    subjects[n_subjects++] = (struct subject){ab_backend_variant(b, values), params};
}

static bool applies(const struct check *c, const struct ab_backend *b)
{
    const void *hook = NULL;
    if (c->hook != 0)
        memcpy(&hook, (const char *)b + c->hook, sizeof hook);
    return (c->hook == 0 || hook != NULL) && (c->holds_for_null || strcmp(b->name, "null") != 0);
}

int main(void)
{
    size_t n = 0;
    add_subject(&malloc_boundary, "");
    for (size_t i = 0; i < ab_builtin_count(); i++)
        add_subject(ab_builtin_at(i), "");
    add_subject(ab_builtin_find("arena"), "commit=4KiB:reserve=1GiB");
    add_subject(ab_builtin_find("arena"), "huge=on");
    add_subject(ab_builtin_find("arena"), "threads=mutex");
    add_subject(ab_builtin_find("arena"), "threads=local:keep=64KiB:populate=on");
    add_subject(ab_builtin_find("paged"), "form=pool:threads=mutex");
    add_subject(ab_builtin_find("paged"), "block=4KiB");
    add_subject(ab_builtin_find("pool"), "grow=off:threads=mutex");
    add_subject(ab_builtin_find("slab"), "keep=0:spare=0:threads=mutex");
    add_subject(ab_builtin_find("handle"), "versions=8:threads=mutex");
    add_subject(ab_builtin_find("pool"), "threads=local");
    add_subject(ab_builtin_find("pool"), "threads=sharded");
    add_subject(ab_builtin_find("pool"), "threads=lockfree");
    add_subject(ab_builtin_find("pool"), "debug=on");
    add_subject(ab_builtin_find("pool"), "huge=on:threads=local");
    add_subject(ab_builtin_find("pool"), "huge=on:threads=lockfree");
    add_subject(ab_builtin_find("slab"), "threads=local:classes=fine");
    add_subject(ab_builtin_find("slab"), "threads=sharded");
    add_subject(ab_builtin_find("slab"), "debug=on");
    add_subject(ab_builtin_find("slab"), "huge=on:threads=local:classes=fine");
    add_subject(ab_builtin_find("skeleton"), "fill=on");
    for (size_t i = 0; i < n_subjects; i++)
        for (size_t k = 0; k < N_CHECKS; k++) {
            const struct subject *s = &subjects[i];
            if (!applies(&checks[k], s->b))
                continue;
            cells[n] = (struct cell){.subject = s, .check = &checks[k]};
            snprintf(cells[n].name, sizeof cells[n].name, "%s%s%s: %s", s->b->name,
                     s->params[0] != 0 ? ":" : "", s->params, checks[k].name);
            tests[n] = (struct CMUnitTest){cells[n].name, run_cell, NULL, NULL, &cells[n]};
            n++;
        }
    return _cmocka_run_group_tests("contract", tests, n, NULL, NULL);
}
