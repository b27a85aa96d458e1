/* SPDX-License-Identifier: MIT
 *
 * A file is the same whether a thread of its own packs its blocks, and whether the writer or its
 * caller keeps the live blocks.
 */
#include "trace/encoder.h"

#include "base/bits.h"
#include "support/cmocka.h"
#include "support/trace_mix.h"
#include "trace/chunk.h"
#include "trace/format.h"

#include <stdlib.h>
#include <string.h>

enum { EVENTS = 20000, BLOCK = 700 };

struct file {
    char *bytes;
    size_t n;
    struct ab_trace_info info;
};

static enum ab_status write_one(struct ab_trace_writer *w, const struct ab_event *r, bool is_known,
                                uint64_t *sizes, struct ab_err *err)
{
    uint64_t number = r->block;
    enum ab_status status;
    bool gives_block = ab_event_gives_block(r);
    if (!is_known)
        status = ab_trace_write(w, r, &number, err);
    else if (r->kind == AB_EVENT_FREE)
        status = ab_trace_write_free(w, r->thread, r->block, sizes[r->block], err);
    else if (gives_block)
        status = ab_trace_write_alloc(
            w,
            (struct ab_trace_alloc){
                .thread = r->thread,
                .kind = r->kind,
                .log2 = r->kind == AB_EVENT_ALLOC_ALIGNED ? (uint8_t)ab_log2(r->align) : 0},
            r->size, &number, err);
    else
        status = ab_trace_write_known(w, r, r->kind == AB_EVENT_RESIZE ? sizes[r->block] : 0,
                                      &number, err);
    assert_int_equal(number, r->block);
    if (gives_block || (r->kind == AB_EVENT_RESIZE && !r->failed))
        sizes[r->block] = r->size;
    return status;
}

static struct file write_file(const struct ab_event *records, bool has_time, bool has_thread,
                              bool is_known)
{
    struct ab_trace_writer_options options = {
        .program = "mix", .has_time = has_time, .has_thread = has_thread, .chunk_events = BLOCK};
    struct ab_trace_writer *w;
    struct ab_err err = {.text = ""};
    struct file file = {0};
    uint64_t *sizes = calloc(EVENTS, sizeof sizes[0]);
    FILE *to = open_memstream(&file.bytes, &file.n);
    assert_int_equal(ab_trace_writer_open_with(to, &options, &w, &err), AB_OK);
    for (size_t i = 0; i < EVENTS; i++)
        assert_int_equal(write_one(w, &records[i], is_known, sizes, &err), AB_OK);
    assert_int_equal(ab_trace_writer_close(w, &file.info, &err), AB_OK);
    fclose(to);
    free(sizes);
    return file;
}

static void assert_same_file(const struct file *a, const struct file *b)
{
    assert_int_equal(a->n, b->n);
    assert_memory_equal(a->bytes, b->bytes, a->n);
    assert_memory_equal(a->info.ops, b->info.ops, sizeof a->info.ops);
    assert_int_equal(a->info.live_peak_bytes, b->info.live_peak_bytes);
    assert_int_equal(a->info.live_end_blocks, b->info.live_end_blocks);
    assert_int_equal(a->info.slots, b->info.slots);
}

static void the_file_is_the_same_with_a_thread(void **state)
{
    (void)state;
    for (uint32_t threads = 1; threads <= 5; threads += 4) {
        struct test_mix mix = {.seed = 7 + threads,
                               .n = EVENTS,
                               .threads = threads,
                               .has_time = threads == 5,
                               .has_thread_ends = true};
        struct ab_event *records = test_mix_records(&mix);
        struct file without = write_file(records, mix.has_time, false, false);
        struct file with = write_file(records, mix.has_time, true, false);
        assert_same_file(&without, &with);
        free(without.bytes);
        free(with.bytes);
        free(records);
    }
}

static void the_file_is_the_same_when_the_caller_keeps_the_blocks(void **state)
{
    (void)state;
    struct test_mix mix = {.seed = 3, .n = EVENTS, .threads = 3, .has_thread_ends = true};
    struct ab_event *records = test_mix_records(&mix);
    struct file kept = write_file(records, false, false, false);
    struct file known = write_file(records, false, true, true);
    assert_same_file(&kept, &known);
    free(kept.bytes);
    free(known.bytes);
    free(records);
}

static void sizes_do_not_wrap_around_for_such_a_caller(void **state)
{
    (void)state;
    struct ab_trace_writer *w;
    struct ab_err err = {.text = ""};
    uint64_t number = 0;
    char *bytes;
    size_t n;
    FILE *to = open_memstream(&bytes, &n);
    struct ab_trace_alloc alloc = {.kind = AB_EVENT_ALLOC};
    assert_int_equal(ab_trace_writer_open(to, "x", &w, &err), AB_OK);
    assert_int_equal(ab_trace_write_alloc(w, alloc, UINT64_MAX, &number, &err), AB_INPUT);
    assert_int_equal(ab_trace_write_alloc(w, alloc, UINT64_C(1) << 62, &number, &err), AB_OK);
    assert_int_equal(ab_trace_write_free(w, 0, number, UINT64_C(1) << 62, &err), AB_OK);
    assert_int_equal(ab_trace_write_alloc(w, alloc, UINT64_C(1) << 62, &number, &err), AB_INPUT);
    assert_non_null(strstr(err.text, "event 2: sizes whose sum is over 2^63 - 1"));
    ab_trace_writer_abandon(w);
    fclose(to);
    free(bytes);
}

/* What cannot be written shows a block later with a thread, and at the end at the latest. */
static void a_full_disk_is_told(void **state)
{
    (void)state;
    for (int has_thread = 0; has_thread < 2; has_thread++) {
        struct ab_trace_writer_options options = {
            .program = "x", .chunk_events = 10, .has_thread = has_thread};
        struct ab_trace_alloc alloc = {.kind = AB_EVENT_ALLOC};
        struct ab_trace_writer *w;
        struct ab_err err = {.text = ""};
        uint64_t number = 0;
        FILE *to = fopen("/dev/full", "w");
        assert_non_null(to);
        setvbuf(to, NULL, _IONBF, 0);
        enum ab_status status = ab_trace_writer_open_with(to, &options, &w, &err);
        assert_int_equal(status, AB_SYSTEM); /* the header, already */
        fclose(to);
        to = fopen("/dev/full", "w"); /* with a buffer that has room for the header */
        assert_int_equal(ab_trace_writer_open_with(to, &options, &w, &err), AB_OK);
        status = AB_OK;
        for (uint64_t i = 0; i < 1000000 && status == AB_OK; i++)
            status = ab_trace_write_alloc(w, alloc, i * i, &number, &err);
        assert_int_equal(status, AB_SYSTEM);
        ab_trace_writer_abandon(w);
        fclose(to);
    }
}

/* Whoever gives up in the middle of a block waits for it, and leaves nothing. */
static void an_encoder_at_work_can_be_freed(void **state)
{
    (void)state;
    struct ab_encoder *e = ab_encoder_new(AB_TRACE_CHUNK_EVENTS_MAX, false, true);
    assert_non_null(e);
    struct ab_chunk_batch *batch = ab_encoder_batch(e);
    for (; batch->n < AB_TRACE_CHUNK_EVENTS_MAX; batch->n++)
        batch->events[batch->n] = (struct ab_chunk_event){
            .size = batch->n * 7919 % 5000, .block = batch->n, .code = AB_EVENT_ALLOC};
    ab_encoder_begin(e);
    assert_ptr_not_equal(ab_encoder_batch(e), batch);
    ab_encoder_free(e);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_file_is_the_same_with_a_thread),
        cmocka_unit_test(the_file_is_the_same_when_the_caller_keeps_the_blocks),
        cmocka_unit_test(sizes_do_not_wrap_around_for_such_a_caller),
        cmocka_unit_test(a_full_disk_is_told),
        cmocka_unit_test(an_encoder_at_work_can_be_freed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
