/* SPDX-License-Identifier: MIT
 *
 * Trace files that are whole are read as written; everything else is refused at its place.
 * tests: trace/format.c writer.c
 */
#include "base/bytes.h"
#include "support/cmocka.h"
#include "support/trace.h"
#include "support/trace_digest.h"
#include "trace/format.h"
#include "trace_tools/to_tape.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

static uint8_t *bytes;
static size_t n_bytes;
static struct ab_trace_info written;

/* Overwrites one file again and again: the sweeps read it many thousand times. */
static char *path;
static int fd = -1;

static enum ab_status read_bytes(const uint8_t *data, size_t n, struct ab_err *err)
{
    uint64_t events;
    assert_int_equal(ftruncate(fd, 0), 0);
    assert_int_equal(pwrite(fd, data, n, 0), (ssize_t)n);
    return test_trace_read(path, &events, NULL, err);
}

static void what_was_written_is_read(void **state)
{
    (void)state;
    struct ab_err err = {0};
    struct ab_trace_info info;
    size_t n;
    struct ab_trace_info big_written;
    uint8_t *big = test_trace_mixed(200000, &n, &big_written); /* several blocks */
    char *file = test_trace_file(big, n);
    uint64_t events;
    if (test_trace_read(file, &events, &info, &err) != AB_OK)
        fail_msg("%s", err.text);
    assert_int_equal(events, 200000);
    assert_memory_equal(&info.ops, &big_written.ops, sizeof info.ops);
    assert_int_equal(info.live_peak_bytes, big_written.live_peak_bytes);
    assert_int_equal(info.live_peak_blocks, big_written.live_peak_blocks);
    assert_int_equal(info.total_bytes, big_written.total_bytes);
    assert_int_equal(info.file_bytes, n);
    assert_string_equal(info.program, "mixed");
    print_message("# %.3f bytes an event\n", (double)n / 200000);
    unlink(file);
    free(file);
    free(big);
}

static void a_trace_becomes_a_tape_with_the_same_live_peak(void **state)
{
    (void)state;
    struct ab_err err = {0};
    struct ab_tape tape;
    struct ab_trace_info info;
    struct ab_trace_tape_options options = {.touch = AB_TOUCH_PAGE};
    char *file = test_trace_file(bytes, n_bytes);
    if (ab_trace_to_tape(file, &options, &tape, &info, &err) != AB_OK)
        fail_msg("%s", err.text);
    assert_int_equal(tape.facts.live_peak_bytes, written.live_peak_bytes);
    assert_int_equal(tape.facts.live_peak_blocks, written.live_peak_blocks);
    assert_int_equal(tape.live_end_blocks, written.live_end_blocks);
    assert_int_equal(tape.n_slots, written.slots);
    assert_int_equal(tape.phases[0].n_ops[AB_OP_ALLOC_ZEROED], written.ops[AB_EVENT_ALLOC_ZEROED]);
    ab_tape_fini(&tape);
    unlink(file);
    free(file);
}

static void every_changed_byte_is_refused(void **state)
{
    (void)state;
    static const uint8_t changes[] = {0x01, 0x80, 0xff, 0x55};
    uint8_t *copy = malloc(n_bytes);
    for (size_t i = 0; i < n_bytes; i++)
        for (size_t c = 0; c < sizeof changes; c++) {
            struct ab_err err = {0};
            memcpy(copy, bytes, n_bytes);
            copy[i] ^= changes[c];
            if (read_bytes(copy, n_bytes, &err) != AB_INPUT)
                fail_msg("byte %zu ^ %02x was accepted", i, changes[c]);
            assert_non_null(strstr(err.text, "byte "));
        }
    free(copy);
}

static void every_truncation_is_refused(void **state)
{
    (void)state;
    for (size_t n = 0; n < n_bytes; n++) {
        struct ab_err err = {0};
        if (read_bytes(bytes, n, &err) != AB_INPUT)
            fail_msg("%zu of %zu bytes were accepted", n, n_bytes);
    }
}

static void blocks_out_of_place_are_refused(void **state)
{
    (void)state;
    struct ab_err err = {0};
    size_t n;
    struct ab_trace_info info;
    uint8_t *big = test_trace_mixed(140000, &n, &info), *copy = malloc(2 * n);
    size_t head = ab_get_u32(big + 12);
    size_t first = AB_TRACE_CHUNK_HEADER + ab_get_u32(big + head + 20);
    size_t second = AB_TRACE_CHUNK_HEADER + ab_get_u32(big + head + first + 20);
    assert_int_equal(read_bytes(big, n, &err), AB_OK);
    memcpy(copy, big, n); /* swapped */
    memcpy(copy + head, big + head + first, second);
    memcpy(copy + head + second, big + head, first);
    assert_int_equal(read_bytes(copy, n, &err), AB_INPUT);
    memcpy(copy, big, head + first); /* doubled */
    memcpy(copy + head + first, big + head, n - head);
    assert_int_equal(read_bytes(copy, n + first, &err), AB_INPUT);
    memcpy(copy, big, head); /* dropped */
    memcpy(copy + head, big + head + first, n - head - first);
    assert_int_equal(read_bytes(copy, n - first, &err), AB_INPUT);
    memcpy(copy, big, n); /* two traces joined */
    memcpy(copy + n, big, n);
    assert_int_equal(read_bytes(copy, 2 * n, &err), AB_INPUT);
    assert_non_null(strstr(err.text, "data after the end mark"));
    free(copy);
    free(big);
}

static void what_is_no_trace_is_named(void **state)
{
    (void)state;
    struct ab_err err = {0};
    uint64_t events;
    assert_int_equal(read_bytes((const uint8_t *)"", 0, &err), AB_INPUT);
    assert_non_null(strstr(err.text, "empty"));
    assert_int_equal(read_bytes((const uint8_t *)"allocbench: 1\n", 14, &err), AB_INPUT);
    assert_non_null(strstr(err.text, "not an allocbench trace"));
    assert_int_equal(test_trace_read("/tmp", &events, NULL, &err), AB_INPUT);
    assert_non_null(strstr(err.text, "directory"));
    assert_int_equal(test_trace_read("/nonexistent", &events, NULL, &err), AB_INPUT);
    assert_int_equal(test_trace_read("/dev/zero", &events, NULL, &err), AB_INPUT);
    uint8_t *copy = malloc(n_bytes);
    memcpy(copy, bytes, n_bytes);
    copy[8] = 99;
    assert_int_equal(read_bytes(copy, n_bytes, &err), AB_INPUT);
    assert_non_null(strstr(err.text, "version 99"));
    free(copy);
}

static void calls_that_cannot_be_are_refused_by_the_writer(void **state)
{
    (void)state;
    static const struct ab_event impossible[] = {
        {.kind = AB_EVENT_FREE, .block = 7},
        {.kind = AB_EVENT_RESIZE, .block = 7, .size = 1},
        {.kind = AB_EVENT_ALLOC, .thread = 5},
        {.kind = AB_EVENT_ALLOC_ALIGNED, .align = 3},
        {.kind = AB_EVENT_ALLOC_ALIGNED, .align = 0},
        {.kind = AB_EVENT_ALLOC, .released = true},
        {.kind = AB_EVENT_ALLOC, .size = UINT64_MAX},
        {.kind = 9},
    };
    for (size_t i = 0; i < sizeof impossible / sizeof impossible[0]; i++) {
        struct ab_err err = {0};
        struct ab_trace_writer *w;
        FILE *f = tmpfile();
        uint64_t number;
        assert_int_equal(ab_trace_writer_open(f, "x", &w, &err), AB_OK);
        assert_int_equal(ab_trace_write(w, &impossible[i], &number, &err), AB_INPUT);
        ab_trace_writer_abandon(w);
        fclose(f);
    }
}

static void a_second_free_is_refused(void **state)
{
    (void)state;
    struct ab_err err = {0};
    struct ab_trace_writer *w;
    FILE *f = tmpfile();
    uint64_t number = 0;
    struct ab_event alloc = {.kind = AB_EVENT_ALLOC, .size = 8};
    assert_int_equal(ab_trace_writer_open(f, "x", &w, &err), AB_OK);
    assert_int_equal(ab_trace_write(w, &alloc, &number, &err), AB_OK);
    struct ab_event release = {.kind = AB_EVENT_FREE, .block = number};
    assert_int_equal(ab_trace_write(w, &release, &number, &err), AB_OK);
    assert_int_equal(ab_trace_write(w, &release, &number, &err), AB_INPUT);
    assert_non_null(strstr(err.text, "not live"));
    ab_trace_writer_abandon(w);
    fclose(f);
}

static void sizes_do_not_wrap_around(void **state)
{
    (void)state;
    struct ab_err err = {0};
    struct ab_trace_writer *w;
    struct ab_trace_info totals;
    FILE *f = tmpfile();
    uint64_t number = 0;
    struct ab_event huge = {.kind = AB_EVENT_ALLOC, .size = UINT64_C(1) << 62};
    struct ab_event refused = {.kind = AB_EVENT_ALLOC, .size = UINT64_MAX, .failed = true};
    assert_int_equal(ab_trace_writer_open(f, "x", &w, &err), AB_OK);
    assert_int_equal(ab_trace_write(w, &huge, &number, &err), AB_OK);
    assert_int_equal(ab_trace_write(w, &refused, &number, &err), AB_OK);
    assert_int_equal(ab_trace_write(w, &huge, &number, &err), AB_INPUT);
    assert_non_null(strstr(err.text, "2^63"));
    struct ab_event grow = {.kind = AB_EVENT_RESIZE, .size = UINT64_MAX, .block = number};
    assert_int_equal(ab_trace_write(w, &grow, &number, &err), AB_INPUT);
    assert_int_equal(ab_trace_writer_close(w, &totals, &err), AB_OK);
    assert_int_equal(totals.live_peak_bytes, UINT64_C(1) << 62);
    assert_int_equal(totals.events, 2);
    fclose(f);
}

static void flags_of_a_later_version_are_refused(void **state)
{
    (void)state;
    for (size_t at = 16; at < 32; at = at == 23 ? 28 : at + 1) {
        uint8_t *copy = malloc(n_bytes);
        assert_non_null(copy);
        memcpy(copy, bytes, n_bytes);
        size_t total = AB_TRACE_HEADER_FIXED + ab_get_u32(copy + 24) + 8;
        copy[at] = 2;
        ab_put_u64(copy + total - 8, XXH64(copy, total - 8, 0));
        struct ab_err err = {0};
        assert_int_equal(read_bytes(copy, n_bytes, &err), AB_INPUT);
        assert_non_null(strstr(err.text, "flags"));
        free(copy);
    }
}

static void optional_blocks_are_skipped_and_counted(void **state)
{
    (void)state;
    struct ab_err err = {.text = ""};
    struct ab_trace_info plain, with;
    char plain_hex[65], with_hex[65];
    assert_int_equal(
        ab_trace_digest("tests/golden/traces/good/mixed.abt", false, plain_hex, &plain, &err),
        AB_OK);
    assert_int_equal(
        ab_trace_digest("tests/golden/traces/good/optional.abt", false, with_hex, &with, &err),
        AB_OK);
    assert_int_equal(plain.optional_chunks, 0);
    assert_int_equal(with.optional_chunks, 2);
    assert_int_equal(with.events, plain.events);
    assert_string_equal(with_hex, plain_hex);
}

static void inherited_blocks_are_counted(void **state)
{
    (void)state;
    struct ab_err err = {.text = ""};
    struct ab_trace_info info;
    char hex[65];
    assert_int_equal(
        ab_trace_digest("tests/golden/traces/good/inherited.abt", false, hex, &info, &err), AB_OK);
    assert_int_equal(info.inherited, 6);
    assert_int_equal(info.optional_chunks, 0);
    assert_int_equal(info.live_peak_blocks, 6);
}

/* Counts what is handed out of a trace of 2,700 calls and 200 ends of threads. */
static uint64_t count_events(bool has_thread_ends, struct ab_trace_info *info)
{
    struct ab_trace_options options = {.has_thread_ends = has_thread_ends};
    struct ab_err err = {.text = ""};
    struct ab_trace_reader *r;
    struct ab_event events[100];
    uint64_t n_events = 0;
    assert_int_equal(
        ab_trace_open_with("tests/golden/traces/good/threads-end.abt", &options, &r, &err), AB_OK);
    for (size_t n = 1; n > 0; n_events += n) {
        assert_int_equal(ab_trace_next(r, events, 100, &n, &err), AB_OK);
        for (size_t i = 0; i < n; i++)
            assert_true(has_thread_ends || events[i].kind < AB_EVENT_KIND_COUNT);
    }
    *info = *ab_trace_reader_info(r);
    ab_trace_close(r);
    return n_events;
}

static void ends_of_threads_are_handed_out_on_request(void **state)
{
    (void)state;
    struct ab_trace_info info;
    uint64_t n_calls = count_events(false, &info);
    assert_int_equal(n_calls, info.events);
    uint64_t n_both = count_events(true, &info);
    assert_int_equal(n_both, info.events + info.thread_ends);
    assert_true(info.thread_ends == 200 && info.threads == 300);
}

/* Reads that trace `cap` events at a time, into all; their number, and the digest. */
static size_t read_by(size_t cap, bool has_thread_ends, struct ab_event *all, char hex[65])
{
    struct ab_trace_options options = {.has_thread_ends = has_thread_ends, .has_digest = true};
    struct ab_err err = {.text = ""};
    struct ab_trace_reader *r;
    size_t n_all = 0;
    assert_int_equal(
        ab_trace_open_with("tests/golden/traces/good/threads-end.abt", &options, &r, &err), AB_OK);
    for (size_t n = 1; n > 0; n_all += n) {
        assert_int_equal(ab_trace_next(r, all + n_all, cap, &n, &err), AB_OK);
        assert_true(n <= cap);
    }
    ab_trace_reader_digest(r, hex);
    ab_trace_close(r);
    return n_all;
}

static void assert_same(const struct ab_event *a, const struct ab_event *b)
{
    assert_true(a->kind == b->kind && a->failed == b->failed && a->released == b->released);
    assert_true(a->slot == b->slot && a->thread == b->thread && a->size == b->size);
    assert_true(a->align == b->align && a->block == b->block && a->time_us == b->time_us);
}

static void how_many_are_asked_for_at_once_does_not_matter(void **state)
{
    (void)state;
    static const size_t caps[] = {1, 2, 7, 100, 511, 512, 513, 1999};
    enum { ALL = 2900, CALLS = 2700, ROOM = 6000 };
    static struct ab_event all[ROOM], some[ROOM];
    char digest[65], hex[65];
    assert_int_equal(read_by(ROOM - ALL, true, all, digest), ALL);
    for (size_t i = 0; i < sizeof caps / sizeof caps[0]; i++)
        for (int with_ends = 0; with_ends < 2; with_ends++) {
            size_t n = read_by(caps[i], with_ends, some, hex), at = 0;
            assert_int_equal(n, with_ends ? ALL : CALLS);
            assert_string_equal(hex, digest);
            for (size_t k = 0; k < ALL; k++)
                if (with_ends || all[k].kind != AB_EVENT_THREAD_END)
                    assert_same(&some[at++], &all[k]);
            assert_int_equal(at, n);
        }
}

static void a_reader_may_have_lower_limits(void **state)
{
    (void)state;
    struct ab_trace_options options = {.live_blocks_max = written.live_peak_blocks};
    struct ab_err err = {.text = ""};
    for (int too_few = 0; too_few < 2; too_few++, options.live_blocks_max--) {
        struct ab_trace_reader *r;
        struct ab_event events[1000];
        size_t n;
        char *file = test_trace_file(bytes, n_bytes);
        assert_int_equal(ab_trace_open_with(file, &options, &r, &err), AB_OK);
        assert_int_equal(ab_trace_next(r, events, 1000, &n, &err), too_few ? AB_INPUT : AB_OK);
        ab_trace_close(r);
        unlink(file);
        free(file);
    }
    assert_non_null(strstr(err.text, "more live blocks than allowed"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_written_is_read),
        cmocka_unit_test(a_trace_becomes_a_tape_with_the_same_live_peak),
        cmocka_unit_test(every_changed_byte_is_refused),
        cmocka_unit_test(every_truncation_is_refused),
        cmocka_unit_test(blocks_out_of_place_are_refused),
        cmocka_unit_test(what_is_no_trace_is_named),
        cmocka_unit_test(calls_that_cannot_be_are_refused_by_the_writer),
        cmocka_unit_test(a_second_free_is_refused),
        cmocka_unit_test(sizes_do_not_wrap_around),
        cmocka_unit_test(flags_of_a_later_version_are_refused),
        cmocka_unit_test(optional_blocks_are_skipped_and_counted),
        cmocka_unit_test(inherited_blocks_are_counted),
        cmocka_unit_test(ends_of_threads_are_handed_out_on_request),
        cmocka_unit_test(how_many_are_asked_for_at_once_does_not_matter),
        cmocka_unit_test(a_reader_may_have_lower_limits),
    };
    bytes = test_trace_mixed(400, &n_bytes, &written);
    path = test_trace_file(bytes, n_bytes);
    fd = open(path, O_WRONLY);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    close(fd);
    unlink(path);
    free(path);
    free(bytes);
    return failed;
}
