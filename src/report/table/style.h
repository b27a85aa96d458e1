/* SPDX-License-Identifier: MIT
 *
 * The appearance of tables on a terminal, or on any other standard output.
 */
#ifndef AB_REPORT_TABLE_STYLE_H
#define AB_REPORT_TABLE_STYLE_H

#include "answer/topic_words.h"

#include <stdbool.h>

struct ab_table_style {
    unsigned width; /* columns; 0 = 80 */
    bool color, utf8;
    bool is_verbose; /* True to print everything, for output without topics */
    unsigned topics; /* words of -v (answer/topic_words.h); 0 = only the answer */
    bool is_live;    /* True directly after the measurement; the next command is then printed after
                        the report */
    const char *phase; /* only this phase in topics by phase; NULL = all phases */
};

#endif
