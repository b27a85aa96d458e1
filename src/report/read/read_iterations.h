/* SPDX-License-Identifier: MIT
 *
 * What the allocator took in each iteration, out of a stored result.
 */
#ifndef AB_REPORT_READ_READ_ITERATIONS_H
#define AB_REPORT_READ_READ_ITERATIONS_H

#include "report/read/read_records.h"

void ab_stored_iterations(struct ab_stored_reader *r, const struct ab_json_node *document);

#endif
