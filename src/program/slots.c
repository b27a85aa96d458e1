/* SPDX-License-Identifier: MIT
 *
 * Finds out which malloc a process calls. Reads the relocations of each file once, from the
 * memory of a process that has mapped it, where only the program itself can have changed them.
 * Reads the slots in each process. Checks all bounds, because the program may have written any
 * value.
 */
#include "program/slots.h"

#include "base/bits.h"
#include "base/malloc_names.h"
#include "core/alloc.h"
#include "core/text.h"

#include <elf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if defined(__x86_64__)
enum { JUMP = R_X86_64_JUMP_SLOT, DATA = R_X86_64_GLOB_DAT, ADDRESS = R_X86_64_64 };
#elif defined(__aarch64__)
enum { JUMP = R_AARCH64_JUMP_SLOT, DATA = R_AARCH64_GLOB_DAT, ADDRESS = R_AARCH64_ABS64 };
#endif

enum { HEADERS_MOST = 64, DYNAMIC_MOST = 256, NAME_BYTES = 24 };
#define TABLE_MOST (UINT64_C(1) << 26) /* bytes of relocations of one object */

/* operators new and delete */
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

/* Returns an address in the process. glibc has relocated some values of the dynamic section, and
 * others not. */
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
        return; /* unresolved slots lead to the linkage table of the object itself */
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

struct relocations { /* entries of one relocation table that have a slot for a symbol */
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

/* Notes the slots of the malloc family. Truncates names to a length that still tells these
 * functions apart. */
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

/* Reads the slots and judges them. Reads up to a page at a time, because most slots lie side by
 * side. */
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

bool ab_slots_read(pid_t pid, struct ab_slots_mapping *mappings, size_t n, struct ab_slots *out)
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
