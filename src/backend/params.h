/* SPDX-License-Identifier: MIT
 *
 * Settings of a built-in back end as the command line gives them: "reserve=1GiB:commit=64KiB".
 */
#ifndef AB_BACKEND_PARAMS_H
#define AB_BACKEND_PARAMS_H

#include "allocators/ab_backend.h"
#include "base/limits.h"
#include "core/status.h"

/* Sets all values of the back end: defaults, then what `text` ("" = nothing) says. */
enum ab_status ab_params_parse(const struct ab_backend *backend, const char *text,
                               uint64_t values[AB_PARAMS_MAX], struct ab_err *err);

#endif
