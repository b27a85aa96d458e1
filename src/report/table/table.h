/* SPDX-License-Identifier: MIT
 *
 * Layout for terminals: tables that fit the width by leaving out columns (and naming them), and
 * wrapped prose. A row is never wrapped. Rows are collected before printing, because a column is as
 * wide as its widest cell.
 */
#ifndef AB_REPORT_TABLE_TABLE_H
#define AB_REPORT_TABLE_TABLE_H

#include "answer/answer.h"
#include "answer/grid.h"
#include "core/text.h"
#include "report/table/style.h"
#include "result/result.h"
#include "result/shown.h"

#include <stddef.h>
#include <stdio.h>

enum { AB_TABLE_COLUMNS_MAX = 12, AB_TABLE_LABEL_BYTES = 512 };

struct ab_table_column {
    const char *title;
    /* 0 = always shown. If the width is short, the columns with the highest number are dropped
     * first */
    unsigned drop;
};

struct ab_table_row {
    bool is_heading;           /* True for a heading of the rows after it; the first heading carries
                                  the titles */
    enum ab_emphasis emphasis; /* for the whole row; headings are strong */
    char label[AB_TABLE_LABEL_BYTES];
    char cells[AB_TABLE_COLUMNS_MAX][AB_CELL_BYTES];
    struct ab_text below; /* words under the row, wrapped; the table frees them */
};

struct ab_table {
    const struct ab_table_column *columns;
    unsigned n_columns;
    struct ab_table_row *rows;
    size_t n_rows, cap_rows;
    /* names for the list of dropped columns; NULL = the columns' titles; "" = the caller names the
     * column elsewhere */
    const char *const *names;
};

void ab_table_init(struct ab_table *t, const struct ab_table_column *columns, unsigned n_columns);
void ab_table_fini(struct ab_table *t);

/* Adds a row with empty cells; `label` may be hostile. */
struct ab_table_row *ab_table_add(struct ab_table *t, const char *label, bool is_heading);
/* Returns the columns that fit into the width, bit c for column c. Lets the caller mention dropped
 * ones elsewhere before it prints. */
unsigned ab_table_shown(const struct ab_table *t, struct ab_table_style style);
/* Prints the table, and the names of dropped columns in an extra line. Returns the shown columns,
 * bit c for column c. */
unsigned ab_table_print(FILE *to, const struct ab_table *t, struct ab_table_style style);

/* Prints one line, cut to the width. */
void ab_table_line(FILE *to, struct ab_table_style style, enum ab_emphasis emphasis,
                   const char *text);
/* Prints words, wrapped to the width. The first line keeps its leading blanks; further lines are
 * indented by two more columns. */
void ab_table_prose(FILE *to, struct ab_table_style style, enum ab_emphasis emphasis,
                    const char *text);

/* Prints collected words like ab_table_prose, if there are any, and frees *text. */
void ab_table_note(FILE *to, struct ab_table_style style, enum ab_emphasis emphasis,
                   struct ab_text *text);

/* Prints a command for copying, after `lead`. Lines that are too long end in a backslash, as shells
 * expect. */
void ab_table_command(FILE *to, struct ab_table_style style, const char *lead, const char *command);

/* Footnotes for dashes: a cell whose number is not known has the number of the footnote with the
 * reason. */
enum { AB_FOOTNOTES_MAX = 24, AB_FOOTNOTE_BYTES = 160 };

struct ab_footnotes {
    char texts[AB_FOOTNOTES_MAX][AB_FOOTNOTE_BYTES];
    unsigned n;
    /* is_watched: footnotes_see() was called; is_seen: a shown cell refers to this footnote */
    bool is_watched, is_seen[AB_FOOTNOTES_MAX];
};

void ab_footnotes_print(FILE *to, const struct ab_footnotes *notes, struct ab_table_style style);

/* ---- grids and their legend ----
 * Draws grids, and remembers their signs, so that a legend explains exactly these. */

struct ab_legend {
    bool has_unclear;  /* "~" */
    bool has_interval; /* "[1.69, 1.80]" */
    bool has_floor;    /* "<20" */
    unsigned signs;    /* bits of enum ab_grid_sign */
    struct ab_footnotes notes;
};

/* Draws a grid and remembers its signs. */
void ab_legend_grid(FILE *to, const struct ab_grid *g, struct ab_table_style style,
                    struct ab_legend *legend);
/* Prints the full names of rows with short names, one per line. */
void ab_table_names(FILE *to, const struct ab_session *s, struct ab_table_style style);

#endif
