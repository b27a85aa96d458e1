/* SPDX-License-Identifier: MIT
 *
 * A topic of the answer as data: a table with columns, rows and cells. Each renderer draws it in
 * its own way and computes nothing itself. Cells are put into the row that was added last. Texts
 * are copied and may be hostile.
 */
#ifndef AB_ANSWER_GRID_H
#define AB_ANSWER_GRID_H

#include "answer/sparkline.h"
#include "result/result.h"

#include <stdbool.h>
#include <stddef.h>

/* ---- texts that a view or a grid owns ---- */

/* A list of strings that are freed together; must be zero-initialized. */
struct ab_view_texts {
    char **items;
    size_t n, cap;
};

/* Formats a text and adds it; never returns NULL. */
const char *ab_view_texts_addf(struct ab_view_texts *t, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
void ab_view_texts_fini(struct ab_view_texts *t);

enum {
    AB_GRID_COLUMNS_MAX = 40,
    AB_GRID_POINTS = 20 /* points of a line, and cells of a small histogram */
};

/* GOOD and BAD are only for clear differences. Colour is never the only sign of a difference. */
enum ab_emphasis { AB_PLAIN, AB_STRONG, AB_FAINT, AB_GOOD, AB_BAD };

/* Prefix of a number that is only a lower bound. Terminals without UTF-8 show ">=". */
#define AB_GRID_AT_LEAST "\u2265"

/* Signs that need words below the tables of a terminal. */
enum ab_grid_sign {
    AB_SIGN_TAIL = 1,      /* columns p99 and p99.9 of the ranking */
    AB_SIGN_AGED = 2,      /* column "aged" */
    AB_SIGN_DURING = 4,    /* column "in calls" */
    AB_SIGN_DRAIN = 8,     /* column "after free" */
    AB_SIGN_MULTIPLE = 16, /* column "x live" */
    AB_SIGN_LIVE = 32,     /* column "live" */
    AB_SIGN_AT_FLOOR = 64  /* a p50 that equals the timer's floor */
};

enum ab_grid_kind {
    AB_GRID_BLANK,
    AB_GRID_TEXT,
    /* a literal text, in HTML in the font of code: a command, a path, a digest, a rule */
    AB_GRID_CODE,
    AB_GRID_PROSE, /* a text whose brackets are not an interval */
    AB_GRID_NS,    /* a reading of the clock, which has a floor; terminals leave out the unit */
    AB_GRID_CALL,  /* like NS, but terminals show the unit */
    AB_GRID_TIME,  /* ns with a unit, of a time without a floor */
    AB_GRID_PAIR,  /* two readings of the clock */
    AB_GRID_BYTES,
    AB_GRID_SCALED,    /* text of a number in the unit of the grid */
    AB_GRID_COUNT,     /* exact number if there is room */
    AB_GRID_AMOUNT,    /* number rounded to three digits */
    AB_GRID_SHARE,     /* a share from 0 to 1 */
    AB_GRID_PORTION,   /* a count and its share: "3 (0.25%)" */
    AB_GRID_TIMES,     /* "2.50x" */
    AB_GRID_LINE,      /* a small picture of a series */
    AB_GRID_HISTOGRAM, /* a small picture of a distribution, over the range of the grid */
};

struct ab_grid_column {
    const char *title; /* title on terminals; NULL = terminals have no such column */
    unsigned drop; /* 0 = always shown. If the width is short, terminals drop the columns with the
                      highest number first */
    const char *in_html; /* title in HTML; NULL = HTML has no such column. A leading '#' marks
                            numbers and is not shown: "#p50" */
    const char *name;    /* name for the list of dropped columns; NULL = the column's title */
    unsigned width; /* longest text and title on terminals, in characters; longer ones are cut in
                       the middle. 0 = no limit */
    unsigned signs; /* bits of enum ab_grid_sign, if terminals show the column */
};

struct ab_grid_cell {
    enum ab_grid_kind kind;
    double value;        /* NaN = not known */
    double second;       /* second number of a PAIR; NaN = not known */
    const char *text;    /* text of TEXT, CODE, PROSE and SCALED */
    const char *in_html; /* replaces the text in HTML; NULL = the same text */
    double *line;        /* AB_GRID_POINTS values of a LINE, from 0 to `value`; NaN is a gap */
    struct ab_hdr *hdr;  /* distribution of a HISTOGRAM; the grid frees it */
    const char *why;     /* why the value is not known; "" = the reason is unknown too */
    double share;        /* share of a PORTION; otherwise the length of a bar in HTML, 0 = none */
    unsigned shade;      /* 1 to 4: how far the value is above the lowest of its row; 0 = no
                            shade */
    bool is_soft;        /* True if the value says little; faint in HTML */
    bool is_long;        /* True for a sentence; HTML gives it room */
    const char *below;   /* words below the value in HTML; NULL = none */
    const char *interval;
};

struct ab_grid_row {
    const char *label, *tail; /* tail: text after a label that terminals may cut; "" = none */
    uint32_t backend;         /* the session's back end that the label names; UINT32_MAX = none */
    /* True for a heading of the rows after it, which pages leave out; the titles of the columns
     * stand beside the first heading */
    bool is_heading;
    bool is_terminal_only;
    enum ab_emphasis emphasis;
    struct ab_grid_cell cells[AB_GRID_COLUMNS_MAX];
};

struct ab_grid {                      /* initialize with {.session, .columns, .n_columns} */
    const struct ab_session *session; /* NULL = several sessions, and no row is a back end */
    const char *rows_are;             /* title of the labels in HTML */
    struct ab_grid_column columns[AB_GRID_COLUMNS_MAX];
    unsigned n_columns;
    struct ab_grid_row *rows;
    size_t n_rows, cap_rows;
    const char *title;   /* a line above the table on terminals; NULL = none */
    const char *caption; /* title on pages and in Markdown; NULL = the topic's title */
    const char *fold;    /* pages fold the grids of a turn under this title; NULL = they
                                        do not */
    const char *unit;    /* unit of SCALED */
    const char *note;    /* faint lines below the table, everywhere; NULL = none */
    const char *remark;  /* a plain line below the table on terminals, above it in Markdown;
                                        NULL = none */
    /* index, plus 1, of the only column with which the note is shown; 0 = always shown */
    unsigned note_column;
    unsigned signs; /* bits of enum ab_grid_sign that apply whatever columns are shown */
    struct ab_view_texts sentences; /* paragraphs below the table, everywhere */
    /* faint paragraphs: terminals show them once, below all tables of a place; pages show them
     * below the table */
    struct ab_view_texts closing;
    struct ab_sparkline_range range; /* range of all histograms */
    bool is_whole; /* True if terminals show all columns whatever the width, if need be in blocks
                      below each other */
    bool is_list;  /* True if HTML shows all rows in their order */
    bool is_brief_in_markdown; /* True if Markdown has the columns of terminals, not of pages */
    struct ab_view_texts texts;
};

/* True if pages show the back end: it has numbers, and is not the null back end. */
bool ab_view_shows(const struct ab_session *s, uint32_t backend);

void ab_grid_fini(struct ab_grid *g);
/* Adds rows. The returned pointer is valid until the next row is added. */
struct ab_grid_row *ab_grid_heading(struct ab_grid *g, const char *label, const char *tail);
struct ab_grid_row *ab_grid_add(struct ab_grid *g, const char *label, const char *tail);
/* Adds a row with the name of a back end, faint if it is not compared. */
struct ab_grid_row *ab_grid_add_backend(struct ab_grid *g, uint32_t backend);
/* Returns "vs glibc", with the name cut to `width`; "" if there is no base. The text lives as long
 * as the grid. */
const char *ab_grid_versus(struct ab_grid *g, const char *before, uint32_t base, unsigned width);
/* Returns "median", the title of a column of medians over rounds, or "one round" if there is only
 * one. */
const char *ab_grid_median(const struct ab_session *session);
/* Puts a number into the last row. `why`: why the number is not known; "" or NULL = no reason is
 * known. */
struct ab_grid_cell *ab_grid_put(struct ab_grid *g, unsigned column, enum ab_grid_kind kind,
                                 double value, const char *why);
/* Puts a text into the last row. */
struct ab_grid_cell *ab_grid_say(struct ab_grid *g, unsigned column, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* Puts "12.50" with the given number of decimals; NaN = not known. */
void ab_grid_put_fixed(struct ab_grid *g, unsigned column, int decimals, double value);
void ab_grid_put_histogram(struct ab_grid *g, unsigned column, const struct ab_hdr *hdr);
void ab_grid_put_line(struct ab_grid *g, unsigned column, const double points[AB_GRID_POINTS],
                      double most);

#endif
