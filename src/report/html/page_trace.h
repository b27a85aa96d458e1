/* SPDX-License-Identifier: MIT
 *
 * A trace as one HTML file, in the frame of the report: what it is, its live memory, sizes and
 * lifetimes, its call sites, flame graphs and scopes. All texts may be hostile. Its size does not
 * grow with the trace.
 */
#ifndef AB_REPORT_HTML_PAGE_TRACE_H
#define AB_REPORT_HTML_PAGE_TRACE_H

#include "report/flame.h"
#include "report/html/html.h"
#include "result/result.h"

#include <stdint.h>

struct ab_trace_report_fact {
    const char *name;
    char text[1200]; /* "" = left out */
};

enum { AB_TRACE_REPORT_FRAMES = 4 };

struct ab_trace_report_site {
    char frames[AB_TRACE_REPORT_FRAMES][256]; /* innermost first; "" = no more */
    uint64_t calls, bytes, peak_bytes, live_bytes, temporary;
    uint64_t median_life; /* calls; UINT64_MAX = not known */
};

enum { AB_TRACE_REPORT_STEPS = 500 };

struct ab_trace_report_step { /* of scopes that follow each other */
    uint64_t allocs_low, allocs_high, bytes_low, bytes_high;
};

struct ab_trace_report { /* strings and lists are borrowed */
    const char *title, *about;
    const struct ab_trace_report_fact *facts;
    size_t n_facts;
    const struct ab_overview *overview;
    const struct ab_trace_report_site *sites; /* by bytes, the most first */
    size_t n_sites, n_rest;                   /* not among them: sites of `rest` */
    struct ab_trace_report_site rest;         /* their sums; no frames and no median */
    const char *why_no_sites;                 /* NULL = there are some */
    const struct ab_stacks *stacks;
    const struct ab_trace_report_fact *scope_facts;
    size_t n_scope_facts, n_scopes;
    const struct ab_trace_report_step *steps; /* each of step_scopes scopes */
    size_t n_steps, step_scopes;
};

/* Errors of the stream are found by whoever commits the file. */
void ab_trace_report_write(FILE *to, const struct ab_trace_report *report);

/* Stacks as flame graphs in a page: the outermost function at the bottom, a box as wide as the share of
 * its value, which it says on hover. The script of the page adds a search, and shows a box over the
 * whole width when it is clicked. */

/* A picture has at most AB_FLAME_BOXES boxes: what is narrower is left out, and said. */
enum { AB_FLAME_BOXES = 3000 };

/* A picture for each key that is known and has a value; nothing where there is none. */
void ab_flame_figures(struct ab_html *h, const struct ab_stacks *stacks, const char *backend);

#endif
