/* SPDX-License-Identifier: MIT
 *
 * A result goes into a page and comes out again; pages that are damaged, or made to do harm, are
 * refused with one sentence.
 * tests: read_result.c
 */
#include "document/read_result.h"
#include "document/session_record.h"
#include "report/html/report.h"
#include "report/sinks/sinks.h"
#include "result/hdr.h"
#include "result/numbers.h"
#include "result/session.h"
#include "support/cmocka.h"
#include "support/report_depth.h"
#include "support/stored_text.h"

#include <string.h>
#include <zlib.h>

#define HEAD "<!DOCTYPE html>\n<html><body>\n"
#define TAIL "</body></html>\n"

struct page {
    char *s;
    size_t n;
};

static struct page page_of(const struct ab_session *s, enum ab_embed embed)
{
    struct page page = {0};
    FILE *to = open_memstream(&page.s, &page.n);
    fputs(HEAD, to);
    ab_html_embed(to, s, embed);
    fputs(TAIL, to);
    fclose(to);
    return page;
}

static void assert_refused(const char *s, size_t n, const char *message)
{
    struct ab_stored stored;
    struct ab_err err = {.text = ""};
    assert_int_equal(read_text(s, n, &stored, &err), AB_INPUT);
    if (strstr(err.text, message) == NULL)
        fail_msg("no \"%s\" in: %s", message, err.text);
}

static void write_json(FILE *to, const struct ab_session *s, void *user)
{
    (void)user;
    ab_sink_json(to, s);
}

static void all_of_a_result_comes_out_of_a_page(void **state)
{
    (void)state;
    struct fake_depth *d = fake_depth_new();
    struct ab_stored stored;
    struct ab_err err = {.text = ""};
    ab_session_settle(&d->f->s);
    struct page page = page_of(&d->f->s, AB_EMBED_FULL);
    if (read_text(page.s, page.n, &stored, &err) != AB_OK)
        fail_msg("%s", err.text);
    char *before = fake_capture(write_json, &d->f->s, NULL);
    char *after = fake_capture(write_json, &stored.session, NULL);
    assert_string_equal(before, after);
    free(before);
    free(after);
    ab_stored_fini(&stored);
    free(page.s);
    fake_depth_free(d);
}

static void histograms_are_merged_by_default(void **state)
{
    (void)state;
    struct fake_depth *d = fake_depth_new();
    struct ab_stored stored;
    struct ab_err err = {.text = ""};
    struct page full = page_of(&d->f->s, AB_EMBED_FULL);
    struct page page = page_of(&d->f->s, AB_EMBED_MERGED);
    assert_true(page.n < full.n);
    if (read_text(page.s, page.n, &stored, &err) != AB_OK)
        fail_msg("%s", err.text);
    assert_true(stored.session.is_histogram_merged);
    assert_int_equal(stored.session.n_rounds, d->f->s.n_rounds);
    ab_stored_fini(&stored);
    free(page.s);
    free(full.s);
    fake_depth_free(d);
}

static void a_page_without_a_result_says_so(void **state)
{
    (void)state;
    struct fake_depth *d = fake_depth_new();
    struct page page = page_of(&d->f->s, AB_EMBED_NONE);
    assert_int_equal(page.n, strlen(HEAD TAIL));
    assert_refused(page.s, page.n, "without an allocbench result in it");
    free(page.s);
    fake_depth_free(d);
}

static void every_cut_is_refused(void **state)
{
    (void)state;
    struct fake_depth *d = fake_depth_new();
    struct page page = page_of(&d->f->s, AB_EMBED_MERGED);
    size_t end = (size_t)((char *)memmem(page.s, page.n, AB_HTML_RESULT_END, 9) - page.s);
    for (size_t n = 16; n < end; n += 997)
        assert_refused(page.s, n, "truncated");
    free(page.s);
    fake_depth_free(d);
}

static void every_changed_digit_is_noticed(void **state)
{
    (void)state;
    struct fake_depth *d = fake_depth_new();
    struct page page = page_of(&d->f->s, AB_EMBED_MERGED);
    size_t begin = strlen(HEAD AB_HTML_RESULT_BEGIN "\n");
    size_t end = (size_t)((char *)memmem(page.s, page.n, AB_HTML_RESULT_END, 9) - page.s) - 6;
    for (size_t i = begin; i < end; i += (end - begin) / 300 + 1) {
        char was = page.s[i];
        if (was == '\n')
            continue;
        page.s[i] = was == 'A' ? 'B' : 'A';
        assert_refused(page.s, page.n, "embedded result: ");
        page.s[i] = was;
    }
    page.s[begin + 5] = '<';
    assert_refused(page.s, page.n, "is 0x3c, which is not base64");
    free(page.s);
    fake_depth_free(d);
}

static void put_packed(FILE *to, const uint8_t *bytes, size_t n)
{
    char *digits = malloc((n + 2) / 3 * 4 + 1);
    ab_hdr_base64(digits, bytes, n);
    fprintf(to, HEAD AB_HTML_RESULT_BEGIN "\n%s\n" AB_HTML_RESULT_END TAIL, digits);
    free(digits);
}

/* 300 MiB of spaces, packed into 300 KiB. */
static void what_unpacks_to_too_much_is_refused(void **state)
{
    (void)state;
    enum { MOST = 1 << 20 };
    static uint8_t packed[MOST], spaces[MOST];
    memset(spaces, ' ', sizeof spaces);
    z_stream z = {.next_out = packed, .avail_out = MOST};
    assert_int_equal(deflateInit(&z, 9), Z_OK);
    for (unsigned i = 0; i < 300; i++) {
        z.next_in = spaces;
        z.avail_in = MOST;
        assert_int_equal(deflate(&z, i == 299 ? Z_FINISH : Z_NO_FLUSH),
                         i == 299 ? Z_STREAM_END : Z_OK);
    }
    size_t n = MOST - z.avail_out;
    deflateEnd(&z);
    struct page page = {0};
    FILE *to = open_memstream(&page.s, &page.n);
    put_packed(to, packed, n);
    fclose(to);
    assert_refused(page.s, page.n, "the embedded result is larger than 256 MiB");
    free(page.s);
}

static void what_is_packed_is_read_as_hostile_too(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message;
    } wrong[] = {
        {"[1,", "embedded result:1:3: not valid JSON"},
        {"[]", "is not an allocbench result"},
        {"{\"schema\": \"allocbench/1\"}", "of an older allocbench"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        uint8_t packed[256];
        uLongf n = sizeof packed;
        compress2(packed, &n, (const Bytef *)wrong[i].text, strlen(wrong[i].text), 9);
        struct page page = {0};
        FILE *to = open_memstream(&page.s, &page.n);
        put_packed(to, packed, n);
        fclose(to);
        assert_refused(page.s, page.n, wrong[i].message);
        free(page.s);
    }
}

static void two_results_in_a_page_are_refused(void **state)
{
    (void)state;
    static const char two[] = HEAD AB_HTML_RESULT_BEGIN
        "AAAA" AB_HTML_RESULT_END AB_HTML_RESULT_BEGIN "AAAA" AB_HTML_RESULT_END TAIL;
    assert_refused(two, strlen(two), "has two embedded results");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_of_a_result_comes_out_of_a_page),
        cmocka_unit_test(histograms_are_merged_by_default),
        cmocka_unit_test(a_page_without_a_result_says_so),
        cmocka_unit_test(every_cut_is_refused),
        cmocka_unit_test(every_changed_digit_is_noticed),
        cmocka_unit_test(what_unpacks_to_too_much_is_refused),
        cmocka_unit_test(what_is_packed_is_read_as_hostile_too),
        cmocka_unit_test(two_results_in_a_page_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
