/* SPDX-License-Identifier: MIT
 *
 * Loads a stored result, or finds and unpacks the one in an HTML report, and passes it to the
 * tables of session_record.c.
 */
#include "document/read_result.h"

#include "core/alloc.h"
#include "core/text.h"
#include "document/checks_json.h"
#include "document/session_record.h"
#include "result/session.h"
#include "stats/compare.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

/* ---- the result in a page ---- */

struct text {
    char *s;
    size_t n;
};

/* True if the file begins like an HTML document. False also if it cannot be read. */
static bool is_page(const char *path)
{
    static const char doctype[] = "<!doctype html";
    char head[sizeof doctype - 1];
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return false;
    bool is_html = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
                   pread(fd, head, sizeof head, 0) == (ssize_t)sizeof head &&
                   strncasecmp(head, doctype, sizeof head) == 0;
    close(fd);
    return is_html;
}

/* ---- finding the block ---- */

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

/* Decodes base64 in place, and skips line breaks. */
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

/* Unpacks with zlib. out->s is malloc'ed, even after an error. */
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

/* Loads the document in an HTML page. The page and the unpacked document may each have at most
 * `cap_bytes`, and the parsed document may take `cap_memory` bytes. The page may be hostile; the
 * checksum that zlib stores must be right. */
static enum ab_status load_page(const char *path, size_t cap_bytes, size_t cap_memory, json_t **out,
                                struct ab_err *err)
{
    struct text page = {0}, result = {0}, document = {0};
    char shown[512], what[600];
    ab_text_printable(shown, sizeof shown, path);
    AB_FIT(what, "%s: embedded result", shown);
    enum ab_status status = ab_json_read_file(path, cap_bytes, &page.s, &page.n, err);
    if (status == AB_OK && (status = find_result(&page, shown, &result, err)) == AB_OK &&
        (status = decode(&result, shown, err)) == AB_OK &&
        (status = unpack(&result, cap_bytes, shown, &document, err)) == AB_OK)
        status = ab_json_parse(document.s, document.n, cap_memory, what, out, err);
    free(document.s);
    free(page.s);
    return status;
}

/* ---- the result ---- */

static void read_document(struct ab_stored_reader *r, struct ab_stored *out)
{
    struct ab_json_node document = {.json = out->document};
    if (!json_is_object(document.json))
        ab_json_fail(&r->json, &document, "is not an allocbench result: not an object");
    ab_record_read(&r->json, &document, &ab_session_record, r->session, r);
}

enum ab_status ab_stored_take(void *document, const char *shown, struct ab_stored *out,
                              struct ab_err *err)
{
    struct ab_stored stored = {.document = document, .checksum = ab_checksum_take(document)};
    struct ab_stored_reader r = {.json = {.file = shown, .err = err},
                                 .session = &stored.session,
                                 .room = ab_hdr_room_new(),
                                 .hdr_bytes_left = AB_STORED_HISTOGRAMS_MAX};
    read_document(&r, &stored);
    stored.session.is_unsealed |= stored.checksum == AB_CHECKSUM_NONE;
    free(r.room);
    ab_backends_set_labels(stored.session.backends, stored.session.n_backends);
    if (r.json.status == AB_OK && stored.checksum != AB_CHECKSUM_GOOD)
        /* rounds the numbers, because a file that others edited may have more digits than
         * allocbench writes */
        ab_session_settle(&stored.session);
    if (r.json.status == AB_OK)
        *out = stored;
    else
        ab_stored_fini(&stored);
    return r.json.status;
}

enum ab_status ab_stored_read(const char *path, struct ab_stored *out, struct ab_err *err)
{
    json_t *document = NULL;
    AB_TRY((is_page(path) ? load_page : ab_json_load)(path, AB_STORED_FILE_MAX,
                                                      AB_STORED_DOCUMENT_MAX, &document, err));
    return ab_stored_take(document, path, out, err);
}

enum ab_status ab_stored_read_unaltered(const char *path, struct ab_stored *out, struct ab_err *err)
{
    struct ab_stored stored;
    AB_TRY(ab_stored_read(path, &stored, err));
    if (stored.checksum == AB_CHECKSUM_WRONG) {
        ab_stored_fini(&stored);
        return ab_fail(err, AB_INPUT,
                       "%s was altered after it was written: its checksum does not match; "
                       "measure again, or take an unaltered copy",
                       AB_SHOWN(512, path));
    }
    *out = stored;
    return AB_OK;
}

/* ---- verdicts, and copies ---- */

/* Sets the members of a comparison that documents do not contain. `base` is an empty session that
 * stands for the other result. */
static void complete(struct ab_comparison *c, struct ab_session *now, struct ab_session *base)
{
    c->now = now;
    c->base = c->base_label == NULL && c->now_label == NULL
                  ? now
                  /* without labels, the back ends of one result are compared; otherwise two
                   * results */
                  : base;
    c->is_advisory = c->advisory[0] != 0;
    c->cap_cells = c->n_cells;
    c->cap_notes = c->n_notes;
    for (uint32_t i = 0; i < c->n_cells; i++)
        base->n_rounds = c->cells[i].effect.n_base > base->n_rounds ? c->cells[i].effect.n_base
                                                                    : base->n_rounds;
}

/* Makes `stored` the owner of session.comparison, if there is one, and sets its members that
 * documents do not contain. */
static void take_comparison(struct ab_stored *stored)
{
    struct ab_session *s = &stored->session;
    if (s->comparison == NULL)
        return;
    stored->comparison = (struct ab_comparison *)(uintptr_t)s->comparison;
    stored->compared_with = ab_alloc_zeroed(1, sizeof *stored->compared_with);
    complete(stored->comparison, s, stored->compared_with);
}

enum ab_status ab_stored_read_checks(const char *path, struct ab_stored *stored, struct ab_err *err)
{
    struct ab_session *s = &stored->session;
    struct ab_stored_reader r = {.json = {.file = path, .err = err}, .session = s};
    struct ab_json_node document = {.json = stored->document};
    ab_record_read(&r.json, &document, &ab_checks_record, s, &r);
    take_comparison(stored);
    return r.json.status;
}

void ab_stored_copy(const struct ab_session *from, enum ab_checksum checksum, struct ab_stored *out)
{
    struct ab_session *s = &out->session;
    *out = (struct ab_stored){.checksum = checksum, .document = json_array()};
    ab_record_copy(&ab_session_record, from, s, out->document, s);
    /* the members that are set here are not in documents, so the copy does not have them */
    s->start = 0;
    s->stacks = NULL;
    for (uint32_t i = 0; i < s->n_backends; i++)
        s->backends[i].is_control = false;
    for (uint32_t i = 0; i < s->n_nulls; i++)
        s->nulls[i].iteration_call_ns = NAN;
    ab_session_close_lists(s);
    ab_session_settle(s);
    ab_record_settle(&ab_checks_record, s);
    take_comparison(out);
}

void ab_stored_fini(struct ab_stored *stored)
{
    struct ab_session *s = &stored->session;
    if (stored->comparison != NULL)
        ab_comparison_fini(stored->comparison);
    free(stored->comparison);
    free(stored->compared_with);
    ab_session_fini(s);
    free(s->backends);
    free(s->gates);
    /* a session usually borrows these lists from a command, but here they were malloc'ed */
    free((void *)(uintptr_t)s->phases);
    free((void *)(uintptr_t)s->settings);
    free((void *)(uintptr_t)s->cpus);
    free((void *)(uintptr_t)s->overview);
    ab_json_free(stored->document);
    *stored = (struct ab_stored){0};
}
