/* SPDX-License-Identifier: MIT
 *
 * Writes the cells of CSV files: quoted text, numbers, and the columns for run and back end.
 */
#include "report/csv.h"

#include "core/text.h"
#include "result/session.h"

#include <inttypes.h>
#include <string.h>

/* True for `@map`, `@map2` …: names that allocbench itself gives. No spreadsheet can misread
 * them. */
static bool is_map_row(const char *text)
{
    return strncmp(text, "@map", 4) == 0 && text[4 + strspn(text + 4, "0123456789")] == 0;
}

void ab_csv_text(FILE *to, const char *s)
{
    char text[2048];
    ab_text_printable(text, sizeof text, s);
    bool is_formula = text[0] != 0 && strchr("=+-@", text[0]) != NULL && !is_map_row(text);
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

void ab_csv_run(FILE *to, const struct ab_session *s, uint32_t backend)
{
    fprintf(to, "%.12s-%" PRIu64 ",", ab_session_digest(s, backend), s->seed);
}

void ab_csv_backend(FILE *to, const struct ab_session *s, uint32_t backend)
{
    ab_csv_text(to, AB_OWN_NAME(&s->backends[backend]));
}

void ab_csv_end_header(FILE *to, const struct ab_session *s)
{
    fputs(s->n_combinations > 0 ? ",params\r\n" : "\r\n", to);
}

void ab_csv_end_row(FILE *to, const struct ab_session *s, uint32_t backend)
{
    if (s->n_combinations > 0) {
        fputc(',', to);
        ab_csv_text(to, s->backends[backend].values);
    }
    fputs("\r\n", to);
}

void ab_csv_number(FILE *to, double x)
{
    fprintf(to, "%.12g", x);
}
