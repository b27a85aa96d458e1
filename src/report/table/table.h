/* SPDX-License-Identifier: MIT
 *
 * Layout for terminals: tables that fit the width by leaving out columns (and saying which), and
 * wrapped prose. Rows
 * are collected first, because a column is as wide as its widest cell. Never wraps a row.
 */
#ifndef AB_REPORT_TABLE_TABLE_H
#define AB_REPORT_TABLE_TABLE_H

#include "core/text.h"
#include "report/format.h"
#include "report/table/style.h"
#include "report/view/grid.h"
#include "report/view/view.h"
#include "result/result.h"

#include <stddef.h>
#include <stdio.h>

enum { AB_TABLE_COLUMNS_MAX = 12, AB_TABLE_LABEL_BYTES = 512 };

struct ab_table_column {
    const char *title;
    unsigned
        drop; /* 0 = always shown; where width is short, the highest goes first, and with it all
                      that share its number */
};

struct ab_table_row {
    bool is_heading;           /* of the rows after it; the first one carries the titles */
    enum ab_emphasis emphasis; /* of the whole row; headings are strong */
    char label[AB_TABLE_LABEL_BYTES];
    char cells[AB_TABLE_COLUMNS_MAX][AB_CELL_BYTES];
    struct ab_text below; /* words under the row, wrapped; the table frees them */
};

struct ab_table {
    const struct ab_table_column *columns;
    unsigned n_columns;
    struct ab_table_row *rows;
    size_t n_rows, cap_rows;
    const char *const
        *names; /* of columns that are left out, where titles alone say too little; NULL
                                 = the titles; "" = said elsewhere, by the caller */
};

void ab_table_init(struct ab_table *t, const struct ab_table_column *columns, unsigned n_columns);
void ab_table_fini(struct ab_table *t);

/* A new row with empty cells; `label` may be hostile. */
struct ab_table_row *ab_table_add(struct ab_table *t, const char *label, bool is_heading);
/* Bit c: column c fits into the width. For what is said of a column that does not, before printing. */
unsigned ab_table_shown(const struct ab_table *t, struct ab_table_style style);
/* Names in a line of its own what the width left out. Bit c of the result: column c is shown. */
unsigned ab_table_print(FILE *to, const struct ab_table *t, struct ab_table_style style);

/* One line, cut to the width. */
void ab_table_line(FILE *to, struct ab_table_style style, enum ab_emphasis emphasis,
                   const char *text);
/* The same as a title. */
void ab_table_linef(FILE *to, struct ab_table_style style, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* Words wrapped to the width; lines after the first are indented by two more than
 * the first, whose blanks stay. */
void ab_table_prose(FILE *to, struct ab_table_style style, enum ab_emphasis emphasis,
                    const char *text);

/* The same of what was collected, if anything was; ends *text. */
void ab_table_note(FILE *to, struct ab_table_style style, enum ab_emphasis emphasis,
                   struct ab_text *text);

/* A command to copy: lines that are too long end in a backslash, as shells read them. `lead` stands
 * before it. */
void ab_table_command(FILE *to, struct ab_table_style style, const char *lead, const char *command);

/* Dashes that say why: where a number is not known, its cell has the number of the footnote with the
 * reason. */
enum { AB_FOOTNOTES_MAX = 24, AB_FOOTNOTE_BYTES = 160 };

struct ab_footnotes {
    char texts[AB_FOOTNOTES_MAX][AB_FOOTNOTE_BYTES];
    unsigned n;
    bool is_watched, is_seen[AB_FOOTNOTES_MAX]; /* by ab_footnotes_see */
};

void ab_footnotes_print(FILE *to, const struct ab_footnotes *notes, struct ab_table_style style);

/* Draws the grids of the answer; what their signs mean is explained where they are shown, and nowhere
 * else. */

struct ab_legend {
    bool has_unclear;  /* "~" */
    bool has_interval; /* "[1.69, 1.80]" */
    bool has_floor;    /* "<20" */
    bool has_tail;     /* columns p99 and p99.9 of the ranking */
    bool has_litter;   /* column "litter" */
    bool has_during;   /* column "in calls" */
    bool has_drain;    /* column "after free" */
    bool has_multiple; /* column "x live" */
    bool has_live;     /* column "live" */
    bool has_at_floor; /* a p50 that is the timer's floor */
    struct ab_footnotes notes;
};

/* Draws a grid and notes its signs; bit c of the result: column c of the grid is shown. */
unsigned ab_legend_grid(FILE *to, const struct ab_grid *g, struct ab_table_style style,
                        struct ab_legend *legend);
/* Prints what the short names stand for, a line each. */
void ab_table_names(FILE *to, const struct ab_session *s, struct ab_table_style style);
void ab_legend_print(FILE *to, const struct ab_view *v, const struct ab_legend *legend,
                     struct ab_table_style style);

#endif
