/* SPDX-License-Identifier: MIT
 *
 * Traces whose right answer is known, by ten seeds: each place in the program behaves as one kind,
 * and each is found. Capacities are counted here a second time.
 * tests: advise.c lives.c
 */
#include "advise/advise.h"

#include "advise/site_groups.h"
#include "base/bits.h"
#include "base/rng.h"
#include "support/cmocka.h"
#include "support/trace.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FRAME = 1, DOUBLE, POOL, SLAB, STACK, KEEP, SURVIVOR, N_PLACES = SURVIVOR };
enum { SCOPES = 60, SETTLED = 64, WRAPPER = 100, LATE_SCOPE = 11 };

struct made { /* a trace in the making */
    FILE *to;
    struct ab_trace_writer *w;
    struct ab_rng rng;
    uint64_t calls, ends[SCOPES];
    bool has_sites, is_lopsided;
    uint64_t pool[SETTLED], slab[SETTLED], keep[SETTLED]; /* live blocks */
    uint64_t last[8], n_last;                             /* of DOUBLE, of the scope before */
};

static struct ab_err err;
static struct ab_advice advice;
static bool is_flat;

static uint64_t give(struct made *m, uint32_t place, uint64_t size)
{
    uint64_t block;
    struct ab_event e = {.kind = AB_EVENT_ALLOC, .size = size, .site = m->has_sites ? place : 0};
    assert_int_equal(ab_trace_write(m->w, &e, &block, &err), AB_OK);
    m->calls++;
    return block;
}

static void take(struct made *m, uint64_t block)
{
    struct ab_event e = {.kind = AB_EVENT_FREE, .block = block};
    if (ab_trace_write(m->w, &e, NULL, &err) != AB_OK)
        fail_msg("%s", err.text);
    m->calls++;
}

static void resize(struct made *m, uint32_t place, uint64_t block, uint64_t size)
{
    struct ab_event e = {
        .kind = AB_EVENT_RESIZE, .block = block, .size = size, .site = m->has_sites ? place : 0};
    assert_int_equal(ab_trace_write(m->w, &e, NULL, &err), AB_OK);
    m->calls++;
}

static uint64_t any_size(struct made *m)
{
    return 1 + ab_rng_below(&m->rng, 5000);
}

static uint64_t slab_size(struct made *m)
{
    static const uint64_t sizes[] = {24, 64, 200};
    return sizes[ab_rng_below(&m->rng, 3)];
}

static void settle(struct made *m)
{
    for (int i = 0; i < SETTLED; i++) {
        m->pool[i] = give(m, POOL, 96);
        m->slab[i] = give(m, SLAB, slab_size(m));
        m->keep[i] = give(m, KEEP, any_size(m));
    }
}

static void nest(struct made *m, int depth)
{
    uint64_t block = give(m, STACK, 1 + ab_rng_below(&m->rng, 100));
    if (depth > 0)
        nest(m, depth - 1);
    take(m, block);
}

static void churn(struct made *m)
{
    for (int i = 0; i < 20; i++) {
        uint64_t at = ab_rng_below(&m->rng, SETTLED);
        take(m, m->pool[at]);
        m->pool[at] = give(m, POOL, 96);
        at = ab_rng_below(&m->rng, SETTLED);
        take(m, m->slab[at]);
        m->slab[at] = give(m, SLAB, slab_size(m));
        at = ab_rng_below(&m->rng, SETTLED);
        take(m, m->keep[at]);
        m->keep[at] = give(m, KEEP, any_size(m));
        nest(m, (int)ab_rng_below(&m->rng, 4));
    }
}

/* In FRAME each scope takes the same: 10 blocks of 500 bytes. */
static void make_scope(struct made *m, int scope, uint64_t *late)
{
    uint64_t frame[10], survivors[4];
    for (int i = 0; i < 10; i++)
        frame[i] = give(m, FRAME, 500);
    for (int i = 0; i < 4; i++)
        survivors[i] = give(m, SURVIVOR, any_size(m));
    churn(m);
    for (int i = 0; i < 10; i++)
        take(m, frame[i]); /* the oldest first: no stack */
    for (uint64_t i = 0; i < m->n_last; i++)
        take(m, m->last[i]);
    for (m->n_last = 0; m->n_last < 8; m->n_last++)
        m->last[m->n_last] = give(m, DOUBLE, 300 + ab_rng_below(&m->rng, 50));
    for (int i = 0; i < 4; i++)
        if (scope == LATE_SCOPE && i == 2)
            *late = survivors[i];
        else
            take(m, survivors[i]);
    if (scope == LATE_SCOPE + 3)
        take(m, *late);
    m->ends[scope] = m->calls;
}

static void release(struct made *m)
{
    for (uint64_t i = 0; i < m->n_last; i++)
        take(m, m->last[i]);
    for (int i = 0; i < SETTLED; i++) {
        take(m, m->pool[i]);
        take(m, m->slab[i]);
        take(m, m->keep[i]);
    }
}

/* Places are stacks "malloc < place < main", by their addresses. */
static void know_places(struct ab_site_table *t)
{
    uint32_t module;
    module = ab_site_know_module(t, "/opt/game/bin/game", 18, NULL, 0);
    for (uint64_t i = 1; i <= N_PLACES; i++) {
        uint32_t number;
        struct ab_site_frame frames[] = {{WRAPPER, module}, {i, module}, {99, module}};
        number = ab_site_know_stack(t, frames, 3, AB_SITE_WHOLE);
        assert_int_equal(number, i);
    }
}

static struct ab_site_named name(void *user, const struct ab_site_table *t,
                                 const struct ab_site_frame *frame)
{
    static char function[64];
    static struct ab_symbol symbol = {.function = function, .file = "/src/game.c"};
    (void)user, (void)t;
    snprintf(function, sizeof function,
             frame->address == WRAPPER ? "xmalloc(unsigned long)" : "place_%d",
             (int)frame->address);
    symbol.line = (int)frame->address;
    return (struct ab_site_named){&symbol, 1};
}

/* Of the trace that `make` writes. */
static void advise_on(struct made *m, void (*make)(struct made *), size_t n_scopes)
{
    struct ab_site_table t = {0};
    char *path = test_trace_file(NULL, 0);
    know_places(&t);
    m->to = fopen(path, "wb");
    struct ab_trace_writer_options options = {.program = "game", .sites = m->has_sites ? &t : NULL};
    assert_int_equal(ab_trace_writer_open_with(m->to, &options, &m->w, &err), AB_OK);
    make(m);
    assert_int_equal(ab_trace_writer_close(m->w, NULL, &err), AB_OK);
    fclose(m->to);
    const struct ab_advise_plan plan = {
        .path = path,
        .scopes = &(struct ab_scopes){.ends = m->ends, .n = n_scopes},
        .is_flat = is_flat,
        .name = name};
    ab_advice_fini(&advice);
    if (ab_advise(&plan, &advice, &err) != AB_OK)
        fail_msg("%s", err.text);
    assert_int_equal(advice.n_events, m->calls);
    ab_site_table_fini(&t);
    unlink(path);
    free(path);
}

static void make_game(struct made *m)
{
    uint64_t late = 0;
    settle(m);
    for (int i = 0; i < SCOPES; i++)
        make_scope(m, i, &late);
    release(m);
}

static void advise(uint64_t seed, bool has_sites, bool has_scopes)
{
    struct made m = {.has_sites = has_sites};
    ab_rng_init(&m.rng, seed, 5);
    advise_on(&m, make_game, has_scopes ? SCOPES : 0);
}

static const struct ab_advice_group *group(int place)
{
    char key[64];
    snprintf(key, sizeof key, "site:game.c:%d", place);
    for (size_t i = 0; i < advice.n_groups; i++)
        if (strcmp(advice.groups[i].key, key) == 0)
            return &advice.groups[i];
    fail_msg("no group %s", key);
    return NULL;
}

static void expect(int place, enum ab_advice_kind kind)
{
    const struct ab_advice_group *g = group(place);
    if (g->kind != kind)
        fail_msg("%s: %s (%s), not %s", g->function, ab_advice_kind_name(g->kind), g->why,
                 ab_advice_kind_name(kind));
}

static void each_kind_is_found_with_each_seed(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 10; seed++) {
        advise(seed, true, true);
        expect(FRAME, AB_ADVICE_FRAME);
        expect(DOUBLE, AB_ADVICE_DOUBLE);
        expect(POOL, AB_ADVICE_POOL);
        expect(SLAB, AB_ADVICE_SLAB);
        expect(STACK, AB_ADVICE_STACK);
        expect(KEEP, AB_ADVICE_KEEP);
        expect(SURVIVOR, AB_ADVICE_KEEP);
        assert_int_equal(advice.n_heaps, 5);
        assert_int_equal(advice.n_groups, N_PLACES);
        assert_true(advice.has_sites);
    }
}

/* What comes after the last scope is in no time where it is a little. */
static void the_end_of_the_program_is_not_measured(void **state)
{
    (void)state;
    advise(3, true, true);
    assert_true(advice.n_before_end < advice.n_events);
    assert_true(advice.n_before_end >= advice.n_events - advice.n_events / 10);
    advise(3, true, false);
    assert_int_equal(advice.n_before_end, advice.n_events);
}

/* As --code has them, with what a scope took and with its slots. */
static void heaps_of_one_thread_can_be_compiled_in(void **state)
{
    (void)state;
    advise(3, true, true);
    for (size_t i = 0; i < advice.n_heaps; i++) {
        const struct ab_advice_heap *h = &advice.heaps[i];
        char expected[200];
        if (h->kind == AB_ADVICE_DOUBLE)
            snprintf(expected, sizeof expected, "2*inline+%s", h->backend + 2);
        else if (h->kind == AB_ADVICE_POOL)
            snprintf(expected, sizeof expected, "inline+%s:slots=%llu", h->backend,
                     (unsigned long long)h->capacity_blocks);
        else
            snprintf(expected, sizeof expected, "inline+%s", h->backend);
        assert_string_equal(h->compiled, expected);
    }
}

static void survivors_are_named(void **state)
{
    (void)state;
    advise(3, true, true);
    const struct ab_advice_group *g = group(SURVIVOR);
    assert_string_equal(g->function, "place_7");
    assert_string_equal(g->file, "game.c");
    assert_int_equal(g->line, SURVIVOR);
    assert_int_equal(g->n_survivors, 1);
    assert_int_equal(g->survivors[0].born, LATE_SCOPE);
    assert_int_equal(g->survivors[0].died, LATE_SCOPE + 3);
    assert_int_equal(g->in_scope, SCOPES * 4 - 1);
    assert_int_equal(group(FRAME)->n_survivors, 0);
}

static void heaps_hold_what_the_trace_took_and_more(void **state)
{
    (void)state;
    advise(4, true, true);
    const struct ab_advice_heap *frame = &advice.heaps[group(FRAME)->heap];
    assert_int_equal(frame->most_blocks, 10);
    assert_int_equal(frame->most_bytes, 10 * 512);
    assert_int_equal(frame->capacity_bytes, 65536);
    assert_string_equal(frame->backend, "arena:keep=64KiB");
    const struct ab_advice_heap *pool = &advice.heaps[group(POOL)->heap];
    assert_int_equal(pool->size_most, 96);
    assert_int_equal(pool->most_blocks, SETTLED);
    assert_int_equal(pool->capacity_blocks, 96); /* 64 + 16 + 1, in steps of 16 */
    assert_string_equal(pool->backend, "pool:slot=96");
    const struct ab_advice_heap *twice = &advice.heaps[group(DOUBLE)->heap];
    assert_int_equal(strncmp(twice->backend, "2*arena:keep=", 13), 0);
    const struct ab_advice_heap *stack = &advice.heaps[group(STACK)->heap];
    assert_string_equal(stack->backend, "arena");
    assert_in_range(stack->most_blocks, 1, 4);
    for (size_t i = 1; i < advice.n_heaps; i++)
        assert_true(advice.heaps[i - 1].calls >= advice.heaps[i].calls);
}

static void without_scopes_nothing_is_reset(void **state)
{
    (void)state;
    advise(5, true, false);
    expect(FRAME, AB_ADVICE_POOL); /* they are of one size, many at a time */
    expect(DOUBLE, AB_ADVICE_KEEP);
    expect(STACK, AB_ADVICE_STACK);
    expect(KEEP, AB_ADVICE_KEEP);
    assert_int_equal(group(SURVIVOR)->n_survivors, 0);
}

static void without_sites_sizes_are_groups(void **state)
{
    (void)state;
    bool has_pool = false;
    advise(6, false, true);
    assert_false(advice.has_sites);
    for (size_t i = 0; i < advice.n_groups; i++) {
        assert_int_equal(strncmp(advice.groups[i].key, "size:", 5), 0);
        has_pool = has_pool ||
                   (advice.groups[i].kind == AB_ADVICE_POOL && advice.groups[i].size_most <= 96);
    }
    assert_true(has_pool);
}

static void make_churn(struct made *m)
{
    for (int i = 0; i < SETTLED; i++)
        m->keep[i] = give(m, KEEP, any_size(m));
    for (int i = 0; i < 5000; i++) {
        uint64_t at = ab_rng_below(&m->rng, SETTLED);
        take(m, m->keep[at]);
        m->keep[at] = give(m, KEEP, any_size(m));
    }
}

static void random_churn_stays_where_it_is(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 10; seed++) {
        struct made m = {.has_sites = true};
        ab_rng_init(&m.rng, seed, 5);
        advise_on(&m, make_churn, 0);
        assert_int_equal(advice.n_heaps, 0);
        assert_int_equal(advice.groups[0].kind, AB_ADVICE_KEEP);
    }
}

/* Each block is allocated at FRAME, 10 bytes, resized at KEEP in the next scope, freed in the one after
 * it. */
static void make_growing(struct made *m)
{
    uint64_t blocks[3][8];
    for (int scope = 0; scope < SCOPES; scope++) {
        for (int i = 0; i < 8 && scope >= 2; i++)
            take(m, blocks[(scope + 1) % 3][i]);
        for (int i = 0; i < 8 && scope >= 1; i++)
            resize(m, KEEP, blocks[(scope + 2) % 3][i], 500);
        for (int i = 0; i < 8; i++)
            blocks[scope % 3][i] = give(m, FRAME, 10);
        m->ends[scope] = m->calls;
    }
    for (int i = 0; i < 16; i++)
        take(m, blocks[(SCOPES - 1 - i / 8) % 3][i % 8]);
}

static void a_resize_stays_with_its_allocation_as_in_a_replay(void **state)
{
    (void)state;
    struct made by_site = {.has_sites = true}, by_size = {.has_sites = false};
    advise_on(&by_site, make_growing, SCOPES);
    assert_int_equal(advice.n_groups, 1);
    expect(FRAME, AB_ADVICE_SLAB);
    assert_int_equal(group(FRAME)->resizes, 8 * (SCOPES - 1));
    assert_int_equal(group(FRAME)->size_most, 500);
    assert_int_equal(group(FRAME)->in_next, 8); /* the last ones */
    advise_on(&by_size, make_growing, SCOPES);  /* by size they go from group to group */
    assert_int_equal(advice.n_groups, 2);
    for (size_t i = 0; i < 2; i++) {
        const struct ab_advice_group *g = &advice.groups[i];
        assert_int_equal(g->kind, g->size_most == 10 ? AB_ADVICE_DOUBLE : AB_ADVICE_POOL);
    }
}

/* A scope holds ten blocks of FRAME and eight nested scopes of 10 to 20 blocks of POOL and some of SLAB,
 * the oldest freed first. KEEP comes and goes at random in it; SURVIVOR is in the nested scopes, but
 * for one block in some scopes. Lopsided: the first one takes nearly all of the memory. */
static void make_nested_scope(struct made *m, uint64_t *late)
{
    uint64_t inner[64], churn_[3] = {0};
    for (int n = 0; n < 8; n++) {
        size_t k = 0;
        for (uint64_t i = 10 + ab_rng_below(&m->rng, 10); i > 0; i--) {
            inner[k++] = give(m, POOL,
                              1 + ab_rng_below(&m->rng, m->is_lopsided && n == 0 ? 20000 : 200));
            if (ab_rng_below(&m->rng, 2) == 0)
                inner[k++] = give(m, SLAB, 24);
            for (int turn = 0; turn < 6; turn++) {
                uint64_t at = ab_rng_below(&m->rng, 3);
                if (churn_[at] != 0)
                    take(m, churn_[at]);
                churn_[at] = churn_[at] != 0 ? 0 : give(m, KEEP, any_size(m));
            }
        }
        for (int i = 0; i < 2; i++)
            inner[k++] = give(m, SURVIVOR, 40);
        if (n == 3 && late != NULL)
            *late = inner[--k];
        for (size_t i = 0; i < k; i++)
            take(m, inner[i]);
    }
    for (int i = 0; i < 3; i++)
        if (churn_[i] != 0)
            take(m, churn_[i]);
}

static void make_nested(struct made *m)
{
    for (int scope = 0; scope < SCOPES; scope++) {
        uint64_t frame[10], late = 0;
        bool is_late = scope % 20 == LATE_SCOPE;
        for (int i = 0; i < 10; i++)
            frame[i] = give(m, FRAME, 500);
        make_nested_scope(m, is_late ? &late : NULL);
        if (is_late)
            take(m, late);
        for (int i = 0; i < 10; i++)
            take(m, frame[i]);
        m->ends[scope] = m->calls;
    }
}

static void nested_scopes_are_found_with_each_seed(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 10; seed++) {
        struct made m = {.has_sites = true};
        ab_rng_init(&m.rng, seed, 5);
        advise_on(&m, make_nested, SCOPES);
        expect(FRAME, AB_ADVICE_FRAME);
        expect(POOL, AB_ADVICE_NESTED);
        expect(SLAB, AB_ADVICE_NESTED);
        expect(KEEP, AB_ADVICE_FRAME); /* it is empty at times, by accident */
        expect(SURVIVOR, AB_ADVICE_FRAME);
        assert_int_equal(group(SURVIVOR)->n_stragglers, 3);
        assert_int_equal(group(SURVIVOR)->straggler_size, 48);
        assert_int_equal(group(POOL)->n_stragglers, 0);
        const struct ab_advice_heap *h = &advice.heaps[group(POOL)->heap];
        assert_int_equal(group(SLAB)->heap, group(POOL)->heap);
        assert_int_equal(h->n_nested, SCOPES * 8);
        assert_in_range(h->most_blocks, 20, 38);
        assert_in_range(h->capacity_bytes, h->most_bytes + h->most_bytes / 4, 65535);
        assert_int_equal(strncmp(h->backend, "arena:keep=", 11), 0);
        assert_string_not_equal(h->backend, advice.heaps[group(FRAME)->heap].backend);
    }
}

static void of_nested_scopes_that_are_none_in_the_end_no_block_is_said_to_outlive_them(void **state)
{
    (void)state;
    struct made m = {.has_sites = true, .is_lopsided = true};
    ab_rng_init(&m.rng, 1, 5);
    advise_on(&m, make_nested, SCOPES);
    expect(POOL, AB_ADVICE_FRAME); /* one of its scopes takes more than half of a whole one */
    expect(SURVIVOR, AB_ADVICE_FRAME);
    assert_int_equal(group(SURVIVOR)->n_stragglers, 0);
    assert_string_equal(group(SURVIVOR)->why, "dies in its scope");
}

static void nested_scopes_are_looked_for_only_when_asked(void **state)
{
    (void)state;
    struct made m = {.has_sites = true};
    ab_rng_init(&m.rng, 1, 5);
    is_flat = true;
    advise_on(&m, make_nested, SCOPES);
    is_flat = false;
    expect(POOL, AB_ADVICE_FRAME);
    assert_int_equal(group(POOL)->heap, group(FRAME)->heap);
    assert_int_equal(group(SURVIVOR)->n_stragglers, 0);
}

/* Two kinds of nested scopes, one within the other: each has an arena of its own. */
static void make_deep(struct made *m)
{
    for (int scope = 0; scope < SCOPES; scope++) {
        uint64_t frame[100], outer[12], inner[6];
        for (int i = 0; i < 100; i++)
            frame[i] = give(m, FRAME, 500);
        for (int n = 0; n < 6; n++) {
            for (int i = 0; i < 12; i++) {
                outer[i] = give(m, POOL, 100);
                for (int k = 0; k < 6; k++)
                    inner[k] = give(m, SLAB, 100);
                for (int k = 0; k < 6; k++)
                    take(m, inner[k]);
            }
            for (int i = 0; i < 12; i++)
                take(m, outer[i]);
        }
        for (int i = 0; i < 100; i++)
            take(m, frame[i]);
        m->ends[scope] = m->calls;
    }
}

static void nested_scopes_of_two_depths_have_an_arena_each(void **state)
{
    (void)state;
    struct made m = {.has_sites = true};
    advise_on(&m, make_deep, SCOPES);
    expect(POOL, AB_ADVICE_NESTED);
    expect(SLAB, AB_ADVICE_NESTED);
    const struct ab_advice_heap *outer = &advice.heaps[group(POOL)->heap],
                                *inner = &advice.heaps[group(SLAB)->heap];
    assert_int_equal(outer->n_nested, SCOPES * 6);
    assert_int_equal(inner->n_nested, SCOPES * 6 * 12);
    assert_int_equal(inner->most_bytes, 6 * 112);
    assert_string_not_equal(inner->backend, outer->backend);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_kind_is_found_with_each_seed),
        cmocka_unit_test(the_end_of_the_program_is_not_measured),
        cmocka_unit_test(heaps_of_one_thread_can_be_compiled_in),
        cmocka_unit_test(survivors_are_named),
        cmocka_unit_test(heaps_hold_what_the_trace_took_and_more),
        cmocka_unit_test(without_scopes_nothing_is_reset),
        cmocka_unit_test(without_sites_sizes_are_groups),
        cmocka_unit_test(random_churn_stays_where_it_is),
        cmocka_unit_test(a_resize_stays_with_its_allocation_as_in_a_replay),
        cmocka_unit_test(nested_scopes_are_found_with_each_seed),
        cmocka_unit_test(
            of_nested_scopes_that_are_none_in_the_end_no_block_is_said_to_outlive_them),
        cmocka_unit_test(nested_scopes_are_looked_for_only_when_asked),
        cmocka_unit_test(nested_scopes_of_two_depths_have_an_arena_each),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    ab_advice_fini(&advice);
    return failed;
}
