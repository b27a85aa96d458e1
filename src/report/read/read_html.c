/* SPDX-License-Identifier: MIT
 *
 * Finds the result in an HTML report and unpacks it. The page may be hostile: what is unpacked has
 * a bound, and zlib's checksum has to be right.
 */
#include "report/read/read_html.h"

#include "core/memory.h"
#include "core/text.h"
#include "report/read/json_in.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

struct text {
    char *s;
    size_t n;
};

bool ab_html_is_page(const char *path)
{
    static const char doctype[] = "<!doctype html";
    char head[sizeof doctype - 1];
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return false;
    bool is_page = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
                   pread(fd, head, sizeof head, 0) == (ssize_t)sizeof head &&
                   strncasecmp(head, doctype, sizeof head) == 0;
    close(fd);
    return is_page;
}

/* ---- where it is ---- */

static char *find(const struct text *in, size_t from, const char *what)
{
    return memmem(in->s + from, in->n - from, what, strlen(what));
}

static enum ab_status find_result(const struct text *page, const char *shown, struct text *out,
                                  struct ab_err *err)
{
    char *begin = find(page, 0, AB_HTML_RESULT_BEGIN);
    if (begin == NULL && find(page, 0, "</html>") == NULL)
        return ab_fail(err, AB_INPUT, "%s: truncated: the page has no end and no result", shown);
    if (begin == NULL)
        return ab_fail(err, AB_INPUT,
                       "%s: an HTML page without an allocbench result in it; a report has one "
                       "unless it is written with --embed=none",
                       shown);
    begin += strlen(AB_HTML_RESULT_BEGIN);
    size_t from = (size_t)(begin - page->s);
    char *end = find(page, from, AB_HTML_RESULT_END);
    if (end == NULL)
        return ab_fail(err, AB_INPUT, "%s: truncated within the embedded result", shown);
    if (find(page, from, AB_HTML_RESULT_BEGIN) != NULL)
        return ab_fail(err, AB_INPUT, "%s: has two embedded results, a report has one", shown);
    *out = (struct text){begin, (size_t)(end - begin)};
    return AB_OK;
}

/* ---- base64 ---- */

static int digit_value(char c)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *at = c != 0 ? strchr(digits, c) : NULL;
    return at != NULL ? (int)(at - digits) : -1;
}

/* In place; line breaks are passed over. */
static enum ab_status decode(struct text *t, const char *shown, struct ab_err *err)
{
    size_t n = 0, n_digits = 0, padding = 0;
    uint32_t v = 0;
    for (size_t i = 0; i < t->n; i++) {
        if (t->s[i] == '\n' || t->s[i] == '\r')
            continue;
        int digit = digit_value(t->s[i]);
        bool is_padding = t->s[i] == '=' && padding < 2;
        if (digit < 0 ? !is_padding : padding > 0)
            return ab_fail(err, AB_INPUT,
                           "%s: embedded result: character %zu is 0x%02x, which is not base64",
                           shown, i + 1, (unsigned)(unsigned char)t->s[i]);
        padding += digit < 0;
        v = v << 6 | (digit < 0 ? 0 : (uint32_t)digit);
        if (++n_digits % 4 != 0)
            continue;
        t->s[n++] = (char)(v >> 16);
        t->s[n++] = (char)(v >> 8);
        t->s[n++] = (char)v;
    }
    if (n_digits == 0 || n_digits % 4 != 0)
        return ab_fail(err, AB_INPUT,
                       "%s: embedded result: %zu base64 digits, must be a multiple of 4", shown,
                       n_digits);
    t->n = n - padding;
    return AB_OK;
}

/* ---- zlib ---- */

static enum ab_status grow(struct text *t, size_t used, size_t cap_bytes, const char *shown,
                           struct ab_err *err)
{
    if (used == cap_bytes)
        return ab_fail(err, AB_INPUT,
                       "%s: the embedded result is larger than %zu MiB, the most that can be read",
                       shown, cap_bytes >> 20);
    size_t wanted = t->n == 0 ? (size_t)1 << 20 : 2 * t->n;
    wanted = wanted < cap_bytes ? wanted : cap_bytes;
    *t = (struct text){ab_realloc(t->s, wanted, 1), wanted};
    return AB_OK;
}

static enum ab_status fail_zlib(int result, const char *shown, struct ab_err *err)
{
    return ab_fail(err, AB_INPUT, "%s: embedded result: %s", shown,
                   result == Z_DATA_ERROR  ? "altered: it does not unpack, or its checksum is wrong"
                   : result == Z_BUF_ERROR ? "truncated: its end is missing"
                                           : "it does not unpack");
}

/* out->s is malloc'ed, also after an error. */
static enum ab_status unpack(const struct text *packed, size_t cap_bytes, const char *shown,
                             struct text *out, struct ab_err *err)
{
    z_stream z = {.next_in = (Bytef *)packed->s, .avail_in = (uInt)packed->n};
    size_t used = 0;
    int result = inflateInit(&z);
    enum ab_status status = AB_OK;
    if (result != Z_OK)
        ab_memory_end(sizeof z);
    while (status == AB_OK && result == Z_OK) {
        if (used == out->n && (status = grow(out, used, cap_bytes, shown, err)) != AB_OK)
            break;
        z.next_out = (Bytef *)out->s + used;
        z.avail_out = (uInt)(out->n - used);
        result = inflate(&z, Z_NO_FLUSH);
        used = out->n - z.avail_out;
    }
    if (status == AB_OK && result != Z_STREAM_END)
        status = fail_zlib(result, shown, err);
    else if (status == AB_OK && z.avail_in != 0)
        status = ab_fail(err, AB_INPUT, "%s: embedded result: %u bytes after its end", shown,
                         z.avail_in);
    inflateEnd(&z);
    out->n = used;
    return status;
}

enum ab_status ab_html_load(const char *path, size_t cap_bytes, size_t cap_memory, json_t **out,
                            struct ab_err *err)
{
    struct text page = {0}, result = {0}, document = {0};
    char shown[512], what[600];
    ab_text_printable(shown, sizeof shown, path);
    snprintf(what, sizeof what, "%s: embedded result", shown);
    enum ab_status status = ab_json_read_file(path, cap_bytes, &page.s, &page.n, err);
    if (status == AB_OK && (status = find_result(&page, shown, &result, err)) == AB_OK &&
        (status = decode(&result, shown, err)) == AB_OK &&
        (status = unpack(&result, cap_bytes, shown, &document, err)) == AB_OK)
        status = ab_json_parse(document.s, document.n, cap_memory, what, out, err);
    free(document.s);
    free(page.s);
    return status;
}
