/* SPDX-License-Identifier: MIT
 *
 * How tables may look on a terminal, or wherever else standard output goes.
 */
#ifndef AB_REPORT_TABLE_STYLE_H
#define AB_REPORT_TABLE_STYLE_H

#include <stdbool.h>

struct ab_table_style {
    unsigned width; /* columns */
    bool color, utf8;
    bool is_verbose; /* latency by size, the worst ops, latency over time as well */
};

#endif
