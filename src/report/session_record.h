/* SPDX-License-Identifier: MIT
 *
 * A result, schema allocbench/2, as tables: results/allocbench-2.schema.json says what is in it,
 * results/README.md what it means. Here is which member of a session each key is; ab_sink_json walks
 * over them to write a document, read_result.c to read one.
 */
#ifndef AB_REPORT_SESSION_RECORD_H
#define AB_REPORT_SESSION_RECORD_H

#include "report/read_result.h"
#include "report/record.h"
#include "report/stored_reader.h"
#include "result/result.h"

/* The whole document, but for its checksum. To write, the context is the session itself; to read, it
 * is the struct ab_stored_reader. */
extern const struct ab_record ab_session_record;
extern const struct ab_record ab_combination_record; /* of a struct ab_combination */

/* Rounds every number to what the files tell (12 significant digits; whole numbers below 2^53 stay
 * exact), so that a table made from the session and one made from its file are the same. */
void ab_session_settle(struct ab_session *session);

/* The whole document with its checksum. */
json_t *ab_session_json(const struct ab_session *session);
/* The whole document; true. An output form: sinks.def has a row for it. */
bool ab_sink_json(FILE *to, const struct ab_session *session);

/* Null where it is not known; each pass but throughput is "all" or in how many rounds it runs. */
json_t *ab_json_passes(const struct ab_pass_plan *plan);

#endif
