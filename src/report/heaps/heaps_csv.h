/* SPDX-License-Identifier: MIT
 *
 * Numbers of single heaps as metrics of a mapped row: "heap:NAME:METRIC".
 */
#ifndef AB_REPORT_HEAPS_HEAPS_CSV_H
#define AB_REPORT_HEAPS_HEAPS_CSV_H

#include "result/result.h"

/* A finite number of the heap; `metric` lives as long as the call. */
typedef void ab_heap_number(void *context, const char *metric, double value, const char *unit);

void ab_heap_part_numbers(const struct ab_session *s, const struct ab_heap_part *p,
                          ab_heap_number *put, void *context);
/* Of all heaps of the record's row. */
void ab_heap_memory_numbers(const struct ab_session *s, const struct ab_memory *m,
                            ab_heap_number *put, void *context);

#endif
