/* SPDX-License-Identifier: MIT
 *
 * Bursts laid end to end are the tape that one gets as a whole, in the order of each lane; what is
 * told of them all is what the whole tape tells; and a file that changes is found out.
 */
#include "support/cmocka.h"
#include "support/trace.h"
#include "support/trace_mix.h"
#include "trace/feed.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BURST = 1000 };

static struct ab_err err;
static struct ab_trace_tape_options options = {.touch = AB_TOUCH_PAGE};

static char *mix_file(uint32_t threads, uint32_t n, uint64_t seed)
{
    struct test_mix mix = {.seed = seed, .n = n, .threads = threads, .has_thread_ends = true};
    struct ab_trace_record *records = test_mix_records(&mix);
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
    struct ab_trace_info info;
    if (ab_trace_feed_open(path, &options, burst, 0, &feed, &info, &err) != AB_OK)
        fail_msg("%s", err.text);
    assert_non_null(feed);
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
    assert_memory_equal(total->phases[0].n_ops, tape->phases[0].n_ops,
                        sizeof tape->phases[0].n_ops);
    assert_int_equal(total->phases[0].n_touches, tape->phases[0].n_touches);
    assert_int_equal(total->phases[0].touched_pages, tape->phases[0].touched_pages);
    assert_int_equal(total->n_slots, tape->n_slots);
    assert_int_equal(total->n_remote, tape->n_remote);
    assert_int_equal(total->window, tape->window);
    assert_int_equal(total->live_end_blocks, tape->live_end_blocks);
    assert_int_equal(total->live_end_bytes, tape->live_end_bytes);
}

/* Twice: a run begins where none has been. */
static void play(struct ab_trace_feed *feed, struct stream *lanes)
{
    uint32_t n_ops = 0;
    assert_int_equal(ab_trace_feed_rewind(feed, &err), AB_OK);
    for (uint32_t i = 0; i < feed->n_bursts; i++) {
        const struct ab_tape *burst;
        assert_int_equal(ab_trace_feed_next(feed, &burst, &err), AB_OK);
        assert_true(burst->n_ops <= feed->most_ops && burst->n_wide <= feed->most_wide &&
                    burst->n_turns <= feed->most_turns);
        n_ops += burst->n_ops;
        if (lanes != NULL)
            append(lanes, burst);
    }
    assert_int_equal(n_ops, feed->total.n_ops);
}

static void check(uint32_t threads, uint32_t n_lanes)
{
    struct stream whole[AB_LANES_MAX] = {{0}}, bursts[AB_LANES_MAX] = {{0}};
    struct ab_tape tape;
    struct ab_trace_info info;
    char *path = mix_file(threads, 20500, 7 + threads);
    options.n_lanes = n_lanes;
    assert_int_equal(ab_trace_to_tape(path, &options, &tape, &info, &err), AB_OK);
    struct ab_trace_feed *feed = open_feed(path, BURST);
    assert_int_equal(feed->n_bursts, (info.events + BURST - 1) / BURST);
    append(whole, &tape);
    play(feed, NULL);
    play(feed, bursts);
    compare(whole, bursts, tape.facts.lanes);
    compare_totals(feed, &tape);
    ab_trace_feed_close(feed);
    ab_tape_fini(&tape);
    options.n_lanes = 0;
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

static void a_short_trace_is_taken_whole(void **state)
{
    (void)state;
    char *path = mix_file(1, 500, 1);
    struct ab_trace_feed *feed = (struct ab_trace_feed *)path;
    struct ab_trace_info info;
    assert_int_equal(ab_trace_feed_open(path, &options, BURST, 500, &feed, &info, &err), AB_OK);
    assert_null(feed);
    assert_in_range(info.events, 400, 500);
    remove_file(path);
}

static void same_digest_same_bursts(void **state)
{
    (void)state;
    char *path = mix_file(2, 5000, 3), *other = mix_file(2, 5000, 4);
    struct ab_trace_feed *a = open_feed(path, BURST), *b = open_feed(path, BURST),
                         *c = open_feed(path, 2 * BURST), *d = open_feed(other, BURST);
    assert_string_equal(a->total.sha256, b->total.sha256);
    assert_string_not_equal(a->total.sha256, c->total.sha256);
    assert_string_not_equal(a->total.sha256, d->total.sha256);
    ab_trace_feed_close(a);
    ab_trace_feed_close(b);
    ab_trace_feed_close(c);
    ab_trace_feed_close(d);
    remove_file(path);
    remove_file(other);
}

/* As long as the other and sound, but not what was surveyed: slots could be beyond the run's. */
static void a_trace_that_is_another_by_now_is_refused(void **state)
{
    (void)state;
    char *path = mix_file(2, 5000, 3), *other = mix_file(2, 5000, 4);
    struct ab_trace_feed *feed = open_feed(path, BURST);
    const struct ab_tape *burst;
    assert_int_equal(rename(other, path), 0);
    assert_int_equal(ab_trace_feed_rewind(feed, &err), AB_OK);
    assert_int_equal(ab_trace_feed_next(feed, &burst, &err), AB_INPUT);
    assert_non_null(strstr(err.text, "changed while it was replayed"));
    ab_trace_feed_close(feed);
    free(other);
    remove_file(path);
}

static void beyond_the_last_burst_there_is_none(void **state)
{
    (void)state;
    char *path = mix_file(1, 1500, 3);
    struct ab_trace_feed *feed = open_feed(path, BURST);
    const struct ab_tape *burst;
    play(feed, NULL);
    assert_int_not_equal(ab_trace_feed_next(feed, &burst, &err), AB_OK);
    ab_trace_feed_close(feed);
    remove_file(path);
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
        assert_true(ab_trace_lanes_find(&lanes, &e, &lane));
        assert_int_equal(lane, thread % 2);
        if (thread > 0) {
            e = (struct ab_event){.kind = AB_EVENT_THREAD_END, .thread = thread - 1};
            assert_true(ab_trace_lanes_find(&lanes, &e, &lane));
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
        assert_true(ab_trace_lanes_find(&lanes, &e, &lane));
        assert_int_equal(lane, thread % 2);
    }
    ab_trace_lanes_fini(&lanes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bursts_are_the_whole_tape_piece_by_piece),
        cmocka_unit_test(a_short_trace_is_taken_whole),
        cmocka_unit_test(same_digest_same_bursts),
        cmocka_unit_test(a_trace_that_is_another_by_now_is_refused),
        cmocka_unit_test(beyond_the_last_burst_there_is_none),
        cmocka_unit_test(a_lane_of_a_thread_that_ended_is_free_for_the_next),
        cmocka_unit_test(threads_beyond_the_lanes_share_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
