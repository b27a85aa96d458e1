/* SPDX-License-Identifier: MIT
 *
 * Sorting without a buffer and without malloc.
 */
#ifndef AB_WORKER_SORT_H
#define AB_WORKER_SORT_H

#include <stdint.h>

void ab_sort_ascending(uint64_t *x, uint32_t n);

#endif
