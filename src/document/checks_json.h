/* SPDX-License-Identifier: MIT
 *
 * Reads and writes checks as JSON: the keys "gates", "claims" and "comparison" of a result, and the
 * document of `compare`. null means not known.
 */
#ifndef AB_DOCUMENT_CHECKS_JSON_H
#define AB_DOCUMENT_CHECKS_JSON_H

#include "document/read_result.h"
#include "document/record_table.h"
#include "result/verify_record.h"
#include "stats/compare.h"
#include <stdio.h>

/* the keys "gates", "claims" and "comparison"; members of struct ab_session */
extern const struct ab_record ab_checks_record;
extern const struct ab_record ab_gates_record; /* only the key "gates" */

/* Writes the document allocbench-compare/1: n comparisons with one base. */
void ab_comparisons_write(FILE *to, const struct ab_comparison *comparisons, size_t n,
                          int exit_code);

void ab_verify_json(FILE *to, const struct ab_verify_session *v);

#endif
