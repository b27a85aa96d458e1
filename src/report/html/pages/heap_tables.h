/* SPDX-License-Identifier: MIT
 *
 * The smaller tables of the page of heaps.
 */
#ifndef AB_REPORT_HTML_PAGES_HEAP_TABLES_H
#define AB_REPORT_HTML_PAGES_HEAP_TABLES_H

#include "report/html/html.h"
#include "result/result.h"

/* Of a mapped row in a phase: percentiles by heap and op, and what each heap holds; what was not
 * measured is left out. */
void ab_heap_tables(struct ab_html *h, const struct ab_session *s, uint32_t backend,
                    const char *phase, struct ab_hdr *scratch);

#endif
