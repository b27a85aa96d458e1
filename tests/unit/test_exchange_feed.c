/* SPDX-License-Identifier: MIT
 *
 * Lines and records of a file of some megabytes, plain, gzip and zstd, in one piece and in several:
 * each comes once, whole and with its place.
 */
#include "exchange/feed.h"

#include "support/cmocka.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

enum { LINES = 60000, TEXT_MAX = LINES * 120 };
enum packing { PLAIN, GZIP, ZSTD, GZIP_PIECES, ZSTD_PIECES, PACKINGS };

static char *text;
static size_t n_text;

static size_t line_bytes(size_t i)
{
    return i % 101;
}

static int make_text(void **state)
{
    (void)state;
    text = malloc(TEXT_MAX);
    for (size_t i = 0; i < LINES; i++) {
        memset(text + n_text, 'a' + (int)(i % 26), line_bytes(i));
        n_text += line_bytes(i);
        text[n_text++] = '\n';
    }
    return 0;
}

static int drop_text(void **state)
{
    (void)state;
    free(text);
    return 0;
}

static void put(int fd, const void *bytes, size_t n)
{
    assert_int_equal(write(fd, bytes, n), n);
}

static void put_packed(int fd, enum packing packing, const char *bytes, size_t n)
{
    size_t cap = n + n / 8 + 4096, n_packed = 0;
    uint8_t *packed = malloc(cap);
    if (packing == ZSTD) {
        n_packed = ZSTD_compress(packed, cap, bytes, n, 1);
    } else {
        z_stream z = {.next_in = (void *)(uintptr_t)bytes, .avail_in = (uInt)n};
        z.next_out = packed;
        z.avail_out = (uInt)cap;
        assert_int_equal(deflateInit2(&z, 1, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY), Z_OK);
        assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
        n_packed = z.total_out;
        deflateEnd(&z);
    }
    put(fd, packed, n_packed);
    free(packed);
}

static int make_file(enum packing packing, char path[64])
{
    int fd = memfd_create("feed", 0);
    snprintf(path, 64, "/proc/self/fd/%d", fd);
    if (packing == PLAIN) {
        put(fd, text, n_text);
    } else if (packing == GZIP || packing == ZSTD) {
        put_packed(fd, packing, text, n_text);
    } else {
        for (size_t at = 0; at < n_text; at += 77777)
            put_packed(fd, packing == GZIP_PIECES ? GZIP : ZSTD, text + at,
                       n_text - at < 77777 ? n_text - at : 77777);
    }
    return fd;
}

static struct ab_feed *open_feed(const char *path, bool is_partial)
{
    struct ab_err err = {0};
    struct ab_feed *feed;
    if (ab_feed_open(path, is_partial, &feed, &err) != AB_OK)
        fail_msg("%s", err.text);
    return feed;
}

static void lines_come_once_and_whole(void **state)
{
    (void)state;
    for (enum packing packing = PLAIN; packing < PACKINGS; packing++) {
        char path[64], *line;
        int fd = make_file(packing, path);
        struct ab_feed *feed = open_feed(path, false);
        struct ab_err err = {0};
        for (size_t i = 0; i < LINES; i++) {
            assert_int_equal(ab_feed_line(feed, &line, &err), AB_OK);
            assert_non_null(line);
            assert_int_equal(strlen(line), line_bytes(i));
            assert_true(line_bytes(i) == 0 || line[0] == 'a' + (int)(i % 26));
        }
        for (int again = 0; again < 2; again++) {
            assert_int_equal(ab_feed_line(feed, &line, &err), AB_OK);
            assert_null(line);
        }
        assert_int_equal(ab_feed_end(feed), AB_FEED_WHOLE);
        ab_feed_bad(feed, &err, "wrong");
        assert_non_null(strstr(err.text, ":60000: wrong"));
        ab_feed_close(feed);
        close(fd);
    }
}

static void records_come_once_and_whole(void **state)
{
    enum { RECORD = 24 };
    (void)state;
    size_t n_whole = n_text / RECORD;
    for (enum packing packing = PLAIN; packing < PACKINGS; packing++) {
        char path[64];
        const uint8_t *record;
        int fd = make_file(packing, path);
        struct ab_feed *feed = open_feed(path, true);
        struct ab_err err = {0};
        for (size_t i = 0; i < n_whole; i++) {
            assert_int_equal(ab_feed_bytes(feed, RECORD, &record, &err), AB_OK);
            assert_memory_equal(record, text + i * RECORD, RECORD);
        }
        assert_int_equal(ab_feed_bytes(feed, RECORD, &record, &err), AB_OK);
        assert_null(record);
        assert_true((ab_feed_end(feed) == AB_FEED_CUT) == (n_text % RECORD != 0));
        ab_feed_close(feed);
        close(fd);
    }
}

/* At every length, what was cut off is noticed, and before it are whole lines alone. */
static void a_packed_file_is_refused_at_each_cut(void **state)
{
    (void)state;
    for (enum packing packing = GZIP; packing <= ZSTD; packing++) {
        char path[64], *line;
        size_t n_saved = n_text;
        n_text = 2000;
        int fd = make_file(packing, path);
        n_text = n_saved;
        for (off_t n = lseek(fd, 0, SEEK_END) - 1; n > 4; n--) {
            struct ab_err err = {0};
            assert_int_equal(ftruncate(fd, n), 0);
            struct ab_feed *feed = open_feed(path, false);
            enum ab_status status;
            while ((status = ab_feed_line(feed, &line, &err)) == AB_OK && line != NULL)
                ;
            assert_int_equal(status, AB_INPUT);
            assert_non_null(strstr(err.text, "unfinished"));
            ab_feed_close(feed);
        }
        close(fd);
    }
}

static void what_cannot_be_opened_is_named(void **state)
{
    struct ab_err err = {0};
    struct ab_feed *feed;
    (void)state;
    assert_int_equal(ab_feed_open("/nowhere", false, &feed, &err), AB_INPUT);
    assert_string_equal(err.text, "cannot open /nowhere: No such file or directory");
    assert_int_equal(ab_feed_open("/", false, &feed, &err), AB_INPUT);
    assert_string_equal(err.text, "/ is a folder");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_come_once_and_whole),
        cmocka_unit_test(records_come_once_and_whole),
        cmocka_unit_test(a_packed_file_is_refused_at_each_cut),
        cmocka_unit_test(what_cannot_be_opened_is_named),
    };
    return cmocka_run_group_tests(tests, make_text, drop_text);
}
