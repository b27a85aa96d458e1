/* SPDX-License-Identifier: MIT
 *
 * Programs whose scopes are known because they are made up here: where each ends is written down
 * while the calls are written. And programs that have none.
 * tests: scope_search.c
 */
#include "trace_tools/scopes.h"

#include "base/rng.h"
#include "support/cmocka.h"
#include "support/trace.h"
#include "trace_tools/scope_search.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_ENDS = 4000, MOST_LIVE = 20000, MOST_CALLS = 1 << 20 };

static struct {
    struct ab_trace_writer *writer;
    FILE *to;
    char *path;
    struct ab_rng rng;
    uint64_t n; /* calls */
    uint64_t live[MOST_LIVE];
    size_t n_live;
    uint64_t ends[MOST_ENDS]; /* known */
    size_t n_ends;
} p;
static struct ab_mark_table marks;
static struct ab_scopes scopes;
static struct ab_scope_spans spans;
static struct { /* what is born with each call, and by which call it is gone; 0 = never */
    bool is_birth;
    uint32_t thread;
    uint64_t gone;
} written[MOST_CALLS];
static uint64_t birth_of[MOST_CALLS]; /* of each block */
static struct ab_err err;

static void begin(uint64_t seed)
{
    ab_scopes_fini(&scopes);
    memset(&p, 0, sizeof p);
    ab_rng_init(&p.rng, seed, 1);
    p.path = test_trace_file(NULL, 0);
    p.to = fopen(p.path, "wb");
    ab_mark_table_fini(&marks);
    struct ab_trace_writer_options options = {.program = "made-up", .marks = &marks};
    assert_int_equal(ab_trace_writer_open_with(p.to, &options, &p.writer, &err), AB_OK);
}

static uint64_t write_call(struct ab_event e)
{
    uint64_t number = AB_NO_BLOCK;
    if (ab_trace_write(p.writer, &e, &number, &err) != AB_OK)
        fail_msg("%s", err.text);
    assert_true(p.n < MOST_CALLS);
    written[p.n].is_birth = number != AB_NO_BLOCK;
    written[p.n].thread = e.thread;
    written[p.n].gone = 0;
    if (number != AB_NO_BLOCK)
        birth_of[number] = p.n;
    else if (e.kind == AB_EVENT_FREE)
        written[birth_of[e.block]].gone = p.n;
    p.n++;
    return number;
}

static uint64_t get(uint32_t thread)
{
    return write_call((struct ab_event){.size = 1 + ab_rng_below(&p.rng, 500), .thread = thread});
}

static void give_back(uint64_t block, uint32_t thread)
{
    write_call((struct ab_event){.kind = AB_EVENT_FREE, .block = block, .thread = thread});
}

static void end_scope(void)
{
    p.ends[p.n_ends++] = p.n;
}

static void keep(uint64_t block)
{
    p.live[p.n_live++] = block;
}

/* A block of those that are kept, for good or to be freed. */
static uint64_t leave_any(void)
{
    size_t at = ab_rng_below(&p.rng, p.n_live);
    uint64_t block = p.live[at];
    p.live[at] = p.live[--p.n_live];
    return block;
}

static struct {
    uint64_t begun, most;
} passes;

static void watch(void *user, uint64_t n_events)
{
    assert_ptr_equal(user, &passes);
    passes.begun += n_events == 0;
    passes.most = n_events > passes.most ? n_events : passes.most;
}

static void walk(struct ab_scope_search *search)
{
    struct ab_walk walk = {
        .path = p.path, .end = UINT64_MAX, .visit = ab_scope_search_visit, .user = search};
    assert_int_equal(ab_trace_walk(&walk, NULL, &err), AB_OK);
}

static enum ab_scopes_wish wish; /* AB_SCOPES_BEST, unless a test says so */

/* Where there are too many ends to be kept, another pass finds the same. */
static void find_again(void)
{
    struct ab_scope_choice choice;
    uint64_t thread = scopes.is_of_thread ? scopes.thread : AB_SCOPE_ALL_THREADS;
    struct ab_scope_search *search = ab_scope_search_open(thread);
    walk(search);
    assert_true(ab_scope_search_choose(search, wish, &choice));
    ab_scope_search_close(search);
    search = ab_scope_search_open(thread);
    struct ab_thread_scopes again = {0};
    ab_scope_search_emit(search, &choice, &again);
    walk(search);
    ab_scope_search_close(search);
    assert_int_equal(again.n, scopes.n);
    assert_memory_equal(again.ends, scopes.ends, again.n * sizeof again.ends[0]);
    free(again.ends);
}

/* Within each other or apart, and nothing outlives one that its thread has made in it. */
static void find_spans(void)
{
    ab_scope_spans_fini(&spans);
    const struct ab_walk file = {.path = p.path};
    if (ab_scope_spans_find(&file, &scopes, &spans, &err) != AB_OK)
        fail_msg("%s", err.text);
    uint64_t open[64];
    size_t n_open = 0;
    for (size_t i = 0; i < spans.n; i++) {
        const struct ab_scope_span *s = &spans.items[i];
        while (n_open > 0 && open[n_open - 1] <= s->begin)
            n_open--;
        assert_true(s->begin < s->end && s->end <= p.n && n_open < 64);
        assert_true(i == 0 || spans.items[i - 1].begin <= s->begin);
        assert_true(n_open == 0 || s->end < open[n_open - 1]);
        open[n_open++] = s->end;
        for (uint64_t call = s->begin; call < s->end; call++)
            if (written[call].is_birth &&
                (!scopes.is_of_thread || written[call].thread == scopes.thread))
                assert_in_range(written[call].gone, 1, s->end - 1);
    }
}

static size_t count_spans(uint64_t least_calls)
{
    size_t n = 0;
    for (size_t i = 0; i < spans.n; i++)
        n += spans.items[i].end - spans.items[i].begin >= least_calls;
    return n;
}

static void find(void)
{
    passes.begun = passes.most = 0;
    assert_int_equal(ab_trace_writer_close(p.writer, NULL, &err), AB_OK);
    fclose(p.to);
    const struct ab_walk file = {.path = p.path, .progress = watch, .progress_user = &passes};
    if (ab_scopes_find(&file, wish, &scopes, &err) != AB_OK)
        fail_msg("%s", err.text);
    assert_int_equal(passes.most, p.n);
    assert_in_range(passes.begun, 1, 2); /* the second: of one thread */
    if (scopes.from == AB_SCOPES_FOUND)
        find_again();
    find_spans();
    unlink(p.path);
    free(p.path);
}

/* Of the known ends, which are found: within `slack` calls. */
static size_t hits(uint64_t slack)
{
    size_t n = 0, at = 0;
    for (size_t i = 0; i < p.n_ends; i++) {
        while (at < scopes.n && scopes.ends[at] + slack < p.ends[i])
            at++;
        n += at < scopes.n && scopes.ends[at] <= p.ends[i] + slack;
    }
    return n;
}

static void assert_ascending(void)
{
    for (size_t i = 1; i < scopes.n; i++)
        assert_true(scopes.ends[i - 1] < scopes.ends[i]);
    if (scopes.n > 0)
        assert_true(scopes.ends[0] > 0 && scopes.ends[scopes.n - 1] <= p.n);
}

/* Blocks of one scope, freed in any order, some at once. */
static void scope_body(uint32_t n, uint32_t thread)
{
    size_t base = p.n_live;
    for (uint32_t i = 0; i < n; i++) {
        keep(get(thread));
        if (ab_rng_below(&p.rng, 3) == 0)
            give_back(p.live[--p.n_live], thread);
    }
    while (p.n_live > base)
        give_back(p.live[--p.n_live], thread);
}

static uint32_t between(uint32_t least, uint32_t most)
{
    return least + (uint32_t)ab_rng_below(&p.rng, most - least + 1);
}

static void frames_of_varying_size(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 10; seed++) {
        begin(seed);
        for (unsigned i = 0; i < 5000; i++) /* start-up: assets that stay */
            get(0);
        end_scope();
        for (unsigned frame = 0; frame < 200; frame++) {
            get(0); /* a block that stays, or lives for long */
            scope_body(between(50, 400), 0);
            end_scope();
        }
        find();
        assert_int_equal(scopes.from, AB_SCOPES_FOUND);
        assert_false(scopes.is_of_thread);
        assert_ascending();
        assert_in_range(scopes.n, 199, 201);
        assert_in_range(hits(0), 199, 201);          /* all but start-up's, which nothing marks */
        assert_in_range(count_spans(100), 199, 400); /* some within a frame */
    }
}

/* Each request parses some documents: the inner scopes hold most blocks, but not all. */
static void nested_requests(void **state)
{
    (void)state;
    begin(1);
    for (unsigned request = 0; request < 300; request++) {
        uint64_t own[40];
        for (unsigned i = 0; i < 40; i++)
            own[i] = get(0);
        for (unsigned i = 0; i < 5; i++)
            scope_body(between(10, 20), 0);
        for (unsigned i = 0; i < 40; i++)
            give_back(own[i], 0);
        end_scope();
    }
    find();
    assert_int_equal(scopes.from, AB_SCOPES_FOUND);
    assert_int_equal(scopes.n, 300);
    assert_int_equal(hits(0), 300);
    assert_int_equal(count_spans(180), 300); /* the requests, whole */
}

/* Frames, and most blocks are the level's. */
static void write_levels(void)
{
    enum { LEVELS = 20, FRAMES = 200, OF_LEVEL = 6000 };
    static uint64_t own[OF_LEVEL];
    begin(1);
    for (unsigned level = 0; level < LEVELS; level++) {
        for (unsigned i = 0; i < OF_LEVEL; i++)
            own[i] = get(0);
        for (unsigned frame = 0; frame < FRAMES; frame++) {
            uint64_t n = between(40, 60), of_frame[60];
            for (uint64_t i = 0; i < n; i++)
                of_frame[i] = get(0);
            for (uint64_t i = 0; i < n; i++)
                give_back(of_frame[i], 0);
        }
        for (unsigned i = 0; i < OF_LEVEL; i++)
            give_back(own[i], 0);
    }
}

static void of_scopes_within_scopes_those_that_are_wished_are_taken(void **state)
{
    static const struct {
        enum ab_scopes_wish wish;
        size_t least, most;
    } all[] = {{AB_SCOPES_OUTER, 19, 21}, {AB_SCOPES_NESTED, 3900, 4050}};
    (void)state;
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        write_levels();
        wish = all[i].wish;
        find();
        wish = AB_SCOPES_BEST;
        assert_in_range(scopes.n, all[i].least, all[i].most);
        assert_in_range((int)scopes.outer.count, 19, 21); /* both are offered */
        assert_in_range((int)scopes.nested.count, 3900, 4050);
        assert_in_range(count_spans(12000), 19, 21); /* and so are both taken, */
        assert_in_range(spans.n, 3900, 4050);        /* one in the other */
    }
}

/* A few blocks of each frame are freed in the middle of the next one. */
static void survivors_into_the_next_frame(void **state)
{
    (void)state;
    begin(2);
    uint64_t from_before[6] = {0};
    for (unsigned frame = 0; frame < 250; frame++) {
        uint64_t passed_on[6];
        for (unsigned i = 0; i < 6; i++)
            passed_on[i] = get(0);
        uint64_t own[100];
        for (unsigned i = 0; i < 100; i++)
            own[i] = get(0);
        scope_body(between(40, 60), 0);
        for (unsigned i = 0; i < 6 && frame > 0; i++)
            give_back(from_before[i], 0);
        for (unsigned i = 0; i < 100; i++)
            give_back(own[i], 0);
        memcpy(from_before, passed_on, sizeof passed_on);
        end_scope();
    }
    find();
    assert_int_equal(scopes.from, AB_SCOPES_FOUND);
    assert_in_range(scopes.n, 248, 252);
    assert_in_range(hits(0), 248, 250);
    assert_in_range(count_spans(280), 240, 252); /* from behind what is passed on */
}

/* Two threads with frames of different lengths, call by call in turn: the busier one's are found. */
static void two_threads(void **state)
{
    uint64_t blocks[2][90];
    unsigned n[2] = {0, 0}, length[2] = {70, 90};
    bool is_freeing[2] = {false, false};
    (void)state;
    begin(3);
    for (unsigned i = 0; i < 60000; i++) {
        uint32_t t = i % 3 == 2; /* thread 0 makes two calls of three */
        if (!is_freeing[t])
            blocks[t][n[t]++] = get(t);
        else
            give_back(blocks[t][--n[t]], t);
        if (n[t] == length[t])
            is_freeing[t] = true;
        else if (n[t] == 0) {
            is_freeing[t] = false;
            if (t == 0)
                end_scope();
        }
    }
    find();
    assert_int_equal(scopes.from, AB_SCOPES_FOUND);
    assert_true(scopes.is_of_thread);
    assert_int_equal(scopes.thread, 0);
    assert_ascending();
    assert_in_range(scopes.n, p.n_ends, p.n_ends + 1); /* the last may be nearly over */
    assert_int_equal(hits(0), p.n_ends);
}

/* Another one keeps a few blocks, some of them through the end of a frame: they are none of its. */
static void beside_a_thread_that_allocates_little(void **state)
{
    (void)state;
    begin(6);
    give_back(get(0), 0);
    uint64_t other[4] = {get(1), get(1), get(1), get(1)};
    for (unsigned frame = 0; frame < 100; frame++) {
        uint64_t own[100];
        for (unsigned i = 0; i < 100; i++) {
            own[i] = get(0);
            if (ab_rng_below(&p.rng, 30) > 0)
                continue;
            uint64_t *at = &other[ab_rng_below(&p.rng, 4)];
            give_back(*at, 1);
            *at = get(1);
        }
        for (unsigned i = 0; i < 100; i++)
            give_back(own[i], 0);
        end_scope();
    }
    find();
    assert_int_equal(scopes.from, AB_SCOPES_FOUND);
    assert_true(scopes.is_of_thread);
    assert_int_equal(scopes.thread, 0);
    assert_int_equal(hits(0), 100);
}

/* Threads that work on the same frame. */
static void threads_together(void **state)
{
    (void)state;
    begin(4);
    for (unsigned frame = 0; frame < 100; frame++) {
        uint64_t own[80];
        for (unsigned i = 0; i < 80; i++)
            own[i] = get(i % 4);
        for (unsigned i = 0; i < 80; i++)
            give_back(own[i], i % 3);
        end_scope();
    }
    find();
    assert_int_equal(scopes.from, AB_SCOPES_FOUND);
    assert_false(scopes.is_of_thread);
    assert_int_equal(hits(0), 100);
    assert_int_equal(spans.n, 0); /* no heap has a save point of all threads */
}

/* Blocks that come and go independently of each other, about `live` at once. */
static void churn(uint64_t seed, double live, unsigned n)
{
    begin(seed);
    for (unsigned i = 0; i < n; i++) {
        double rate = (double)p.n_live / live; /* of frees, where one allocation comes */
        if (ab_rng_unit(&p.rng) * (1 + rate) < 1)
            keep(get(0));
        else
            give_back(leave_any(), 0);
    }
    find();
}

static void steady_churn_has_none(void **state)
{
    static const double live[] = {0.5, 1, 2, 3, 4, 5, 6, 8, 12, 20, 50, 300, 3000};
    (void)state;
    for (uint64_t seed = 0; seed < 4; seed++)
        for (size_t i = 0; i < sizeof live / sizeof live[0]; i++) {
            churn(seed, live[i], 60000);
            if (scopes.from != AB_SCOPES_NONE || scopes.n != 0)
                fail_msg("%zu scopes with %g live blocks, seed %llu", scopes.n, live[i],
                         (unsigned long long)seed);
        }
}

static void one_at_a_time_has_none(void **state)
{
    (void)state;
    for (unsigned depth = 1; depth <= 4; depth++) {
        begin(5);
        for (unsigned i = 0; i < 20000; i++) {
            uint64_t own[4];
            for (unsigned k = 0; k < depth; k++)
                own[k] = get(0);
            for (unsigned k = 0; k < depth; k++)
                give_back(own[k], 0);
        }
        find();
        assert_int_equal(scopes.from, AB_SCOPES_NONE);
    }
}

static void what_only_grows_or_ends_has_none(void **state)
{
    (void)state;
    begin(6); /* nothing at all */
    find();
    assert_int_equal(scopes.from, AB_SCOPES_NONE);
    begin(6); /* nothing is freed */
    for (unsigned i = 0; i < 5000; i++)
        get(0);
    find();
    assert_int_equal(scopes.from, AB_SCOPES_NONE);
    begin(6); /* all is freed at the end: one scope is none */
    scope_body(5000, 0);
    find();
    assert_int_equal(scopes.from, AB_SCOPES_NONE);
}

static void mark(const char *name)
{
    struct ab_trace_mark m = {.call = p.n, .thread = AB_MARK_NO_THREAD};
    m.name = ab_mark_know_name(&marks, name);
    ab_mark_add(&marks, m);
}

/* Those that the blocks know of; not the many that cut scopes in two, nor the few around many. */
static void marks_say_where_scopes_end(void **state)
{
    (void)state;
    for (int is_marked = 0; is_marked < 2; is_marked++) {
        begin(7);
        for (unsigned frame = 0; frame < 60; frame++) {
            uint64_t own[50];
            if (is_marked)
                mark("begin"); /* before the first call: no end, but the same scopes after it */
            for (unsigned i = 0; i < 50; i++) {
                own[i] = get(0);
                if (is_marked && i % 20 == 19)
                    mark("half way");
            }
            for (unsigned i = 0; i < 50; i++)
                give_back(own[i], 0);
            end_scope();
            if (is_marked)
                mark("frame");
            if (is_marked && frame % 10 == 5)
                mark("level");
        }
        find();
        assert_int_equal(scopes.from, is_marked ? AB_SCOPES_MARKS : AB_SCOPES_FOUND);
        assert_string_equal(scopes.mark, is_marked ? "frame" : "");
        assert_int_equal(scopes.n, 60);
        assert_int_equal(hits(0), 60);
        assert_int_equal(count_spans(100), 60);
    }
    ab_mark_table_fini(&marks);
}

/* Each level has blocks of its own, which a frame leaves alone; one frame of each leaves a block behind. */
static void marks_of_two_names_are_scopes_within_scopes(void **state)
{
    (void)state;
    begin(7);
    for (unsigned level = 0; level < 30; level++) {
        uint64_t own[40], left = AB_NO_BLOCK;
        for (unsigned i = 0; i < 40; i++)
            own[i] = get(0);
        for (unsigned frame = 0; frame < 5; frame++) {
            if (frame == 2)
                left = get(0);
            scope_body(20, 0);
            mark("frame");
        }
        give_back(left, 0);
        for (unsigned i = 0; i < 40; i++)
            give_back(own[i], 0);
        mark("level");
    }
    find();
    assert_int_equal(scopes.from, AB_SCOPES_MARKS);
    assert_int_equal(spans.n, 30 * (1 + 5));
    assert_int_equal(count_spans(200), 30);
    for (size_t i = 0; i < spans.n; i += 6) {
        uint64_t begin = spans.items[i].begin;
        for (size_t frame = 0; frame < 5; frame++)
            assert_int_equal(spans.items[i + 1 + frame].begin,
                             begin + 40 + 40 * frame + (frame >= 2));
    }
    ab_mark_table_fini(&marks);
}

/* ---- what scopes hold ---- */

static void known_calls_give_known_figures(void **state)
{
    static const struct ab_event calls[] = {
        {.kind = AB_EVENT_ALLOC, .size = 100},               /* block 0 */
        {.kind = AB_EVENT_ALLOC, .size = 50},                /* block 1: 150 bytes live */
        {.kind = AB_EVENT_FREE, .block = 1},                 /* gone, 50 */
        {.kind = AB_EVENT_ALLOC, .size = 30},                /* the second scope; block 2 */
        {.kind = AB_EVENT_FREE, .block = 0},                 /* of the first: not gone in it */
        {.kind = AB_EVENT_RESIZE, .size = 300, .block = 2},  /* 300 bytes live */
        {.kind = AB_EVENT_ALLOC, .size = 7, .failed = true}, /* no allocation */
        {.kind = AB_EVENT_ALLOC, .size = 9, .thread = 1},    /* block 3: 309 live */
        {.kind = AB_EVENT_FREE, .block = 3},                 /* gone */
        {.kind = AB_EVENT_FREE, .block = 2},                 /* gone: 309 */
        {.kind = AB_EVENT_ALLOC, .size = 1000},              /* after the last end; block 4 */
        {.kind = AB_EVENT_FREE, .block = 4},
    };
    uint64_t ends[] = {3, 10};
    struct ab_scopes known = {.ends = ends, .n = 2, .from = AB_SCOPES_MARKS};
    (void)state;
    for (int thread = 0; thread < 2; thread++) { /* all of them; those of thread 0 */
        struct ab_scope_stats stats = {.scopes = &known};
        known.is_of_thread = thread == 1;
        begin(8);
        for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++)
            write_call(calls[i]);
        assert_int_equal(ab_trace_writer_close(p.writer, NULL, &err), AB_OK);
        fclose(p.to);
        struct ab_walk walk = {
            .path = p.path, .end = UINT64_MAX, .visit = ab_scope_stats_visit, .user = &stats};
        assert_int_equal(ab_trace_walk(&walk, NULL, &err), AB_OK);
        assert_int_equal(stats.allocs, thread == 1 ? 4 : 5);
        assert_int_equal(stats.gone, thread == 1 ? 2 : 3);
        assert_int_equal(stats.most_live, thread == 1 ? 300 : 309);
        assert_int_equal(stats.most_gone, thread == 1 ? 300 : 309);
        ab_scope_stats_fini(&stats);
        unlink(p.path);
        free(p.path);
    }
    assert_true(ab_scopes_median_calls(&known) == 5);
}

static void what_is_read_only_once_is_refused(void **state)
{
    (void)state;
    assert_int_equal(ab_scopes_find(&(struct ab_walk){.path = "-"}, AB_SCOPES_BEST, &scopes, &err),
                     AB_USAGE);
    assert_non_null(strstr(err.text, "standard input"));
    int ends[2];
    char path[32];
    assert_int_equal(pipe(ends), 0);
    snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
    assert_int_equal(ab_scopes_find(&(struct ab_walk){.path = path}, AB_SCOPES_BEST, &scopes, &err),
                     AB_USAGE);
    close(ends[0]);
    close(ends[1]);
    assert_int_equal(
        ab_scopes_find(&(struct ab_walk){.path = "/nowhere/x.abt"}, AB_SCOPES_BEST, &scopes, &err),
        AB_INPUT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frames_of_varying_size),
        cmocka_unit_test(nested_requests),
        cmocka_unit_test(of_scopes_within_scopes_those_that_are_wished_are_taken),
        cmocka_unit_test(survivors_into_the_next_frame),
        cmocka_unit_test(two_threads),
        cmocka_unit_test(beside_a_thread_that_allocates_little),
        cmocka_unit_test(threads_together),
        cmocka_unit_test(steady_churn_has_none),
        cmocka_unit_test(one_at_a_time_has_none),
        cmocka_unit_test(what_only_grows_or_ends_has_none),
        cmocka_unit_test(marks_say_where_scopes_end),
        cmocka_unit_test(marks_of_two_names_are_scopes_within_scopes),
        cmocka_unit_test(known_calls_give_known_figures),
        cmocka_unit_test(what_is_read_only_once_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
