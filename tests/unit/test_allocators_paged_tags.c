/* SPDX-License-Identifier: MIT
 *
 * What the paged arena counts under tags, through everything that can happen to a block; what its
 * reports say; the arenas that are ready by name.
 * tests: paged_ready.c paged_report.c
 */
#include "allocators/paged/paged_ready.h"

#include "support/small_pages.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

enum { KIB = 1024, MIB = 1024 * 1024 };

static struct ab_paged_pool pool;
static struct ab_paged_arena a;

static int make(void **state)
{
    (void)state;
    return ab_paged_pool_init(&pool, "tags", 8 * MIB) | ab_paged_arena_init(&a, &pool, 4 * KIB, 0);
}

static int end(void **state)
{
    (void)state;
    ab_paged_arena_fini(&a);
    size_t live = pool.live_blocks;
    ab_paged_pool_fini(&pool);
    return live != 0;
}

static void expect(unsigned tag, uint64_t n_blocks, uint64_t bytes)
{
    assert_int_equal(a.tags[tag].n_blocks, n_blocks);
    assert_int_equal(a.tags[tag].bytes, bytes);
}

static void tags_have_names_and_alignment(void **state)
{
    (void)state;
    unsigned mesh = ab_paged_arena_tag(&a, "mesh"), sound = ab_paged_arena_tag(&a, "sound");
    assert_true(mesh != 0 && sound != 0 && mesh != sound);
    char same[] = "mesh";
    assert_int_equal(ab_paged_arena_tag(&a, same), mesh);
    const double *d = AB_PAGED_ARRAY_ZEROED(&a, double, 100, mesh);
    assert_true(d[0] == 0 && d[99] == 0);
    const void *wide = ab_paged_arena_push(&a, 4096, 10, mesh);
    assert_int_equal((uintptr_t)wide % 4096, 0);
    assert_int_equal((uintptr_t)AB_PAGED_NEW(&a, int, sound) % sizeof(int), 0);
    expect(mesh, 2, 810);
    expect(sound, 1, 4);
    assert_int_equal(a.tags[mesh].align, 4096);
    assert_null(AB_PAGED_ARRAY(&a, int, SIZE_MAX / 2, sound));
    assert_null(ab_paged_arena_push(&a, 24, 10, sound));
    assert_null(ab_paged_arena_push(&a, 16, 10, AB_PAGED_TAGS)); /* not counted under another */
    assert_null(ab_paged_arena_push(&a, 16, SIZE_MAX, sound));
    expect(sound, 1, 4);
    assert_non_null(ab_paged_arena_push(&a, 16, 10, 0));
}

/* A name at the call is all that is needed, however many there are; each keeps its count. */
static void there_may_be_any_number_of_names(void **state)
{
    (void)state;
    enum { N = 3000 };
    static char names[N][8];
    for (unsigned i = 0; i < N; i++) {
        snprintf(names[i], sizeof names[i], "t%u", i);
        for (unsigned k = 0; k < 1 + i % 3; k++)
            assert_non_null(ab_paged_arena_push_named(&a, 8, 10 + i % 99, names[i]));
    }
    assert_non_null(AB_PAGED_NEW_NAMED(&a, int, "t2999"));
    assert_non_null(AB_PAGED_ARRAY_NAMED(&a, double, 10, "t2999"));
    assert_null(AB_PAGED_ARRAY_NAMED(&a, double, SIZE_MAX / 4, "t2999"));
    for (unsigned i = 0; i < N; i++) {
        char same[8];
        memcpy(same, names[i], sizeof same);
        unsigned tag = ab_paged_arena_tag(&a, same), more = i == N - 1 ? 2 : 0;
        assert_true(tag != 0 && tag < ab_paged_arena_tags(&a));
        const struct ab_paged_tag_count *c = ab_paged_arena_tag_count(&a, tag);
        assert_string_equal(c->name, names[i]);
        assert_int_equal(c->n_blocks, 1 + i % 3 + more);
        assert_int_equal(c->bytes, (1 + i % 3) * (10 + i % 99) + more * 42);
    }
    assert_int_equal(ab_paged_arena_tags(&a), N + 1);
    void *last = ab_paged_arena_push_named(&a, 16, 100, "t2000");
    unsigned tag = ab_paged_arena_tag(&a, "t2000");
    assert_false(ab_paged_arena_pop(&a, last, 100, tag + 1));
    assert_non_null(last = ab_paged_arena_resize(&a, last, 100, 300, tag));
    assert_true(ab_paged_arena_pop(&a, last, 300, tag));
    assert_int_equal(ab_paged_arena_tag_count(&a, tag)->n_blocks, 1 + 2000 % 3);
    ab_paged_arena_clear(&a);
    assert_int_equal(ab_paged_arena_tag_count(&a, tag)->n_blocks, 0);
    assert_null(ab_paged_arena_push(&a, 16, 10, N + 1));
}

/* A pool that has no room for one more name serves the block all the same. */
static void a_block_without_room_for_its_name_is_not_counted(void **state)
{
    (void)state;
    struct ab_paged_pool small;
    struct ab_paged_arena arena;
    assert_int_equal(ab_paged_pool_init(&small, "small", 16 * KIB), 0);
    assert_int_equal(ab_paged_arena_init(&arena, &small, 14 * KIB, 0), 0);
    static char names[AB_PAGED_TAGS][4];
    for (unsigned i = 1; i < AB_PAGED_TAGS; i++) {
        snprintf(names[i], sizeof names[i], "t%02u", i);
        assert_int_equal(ab_paged_arena_tag(&arena, names[i]), i);
    }
    assert_int_equal(ab_paged_arena_tag(&arena, "one more"), 0);
    assert_non_null(ab_paged_arena_push_named(&arena, 8, 10, "one more"));
    ab_paged_arena_fini(&arena);
    assert_int_equal(small.live_blocks, 0);
    ab_paged_pool_fini(&small);
}

static void a_pop_under_another_tag_is_refused(void **state)
{
    (void)state;
    void *tagged = ab_paged_arena_alloc_tagged(&a, 100, 3);
    assert_false(ab_paged_arena_pop(&a, tagged, 100, 2));
    assert_false(ab_paged_arena_pop(&a, tagged, 100, 0));
    assert_false(ab_paged_arena_pop(&a, tagged, 100, 77));
    assert_null(ab_paged_arena_resize(&a, tagged, 100, 200, 2));
    assert_null(ab_paged_arena_resize(&a, tagged, 100, 200, 0));
    expect(3, 1, 100);
    expect(2, 0, 0);
    assert_true(ab_paged_arena_pop(&a, tagged, 100, 3));
    expect(3, 0, 0);
    assert_int_equal(ab_paged_arena_used(&a), 0);
    assert_non_null(tagged = ab_paged_arena_alloc_tagged(&a, 10, 3));
    void *plain = ab_paged_arena_alloc(&a, 100);
    assert_true(ab_paged_arena_pop(&a, plain, 100, 0));
    assert_true(ab_paged_arena_pop(&a, tagged, 10, 3));
}

static void a_restore_counts_what_is_left(void **state)
{
    (void)state;
    for (int i = 0; i < 10; i++)
        ab_paged_arena_alloc_tagged(&a, 500, 1);
    struct ab_paged_mark mark = ab_paged_arena_save(&a);
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 50; i++) {
            ab_paged_arena_alloc_tagged(&a, 700, (unsigned)(1 + i % 2));
            ab_paged_arena_alloc(&a, 100);
        }
        expect(1, 35, 5000 + 25 * 700);
        expect(2, 25, 25 * 700);
        ab_paged_arena_restore(&a, mark);
        expect(1, 10, 5000);
        expect(2, 0, 0);
    }
    assert_int_equal(a.tags[2].peak_bytes, 25 * 700);
    assert_int_equal(a.tags[2].n_all, 75);
    ab_paged_arena_clear(&a);
    expect(1, 0, 0);
}

static void moved_blocks_are_counted_once(void **state)
{
    (void)state;
    unsigned vector = ab_paged_arena_tag(&a, "vector");
    size_t bytes = 100;
    char *v = ab_paged_arena_alloc_tagged(&a, bytes, vector);
    memset(v, 7, bytes);
    for (int i = 0; i < 60; i++) {
        size_t more = bytes + bytes / 7;
        ab_paged_arena_alloc_tagged(&a, 30, 1 + (unsigned)(i % 3)); /* in its way */
        void *fence = ab_paged_pool_alloc(&pool, 100, 0);
        char *moved = ab_paged_arena_resize(&a, v, bytes, more, vector);
        assert_non_null(moved);
        ab_paged_pool_free(&pool, fence);
        assert_true(moved[0] == 7 && moved[99] == 7);
        v = moved;
        bytes = more;
        assert_int_equal(a.tags[vector].n_blocks,
                         vector <= 3 ? 1 + (uint64_t)(i + 3 - (int)vector + 1) / 3 : 1);
    }
    assert_int_equal(a.tags[vector].n_all, 1 + 20);
    struct ab_paged_mark mark = ab_paged_arena_save(&a);
    ab_paged_arena_resize(&a, v, bytes, 50, vector);
    ab_paged_arena_restore(&a, mark);
    ab_paged_arena_clear(&a);
    for (unsigned tag = 1; tag < AB_PAGED_TAGS; tag++)
        expect(tag, 0, 0);
}

/* Random pushes, resizes, pops and restores, beside a plain list of what must be live. */
static void random_work_is_counted_right(void **state)
{
    (void)state;
    enum { MOST = 400 };
    static struct {
        char *p;
        size_t size;
        unsigned tag;
    } live[MOST];
    uint32_t x = 5;
    size_t n = 0;
    for (int step = 0; step < 20000; step++) {
        x = x * 1664525u + 1013904223u;
        unsigned what = x >> 28, tag = x >> 9 & 3;
        size_t size = (x >> 12) % 900;
        if (what < 9 && n < MOST) {
            live[n].p = ab_paged_arena_alloc_tagged(&a, size, tag);
            assert_non_null(live[n].p);
            live[n].size = size;
            live[n++].tag = tag;
        } else if (what < 11 && n > 0) {
            size_t i = what == 9 ? n - 1 : x % n;
            char *p = ab_paged_arena_resize(&a, live[i].p, live[i].size, size, live[i].tag);
            assert_non_null(p);
            live[i].p = p;
            live[i].size = size;
        } else if (what < 14 && n > 0) {
            n -= ab_paged_arena_pop(&a, live[n - 1].p, live[n - 1].size, live[n - 1].tag);
        } else if (n == MOST || what == 15) {
            ab_paged_arena_clear(&a);
            n = 0;
        }
        uint64_t blocks[4] = {0}, bytes[4] = {0};
        for (size_t i = 0; i < n && step % 50 == 0; i++) {
            blocks[live[i].tag]++;
            bytes[live[i].tag] += live[i].size;
        }
        for (unsigned t = 1; t < 4 && step % 50 == 0; t++)
            expect(t, blocks[t], bytes[t]);
    }
}

/* ---- reports ---- */

static char written[4000];

static void write_down(const char *line, size_t n, void *context)
{
    (void)context;
    snprintf(written + strlen(written), sizeof written - strlen(written), "%.*s", (int)n, line);
}

static void the_report_shows_tags_by_name(void **state)
{
    (void)state;
    unsigned mesh = ab_paged_arena_tag(&a, "mesh");
    ab_paged_arena_tag(&a, "never used");
    ab_paged_arena_push(&a, 64, 1000, mesh);
    ab_paged_arena_push(&a, 16, 500, mesh);
    ab_paged_arena_alloc_tagged(&a, 7, 9);
    written[0] = 0;
    ab_paged_arena_report(&a, write_down, NULL);
    const char *expected =
        "tag                           blocks       bytes        peak   allocated       align\n"
        "mesh                               2        1500        1500           2          64\n"
        "(no name)                          1           7           7           1          16\n";
    assert_memory_equal(written, expected, strlen(expected));
    assert_non_null(strstr(written, "arena, used of held"));
    written[0] = 0;
    ab_paged_pool_report(&pool, write_down, NULL);
    assert_memory_equal(written, "tags ", 5);
    assert_non_null(strstr(written, "8388608\n"));
}

static void what_was_never_freed_is_listed(void **state)
{
    (void)state;
    struct ab_paged_pool leaky;
    assert_int_equal(ab_paged_pool_init(&leaky, "leaky", MIB), 0);
    void *kept = ab_paged_pool_alloc(&leaky, 100, 5), *freed = ab_paged_pool_alloc(&leaky, 200, 1);
    void *also = ab_paged_pool_alloc(&leaky, 3000, 0);
    ab_paged_pool_free(&leaky, freed);
    written[0] = 0;
    assert_int_equal(ab_paged_pool_leaks(&leaky, write_down, NULL), 2);
    char expected[200];
    snprintf(expected, sizeof expected, "%p%12zu%12d\n%p%12zu%12d\n", kept,
             ab_paged_pool_usable(kept), 5, also, ab_paged_pool_usable(also), 0);
    assert_string_equal(written, expected);
    ab_paged_pool_free(&leaky, kept);
    ab_paged_pool_free(&leaky, also);
    assert_int_equal(ab_paged_pool_leaks(&leaky, write_down, NULL), 0);
    ab_paged_pool_fini(&leaky);
}

static void arenas_are_ready_by_name(void **state)
{
    (void)state;
    struct ab_ready ready;
    assert_int_equal(ab_ready_open(&ready, NULL), 0);
    assert_int_equal(ab_paged_pool_size(&ready.pool[AB_READY_ENGINE]), 256 * (size_t)MIB);
    assert_int_equal(ab_paged_pool_size(&ready.pool[AB_READY_GAME]), 512 * (size_t)MIB);
    assert_int_equal(ab_paged_pool_size(&ready.pool[AB_READY_SCRATCH]), 64 * (size_t)MIB);
    struct ab_paged_arena *scratch = ab_ready_arena(&ready, "scratch");
    assert_ptr_equal(scratch, &ready.arena[AB_READY_SCRATCH]);
    assert_null(ab_ready_arena(&ready, "level"));
    char *kept = ab_paged_arena_alloc(ab_ready_arena(&ready, "engine"), 1000);
    memset(kept, 3, 1000);
    for (int i = 0; i < 100; i++)
        assert_non_null(ab_paged_arena_alloc(scratch, 50 * KIB));
    assert_true(ab_ready_reset(&ready, "scratch"));
    assert_false(ab_ready_reset(&ready, "level"));
    assert_int_equal(ab_paged_arena_used(scratch), 0);
    assert_int_equal(kept[999], 3);
    written[0] = 0;
    ab_ready_report(&ready, write_down, NULL);
    assert_non_null(strstr(written, "engine "));
    ab_ready_close(&ready);
    static const size_t absurd[AB_READY_COUNT] = {MIB, SIZE_MAX, 0};
    assert_int_equal(ab_ready_open(&ready, absurd), ENOMEM);
}

int main(void)
{
#define WITH_ARENA(test) cmocka_unit_test_setup_teardown(test, make, end)
    const struct CMUnitTest tests[] = {
        WITH_ARENA(tags_have_names_and_alignment),
        WITH_ARENA(there_may_be_any_number_of_names),
        WITH_ARENA(a_block_without_room_for_its_name_is_not_counted),
        WITH_ARENA(a_pop_under_another_tag_is_refused),
        WITH_ARENA(a_restore_counts_what_is_left),
        WITH_ARENA(moved_blocks_are_counted_once),
        WITH_ARENA(random_work_is_counted_right),
        WITH_ARENA(the_report_shows_tags_by_name),
        WITH_ARENA(what_was_never_freed_is_listed),
        WITH_ARENA(arenas_are_ready_by_name),
    };
    test_with_small_pages();
    return cmocka_run_group_tests_name("paged tags", tests, NULL, NULL);
}
