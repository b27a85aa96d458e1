/* SPDX-License-Identifier: MIT
 *
 * `trace info --html FILE`: what is known of a trace, as a page.
 */
#ifndef AB_CLI_TRACE_TRACE_PAGE_H
#define AB_CLI_TRACE_TRACE_PAGE_H

#include "cli/trace/cmd_trace.h"
#include "report/html/pages/page_trace.h"

/* Once: f->look is at its end then. Commits *out. */
enum ab_status ab_trace_page_write(const struct ab_trace_facts *f, const struct ab_options *o,
                                   struct ab_output *out, struct ab_err *err);

/* The sites that are among the first `most` in one of the orders, and the sum of the others; free
 * r->sites. False = out of memory. */
bool ab_trace_page_sites(const struct ab_trace_facts *f, size_t most, struct ab_trace_report *r);

#endif
