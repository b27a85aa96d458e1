/* SPDX-License-Identifier: MIT
 *
 * Spools made by hand: what becomes of every kind of event, of threads whose stamps contradict each
 * other, of cut-off streams, of damage. What a real recorder writes is tested in
 * tests/cli/record.bats.
 * tests: converter.c converter_trace.c
 */
#include "record/convert.h"

#include "record/preload/spool_codec.h"
#include "support/cmocka.h"
#include "support/trace.h"
#include "trace_tools/walk.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PID = 4711 };
static char folder[] = "/tmp/test-record-convert-XXXXXX";
static char trace_path[64];
static struct ab_convert_report report;
static struct ab_err err;

/* Calls are written as far as they differ from nothing. */
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
struct call {
    enum ab_spool_kind kind;
    uint64_t stamp, address, size;
    unsigned log2;
};

static int create(const char *suffix)
{
    char name[128];
    snprintf(name, sizeof name, "%s/%d.0%s", folder, PID, suffix);
    int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_true(fd >= 0);
    return fd;
}

static void put(int fd, const void *bytes, size_t n, uint64_t at)
{
    assert_int_equal(pwrite(fd, bytes, n, (off_t)at), (ssize_t)n);
}

/* A slot whose stream is short enough for the mapped halves. `claimed`: what its head says. */
static void write_slot(unsigned slot, const struct call *calls, size_t n, uint64_t claimed)
{
    static struct ab_spool_event half[AB_SPOOL_HALF / sizeof(struct ab_spool_event)];
    struct ab_spool_tail tail = {.magic = AB_SPOOL_MAGIC,
                                 .slot = slot,
                                 .n_events = claimed,
                                 .half_number = {1, 0},
                                 .turn_ticks = 1000};
    char suffix[16], page[AB_SPOOL_DATA] = {0};
    snprintf(suffix, sizeof suffix, ".%u", slot);
    int fd = create(suffix);
    memset(half, 0, sizeof half);
    for (size_t i = 0; i < n; i++)
        half[i] = (struct ab_spool_event){calls[i].stamp << 4 | calls[i].kind,
                                          calls[i].address | (uint64_t)calls[i].log2 << 58,
                                          calls[i].size};
    put(fd, page, sizeof page, 0);
    put(fd, &tail, sizeof tail, 0);
    put(fd, half, sizeof half, AB_SPOOL_TAIL);
    close(fd);
}

static void write_image(uint32_t n_slots)
{
    struct ab_spool_image image = {.magic = AB_SPOOL_MAGIC,
                                   .pid = PID,
                                   .n_slots = n_slots,
                                   .trial_ticks = 20 * AB_SPOOL_TRIALS,
                                   .bare_ticks = 3 * AB_SPOOL_TRIALS,
                                   .program = "prog"};
    int fd = create("");
    put(fd, &image, sizeof image, 0);
    close(fd);
}

static void remove_all(uint32_t n_slots)
{
    char name[128];
    snprintf(name, sizeof name, "%s/%d.0", folder, PID);
    unlink(name);
    for (uint32_t i = 0; i < n_slots; i++) {
        snprintf(name, sizeof name, "%s/%d.0.%u", folder, PID, i);
        unlink(name);
    }
}

static enum ab_status convert_entry(const struct ab_spool_entry *images, size_t n, size_t i,
                                    FILE *to)
{
    struct ab_forks *family = ab_forks_open(folder, images, n);
    enum ab_status status = ab_convert(family, &images[i], to, &report, NULL, NULL, &err);
    ab_forks_close(family);
    return status;
}

/* Converts what was written; the trace it gives is read back whole. */
static enum ab_status convert(uint32_t n_slots)
{
    struct ab_spool_entry *images = NULL;
    size_t n = 0;
    write_image(n_slots);
    assert_int_equal(ab_spool_list(folder, &images, &n, &err), AB_OK);
    assert_int_equal(n, 1);
    FILE *to = fopen(trace_path, "w");
    assert_non_null(to);
    enum ab_status status = convert_entry(images, n, 0, to);
    fclose(to);
    free(images);
    remove_all(n_slots);
    if (status == AB_OK && report.info.events > 0) {
        struct ab_trace_info info;
        uint64_t n_read;
        assert_int_equal(test_trace_read(trace_path, &n_read, &info, &err), AB_OK);
        assert_int_equal(n_read, report.info.events);
        assert_int_equal(info.threads, report.n_threads);
    }
    return status;
}

#define SLOT(slot, ...) \
    write_slot(slot, (const struct call[]){__VA_ARGS__}, \
               sizeof((const struct call[]){__VA_ARGS__}) / sizeof(struct call), \
               sizeof((const struct call[]){__VA_ARGS__}) / sizeof(struct call))

static void each_kind_becomes_one_call(void **state)
{
    (void)state;
    SLOT(0, {AB_SPOOL_BIRTH, 1, PID}, {AB_SPOOL_ALLOC, 2, 0x1000, 10},
         {AB_SPOOL_ZEROED, 3, 0x2000, 20}, {AB_SPOOL_ALIGNED, 4, 0x3000, 30, 12},
         {AB_SPOOL_RESIZE_BEGIN, 5, 0x1000, 100}, {AB_SPOOL_RESIZE_END, 6, 0x9000, 100},
         {AB_SPOOL_FREE, 7, 0x9000}, {AB_SPOOL_FREE, 8, 0x2000});
    assert_int_equal(convert(1), AB_OK);
    const struct ab_trace_info *i = &report.info;
    for (unsigned k = 0; k < AB_EVENT_FREE; k++)
        assert_int_equal(i->ops[k], 1);
    assert_int_equal(i->ops[AB_EVENT_FREE], 2);
    assert_int_equal(i->live_peak_bytes, 150);
    assert_int_equal(i->live_end_blocks, 1);
    assert_int_equal(i->live_end_bytes, 30);
    assert_string_equal(i->program, "prog");
    assert_int_equal(report.n_foreign + report.n_reused + report.n_unfinished, 0);
    assert_int_equal(report.n_repairs, 0);
}

static void a_failed_resize_leaves_its_block_alive(void **state)
{
    (void)state;
    SLOT(0, {AB_SPOOL_ALLOC, 1, 0x1000, 10}, {AB_SPOOL_RESIZE_BEGIN, 2, 0x1000, UINT64_MAX},
         {AB_SPOOL_RESIZE_END, 3, 0, UINT64_MAX}, {AB_SPOOL_ALLOC, 4, 0, UINT64_MAX},
         {AB_SPOOL_FREE, 5, 0x1000});
    assert_int_equal(convert(1), AB_OK);
    assert_int_equal(report.info.failed, 2);
    assert_int_equal(report.info.events, 4);
    assert_int_equal(report.info.live_end_blocks, 0);
    assert_int_equal(report.n_foreign, 0);
}

static void a_resize_to_nothing_ends_its_block(void **state)
{
    (void)state;
    SLOT(0, {AB_SPOOL_ALLOC, 1, 0x1000, 10}, {AB_SPOOL_RESIZE_BEGIN, 2, 0x1000},
         {AB_SPOOL_RESIZE_END, 3, 0}, {AB_SPOOL_ALLOC, 4, 0x1000, 10});
    assert_int_equal(convert(1), AB_OK);
    assert_int_equal(report.info.ops[AB_EVENT_RESIZE], 1);
    assert_int_equal(report.info.live_end_blocks, 1);
    assert_int_equal(report.n_reused, 0);
}

/* Another thread, or a signal handler, that takes the address which a resize has just given up. */
static void an_address_given_up_by_a_resize_may_be_taken_within_it(void **state)
{
    (void)state;
    {
        SLOT(0, {AB_SPOOL_ALLOC, 1, 0x1000, 10}, {AB_SPOOL_RESIZE_BEGIN, 2, 0x1000, 50},
             {AB_SPOOL_RESIZE_END, 4, 0x2000, 50}, {AB_SPOOL_FREE, 6, 0x2000});
        SLOT(1, {AB_SPOOL_ALLOC, 3, 0x1000, 7}, {AB_SPOOL_FREE, 5, 0x1000});
        assert_int_equal(convert(2), AB_OK);
        assert_int_equal(report.info.events, 5);
        assert_int_equal(report.info.threads, 2);
        assert_int_equal(report.info.live_end_blocks, 0);
        assert_int_equal(report.n_reused + report.n_foreign + report.n_repairs, 0);
    }
}

static void threads_are_put_into_the_order_of_their_stamps(void **state)
{
    (void)state;
    SLOT(0, {AB_SPOOL_BIRTH, 1, 1}, {AB_SPOOL_ALLOC, 10, 0x1000, 1}, {AB_SPOOL_FREE, 40, 0x2000});
    SLOT(1, {AB_SPOOL_BIRTH, 2, 2}, {AB_SPOOL_FREE, 20, 0x1000}, {AB_SPOOL_ALLOC, 30, 0x2000, 1});
    assert_int_equal(convert(2), AB_OK);
    assert_int_equal(report.info.events, 4);
    assert_int_equal(report.info.live_peak_blocks, 1);
    assert_int_equal(report.info.live_end_blocks, 0);
    assert_int_equal(report.n_repairs + report.n_foreign + report.n_reused, 0);
}

static void a_free_that_seems_to_come_before_its_alloc_waits_for_it(void **state)
{
    (void)state;
    SLOT(0, {AB_SPOOL_ALLOC, 100, 0x1000, 1}, {AB_SPOOL_ALLOC, 300, 0x3000, 1});
    SLOT(1, {AB_SPOOL_FREE, 93, 0x1000}, {AB_SPOOL_ALLOC, 94, 0x4000, 1});
    assert_int_equal(convert(2), AB_OK);
    assert_int_equal(report.info.events, 4);
    assert_int_equal(report.n_repairs, 1);
    assert_int_equal(report.repair_ticks_max, 7);
    assert_int_equal(report.n_foreign, 0);
}

static void an_alloc_of_what_still_lives_waits_for_the_free(void **state)
{
    (void)state;
    SLOT(0, {AB_SPOOL_ALLOC, 1, 0x1000, 1}, {AB_SPOOL_FREE, 50, 0x1000});
    SLOT(1, {AB_SPOOL_ALLOC, 45, 0x1000, 2}, {AB_SPOOL_FREE, 60, 0x1000});
    assert_int_equal(convert(2), AB_OK);
    assert_int_equal(report.info.events, 4);
    assert_int_equal(report.info.live_peak_blocks, 1);
    assert_int_equal(report.n_repairs, 1);
    assert_int_equal(report.n_reused, 0);
}

static void a_repair_has_a_limit(void **state)
{
    (void)state;
    SLOT(0, {AB_SPOOL_ALLOC, 10 + 3 * AB_REPAIR_TICKS, 0x1000, 1});
    SLOT(1, {AB_SPOOL_FREE, 10, 0x1000}, {AB_SPOOL_ALLOC, 20, 0x5000, 1});
    assert_int_equal(convert(2), AB_OK);
    assert_int_equal(report.n_repairs, 0);
    assert_int_equal(report.n_foreign, 1);
    assert_int_equal(report.info.live_end_blocks, 2);
}

static void threads_that_wait_for_each_other_are_let_go(void **state)
{
    (void)state;
    SLOT(0, {AB_SPOOL_FREE, 10, 0x1000}, {AB_SPOOL_ALLOC, 11, 0x2000, 1});
    SLOT(1, {AB_SPOOL_FREE, 12, 0x2000}, {AB_SPOOL_ALLOC, 13, 0x1000, 1});
    assert_int_equal(convert(2), AB_OK);
    assert_int_equal(report.n_foreign, 1); /* the earlier one; the other's alloc comes then */
    assert_int_equal(report.info.events, 3);
}

static void a_thread_that_takes_over_a_slot_is_another_thread(void **state)
{
    (void)state;
    SLOT(0, {AB_SPOOL_BIRTH, 1, 100}, {AB_SPOOL_ALLOC, 2, 0x1000, 1},
         {AB_SPOOL_RESIZE_BEGIN, 3, 0x1000, 5}, {AB_SPOOL_BIRTH, 4, 101},
         {AB_SPOOL_ALLOC, 5, 0x2000, 1}, {AB_SPOOL_BIRTH, 6, 102}, {AB_SPOOL_BIRTH, 7, 103},
         {AB_SPOOL_FREE, 8, 0x2000});
    assert_int_equal(convert(1), AB_OK);
    assert_int_equal(report.info.threads, 3); /* 102 did nothing */
    assert_int_equal(report.n_unfinished, 1); /* the resize that 100 did not live to see */
}

static char sequence[64]; /* of a trace: threads, with an 'e' those that end */

static enum ab_status add_to_sequence(void *user, const struct ab_walk_batch *batch,
                                      struct ab_err *error)
{
    (void)user, (void)error;
    for (size_t i = 0; i < batch->n; i++) {
        size_t n = strlen(sequence);
        snprintf(sequence + n, sizeof sequence - n, "%s%u",
                 batch->events[i].kind == AB_EVENT_THREAD_END ? "e" : "", batch->events[i].thread);
    }
    return AB_OK;
}

static void expect_sequence(const char *expected)
{
    struct ab_trace_info info;
    struct ab_walk walk = {
        .path = trace_path, .has_thread_ends = true, .end = UINT64_MAX, .visit = add_to_sequence};
    sequence[0] = 0;
    assert_int_equal(ab_trace_walk(&walk, &info, &err), AB_OK);
    assert_string_equal(sequence, expected);
}

#define EXIT(stamp) \
    { \
        AB_SPOOL_ASIDE, stamp, 0, 0, AB_SPOOL_EXIT \
    }

static void a_thread_ends_with_its_last_event(void **state)
{
    (void)state;
    SLOT(0, {AB_SPOOL_BIRTH, 1, PID}, {AB_SPOOL_ALLOC, 2, 0x1000, 1},
         {AB_SPOOL_ALLOC, 50, 0x2000, 1}, {AB_SPOOL_FREE, 70, 0x2000}, {AB_SPOOL_FREE, 90, 0x1000});
    /* One frees when its end was noted, one did nothing, and the last is the last of its place. */
    SLOT(1, {AB_SPOOL_BIRTH, 10, 100}, {AB_SPOOL_ALLOC, 11, 0x3000, 1}, EXIT(40),
         {AB_SPOOL_FREE, 60, 0x3000}, {AB_SPOOL_BIRTH, 80, 101}, EXIT(81),
         {AB_SPOOL_BIRTH, 82, 102}, {AB_SPOOL_ALLOC, 83, 0x4000, 1}, {AB_SPOOL_FREE, 84, 0x4000},
         EXIT(85));
    assert_int_equal(convert(2), AB_OK);
    expect_sequence("0101e1022e20");
    assert_int_equal(report.info.threads, 3);
}

static void what_was_cut_off_is_counted_and_left_out(void **state)
{
    (void)state;
    SLOT(0, {AB_SPOOL_ALLOC, 1, 0x1000, 10}, {AB_SPOOL_RESIZE_BEGIN, 2, 0x1000, 50},
         {AB_SPOOL_NOTHING}); /* the end of this resize */
    SLOT(1, {AB_SPOOL_RESIZE_BEGIN, 2, 0x2000, 50});
    SLOT(2, {AB_SPOOL_NOTHING});
    assert_int_equal(convert(3), AB_OK);
    assert_int_equal(report.info.events, 1);
    assert_int_equal(report.n_unfinished, 3);
    assert_int_equal(report.info.live_end_blocks, 1);
}

static void a_block_that_nobody_gave_out_is_counted_and_left_out(void **state)
{
    (void)state;
    SLOT(0, {AB_SPOOL_ALLOC, 1, 0x1000, 10}, {AB_SPOOL_FREE, 2, 0x7000},
         {AB_SPOOL_RESIZE_BEGIN, 3, 0x8000, 50}, {AB_SPOOL_RESIZE_END, 4, 0x8000, 50});
    assert_int_equal(convert(1), AB_OK);
    assert_int_equal(report.info.events, 1);
    assert_int_equal(report.n_foreign, 2);
}

static void a_second_way_to_free_is_noticed(void **state)
{
    (void)state;
    SLOT(0, {AB_SPOOL_ALLOC, 1, 0x1000, 10}, {AB_SPOOL_ALLOC, 2, 0x1000, 20});
    assert_int_equal(convert(1), AB_OK);
    assert_int_equal(report.n_reused, 1);
    assert_int_equal(report.info.live_end_bytes, 20);
}

static void expect_short(uint64_t n_events, const char *damage)
{
    assert_int_equal(convert(1), AB_OK);
    assert_int_equal(report.info.events, n_events);
    assert_true(report.is_short);
    if (strstr(report.damage, damage) == NULL)
        fail_msg("no \"%s\" in \"%s\"", damage, report.damage);
}

static void damage_ends_the_trace_with_what_came_before(void **state)
{
    (void)state;
    SLOT(0, {AB_SPOOL_ALLOC, 1, 0x1000, 1}, {(enum ab_spool_kind)15, 2, 0x2000},
         {AB_SPOOL_ALLOC, 3, 0x3000, 1});
    expect_short(1, "unknown kind 15");
    SLOT(0, {AB_SPOOL_ALLOC, 1, 0x1000, 1}, {AB_SPOOL_RESIZE_END, 2, 0x1000, 1});
    expect_short(1, "a resize that never began");
    SLOT(0, {AB_SPOOL_ALLOC, 1, 0x1000, 1}, {AB_SPOOL_ALLOC, 2, 0x2000, UINT64_MAX});
    expect_short(1, "over 2^63");
    SLOT(0, {(enum ab_spool_kind)15, 1, 0x1000});
    expect_short(0, "unknown kind 15");
    SLOT(0, {AB_SPOOL_ALLOC, 1, 0x1000, 1});
    assert_int_equal(convert(1), AB_OK);
    assert_false(report.is_short);
}

static void a_process_without_a_call_is_no_error(void **state)
{
    (void)state;
    SLOT(0, {AB_SPOOL_FREE, 1, 0x1000});
    assert_int_equal(convert(1), AB_OK);
    assert_int_equal(report.info.events, 0);
    assert_int_equal(report.n_foreign, 1);
    assert_int_equal(convert(0), AB_OK);
    assert_int_equal(report.info.events, 0);
}

/* A head says more than its file holds: recording had to stop, or it is damaged. */
static void places_beyond_the_file_are_not_read(void **state)
{
    (void)state;
    const struct call call = {AB_SPOOL_ALLOC, 1, 0x1000, 1};
    write_slot(0, &call, 1, UINT64_MAX);
    assert_int_equal(convert(1), AB_OK);
    assert_int_equal(report.info.events, 1);
    assert_true(report.n_unfinished > 0);
}

static void what_was_noted_to_be_timed_is_no_call(void **state)
{
    (void)state;
    SLOT(0, {AB_SPOOL_BIRTH, 0, 100}, {AB_SPOOL_TRIAL, 0}, {AB_SPOOL_TRIAL, 0},
         {AB_SPOOL_ALLOC, 50, 0x1000, 1}, {AB_SPOOL_FREE, 90, 0x1000});
    assert_int_equal(convert(1), AB_OK);
    assert_int_equal(report.info.events, 2);
    assert_int_equal(report.info.threads, 1);
    assert_int_equal(report.n_unfinished + report.n_foreign, 0);
}

/* Every event has its price, also of those that two make one call of, or none. */
static void the_cost_is_that_of_all_events_and_of_full_halves(void **state)
{
    (void)state;
    SLOT(0, {AB_SPOOL_BIRTH, 0, 100}, {AB_SPOOL_ALLOC, 50, 0x1000, 1},
         {AB_SPOOL_RESIZE_BEGIN, 60, 0x1000, 2}, {AB_SPOOL_RESIZE_END, 70, 0x2000, 2});
    SLOT(1, {AB_SPOOL_BIRTH, 0, 101}, {AB_SPOOL_ALLOC, 80, 0x3000, 1}, {AB_SPOOL_FREE, 90, 0x3000});
    assert_int_equal(convert(2), AB_OK);
    assert_int_equal((int)report.noting_ticks, 7 * 20);
    assert_int_equal(report.turn_ticks, 2000);
    assert_int_equal(report.span_ticks, 40);
}

/* While there is one thread all events carry one stamp: the price of those is another. */
static void events_without_a_clock_of_their_own_cost_less(void **state)
{
    (void)state;
    SLOT(0, {AB_SPOOL_BIRTH, 0, 100}, {AB_SPOOL_ALLOC, 50, 0x1000, 1}, {AB_SPOOL_FREE, 50, 0x1000},
         {AB_SPOOL_ALLOC, 50, 0x1000, 1}, {AB_SPOOL_FREE, 60, 0x1000});
    assert_int_equal(convert(1), AB_OK);
    assert_int_equal((int)report.noting_ticks, 3 * 20 + 2 * 3);
}

/* A thread's birth is noted when its first call is over: that call's place is its own. */
static void a_birth_takes_no_part_in_the_order(void **state)
{
    (void)state;
    SLOT(0, {AB_SPOOL_BIRTH, 0, 100}, {AB_SPOOL_ALLOC, 10, 0x1000, 1}, {AB_SPOOL_BIRTH, 0, 102},
         {AB_SPOOL_ALLOC, 30, 0x1000, 1});
    SLOT(1, {AB_SPOOL_BIRTH, 0, 101}, {AB_SPOOL_FREE, 20, 0x1000}, {AB_SPOOL_FREE, 40, 0x1000});
    assert_int_equal(convert(2), AB_OK);
    assert_int_equal(report.info.events, 4);
    assert_int_equal(report.info.threads, 3);
    assert_int_equal(report.n_repairs + report.n_foreign + report.n_reused, 0);
}

/* Killed while a half that is packed was being emptied for the next: the head no longer names it,
 * and what is left of it in memory does not count. */
static void a_half_that_was_being_emptied_is_read_where_it_is_packed(void **state)
{
    (void)state;
    static struct ab_spool_event half[AB_SPOOL_HALF_EVENTS];
    static uint64_t words[4 * AB_SPOOL_HALF_EVENTS];
    char page[AB_SPOOL_DATA] = {0};
    for (uint64_t i = 0; i < AB_SPOOL_HALF_EVENTS; i++)
        half[i] = (struct ab_spool_event){(i + 1) << 4 | AB_SPOOL_ALLOC, 0x1000 * (i + 1), 8};
    size_t n = ab_half_pack(half, AB_SPOOL_HALF_EVENTS, words, sizeof words / sizeof words[0]);
    struct ab_spool_chunk chunk = {0, 8 * n};
    struct ab_spool_tail tail = {.magic = AB_SPOOL_MAGIC,
                                 .half_number = {0, 2},
                                 .n_events = 2 * AB_SPOOL_HALF_EVENTS + 1,
                                 .pack_bytes = sizeof chunk + chunk.bytes};
    int fd = create(".0");
    put(fd, page, sizeof page, 0);
    put(fd, &tail, sizeof tail, 0);
    put(fd, &chunk, sizeof chunk, AB_SPOOL_PACK);
    put(fd, words, chunk.bytes, AB_SPOOL_PACK + sizeof chunk);
    for (uint64_t i = 0; i < AB_SPOOL_HALF_EVENTS; i++)
        half[i].stamp_kind = (AB_SPOOL_HALF_EVENTS + i + 1) << 4 | AB_SPOOL_FREE;
    put(fd, half, sizeof half, AB_SPOOL_TAIL + AB_SPOOL_HALF);
    close(fd);
    assert_int_equal(convert(1), AB_OK);
    assert_int_equal(report.info.events, 2 * AB_SPOOL_HALF_EVENTS);
    assert_int_equal(report.info.live_end_blocks, 0);
    assert_int_equal(report.n_unfinished, 1); /* the call that needed the half */
}

static void a_slot_without_a_file_is_empty(void **state)
{
    (void)state;
    SLOT(0, {AB_SPOOL_ALLOC, 1, 0x1000, 1});
    assert_int_equal(convert(3), AB_OK);
    assert_int_equal(report.info.events, 1);
}

static void overwrite(const char *name, const void *bytes, size_t n, uint64_t at)
{
    int fd = open(name, O_WRONLY);
    assert_true(fd >= 0);
    put(fd, bytes, n, at);
    close(fd);
}

/* One byte of a file is another: whatever comes of it, it is a status. */
static void damage_each(const char *suffix, uint64_t begin, uint64_t end)
{
    char name[128];
    struct ab_spool_entry *images = NULL;
    size_t n = 0;
    snprintf(name, sizeof name, "%s/%d.0%s", folder, PID, suffix);
    for (uint64_t at = begin; at < end; at++) {
        uint8_t damaged = (uint8_t)(at % 2 == 0 ? 0xff : 0x10), was;
        int fd = open(name, O_RDONLY);
        assert_int_equal(pread(fd, &was, 1, (off_t)at), 1);
        close(fd);
        overwrite(name, &damaged, 1, at);
        assert_int_equal(ab_spool_list(folder, &images, &n, &err), AB_OK);
        if (n > 0) {
            FILE *to = fopen(trace_path, "w");
            assert_non_null(to);
            enum ab_status status = convert_entry(images, n, 0, to);
            assert_true(status == AB_OK || status == AB_INPUT || status == AB_SYSTEM);
            fclose(to);
        }
        free(images);
        images = NULL;
        overwrite(name, &was, 1, at);
    }
}

static void no_byte_of_a_spool_can_do_harm(void **state)
{
    (void)state;
    SLOT(0, {AB_SPOOL_BIRTH, 0, 100}, {AB_SPOOL_ALLOC, 1, 0x1000, 10},
         {AB_SPOOL_ALIGNED, 4, 0x3000, 30, 12}, {AB_SPOOL_RESIZE_BEGIN, 5, 0x1000, 100},
         {AB_SPOOL_RESIZE_END, 6, 0x9000, 100}, {AB_SPOOL_FREE, 7, 0x9000});
    SLOT(1, {AB_SPOOL_FREE, 8, 0x3000});
    write_image(2);
    damage_each("", 0, offsetof(struct ab_spool_image, program) + 8);
    damage_each("", sizeof(struct ab_spool_image) - 4, sizeof(struct ab_spool_image));
    damage_each(".0", 0, sizeof(struct ab_spool_tail));
    damage_each(".0", AB_SPOOL_TAIL, AB_SPOOL_TAIL + 7 * sizeof(struct ab_spool_event));
    remove_all(2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_kind_becomes_one_call),
        cmocka_unit_test(a_failed_resize_leaves_its_block_alive),
        cmocka_unit_test(a_resize_to_nothing_ends_its_block),
        cmocka_unit_test(an_address_given_up_by_a_resize_may_be_taken_within_it),
        cmocka_unit_test(threads_are_put_into_the_order_of_their_stamps),
        cmocka_unit_test(a_free_that_seems_to_come_before_its_alloc_waits_for_it),
        cmocka_unit_test(an_alloc_of_what_still_lives_waits_for_the_free),
        cmocka_unit_test(a_repair_has_a_limit),
        cmocka_unit_test(threads_that_wait_for_each_other_are_let_go),
        cmocka_unit_test(a_thread_that_takes_over_a_slot_is_another_thread),
        cmocka_unit_test(a_thread_ends_with_its_last_event),
        cmocka_unit_test(what_was_cut_off_is_counted_and_left_out),
        cmocka_unit_test(a_block_that_nobody_gave_out_is_counted_and_left_out),
        cmocka_unit_test(a_second_way_to_free_is_noticed),
        cmocka_unit_test(damage_ends_the_trace_with_what_came_before),
        cmocka_unit_test(a_process_without_a_call_is_no_error),
        cmocka_unit_test(places_beyond_the_file_are_not_read),
        cmocka_unit_test(a_half_that_was_being_emptied_is_read_where_it_is_packed),
        cmocka_unit_test(a_slot_without_a_file_is_empty),
        cmocka_unit_test(what_was_noted_to_be_timed_is_no_call),
        cmocka_unit_test(the_cost_is_that_of_all_events_and_of_full_halves),
        cmocka_unit_test(events_without_a_clock_of_their_own_cost_less),
        cmocka_unit_test(a_birth_takes_no_part_in_the_order),
        cmocka_unit_test(no_byte_of_a_spool_can_do_harm),
    };
    if (mkdtemp(folder) == NULL)
        return 1;
    snprintf(trace_path, sizeof trace_path, "%s/t.abt", folder);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(trace_path);
    rmdir(folder);
    return failed;
}
