/* SPDX-License-Identifier: MIT
 *
 * Reads from /proc the descendants of a process and the files that a process has mapped.
 */
#include "app/record/descendants.h"

#include "core/text.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

bool ab_process_maps(pid_t pid, const char *name, ino_t inode)
{
    char line[PATH_MAX + 256], number[32], end[80];
    bool is_found = false;
    AB_FIT(number, " %llu ", (unsigned long long)inode);
    AB_FIT(end, "/%s\n", name);
    AB_FIT(line, "/proc/%d/maps", (int)pid);
    FILE *maps = fopen(line, "re");
    while (maps != NULL && !is_found && fgets(line, sizeof line, maps) != NULL) {
        size_t n = strlen(line), n_end = strlen(end);
        is_found = n > n_end && strcmp(line + n - n_end, end) == 0 && strstr(line, number) != NULL;
    }
    if (maps != NULL)
        fclose(maps);
    return is_found;
}

typedef bool (*visitor)(void *user, pid_t pid);

/* Calls `visit` for the children of one thread of a process, and for their descendants. Returns
 * true if `visit` returned true. */
static bool each_child(const char *task, visitor visit, void *user)
{
    char path[PATH_MAX];
    bool is_found = false;
    int child;
    AB_FIT(path, "%s/children", task);
    FILE *children = fopen(path, "re");
    while (children != NULL && !is_found && fscanf(children, "%d", &child) == 1)
        is_found = visit(user, child) || ab_descendants_each(child, visit, user);
    if (children != NULL)
        fclose(children);
    return is_found;
}

bool ab_descendants_each(pid_t pid, visitor visit, void *user)
{
    char path[64], task[sizeof path + NAME_MAX + 8];
    bool is_found = false;
    AB_FIT(path, "/proc/%d/task", (int)pid);
    DIR *tasks = opendir(path);
    for (struct dirent *e; tasks != NULL && !is_found && (e = readdir(tasks)) != NULL;) {
        AB_FIT(task, "%s/%s", path, e->d_name);
        is_found = e->d_name[0] != '.' && each_child(task, visit, user);
    }
    if (tasks != NULL)
        closedir(tasks);
    return is_found;
}
