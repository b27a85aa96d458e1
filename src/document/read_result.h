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

/* Bounds. The largest session that --rounds allows, with 1000 rounds of four back ends, has 140
 * MiB. */
#define AB_STORED_FILE_MAX (UINT64_C(256) << 20)
#define AB_STORED_DOCUMENT_MAX (UINT64_C(1) << 30)   /* bytes of memory that the JSON takes */
#define AB_STORED_HISTOGRAMS_MAX (UINT64_C(2) << 30) /* bytes of memory: histogram pages in use */
enum {
    AB_STORED_BACKENDS_MAX = AB_COMBINATIONS_MAX, /* rows of back ends */
    AB_STORED_PHASES_MAX = 4096,
    AB_STORED_ROUNDS_MAX = 10000,
    AB_STORED_CPUS_MAX = 65536,
    AB_STORED_RECORDS_MAX = 1 << 20, /* records of each kind */
    AB_STORED_POINTS_MAX = 4096,     /* points of a timeline; allocbench writes 1,000 */
};

/* An HTML report contains its result between these two strings, in a data block that browsers do
 * not run: the document of --json, compressed by zlib, in base64 with line breaks. Texts of users
 * on the page contain neither string, because they are escaped. */
#define AB_HTML_RESULT_BEGIN \
    "<script type=\"application/vnd.allocbench.result+zlib\" id=\"allocbench-result\">"
#define AB_HTML_RESULT_END "</script>"

struct ab_stored {
    struct ab_session session;        /* its strings belong to the document */
    void *document;                   /* for a copy, the list of its strings */
    enum ab_checksum checksum;        /* WRONG = altered; such a result may still be shown */
    struct ab_comparison *comparison; /* set by ab_stored_read_checks and
                                         ab_stored_copy, else NULL; likewise compared_with, its
                                         base */
    struct ab_session *compared_with;
};

/* Reads a stored result, or an HTML report that contains one. Returns AB_INPUT if it is no result,
 * with one message that names file and place, what was found and what is allowed. Ignores unknown
 * keys. */
enum ab_status ab_stored_read(const char *path, struct ab_stored *out, struct ab_err *err);
/* Like ab_stored_read, for a document in memory, and takes ownership of it; `shown` names it in
 * errors. */
enum ab_status ab_stored_take(void *document, const char *shown, struct ab_stored *out,
                              struct ab_err *err);
/* Like ab_stored_read, for callers that use the numbers: also returns AB_INPUT if the checksum does
 * not match. */
enum ab_status ab_stored_read_unaltered(const char *path, struct ab_stored *out,
                                        struct ab_err *err);
/* Fills session.gates and session.comparison with the verdicts as they were given at measuring
 * time; ab_stored_fini frees them. Not needed if the caller judges its own gates. Keys of newer
 * versions may be missing. */
enum ab_status ab_stored_read_checks(const char *path, struct ab_stored *stored,
                                     struct ab_err *err);
/* Copies what a document has of a session, with its gates and its comparison. The copy writes the
 * same document. `out` stays where it is, because the comparison refers to it. */
void ab_stored_copy(const struct ab_session *from, enum ab_checksum checksum,
                    struct ab_stored *out);
void ab_stored_fini(struct ab_stored *stored);

#endif
