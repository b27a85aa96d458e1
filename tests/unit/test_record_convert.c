/* SPDX-License-Identifier: MIT
 *
 * Spools made by hand: what becomes of every kind of event, of cut-off and contradicting ones, of
 * damage. What a real recorder writes is tested in tests/cli/record.bats.
 */
#include "record/convert.h"
#include "support/cmocka.h"
#include "support/trace.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[] = "/tmp/test-record-convert-XXXXXX";
static char trace_path[64];

static void write_image(unsigned n, const struct ab_spool_header *header,
                        const struct ab_spool_event *events, size_t n_events)
{
    char name[96];
    snprintf(name, sizeof name, "%s/%u", folder, n);
    int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(pwrite(fd, header, sizeof *header, 0), (ssize_t)sizeof *header);
    size_t bytes = n_events * sizeof events[0];
    assert_int_equal(pwrite(fd, events, bytes, AB_SPOOL_DATA), (ssize_t)bytes);
    close(fd);
}

static void remove_images(void)
{
    for (unsigned i = 0; i < 4; i++) {
        char name[96];
        snprintf(name, sizeof name, "%s/%u", folder, i);
        unlink(name);
    }
}

static enum ab_status convert(struct ab_convert_report *report, struct ab_err *err)
{
    FILE *to = fopen(trace_path, "w");
    assert_non_null(to);
    enum ab_status status = ab_convert(folder, "prog", to, report, err);
    fclose(to);
    return status;
}

/* One image of these events, converted; the trace it gives is read back whole. */
static enum ab_status convert_events(const struct ab_spool_event *events, size_t n,
                                     struct ab_convert_report *report, struct ab_err *err)
{
    struct ab_spool_header header = {.magic = AB_SPOOL_MAGIC, .n_events = n};
    write_image(0, &header, events, n);
    enum ab_status status = convert(report, err);
    remove_images();
    if (status == AB_OK && report->info.events > 0) {
        struct ab_trace_info info;
        uint64_t n_read;
        assert_int_equal(test_trace_read(trace_path, &n_read, &info, err), AB_OK);
        assert_int_equal(n_read, report->info.events);
    }
    return status;
}

#define EVENTS(...) (const struct ab_spool_event[]){__VA_ARGS__}
#define CONVERT(status, ...)                                                                 \
    assert_int_equal(convert_events(EVENTS(__VA_ARGS__),                                     \
                                    sizeof(EVENTS(__VA_ARGS__)) / sizeof(struct ab_spool_event), \
                                    &report, &err),                                          \
                     status)

static void each_kind_becomes_one_call(void **state)
{
    (void)state;
    struct ab_err err = {0};
    struct ab_convert_report report;
    CONVERT(AB_OK, {.kind = AB_SPOOL_ALLOC, .address = 0x1000, .size = 10},
            {.kind = AB_SPOOL_ZEROED, .address = 0x2000, .size = 20},
            {.kind = AB_SPOOL_ALIGNED, .address = 0x3000, .size = 30, .align = 4096},
            {.kind = AB_SPOOL_RESIZE_BEGIN, .address = 0x1000, .size = 100},
            {.kind = AB_SPOOL_RESIZE_END, .address = 0x9000, .size = 100},
            {.kind = AB_SPOOL_FREE, .address = 0x9000}, {.kind = AB_SPOOL_FREE, .address = 0x2000});
    const struct ab_trace_info *i = &report.info;
    assert_int_equal(i->ops[AB_EVENT_ALLOC], 1);
    assert_int_equal(i->ops[AB_EVENT_ALLOC_ZEROED], 1);
    assert_int_equal(i->ops[AB_EVENT_ALLOC_ALIGNED], 1);
    assert_int_equal(i->ops[AB_EVENT_RESIZE], 1);
    assert_int_equal(i->ops[AB_EVENT_FREE], 2);
    assert_int_equal(i->live_peak_bytes, 150);
    assert_int_equal(i->live_end_blocks, 1);
    assert_int_equal(i->live_end_bytes, 30);
    assert_string_equal(i->program, "prog");
    assert_int_equal(report.n_foreign + report.n_reused + report.n_unfinished, 0);
}

static void a_failed_resize_leaves_its_block_alive(void **state)
{
    (void)state;
    struct ab_err err = {0};
    struct ab_convert_report report;
    CONVERT(AB_OK, {.kind = AB_SPOOL_ALLOC, .address = 0x1000, .size = 10},
            {.kind = AB_SPOOL_RESIZE_BEGIN, .address = 0x1000, .size = UINT64_MAX},
            {.kind = AB_SPOOL_RESIZE_END, .address = 0, .size = UINT64_MAX},
            {.kind = AB_SPOOL_ALLOC, .address = 0, .size = UINT64_MAX},
            {.kind = AB_SPOOL_FREE, .address = 0x1000});
    assert_int_equal(report.info.failed, 2);
    assert_int_equal(report.info.events, 4);
    assert_int_equal(report.info.live_end_blocks, 0);
    assert_int_equal(report.n_foreign, 0);
}

static void a_resize_to_nothing_ends_its_block(void **state)
{
    (void)state;
    struct ab_err err = {0};
    struct ab_convert_report report;
    CONVERT(AB_OK, {.kind = AB_SPOOL_ALLOC, .address = 0x1000, .size = 10},
            {.kind = AB_SPOOL_RESIZE_BEGIN, .address = 0x1000},
            {.kind = AB_SPOOL_RESIZE_END, .address = 0},
            {.kind = AB_SPOOL_ALLOC, .address = 0x1000, .size = 10});
    assert_int_equal(report.info.ops[AB_EVENT_RESIZE], 1);
    assert_int_equal(report.info.live_end_blocks, 1);
    assert_int_equal(report.n_reused, 0);
}

/* A signal handler that takes the address which an interrupted resize has just given up. */
static void an_address_given_up_by_a_resize_may_be_taken_within_it(void **state)
{
    (void)state;
    struct ab_err err = {0};
    struct ab_convert_report report;
    CONVERT(AB_OK, {.kind = AB_SPOOL_ALLOC, .address = 0x1000, .size = 10},
            {.kind = AB_SPOOL_RESIZE_BEGIN, .address = 0x1000, .size = 50},
            {.kind = AB_SPOOL_ALLOC, .address = 0x1000, .size = 7},
            {.kind = AB_SPOOL_RESIZE_END, .address = 0x2000, .size = 50},
            {.kind = AB_SPOOL_FREE, .address = 0x1000}, {.kind = AB_SPOOL_FREE, .address = 0x2000});
    assert_int_equal(report.info.events, 5);
    assert_int_equal(report.info.live_end_blocks, 0);
    assert_int_equal(report.n_reused + report.n_foreign, 0);
}

static void what_was_cut_off_is_counted_and_left_out(void **state)
{
    (void)state;
    struct ab_err err = {0};
    struct ab_convert_report report;
    CONVERT(AB_OK, {.kind = AB_SPOOL_ALLOC, .address = 0x1000, .size = 10},
            {.kind = AB_SPOOL_RESIZE_BEGIN, .address = 0x1000, .size = 50},
            {.kind = AB_SPOOL_NOTHING});
    assert_int_equal(report.info.events, 1);
    assert_int_equal(report.n_unfinished, 2);
    assert_int_equal(report.info.live_end_blocks, 1);
}

static void a_block_that_nobody_gave_out_is_counted_and_left_out(void **state)
{
    (void)state;
    struct ab_err err = {0};
    struct ab_convert_report report;
    CONVERT(AB_OK, {.kind = AB_SPOOL_ALLOC, .address = 0x1000, .size = 10},
            {.kind = AB_SPOOL_FREE, .address = 0x7000},
            {.kind = AB_SPOOL_RESIZE_BEGIN, .address = 0x8000, .size = 50},
            {.kind = AB_SPOOL_RESIZE_END, .address = 0x8000, .size = 50});
    assert_int_equal(report.info.events, 1);
    assert_int_equal(report.n_foreign, 2);
}

static void an_odd_alignment_is_rounded_up(void **state)
{
    (void)state;
    struct ab_err err = {0};
    struct ab_convert_report report;
    CONVERT(AB_OK, {.kind = AB_SPOOL_ALIGNED, .address = 0x1000, .size = 1, .align = 48},
            {.kind = AB_SPOOL_ALIGNED, .address = 0x2000, .size = 1, .align = 0},
            {.kind = AB_SPOOL_ALIGNED, .address = 0, .size = 1, .align = UINT64_MAX},
            {.kind = AB_SPOOL_ALIGNED, .address = 0x3000, .size = 1, .align = UINT64_MAX});
    assert_int_equal(report.info.ops[AB_EVENT_ALLOC_ALIGNED], 4);
}

static void damage_is_refused(void **state)
{
    (void)state;
    struct ab_err err = {0};
    struct ab_convert_report report;
    CONVERT(AB_INPUT, {.kind = 99, .address = 0x1000});
    CONVERT(AB_INPUT, {.kind = AB_SPOOL_RESIZE_END, .address = 0x1000, .size = 1});
    static struct ab_spool_event nested[65];
    for (size_t i = 0; i < 65; i++)
        nested[i] = (struct ab_spool_event){.kind = AB_SPOOL_RESIZE_BEGIN, .address = 16 * i};
    assert_int_equal(convert_events(nested, 65, &report, &err), AB_INPUT);
    CONVERT(AB_INPUT, {.kind = AB_SPOOL_ALLOC, .address = 0x1000, .size = UINT64_MAX});
}

static void the_last_image_with_events_is_the_one(void **state)
{
    (void)state;
    struct ab_err err = {0};
    struct ab_convert_report report;
    struct ab_spool_event events[3] = {{.kind = AB_SPOOL_ALLOC, .address = 0x1000, .size = 1},
                                       {.kind = AB_SPOOL_ALLOC, .address = 0x2000, .size = 1},
                                       {.kind = AB_SPOOL_ALLOC, .address = 0x3000, .size = 1}};
    struct ab_spool_header header = {.magic = AB_SPOOL_MAGIC};
    for (unsigned i = 0; i < 3; i++) {
        header.n_events = i == 2 ? 0 : 3 - i;
        write_image(i, &header, events, 3);
    }
    assert_int_equal(convert(&report, &err), AB_OK);
    assert_int_equal(report.n_images, 2);
    assert_int_equal(report.info.events, 2);
    remove_images();
    assert_int_equal(convert(&report, &err), AB_INPUT);
    assert_int_equal(report.n_images, 0);
}

static void calls_of_other_threads_refuse_the_whole(void **state)
{
    (void)state;
    struct ab_err err = {0};
    struct ab_convert_report report;
    struct ab_spool_event event = {.kind = AB_SPOOL_ALLOC, .address = 0x1000, .size = 1};
    struct ab_spool_header header = {.magic = AB_SPOOL_MAGIC, .n_events = 1, .n_other = 3};
    write_image(0, &header, &event, 1);
    assert_int_equal(convert(&report, &err), AB_INPUT);
    assert_non_null(strstr(err.text, "single-threaded"));
    remove_images();
}

/* n_events says more than the file holds: recording had to stop. */
static void places_beyond_the_file_are_not_read(void **state)
{
    (void)state;
    struct ab_err err = {0};
    struct ab_convert_report report;
    struct ab_spool_event event = {.kind = AB_SPOOL_ALLOC, .address = 0x1000, .size = 1};
    struct ab_spool_header header = {.magic = AB_SPOOL_MAGIC, .n_events = UINT64_MAX,
                                     .stop = AB_SPOOL_NO_SPACE};
    write_image(0, &header, &event, 1);
    assert_int_equal(convert(&report, &err), AB_OK);
    assert_int_equal(report.info.events, 1);
    assert_int_equal(report.stop, AB_SPOOL_NO_SPACE);
    remove_images();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_kind_becomes_one_call),
        cmocka_unit_test(a_failed_resize_leaves_its_block_alive),
        cmocka_unit_test(a_resize_to_nothing_ends_its_block),
        cmocka_unit_test(an_address_given_up_by_a_resize_may_be_taken_within_it),
        cmocka_unit_test(what_was_cut_off_is_counted_and_left_out),
        cmocka_unit_test(a_block_that_nobody_gave_out_is_counted_and_left_out),
        cmocka_unit_test(an_odd_alignment_is_rounded_up),
        cmocka_unit_test(damage_is_refused),
        cmocka_unit_test(the_last_image_with_events_is_the_one),
        cmocka_unit_test(calls_of_other_threads_refuse_the_whole),
        cmocka_unit_test(places_beyond_the_file_are_not_read),
    };
    if (mkdtemp(folder) == NULL)
        return 1;
    snprintf(trace_path, sizeof trace_path, "%s/t.abt", folder);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(trace_path);
    rmdir(folder);
    return failed;
}
