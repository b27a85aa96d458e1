/* SPDX-License-Identifier: MIT
 *
 * Reads smaps, which says how many bytes of each mapping are anonymous. For mappings with anonymous
 * memory, reads pagemap, which says which pages are anonymous.
 */
#include "core/anonymous.h"

#include "core/system_file.h"
#include "core/text.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

uint64_t ab_anonymous_bytes(pid_t pid)
{
    char path[64], status[AB_SYSTEM_FILE_BYTES], resident[64] = "0", swapped[64] = "0";
    AB_FIT(path, "/proc/%d/status", (int)pid);
    ab_system_file("", path, status);
    ab_system_file_value(resident, sizeof resident, status, "RssAnon", ':');
    ab_system_file_value(swapped, sizeof swapped, status, "VmSwap", ':');
    return (uint64_t)(ab_system_file_parse(resident) + ab_system_file_parse(swapped)) * 1024;
}

enum { PAGE = AB_ANONYMOUS_PAGE, STACKS_MOST = 1024 };
/* bytes; larger mappings are left out, because reading each page would take too long */
#define AREA_MOST (UINT64_C(1) << 36)

struct walk {
    const struct ab_anonymous_look *look;
    int pagemap;
    uint64_t stacks[STACKS_MOST]; /* stack pointers of the threads */
    size_t n_stacks;
    /* n consecutive places from `first` on, with `pages` anonymous pages each */
    uint64_t first, n, pages;
    /* begin, end: mapping whose lines are being read; bytes: its anonymous bytes */
    uint64_t begin, end, bytes;
    uint64_t file_end; /* end of the previous mapping; 0 = the mapping has no file */
};

static void find_stacks(pid_t pid, struct walk *l)
{
    char path[64], line[256];
    AB_FIT(path, "/proc/%d/task", (int)pid);
    DIR *tasks = opendir(path);
    for (struct dirent *e;
         tasks != NULL && l->n_stacks < STACKS_MOST && (e = readdir(tasks)) != NULL;) {
        unsigned long long sp, pc;
        AB_FIT(path, "/proc/%d/task/%s/syscall", (int)pid, e->d_name);
        FILE *f = e->d_name[0] == '.' ? NULL : fopen(path, "re");
        const char *last = NULL;
        if (f != NULL && fgets(line, sizeof line, f) != NULL)
            last = strstr(line, " 0x");
        for (const char *next = last; next != NULL && (next = strstr(next + 1, " 0x")) != NULL;)
            if (strstr(next + 1, " 0x") != NULL)
                last = next; /* the second last number is the stack pointer */
        if (last != NULL && sscanf(last, " %llx %llx", &sp, &pc) == 2)
            l->stacks[l->n_stacks++] = sp;
        if (f != NULL)
            fclose(f);
    }
    if (tasks != NULL)
        closedir(tasks);
}

static void end_run(struct walk *l)
{
    if (l->n > 0 && l->pages > 0)
        l->look->see(l->look->user, l->first, l->n, l->pages);
    l->n = 0;
}

static void add_place(struct walk *l, uint64_t place, uint64_t pages)
{
    if (l->n > 0 && (l->first + l->n != place || l->pages != pages))
        end_run(l);
    if (l->n == 0)
        l->first = place;
    l->pages = pages;
    l->n++;
}

/* Adds the anonymous pages of [begin, end), at most `most` pages. The limit is needed because the
 * zero page counts as resident in pagemap, but is not anonymous. */
static void add_area(struct walk *l, uint64_t begin, uint64_t end, uint64_t most)
{
    uint64_t entries[AB_PLACE_PAGES];
    while (begin < end && most > 0) {
        uint64_t place = begin >> AB_PLACE_LOG2, next = (place + 1) << AB_PLACE_LOG2, pages = 0;
        next = next < end ? next : end;
        size_t n = (size_t)((next - begin) / PAGE), bytes = n * sizeof entries[0];
        if (pread(l->pagemap, entries, bytes, (off_t)(begin / PAGE * 8)) != (ssize_t)bytes)
            return;
        for (size_t i = 0; i < n; i++)
            pages += entries[i] >> 62 != 0; /* counts pages that are resident or swapped out */
        pages = pages < most ? pages : most;
        most -= pages;
        add_place(l, place, pages);
        begin = next;
    }
}

static void add_mapping(struct walk *l, uint64_t begin, uint64_t end, uint64_t bytes)
{
    for (size_t i = 0; i < l->n_stacks; i++)
        if (l->stacks[i] >= begin && l->stacks[i] < end)
            return;
    if (l->look->variables_end != NULL) {
        uint64_t variables = l->look->variables_end(l->look->user, begin);
        begin = (variables + PAGE - 1) & ~(uint64_t)(PAGE - 1);
    }
    if (begin < end && end - begin <= AREA_MOST)
        add_area(l, begin, end, bytes / PAGE);
}

/* Reads a line of smaps. A mapping is added when the first line of the next mapping is read. */
static void take_line(struct walk *l, const char *line)
{
    char kind[8], name[16] = "";
    unsigned long long a, b, offset, inode, kilobytes;
    if (sscanf(line, "%llx-%llx %7s %llx %*s %llu %15s", &a, &b, kind, &offset, &inode, name) >=
        5) {
        add_mapping(l, l->begin, l->end, l->bytes);
        bool is_behind_file = a == l->file_end && l->look->variables_end == NULL;
        bool is_wanted = inode == 0 && kind[3] == 'p' && strcmp(name, "[stack]") != 0 &&
                         !is_behind_file;
        l->file_end = inode != 0 ? b : 0;
        l->begin = is_wanted ? a : 0;
        l->end = is_wanted ? b : 0;
        l->bytes = 0;
    } else if (sscanf(line, "Anonymous: %llu", &kilobytes) == 1 ||
               sscanf(line, "Swap: %llu", &kilobytes) == 1) {
        l->bytes += kilobytes * 1024;
    }
}

bool ab_anonymous_look(pid_t pid, const struct ab_anonymous_look *look)
{
    struct walk l = {.look = look};
    char path[64], line[PATH_MAX + 128];
    AB_FIT(path, "/proc/%d/pagemap", (int)pid);
    l.pagemap = open(path, O_RDONLY | O_CLOEXEC);
    AB_FIT(path, "/proc/%d/smaps", (int)pid);
    FILE *smaps = l.pagemap < 0 ? NULL : fopen(path, "re");
    if (smaps != NULL) {
        find_stacks(pid, &l);
        while (fgets(line, sizeof line, smaps) != NULL)
            take_line(&l, line);
        add_mapping(&l, l.begin, l.end, l.bytes);
        end_run(&l);
        fclose(smaps);
    }
    if (l.pagemap >= 0)
        close(l.pagemap);
    return smaps != NULL;
}
