/* SPDX-License-Identifier: MIT
 *
 * The table of output forms; sinks.def has a row for each. Options, help and the files that a
 * command writes come from it. Numbers have a '.' whatever the locale; errors of the stream are
 * found when the file is committed.
 */
#ifndef AB_REPORT_SINKS_H
#define AB_REPORT_SINKS_H

#include "core/text.h"
#include "result/hdr.h"
#include "result/result.h"
#include "stats/suite.h"

#include <stdbool.h>
#include <stdio.h>

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
    /* The whole session; false = out of memory, abandon the output. NULL = the other is set. What
     * it was compared with is session->comparison. */
    bool (*write)(FILE *to, const struct ab_session *session);
    /* One histogram; each has a file of its own. */
    void (*write_histogram)(FILE *to, const struct ab_hdr *hdr);
    /* Several files into a folder that is there. */
    enum ab_status (*write_figures)(const char *folder, const struct ab_session *session,
                                    struct ab_err *err);
    bool is_of_lines; /* for the log: it has no file */
};
extern const struct ab_sink ab_sinks[AB_SINK_COUNT];

/* Adds text as it is, in a table of Markdown as well: no markup, no HTML, no cell's end. */
void ab_sinks_markdown_text(struct ab_text *to, const char *s);

/* JUnit XML of several results, a testsuite for each by the name of the work. */
void ab_sinks_junit(FILE *to, const struct ab_suite_work *works, size_t n);

#define AB_SINK(id, option, arg, help, function) \
    bool function(FILE *to, const struct ab_session *session);
#define AB_SINK_OF_HISTOGRAMS(id, option, arg, help, function) \
    void function(FILE *to, const struct ab_hdr *hdr);
#define AB_SINK_OF_LINES(id, option, help, function) \
    bool function(FILE *to, const struct ab_session *session);
#define AB_SINK_OF_VERDICTS AB_SINK
#define AB_SINK_OF_FIGURES(id, option, arg, help, function) \
    enum ab_status function(const char *folder, const struct ab_session *session, \
                            struct ab_err *err);
#include "report/sinks/sinks.def"
#undef AB_SINK
#undef AB_SINK_OF_FIGURES
#undef AB_SINK_OF_VERDICTS
#undef AB_SINK_OF_LINES
#undef AB_SINK_OF_HISTOGRAMS

#endif
