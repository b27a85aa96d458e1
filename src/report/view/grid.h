/* SPDX-License-Identifier: MIT
 *
 * A topic of the answer as data: a table with its columns, rows and cells, which each renderer draws in
 * its own way and computes nothing for. Cells are put into the last row that was added. Texts
 * are copied and may be hostile.
 */
#ifndef AB_REPORT_VIEW_GRID_H
#define AB_REPORT_VIEW_GRID_H

#include "report/sparkline.h"
#include "result/result.h"

#include <stdbool.h>
#include <stddef.h>

/* Text that belongs to a view: it lives as long as the view does. */

/* Zero-initialise. */
struct ab_view_texts {
    char **items;
    size_t n, cap;
};

/* Never NULL. */
const char *ab_view_texts_addf(struct ab_view_texts *t, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
void ab_view_texts_fini(struct ab_view_texts *t);

enum {
    AB_GRID_COLUMNS_MAX = 40,
    /* of which terminals take 12 */ AB_GRID_POINTS = 20 /* of a line */
};

/* GOOD and BAD only where the difference is clear, and never as the only sign of it. */
enum ab_emphasis { AB_PLAIN, AB_STRONG, AB_FAINT, AB_GOOD, AB_BAD };

/* Before a text: the number is known from below only. Terminals without UTF-8 get ">=". */
#define AB_GRID_AT_LEAST "\u2265"

enum ab_grid_kind {
    AB_GRID_BLANK,
    AB_GRID_TEXT,
    AB_GRID_CODE,  /* a text that is typed */
    AB_GRID_PROSE, /* one in which brackets are no interval */
    AB_GRID_NS,    /* a reading of the clock, which has a floor; terminals leave out the unit */
    AB_GRID_CALL,  /* the same, with its unit */
    AB_GRID_TIME,  /* ns, with a unit, of what has no floor */
    AB_GRID_PAIR,  /* two readings of the clock */
    AB_GRID_BYTES,
    AB_GRID_SCALED,    /* a text in the unit of the grid */
    AB_GRID_COUNT,     /* exact where there is room */
    AB_GRID_AMOUNT,    /* in three digits */
    AB_GRID_SHARE,     /* in [0, 1] */
    AB_GRID_PORTION,   /* a count and its share: "3 (0.25%)" */
    AB_GRID_TIMES,     /* "2.50x" */
    AB_GRID_LINE,      /* a small picture of a series */
    AB_GRID_HISTOGRAM, /* and of a distribution, over the range of the grid */
};

struct ab_grid_column {
    const char *title; /* on terminals; NULL = it is not there */
    unsigned drop; /* 0 = always shown; where the width is short, the highest goes first, and with
                            it all that share its number */
    const char *in_html; /* NULL = it is not there; "#p50": of numbers, without the '#' */
    const char *name;    /* where the width leaves it out; NULL = its title */
    unsigned width; /* characters of its texts and its title on terminals, cut in the middle; 0 =
                            all */
};

struct ab_grid_cell {
    enum ab_grid_kind kind;
    double value;        /* NaN = not known */
    double second;       /* of a PAIR; NaN = not known */
    const char *text;    /* of TEXT, CODE, PROSE and SCALED */
    const char *in_html; /* in its place in HTML; NULL = the same */
    double *line;        /* AB_GRID_POINTS, from 0 to value; NaN is a gap */
    struct ab_hdr *hdr;  /* of HISTOGRAM; the grid frees it */
    const char *why;     /* it is not known; "" = that is not known either */
    double share;        /* of a PORTION; else that of a bar which pictures it in HTML, 0 = none */
    unsigned shade;      /* 1 to 4: how far it is above the least of its row; 0 = it is not */
    bool is_soft;        /* says little: faint in HTML */
    bool is_long;        /* a sentence, which has room in HTML */
    const char *below;   /* words below it in HTML, with an interval that is faint; NULL = none */
    const char *interval;
};

struct ab_grid_row {
    const char *label, *tail; /* tail: what follows a name that terminals may cut; "" = nothing */
    uint32_t backend;         /* of the session, which the label names; UINT32_MAX = none */
    bool is_heading; /* of the rows after it, on terminals; the first one carries the titles */
    bool is_terminal_only;
    enum ab_emphasis emphasis;
    struct ab_grid_cell cells[AB_GRID_COLUMNS_MAX];
};

struct ab_grid {                      /* begins as {.session, .columns, .n_columns} */
    const struct ab_session *session; /* NULL = of several, and no row is a back end */
    const char *rows_are;             /* the title of their labels in HTML */
    struct ab_grid_column columns[AB_GRID_COLUMNS_MAX];
    unsigned n_columns;
    struct ab_grid_row *rows;
    size_t n_rows, cap_rows;
    const char *title;               /* a line above it on terminals; NULL = none */
    const char *unit;                /* of SCALED */
    bool has_overflow, has_dash;     /* of pairs: calls are in no counter; there are too few */
    const char *note, *remark;       /* words below it on terminals, faint and plain; NULL = none */
    struct ab_sparkline_range range; /* of all histograms */
    bool is_whole; /* terminals show all columns whatever the width: below each other */
    bool is_list;  /* HTML shows all rows, in their order */
    struct ab_view_texts texts;
};

/* Is it in pages: it has numbers, and is not the null back end. */
bool ab_view_shows(const struct ab_session *s, uint32_t backend);

void ab_grid_fini(struct ab_grid *g);
/* Rows; the pointer is good until the next one. */
struct ab_grid_row *ab_grid_heading(struct ab_grid *g, const char *label, const char *tail);
struct ab_grid_row *ab_grid_add(struct ab_grid *g, const char *label, const char *tail);
/* Its name, and faint where it is out of the comparison. */
struct ab_grid_row *ab_grid_add_backend(struct ab_grid *g, uint32_t backend);
/* "vs glibc", of a name that is cut to the width; "" where there is no base. As long as the grid. */
const char *ab_grid_versus(struct ab_grid *g, const char *before, uint32_t base, unsigned width);
/* Title of a column of medians over rounds: of a single round there is none. */
const char *ab_grid_median(const struct ab_session *session);
/* A number of the last row. why "" or NULL: of a number that is not known no reason is known. */
struct ab_grid_cell *ab_grid_put(struct ab_grid *g, unsigned column, enum ab_grid_kind kind,
                                 double value, const char *why);
/* A text of it. */
struct ab_grid_cell *ab_grid_say(struct ab_grid *g, unsigned column, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* "12.50" with so many decimals; NaN is not known. */
void ab_grid_put_fixed(struct ab_grid *g, unsigned column, int decimals, double value);
void ab_grid_put_histogram(struct ab_grid *g, unsigned column, const struct ab_hdr *hdr);
void ab_grid_put_line(struct ab_grid *g, unsigned column, const double points[AB_GRID_POINTS],
                      double most);

#endif
