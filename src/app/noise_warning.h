/* SPDX-License-Identifier: MIT
 *
 * Warnings on standard error about limits that are narrower than twice the noise that `calibrate`
 * found on this machine. Where nothing was calibrated nothing is said.
 */
#ifndef AB_APP_NOISE_WARNING_H
#define AB_APP_NOISE_WARNING_H

#include "app/options.h"
#include "stats/gate.h"

/* The gates of a session that compare; a line for each that is too narrow. */
void ab_noise_warn_gates(const struct ab_options *o, const struct ab_session *session,
                         const struct ab_gate *gates, size_t n);
/* One limit (0.05 = 5 %) on a metric of results of the machine `fingerprint`, of which so many rounds
 * are compared: `what` as it was written. */
void ab_noise_warn_limit(const struct ab_options *o, const char *fingerprint, const char *what,
                         const char *op, const char *metric, double limit, uint32_t rounds);

#endif
