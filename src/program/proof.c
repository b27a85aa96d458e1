/* SPDX-License-Identifier: MIT
 *
 * Proves which allocator serves a process: reads /proc/PID/maps and, once per mapped file, its
 * dynamic symbols.
 */
#include "program/proof.h"

#include "base/bits.h"
#include "base/malloc_names.h"
#include "core/alloc.h"
#include "core/elf.h"
#include "core/system_file.h"
#include "core/text.h"
#include "inside/asked.h"

#include <elf.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

/* ---- slots of a process ---- */

/* Every loaded object has a slot (GOT entry) for each function of another object that it calls, and
 * the dynamic linker fills the slot with an address. */

/* Slots of a file for functions of the malloc family, as its relocations give them. They are read
 * from the first process that has mapped the file, and are valid for all other processes.
 * Zero-initialize it, free `items`. */
struct ab_slots_table {
    bool is_read;
    /* address of the first byte of the file, in the addressing of the file's segments */
    uint64_t first;
    struct ab_slots_entry *items;
    size_t n, cap;
};

struct ab_slots_mapping { /* mapping of a file; an array of them is sorted by address */
    uint64_t low, high, offset;
    bool is_wanted; /* True if it belongs to the allocator that must be called */
    /* True if an interposer is preloaded ahead of this wanted allocator, so that only the
     * interposer calls it */
    bool is_behind;
    bool is_libc;    /* True if it is the C library and the wanted allocator is another one */
    bool is_foreign; /* True if it is any other object that defines malloc */
    bool calls_libc; /* result: True if the object that begins here calls the C library's malloc */
    struct ab_slots_table *table; /* slots of the file; NULL = read them each time */
    char name[256];
};

struct ab_slots {
    /* number of slots for malloc, calloc, realloc and free that lead to the wanted allocator */
    unsigned n_wanted;
    char why[600]; /* "calls X of OBJECT" for the first slot that leads elsewhere; "" = none */
};

#if defined(__x86_64__)
enum { JUMP = R_X86_64_JUMP_SLOT, DATA = R_X86_64_GLOB_DAT, ADDRESS = R_X86_64_64 };
#elif defined(__aarch64__)
enum { JUMP = R_AARCH64_JUMP_SLOT, DATA = R_AARCH64_GLOB_DAT, ADDRESS = R_AARCH64_ABS64 };
#endif

enum { HEADERS_MOST = 64, DYNAMIC_MOST = 256, NAME_BYTES = 24 };
#define TABLE_MOST (UINT64_C(1) << 26) /* limit on the bytes of relocations of one object */

/* beginnings of the mangled names of operators new and delete */
static const char *const begins[] = {"_Znw", "_Zna", "_ZdlPv", "_ZdaPv"};

struct ab_slots_entry {
    uint64_t offset; /* address of the slot, relative to the addresses of the file's segments */
    char name[NAME_BYTES];
};

struct object {
    int memory;
    uint64_t bias, first;
    uint64_t symbols, strings, n_string_bytes, jumps, n_jump_bytes, others, n_other_bytes;
};

static bool read_at(int memory, uint64_t at, void *out, size_t n)
{
    return pread(memory, out, n, (off_t)at) == (ssize_t)n;
}

/* Returns the address in the process for a value of the dynamic section. glibc relocates some of
 * these values, and others not. */
static uint64_t address_of(const struct object *o, uint64_t value)
{
    return value < o->bias ? value + o->bias : value;
}

static void note_dynamic(struct object *o, const Elf64_Dyn *d)
{
    switch (d->d_tag) {
    case DT_SYMTAB:
        o->symbols = address_of(o, d->d_un.d_ptr);
        break;
    case DT_STRTAB:
        o->strings = address_of(o, d->d_un.d_ptr);
        break;
    case DT_STRSZ:
        o->n_string_bytes = d->d_un.d_val;
        break;
    case DT_JMPREL:
        o->jumps = address_of(o, d->d_un.d_ptr);
        break;
    case DT_PLTRELSZ:
        o->n_jump_bytes = d->d_un.d_val;
        break;
    case DT_RELA:
        o->others = address_of(o, d->d_un.d_ptr);
        break;
    case DT_RELASZ:
        o->n_other_bytes = d->d_un.d_val;
        break;
    default:
        break;
    }
}

/* Reads the headers of the object whose first page is at `base`. Returns false if it is no ELF
 * object or has no dynamic section. */
static bool open_object(int memory, uint64_t base, struct object *o)
{
    Elf64_Ehdr header;
    Elf64_Phdr p;
    uint64_t dynamic = 0, first = UINT64_MAX;
    *o = (struct object){.memory = memory};
    if (!read_at(memory, base, &header, sizeof header) ||
        memcmp(header.e_ident, ELFMAG, SELFMAG) != 0)
        return false;
    for (unsigned i = 0; i < header.e_phnum && i < HEADERS_MOST; i++) {
        if (!read_at(memory, base + header.e_phoff + i * sizeof p, &p, sizeof p))
            return false;
        if (p.p_type == PT_LOAD && first == UINT64_MAX)
            first = p.p_vaddr - p.p_offset;
        if (p.p_type == PT_DYNAMIC)
            dynamic = p.p_vaddr;
    }
    if (dynamic == 0 || first == UINT64_MAX)
        return false;
    o->first = first;
    o->bias = base - first;
    for (unsigned i = 0; i < DYNAMIC_MOST; i++) {
        Elf64_Dyn d;
        if (!read_at(memory, o->bias + dynamic + i * sizeof d, &d, sizeof d))
            return false;
        if (d.d_tag == DT_NULL)
            break;
        note_dynamic(o, &d);
    }
    return o->symbols != 0 && o->strings != 0;
}

/* True for the functions that must lead to the wanted allocator. */
static bool is_core(const char *name)
{
    return (ab_malloc_name_flags(name, strlen(name)) & AB_MALLOC_CORE) != 0;
}

/* True for the functions that must not lead to another loaded allocator. */
static bool is_more(const char *name)
{
    unsigned flags = ab_malloc_name_flags(name, strlen(name));
    if (flags != 0)
        return (flags & (AB_MALLOC_CORE | AB_MALLOC_KEEPS)) == 0;
    for (size_t i = 0; i < AB_ARRAY_LEN(begins); i++)
        if (strncmp(name, begins[i], strlen(begins[i])) == 0)
            return true;
    return false;
}

static const struct ab_slots_mapping *find_mapping(const struct ab_slots_mapping *m, size_t n,
                                                   uint64_t at)
{
    for (size_t i = 0; i < n; i++)
        if (at >= m[i].low && at < m[i].high)
            return &m[i];
    return NULL;
}

struct walk {
    const struct ab_slots_mapping *mappings;
    struct ab_slots_mapping *of; /* object that is read */
    size_t n;
    struct ab_slots *out;
};

static void judge_slot(const struct walk *w, const char *name, uint64_t target)
{
    const struct ab_slots_mapping *to = find_mapping(w->mappings, w->n, target);
    if (to == NULL || strcmp(to->name, w->of->name) == 0)
        /* a slot that is not resolved yet leads to the linkage table of the object itself */
        return;
    const bool is_other = (to->is_libc || to->is_behind) && is_core(name);
    w->of->calls_libc = w->of->calls_libc || (is_other && to->is_libc);
    if (to->is_wanted && !to->is_behind)
        w->out->n_wanted += is_core(name);
    else if ((to->is_foreign || is_other) && w->out->why[0] == 0)
        AB_FIT(w->out->why, "calls %s of %s", name, to->name);
}

/* Copies `n` bytes of the process. Returns NULL if they cannot be read, or are too many. */
static void *copy(int memory, uint64_t at, uint64_t n)
{
    char *bytes = n <= TABLE_MOST ? ab_alloc_zeroed((size_t)n + 1, 1) : NULL;
    if (bytes != NULL && n > 0 && !read_at(memory, at, bytes, (size_t)n)) {
        free(bytes);
        return NULL;
    }
    return bytes;
}

/* the entries of one relocation table that fill a slot with the address of a symbol */
struct relocations {
    Elf64_Rela *items;
    size_t n;
    uint64_t n_symbols; /* largest symbol number plus 1 */
};

static bool is_slot(const Elf64_Rela *r)
{
    const uint64_t kind = ELF64_R_TYPE(r->r_info);
    return kind == JUMP || kind == DATA || kind == ADDRESS;
}

static bool copy_relocations(const struct object *o, uint64_t at, uint64_t bytes,
                             struct relocations *out)
{
    *out = (struct relocations){.items = copy(o->memory, at, bytes)};
    if (out->items == NULL)
        return false;
    for (size_t i = 0; i < bytes / sizeof(Elf64_Rela); i++)
        if (is_slot(&out->items[i])) {
            out->items[out->n++] = out->items[i];
            const uint64_t symbol = ELF64_R_SYM(out->items[i].r_info);
            out->n_symbols = symbol >= out->n_symbols ? symbol + 1 : out->n_symbols;
        }
    return true;
}

/* Stores the slots of the malloc family. Names are truncated to a length that still distinguishes
 * these functions. */
static void note_slots(const struct relocations *r, const Elf64_Sym *symbols, const char *strings,
                       uint64_t n_string_bytes, struct ab_slots_table *to)
{
    for (size_t i = 0; i < r->n; i++) {
        const uint64_t name = symbols[ELF64_R_SYM(r->items[i].r_info)].st_name;
        struct ab_slots_entry entry = {.offset = r->items[i].r_offset};
        if (name < n_string_bytes)
            AB_COPY(entry.name, strings + name);
        if (!is_core(entry.name) && !is_more(entry.name))
            continue;
        AB_GROW(to->items, to->cap, to->n);
        to->items[to->n++] = entry;
    }
}

static void read_slots(const struct object *o, struct ab_slots_table *to)
{
    struct relocations jumps, others;
    bool is_read = copy_relocations(o, o->jumps, o->n_jump_bytes, &jumps);
    is_read = copy_relocations(o, o->others, o->n_other_bytes, &others) && is_read;
    const uint64_t n = jumps.n_symbols > others.n_symbols ? jumps.n_symbols : others.n_symbols;
    Elf64_Sym *symbols = n < TABLE_MOST ? copy(o->memory, o->symbols, n * sizeof *symbols) : NULL;
    char *strings = copy(o->memory, o->strings, o->n_string_bytes);
    if (is_read && symbols != NULL && strings != NULL) {
        note_slots(&jumps, symbols, strings, o->n_string_bytes, to);
        note_slots(&others, symbols, strings, o->n_string_bytes, to);
        to->is_read = true;
        to->first = o->first;
    }
    free(jumps.items);
    free(others.items);
    free(symbols);
    free(strings);
}

/* Reads the slots and judges them. Reads up to a page at a time, because most slots are
 * adjacent. */
static void judge_slots(const struct walk *w, int memory, const struct ab_slots_table *table)
{
    const uint64_t bias = w->of->low - table->first;
    uint64_t begin = 0, end = 0;
    unsigned char page[4096];
    for (size_t i = 0; i < table->n; i++) {
        const uint64_t at = bias + table->items[i].offset;
        uint64_t target;
        if (at < begin || at + sizeof target > end) {
            ssize_t n = pread(memory, page, sizeof page - at % sizeof page, (off_t)at);
            begin = at;
            end = at + (n > 0 ? (uint64_t)n : 0);
        }
        if (at + sizeof target > end)
            continue;
        memcpy(&target, page + (at - begin), sizeof target);
        judge_slot(w, table->items[i].name, target);
    }
}

static void look_at_object(const struct walk *w, int memory)
{
    struct ab_slots_table own = {.n = 0}, *table = w->of->table != NULL ? w->of->table : &own;
    struct object o;
    if (!table->is_read && open_object(memory, w->of->low, &o))
        read_slots(&o, table);
    if (table->is_read)
        judge_slots(w, memory, table);
    free(own.items);
}

/* Reads the slots of a process and finds out where they lead. With lazy binding, a function that is
 * not resolved yet does not count. Returns false if the process cannot be read. */
static bool slots_read(pid_t pid, struct ab_slots_mapping *mappings, size_t n, struct ab_slots *out)
{
    char path[64];
    struct walk w = {.mappings = mappings, .n = n, .out = out};
    AB_FIT(path, "/proc/%d/mem", (int)pid);
    int memory = open(path, O_RDONLY | O_CLOEXEC);
    *out = (struct ab_slots){.n_wanted = 0};
    if (memory < 0)
        return false;
    for (size_t i = 0; i < n; i++) {
        w.of = &mappings[i];
        if (mappings[i].offset == 0 && !mappings[i].is_wanted && !mappings[i].is_foreign)
            look_at_object(&w, memory);
    }
    close(memory);
    return true;
}

struct ab_proof_file {
    uint64_t dev, ino;
    bool has_malloc, is_glibc, is_loader;
    struct ab_slots_table *slots;
};

enum { MAPS_BYTES = 1 << 20 };

/* Facts from the mappings of a process about the libraries in it. */
struct mapped {
    bool has_wanted, has_glibc, has_in_front, has_memory;
    char other[256]; /* name of another object that defines malloc; "" = none */
};

/* Mapping of a file: a line of /proc/PID/maps. */
struct mapping {
    pid_t pid;
    uint64_t low, high, offset, dev, ino;
    bool is_executable;
    /* path as /proc/PID/maps gives it; the process may have another root than we */
    const char *path;
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

/* Writes to `seen` a path by which we can open the mapped file itself. The path in maps may lead to
 * another file if the process has another root. The kernel's link in map_files would always be
 * right, but needs privileges. */
static bool find_file(const struct mapping *m, char seen[SEEN_BYTES], struct stat *st)
{
    snprintf(seen, SEEN_BYTES, "%s", m->path);
    if (stat(seen, st) == 0 && st->st_dev == m->dev && st->st_ino == m->ino)
        return true;
    /* On some file systems, maps shows another device than stat, so only the inode is compared. */
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

/* Reads the symbols of a file. Returns false if the file is not a library (generated code), or is
 * gone. */
static bool read_symbols(const char *path, struct ab_proof_file *file)
{
    static const char *const names[] = {"malloc", "gnu_get_libc_version"};
    struct ab_elf elf;
    if (ab_elf_read(path, names, 2, &elf, NULL) != AB_OK)
        return false;
    /* the noter (AB_ASKED_NAME) does not count, because it passes all calls on; a process may
     * inherit it across an exec */
    file->has_malloc = (elf.defined & 1) != 0 && strcmp(elf.soname, AB_ASKED_NAME) != 0;
    file->is_glibc = (elf.defined & 2) != 0;
    file->is_loader = strncmp(elf.soname, "ld-linux", 8) ==
                      0; /* the loader of an old glibc defines malloc for its own use */
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

/* Returns the facts about a mapped file, which are read once. Does not store facts about a file
 * that we cannot open, because we may be able to open it through another process. */
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

/* True if the mapping is of the wanted file. Compares device and inode in maps. On file systems
 * where maps shows other numbers, compares those of the mapping's path. */
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

/* ---- processes in which another library defines malloc too ---- */

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

/* True if the process calls the malloc of the requested library, although another object defines
 * malloc too. If not, writes the end of a sentence that begins with the name of the process. */
static bool is_called(struct ab_proof_cache *c, pid_t pid, const struct ab_proof_wanted *w,
                      const char *other, char *why, size_t cap)
{
    struct listed list = {.n = 0};
    struct ab_slots slots;
    list_mappings(c, pid, w, &list);
    bool is_read = slots_read(pid, list.items, list.n, &slots);
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

/* Adds the name of a file, unless the list has it. If there is no room, adds ", …" once. */
static void add_name(char names[AB_PASSES_BYTES], const char *path)
{
    static const char more[] = ", …";
    const char *name = basename(path);
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
    bool is_loaded = false; /* false if it is too early, or another allocator serves the process */
    for (size_t i = 0; i < list.n; i++)
        is_loaded = is_loaded || list.items[i].is_wanted;
    if (is_loaded)
        slots_read(pid, list.items, list.n, &slots);
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

/* True if the program file itself exports malloc. The program's malloc then takes precedence over
 * preloaded libraries. */
static bool is_of_program(struct ab_proof_cache *c, pid_t pid)
{
    char link[64];
    struct stat st;
    /* the link leads to the file itself, even if the path is gone */
    AB_FIT(link, "/proc/%d/exe", (int)pid);
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
