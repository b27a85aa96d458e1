/* SPDX-License-Identifier: MIT
 *
 * Why a recording ended, in words.
 */
#ifndef AB_CLI_RECORD_SPOOL_TEXTS_H
#define AB_CLI_RECORD_SPOOL_TEXTS_H

#include "record/convert.h"

/* Why the trace is shorter than the program was; NULL = it is not. */
const char *ab_spool_short_text(const struct ab_convert_report *report);

/* Why recording ended before the program did; NULL = it did not. */
const char *ab_spool_stop_text(uint32_t stop);

/* When it was ended while the program went on, as was asked for; NULL = it was not. */
const char *ab_spool_end_text(uint32_t stop);

#endif
