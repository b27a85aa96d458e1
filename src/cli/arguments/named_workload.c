/* SPDX-License-Identifier: MIT
 *
 * Finds the folder of the workloads that come with allocbench, from where its program is, and lists
 * what is in it.
 */
#include "cli/arguments/named_workload.h"

#include "base/nearest.h"
#include "core/text.h"

#include <dirent.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define EXTENSION ".yaml"

/* SOURCES/build/VARIANT/allocbench, PREFIX/bin/allocbench: seen from the folder of the program. */
static const char in_sources[] = "../../configs", in_share[] = "../share/allocbench/configs";

static bool is_folder(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* …/build/VARIANT: anywhere else a configs two levels up is somebody else's. */
static bool is_build(const char *folder)
{
    const char *variant = strrchr(folder, '/');
    return variant != NULL && variant - folder >= 6 && memcmp(variant - 6, "/build", 6) == 0;
}

static enum ab_status find_folder(char **out, struct ab_err *err)
{
    char self[PATH_MAX], path[PATH_MAX + 64];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    if (n <= 0)
        return ab_fail_errno(err, AB_SYSTEM, "cannot read /proc/self/exe");
    self[n] = 0;
    *strrchr(self, '/') = 0;
    snprintf(path, sizeof path, "%s/%s", self, in_sources);
    if (!is_build(self) || !is_folder(path))
        snprintf(path, sizeof path, "%s/%s", self, in_share);
    *out = realpath(path, NULL);
    if (*out == NULL)
        return ab_fail(err, AB_INPUT,
                       "the workloads that come with allocbench are not installed: there is no %s",
                       AB_SHOWN(512, path));
    return AB_OK;
}

/* ---- what is in it ---- */

static bool add_name(struct ab_workload_names *list, const char *prefix, const char *file)
{
    struct ab_text name = {0};
    char **grown = realloc(list->names, (list->n + 1) * sizeof grown[0]);
    if (grown == NULL)
        return false;
    list->names = grown;
    ab_text_addf(&name, "%s%.*s", prefix, (int)(strlen(file) - strlen(EXTENSION)), file);
    if (name.s != NULL)
        list->names[list->n++] = name.s;
    return name.s != NULL;
}

static bool is_yaml(const char *file)
{
    size_t n = strlen(file), e = strlen(EXTENSION);
    return n > e && file[0] != '.' && strcmp(file + n - e, EXTENSION) == 0;
}

/* One level of folders: their workloads are called FOLDER/NAME. */
static bool list_folder(struct ab_workload_names *list, const char *folder, const char *prefix)
{
    DIR *d = opendir(folder);
    bool ok = true;
    for (struct dirent *e; ok && d != NULL && (e = readdir(d)) != NULL;) {
        char path[PATH_MAX], below[NAME_MAX + 2];
        snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        snprintf(below, sizeof below, "%s/", e->d_name);
        if (is_yaml(e->d_name))
            ok = add_name(list, prefix, e->d_name);
        else if (e->d_name[0] != '.' && prefix[0] == 0 && is_folder(path))
            ok = list_folder(list, path, below);
    }
    if (d != NULL)
        closedir(d);
    return ok;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

enum ab_status ab_workload_names(struct ab_workload_names *out, struct ab_err *err)
{
    struct ab_workload_names list = {0};
    AB_TRY(find_folder(&list.folder, err));
    if (!list_folder(&list, list.folder, "")) {
        ab_workload_names_fini(&list);
        return ab_fail(err, AB_SYSTEM, "out of memory");
    }
    if (list.n > 0)
        qsort(list.names, list.n, sizeof list.names[0], by_name);
    *out = list;
    return AB_OK;
}

void ab_workload_names_fini(struct ab_workload_names *list)
{
    for (size_t i = 0; i < list->n; i++)
        free(list->names[i]);
    free(list->names);
    free(list->folder);
    *list = (struct ab_workload_names){0};
}

char *ab_workload_names_path(const struct ab_workload_names *list, const char *name)
{
    struct ab_text path = {0};
    ab_text_addf(&path, "%s/%s" EXTENSION, list->folder, name);
    return path.s;
}

/* ---- one of them ---- */

static bool has(const struct ab_workload_names *list, const char *name)
{
    for (size_t i = 0; i < list->n; i++)
        if (strcmp(list->names[i], name) == 0)
            return true;
    return false;
}

bool ab_workload_is_named(const char *text, char *name, size_t cap)
{
    struct ab_workload_names list;
    struct ab_err err;
    size_t n = strlen(text) - (is_yaml(text) ? strlen(EXTENSION) : 0);
    if (n >= cap || ab_workload_names(&list, &err) != AB_OK)
        return false;
    snprintf(name, cap, "%.*s", (int)n, text);
    bool is_named = has(&list, name);
    ab_workload_names_fini(&list);
    return is_named;
}

static enum ab_status fail_unknown(const struct ab_workload_names *list, const char *text,
                                   struct ab_err *err)
{
    const char *shown = AB_SHOWN(256, text);
    if (strncmp(text, "@last", 5) == 0)
        return ab_fail(err, AB_USAGE,
                       "%s is a stored result, not a workload; try: allocbench report %s", shown,
                       shown);
    const char *nearest = ab_text_nearest(text + 1, (const char *const *)list->names, list->n);
    if (nearest != NULL)
        return ab_fail(err, AB_USAGE, "no workload is called %s; did you mean @%s?", shown,
                       nearest);
    return ab_fail(err, AB_USAGE, "no workload is called %s; see allocbench list workloads", shown);
}

enum ab_status ab_named_workload(const char *text, char **out, struct ab_err *err)
{
    struct ab_workload_names list;
    AB_TRY(ab_workload_names(&list, err));
    char *path = NULL;
    enum ab_status status = AB_OK;
    if (!has(&list, text + 1))
        status = fail_unknown(&list, text, err);
    else if ((path = ab_workload_names_path(&list, text + 1)) == NULL)
        status = ab_fail(err, AB_SYSTEM, "out of memory");
    ab_workload_names_fini(&list);
    if (status == AB_OK)
        *out = path;
    return status;
}
