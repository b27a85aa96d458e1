/* SPDX-License-Identifier: MIT
 *
 * --base: the back end that the others are compared with.
 */
#ifndef AB_APP_BASE_NAME_H
#define AB_APP_BASE_NAME_H

#include "core/status.h"
#include "result/result.h"

/* Sets session->base to `name` (borrowed), or leaves what is there where it is NULL. AB_USAGE when
 * the session has no such back end, or when it is null, with the names that it has. */
enum ab_status ab_base_name_set(const char *name, struct ab_session *session, struct ab_err *err);

#endif
