/* SPDX-License-Identifier: MIT
 *
 * Finds the groups in /proc/self/cgroup and walks from each to the root of its hierarchy.
 */
#include "core/control_group.h"

#include "core/system_file.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* The limit that the files of one folder say; INFINITY = none. */
typedef double limit_reader(const char *root, const char *folder);

static double file_in(const char *root, const char *folder, const char *name)
{
    char path[PATH_MAX];
    if (snprintf(path, sizeof path, "%s/%s", folder, name) >= (int)sizeof path)
        return NAN;
    return ab_system_file_number(root, path);
}

static double or_none(double limit)
{
    return isnan(limit) ? (double)INFINITY : limit;
}

static double memory_2(const char *root, const char *folder) /* a number, or "max" */
{
    return or_none(file_in(root, folder, "memory.max"));
}

static double memory_1(const char *root, const char *folder) /* a huge number for none */
{
    return or_none(file_in(root, folder, "memory.limit_in_bytes"));
}

static double cpus_2(const char *root, const char *folder) /* "max 100000" or "150000 100000" */
{
    char path[PATH_MAX], text[64];
    if (snprintf(path, sizeof path, "%s/cpu.max", folder) >= (int)sizeof path)
        return INFINITY;
    ab_system_file_text(root, path, text, sizeof text);
    const char *period = strchr(text, ' ');
    return or_none(ab_system_file_parse(text) /
                   ab_system_file_parse(period != NULL ? period + 1 : ""));
}

static double cpus_1(const char *root, const char *folder) /* -1 for none */
{
    return or_none(file_in(root, folder, "cpu.cfs_quota_us") /
                   file_in(root, folder, "cpu.cfs_period_us"));
}

/* `group` is cut while the walk goes up. */
static double least_of(const char *root, const char *base, char *group, limit_reader *read)
{
    double least = INFINITY;
    for (;;) {
        char folder[PATH_MAX];
        int n = snprintf(folder, sizeof folder, "/sys/fs/cgroup%s%s%s", *base != 0 ? "/" : "", base,
                         group);
        if (n >= 0 && (size_t)n < sizeof folder)
            least = fmin(least, read(root, folder));
        char *slash = strrchr(group, '/');
        if (slash == NULL)
            return least;
        *slash = 0;
    }
}

/* Is `name` one of "cpu,cpuacct"? */
static int has_controller(const char *list, const char *name)
{
    size_t n = strlen(name);
    for (const char *s = list; s != NULL; s = strchr(s, ',') != NULL ? strchr(s, ',') + 1 : NULL)
        if (strncmp(s, name, n) == 0 && (s[n] == 0 || s[n] == ','))
            return 1;
    return 0;
}

/* "0::/user.slice/x" is version 2, "4:memory:/docker/y" version 1. */
static double least(const char *root, const char *controller, limit_reader *version_1,
                    limit_reader *version_2)
{
    char text[AB_SYSTEM_FILE_BYTES], *rest = NULL;
    double limit = INFINITY;
    ab_system_file(root, "/proc/self/cgroup", text);
    for (char *line = strtok_r(text, "\n", &rest); line != NULL;
         line = strtok_r(NULL, "\n", &rest)) {
        char *list = strchr(line, ':'), *group = list == NULL ? NULL : strchr(list + 1, ':');
        if (group == NULL)
            continue;
        *group++ = 0;
        list++;
        if (*list == 0)
            limit = fmin(limit, least_of(root, "", group, version_2));
        else if (has_controller(list, controller))
            limit = fmin(limit, least_of(root, list, group, version_1));
    }
    return limit;
}

uint64_t ab_control_group_memory(const char *root)
{
    double bytes = least(root, "memory", memory_1, memory_2);
    return bytes < 0x1p62 ? (uint64_t)bytes : UINT64_MAX;
}

double ab_control_group_cpus(const char *root)
{
    return least(root, "cpu", cpus_1, cpus_2);
}
