/* SPDX-License-Identifier: MIT
 *
 * Writes a trace made from other files: a part of one trace, several traces as one, or a file of
 * another tool.
 */
#ifndef AB_APP_TRACE_TRACE_MAKING_H
#define AB_APP_TRACE_TRACE_MAKING_H

#include "app/request_parts.h"
#include "app/trace/trace_pass.h"
#include "core/output.h"
#include "exchange/intake.h"
#include "trace_tools/rewrite.h"

struct ab_sharing {
    const char *text_path; /* file for the text about the trace */
    bool keeps_functions;  /* True to keep call sites, reduced to names of functions */
    /* Writes the text about the new trace, which can be read at `path`. */
    enum ab_status (*describe)(void *user, const char *path, FILE *to, struct ab_err *err);
    void *user;
};

struct ab_new_trace {
    enum ab_new_trace_kind {
        AB_NEW_TRACE_CUT,    /* the events in the range of `pass`; uses keep->is_dropping_live */
        AB_NEW_TRACE_FILTER, /* the blocks and events that `keep` selects */
        AB_NEW_TRACE_MERGE,  /* all inputs in one trace; pass.path is only shown */
        AB_NEW_TRACE_IMPORT, /* a file of another tool, converted */
        AB_NEW_TRACE_SHARE,  /* an anonymous copy: only numbers, verified, with a text about it */
    } kind;
    const char *output;        /* file to write; "-" = standard output */
    const char *const *inputs; /* n files that are read; `output` must not be one of them */
    size_t n;
    struct ab_trace_pass pass; /* how the input is read */
    const struct ab_trace_filter *keep;
    bool is_serial;     /* merge: True to append traces, not to interleave them */
    const char *format; /* import: name of the format; NULL = recognize it */
    struct ab_sharing sharing;
};

union ab_new_trace_report {
    struct ab_cut_report cut;
    struct ab_filter_report filter; /* set by filter and share */
    struct ab_merge_report merge;
    struct ab_intake_report import;
};

/* Writes the trace. Fails with AB_USAGE if a pattern of keep->sites is invalid or matches no
 * allocation. */
enum ab_status ab_new_trace_write(const struct ab_new_trace *t, union ab_new_trace_report *report,
                                  struct ab_err *err);

#endif
