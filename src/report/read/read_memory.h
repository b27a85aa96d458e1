/* SPDX-License-Identifier: MIT
 *
 * Memory records out of a stored result.
 */
#ifndef AB_REPORT_READ_READ_MEMORY_H
#define AB_REPORT_READ_READ_MEMORY_H

#include "report/read/read_records.h"

void ab_stored_memory(struct ab_stored_reader *r, const struct ab_json_node *document);

#endif
