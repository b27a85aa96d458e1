/* SPDX-License-Identifier: MIT
 *
 * Finds what was not recorded: walks the relocations of each module for the functions of malloc's
 * family, as they are in the memory of the process, and looks in which module their targets are. What
 * is read is not believed: lengths are bounded, and a module that makes no sense is passed over. How
 * many calls were missed is not known: what is known is a least number of calls and a most of memory.
 */
#include "record/bypass.h"

#include "base/bits.h"
#include "core/system_file.h"
#include "record/elf_module.h"
#include "trace/format.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_recorder(const struct ab_module *m)
{
    return strcmp(ab_module_name(m), "liballocbench-record.so") == 0;
}

static bool is_c_library(const struct ab_module *m)
{
    return strncmp(ab_module_name(m), "libc.so", 7) == 0 ||
           strncmp(ab_module_name(m), "libc-2.", 7) == 0;
}

/* operator new and delete of C++, in all their forms. */
static bool is_operator(const char *name)
{
    return strncmp(name, "_Znw", 4) == 0 || strncmp(name, "_Zna", 4) == 0 ||
           strncmp(name, "_Zdl", 4) == 0 || strncmp(name, "_Zda", 4) == 0;
}

static bool is_of_family(const char *name)
{
    static const char *const family[] = {"malloc",        "calloc",         "realloc", "free",
                                         "aligned_alloc", "posix_memalign", "memalign"};
    for (size_t i = 0; i < AB_ARRAY_LEN(family); i++)
        if (strcmp(name, family[i]) == 0)
            return true;
    return is_operator(name);
}

struct search {
    struct ab_modules *all;
    const struct ab_module *of;
    const struct ab_module *target; /* found: the malloc that it calls */
};

/* A second C library in a namespace of its own calls itself: that says nothing of a program. */
static void see_binding(const char *name, uint64_t value, void *user)
{
    struct search *s = user;
    if (s->target != NULL)
        return;
    struct ab_module *to = ab_modules_find(s->all, value);
    if (to == NULL || is_recorder(to) || (to == s->of && is_c_library(to)))
        return;
    /* An operator beside no malloc, as libstdc++ and many programs have it, calls the one that all call. */
    if (ab_module_defines(s->all, to, name, value) &&
        (!is_operator(name) || ab_module_defines(s->all, to, "malloc", 0)))
        s->target = to;
}

static bool is_getauxval(const char *name)
{
    return strcmp(name, "getauxval") == 0;
}

static void keep_value(const char *name, uint64_t value, void *user)
{
    (void)name;
    *(uint64_t *)user = value;
}

/* The one that the recorder uses: others are of namespaces that dlmopen made. */
static const struct ab_module *find_c_library(struct ab_modules *all)
{
    uint64_t value = 0;
    struct ab_module_visit visit = {.wants = is_getauxval, .see = keep_value, .user = &value};
    for (size_t i = 0; i < all->n; i++)
        if (is_recorder(&all->list[i]))
            ab_module_bindings(all, &all->list[i], &visit);
    return ab_modules_find(all, value);
}

static const struct ab_module *find_bypass(struct ab_modules *all, struct ab_module *m)
{
    struct search s = {.all = all, .of = m};
    struct ab_module_visit visit = {.wants = is_of_family, .see = see_binding, .user = &s};
    if (!is_recorder(m))
        ab_module_bindings(all, m, &visit);
    return s.target;
}

/* Memory that was written to and that no file stands behind: blocks, and what of them was given
 * back, stacks, variables. */
static uint64_t read_anonymous(pid_t pid)
{
    char path[64], status[AB_SYSTEM_FILE_BYTES], resident[64] = "0", swapped[64] = "0";
    snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    ab_system_file("", path, status);
    ab_system_file_value(resident, sizeof resident, status, "RssAnon", ':');
    ab_system_file_value(swapped, sizeof swapped, status, "VmSwap", ':');
    return (uint64_t)(ab_system_file_parse(resident) + ab_system_file_parse(swapped)) * 1024;
}

static void write_found(pid_t pid, bool is_end, struct ab_modules *all, FILE *to)
{
    const struct ab_module *c_library = find_c_library(all);
    if (c_library == NULL) /* the recorder is not there: a process of the same number elsewhere */
        return;
    if (is_end)
        fprintf(to, "anonymous %llu\n", (unsigned long long)read_anonymous(pid));
    for (size_t i = 0; i < all->n; i++) {
        const struct ab_module *target = find_bypass(all, &all->list[i]);
        if (target == NULL)
            continue;
        const char *kind = !is_c_library(target) ? "own"
                           : target == c_library ? "library"
                                                 : "namespace";
        fprintf(to, "%s %s\n", kind, all->list[i].path);
    }
}

/* The recorded program may write into the folder: what it made is not written to. */
static FILE *open_own(int folder, const char *name)
{
    struct stat st;
    int fd = openat(folder, name, O_WRONLY | O_APPEND | O_CREAT | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW,
                    0600);
    bool is_own = fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid() &&
                  st.st_nlink == 1;
    FILE *to = is_own ? fdopen(fd, "a") : NULL;
    if (to == NULL && fd >= 0)
        close(fd);
    return to;
}

void ab_bypass_look(pid_t pid, bool is_end, int folder, const char *name)
{
    struct ab_modules all;
    if (!ab_modules_open(pid, &all))
        return;
    FILE *to = open_own(folder, name);
    if (to != NULL) {
        write_found(pid, is_end, &all, to);
        fclose(to);
    }
    ab_modules_close(&all);
}

/* ---- what was found is read again, from the file of the spool ---- */

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

/* An earlier look may have found it. */
static bool has_module(const struct ab_trace_bypass *b, const char *name)
{
    for (uint32_t at = 0; at < b->n_names; at += (uint32_t)strlen(b->names + at) + 1)
        if (strcmp(b->names + at, name) == 0)
            return true;
    return false;
}

static void take_line(const char *line, struct ab_bypass_report *report,
                      struct ab_trace_bypass *out)
{
    unsigned long long bytes;
    static const char *const kinds[] = {"library ", "namespace ", "own "};
    const char *path = strchr(line, ' ') + 1;
    size_t kind = 0;
    if (sscanf(line, "anonymous %llu", &bytes) == 1) {
        out->most_bytes = bytes;
        report->is_looked_into = true;
    }
    while (kind < AB_ARRAY_LEN(kinds) && strncmp(line, kinds[kind], strlen(kinds[kind])) != 0)
        kind++;
    if (kind == AB_ARRAY_LEN(kinds))
        return;
    if (!has_module(out, base_name(path)))
        ab_bypass_add_module(out, base_name(path));
    if (report->path[0] != 0)
        return;
    report->kind = (enum ab_bypass_kind)kind;
    snprintf(report->path, sizeof report->path, "%s", path);
}

void ab_bypass_read(const char *folder, const struct ab_spool_entry *image,
                    struct ab_bypass_report *report, struct ab_trace_bypass *out)
{
    char path[PATH_MAX], line[PATH_MAX + 16];
    *report = (struct ab_bypass_report){.path = ""};
    *out = (struct ab_trace_bypass){.most_bytes = AB_BYPASS_UNKNOWN};
    snprintf(path, sizeof path, "%s/" AB_BYPASS_FILE ".%u.%u", folder, image->image.pid,
             image->generation);
    FILE *f = fopen(path, "re");
    while (f != NULL && fgets(line, sizeof line, f) != NULL) {
        line[strcspn(line, "\n")] = 0;
        if (strchr(line, ' ') != NULL)
            take_line(line, report, out);
    }
    if (f != NULL)
        fclose(f);
}
