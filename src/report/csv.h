/* SPDX-License-Identifier: MIT
 *
 * What all CSV files have in common: RFC 4180 with one line a row, cells that no spreadsheet takes
 * for a formula, and the first column.
 */
#ifndef AB_REPORT_CSV_H
#define AB_REPORT_CSV_H

#include "result/result.h"

#include <stdio.h>

/* One text cell, quoted where needed. Control characters come as \xNN, so that a row is a line. */
void ab_csv_text(FILE *to, const char *s);
/* The cell `run`: the first 12 digits of the tape's digest, "-", the seed; and its comma. */
void ab_csv_run(FILE *to, const struct ab_session *s);
/* A finite number, to 12 digits. */
void ab_csv_number(FILE *to, double x);

#endif
