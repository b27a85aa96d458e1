/* SPDX-License-Identifier: MIT
 *
 * Reads a stored result, a JSON document of schema allocbench/2, back into the session that it was
 * written from. Writing it again gives the same document, byte for byte. The file may be hostile:
 * everything is checked before it is used, and every size has a bound.
 */
#ifndef AB_DOCUMENT_READ_RESULT_H
#define AB_DOCUMENT_READ_RESULT_H

#include "core/status.h"
#include "document/json.h"
#include "result/result.h"

/* Bounds on the size of what is read. The largest session that --rounds allows, with 1000 rounds of
 * four back ends, has 140 MiB. */
#define AB_STORED_FILE_MAX (UINT64_C(256) << 20)
/* bytes of memory that the parsed JSON takes */
#define AB_STORED_DOCUMENT_MAX (UINT64_C(1) << 30)
/* bytes of memory that the used pages of all histograms take */
#define AB_STORED_HISTOGRAMS_MAX (UINT64_C(2) << 30)
enum {
    AB_STORED_BACKENDS_MAX = AB_COMBINATIONS_MAX, /* rows of back ends */
    AB_STORED_PHASES_MAX = 4096,
    AB_STORED_ROUNDS_MAX = 10000,
    AB_STORED_CPUS_MAX = 65536,
    AB_STORED_RECORDS_MAX = 1 << 20, /* records in each list */
    AB_STORED_POINTS_MAX = 4096,     /* points of a timeline; allocbench itself writes 1,000 */
};

/* An HTML report contains its result between these two strings, in a data block that browsers do
 * not run: the document of --json, compressed by zlib, in base64 with line breaks. Texts of users
 * on the page contain neither string, because they are escaped. */
#define AB_HTML_RESULT_BEGIN \
    "<script type=\"application/vnd.allocbench.result+zlib\" id=\"allocbench-result\">"
#define AB_HTML_RESULT_END "</script>"

struct ab_stored {
    struct ab_session session; /* its strings belong to `document` */
    void *document;            /* JSON document; for a copy, the list of its strings */
    /* WRONG = the document was changed; its result may still be shown */
    enum ab_checksum checksum;
    /* comparison and its base compared_with: set by ab_stored_read_checks and ab_stored_copy;
     * otherwise NULL */
    struct ab_comparison *comparison;
    struct ab_session *compared_with;
};

/* Reads a stored result, or an HTML report that contains one. Returns AB_INPUT if the file is
 * neither, with one message that names file and place, what was found and what is allowed. Ignores
 * unknown keys. */
enum ab_status ab_stored_read(const char *path, struct ab_stored *out, struct ab_err *err);
/* Like ab_stored_read, for a document in memory, which it takes ownership of. `shown` names the
 * document in errors. */
enum ab_status ab_stored_take(void *document, const char *shown, struct ab_stored *out,
                              struct ab_err *err);
/* Like ab_stored_read, for callers that use the numbers: also returns AB_INPUT if the checksum does
 * not match. */
enum ab_status ab_stored_read_unaltered(const char *path, struct ab_stored *out,
                                        struct ab_err *err);
/* Fills session.gates and session.comparison with the verdicts that were stored. ab_stored_fini
 * frees them. Not needed if the caller judges gates of its own. Keys that only newer versions write
 * may be missing. */
enum ab_status ab_stored_read_checks(const char *path, struct ab_stored *stored,
                                     struct ab_err *err);
/* Copies all members of a session that a document contains, with its gates and its comparison.
 * Writing the copy gives the same document. *out must not be moved afterwards, because the
 * comparison points to it. */
void ab_stored_copy(const struct ab_session *from, enum ab_checksum checksum,
                    struct ab_stored *out);
void ab_stored_fini(struct ab_stored *stored);

#endif
