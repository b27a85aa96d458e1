/* SPDX-License-Identifier: MIT
 *
 * A stored result read back: the JSON document allocbench/2 into the session that it was written
 * from. Written again it is the same document, byte for byte. The file may be hostile: everything
 * is checked before it is believed, and what can be asked for has a bound.
 */
#ifndef AB_REPORT_READ_RESULT_H
#define AB_REPORT_READ_RESULT_H

#include "core/status.h"
#include "report/json.h"
#include "result/result.h"

/* Bounds. The largest session that --rounds allows, 1000 rounds of four back ends, has 140 MiB. */
#define AB_STORED_FILE_MAX (UINT64_C(256) << 20)
#define AB_STORED_DOCUMENT_MAX (UINT64_C(1) << 30)   /* of memory: what the JSON takes */
#define AB_STORED_HISTOGRAMS_MAX (UINT64_C(2) << 30) /* of memory: pages that are in use */
enum {
    AB_STORED_BACKENDS_MAX = AB_COMBINATIONS_MAX, /* rows */
    AB_STORED_PHASES_MAX = 4096,
    AB_STORED_ROUNDS_MAX = 10000,
    AB_STORED_CPUS_MAX = 65536,
    AB_STORED_RECORDS_MAX = 1 << 20, /* of each kind */
    AB_STORED_POINTS_MAX = 4096,     /* of a time line; we write 1,000 */
};

/* An HTML report has its result in a block of data that no browser runs: the JSON document that
 * --json writes, compressed by zlib, in base64 with line breaks. */
/* What precedes and follows it. Text of users is escaped on the page: it contains neither. */
#define AB_HTML_RESULT_BEGIN \
    "<script type=\"application/vnd.allocbench.result+zlib\" id=\"allocbench-result\">"
#define AB_HTML_RESULT_END "</script>"

struct ab_stored {
    struct ab_session session; /* its strings lie in the document */
    void *document;
    enum ab_checksum checksum; /* what was changed may still be looked at */
    const char **phases, **settings;
    int *cpus;
    struct ab_comparison *comparison; /* of ab_stored_read_checks, else NULL; so is its base */
    struct ab_session *compared_with;
    struct ab_overview *overview;
};

/* `path` is a stored result, or an HTML report with one in it.
 * AB_INPUT when it is no result: one message that names file and place, what was found and what is
 * allowed. Keys that are not known are passed over. */
enum ab_status ab_stored_read(const char *path, struct ab_stored *out, struct ab_err *err);
/* The same of a document in memory, which it takes; `shown` names it in errors. */
enum ab_status ab_stored_take(void *document, const char *shown, struct ab_stored *out,
                              struct ab_err *err);
/* The same for whoever goes on with its numbers: AB_INPUT also where its checksum does not match. */
enum ab_status ab_stored_read_unaltered(const char *path, struct ab_stored *out,
                                        struct ab_err *err);
void ab_stored_fini(struct ab_stored *stored);

#endif
