/* SPDX-License-Identifier: MIT
 *
 * Finds what was not recorded. Reads the relocations of each module for functions of the malloc
 * family, in the memory of the process, and finds the modules that these functions are bound to.
 * The data is untrusted: lengths are bounded, and modules that make no sense are skipped. The
 * number of missed calls cannot be found; only a lower bound of it, and an upper bound of the
 * memory, are known.
 */
#include "record/bypass.h"

#include "base/bits.h"
#include "base/malloc_names.h"
#include "core/anonymous.h"
#include "core/text.h"
#include "record/elf_module.h"
#include "trace/format.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_recorder(const struct ab_module *m)
{
    return strcmp(basename(m->path), "liballocbench-record.so") == 0;
}

static bool is_c_library(const struct ab_module *m)
{
    return strncmp(basename(m->path), "libc.so", 7) == 0 ||
           strncmp(basename(m->path), "libc-2.", 7) == 0;
}

/* True for operator new and delete of C++, in all forms. */
static bool is_operator(const char *name)
{
    return strncmp(name, "_Znw", 4) == 0 || strncmp(name, "_Zna", 4) == 0 ||
           strncmp(name, "_Zdl", 4) == 0 || strncmp(name, "_Zda", 4) == 0;
}

static bool is_of_family(const char *name)
{
    return (ab_malloc_name_flags(name, strlen(name)) & AB_MALLOC_RECORDED) != 0 ||
           is_operator(name);
}

struct search {
    struct ab_modules *all;
    const struct ab_module *of;
    /* result: the first module found whose malloc is called; NULL = none */
    const struct ab_module *target;
};

/* Keeps the first module other than the recorder that a function of the family is bound to. A
 * second C library in its own namespace calls its own malloc, which says nothing about the
 * program. */
static void see_binding(const char *name, uint64_t value, void *user)
{
    struct search *s = user;
    if (s->target != NULL)
        return;
    struct ab_module *to = ab_modules_find(s->all, value);
    if (to == NULL || is_recorder(to) || (to == s->of && is_c_library(to)))
        return;
    /* Ignores an operator in a module without malloc, such as libstdc++ and many programs, because
     * it calls the common malloc. */
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

/* Finds the C library that the recorder uses. All other C libraries are in namespaces of
 * dlmopen. */
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

/* ---- places of anonymous memory ---- */

#define LOOKED_AT "memory looked at"

struct memory_look {
    FILE *to;
    const struct ab_modules *all;
};

static uint64_t variables_end(void *user, uint64_t begin)
{
    const struct ab_modules *all = ((const struct memory_look *)user)->all;
    for (size_t i = 0; i < all->n; i++)
        if (all->list[i].end == begin && all->list[i].memory_end > begin)
            return all->list[i].memory_end;
    return begin;
}

static void write_places(void *user, uint64_t first, uint64_t n, uint64_t pages)
{
    fprintf(((const struct memory_look *)user)->to, "at %llx %llu %llu\n",
            (unsigned long long)first, (unsigned long long)n, (unsigned long long)pages);
}

/* Writes where the memory of the process is. The last line shows that the memory was looked at,
 * because nothing is written for a process that may not be read. */
static void write_memory(pid_t pid, const struct ab_modules *all, FILE *to)
{
    struct memory_look l = {to, all};
    const struct ab_anonymous_look look = {variables_end, write_places, &l};
    if (ab_anonymous_look(pid, &look))
        fputs(LOOKED_AT "\n", to);
}

static void write_found(pid_t pid, bool is_end, struct ab_modules *all, FILE *to)
{
    const struct ab_module *c_library = find_c_library(all);
    if (c_library == NULL) /* the recorder is not loaded: another process with the same id */
        return;
    if (is_end)
        fprintf(to, "anonymous %llu\n", (unsigned long long)ab_anonymous_bytes(pid));
    for (size_t i = 0; i < all->n; i++) {
        const struct ab_module *target = find_bypass(all, &all->list[i]);
        if (target == NULL)
            continue;
        const char *kind = !is_c_library(target) ? "own"
                           : target == c_library ? "library"
                                                 : "namespace";
        fprintf(to, "%s %s\n", kind, all->list[i].path);
    }
    if (is_end)
        write_memory(pid, all, to);
}

/* Opens a file in the folder for appending. Refuses a file that the recorded program made there
 * itself. */
static FILE *open_own(int folder, const char *name)
{
    struct stat st;
    int fd = openat(folder, name,
                    O_WRONLY | O_APPEND | O_CREAT | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW, 0600);
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

void ab_bypass_sample(pid_t pid, int folder, const char *name, uint64_t *sampled_bytes)
{
    const uint64_t least = UINT64_C(16) << 20;
    uint64_t bytes = ab_anonymous_bytes(pid);
    struct ab_modules all;
    if (bytes < least || bytes < *sampled_bytes + *sampled_bytes / 2 || !ab_modules_open(pid, &all))
        return;
    bool is_recorded = false; /* False if it is another process with the same id */
    for (size_t i = 0; i < all.n; i++)
        is_recorded = is_recorded || is_recorder(&all.list[i]);
    FILE *to = is_recorded ? open_own(folder, name) : NULL;
    *sampled_bytes = bytes;
    if (to != NULL) {
        write_memory(pid, &all, to);
        fclose(to);
    }
    ab_modules_close(&all);
}

/* ---- reading the findings from the spool ---- */

/* True if the module has been reported already. */
static bool has_module(const struct ab_trace_bypass *b, const char *name)
{
    for (uint32_t at = 0; at < b->n_names; at += (uint32_t)strlen(b->names + at) + 1)
        if (strcmp(b->names + at, name) == 0)
            return true;
    return false;
}

struct memory_sum { /* sums over the memory of one look (ab_bypass_look or ab_bypass_sample) */
    uint64_t anonymous_bytes, unasked_bytes;
};

/* Ends a look. Keeps its sums if it found the most memory so far. */
static void end_look(struct memory_sum *sum, struct ab_trace_whole *most)
{
    if (most->anonymous_bytes == AB_WHOLE_UNKNOWN || sum->anonymous_bytes > most->anonymous_bytes) {
        most->anonymous_bytes = sum->anonymous_bytes;
        most->unasked_bytes = sum->unasked_bytes;
    }
    *sum = (struct memory_sum){0};
}

static void take_memory(const char *line, const struct ab_places *places, struct memory_sum *sum,
                        struct ab_trace_whole *most)
{
    unsigned long long first, n, pages;
    if (strcmp(line, LOOKED_AT) == 0)
        end_look(sum, most);
    if (sscanf(line, "at %llx %llu %llu", &first, &n, &pages) != 3 ||
        n > AB_PLACES * AB_PLACE_REGIONS || pages > AB_PLACE_PAGES)
        return;
    sum->anonymous_bytes += n * pages * AB_ANONYMOUS_PAGE;
    for (uint64_t place = first; place < first + n; place++)
        sum->unasked_bytes += ab_places_has(places, place) ? 0 : pages * AB_ANONYMOUS_PAGE;
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
    if (!has_module(out, basename(path)))
        ab_bypass_add_module(out, basename(path));
    if (report->path[0] != 0)
        return;
    report->kind = (enum ab_bypass_kind)kind;
    AB_COPY(report->path, path);
}

void ab_bypass_read(const char *folder, const struct ab_spool_entry *image,
                    struct ab_bypass_report *report, struct ab_trace_bypass *out,
                    struct ab_trace_whole *whole)
{
    char path[PATH_MAX], line[PATH_MAX + 16];
    struct memory_sum sum = {0};
    report->path[0] = 0;
    report->kind = AB_BYPASS_LIBRARY;
    *out = (struct ab_trace_bypass){.most_bytes = AB_BYPASS_UNKNOWN};
    AB_FIT(path, "%s/" AB_BYPASS_FILE ".%u.%u", folder, image->image.pid, image->generation);
    FILE *f = fopen(path, "re");
    while (f != NULL && fgets(line, sizeof line, f) != NULL) {
        line[strcspn(line, "\n")] = 0;
        if (strchr(line, ' ') != NULL)
            take_line(line, report, out);
        take_memory(line, report->places, &sum, whole);
    }
    if (f != NULL)
        fclose(f);
    if (whole->unasked_bytes != AB_WHOLE_UNKNOWN) {
        uint64_t own = report->own_bytes < whole->unasked_bytes ? report->own_bytes
                                                                : whole->unasked_bytes;
        whole->anonymous_bytes -= own;
        whole->unasked_bytes -= own;
    }
}
