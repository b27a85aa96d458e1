/* SPDX-License-Identifier: MIT
 *
 * The table of output forms, one row in sinks.def per form. Options, help and the files that a
 * command writes come from this table. Numbers have a '.' whatever the locale. Errors of the stream
 * are detected when the file is committed.
 */
#ifndef AB_REPORT_SINKS_H
#define AB_REPORT_SINKS_H

#include "answer/grid.h"
#include "core/text.h"
#include "result/hdr.h"
#include "result/result.h"
#include "stats/suite_means.h"

#include <stdbool.h>
#include <stdio.h>

struct ab_suite;

enum ab_sink_id {
#define AB_SINK(id, ...) AB_SINK_##id,
#define AB_SINK_OF_HISTOGRAMS AB_SINK
#define AB_SINK_OF_LINES AB_SINK
#define AB_SINK_OF_VERDICTS AB_SINK
#define AB_SINK_OF_FIGURES AB_SINK
#include "report/sinks/sinks.def"
#undef AB_SINK
#undef AB_SINK_OF_FIGURES
#undef AB_SINK_OF_VERDICTS
#undef AB_SINK_OF_HISTOGRAMS
#undef AB_SINK_OF_LINES
    AB_SINK_COUNT
};

struct ab_sink {
    const char *option;
    /* Writes the whole session, with its comparison in session->comparison. NULL = write_histogram
     * or write_figures is set instead. */
    void (*write)(FILE *to, const struct ab_session *session);
    /* Writes one file about all workloads of a suite. NULL = a file per workload. */
    void (*write_suite)(FILE *to, const struct ab_suite *suite);
    /* Writes one histogram; each has its own file. */
    void (*write_histogram)(FILE *to, const struct ab_hdr *hdr);
    /* Writes several files into an existing folder. */
    enum ab_status (*write_figures)(const char *folder, const struct ab_session *session,
                                    struct ab_err *err);
    bool is_of_lines; /* True for a form that prints lines into the log and has no file */
};
extern const struct ab_sink ab_sinks[AB_SINK_COUNT];

/* Adds plain text for use anywhere in Markdown, even in a table: it cannot be markup, HTML or the
 * end of a cell. */
void ab_sinks_markdown_text(struct ab_text *to, const char *s);

/* Adds a grid as a table, and its note below. It has the columns of pages, or those of terminals if
 * pages show none or the grid asks for them. */
void ab_sinks_markdown_grid(struct ab_text *to, const struct ab_grid *g);

/* Writes JUnit XML of several results, a testsuite per work. `means` is a session with the gates on
 * means, which get one more testsuite; NULL = none. */
void ab_sinks_junit(FILE *to, const struct ab_suite_work *works, size_t n,
                    const struct ab_session *means);

#define OF_SUITE(function) void function(FILE *to, const struct ab_suite *suite);
#define EACH
#define AB_SINK(id, option, arg, help, function, suite, help_of) \
    void function(FILE *to, const struct ab_session *session); \
    suite
#define AB_SINK_OF_HISTOGRAMS(id, option, arg, help, function) \
    void function(FILE *to, const struct ab_hdr *hdr);
#define AB_SINK_OF_LINES(id, option, help, function, suite) \
    void function(FILE *to, const struct ab_session *session); \
    suite
#define AB_SINK_OF_VERDICTS AB_SINK
#define AB_SINK_OF_FIGURES(id, option, arg, help, function) \
    enum ab_status function(const char *folder, const struct ab_session *session, \
                            struct ab_err *err);
#include "report/sinks/sinks.def"
#undef OF_SUITE
#undef EACH
#undef AB_SINK
#undef AB_SINK_OF_FIGURES
#undef AB_SINK_OF_VERDICTS
#undef AB_SINK_OF_LINES
#undef AB_SINK_OF_HISTOGRAMS

/* Writes the tag of a histogram: BACKEND.PHASE.OP. Special characters become %XX, so that no two
 * histograms share a tag. */
enum { AB_TAG_BYTES = 1024 };
const char *ab_sink_tag(char buf[AB_TAG_BYTES], const char *backend, const char *phase,
                        const char *op);

/* Stands in place of the op in numbers and tags of iterations. */
#define AB_TAG_ITERATION "iteration"

#endif
