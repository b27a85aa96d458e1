/* SPDX-License-Identifier: MIT
 *
 * What all CSV files have in common: RFC 4180 with one line a row, cells that no spreadsheet takes
 * for a formula, and the first column.
 */
#ifndef AB_REPORT_CSV_H
#define AB_REPORT_CSV_H

#include "result/result.h"

#include <stdio.h>

/* One text cell, quoted where needed, with a ' in front of what a spreadsheet could take for a formula. Control characters come as \xNN, so that a row is a line. */
void ab_csv_text(FILE *to, const char *s);
/* The cell `run`: the first 12 digits of the digest of the row's tape, "-", the seed; and its comma. */
void ab_csv_run(FILE *to, const struct ab_session *s, uint32_t backend);
/* The cell `backend`: its name without values. */
void ab_csv_backend(FILE *to, const struct ab_session *s, uint32_t backend);
/* The last cells of a header and of a row, `params` with its comma, and the end of the line. Without
 * combinations of values there is no such cell. */
void ab_csv_end_header(FILE *to, const struct ab_session *s);
void ab_csv_end_row(FILE *to, const struct ab_session *s, uint32_t backend);
/* A finite number, to 12 digits. */
void ab_csv_number(FILE *to, double x);

#endif
