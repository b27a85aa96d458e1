/* SPDX-License-Identifier: MIT
 *
 * What a program does between two calls to its allocator, in front of an op that the latency pass times
 * (--between): other code runs, which takes the allocator's place in the first-level caches and in the
 * branch predictors.
 */
#ifndef AB_WORKER_BETWEEN_H
#define AB_WORKER_BETWEEN_H

#include <stdint.h>

/* Calls n functions of about 100 bytes of code, drawn from 1024, with branches that depend on what was
 * drawn. Allocates nothing. */
void ab_between(uint32_t n);

#endif
