/* SPDX-License-Identifier: MIT
 *
 * Programs of several threads, whose calls come in any order, by ten seeds: requests of each thread by
 * itself are found where they end, their blocks go to arenas of the threads, and what threads hand to
 * each other to a heap that takes it back. Capacities are counted here a second time.
 */
#include "advise/advise.h"
#include "base/rng.h"
#include "support/cmocka.h"
#include "support/trace.h"
#include "trace_tools/scopes.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FRAME = 1, DOUBLE, SURVIVOR, POOL, N_PLACES = POOL };
enum { THREADS = 4, REQUESTS = 60, MOST = 64, HANDED = 200, LATE = 11 };

struct thread { /* a request: first its blocks, then their end, the oldest first */
    uint64_t blocks[MOST], last[MOST], late;
    size_t n, wanted, n_freed, n_last;
    uint64_t ends[REQUESTS], most_bytes;
    size_t request;
};

static struct {
    FILE *to;
    struct ab_trace_writer *w;
    struct ab_rng rng;
    uint64_t calls;
    uint64_t handed[HANDED];
    bool is_in_turn; /* a thread makes some requests before the next one does, and leaves nothing */
    struct thread threads[THREADS];
} p;
static struct ab_err err;
static struct ab_advice advice;
static struct ab_scopes scopes;
static struct ab_scopes_of_threads others;

static uint64_t give(uint32_t place, uint64_t size, uint32_t thread)
{
    uint64_t block;
    struct ab_event e = {.size = size, .site = place, .thread = thread};
    assert_int_equal(ab_trace_write(p.w, &e, &block, &err), AB_OK);
    p.calls++;
    return block;
}

static void take(uint64_t block, uint32_t thread)
{
    struct ab_event e = {.kind = AB_EVENT_FREE, .block = block, .thread = thread};
    if (ab_trace_write(p.w, &e, NULL, &err) != AB_OK)
        fail_msg("%s", err.text);
    p.calls++;
}

/* What one request leaves is freed in the next one. */
static void finish(struct thread *t, uint32_t number)
{
    for (size_t i = 0; i < t->n_last; i++)
        take(t->last[i], number);
    for (t->n_last = 0; !p.is_in_turn && t->request + 1 < REQUESTS && t->n_last < 3; t->n_last++)
        t->last[t->n_last] = give(DOUBLE, 200, number);
    uint64_t survivor = give(SURVIVOR, 40, number);
    if (number == 2 && t->request == LATE)
        t->late = survivor;
    else
        take(survivor, number);
    if (number == 2 && t->request == LATE + 3)
        take(t->late, number);
    t->ends[t->request++] = p.calls;
    t->most_bytes = t->wanted * 512 > t->most_bytes ? t->wanted * 512 : t->most_bytes;
    t->n = t->wanted = t->n_freed = 0;
}

/* Thread number 0 hands blocks around besides; each step is one of them, of a thread that is drawn. */
static void step(uint32_t number)
{
    struct thread *t = &p.threads[number];
    uint64_t at = ab_rng_below(&p.rng, HANDED);
    if (number == 0) {
        uint64_t old = p.handed[at];
        p.handed[at] = give(POOL, 96, 0);
        if (old != 0)
            take(old - 1, 1 + (uint32_t)ab_rng_below(&p.rng, THREADS - 1));
        p.handed[at]++;
        return;
    }
    if (t->wanted == 0)
        t->wanted = 20 + ab_rng_below(&p.rng, 20);
    if (t->n < t->wanted)
        t->blocks[t->n++] = give(FRAME, 500, number);
    else
        take(t->blocks[t->n_freed++], number);
    if (t->n_freed == t->wanted)
        finish(t, number);
}

static void make(void)
{
    for (uint32_t i = 0; i < THREADS; i++)
        step(i); /* threads are numbered by their first calls */
    for (size_t n_done = 0, n_requests = 0; n_done < THREADS - 1;) {
        uint32_t number = (uint32_t)ab_rng_below(&p.rng, THREADS);
        if (p.is_in_turn)
            number = 1 + (uint32_t)(n_requests / 5 % (THREADS - 1));
        if (p.threads[number].request == REQUESTS)
            continue;
        step(number);
        n_requests += p.threads[number].wanted == 0 && p.threads[number].n == 0;
        n_done += p.threads[number].request == REQUESTS;
    }
    for (size_t i = 0; i < HANDED; i++)
        if (p.handed[i] != 0)
            take(p.handed[i] - 1, 0);
}

static void know_places(struct ab_site_table *t)
{
    uint32_t module;
    module = ab_site_know_module(t, "/bin/server", 11, NULL, 0);
    for (uint64_t i = 1; i <= N_PLACES; i++) {
        struct ab_site_frame frames[] = {{i, module}};
        assert_int_not_equal(ab_site_know_stack(t, frames, 1, AB_SITE_WHOLE), 0);
    }
}

static void find(const char *path)
{
    assert_int_equal(ab_scopes_find(&(struct ab_walk){.path = path}, AB_SCOPES_BEST, &scopes, &err),
                     AB_OK);
    assert_int_equal(scopes.is_of_thread, !p.is_in_turn);
    assert_int_equal(
        ab_scopes_part_threads(&(struct ab_walk){.path = path}, &scopes, &others, &err), AB_OK);
    assert_true(scopes.is_of_thread);
    const struct ab_advise_plan plan = {.path = path, .scopes = &scopes, .threads = &others};
    if (ab_advise(&plan, &advice, &err) != AB_OK)
        fail_msg("%s", err.text);
}

static char *write_trace(uint64_t seed, bool is_in_turn)
{
    struct ab_site_table t = {0};
    char *path = test_trace_file(NULL, 0);
    memset(&p, 0, sizeof p);
    ab_rng_init(&p.rng, seed, 9);
    p.is_in_turn = is_in_turn;
    know_places(&t);
    p.to = fopen(path, "wb");
    const struct ab_trace_writer_options options = {.program = "server", .sites = &t};
    assert_int_equal(ab_trace_writer_open_with(p.to, &options, &p.w, &err), AB_OK);
    make();
    assert_int_equal(ab_trace_writer_close(p.w, NULL, &err), AB_OK);
    fclose(p.to);
    ab_site_table_fini(&t);
    return path;
}

static void advise_on(uint64_t seed, bool is_in_turn)
{
    char *path = write_trace(seed, is_in_turn);
    find(path);
    unlink(path);
    free(path);
}

static void advise(uint64_t seed)
{
    advise_on(seed, false);
}

static void forget(void)
{
    ab_advice_fini(&advice);
    ab_scopes_fini(&scopes);
    ab_scopes_of_threads_fini(&others);
}

static const struct ab_advice_group *group(uint64_t place)
{
    for (size_t i = 0; i < advice.n_groups; i++)
        if (advice.groups[i].address == place)
            return &advice.groups[i];
    fail_msg("no group of place %d", (int)place);
    return NULL;
}

static const struct ab_advice_heap *heap(uint64_t place, enum ab_advice_kind kind)
{
    if (group(place)->kind != kind || group(place)->heap >= advice.n_heaps)
        fail_msg("place %d: %s (%s)", (int)place, ab_advice_kind_name(group(place)->kind),
                 group(place)->why);
    return &advice.heaps[group(place)->heap];
}

/* Ends are found where a request ends, or by the few blocks that live on, some calls earlier. */
static void expect_ends(uint32_t thread, const uint64_t *ends, size_t n)
{
    const struct thread *t = &p.threads[thread];
    size_t at = 0, n_hits = 0;
    assert_in_range(n, REQUESTS - 2, REQUESTS);
    for (size_t i = 0; i < REQUESTS; i++) {
        while (at < n && ends[at] + 40 < t->ends[i])
            at++;
        n_hits += at < n && ends[at] <= t->ends[i] + 40;
    }
    assert_in_range(n_hits, REQUESTS - 2, REQUESTS);
}

static void requests_of_each_thread_are_found_with_each_seed(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 10; seed++) {
        advise(seed);
        assert_int_equal(others.n, THREADS - 2); /* and not the one that hands blocks around */
        expect_ends(scopes.thread, scopes.ends, scopes.n);
        uint64_t n = scopes.n;
        for (size_t i = 0; i < others.n; i++) {
            assert_true(others.items[i].thread != 0 && others.items[i].thread != scopes.thread);
            expect_ends(others.items[i].thread, others.items[i].ends, others.items[i].n);
            n += others.items[i].n;
        }
        assert_int_equal(advice.n_scopes, n);
        assert_int_equal(advice.n_scope_threads, THREADS - 1);
        forget();
    }
}

static void they_have_arenas_of_the_threads(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 10; seed++) {
        uint64_t most = 0;
        advise(seed);
        const struct ab_advice_heap *h = heap(FRAME, AB_ADVICE_FRAME);
        for (int i = 1; i < THREADS; i++)
            most = p.threads[i].most_bytes > most ? p.threads[i].most_bytes : most;
        assert_int_equal(h->most_bytes, most); /* of one thread, not of all */
        assert_true(h->is_of_thread_scopes && ab_advice_is_shared(h) && h->is_local);
        assert_non_null(strstr(h->backend, ":threads=local"));
        h = heap(DOUBLE, AB_ADVICE_DOUBLE);
        assert_true(h->is_of_thread_scopes && ab_advice_is_shared(h));
        forget();
    }
}

/* Then nothing is left of all of them at the end of each, but it is the end of one thread's alone. */
static void threads_that_take_turns_have_requests_of_their_own(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 10; seed++) {
        advise_on(seed, true);
        assert_int_equal(others.n, THREADS - 2);
        assert_true(heap(FRAME, AB_ADVICE_FRAME)->is_of_thread_scopes);
        forget();
    }
}

/* As often as a thread's own end, but then blocks of the others outlive them. */
static void scopes_of_all_that_blocks_outlive_are_parted(void **state)
{
    (void)state;
    char *path = write_trace(5, false);
    scopes = (struct ab_scopes){.n = REQUESTS, .from = AB_SCOPES_FOUND};
    scopes.ends = malloc(sizeof p.threads[1].ends);
    memcpy(scopes.ends, p.threads[1].ends, sizeof p.threads[1].ends);
    assert_int_equal(
        ab_scopes_part_threads(&(struct ab_walk){.path = path}, &scopes, &others, &err), AB_OK);
    assert_true(scopes.is_of_thread && scopes.from == AB_SCOPES_FOUND);
    assert_int_equal(others.n, THREADS - 2);
    unlink(path);
    free(path);
    forget();
}

/* Threads that work on the same frame: each has its scopes, and they are those of all. */
static void scopes_of_all_that_hold_for_each_thread_stay(void **state)
{
    (void)state;
    char *path = test_trace_file(NULL, 0);
    memset(&p, 0, sizeof p);
    ab_rng_init(&p.rng, 1, 9);
    p.to = fopen(path, "wb");
    const struct ab_trace_writer_options options = {.program = "game"};
    assert_int_equal(ab_trace_writer_open_with(p.to, &options, &p.w, &err), AB_OK);
    for (int frame = 0; frame < REQUESTS; frame++) {
        uint64_t blocks[MOST];
        for (uint32_t i = 0; i < MOST; i++)
            blocks[i] = give(0, 1 + ab_rng_below(&p.rng, 500), i % THREADS);
        for (uint32_t i = 0; i < MOST; i++)
            take(blocks[i], i % THREADS);
    }
    assert_int_equal(ab_trace_writer_close(p.w, NULL, &err), AB_OK);
    fclose(p.to);
    assert_int_equal(ab_scopes_find(&(struct ab_walk){.path = path}, AB_SCOPES_BEST, &scopes, &err),
                     AB_OK);
    assert_true(scopes.from == AB_SCOPES_FOUND && !scopes.is_of_thread);
    assert_int_equal(
        ab_scopes_part_threads(&(struct ab_walk){.path = path}, &scopes, &others, &err), AB_OK);
    assert_true(!scopes.is_of_thread && others.n == 0);
    assert_in_range(scopes.n, REQUESTS - 1, REQUESTS);
    unlink(path);
    free(path);
    forget();
}

static void a_block_that_outlives_the_scope_of_its_thread_is_named(void **state)
{
    (void)state;
    advise(3);
    const struct ab_advice_group *g = group(SURVIVOR);
    assert_true(g->kind != AB_ADVICE_FRAME);
    assert_int_equal(g->n_survivors, 1);
    assert_int_equal(g->survivors[0].died - g->survivors[0].born, 3);
    assert_in_range(g->survivors[0].born, LATE - 1, LATE + 1);
    forget();
}

static void what_is_freed_by_others_is_counted_and_goes_to_a_heap_for_several(void **state)
{
    (void)state;
    advise(4);
    const struct ab_advice_heap *h = heap(POOL, AB_ADVICE_POOL);
    assert_true(h->n_threads == 1 && !h->is_local && ab_advice_is_shared(h));
    assert_int_equal(h->frees, group(POOL)->calls);
    assert_int_equal(h->n_remote, h->frees - HANDED); /* but those that lived in the end */
    assert_string_equal(h->backend, "pool:slot=96:threads=local");
    forget();
}

/* Two threads, each with requests of MOST / 4 blocks in turn; the second one has 20 more in the end. Of
 * the first one's blocks the second resizes one, or frees one after all that. */
enum handed { NOT_HANDED, RESIZED, OUTLIVES };
static char *write_turns(enum handed handed, uint64_t *ends, uint64_t *others_ends)
{
    struct ab_site_table t = {0};
    char *path = test_trace_file(NULL, 0);
    memset(&p, 0, sizeof p);
    know_places(&t);
    p.to = fopen(path, "wb");
    const struct ab_trace_writer_options options = {.program = "server", .sites = &t};
    assert_int_equal(ab_trace_writer_open_with(p.to, &options, &p.w, &err), AB_OK);
    for (uint32_t i = 0; i < 2 * REQUESTS + 20; i++) {
        uint32_t number = i < 2 * REQUESTS ? i % 2 : 1;
        uint64_t blocks[MOST / 4];
        for (size_t k = 0; k < MOST / 4; k++)
            blocks[k] = give(FRAME, 500, number);
        struct ab_event resize = {
            .kind = AB_EVENT_RESIZE, .block = blocks[3], .size = 600, .thread = 1};
        if (handed == RESIZED && i == REQUESTS) {
            assert_int_equal(number, 0);
            assert_int_equal(ab_trace_write(p.w, &resize, &blocks[3], &err), AB_OK);
            p.calls++;
        }
        for (size_t k = 0; k < MOST / 4; k++)
            take(blocks[k], number);
        *(number == 0 ? ends++ : others_ends++) = p.calls;
    }
    for (int i = 0; i < 10; i++)
        take(give(handed == OUTLIVES ? FRAME : POOL, 40, 0), handed == OUTLIVES ? 1 : 0);
    assert_int_equal(ab_trace_writer_close(p.w, NULL, &err), AB_OK);
    fclose(p.to);
    ab_site_table_fini(&t);
    return path;
}

static void advise_turns(enum handed handed)
{
    uint64_t ends[REQUESTS], others_ends[REQUESTS + 20];
    char *path = write_turns(handed, ends, others_ends);
    const struct ab_scopes first = {.ends = ends, .n = REQUESTS, .is_of_thread = true};
    const struct ab_scopes_of_threads more = {
        .items = {{.thread = 1, .ends = others_ends, .n = REQUESTS + 20}}, .n = 1};
    const struct ab_advise_plan plan = {.path = path, .scopes = &first, .threads = &more};
    assert_int_equal(ab_advise(&plan, &advice, &err), AB_OK);
    assert_int_equal(advice.n_before_end, others_ends[REQUESTS + 19]);
    unlink(path);
    free(path);
}

/* Not of the thread that comes first, whose last scope may end long before. */
static void what_is_measured_ends_with_the_last_scope_of_all_threads(void **state)
{
    (void)state;
    advise_turns(NOT_HANDED);
    assert_int_equal(advice.n_events - advice.n_before_end, 20);
    assert_true(heap(FRAME, AB_ADVICE_FRAME)->is_of_thread_scopes);
    forget();
}

/* It goes into the arena of the thread that resizes, which ends its scope when it will. */
static void a_block_that_another_thread_resizes_dies_in_no_scope(void **state)
{
    (void)state;
    advise_turns(RESIZED);
    assert_int_equal(group(FRAME)->later, 1);
    assert_true(group(FRAME)->kind != AB_ADVICE_FRAME && group(FRAME)->kind != AB_ADVICE_DOUBLE);
    forget();
}

/* Its thread ends a scope before it ends, so that another one gets the arena. */
static void a_block_that_may_outlive_its_thread_dies_in_no_scope(void **state)
{
    (void)state;
    advise_turns(OUTLIVES);
    assert_int_equal(group(FRAME)->later, 10);
    assert_true(group(FRAME)->kind != AB_ADVICE_FRAME && group(FRAME)->kind != AB_ADVICE_DOUBLE);
    forget();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(requests_of_each_thread_are_found_with_each_seed),
        cmocka_unit_test(they_have_arenas_of_the_threads),
        cmocka_unit_test(threads_that_take_turns_have_requests_of_their_own),
        cmocka_unit_test(scopes_of_all_that_blocks_outlive_are_parted),
        cmocka_unit_test(scopes_of_all_that_hold_for_each_thread_stay),
        cmocka_unit_test(a_block_that_outlives_the_scope_of_its_thread_is_named),
        cmocka_unit_test(what_is_measured_ends_with_the_last_scope_of_all_threads),
        cmocka_unit_test(a_block_that_another_thread_resizes_dies_in_no_scope),
        cmocka_unit_test(a_block_that_may_outlive_its_thread_dies_in_no_scope),
        cmocka_unit_test(what_is_freed_by_others_is_counted_and_goes_to_a_heap_for_several),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
