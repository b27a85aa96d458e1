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

#include <dirent.h>
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

/* ---- anonymous memory, and where it lies ----
 *
 * Stacks are left out, by where the stack pointers of threads that wait are, and variables of program
 * and libraries, which follow their files. */

enum { PAGE = 4096, PLACE_PAGES = (1 << AB_PLACE_LOG2) / PAGE, STACKS_MOST = 1024 };
#define AREA_MOST \
    (UINT64_C(1) << 36) /* bytes: of one that is larger each page would take too long */

struct memory_look {
    FILE *to;
    const struct ab_modules *all;
    int pagemap;
    uint64_t stacks[STACKS_MOST]; /* stack pointers */
    size_t n_stacks;
    uint64_t first, n, pages; /* places that follow each other with so many pages each */
};

static void find_stacks(pid_t pid, struct memory_look *l)
{
    char path[64], line[256];
    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    DIR *tasks = opendir(path);
    for (struct dirent *e;
         tasks != NULL && l->n_stacks < STACKS_MOST && (e = readdir(tasks)) != NULL;) {
        unsigned long long sp, pc;
        snprintf(path, sizeof path, "/proc/%d/task/%.20s/syscall", (int)pid, e->d_name);
        FILE *f = e->d_name[0] == '.' ? NULL : fopen(path, "re");
        const char *last = NULL;
        if (f != NULL && fgets(line, sizeof line, f) != NULL)
            last = strstr(line, " 0x");
        for (const char *next = last; next != NULL && (next = strstr(next + 1, " 0x")) != NULL;)
            if (strstr(next + 1, " 0x") != NULL)
                last = next; /* the last but one */
        if (last != NULL && sscanf(last, " %llx %llx", &sp, &pc) == 2)
            l->stacks[l->n_stacks++] = sp;
        if (f != NULL)
            fclose(f);
    }
    if (tasks != NULL)
        closedir(tasks);
}

static void end_run(struct memory_look *l)
{
    if (l->n > 0 && l->pages > 0)
        fprintf(l->to, "at %llx %llu %llu\n", (unsigned long long)l->first,
                (unsigned long long)l->n, (unsigned long long)l->pages);
    l->n = 0;
}

static void add_place(struct memory_look *l, uint64_t place, uint64_t pages)
{
    if (l->n > 0 && (l->first + l->n != place || l->pages != pages))
        end_run(l);
    if (l->n == 0)
        l->first = place;
    l->pages = pages;
    l->n++;
}

/* `most`: pages of it that are anonymous; the page of zeroes is resident and none. */
static void add_area(struct memory_look *l, uint64_t begin, uint64_t end, uint64_t most)
{
    uint64_t entries[PLACE_PAGES];
    while (begin < end && most > 0) {
        uint64_t place = begin >> AB_PLACE_LOG2, next = (place + 1) << AB_PLACE_LOG2, pages = 0;
        next = next < end ? next : end;
        size_t n = (size_t)((next - begin) / PAGE), bytes = n * sizeof entries[0];
        if (pread(l->pagemap, entries, bytes, (off_t)(begin / PAGE * 8)) != (ssize_t)bytes)
            return;
        for (size_t i = 0; i < n; i++)
            pages += entries[i] >> 62 != 0; /* resident, or swapped */
        pages = pages < most ? pages : most;
        most -= pages;
        add_place(l, place, pages);
        begin = next;
    }
}

static void add_mapping(struct memory_look *l, uint64_t begin, uint64_t end, uint64_t bytes)
{
    for (size_t i = 0; i < l->n_stacks; i++)
        if (l->stacks[i] >= begin && l->stacks[i] < end)
            return;
    for (size_t i = 0; i < l->all->n; i++)
        if (l->all->list[i].end == begin && l->all->list[i].memory_end > begin)
            begin = (l->all->list[i].memory_end + PAGE - 1) & ~(uint64_t)(PAGE - 1);
    if (begin < end && end - begin <= AREA_MOST)
        add_area(l, begin, end, bytes / PAGE);
}

static void write_memory(pid_t pid, const struct ab_modules *all, FILE *to)
{
    struct memory_look l = {.to = to, .all = all};
    char path[64], line[PATH_MAX + 128], kind[8], name[16];
    unsigned long long begin = 0, end = 0, offset, inode, kilobytes, bytes = 0, a, b;
    snprintf(path, sizeof path, "/proc/%d/pagemap", (int)pid);
    l.pagemap = open(path, O_RDONLY | O_CLOEXEC);
    snprintf(path, sizeof path, "/proc/%d/smaps", (int)pid);
    FILE *smaps = l.pagemap < 0 ? NULL : fopen(path, "re");
    if (smaps != NULL) {
        fputs("memory looked at\n", to);
        find_stacks(pid, &l);
    }
    while (smaps != NULL && fgets(line, sizeof line, smaps) != NULL) {
        name[0] = 0;
        if (sscanf(line, "%llx-%llx %7s %llx %*s %llu %15s", &a, &b, kind, &offset, &inode, name) >=
            5) {
            add_mapping(&l, begin, end, bytes);
            bool is_wanted = inode == 0 && kind[3] == 'p' && strcmp(name, "[stack]") != 0;
            begin = is_wanted ? a : 0;
            end = is_wanted ? b : 0;
            bytes = 0;
        } else if (sscanf(line, "Anonymous: %llu", &kilobytes) == 1 ||
                   sscanf(line, "Swap: %llu", &kilobytes) == 1) {
            bytes += kilobytes * 1024;
        }
    }
    add_mapping(&l, begin, end, bytes);
    end_run(&l);
    if (smaps != NULL)
        fclose(smaps);
    if (l.pagemap >= 0)
        close(l.pagemap);
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
    if (is_end)
        write_memory(pid, all, to);
}

/* The recorded program may write into the folder: what it made is not written to. */
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

static void take_memory(const char *line, const struct ab_places *places,
                        struct ab_trace_whole *whole)
{
    unsigned long long first, n, pages;
    if (strcmp(line, "memory looked at") == 0)
        whole->anonymous_bytes = whole->unasked_bytes = 0;
    if (whole->anonymous_bytes == AB_WHOLE_UNKNOWN ||
        sscanf(line, "at %llx %llu %llu", &first, &n, &pages) != 3 ||
        n > AB_PLACES * AB_PLACE_REGIONS || pages > PLACE_PAGES)
        return;
    whole->anonymous_bytes += n * pages * PAGE;
    for (uint64_t place = first; place < first + n; place++)
        whole->unasked_bytes += ab_places_has(places, place) ? 0 : pages * PAGE;
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
                    struct ab_bypass_report *report, struct ab_trace_bypass *out,
                    struct ab_trace_whole *whole)
{
    char path[PATH_MAX], line[PATH_MAX + 16];
    report->path[0] = 0;
    report->kind = AB_BYPASS_LIBRARY;
    *out = (struct ab_trace_bypass){.most_bytes = AB_BYPASS_UNKNOWN};
    snprintf(path, sizeof path, "%s/" AB_BYPASS_FILE ".%u.%u", folder, image->image.pid,
             image->generation);
    FILE *f = fopen(path, "re");
    while (f != NULL && fgets(line, sizeof line, f) != NULL) {
        line[strcspn(line, "\n")] = 0;
        if (strchr(line, ' ') != NULL)
            take_line(line, report, out);
        take_memory(line, report->places, whole);
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
