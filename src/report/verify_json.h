/* SPDX-License-Identifier: MIT
 *
 * Writes the result of `verify` as JSON.
 */
#ifndef AB_REPORT_VERIFY_JSON_H
#define AB_REPORT_VERIFY_JSON_H

#include "result/verify.h"

#include <stdio.h>

void ab_verify_json(FILE *to, const struct ab_verify_session *v);

#endif
