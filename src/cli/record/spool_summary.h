/* SPDX-License-Identifier: MIT
 *
 * Reports on the traces of a spool, on standard error.
 */
#ifndef AB_CLI_RECORD_SPOOL_SUMMARY_H
#define AB_CLI_RECORD_SPOOL_SUMMARY_H

#include "cli/record/spool_traces.h"

/* Prints what the traces contain, what is missing from them, and what recording cost. */
void ab_spool_summary_print(struct ab_spool_traces *t);
/* Which have no trace although there may be one to be had; also when all else is quiet. */
void ab_spool_summary_print_failures(const struct ab_spool_traces *t);

#endif
