/* SPDX-License-Identifier: MIT
 *
 * Measures a real program under each allocator.
 */
#ifndef AB_APP_EXEC_H
#define AB_APP_EXEC_H

#include "app/request.h"

enum ab_status ab_exec(const struct ab_exec_request *asked, int *exit_code, struct ab_err *err);

#endif
