/* SPDX-License-Identifier: MIT
 *
 * Histograms by size and over time out of a stored result.
 */
#ifndef AB_REPORT_READ_READ_DEPTH_H
#define AB_REPORT_READ_READ_DEPTH_H

#include "report/read/read_records.h"

void ab_stored_depth(struct ab_stored_reader *r, const struct ab_json_node *document);

#endif
