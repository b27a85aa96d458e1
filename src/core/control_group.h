/* SPDX-License-Identifier: MIT
 *
 * What the control groups of this process allow, versions 1 and 2. A group is bound by the limits of
 * all that it lies in. /proc and /sys/fs/cgroup are those below `root`.
 */
#ifndef AB_CORE_CONTROL_GROUP_H
#define AB_CORE_CONTROL_GROUP_H

#include <stdint.h>

/* Bytes of memory; UINT64_MAX = no limit. */
uint64_t ab_control_group_memory(const char *root);
/* CPUs' worth of time, 1.5 for one and a half; INFINITY = no limit. */
double ab_control_group_cpus(const char *root);

#endif
