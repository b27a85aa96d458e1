/* SPDX-License-Identifier: MIT
 *
 * The tables of a stored result, schema allocbench/2. They define which member of a session each
 * key stores, and what it means. scripts/gen-docs makes results/allocbench-2.schema.json and
 * results/keys.csv from them. ab_sink_json uses the tables to write a document, read_result.c to
 * read one.
 */
#ifndef AB_DOCUMENT_SESSION_RECORD_H
#define AB_DOCUMENT_SESSION_RECORD_H

#include "document/read_result.h"
#include "document/record_table.h"
#include "document/stored_reader.h"
#include "result/result.h"

/* The whole document except its checksum. For writing, the context is the session itself; for
 * reading, it is the struct ab_stored_reader. */
extern const struct ab_record ab_session_record;
extern const struct ab_record ab_combination_record; /* for a struct ab_combination */

/* Rounds every number as it is stored in files (12 significant digits; whole numbers below 2^53
 * stay exact), so that tables made from the session equal those made from its file. */
void ab_session_settle(struct ab_session *session);

/* Returns the JSON Schema of the document: results/allocbench-2.schema.json. */
json_t *ab_session_schema(void);

/* Returns the whole document with its checksum. */
json_t *ab_session_json(const struct ab_session *session);
/* Writes the whole document. This is one of the output forms that sinks.def lists. */
void ab_sink_json(FILE *to, const struct ab_session *session);

/* Returns the plan of passes as JSON; null if it is not known. For each pass except throughput, it
 * has "all" or the number of rounds in which the pass runs. */
json_t *ab_json_passes(const struct ab_pass_plan *plan);

#endif
