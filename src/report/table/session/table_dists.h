/* SPDX-License-Identifier: MIT
 *
 * Memory over the ops of a phase on the terminal.
 */
#ifndef AB_REPORT_TABLE_SESSION_TABLE_DISTS_H
#define AB_REPORT_TABLE_SESSION_TABLE_DISTS_H

#include "report/table/table.h"

/* False when nothing of this phase was measured; then nothing is printed. */
bool ab_table_dists(FILE *to, const struct ab_session *s, const char *phase,
                    struct ab_table_style style, struct ab_footnotes *notes);

#endif
