/* SPDX-License-Identifier: MIT
 *
 * Loads a stored result and hands it to the tables of session_record.c.
 */
#include "report/read/read_result.h"

#include "core/text.h"
#include "report/read/read_html.h"
#include "report/session_record.h"
#include "result/session.h"
#include "stats/compare.h"

#include <stdlib.h>

static void read_document(struct ab_stored_reader *r, struct ab_stored *out)
{
    struct ab_json_node document = {.json = out->document};
    struct ab_session *s = r->session;
    if (!json_is_object(document.json))
        ab_json_fail(&r->json, &document, "is not an allocbench result: not an object");
    ab_record_read(&r->json, &document, &ab_session_record, s, r);
    /* The session borrows what a command owns: here it is of the document. */
    out->phases = (const char **)(uintptr_t)s->phases;
    out->settings = (const char **)(uintptr_t)s->settings;
    out->cpus = (int *)(uintptr_t)s->cpus;
    out->overview = (struct ab_overview *)(uintptr_t)s->overview;
}

enum ab_status ab_stored_read(const char *path, struct ab_stored *out, struct ab_err *err)
{
    struct ab_stored stored = {0};
    json_t *document = NULL;
    bool is_page = ab_html_is_page(path);
    enum ab_status status = (is_page ? ab_html_load : ab_json_load)(
        path, AB_STORED_FILE_MAX, AB_STORED_DOCUMENT_MAX, &document, err);
    if (status != AB_OK)
        return status;
    stored.document = document;
    stored.checksum = ab_checksum_take(document);
    struct ab_stored_reader r = {.json = {.file = path, .err = err},
                                 .session = &stored.session,
                                 .room = ab_hdr_room_new(),
                                 .hdr_bytes_left = AB_STORED_HISTOGRAMS_MAX};
    read_document(&r, &stored);
    free(r.room);
    if (r.json.status == AB_OK)
        *out = stored;
    else
        ab_stored_fini(&stored);
    return r.json.status;
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

void ab_stored_fini(struct ab_stored *stored)
{
    if (stored->comparison != NULL)
        ab_comparison_fini(stored->comparison);
    free(stored->comparison);
    free(stored->compared_with);
    ab_session_fini(&stored->session);
    free(stored->session.backends);
    free(stored->session.gates);
    free(stored->phases);
    free(stored->settings);
    free(stored->cpus);
    free(stored->overview);
    ab_json_free(stored->document);
    *stored = (struct ab_stored){0};
}
