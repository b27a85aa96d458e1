/* SPDX-License-Identifier: MIT
 *
 * What is written of large blocks: packed, read with its calls, and carried through cut and filter.
 * (Bad chunks: test_trace_sites.c.)
 */
#include "trace/written_table.h"

#include "support/cmocka.h"
#include "trace/format.h"
#include "trace/reader.h"
#include "trace/writer.h"
#include "trace_tools/rewrite.h"
#include "trace_tools/walk.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct ab_err err;

static const char golden[] = "tests/golden/traces/good/written.abt";

static void calls_of_a_chunk_come_sorted(void **state)
{
    (void)state;
    struct ab_written_table t = {0}, back = {0};
    uint8_t *raw = malloc(AB_TRACE_RAW_MAX);
    size_t done = 0;
    ab_written_add(&t, (struct ab_trace_written){70, 20, 3});
    ab_written_add(&t, (struct ab_trace_written){5, UINT32_MAX, UINT32_MAX});
    ab_written_add(&t, (struct ab_trace_written){1, 1, 0});
    size_t n = ab_written_encode(&t, &done, raw);
    assert_int_equal(done, 3);
    assert_int_equal(ab_written_encode(&t, &done, raw + n), 0);
    assert_null(ab_written_decode(&back, raw, n));
    assert_int_equal(back.n, 3);
    assert_int_equal(back.items[0].call, 1);
    assert_int_equal(back.items[1].known, UINT32_MAX);
    assert_int_equal(back.items[2].call, 70);
    assert_int_equal(back.items[2].pages, 3);
    assert_true(ab_written_sort(&back));
    for (size_t i = 0; i < n; i++) /* no part of it is a whole */
        assert_non_null(ab_written_decode(&back, raw, i));
    ab_written_add(&back, (struct ab_trace_written){70, 1, 1});
    assert_false(ab_written_sort(&back));
    ab_written_table_fini(&t);
    ab_written_table_fini(&back);
    free(raw);
}

/* "call:known:written" of those events that have it. */
static void read_text(const char *path, char *out, size_t cap)
{
    struct ab_trace_reader *r = NULL;
    struct ab_event events[8];
    size_t n = 1, used = 0;
    out[0] = 0;
    if (ab_trace_open(path, &r, &err) != AB_OK)
        fail_msg("%s", err.text);
    for (unsigned call = 0; n > 0;) {
        assert_int_equal(ab_trace_next(r, events, 3, &n, &err), AB_OK);
        for (size_t i = 0; i < n; i++, call++)
            if (events[i].known_pages != 0)
                used += (size_t)snprintf(out + used, cap - used, "%u:%u:%u ", call,
                                         events[i].known_pages, events[i].written_pages);
    }
    const struct ab_trace_info *info = ab_trace_reader_info(r);
    assert_int_equal(info->has_written, used > 0);
    ab_trace_close(r);
}

/* Written by another program, from the document. */
static void the_golden_file_is_read_with_its_calls(void **state)
{
    (void)state;
    char text[200];
    read_text(golden, text, sizeof text);
    assert_string_equal(text, "0:23040:576 1:200:100 3:512:0 8:73:73 ");
}

static void a_pipe_says_it_too_late(void **state)
{
    (void)state;
    struct ab_trace_reader *r = NULL;
    struct ab_event events[16];
    size_t n;
    FILE *f = popen("cat tests/golden/traces/good/written.abt", "r");
    char path[40];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fileno(f));
    assert_int_equal(ab_trace_open(path, &r, &err), AB_OK);
    assert_int_equal(ab_trace_next(r, events, 16, &n, &err), AB_OK);
    assert_int_equal(n, 10);
    assert_int_equal(events[0].known_pages, 0);
    assert_true(ab_trace_reader_info(r)->is_written_unread);
    assert_false(ab_trace_reader_info(r)->has_written);
    ab_trace_close(r);
    pclose(f);
}

/* Call 3 is the resize that gave the second block its size: so a part that begins behind it has that
 * block's share as of then. */
static void a_part_keeps_what_was_written_of_its_blocks(void **state)
{
    (void)state;
    struct ab_walk walk = {.path = golden, .begin = 4, .end = 9};
    struct ab_cut_report report;
    char text[200], path[] = "/tmp/test_written_XXXXXX";
    int fd = mkstemp(path);
    FILE *to = fdopen(fd, "w");
    assert_int_equal(ab_trace_cut(&walk, true, to, &report, &err), AB_OK);
    fclose(to);
    read_text(path, text, sizeof text);
    assert_string_equal(text, "0:23040:576 1:512:0 7:73:73 ");
    struct ab_filter filter = {.sizes = {0, 5000000}, .events = {0, UINT64_MAX}};
    struct ab_filter_report filtered;
    to = fopen(path, "w");
    walk = (struct ab_walk){.path = golden};
    assert_int_equal(ab_trace_filter(&walk, &filter, to, &filtered, &err), AB_OK);
    fclose(to);
    read_text(path, text, sizeof text);
    assert_string_equal(text, "0:200:100 2:512:0 6:73:73 ");
    remove(path);
}

static void merged_traces_keep_it_both(void **state)
{
    (void)state;
    const char *paths[] = {golden, golden};
    char text[200], path[] = "/tmp/test_written_XXXXXX";
    FILE *to = fdopen(mkstemp(path), "w");
    struct ab_merge_request merge = {.paths = paths, .n = 2, .is_serial = true, .to = to};
    struct ab_merge_report report;
    assert_int_equal(ab_trace_merge(&merge, &report, &err), AB_OK);
    fclose(to);
    read_text(path, text, sizeof text);
    assert_string_equal(text, "0:23040:576 1:200:100 3:512:0 8:73:73 "
                              "10:23040:576 11:200:100 13:512:0 18:73:73 ");
    remove(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_of_a_chunk_come_sorted),
        cmocka_unit_test(the_golden_file_is_read_with_its_calls),
        cmocka_unit_test(a_pipe_says_it_too_late),
        cmocka_unit_test(a_part_keeps_what_was_written_of_its_blocks),
        cmocka_unit_test(merged_traces_keep_it_both),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
