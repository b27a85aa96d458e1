/* SPDX-License-Identifier: MIT
 *
 * Cells common to all CSV files. The format is RFC 4180 with one line per row. No cell can be taken
 * for a formula by a spreadsheet.
 */
#ifndef AB_REPORT_CSV_H
#define AB_REPORT_CSV_H

#include "result/result.h"

#include <stdio.h>

/* Writes a text cell, quoted if needed, with a ' in front if a spreadsheet could take it for a
 * formula. Writes control characters as \xNN, so that a row stays on one line. */
void ab_csv_text(FILE *to, const char *s);
/* Writes the cell `run` and its comma: the first 12 digits of the digest of the row's tape, "-",
 * and the seed. */
void ab_csv_run(FILE *to, const struct ab_session *s, uint32_t backend);
/* Writes the cell `backend`: the name of the back end without param values. */
void ab_csv_backend(FILE *to, const struct ab_session *s, uint32_t backend);
/* Writes the end of a header or row: the cell `params` with its comma, if there are combinations of
 * values, and the line end. */
void ab_csv_end_header(FILE *to, const struct ab_session *s);
void ab_csv_end_row(FILE *to, const struct ab_session *s, uint32_t backend);
/* Writes a finite number with 12 digits. */
void ab_csv_number(FILE *to, double x);

#endif
