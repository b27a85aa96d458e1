/* SPDX-License-Identifier: MIT
 *
 * Which libraries have passed `verify`: RESULTS/verified/BUILD-ID, so that a run of the same file
 * does not say that it is not verified.
 */
#ifndef AB_APP_VERIFIED_H
#define AB_APP_VERIFIED_H

#include "app/options.h"
#include "result/result.h"

/* Keeps that a library passed all checks, or that it no longer does. Without a build id, with settings
 * of its own, or where nothing can be stored, nothing is kept. */
void ab_verified_keep(const struct ab_options *o, const struct ab_backend_info *b, bool has_passed);
/* Sets is_verified of those that have. */
void ab_verified_find(const struct ab_options *o, struct ab_session *session);

#endif
