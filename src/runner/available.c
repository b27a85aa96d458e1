/* SPDX-License-Identifier: MIT
 *
 * Reads how much memory the system has available and the control groups of this process allow.
 */
#include "runner/available.h"

#include "core/control_group.h"
#include "core/system_file.h"

#include <unistd.h>

static uint64_t of_system(const char *root)
{
    char buf[AB_SYSTEM_FILE_BYTES], value[64] = "";
    ab_system_file_value(value, sizeof value, ab_system_file(root, "/proc/meminfo", buf),
                         "MemAvailable", ':');
    double kib = ab_system_file_parse(value);
    return kib > 0 && kib < 0x1p50
               ? (uint64_t)kib * 1024
               : (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
}

uint64_t ab_available_memory_of(const char *root)
{
    uint64_t system = of_system(root), group = ab_control_group_memory(root);
    return group < system ? group : system;
}

uint64_t ab_available_memory(void)
{
    return ab_available_memory_of("");
}
