/* SPDX-License-Identifier: MIT
 *
 * Proves which allocator serves a process: reads /proc/PID/maps and, once per mapped file, its
 * dynamic symbols.
 */
#include "program/proof.h"
#include "program/slots.h"

#include "core/alloc.h"
#include "core/elf.h"
#include "core/system_file.h"
#include "core/text.h"
#include "inside/asked.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

struct ab_proof_file {
    uint64_t dev, ino;
    bool has_malloc, is_glibc, is_loader;
    struct ab_slots_table *slots;
};

enum { MAPS_BYTES = 1 << 20 };

/* Facts about the mappings of a process. */
struct mapped {
    bool has_wanted, has_glibc, has_in_front, has_memory;
    char other[256]; /* another object that defines malloc; "" = none */
};

/* Mapping of a file: a line of /proc/PID/maps. */
struct mapping {
    pid_t pid;
    uint64_t low, high, offset, dev, ino;
    bool is_executable;
    const char *path; /* path as our root sees it */
};

/* Parses a line. Returns false if it is not the mapping of a file. */
static bool parse_mapping(pid_t pid, char *line, struct mapping *out)
{
    char flags[8];
    unsigned long long low, high, offset, ino;
    unsigned major, minor;
    int at = 0;
    if (sscanf(line, "%llx-%llx %7s %llx %x:%x %llu %n", &low, &high, flags, &offset, &major,
               &minor, &ino, &at) != 7 ||
        ino == 0 || line[at] != '/')
        return false;
    *out = (struct mapping){.pid = pid,
                            .low = low,
                            .high = high,
                            .offset = offset,
                            .dev = makedev(major, minor),
                            .ino = ino,
                            .is_executable = flags[2] == 'x',
                            .path = line + at};
    return true;
}

enum { SEEN_BYTES = PATH_MAX + 64 };

/* Writes to `seen` a path by which we can open the mapped file itself. The path in maps can lead
 * elsewhere if the process has another root. The kernel's link to the file of a mapping would be
 * exact, but needs privileges. */
static bool find_file(const struct mapping *m, char seen[SEEN_BYTES], struct stat *st)
{
    snprintf(seen, SEEN_BYTES, "%s", m->path);
    if (stat(seen, st) == 0 && st->st_dev == m->dev && st->st_ino == m->ino)
        return true;
    /* Some file systems show another device in maps than in stat. */
    snprintf(seen, SEEN_BYTES, "/proc/%d/root%s", (int)m->pid, m->path);
    if (stat(seen, st) == 0 && st->st_ino == m->ino)
        return true;
    snprintf(seen, SEEN_BYTES, "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, (int)m->pid, m->low,
             m->high);
    if (stat(seen, st) == 0)
        return true;
    snprintf(seen, SEEN_BYTES, "/proc/%d/root%s", (int)m->pid, m->path);
    return stat(seen, st) == 0;
}

/* Reads the symbols of a file. Returns false if it is no library: generated code, or a file that
 * is gone. */
static bool read_symbols(const char *path, struct ab_proof_file *file)
{
    static const char *const names[] = {"malloc", "gnu_get_libc_version"};
    struct ab_elf elf;
    if (ab_elf_read(path, names, 2, &elf, NULL) != AB_OK)
        return false;
    /* The noter passes all calls on; the process may have inherited it over an exec. */
    file->has_malloc = (elf.defined & 1) != 0 && strcmp(elf.soname, AB_ASKED_NAME) != 0;
    file->is_glibc = (elf.defined & 2) != 0;
    file->is_loader = strncmp(elf.soname, "ld-linux", 8) ==
                      0; /* old dynamic linkers define malloc for themselves */
    return true;
}

static const struct ab_proof_file *find_known(const struct ab_proof_cache *c, uint64_t dev,
                                              uint64_t ino)
{
    for (size_t i = 0; i < c->n; i++)
        if (c->files[i].dev == dev && c->files[i].ino == ino)
            return &c->files[i];
    return NULL;
}

static const struct ab_proof_file *add_file(struct ab_proof_cache *c, uint64_t dev, uint64_t ino,
                                            const char *seen)
{
    struct ab_proof_file file = {.dev = dev, .ino = ino};
    read_symbols(seen, &file);
    file.slots = ab_alloc_zeroed(1, sizeof *file.slots);
    AB_GROW(c->files, c->cap, c->n);
    c->files[c->n++] = file;
    return &c->files[c->n - 1];
}

/* Returns what is known of a mapped file. Does not cache a file that we cannot open, because
 * another process may give access to it. */
static const struct ab_proof_file *file_of(struct ab_proof_cache *c, const struct mapping *m)
{
    static const struct ab_proof_file unknown;
    char seen[SEEN_BYTES];
    struct stat st;
    const struct ab_proof_file *known = find_known(c, m->dev, m->ino);
    if (known != NULL)
        return known;
    return find_file(m, seen, &st) ? add_file(c, m->dev, m->ino, seen) : &unknown;
}

/* True if the mapping is of the wanted file. Compares device and inode of the mapping or, on
 * file systems that show other numbers there, those of its path. */
static bool is_wanted(const struct mapping *m, const struct ab_proof_wanted *w)
{
    char seen[SEEN_BYTES];
    struct stat st;
    if (w->path == NULL)
        return false;
    if (m->dev == w->dev && m->ino == w->ino)
        return true;
    return m->ino == w->ino && find_file(m, seen, &st) && st.st_dev == w->dev &&
           st.st_ino == w->ino;
}

static void note_mapping(struct ab_proof_cache *c, const struct mapping *x,
                         const struct ab_proof_wanted *w, struct mapped *m)
{
    if (w->memory != NULL && strncmp(x->path, w->memory, strlen(w->memory)) == 0)
        m->has_memory = true;
    if (!x->is_executable)
        return;
    if (is_wanted(x, w)) {
        m->has_wanted = true;
        return;
    }
    if (w->in_front != NULL && is_wanted(x, w->in_front)) {
        m->has_in_front = true;
        return;
    }
    const struct ab_proof_file *file = file_of(c, x);
    m->has_glibc = m->has_glibc || file->is_glibc;
    if (file->has_malloc && !file->is_glibc && !file->is_loader)
        ab_text_printable(m->other, sizeof m->other, x->path);
}

static bool read_maps(struct ab_proof_cache *c, pid_t pid, const struct ab_proof_wanted *w,
                      struct mapped *m)
{
    char path[64];
    char *text = ab_alloc(MAPS_BYTES);
    struct mapping x;
    AB_FIT(path, "/proc/%d/maps", (int)pid);
    size_t n = ab_system_file_read(path, text, MAPS_BYTES);
    char *next = text;
    for (char *line = text; n > 0 && *line != 0; line = next) {
        size_t length = strcspn(line, "\n");
        next = line + length + (line[length] == '\n');
        line[length] = 0;
        if (parse_mapping(pid, line, &x))
            note_mapping(c, &x, w, m);
    }
    free(text);
    return n > 0;
}

/* ---- processes in which another allocator is loaded too ---- */

struct listed {
    struct ab_slots_mapping *items;
    size_t n, cap;
};

static void list_mapping(struct ab_proof_cache *c, const struct mapping *x,
                         const struct ab_proof_wanted *w, struct listed *list)
{
    AB_GROW(list->items, list->cap, list->n);
    struct ab_slots_mapping *m = &list->items[list->n++];
    *m = (struct ab_slots_mapping){.low = x->low, .high = x->high, .offset = x->offset};
    ab_text_printable(m->name, sizeof m->name, x->path);
    m->is_behind = w->in_front != NULL && is_wanted(x, w);
    m->is_wanted = m->is_behind || is_wanted(x, w->in_front != NULL ? w->in_front : w);
    if (m->is_wanted)
        return;
    const struct ab_proof_file *file = file_of(c, x);
    m->is_libc = file->is_glibc;
    m->is_foreign = file->has_malloc && !file->is_glibc && !file->is_loader;
    m->table = file->slots;
}

static void list_mappings(struct ab_proof_cache *c, pid_t pid, const struct ab_proof_wanted *w,
                          struct listed *list)
{
    char path[64], *text = ab_alloc(MAPS_BYTES), *next = text;
    struct mapping x;
    AB_FIT(path, "/proc/%d/maps", (int)pid);
    ab_system_file_read(path, text, MAPS_BYTES);
    for (char *line = text; *line != 0; line = next) {
        size_t length = strcspn(line, "\n");
        next = line + length + (line[length] == '\n');
        line[length] = 0;
        if (parse_mapping(pid, line, &x))
            list_mapping(c, &x, w, list);
    }
    free(text);
}

/* True if the process calls the requested file, although another object defines malloc too. If
 * not, `why` is the end of a sentence that begins with the name of the process. */
static bool is_called(struct ab_proof_cache *c, pid_t pid, const struct ab_proof_wanted *w,
                      const char *other, char *why, size_t cap)
{
    struct listed list = {.n = 0};
    struct ab_slots slots;
    list_mappings(c, pid, w, &list);
    bool is_read = ab_slots_read(pid, list.items, list.n, &slots);
    bool is_it = is_read && slots.why[0] == 0 && slots.n_wanted > 0;
    if (!is_it && other[0] != 0)
        snprintf(why, cap, "has %s mapped as well, which defines malloc too%s%s", other,
                 slots.why[0] != 0 ? ", and " : "", slots.why);
    else if (!is_it)
        snprintf(why, cap, "%s",
                 slots.why[0] != 0 ? slots.why : "has resolved no malloc, as far as is known");
    free(list.items);
    return is_it;
}

/* ---- libraries that bypass the allocator ---- */

/* Adds the name of a file once. If there is no room, adds a mark that there were more. */
static void add_name(char names[AB_PASSES_BYTES], const char *path)
{
    static const char more[] = ", …";
    const char *slash = strrchr(path, '/'), *name = slash != NULL ? slash + 1 : path;
    size_t n = strlen(name), used = strlen(names);
    for (const char *s = names; *s != 0; s += strspn(s, ", ")) {
        size_t word = strcspn(s, ",");
        if (word == n && memcmp(s, name, n) == 0)
            return;
        s += word;
    }
    if (used + n + sizeof more + 2 <= AB_PASSES_BYTES)
        ab_text_join(names, AB_PASSES_BYTES, ", ", name);
    else if (!ab_text_ends_with(names, more))
        strncat(names, more, AB_PASSES_BYTES - used - 1);
}

bool ab_proof_has_preload(const struct ab_proof_wanted *w)
{
    return w->in_front != NULL || (w->path != NULL && !w->is_own);
}

void ab_proof_passes(struct ab_proof_cache *cache, pid_t pid, const struct ab_proof_wanted *wanted,
                     char names[AB_PASSES_BYTES])
{
    struct listed list = {.n = 0};
    struct ab_slots slots;
    if (!ab_proof_has_preload(wanted))
        return;
    list_mappings(cache, pid, wanted, &list);
    bool is_loaded = false; /* False: too early, or the proof has failed */
    for (size_t i = 0; i < list.n; i++)
        is_loaded = is_loaded || list.items[i].is_wanted;
    if (is_loaded)
        ab_slots_read(pid, list.items, list.n, &slots);
    for (size_t i = 0; i < list.n; i++)
        if (list.items[i].calls_libc)
            add_name(names, list.items[i].name);
    free(list.items);
}

static void name_process(pid_t pid, char *name, size_t cap)
{
    char path[64], text[64];
    AB_FIT(path, "/proc/%d/comm", (int)pid);
    ab_system_file_read(path, text, sizeof text);
    text[strcspn(text, "\n")] = 0;
    ab_text_printable(name, cap, text[0] != 0 ? text : "a process");
}

/* True if the program exports malloc itself, which then comes before everything that is
 * preloaded. */
static bool is_of_program(struct ab_proof_cache *c, pid_t pid)
{
    char link[64];
    struct stat st;
    AB_FIT(link, "/proc/%d/exe", (int)pid); /* the link leads to the file itself */
    if (stat(link, &st) != 0)
        return false;
    const struct ab_proof_file *known = find_known(c, st.st_dev, st.st_ino);
    return (known != NULL ? known : add_file(c, st.st_dev, st.st_ino, link))->has_malloc;
}

enum ab_proof_answer ab_proof_check(struct ab_proof_cache *cache, pid_t pid,
                                    const struct ab_proof_wanted *wanted, char *why, size_t cap)
{
    struct mapped m = {.has_wanted = false};
    char name[128], calls[1000];
    if (!read_maps(cache, pid, wanted, &m))
        return AB_PROOF_GONE;
    name_process(pid, name, sizeof name);
    if (is_of_program(cache, pid) && !(wanted->is_own && m.has_wanted && wanted->in_front == NULL))
        snprintf(why, cap, "%s has a malloc of its own, which comes before any other", name);
    else if (m.other[0] != 0 && (wanted->path == NULL || !m.has_wanted))
        snprintf(why, cap,
                 "%s has %s mapped as well, which defines malloc too; where it is linked to that, "
                 "give it as the command itself, without a shell or launcher",
                 name, m.other);
    else if ((m.other[0] != 0 || wanted->is_own) &&
             !is_called(cache, pid, wanted, m.other, calls, sizeof calls))
        snprintf(why, cap, "%s %s", name, calls);
    else if (wanted->path == NULL && !m.has_glibc)
        snprintf(why, cap,
                 "%s does not use the C library's malloc: it is static, or uses another C library",
                 name);
    else if (wanted->path != NULL && !m.has_wanted)
        snprintf(why, cap,
                 "%s has not loaded %s: LD_PRELOAD was removed, or it is static, or uses another C "
                 "library",
                 name, wanted->path);
    else if (wanted->in_front != NULL && !m.has_in_front)
        snprintf(why, cap, "%s has not loaded %s: LD_PRELOAD was changed", name,
                 wanted->in_front->path);
    else if (wanted->memory != NULL && !m.has_memory)
        snprintf(
            why, cap,
            "%s was not counted: it runs as another user or in another root and cannot reach the "
            "counters, or their environment variable was removed",
            name);
    else
        return AB_PROOF_YES;
    return AB_PROOF_NO;
}

void ab_proof_cache_fini(struct ab_proof_cache *cache)
{
    for (size_t i = 0; i < cache->n; i++) {
        free(cache->files[i].slots->items);
        free(cache->files[i].slots);
    }
    free(cache->files);
    *cache = (struct ab_proof_cache){0};
}
