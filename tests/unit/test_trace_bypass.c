/* SPDX-License-Identifier: MIT
 *
 * The chunk of calls past the recorder: what is written is read, what does not fit is refused.
 */
#include "trace/format.h"

#include "support/cmocka.h"
#include "trace/reader.h"
#include "trace/writer.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct ab_trace_bypass made(void)
{
    struct ab_trace_bypass b = {.least_calls = 7, .most_bytes = 12345};
    ab_bypass_add_module(&b, "libone.so");
    ab_bypass_add_module(&b, "two");
    return b;
}

static void what_is_encoded_is_decoded(void **state)
{
    uint8_t bytes[AB_TRACE_BYPASS_MAX];
    struct ab_trace_bypass b = made(), got;
    (void)state;
    size_t n = ab_bypass_encode(&b, bytes);
    assert_int_equal(n, AB_TRACE_BYPASS_FIXED + 14);
    assert_null(ab_bypass_decode(bytes, n, &got));
    assert_true(got.is_there);
    assert_int_equal(got.least_calls, 7);
    assert_int_equal(got.most_bytes, 12345);
    assert_int_equal(got.n_modules, 2);
    assert_int_equal(got.n_names, 14);
    assert_memory_equal(got.names, "libone.so\0two", 14);
}

static void names_without_room_are_counted(void **state)
{
    uint8_t bytes[AB_TRACE_BYPASS_MAX];
    struct ab_trace_bypass b = {0}, got;
    char name[100];
    (void)state;
    memset(name, 'x', sizeof name - 1);
    name[sizeof name - 1] = 0;
    for (int i = 0; i < 9; i++)
        ab_bypass_add_module(&b, name);
    assert_int_equal(b.n_names, 500);
    assert_null(ab_bypass_decode(bytes, ab_bypass_encode(&b, bytes), &got));
    assert_int_equal(got.n_modules, 9);
}

static void what_does_not_fit_is_refused(void **state)
{
    uint8_t bytes[AB_TRACE_BYPASS_MAX + 1] = {0};
    struct ab_trace_bypass b = made(), got = {0};
    (void)state;
    size_t n = ab_bypass_encode(&b, bytes);
    for (size_t cut = 0; cut < n; cut++)
        assert_non_null(ab_bypass_decode(bytes, cut, &got));
    assert_non_null(ab_bypass_decode(bytes, n + 1, &got));
    bytes[n - 1] = 'x'; /* no NUL */
    assert_non_null(ab_bypass_decode(bytes, n, &got));
    bytes[n - 1] = 0;
    bytes[16] = 1; /* two names of one module */
    assert_non_null(ab_bypass_decode(bytes, n, &got));
    bytes[16] = 2;
    bytes[22] = 1; /* 65,550 bytes of names */
    assert_non_null(ab_bypass_decode(bytes, n, &got));
    bytes[22] = 0;
    assert_null(ab_bypass_decode(bytes, n, &got));
}

static void write_trace(const char *path, const struct ab_trace_bypass *b)
{
    struct ab_trace_writer *w;
    struct ab_err err;
    uint64_t number;
    FILE *to = fopen(path, "wb");
    assert_int_equal(ab_trace_writer_open(to, "p", &w, &err), AB_OK);
    struct ab_event alloc = {.kind = AB_EVENT_ALLOC, .size = 10};
    assert_int_equal(ab_trace_write(w, &alloc, &number, &err), AB_OK);
    ab_trace_writer_bypass(w, b);
    assert_int_equal(ab_trace_writer_close(w, NULL, &err), AB_OK);
    fclose(to);
}

static void a_trace_has_it_where_there_is_something_to_say(void **state)
{
    char path[] = "/tmp/ab-bypass-XXXXXX";
    struct ab_trace_bypass b = made(), none = {0};
    (void)state;
    close(mkstemp(path));
    for (int round = 0; round < 2; round++) {
        struct ab_trace_reader *r;
        struct ab_event events[4];
        struct ab_err err;
        size_t n;
        write_trace(path, round == 0 ? &b : &none);
        assert_int_equal(ab_trace_open(path, &r, &err), AB_OK);
        assert_int_equal(ab_trace_next(r, events, 4, &n, &err), AB_OK);
        assert_int_equal(n, 1);
        bool has_more;
        assert_int_equal(ab_trace_has_more(r, &has_more, &err), AB_OK); /* up to the end mark */
        const struct ab_trace_info *info = ab_trace_reader_info(r);
        assert_int_equal(info->bypass.is_there, round == 0);
        assert_int_equal(info->bypass.least_calls, round == 0 ? 7 : 0);
        assert_int_equal(info->optional_chunks, 0);
        ab_trace_close(r);
    }
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_encoded_is_decoded),
        cmocka_unit_test(names_without_room_are_counted),
        cmocka_unit_test(what_does_not_fit_is_refused),
        cmocka_unit_test(a_trace_has_it_where_there_is_something_to_say),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
