/* SPDX-License-Identifier: MIT
 *
 * A result, schema allocbench/2, as tables: results/allocbench-2.schema.json says what is in it,
 * results/README.md what it means. Here is which member of a session each key is; ab_sink_json walks
 * over them to write a document, read_result.c to read one.
 */
#ifndef AB_REPORT_SESSION_RECORD_H
#define AB_REPORT_SESSION_RECORD_H

#include "report/read/read_result.h"
#include "report/record.h"
#include "result/result.h"

/* The state of one reading of a stored result. */
struct ab_stored_reader {
    struct ab_json_reader json;
    struct ab_session *session; /* back ends, phases and rounds are there before the records */
    struct ab_hdr_room *room;
    uint64_t hdr_bytes_left;
};

/* The whole document, but for its checksum. To write, the context is the session itself; to read, it
 * is the struct ab_stored_reader. */
extern const struct ab_record ab_session_record;

/* Zeroed room for n records of a list; NULL after an error, and for none. */
void *ab_stored_records(struct ab_stored_reader *r, size_t n, size_t bytes);
/* The back end that o[key] names; 0 after an error. */
uint32_t ab_stored_backend(struct ab_stored_reader *r, const struct ab_json_node *o,
                           const char *key);

/* Rounds every number to what the files tell (12 significant digits; whole numbers below 2^53 stay
 * exact), so that a table made from the session and one made from its file are the same. */
void ab_session_settle(struct ab_session *session);

/* Null where it is not known; each pass but throughput is "all" or in how many rounds it runs. */
json_t *ab_json_passes(const struct ab_pass_plan *plan);

#endif
