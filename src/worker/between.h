/* SPDX-License-Identifier: MIT
 *
 * Cache disturbance between two allocator calls (--between). Before an op that the latency pass
 * times, other code runs, as it does in a real program. This code displaces the allocator from the
 * first-level caches and from the branch predictors.
 */
#ifndef AB_WORKER_BETWEEN_H
#define AB_WORKER_BETWEEN_H

#include <stdint.h>

/* Calls n functions of about 100 bytes of code, chosen at random from 1024. Their branches depend
 * on random data. Allocates nothing. */
void ab_between(uint32_t n);

#endif
