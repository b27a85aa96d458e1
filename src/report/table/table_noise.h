/* SPDX-License-Identifier: MIT
 *
 * One sentence on what disturbed the measurement.
 */
#ifndef AB_REPORT_TABLE_TABLE_NOISE_H
#define AB_REPORT_TABLE_TABLE_NOISE_H

#include "core/text.h"
#include "result/result.h"

/* Nothing where nothing is known. */
void ab_table_noise(const struct ab_session *session, struct ab_text *note);

#endif
