/* SPDX-License-Identifier: MIT
 *
 * Cells of CSV files: quoted text, numbers, and the column that names the run.
 */
#include "report/csv.h"

#include "core/text.h"

#include <inttypes.h>
#include <string.h>

void ab_csv_text(FILE *to, const char *s)
{
    char text[2048];
    ab_text_printable(text, sizeof text, s);
    bool is_formula = text[0] != 0 && strchr("=+-@", text[0]) != NULL;
    bool is_quoted = strpbrk(text, ",\"") != NULL || text[0] == ' ';
    if (is_quoted)
        fputc('"', to);
    if (is_formula)
        fputc('\'', to);
    for (const char *c = text; *c != 0; c++) {
        if (*c == '"')
            fputc('"', to);
        fputc(*c, to);
    }
    if (is_quoted)
        fputc('"', to);
}

void ab_csv_run(FILE *to, const struct ab_session *s)
{
    fprintf(to, "%.12s-%" PRIu64 ",", s->tape_sha256 != NULL ? s->tape_sha256 : "", s->seed);
}

void ab_csv_number(FILE *to, double x)
{
    fprintf(to, "%.12g", x);
}
