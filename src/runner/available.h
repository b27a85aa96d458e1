/* SPDX-License-Identifier: MIT
 *
 * How much memory there is to be had: what the system says is available, or what the control group
 * of this process may have at most, where that is less.
 */
#ifndef AB_RUNNER_AVAILABLE_H
#define AB_RUNNER_AVAILABLE_H

#include <stdint.h>

uint64_t ab_available_memory(void);
/* The same, with /proc and /sys/fs/cgroup beneath `root`. */
uint64_t ab_available_memory_of(const char *root);

#endif
