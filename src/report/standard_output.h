/* SPDX-License-Identifier: MIT
 *
 * Standard output that keeps why it failed: stdio remembers only that a write failed, and drops
 * what it could not write.
 */
#ifndef AB_REPORT_STANDARD_OUTPUT_H
#define AB_REPORT_STANDARD_OUTPUT_H

#include "core/status.h"

/* Once, before the first output: stdout becomes another stream to the same descriptor. Without the
 * memory for it stdout stays what it was. */
void ab_standard_output_begin(void);

/* AB_SYSTEM where nothing can be written to it, as to one that is closed. */
enum ab_status ab_standard_output_check(struct ab_err *err);

/* Writes what is buffered; AB_SYSTEM with the reason where anything since the begin was lost. */
enum ab_status ab_standard_output_flush(struct ab_err *err);

#endif
