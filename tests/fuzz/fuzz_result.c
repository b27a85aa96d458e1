/* SPDX-License-Identifier: MIT
 *
 * libFuzzer entry: any bytes as a stored result. What is accepted must be writable, must come back
 * as the same document, must print in every form without a character that moves the cursor, turns
 * the text or ends a script, and cannot be merged with itself.
 */
#include "report/checks_json.h"
#include "report/sinks/sinks.h"
#include "report/table/sink_table.h"
#include "result/merge/merge.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

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

static bool write_table(FILE *to, const struct ab_session *s)
{
    ab_sink_table(to, s, (struct ab_table_style){.width = 80, .utf8 = true});
    ab_sink_table(to, s, (struct ab_table_style){.width = 100, .topics = AB_TOPICS_ALL});
    return true;
}

static char *write_as(bool (*write)(FILE *, const struct ab_session *), const struct ab_session *s,
                      int what, size_t *n)
{
    char *text = NULL;
    FILE *to = open_memstream(&text, n);
    if (to == NULL || !write(to, s))
        abort();
    fclose(to);
    if (what != IS_DATA)
        check_harmless(text, *n, what);
    return text;
}

/* The document of a session; also makes all other forms of it. */
static char *write_all(const struct ab_session *s, size_t *n)
{
    static const struct {
        bool (*write)(FILE *, const struct ab_session *);
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
    if (one->n_rounds > 0 && ab_merge(parts, 2, true, &both, &err) != AB_USAGE)
        abort();
    if (one->n_rounds > 0 && err.text[0] == 0)
        abort(); /* refused without a reason */
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct ab_stored first, second;
    size_t n_first, n_second;
    if (read_bytes(data, n, &first) != AB_OK)
        return 0;
    char *once = write_all(&first.session, &n_first);
    if (read_bytes(once, n_first, &second) != AB_OK)
        abort();
    char *twice = write_all(&second.session, &n_second);
    if (n_first != n_second || memcmp(once, twice, n_first) != 0)
        abort();
    check_page(&first.session);
    check_merge(&first.session, &second.session);
    free(once);
    free(twice);
    ab_stored_fini(&first);
    ab_stored_fini(&second);
    return 0;
}
