/* SPDX-License-Identifier: MIT
 *
 * Names for the call sites of `exec --inside --sites`.
 */
#ifndef AB_APP_CALL_SITES_H
#define AB_APP_CALL_SITES_H

#include "result/result.h"

/* Functions and lines of those that have none yet, by the symbols of their objects. */
void ab_call_sites_name(struct ab_session *session);

#endif
