/* SPDX-License-Identifier: MIT
 *
 * One stream over the three places that its halves may lie in, as a recorder leaves them that was
 * killed at the worst moments, and as a damaged disk may. Event i has address 16 * i.
 */
#include "record/spool_reader.h"

#include "record/preload/spool_codec.h"
#include "support/cmocka.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PID = 4711, N = AB_SPOOL_HALF_EVENTS };

static char folder[] = "/tmp/test-record-stream-XXXXXX";
static char path[64];
static const struct ab_spool_entry image = {.image.pid = PID};
static struct ab_spool_tail tail;
static struct ab_spool_event half[N];
static int fd;

static int make_folder(void **state)
{
    (void)state;
    if (mkdtemp(folder) == NULL)
        return -1;
    snprintf(path, sizeof path, "%s/%d.0.0", folder, PID);
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    unlink(path);
    return rmdir(folder);
}

static void put(const void *bytes, size_t n, uint64_t at)
{
    assert_int_equal(pwrite(fd, bytes, n, (off_t)at), (ssize_t)n);
}

static void fill_half(uint64_t number)
{
    for (uint64_t i = 0; i < N; i++)
        half[i] = (struct ab_spool_event){(number * N + i) << 4 | AB_SPOOL_ALLOC,
                                          16 * (number * N + i), 1};
}

static void begin_file(uint64_t n_events)
{
    tail = (struct ab_spool_tail){.magic = AB_SPOOL_MAGIC, .n_events = n_events};
    fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(ftruncate(fd, AB_SPOOL_DATA), 0);
}

static void end_file(void)
{
    put(&tail, sizeof tail, 0);
    close(fd);
}

/* Appends a chunk to what is packed or to what is saved. */
static void put_chunk(uint64_t number, bool is_saved)
{
    static uint64_t words[4 * N];
    uint64_t *used = is_saved ? &tail.data_bytes : &tail.pack_bytes;
    uint64_t at = (is_saved ? AB_SPOOL_DATA : AB_SPOOL_PACK) + *used;
    fill_half(number);
    struct ab_spool_chunk chunk = {number, 8 * ab_half_pack(half, N, words, 4 * N)};
    put(&chunk, sizeof chunk, at);
    put(words, chunk.bytes, at + sizeof chunk);
    *used += sizeof chunk + chunk.bytes;
}

/* Maps a half; of its events only those from `first` on are still there. */
static void map_half(uint64_t number, size_t first)
{
    fill_half(number);
    memset(half, 0, first * sizeof half[0]);
    put(half, sizeof half, AB_SPOOL_TAIL + number % 2 * AB_SPOOL_HALF);
    tail.half_number[number % 2] = number + 1;
}

/* The events that are read, in order from 0; returns how many. */
static uint64_t read_in_order(uint64_t *n_unwritten)
{
    struct ab_stream s;
    uint64_t n = 0;
    ab_stream_open(&s, folder, &image, 0);
    while (!s.is_done) {
        assert_int_equal(s.at->address, 16 * n++);
        ab_stream_next(&s);
    }
    *n_unwritten = s.n_unwritten;
    ab_stream_close(&s);
    return n;
}

static void expect(uint64_t n, uint64_t n_unwritten)
{
    uint64_t unwritten;
    end_file();
    assert_int_equal(read_in_order(&unwritten), n);
    assert_int_equal(unwritten, n_unwritten);
}

static void saved_packed_and_mapped_halves_are_one_stream(void **state)
{
    (void)state;
    begin_file(5 * N + 10);
    for (uint64_t i = 0; i < 4; i++)
        put_chunk(i, i < 2);
    map_half(4, 0);
    map_half(5, 0);
    expect(5 * N + 10, 0);
}

/* Packed, then killed while its place was emptied for the half after the next. */
static void a_half_that_is_being_emptied_is_read_where_it_is_packed(void **state)
{
    (void)state;
    begin_file(2 * N);
    put_chunk(0, false);
    map_half(0, N / 2);
    map_half(1, 0);
    expect(2 * N, 0);
}

/* Saved, then killed before what was packed was given up. */
static void chunks_that_are_there_twice_are_read_once(void **state)
{
    (void)state;
    begin_file(5 * N);
    for (uint64_t i = 0; i < 3; i++)
        put_chunk(i, true);
    for (uint64_t i = 1; i < 4; i++)
        put_chunk(i, false);
    map_half(4, 0);
    expect(5 * N, 0);
}

/* A full disk: what could not be saved stays packed, the places taken since hold nothing. */
static void places_behind_the_last_half_are_counted(void **state)
{
    (void)state;
    begin_file(9 * N);
    put_chunk(0, false);
    map_half(1, 0);
    map_half(2, 0);
    expect(3 * N, 6 * N);
}

static void a_missing_chunk_ends_the_stream(void **state)
{
    (void)state;
    begin_file(4 * N);
    put_chunk(0, true);
    put_chunk(2, true);
    map_half(3, 0);
    expect(N, 3 * N);
}

/* Every length that a chunk may claim beyond the truth, and words that are none. */
static void damaged_chunks_end_the_stream(void **state)
{
    static const uint64_t claims[] = {
        0, 4, AB_SPOOL_PACK_BYTES, AB_SPOOL_PACK_BYTES + 8, UINT64_MAX - 7, UINT64_MAX};
    (void)state;
    for (size_t i = 0; i < sizeof claims / sizeof claims[0]; i++)
        for (int is_saved = 0; is_saved < 2; is_saved++) {
            struct ab_spool_chunk chunk = {0, claims[i]};
            begin_file(2 * N);
            put_chunk(0, is_saved);
            put(&chunk, sizeof chunk, is_saved ? AB_SPOOL_DATA : AB_SPOOL_PACK);
            map_half(1, 0);
            expect(0, 2 * N);
        }
}

static void totals_beyond_the_file_end_the_stream(void **state)
{
    (void)state;
    begin_file(3 * N);
    put_chunk(0, true);
    tail.data_bytes = UINT64_MAX;
    tail.pack_bytes = UINT64_MAX;
    map_half(2, 0);
    expect(N, 2 * N);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(saved_packed_and_mapped_halves_are_one_stream),
        cmocka_unit_test(a_half_that_is_being_emptied_is_read_where_it_is_packed),
        cmocka_unit_test(chunks_that_are_there_twice_are_read_once),
        cmocka_unit_test(places_behind_the_last_half_are_counted),
        cmocka_unit_test(a_missing_chunk_ends_the_stream),
        cmocka_unit_test(damaged_chunks_end_the_stream),
        cmocka_unit_test(totals_beyond_the_file_end_the_stream),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
