/* SPDX-License-Identifier: MIT
 *
 * Warns on standard error about limits narrower than twice the noise that `calibrate` found on this
 * machine. Without a calibration, nothing is printed.
 */
#ifndef AB_APP_NOISE_WARNING_H
#define AB_APP_NOISE_WARNING_H

#include "app/request_parts.h"
#include "stats/gate.h"

/* Prints a warning for each comparing gate of the session whose limit is too narrow. */
void ab_noise_warn_gates(const struct ab_store_wanted *store, const struct ab_talk *talk,
                         const struct ab_session *session, const struct ab_gate *gates, size_t n);
/* Warns about one limit (0.05 = 5 %) on `metric`, if results of machine `fingerprint` with this
 * number of rounds are too noisy for the limit. `what` is the limit as the user wrote it. */
void ab_noise_warn_limit(const struct ab_store_wanted *store, const struct ab_talk *talk,
                         const char *fingerprint, const char *what, const char *op,
                         const char *metric, double limit, uint32_t rounds);

#endif
