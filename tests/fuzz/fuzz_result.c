/* SPDX-License-Identifier: MIT
 *
 * libFuzzer entry: any bytes as a stored result, as the result in an HTML page, and, if they are an
 * object of JSON, with their checksum taken out and with one that is right. What is accepted must be
 * writable, must come back as the same document, must print in every form without a character that
 * moves the cursor, turns the text or ends a script, and cannot be merged with itself.
 */
#include "document/checks_json.h"
#include "document/json_in.h"
#include "report/sinks/sinks.h"
#include "report/table/sink_table.h"
#include "result/merge/merge.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static enum ab_status read_bytes(const void *data, size_t n, struct ab_stored *out)
{
    char path[64];
    struct ab_err err = {.text = ""};
    int fd = memfd_create("result", MFD_CLOEXEC);
    if (fd < 0 || write(fd, data, n) != (ssize_t)n)
        abort();
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    enum ab_status status = ab_stored_read(path, out, &err);
    if (status == AB_OK && (status = ab_stored_read_checks(path, out, &err)) != AB_OK)
        ab_stored_fini(out);
    close(fd);
    if ((status == AB_OK) != (err.text[0] == 0) || (status != AB_OK && status != AB_INPUT))
        abort(); /* refused without a reason */
    return status;
}

enum { IS_DATA, IS_TEXT, IS_MARKUP };

/* Nothing that a terminal or a browser obeys: control characters, those that turn the text, an
 * element that is none of ours. */
static void check_harmless(const char *text, size_t n, int what)
{
    for (size_t i = 0; i < n; i++)
        if ((unsigned char)text[i] < 0x20 && text[i] != '\n' && text[i] != '\t')
            abort();
    if (strstr(text, "\xe2\x80\xae") != NULL)
        abort();
    if (what == IS_MARKUP && strstr(text, "</script><b>") != NULL)
        abort();
}

static void write_table(FILE *to, const struct ab_session *s)
{
    ab_sink_table(to, s, (struct ab_table_style){.width = 80, .utf8 = true});
    ab_sink_table(
        to, s,
        (struct ab_table_style){.width = 100, .topics = ab_topic_words_up_to(AB_LEVEL_RARE)});
}

static char *write_as(void (*write)(FILE *, const struct ab_session *), const struct ab_session *s,
                      int what, size_t *n)
{
    char *text = NULL;
    FILE *to = open_memstream(&text, n);
    if (to == NULL)
        abort();
    write(to, s);
    fclose(to);
    if (what != IS_DATA)
        check_harmless(text, *n, what);
    return text;
}

/* The document of a session; also makes all other forms of it. */
static char *write_all(const struct ab_session *s, size_t *n)
{
    static const struct {
        void (*write)(FILE *, const struct ab_session *);
        int what;
    } forms[] = {{write_table, IS_TEXT},     {ab_sink_csv, IS_DATA},
                 {ab_sink_junit, IS_MARKUP}, {ab_sink_markdown, IS_MARKUP},
                 {ab_sink_github, IS_TEXT},  {ab_sink_benchmark_json, IS_DATA}};
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++)
        free(write_as(forms[i].write, s, forms[i].what, n));
    return write_as(ab_sink_json, s, IS_DATA, n);
}

/* The page with the whole result in it is a result, too. */
static void check_page(struct ab_session *s)
{
    struct ab_stored again;
    size_t n = 0;
    s->embed = AB_EMBED_FULL;
    char *page = write_as(ab_sink_html, s, IS_MARKUP, &n);
    if (read_bytes(page, n, &again) != AB_OK)
        abort();
    free(page);
    ab_stored_fini(&again);
}

static void check_merge(struct ab_session *one, struct ab_session *same)
{
    struct ab_merge_part parts[] = {{.session = one, .file = "a"}, {.session = same, .file = "b"}};
    struct ab_session both;
    struct ab_err err = {.text = ""};
    if (one->n_rounds == 0)
        return;
    enum ab_status status = ab_merge(parts, 2, true, &both, &err);
    if ((status != AB_USAGE && status != AB_INPUT) || err.text[0] == 0)
        abort(); /* taken, or refused without a reason */
}

static void check_whole(struct ab_stored *one)
{
    struct ab_stored second;
    size_t n_first, n_second;
    char *once = write_all(&one->session, &n_first);
    if (read_bytes(once, n_first, &second) != AB_OK)
        abort();
    char *twice = write_as(ab_sink_json, &second.session, IS_DATA, &n_second);
    if (n_first != n_second || memcmp(once, twice, n_first) != 0)
        abort();
    if (n_first % 4 == 0) /* it takes longest */
        check_page(&one->session);
    check_merge(&one->session, &second.session);
    free(once);
    free(twice);
    ab_stored_fini(&second);
}

/* ---- the same document in other states ---- */

/* The status of the bytes; `is_unsealed` is what the session must say. */
static enum ab_status read_state(const char *bytes, size_t n, bool is_unsealed)
{
    struct ab_stored stored;
    enum ab_status status = read_bytes(bytes, n, &stored);
    if (status != AB_OK)
        return status;
    char *written = write_as(ab_sink_json, &stored.session, IS_DATA, &n);
    if (stored.session.is_unsealed != is_unsealed ||
        (strstr(written, "\"" AB_SEALED_KEY "\": false") != NULL) < is_unsealed)
        abort();
    free(written);
    ab_stored_fini(&stored);
    return status;
}

/* Takes the document. */
static enum ab_status read_document(json_t *document, bool is_unsealed)
{
    char *bytes = NULL;
    size_t n = 0;
    FILE *to = open_memstream(&bytes, &n);
    if (to == NULL)
        abort();
    ab_json_write(document, to, 0);
    fclose(to);
    enum ab_status status = read_state(bytes, n, is_unsealed);
    free(bytes);
    return status;
}

/* A checksum decides whether a result is believed, not whether it can be read. */
static void check_checksums(const uint8_t *data, size_t n)
{
    json_t *document = NULL;
    struct ab_err err;
    char text[AB_CHECKSUM_BYTES];
    if (ab_json_parse((const char *)data, n, AB_STORED_DOCUMENT_MAX, "bytes", &document, &err) !=
            AB_OK ||
        !json_is_object(document)) {
        json_decref(document);
        return;
    }
    ab_checksum_take(document);
    enum ab_status without = read_document(json_deep_copy(document), true);
    bool is_unsealed = json_is_false(json_object_get(document, AB_SEALED_KEY));
    ab_checksum_make(document, text);
    ab_json_put(document, AB_CHECKSUM_KEY, ab_json_string(text));
    if (read_document(document, is_unsealed) != without)
        abort();
}

/* The bytes as the result in a page are read as by themselves. */
static void check_embedded(const uint8_t *data, size_t n, enum ab_status alone)
{
    uLongf n_packed = compressBound(n);
    uint8_t *packed = malloc(n_packed);
    char *base64 = malloc(n_packed / 3 * 4 + 5), *page = NULL;
    size_t n_page = 0;
    FILE *to = open_memstream(&page, &n_page);
    struct ab_stored stored;
    if (packed == NULL || base64 == NULL || to == NULL ||
        compress2(packed, &n_packed, data, n, 1) != Z_OK)
        abort();
    ab_hdr_base64(base64, packed, n_packed);
    fprintf(to, "<!doctype html>\n" AB_HTML_RESULT_BEGIN "%s" AB_HTML_RESULT_END "\n", base64);
    fclose(to);
    enum ab_status status = read_bytes(page, n_page, &stored);
    if (status == AB_OK)
        ab_stored_fini(&stored);
    if (status != alone && strncasecmp((const char *)data, "<!doctype html", n < 14 ? n : 14) != 0)
        abort();
    free(page);
    free(base64);
    free(packed);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct ab_stored stored;
    enum ab_status status = read_bytes(data, n, &stored);
    if (status == AB_OK) {
        check_whole(&stored);
        ab_stored_fini(&stored);
    }
    check_checksums(data, n);
    check_embedded(data, n, status);
    return 0;
}
