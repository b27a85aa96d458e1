/* SPDX-License-Identifier: MIT
 *
 * Writes the result of `verify` as JSON.
 */
#ifndef AB_DOCUMENT_VERIFY_JSON_H
#define AB_DOCUMENT_VERIFY_JSON_H

#include "result/verify_record.h"

#include <stdio.h>

void ab_verify_json(FILE *to, const struct ab_verify_session *v);

#endif
