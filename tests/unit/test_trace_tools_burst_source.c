/* SPDX-License-Identifier: MIT
 *
 * Bursts laid end to end are the tape that one gets as a whole, in the order of each lane; what is
 * told of them all is what the whole tape tells; and a trace is in bursts only where it must be.
 */
#include "support/cmocka.h"
#include "support/trace.h"
#include "support/trace_mix.h"
#include "trace/format.h"
#include "trace_tools/to_tape.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BURST = 1000 };

static struct ab_err err;
static struct ab_trace_feed_options options = {.tape.touch = AB_TOUCH_PAGE};

static char *mix_file(uint32_t threads, uint32_t n, uint64_t seed)
{
    struct test_mix mix = {.seed = seed, .n = n, .threads = threads, .has_thread_ends = true};
    struct ab_event *records = test_mix_records(&mix);
    size_t n_bytes;
    uint8_t *bytes = test_mix_file(&mix, records, &n_bytes, NULL);
    char *path = test_trace_file(bytes, n_bytes);
    free(bytes);
    free(records);
    return path;
}

static void remove_file(char *path)
{
    unlink(path);
    free(path);
}

static struct ab_trace_feed *open_feed(const char *path, uint32_t burst)
{
    struct ab_trace_feed *feed = NULL;
    options.burst_events = burst;
    options.most_bytes = burst == 0 ? options.most_bytes : 0;
    if (ab_trace_feed_open(path, &options, &feed, &err) != AB_OK)
        fail_msg("%s", err.text);
    return feed;
}

struct stream { /* the requests of one lane, what they mean spelt out */
    uint64_t *words;
    size_t n;
};

static uint64_t meaning(const struct ab_tape *tape, uint64_t op)
{
    const struct ab_wide *w = &tape->wide[AB_OP_SIZE(op)];
    return AB_OP_CODE(op) != AB_CODE_WIDE
               ? op
               : w->size * 31 + w->align * 7 + w->slot * 3 + w->code + w->flags;
}

static void append(struct stream *lanes, const struct ab_tape *tape)
{
    for (uint32_t l = 0; l < tape->facts.lanes; l++)
        for (uint32_t i = tape->lane_begin[l]; i < tape->lane_begin[l + 1]; i++) {
            unsigned code = AB_OP_CODE(tape->ops[i]);
            if (code == AB_CODE_WAIT || code == AB_CODE_PUBLISH)
                continue;
            lanes[l].words = realloc(lanes[l].words, (lanes[l].n + 1) * sizeof(uint64_t));
            lanes[l].words[lanes[l].n++] = meaning(tape, tape->ops[i]);
        }
}

static void compare(struct stream *whole, struct stream *bursts, uint32_t n_lanes)
{
    for (uint32_t l = 0; l < n_lanes; l++) {
        assert_int_equal(whole[l].n, bursts[l].n);
        assert_memory_equal(whole[l].words, bursts[l].words, whole[l].n * sizeof(uint64_t));
        free(whole[l].words);
        free(bursts[l].words);
    }
}

static void compare_totals(const struct ab_trace_feed *feed, const struct ab_tape *tape)
{
    const struct ab_tape *total = &feed->total;
    assert_memory_equal(&total->facts, &tape->facts, sizeof tape->facts);
    assert_int_equal(total->stretch_bytes, tape->stretch_bytes);
    assert_memory_equal(total->phases[0].n_ops, tape->phases[0].n_ops,
                        sizeof tape->phases[0].n_ops);
    assert_int_equal(total->phases[0].n_touches, tape->phases[0].n_touches);
    assert_int_equal(total->phases[0].touched_pages, tape->phases[0].touched_pages);
    assert_int_equal(total->n_slots, tape->n_slots);
    assert_int_equal(total->n_remote, tape->n_remote);
    assert_int_equal(total->live_end_blocks, tape->live_end_blocks);
    assert_int_equal(total->live_end_bytes, tape->live_end_bytes);
}

/* To the end; `lanes` may be NULL. */
static void play(struct ab_trace_feed *feed, struct stream *lanes)
{
    uint32_t n_ops = 0, n_bursts = 0;
    const struct ab_tape *burst;
    for (;;) {
        assert_int_equal(ab_trace_feed_next(feed, &burst, &err), AB_OK);
        if (burst == NULL)
            break;
        n_ops += burst->n_ops;
        n_bursts++;
        if (lanes != NULL)
            append(lanes, burst);
    }
    assert_int_equal(n_ops, feed->total.n_ops);
    assert_int_equal(n_bursts, feed->n_bursts);
}

static void check(uint32_t threads, uint32_t n_lanes)
{
    struct stream whole[AB_LANES_MAX] = {{0}}, bursts[AB_LANES_MAX] = {{0}};
    struct ab_tape tape;
    struct ab_trace_info info;
    char *path = mix_file(threads, 20500, 7 + threads);
    options.tape.n_lanes = n_lanes;
    assert_int_equal(ab_trace_to_tape(path, &options.tape, &tape, &info, &err), AB_OK);
    struct ab_trace_feed *feed = open_feed(path, BURST);
    append(whole, &tape);
    play(feed, bursts);
    assert_int_equal(feed->n_bursts, (info.events + BURST - 1) / BURST);
    assert_memory_equal(&feed->info, &info, sizeof info);
    compare(whole, bursts, tape.facts.lanes);
    compare_totals(feed, &tape);
    ab_trace_feed_close(feed);
    ab_tape_fini(&tape);
    options.tape.n_lanes = 0;
    remove_file(path);
}

static void bursts_are_the_whole_tape_piece_by_piece(void **state)
{
    (void)state;
    check(1, 0);
    check(4, 0);
    check(4, 2);
    check(4, 1);
}

/* As one tape, with the digest of one, where it takes no more than it may. */
static void a_trace_is_in_bursts_only_where_it_is_too_long(void **state)
{
    (void)state;
    char *path = mix_file(2, 20500, 1);
    struct ab_tape tape;
    struct ab_trace_info info;
    const struct ab_tape *burst;
    assert_int_equal(ab_trace_to_tape(path, &options.tape, &tape, &info, &err), AB_OK);
    options.most_bytes = 100 * info.events;
    struct ab_trace_feed *feed = open_feed(path, 0);
    assert_int_equal(ab_trace_feed_next(feed, &burst, &err), AB_OK);
    assert_true(feed->is_over);
    assert_string_equal(burst->sha256, tape.sha256);
    assert_int_equal(ab_trace_feed_next(feed, &burst, &err), AB_OK);
    assert_null(burst);
    assert_int_equal(feed->burst_events, 0);
    assert_string_equal(feed->total.sha256, tape.sha256);
    ab_trace_feed_close(feed);
    options.most_bytes = 8 * 5000;
    feed = open_feed(path, 0);
    play(feed, NULL);
    assert_in_range(feed->n_bursts, 2, 20500 / 2000);
    assert_in_range(feed->burst_events, 2000, 5000 + 4096);
    compare_totals(feed, &tape);
    ab_trace_feed_close(feed);
    ab_tape_fini(&tape);
    remove_file(path);
}

static void same_digest_same_bursts(void **state)
{
    (void)state;
    char *path = mix_file(2, 5000, 3), *other = mix_file(2, 5000, 4);
    struct ab_trace_feed *feeds[] = {open_feed(path, BURST), open_feed(path, BURST),
                                     open_feed(path, 2 * BURST), open_feed(other, BURST)};
    for (unsigned i = 0; i < 4; i++)
        play(feeds[i], NULL);
    assert_string_equal(feeds[0]->total.sha256, feeds[1]->total.sha256);
    assert_string_not_equal(feeds[0]->total.sha256, feeds[2]->total.sha256);
    assert_string_not_equal(feeds[0]->total.sha256, feeds[3]->total.sha256);
    for (unsigned i = 0; i < 4; i++)
        ab_trace_feed_close(feeds[i]);
    remove_file(path);
    remove_file(other);
}

/* The call that fills the last burst is the last call: no empty burst behind it. */
static void bursts_that_the_calls_fill_exactly_leave_none_over(void **state)
{
    (void)state;
    char *path = mix_file(1, 3000, 3);
    struct ab_tape tape;
    struct ab_trace_info info;
    assert_int_equal(ab_trace_to_tape(path, &options.tape, &tape, &info, &err), AB_OK);
    for (uint32_t n = 1; n <= 2; n++) {
        if (info.events % n != 0)
            continue;
        struct ab_trace_feed *feed = open_feed(path, (uint32_t)info.events / n);
        play(feed, NULL);
        assert_int_equal(feed->n_bursts, n);
        ab_trace_feed_close(feed);
    }
    ab_tape_fini(&tape);
    remove_file(path);
}

/* Nor where a part of the trace is wanted and ends with a burst; the iteration that ends with it does. */
static void a_part_that_ends_with_a_burst_has_its_last_iteration(void **state)
{
    (void)state;
    char *path = mix_file(1, 3000, 3);
    uint64_t ends[] = {100, 2 * BURST};
    struct ab_scopes scopes = {.ends = ends, .n = 2, .from = AB_SCOPES_FOUND};
    const struct ab_tape *burst;
    uint32_t n_iterations = 0;
    options.tape.scopes = &scopes;
    options.tape.most_events = 2 * BURST;
    struct ab_trace_feed *feed = open_feed(path, BURST);
    for (uint32_t b = 0; b < 2; b++) {
        assert_int_equal(ab_trace_feed_next(feed, &burst, &err), AB_OK);
        assert_non_null(burst);
        n_iterations += burst->iterations.n;
    }
    assert_int_equal(n_iterations, 2);
    assert_int_equal(feed->info.events, 2 * BURST);
    assert_int_equal(ab_trace_feed_next(feed, &burst, &err), AB_OK);
    assert_null(burst);
    ab_trace_feed_close(feed);
    options.tape.scopes = NULL;
    options.tape.most_events = 0;
    remove_file(path);
}

/* What begins in one burst and ends in the next has no save point, and what is in it has its own. */
static void save_points_end_with_their_burst(void **state)
{
    (void)state;
    enum { CALLS = 2 * BURST };
    char *path = test_trace_file(NULL, 0);
    struct ab_trace_writer *w;
    struct ab_scope_span items[] = {{0, 1500}, {100, 300}, {1200, 1400}, {1600, 1700}};
    const struct ab_scope_spans spans = {.items = items, .n = 4};
    const struct ab_scopes scopes = {.n = 0};
    const struct ab_tape *burst;
    uint64_t number;
    FILE *to = fopen(path, "wb");
    assert_int_equal(ab_trace_writer_open(to, "x", &w, &err), AB_OK);
    for (uint64_t call = 0; call < CALLS; call++) {
        struct ab_event e = {.size = 8};
        if (call % 2 == 1)
            e = (struct ab_event){.kind = AB_EVENT_FREE, .block = call / 2};
        assert_int_equal(ab_trace_write(w, &e, &number, &err), AB_OK);
    }
    assert_int_equal(ab_trace_writer_close(w, NULL, &err), AB_OK);
    fclose(to);
    options.tape.scopes = &scopes;
    options.tape.spans = &spans;
    struct ab_trace_feed *feed = open_feed(path, BURST);
    for (uint32_t b = 1; b <= 2; b++) {
        assert_int_equal(ab_trace_feed_next(feed, &burst, &err), AB_OK);
        assert_int_equal(burst->phases[0].n_ops[AB_OP_RESET], b);
        assert_int_equal(burst->n_ops, BURST + 1 + 2 * b - (b - 1));
    }
    ab_trace_feed_close(feed);
    options.tape.scopes = NULL;
    options.tape.spans = NULL;
    remove_file(path);
}

/* Bursts agree on their lanes, and the worker relies on it. A file that was cut may well end with what
 * looks like an end mark, here that of a trace of one thread. */
static void an_end_mark_that_belongs_to_another_trace_is_found_out(void **state)
{
    (void)state;
    enum { MARK = AB_TRACE_CHUNK_HEADER + AB_TRACE_SUMMARY_BYTES };
    struct test_mix many = {.seed = 5, .n = 70000, .threads = 4},
                    one = {.seed = 6, .n = 100, .threads = 1};
    struct ab_event *records = test_mix_records(&many), *few = test_mix_records(&one);
    size_t n, n_few;
    uint8_t *bytes = test_mix_file(&many, records, &n, NULL);
    uint8_t *mark = test_mix_file(&one, few, &n_few, NULL);
    memcpy(bytes + n - 2 * MARK, mark + n_few - MARK, MARK); /* within the last block of events */
    char *path = test_trace_file(bytes, n - MARK);
    options.tape.is_partial = true;
    struct ab_trace_feed *feed = open_feed(path, BURST);
    const struct ab_tape *burst;
    enum ab_status status = AB_OK;
    do
        status = ab_trace_feed_next(feed, &burst, &err);
    while (status == AB_OK && burst != NULL);
    options.tape.is_partial = false;
    assert_int_equal(status, AB_INPUT);
    ab_trace_feed_close(feed);
    remove_file(path);
    free(bytes);
    free(mark);
    free(records);
    free(few);
}

static void a_lane_of_a_thread_that_ended_is_free_for_the_next(void **state)
{
    (void)state;
    struct ab_trace_lanes lanes;
    struct ab_event e = {.kind = AB_EVENT_ALLOC};
    ab_trace_lanes_init(&lanes, 3);
    for (uint32_t thread = 0; thread < 10000; thread++) {
        uint32_t lane = UINT32_MAX;
        e = (struct ab_event){.kind = AB_EVENT_ALLOC, .thread = thread};
        lane = ab_trace_lanes_find(&lanes, &e);
        assert_int_equal(lane, thread % 2);
        if (thread > 0) {
            e = (struct ab_event){.kind = AB_EVENT_THREAD_END, .thread = thread - 1};
            lane = ab_trace_lanes_find(&lanes, &e);
        }
    }
    assert_int_equal(lanes.n, 2);
    ab_trace_lanes_fini(&lanes);
}

static void threads_beyond_the_lanes_share_them(void **state)
{
    (void)state;
    struct ab_trace_lanes lanes;
    uint32_t lane;
    ab_trace_lanes_init(&lanes, 2);
    for (uint32_t thread = 0; thread < 9; thread++) {
        struct ab_event e = {.kind = AB_EVENT_FREE, .thread = thread};
        lane = ab_trace_lanes_find(&lanes, &e);
        assert_int_equal(lane, thread % 2);
    }
    ab_trace_lanes_fini(&lanes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bursts_are_the_whole_tape_piece_by_piece),
        cmocka_unit_test(a_trace_is_in_bursts_only_where_it_is_too_long),
        cmocka_unit_test(same_digest_same_bursts),
        cmocka_unit_test(an_end_mark_that_belongs_to_another_trace_is_found_out),
        cmocka_unit_test(bursts_that_the_calls_fill_exactly_leave_none_over),
        cmocka_unit_test(a_part_that_ends_with_a_burst_has_its_last_iteration),
        cmocka_unit_test(save_points_end_with_their_burst),
        cmocka_unit_test(a_lane_of_a_thread_that_ended_is_free_for_the_next),
        cmocka_unit_test(threads_beyond_the_lanes_share_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
