/* SPDX-License-Identifier: MIT
 *
 * Packs the JSON document of a session into a page.
 */
#include "report/html/embed.h"

#include "report/read/read_result.h"
#include "report/sinks/sinks.h"
#include "result/hdr.h"
#include "result/merge/merge_rounds.h"

#include <stdlib.h>
#include <zlib.h>

enum { LINE_BYTES = 768 }; /* of what is packed; a line has 1,024 digits */

/* malloc'ed; NULL when out of memory. */
static uint8_t *pack(const char *text, size_t n, size_t *n_packed)
{
    uLongf most = compressBound(n);
    uint8_t *packed = malloc(most);
    if (packed == NULL || compress2(packed, &most, (const Bytef *)text, n, 6) != Z_OK) {
        free(packed);
        return NULL;
    }
    *n_packed = most;
    return packed;
}

static void put_base64(FILE *to, const uint8_t *bytes, size_t n)
{
    char line[LINE_BYTES / 3 * 4 + 1];
    for (size_t at = 0; at < n; at += LINE_BYTES) {
        ab_hdr_base64(line, bytes + at, n - at < LINE_BYTES ? n - at : LINE_BYTES);
        fputs(line, to);
        fputc('\n', to);
    }
}

static bool put_result(FILE *to, const struct ab_session *s)
{
    char *text = NULL;
    size_t n = 0, n_packed = 0;
    FILE *memory = open_memstream(&text, &n);
    bool ok = memory != NULL && ab_sink_json(memory, s);
    ok = memory != NULL && fclose(memory) == 0 && ok;
    uint8_t *packed = ok ? pack(text, n, &n_packed) : NULL;
    if (packed != NULL) {
        fputs(AB_HTML_RESULT_BEGIN "\n", to);
        put_base64(to, packed, n_packed);
        fputs(AB_HTML_RESULT_END "\n", to);
    }
    free(packed);
    free(text);
    return packed != NULL;
}

bool ab_html_embed(FILE *to, const struct ab_session *session, enum ab_embed embed)
{
    struct ab_merged_rounds merged;
    if (embed == AB_EMBED_NONE)
        return true;
    if (embed == AB_EMBED_FULL)
        return put_result(to, session);
    ab_merge_rounds(session, &merged);
    bool ok = put_result(to, &merged.session);
    ab_merged_rounds_fini(&merged);
    return ok;
}
