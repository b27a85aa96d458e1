/* SPDX-License-Identifier: MIT
 *
 * Reads what memory the system has available and what the control groups of this process allow,
 * versions 1 and 2.
 */
#include "runner/available.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static FILE *open_below(const char *root, const char *path)
{
    char full[PATH_MAX];
    int n = snprintf(full, sizeof full, "%s%s", root, path);
    return n < 0 || (size_t)n >= sizeof full ? NULL : fopen(full, "re");
}

static uint64_t of_system(const char *root)
{
    uint64_t kib = 0;
    char line[256];
    FILE *f = open_below(root, "/proc/meminfo");
    while (f != NULL && fgets(line, sizeof line, f) != NULL)
        if (sscanf(line, "MemAvailable: %" SCNu64 " kB", &kib) == 1)
            break;
    if (f != NULL)
        fclose(f);
    return kib > 0 ? kib * 1024
                   : (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* UINT64_MAX = no limit there ("max" of version 2; version 1 says so with a huge number). */
static uint64_t limit_at(const char *root, const char *base, const char *group, const char *name)
{
    char path[PATH_MAX];
    uint64_t limit = UINT64_MAX;
    int n = snprintf(path, sizeof path, "/sys/fs/cgroup%s%s/%s", base, group, name);
    FILE *f = n < 0 || (size_t)n >= sizeof path ? NULL : open_below(root, path);
    if (f == NULL)
        return UINT64_MAX;
    if (fscanf(f, "%" SCNu64, &limit) != 1)
        limit = UINT64_MAX;
    fclose(f);
    return limit;
}

/* A group is bound by the limits of all that it lies in. */
static uint64_t limit_of_group(const char *root, const char *base, char *group, const char *name)
{
    uint64_t least = UINT64_MAX;
    for (;;) {
        uint64_t limit = limit_at(root, base, group, name);
        least = limit < least ? limit : least;
        char *slash = strrchr(group, '/');
        if (slash == NULL)
            return least;
        *slash = 0;
    }
}

/* "0::/user.slice/x" is version 2, "4:memory:/docker/y" version 1. */
static uint64_t of_group(const char *root)
{
    uint64_t least = UINT64_MAX;
    char line[PATH_MAX];
    FILE *f = open_below(root, "/proc/self/cgroup");
    while (f != NULL && fgets(line, sizeof line, f) != NULL) {
        char *kind = strchr(line, ':'), *group = kind == NULL ? NULL : strchr(kind + 1, ':');
        if (group == NULL)
            continue;
        *group++ = 0;
        group[strcspn(group, "\n")] = 0;
        uint64_t limit = strcmp(kind, ":") == 0 ? limit_of_group(root, "", group, "memory.max")
                         : strcmp(kind, ":memory") == 0
                             ? limit_of_group(root, "/memory", group, "memory.limit_in_bytes")
                             : UINT64_MAX;
        least = limit < least ? limit : least;
    }
    if (f != NULL)
        fclose(f);
    return least;
}

uint64_t ab_available_memory_of(const char *root)
{
    uint64_t system = of_system(root), group = of_group(root);
    return group < system ? group : system;
}

uint64_t ab_available_memory(void)
{
    return ab_available_memory_of("");
}
