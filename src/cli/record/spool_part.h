/* SPDX-License-Identifier: MIT
 *
 * The trace that was made while the command ran, where it was not finished: `record` was killed, or
 * failed. Of what it holds the spool has nothing any more, and the rest of the spool cannot be put
 * to it: which blocks lived then is not known.
 */
#ifndef AB_CLI_RECORD_SPOOL_PART_H
#define AB_CLI_RECORD_SPOOL_PART_H

#include "record/convert.h"

/* Writes the whole chunks of the file at `part` to `to`, as a trace that has an end and is short. */
enum ab_status ab_spool_part_write(const char *part, FILE *to, struct ab_convert_report *report,
                                   struct ab_err *err);

#endif
