/* SPDX-License-Identifier: MIT
 *
 * Finds the folders of the workloads and traces that come with allocbench, relative to the program,
 * and lists their files.
 */
#include "app/named_workload.h"

#include "base/nearest.h"
#include "core/alloc.h"
#include "core/text.h"

#include <dirent.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The folders of files that come with allocbench, by kind of file. */
static const struct store {
    const char *what, *folder, *extension, *list; /* list: command or file that lists the names */
} stores[] = {
    [AB_NAMED_WORKLOAD] = {"workload", "configs", ".yaml", "allocbench list workloads"},
    [AB_NAMED_TRACE] = {"trace", "traces", ".abt", "traces/README.md"},
};

/* Paths relative to the program's folder, which is SOURCES/build/VARIANT or PREFIX/bin. */
static const char in_sources[] = "../..", in_share[] = "../share/allocbench";

static bool is_folder(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* True if the folder is …/build/VARIANT. Elsewhere, a folder configs two levels up is not
 * allocbench's. */
static bool is_build(const char *folder)
{
    const char *variant = strrchr(folder, '/');
    return variant != NULL && variant - folder >= 6 && memcmp(variant - 6, "/build", 6) == 0;
}

static enum ab_status find_folder(const struct store *store, char **out, struct ab_err *err)
{
    char self[PATH_MAX], path[PATH_MAX + 64];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    if (n <= 0)
        return ab_fail_errno(err, AB_SYSTEM, "cannot read /proc/self/exe");
    self[n] = 0;
    *strrchr(self, '/') = 0;
    AB_FIT(path, "%s/%s/%s", self, in_sources, store->folder);
    if (!is_build(self) || !is_folder(path))
        AB_FIT(path, "%s/%s/%s", self, in_share, store->folder);
    *out = realpath(path, NULL);
    if (*out == NULL)
        return ab_fail(err, AB_INPUT,
                       "the %ss that come with allocbench are not installed: there is no %s",
                       store->what, AB_SHOWN(512, path));
    return AB_OK;
}

/* ---- names in a folder ---- */

/* Adds a name: the prefix and the first n characters of the file name, without its extension. */
static void add_name(struct ab_workload_names *list, const char *prefix, const char *file, size_t n)
{
    AB_GROW(list->names, list->cap, list->n);
    list->names[list->n++] = ab_strdupf("%s%.*s", prefix, (int)n, file);
}

/* Returns the length of the file name without the store's extension. */
static size_t length_of_stem(const struct store *store, const char *file)
{
    size_t n = strlen(file), e = strlen(store->extension);
    return n > e && ab_text_ends_with(file, store->extension) ? n - e : n;
}

/* Lists the files of a folder, and of its direct subfolders as FOLDER/NAME. */
static void list_folder(const struct store *store, struct ab_workload_names *list,
                        const char *folder, const char *prefix)
{
    DIR *d = opendir(folder);
    for (struct dirent *e; d != NULL && (e = readdir(d)) != NULL;) {
        char path[PATH_MAX], below[NAME_MAX + 2];
        AB_FIT(path, "%s/%s", folder, e->d_name);
        AB_FIT(below, "%s/", e->d_name);
        size_t n = length_of_stem(store, e->d_name);
        if (e->d_name[0] == '.')
            continue;
        if (e->d_name[n] != 0)
            add_name(list, prefix, e->d_name, n);
        else if (prefix[0] == 0 && is_folder(path))
            list_folder(store, list, path, below);
    }
    if (d != NULL)
        closedir(d);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static enum ab_status names_of(const struct store *store, struct ab_workload_names *out,
                               struct ab_err *err)
{
    struct ab_workload_names list = {0};
    AB_TRY(find_folder(store, &list.folder, err));
    list_folder(store, &list, list.folder, "");
    if (list.n > 0)
        qsort(list.names, list.n, sizeof list.names[0], by_name);
    *out = list;
    return AB_OK;
}

enum ab_status ab_workload_names(struct ab_workload_names *out, struct ab_err *err)
{
    return names_of(&stores[AB_NAMED_WORKLOAD], out, err);
}

void ab_workload_names_fini(struct ab_workload_names *list)
{
    for (size_t i = 0; i < list->n; i++)
        free(list->names[i]);
    free(list->names);
    free(list->folder);
    *list = (struct ab_workload_names){0};
}

static char *path_of(const struct store *store, const struct ab_workload_names *list,
                     const char *name)
{
    return ab_strdupf("%s/%s%s", list->folder, name, store->extension);
}

char *ab_workload_names_path(const struct ab_workload_names *list, const char *name)
{
    return path_of(&stores[AB_NAMED_WORKLOAD], list, name);
}

/* ---- finding one name ---- */

static bool has(const struct ab_workload_names *list, const char *name)
{
    for (size_t i = 0; i < list->n; i++)
        if (strcmp(list->names[i], name) == 0)
            return true;
    return false;
}

bool ab_is_named(enum ab_named kind, const char *text, char *name, size_t cap, bool *is_exact)
{
    const struct store *store = &stores[kind];
    struct ab_workload_names list;
    struct ab_err err;
    const char *nearest;
    size_t folder = strlen(store->folder);
    if (strncmp(text, store->folder, folder) == 0 && text[folder] == '/')
        text += folder + 1;
    if (strlen(text) >= cap || names_of(store, &list, &err) != AB_OK)
        return false;
    snprintf(name, cap, "%.*s", (int)length_of_stem(store, text), text);
    *is_exact = has(&list, name);
    nearest = *is_exact ? name : ab_text_nearest(name, (const char *const *)list.names, list.n);
    if (nearest != NULL && nearest != name)
        snprintf(name, cap, "%s", nearest);
    ab_workload_names_fini(&list);
    return nearest != NULL;
}

/* Writes the name of a similar group to `buf`. Returns false if no group is similar. */
static bool find_near_group(const struct ab_workload_names *list, const char *text, char *buf,
                            size_t cap)
{
    const char *near = NULL;
    for (size_t i = 0; i < list->n && near == NULL; i++) {
        const char *slash = strchr(list->names[i], '/');
        if (slash == NULL)
            continue;
        snprintf(buf, cap, "%.*s", (int)(slash - list->names[i]), list->names[i]);
        near = ab_text_nearest(text, (const char *const[]){buf}, 1);
    }
    return near != NULL;
}

static enum ab_status fail_unknown(const struct store *store, const struct ab_workload_names *list,
                                   const char *text, struct ab_err *err)
{
    const char *shown = AB_SHOWN(256, text);
    const char *nearest = ab_text_nearest(text + 1, (const char *const *)list->names, list->n);
    char group[NAME_MAX + 1];
    bool is_near = find_near_group(list, text + 1, group, sizeof group);
    if (is_near && strcmp(group, text + 1) == 0)
        return ab_fail(err, AB_USAGE, "%s is a group, which only `run` takes; see %s", shown,
                       store->list);
    if (nearest == NULL && is_near)
        nearest = group;
    for (size_t i = 0; nearest == NULL && text[1] != 0 && i < list->n; i++)
        if (strncmp(list->names[i], text + 1, strlen(text + 1)) == 0)
            nearest = list->names[i]; /* such as @perl for @perl-words */
    if (nearest != NULL)
        return ab_fail(err, AB_USAGE, "no %s is called %s; did you mean @%s?", store->what, shown,
                       nearest);
    return ab_fail(err, AB_USAGE, "no %s is called %s in %s; see %s", store->what, shown,
                   AB_SHOWN(512, list->folder), store->list);
}

enum ab_status ab_named_find(enum ab_named kind, const char *text, char **out, struct ab_err *err)
{
    const struct store *store = &stores[kind];
    struct ab_workload_names list;
    const char *shown = AB_SHOWN(256, text);
    if (strncmp(text, "@last", 5) == 0 && (text[5] == 0 || text[5] == '~'))
        return ab_fail(err, AB_USAGE, "%s is a stored result, not a %s; try: allocbench report %s",
                       shown, store->what, shown);
    AB_TRY(names_of(store, &list, err));
    enum ab_status status = AB_OK;
    if (has(&list, text + 1))
        *out = path_of(store, &list, text + 1);
    else
        status = fail_unknown(store, &list, text, err);
    ab_workload_names_fini(&list);
    return status;
}

enum ab_status ab_named_group(enum ab_named kind, const char *text, char ***paths, size_t *n,
                              struct ab_err *err)
{
    const struct store *store = &stores[kind];
    struct ab_workload_names list;
    size_t length = strlen(text);
    *paths = NULL;
    *n = 0;
    if (text[0] != '@' || length < 2 || strchr(text, '/') != NULL || strncmp(text, "@last", 5) == 0)
        return AB_OK;
    AB_TRY(names_of(store, &list, err));
    *paths = ab_alloc_zeroed(list.n + 1, sizeof **paths);
    for (size_t i = 0; i < list.n; i++)
        if (strncmp(list.names[i], text + 1, length - 1) == 0 && list.names[i][length - 1] == '/')
            (*paths)[(*n)++] = path_of(store, &list, list.names[i]);
    ab_workload_names_fini(&list);
    return AB_OK;
}
