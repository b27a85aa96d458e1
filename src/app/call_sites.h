/* SPDX-License-Identifier: MIT
 *
 * Names the call sites of `exec --inside --sites`.
 */
#ifndef AB_APP_CALL_SITES_H
#define AB_APP_CALL_SITES_H

#include "result/result.h"

/* Sets function and line of call sites that have none yet, from the symbols of their modules. */
void ab_call_sites_name(struct ab_session *session);

#endif
