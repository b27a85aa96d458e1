/* SPDX-License-Identifier: MIT
 *
 * Verifies back ends: each check runs in a process of its own, on generated work, a workload or a
 * trace.
 */
#ifndef AB_APP_VERIFY_BACKENDS_H
#define AB_APP_VERIFY_BACKENDS_H

#include "app/request.h"

/* Verifies the back ends named in asked->args on the workload or trace named there, and has the
 * verdicts shown. Sets *exit_code if a back end is missing or failed a check. With
 * asked->checks.is_alone, returns only if the check could not begin. */
enum ab_status ab_verify(const struct ab_verification_request *asked, int *exit_code,
                         struct ab_err *err);

#endif
