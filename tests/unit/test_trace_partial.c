/* SPDX-License-Identifier: MIT
 *
 * A file that was cut anywhere, a file with any byte changed: what may be read of it.
 */
#include "base/bytes.h"
#include "support/cmocka.h"
#include "support/trace_mix.h"
#include "trace/format.h"
#include "trace_tools/to_tape.h"
#include "trace_tools/walk.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { EVENTS = 700, IN_BLOCK = 100 };

static const struct test_mix mix = {.seed = 5,
                                    .n = EVENTS,
                                    .threads = 3,
                                    .has_time = true,
                                    .has_thread_ends = true,
                                    .chunk_events = IN_BLOCK};
static struct ab_event *records;
static uint8_t *bytes;
static size_t n_bytes, n_header;
static struct ab_trace_info written;
static char path[32];
static int fd = -1;

static void write_bytes(const uint8_t *data, size_t n)
{
    assert_int_equal(ftruncate(fd, 0), 0);
    assert_int_equal(pwrite(fd, data, n, 0), (ssize_t)n);
}

/* Reads the file; each event must be the next record. *n_events counts ends of threads too. */
static enum ab_status read_file(bool is_partial, uint64_t *n_events, struct ab_trace_info *info,
                                struct ab_err *err)
{
    struct ab_trace_options options = {.is_partial = is_partial, .has_thread_ends = true};
    struct ab_trace_reader *r;
    struct ab_event events[64];
    *n_events = 0;
    enum ab_status status = ab_trace_open_with(path, &options, &r, err);
    if (status != AB_OK)
        return status;
    for (size_t k = 1; status == AB_OK && k > 0;) {
        k = 0;
        status = ab_trace_next(r, events, 64, &k, err);
        for (size_t i = 0; i < k; i++) {
            const struct ab_event *expected = &records[(*n_events)++];
            assert_int_equal(events[i].kind, expected->kind);
            assert_int_equal(events[i].thread, expected->thread);
            assert_int_equal(events[i].size, expected->size);
            assert_int_equal(events[i].time_us, expected->time_us);
        }
    }
    *info = *ab_trace_reader_info(r);
    ab_trace_close(r);
    return status;
}

static enum ab_status read_bytes(const uint8_t *data, size_t n, bool is_partial, uint64_t *n_events,
                                 struct ab_trace_info *info, struct ab_err *err)
{
    write_bytes(data, n);
    return read_file(is_partial, n_events, info, err);
}

/* How many events the blocks hold that end at or before byte n. */
static uint64_t whole_events(size_t n, size_t *end)
{
    uint64_t events = 0;
    size_t at = n_header;
    while (at + AB_TRACE_CHUNK_HEADER <= n &&
           at + AB_TRACE_CHUNK_HEADER + ab_get_u32(bytes + at + 20) <= n) {
        events += ab_get_u32(bytes + at + 12);
        at += AB_TRACE_CHUNK_HEADER + ab_get_u32(bytes + at + 20);
    }
    *end = at;
    return events;
}

static void every_cut_file_gives_its_whole_blocks_when_asked(void **state)
{
    (void)state;
    for (size_t n = n_header; n < n_bytes; n++) {
        struct ab_err err = {.text = ""};
        struct ab_trace_info info;
        uint64_t events;
        size_t end;
        if (read_bytes(bytes, n, true, &events, &info, &err) != AB_OK)
            fail_msg("%zu of %zu bytes: %s", n, n_bytes, err.text);
        assert_int_equal(events, whole_events(n, &end));
        assert_true(info.is_partial);
        assert_int_equal(info.file_bytes, end);
        assert_int_equal(info.events + info.thread_ends, events);
    }
}

static void every_cut_file_is_refused_when_not_asked(void **state)
{
    (void)state;
    char said[64];
    for (size_t n = 0; n < n_bytes; n++) {
        struct ab_err err = {.text = ""};
        struct ab_trace_info info = {.events = 0};
        uint64_t events;
        if (read_bytes(bytes, n, false, &events, &info, &err) != AB_INPUT)
            fail_msg("%zu of %zu bytes were accepted", n, n_bytes);
        if (n < AB_TRACE_MAGIC_BYTES)
            continue;
        snprintf(said, sizeof said, "; %llu events before it are complete",
                 (unsigned long long)info.events);
        if (strstr(err.text, said) == NULL)
            fail_msg("%zu of %zu bytes: %s", n, n_bytes, err.text);
    }
}

static void a_cut_header_is_refused_even_when_asked(void **state)
{
    (void)state;
    for (size_t n = 0; n < n_header; n++) {
        struct ab_err err = {.text = ""};
        struct ab_trace_info info;
        uint64_t events;
        assert_int_equal(read_bytes(bytes, n, true, &events, &info, &err), AB_INPUT);
    }
}

static void a_whole_file_is_not_partial(void **state)
{
    (void)state;
    struct ab_err err = {.text = ""};
    struct ab_trace_info info;
    uint64_t events;
    for (int is_partial = 0; is_partial < 2; is_partial++) {
        assert_int_equal(read_bytes(bytes, n_bytes, is_partial, &events, &info, &err), AB_OK);
        assert_int_equal(events, EVENTS);
        assert_memory_equal(&info, &written, sizeof info);
    }
}

/* What --partial means to those who come after the reader: the proof, and the tape. */
static void every_cut_file_is_proven_and_becomes_a_tape_as_far_as_it_is_whole(void **state)
{
    (void)state;
    const struct ab_trace_tape_options options = {.is_partial = true};
    for (size_t n = n_header; n < n_bytes; n += TEST_SWEEP_STEP) {
        struct ab_walk walk = {.path = path, .is_partial = true, .end = UINT64_MAX};
        struct ab_err err = {.text = ""};
        struct ab_trace_info info;
        struct ab_tape tape;
        size_t end;
        write_bytes(bytes, n);
        if (ab_trace_check(&walk, &info, &err) != AB_OK)
            fail_msg("%zu of %zu bytes: %s", n, n_bytes, err.text);
        assert_int_equal(info.events + info.thread_ends, whole_events(n, &end));
        uint64_t calls = info.events;
        enum ab_status status = ab_trace_to_tape(path, &options, &tape, &info, &err);
        assert_int_equal(status, calls > 0 ? AB_OK : AB_INPUT);
        if (status != AB_OK)
            continue;
        assert_true(info.is_partial && info.events == calls);
        uint64_t requests = 0;
        for (unsigned k = 0; k < AB_OP_KIND_COUNT; k++)
            requests += tape.phases[0].n_ops[k];
        assert_int_equal(requests, calls);
        ab_tape_fini(&tape);
    }
}

static void assert_refused(size_t at, uint8_t change)
{
    struct ab_err err = {.text = ""};
    struct ab_trace_info info;
    uint64_t events;
    if (read_file(false, &events, &info, &err) != AB_INPUT)
        fail_msg("byte %zu ^ %02x was accepted", at, change);
    assert_non_null(strstr(err.text, "byte "));
}

/* Each byte of [begin, end) in turn with `step` and its multiples, all else as it was. */
static void change_each(size_t begin, size_t end, unsigned step)
{
    for (size_t i = begin; i < end; i++) {
        for (unsigned change = step; change <= UINT8_MAX; change += step) {
            uint8_t other = bytes[i] ^ (uint8_t)change;
            assert_int_equal(pwrite(fd, &other, 1, (off_t)i), 1);
            assert_refused(i, (uint8_t)change);
        }
        assert_int_equal(pwrite(fd, &bytes[i], 1, (off_t)i), 1);
    }
}

/* About 4 KiB: header, blocks, end mark. What the header and the heads of the blocks say is tried
 * with every value; stored bytes, which only the checksum judges, with some, and every value in the
 * next test. */
static void every_changed_byte_is_refused(void **state)
{
    (void)state;
    write_bytes(bytes, n_bytes);
    change_each(0, n_header, TEST_SWEEP_STEP);
    for (size_t at = n_header, n; at < n_bytes; at += n) {
        n = AB_TRACE_CHUNK_HEADER + ab_get_u32(bytes + at + 20);
        change_each(at, at + AB_TRACE_CHUNK_HEADER, TEST_SWEEP_STEP);
        change_each(at + AB_TRACE_CHUNK_HEADER, at + n, 0x55);
    }
    uint64_t events;
    struct ab_trace_info info;
    struct ab_err err = {.text = ""};
    assert_int_equal(read_file(false, &events, &info, &err), AB_OK); /* each was put back */
}

static void no_changed_byte_keeps_the_checksum_of_its_block(void **state)
{
    (void)state;
    uint8_t *copy = malloc(n_bytes);
    assert_non_null(copy);
    memcpy(copy, bytes, n_bytes);
    for (size_t at = n_header, n; at < n_bytes; at += AB_TRACE_CHUNK_HEADER + n) {
        uint8_t *stored = copy + at + AB_TRACE_CHUNK_HEADER;
        n = ab_get_u32(bytes + at + 20);
        uint64_t right = ab_get_u64(bytes + at + AB_TRACE_CHUNK_CHECKED);
        assert_int_equal(ab_trace_chunk_checksum(copy + at, stored, n), right);
        for (size_t i = 0; i < n; i++)
            for (unsigned change = 1; change <= UINT8_MAX; change++) {
                stored[i] ^= (uint8_t)change;
                assert_int_not_equal(ab_trace_chunk_checksum(copy + at, stored, n), right);
                stored[i] ^= (uint8_t)change;
            }
    }
    free(copy);
}

/* With partial reading a stored length that reaches beyond the file looks like a cut: then the
 * blocks before it are read and called partial. All other changes are refused. */
static void a_changed_byte_never_gives_other_events(void **state)
{
    (void)state;
    uint8_t *copy = malloc(n_bytes);
    size_t n_cut = 0;
    assert_non_null(copy);
    for (size_t i = 0; i < n_bytes; i++) {
        struct ab_err err = {.text = ""};
        struct ab_trace_info info;
        uint64_t events;
        memcpy(copy, bytes, n_bytes);
        copy[i] ^= 0x10;
        if (read_bytes(copy, n_bytes, true, &events, &info, &err) == AB_OK) {
            assert_true(info.is_partial);
            n_cut++;
        }
    }
    assert_true(n_cut <= 4 * (EVENTS / IN_BLOCK + 2)); /* the bytes of the stored length */
    free(copy);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_whole_file_is_not_partial),
        cmocka_unit_test(every_cut_file_gives_its_whole_blocks_when_asked),
        cmocka_unit_test(every_cut_file_is_refused_when_not_asked),
        cmocka_unit_test(a_cut_header_is_refused_even_when_asked),
        cmocka_unit_test(every_cut_file_is_proven_and_becomes_a_tape_as_far_as_it_is_whole),
        cmocka_unit_test(every_changed_byte_is_refused),
        cmocka_unit_test(no_changed_byte_keeps_the_checksum_of_its_block),
        cmocka_unit_test(a_changed_byte_never_gives_other_events),
    };
    records = test_mix_records(&mix);
    bytes = test_mix_file(&mix, records, &n_bytes, &written);
    n_header = ab_get_u32(bytes + 12);
    print_message("# %zu bytes\n", n_bytes);
    fd = memfd_create("trace", MFD_CLOEXEC); /* read some ten thousand times */
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    close(fd);
    free(bytes);
    free(records);
    return failed;
}
