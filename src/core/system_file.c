/* SPDX-License-Identifier: MIT
 *
 * Reads a small system file into a bounded buffer and parses it by hand.
 */
#include "core/system_file.h"

#include "base/units.h"
#include "core/text.h"

#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool join(char full[PATH_MAX], const char *root, const char *path)
{
    return snprintf(full, PATH_MAX, "%s%s", root, path) < PATH_MAX;
}

/* Reads in a loop, because one read() may return only a part of a file in /proc. */
size_t ab_system_file_read(const char *path, char *buf, size_t cap)
{
    size_t n = 0;
    ssize_t got;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    while (fd >= 0 && n + 1 < cap && (got = read(fd, buf + n, cap - 1 - n)) > 0)
        n += (size_t)got;
    if (fd >= 0)
        close(fd);
    buf[n] = 0;
    return n;
}

const char *ab_system_file(const char *root, const char *path, char buf[AB_SYSTEM_FILE_BYTES])
{
    char full[PATH_MAX];
    buf[0] = 0;
    if (join(full, root, path))
        ab_system_file_read(full, buf, AB_SYSTEM_FILE_BYTES);
    return buf;
}

bool ab_system_file_exists(const char *root, const char *path)
{
    char full[PATH_MAX];
    return join(full, root, path) && access(full, F_OK) == 0;
}

const char *ab_system_file_text(const char *root, const char *path, char *dst, size_t cap)
{
    char buf[AB_SYSTEM_FILE_BYTES];
    ab_system_file(root, path, buf);
    ab_system_file_trim(dst, cap, buf, strlen(buf));
    return dst;
}

double ab_system_file_number(const char *root, const char *path)
{
    char buf[AB_SYSTEM_FILE_BYTES];
    return ab_system_file_parse(ab_system_file(root, path, buf));
}

void ab_system_file_trim(char *dst, size_t cap, const char *s, size_t n)
{
    char raw[256];
    while (n > 0 && strchr(" \t\n\"", s[0]) != NULL) {
        s++;
        n--;
    }
    while (n > 0 && strchr(" \t\n\"", s[n - 1]) != NULL)
        n--;
    n = n < sizeof raw - 1 ? n : sizeof raw - 1;
    memcpy(raw, s, n);
    raw[n] = 0;
    ab_text_printable(dst, cap, raw);
}

void ab_system_file_value(char *dst, size_t cap, const char *text, const char *key, char separator)
{
    size_t n = strlen(key);
    for (const char *line = text; line != NULL && *line != 0;) {
        const char *end = strchrnul(line, '\n');
        const char *value = memchr(line, separator, (size_t)(end - line));
        if (strncmp(line, key, n) == 0 && value != NULL) {
            ab_system_file_trim(dst, cap, value + 1, (size_t)(end - value - 1));
            return;
        }
        line = *end == 0 ? NULL : end + 1;
    }
}

double ab_system_file_parse(const char *s)
{
    struct ab_number number;
    size_t n = strspn(s, "0123456789.");
    return ab_units_parse(s, n, AB_UNIT_FRACTION, &number) == NULL ? number.value : (double)NAN;
}

/* ---- control groups ----
 *
 * The groups of this process are listed in /proc/self/cgroup. For each group, limits are read from
 * its folder and from those of its ancestors, up to the root of the hierarchy. */

/* Returns the limit that the files of one group's folder set; INFINITY = none. */
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

/* Returns the limit in memory.max, which has a number or "max". */
static double memory_2(const char *root, const char *folder)
{
    return or_none(file_in(root, folder, "memory.max"));
}

/* Returns the limit in memory.limit_in_bytes, which has a huge number if there is no limit. */
static double memory_1(const char *root, const char *folder)
{
    return or_none(file_in(root, folder, "memory.limit_in_bytes"));
}

/* Returns the limit in cpu.max, which has the quota or "max", and the period: "150000 100000". */
static double cpus_2(const char *root, const char *folder)
{
    char path[PATH_MAX], text[64];
    if (snprintf(path, sizeof path, "%s/cpu.max", folder) >= (int)sizeof path)
        return INFINITY;
    ab_system_file_text(root, path, text, sizeof text);
    const char *period = strchr(text, ' ');
    return or_none(ab_system_file_parse(text) /
                   ab_system_file_parse(period != NULL ? period + 1 : ""));
}

/* Returns the quota divided by the period. The quota is -1 if there is no limit. */
static double cpus_1(const char *root, const char *folder)
{
    return or_none(file_in(root, folder, "cpu.cfs_quota_us") /
                   file_in(root, folder, "cpu.cfs_period_us"));
}

/* Returns the least limit of `group` and its ancestors. Cuts the path `group` shorter, one ancestor
 * after the other. */
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

/* True if `name` is in a list such as "cpu,cpuacct". */
static int has_controller(const char *list, const char *name)
{
    size_t n = strlen(name);
    for (const char *s = list; s != NULL; s = strchr(s, ',') != NULL ? strchr(s, ',') + 1 : NULL)
        if (strncmp(s, name, n) == 0 && (s[n] == 0 || s[n] == ','))
            return 1;
    return 0;
}

/* Returns the least limit over all groups of this process. In /proc/self/cgroup, "0::/user.slice/x"
 * is a group of version 2, and "4:memory:/docker/y" a group of version 1. */
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

/* ---- processes ---- */

bool ab_process_stat(const char *folder, struct ab_process_stat *out)
{
    enum { PARENT = 4, GROUP, FAULTS = 10, CHILDREN_FAULTS, USER = 16, SYSTEM, START = 22, FIELDS };
    char path[PATH_MAX], text[1024];
    uint64_t fields[FIELDS] = {0};
    if (snprintf(path, sizeof path, "%s/stat", folder) >= (int)sizeof path ||
        ab_system_file_read(path, text, sizeof text) == 0)
        return false;
    /* The name is field 2. It is found by its parentheses, because it may contain any character. */
    const char *name = strchr(text, '('), *end = strrchr(text, ')');
    if (name == NULL || end == NULL || end < name || strlen(end) < 4)
        return false;
    const char *at = end + 3;
    char *next;
    for (size_t i = PARENT; i < FIELDS; i++, at = next) {
        fields[i] = strtoull(at, &next, 10);
        if (next == at)
            return false;
    }
    *out = (struct ab_process_stat){.state = end[2],
                                    .parent = (pid_t)fields[PARENT],
                                    .group = (pid_t)fields[GROUP],
                                    .faults = fields[FAULTS],
                                    .children_faults = fields[CHILDREN_FAULTS],
                                    .children_ticks = fields[USER] + fields[SYSTEM],
                                    .start_ticks = fields[START]};
    AB_FIT(out->name, "%.*s", (int)(end - name - 1), name + 1);
    return true;
}

bool ab_process_stat_of(pid_t pid, struct ab_process_stat *out)
{
    char folder[32];
    AB_FIT(folder, "/proc/%d", (int)pid);
    return ab_process_stat(folder, out);
}
