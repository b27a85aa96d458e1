/* SPDX-License-Identifier: MIT
 *
 * A spool that is converted while it grows, made by hand: a thread at each of its moments. What a
 * real recorder writes is tested in tests/cli/record-along.bats. Event i has address 16 * i + 16.
 */
#include "base/clock.h"
#include "record/converter.h"
#include "record/converter_live.h"
#include "record/preload/spool_codec.h"
#include "support/cmocka.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PID = 4711, N = AB_SPOOL_HALF_EVENTS, SLOTS = 2 };

static char folder[] = "/tmp/test-record-live-XXXXXX";
static struct ab_spool_entry image;
static struct slot {
    int fd;
    struct ab_spool_tail *tail; /* mapped, as in the recorder */
} slots[SLOTS];
static struct ab_err err;

static void slot_path(char *path, size_t cap, unsigned slot)
{
    snprintf(path, cap, "%s/%d.0.%u", folder, PID, slot);
}

static void write_image(uint32_t n_slots)
{
    char path[64];
    image = (struct ab_spool_entry){
        .image = {.magic = AB_SPOOL_MAGIC, .pid = PID, .n_slots = n_slots, .program = "prog"}};
    snprintf(path, sizeof path, "%s/%d.0", folder, PID);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_int_equal(write(fd, &image.image, sizeof image.image), sizeof image.image);
    close(fd);
}

static void make_slot(unsigned slot)
{
    char path[64];
    slot_path(path, sizeof path, slot);
    int fd = slots[slot].fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    assert_int_equal(ftruncate(fd, AB_SPOOL_DATA), 0);
    void *p = mmap(NULL, AB_SPOOL_DATA, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    assert_true(p != MAP_FAILED);
    slots[slot].tail = p;
    slots[slot].tail->slot = slot;
    slots[slot].tail->magic = AB_SPOOL_MAGIC;
}

static int begin(void **state)
{
    (void)state;
    strcpy(folder + sizeof folder - 7, "XXXXXX");
    if (mkdtemp(folder) == NULL)
        return -1;
    write_image(1);
    make_slot(0);
    return 0;
}

static int end(void **state)
{
    char path[64];
    (void)state;
    for (unsigned i = 0; i < SLOTS; i++) {
        if (slots[i].tail == NULL)
            continue;
        munmap(slots[i].tail, AB_SPOOL_DATA);
        close(slots[i].fd);
        slots[i].tail = NULL;
        slot_path(path, sizeof path, i);
        unlink(path);
    }
    snprintf(path, sizeof path, "%s/%d.0", folder, PID);
    unlink(path);
    return rmdir(folder);
}

static struct ab_spool_event *half_of(struct ab_spool_tail *tail, uint64_t number)
{
    return (void *)((char *)tail + AB_SPOOL_TAIL + number % 2 * AB_SPOOL_HALF);
}

static void pack(struct ab_spool_tail *tail, uint64_t number)
{
    struct ab_spool_chunk *chunk = (void *)((char *)tail + AB_SPOOL_PACK + tail->pack_bytes);
    size_t words = ab_half_pack(half_of(tail, number), N, (uint64_t *)(chunk + 1), 4 * N);
    assert_true(words > 0);
    *chunk = (struct ab_spool_chunk){number, words * 8};
    tail->pack_bytes += sizeof *chunk + words * 8;
}

static void save(unsigned slot)
{
    struct ab_spool_tail *tail = slots[slot].tail;
    char *from = (char *)tail + AB_SPOOL_PACK;
    assert_int_equal(
        pwrite(slots[slot].fd, from, tail->pack_bytes, (off_t)(AB_SPOOL_DATA + tail->data_bytes)),
        (ssize_t)tail->pack_bytes);
    tail->data_bytes += tail->pack_bytes;
    tail->pack_bytes = 0;
    memset(from, 0xee, AB_SPOOL_PACK_BYTES);
}

/* Takes a place, and a new half where it has to. */
static uint64_t take(unsigned slot)
{
    struct ab_spool_tail *tail = slots[slot].tail;
    uint64_t place = tail->n_events++, number = place / N;
    if (tail->half_number[number % 2] == number + 1)
        return place;
    if (tail->half_number[number % 2] != 0)
        pack(tail, number - 2);
    if (tail->pack_bytes > AB_SPOOL_PACK_BYTES / 2)
        save(slot);
    memset(half_of(tail, number), 0, AB_SPOOL_HALF);
    tail->half_number[number % 2] = number + 1;
    return place;
}

static void fill(unsigned slot, uint64_t place, enum ab_spool_kind kind, uint64_t stamp,
                 uint64_t address)
{
    half_of(slots[slot].tail, place / N)[place % N] = (struct ab_spool_event){stamp << 4 | kind,
                                                                              address, 8};
}

static void note(unsigned slot, enum ab_spool_kind kind, uint64_t stamp, uint64_t address)
{
    fill(slot, take(slot), kind, stamp, address);
}

/* ---- streams ---- */

/* Reads all that is there: its addresses go on from *next. */
static void expect_events(struct ab_stream *s, uint64_t *next, uint64_t n)
{
    s->is_done = false;
    ab_stream_seek(s);
    uint64_t most = *next + n;
    while (!s->is_done) {
        assert_true(*next < most);
        assert_int_equal(s->at->address, 16 * ++*next);
        ab_stream_next(s);
    }
    assert_int_equal(*next, most);
}

static void note_many(uint64_t n)
{
    for (uint64_t i = 0; i < n; i++)
        note(0, AB_SPOOL_ALLOC, 1, 16 * (slots[0].tail->n_events + 1));
}

static void a_stream_is_read_as_far_as_it_goes_and_on_from_there(void **state)
{
    static const uint64_t steps[] = {0, 1, 5, N - 6, 1, N, 3 * N, 10, 40 * N + 7, 0, N - 17, N, 1};
    struct ab_stream s;
    uint64_t next = 0;
    (void)state;
    ab_stream_open_live(&s, folder, &image, 0);
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        note_many(steps[i]);
        expect_events(&s, &next, steps[i]);
        assert_false(s.has_gap);
    }
    assert_true(slots[0].tail->data_bytes > 0);
    note_many(N + 3);
    ab_stream_settle(&s);
    expect_events(&s, &next, N + 3);
    assert_int_equal(s.n_unwritten, 0);
    ab_stream_close(&s);
}

static void an_event_that_is_not_filled_is_waited_for(void **state)
{
    struct ab_stream s;
    uint64_t next = 0;
    (void)state;
    ab_stream_open_live(&s, folder, &image, 0);
    note_many(3);
    uint64_t place = take(0);
    note_many(2);
    expect_events(&s, &next, 3);
    assert_true(s.has_gap);
    fill(0, place, AB_SPOOL_ALLOC, 1, 16 * (place + 1));
    expect_events(&s, &next, 3);
    assert_false(s.has_gap);
    ab_stream_close(&s);
}

/* A signal handler has left the call by longjmp: known once the half is packed, or at the end. */
static void an_event_that_never_comes_is_passed_over(void **state)
{
    struct ab_stream s;
    uint64_t next = 0;
    (void)state;
    ab_stream_open_live(&s, folder, &image, 0);
    take(0);
    note_many(1);
    expect_events(&s, &next, 0);
    note_many(3 * N);
    next = 1;
    expect_events(&s, &next, 3 * N + 1);
    assert_int_equal(s.n_unwritten, 1);
    take(0);
    ab_stream_settle(&s);
    expect_events(&s, &next, 0);
    assert_int_equal(s.n_unwritten, 2);
    ab_stream_close(&s);
}

static void nothing_is_read_while_a_half_turns(void **state)
{
    struct ab_stream s;
    uint64_t next = 0;
    (void)state;
    ab_stream_open_live(&s, folder, &image, 0);
    note_many(2 * N + 1);
    slots[0].tail->is_turning = 1;
    expect_events(&s, &next, 0);
    assert_true(s.has_gap);
    slots[0].tail->is_turning = 0;
    expect_events(&s, &next, 2 * N + 1);
    ab_stream_close(&s);
}

static void space_is_given_back_of_what_was_read_only(void **state)
{
    struct ab_stream s;
    struct stat before, after;
    uint64_t next = 0;
    (void)state;
    ab_stream_open_live(&s, folder, &image, 0);
    note_many(60 * N);
    assert_int_equal(ab_spool_free_read(&s), 0);
    s.is_done = false;
    ab_stream_seek(&s);
    assert_int_equal(ab_spool_free_read(&s), 0);
    assert_false(ab_spool_is_freed(folder, &image));
    expect_events(&s, &next, 60 * N);
    fstat(slots[0].fd, &before);
    uint64_t bytes = ab_spool_free_read(&s);
    fstat(slots[0].fd, &after);
    if (bytes == 0)
        skip(); /* the file system cannot */
    assert_true(bytes > 60 * N * 6 && bytes <= slots[0].tail->data_bytes);
    assert_int_equal((before.st_blocks - after.st_blocks) * 512, bytes);
    assert_true(ab_spool_is_freed(folder, &image));
    assert_int_equal(ab_spool_free_read(&s), 0);
    note_many(20 * N);
    expect_events(&s, &next, 20 * N);
    ab_stream_close(&s);
}

/* ---- their order ---- */

struct run {
    struct ab_conversion v;
    struct ab_convert_report report;
    FILE *to;
};

static void begin_run(struct run *r)
{
    memset(r, 0, sizeof *r);
    r->to = tmpfile();
    ab_converter_open_live(&r->v.c, folder, &image, &r->report);
    assert_int_equal(ab_conversion_begin(&r->v, r->to, false, &err), AB_OK);
}

static void expect_done(struct run *r, uint64_t n)
{
    bool is_over = false;
    assert_int_equal(ab_converter_refresh(&r->v.c, &image, &err), AB_OK);
    while (!is_over)
        assert_int_equal(ab_converter_run(&r->v.c, 1000, &is_over, &err), AB_OK);
    assert_int_equal(r->v.c.n_done, n);
}

static void end_run(struct run *r)
{
    ab_converter_settle(&r->v.c);
    assert_int_equal(ab_conversion_take_all(&r->v, NULL, NULL, &err), AB_OK);
    assert_int_equal(ab_conversion_close(&r->v, &err), AB_OK);
    ab_conversion_end(&r->v);
    fclose(r->to);
}

/* Ticks so long ago that nothing older can come. */
static uint64_t past(void)
{
    return ab_tick_end() - 3 * AB_LIVE_LAG_TICKS;
}

static void what_is_new_waits_until_nothing_older_can_come(void **state)
{
    struct run r;
    uint64_t old = past();
    (void)state;
    write_image(2);
    make_slot(1);
    begin_run(&r);
    note(0, AB_SPOOL_ALLOC, old, 16);
    note(0, AB_SPOOL_ALLOC, ab_tick_end(), 32);
    note(1, AB_SPOOL_ALLOC, old + 1, 48);
    expect_done(&r, 2);
    note(1, AB_SPOOL_FREE, old + 2, 16);
    expect_done(&r, 3);
    end_run(&r);
    assert_int_equal(r.report.info.events, 4);
    assert_int_equal(r.report.n_repairs + r.report.n_foreign + r.report.n_reused, 0);
}

static void a_thread_in_the_middle_of_an_event_holds_up_the_others(void **state)
{
    struct run r;
    uint64_t old = past();
    (void)state;
    write_image(2);
    make_slot(1);
    begin_run(&r);
    note(0, AB_SPOOL_ALLOC, old, 16);
    uint64_t place = take(0);
    note(1, AB_SPOOL_ALLOC, old + 20, 32);
    expect_done(&r, 1);
    expect_done(&r, 1);
    fill(0, place, AB_SPOOL_ALLOC, old + 10, 48);
    expect_done(&r, 3);
    end_run(&r);
    assert_int_equal(r.report.info.events, 3);
}

/* A free that seems to come before its block was given out waits for the thread that gives it. */
static void a_repair_may_need_what_has_not_come_yet(void **state)
{
    struct run r;
    uint64_t old = past();
    (void)state;
    write_image(2);
    make_slot(1);
    begin_run(&r);
    note(0, AB_SPOOL_FREE, old, 16);
    note(1, AB_SPOOL_ALLOC, old + 10, 32);
    uint64_t place = take(1);
    expect_done(&r, 1);
    fill(1, place, AB_SPOOL_ALLOC, old + 20, 16);
    expect_done(&r, 3);
    end_run(&r);
    assert_int_equal(r.report.n_repairs, 1);
    assert_int_equal(r.report.n_foreign, 0);
}

static void threads_may_come_later_and_take_over_streams(void **state)
{
    struct run r;
    uint64_t old = past();
    (void)state;
    begin_run(&r);
    note(0, AB_SPOOL_ALLOC, old, 16);
    expect_done(&r, 1);
    write_image(2);
    expect_done(&r, 1); /* its file is still being made */
    make_slot(1);
    note(1, AB_SPOOL_BIRTH, old + 5, 100);
    note(1, AB_SPOOL_FREE, old + 6, 16);
    expect_done(&r, 3);
    note(1, AB_SPOOL_BIRTH, old + 7, 101);
    note(1, AB_SPOOL_ALLOC, old + 8, 32);
    end_run(&r);
    assert_int_equal(r.report.info.events, 3);
    assert_int_equal(r.report.info.threads, 3);
    assert_int_equal(r.report.info.thread_ends, 1);
}

static void a_thread_ends_while_the_program_runs(void **state)
{
    struct run r;
    uint64_t old = past();
    (void)state;
    write_image(2);
    make_slot(1);
    begin_run(&r);
    note(0, AB_SPOOL_ALLOC, old, 16);
    note(1, AB_SPOOL_BIRTH, old + 1, 100);
    note(1, AB_SPOOL_FREE, old + 2, 16);
    note(1, AB_SPOOL_ASIDE, old + 3, 0);
    half_of(slots[1].tail, 0)[2].address = AB_SPOOL_ASIDE_MAKE(AB_SPOOL_EXIT, 0);
    uint64_t place = take(1);
    expect_done(&r, 4); /* something comes behind */
    assert_true(r.v.c.lanes[1].has_exited);
    fill(1, place, AB_SPOOL_FREE, old + 4, 16);
    expect_done(&r, 5);
    assert_false(r.v.c.lanes[1].has_exited);
    end_run(&r);
    assert_int_equal(r.report.info.thread_ends, 1);
}

#define LIVE_TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)
int main(void)
{
    const struct CMUnitTest tests[] = {
        LIVE_TEST(a_stream_is_read_as_far_as_it_goes_and_on_from_there),
        LIVE_TEST(an_event_that_is_not_filled_is_waited_for),
        LIVE_TEST(an_event_that_never_comes_is_passed_over),
        LIVE_TEST(nothing_is_read_while_a_half_turns),
        LIVE_TEST(space_is_given_back_of_what_was_read_only),
        LIVE_TEST(what_is_new_waits_until_nothing_older_can_come),
        LIVE_TEST(a_thread_in_the_middle_of_an_event_holds_up_the_others),
        LIVE_TEST(a_repair_may_need_what_has_not_come_yet),
        LIVE_TEST(threads_may_come_later_and_take_over_streams),
        LIVE_TEST(a_thread_ends_while_the_program_runs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
