/* SPDX-License-Identifier: MIT
 *
 * A trace as one HTML file, in the frame of the report: facts, live memory, sizes and lifetimes,
 * call sites, flame graphs and scopes. All texts may be hostile. The size of the file does not grow
 * with the trace.
 */
#ifndef AB_REPORT_HTML_PAGE_TRACE_H
#define AB_REPORT_HTML_PAGE_TRACE_H

#include "report/flame.h"
#include "report/html/html.h"
#include "result/result.h"

#include <stdint.h>

struct ab_trace_report_fact {
    const char *name;
    char text[1200]; /* "" = the fact is left out */
};

enum { AB_TRACE_REPORT_FRAMES = 4 };

struct ab_trace_report_site {
    char frames[AB_TRACE_REPORT_FRAMES][256]; /* the innermost first; "" = no more frames */
    uint64_t calls, bytes, peak_bytes, live_bytes, temporary;
    uint64_t median_life; /* median lifetime in calls; UINT64_MAX = not known */
};

enum { AB_TRACE_REPORT_STEPS = 500 };

struct ab_trace_report_step { /* lowest and highest numbers of several consecutive scopes */
    uint64_t allocs_low, allocs_high, bytes_low, bytes_high;
};

struct ab_trace_report { /* strings and lists are borrowed */
    const char *title, *about;
    const struct ab_trace_report_fact *facts;
    size_t n_facts;
    const struct ab_overview *overview;
    const struct ab_trace_report_site *sites; /* sorted by bytes, largest first */
    size_t n_sites, n_rest;                   /* n_rest: number of further sites, summed up in
                                                 `rest` */
    struct ab_trace_report_site rest;         /* sums of the other sites; without frames and
                                                 median */
    const char *why_no_sites;                 /* why there are no sites; NULL = there are some */
    const struct ab_stacks *stacks;
    const struct ab_trace_report_fact *scope_facts;
    size_t n_scope_facts, n_scopes;
    const struct ab_trace_report_step *steps; /* each summarizes step_scopes scopes */
    size_t n_steps, step_scopes;
};

/* Writes the report. Errors of the stream are detected when the file is committed. */
void ab_trace_report_write(FILE *to, const struct ab_trace_report *report);

/* ---- flame graphs ----
 * The outermost function is at the bottom, and a box is as wide as the
 * share of its value, which it shows on hover. The script of the page adds a search, and widens a
 * box when it is clicked. */

/* A picture has at most AB_FLAME_BOXES boxes. Narrower ones are left out, and the picture says
 * so. */
enum { AB_FLAME_BOXES = 3000 };

/* Draws a picture for each tree of stacks that is known and has a value. `backend` is the name of
 * the back end of by_pinned; NULL = that tree is left out. */
void ab_flame_figures(struct ab_html *h, const struct ab_stacks *stacks, const char *backend);

#endif
