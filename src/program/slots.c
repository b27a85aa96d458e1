/* SPDX-License-Identifier: MIT
 *
 * Reads the relocations of all objects out of the memory of the process, where nobody can have
 * changed them but the program itself. Nothing that is read is believed to be in bounds.
 */
#include "program/slots.h"

#include "base/bits.h"
#include "core/memory.h"
#include "core/text.h"

#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
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

/* All of these must go to the allocator; the others that hand out blocks, or take them, to no other one that is
 * loaded: what the allocator does not define the C library may have. */
static const char *const core[] = {"malloc", "calloc", "realloc", "free"};
static const char *const more[] = {"memalign", "aligned_alloc", "posix_memalign",
                                   "valloc",   "pvalloc",       "malloc_usable_size",
                                   "cfree",    "reallocarray"};
static const char *const begins[] = {"_Znw", "_Zna", "_ZdlPv", "_ZdaPv"}; /* new, delete */

struct object {
    int memory;
    uint64_t bias;
    uint64_t symbols, strings, jumps, n_jump_bytes, others, n_other_bytes;
};

static bool read_at(int memory, uint64_t at, void *out, size_t n)
{
    return pread(memory, out, n, (off_t)at) == (ssize_t)n;
}

/* glibc has made addresses of those in the dynamic section. */
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

/* The object whose first page is at `base`; false: it is none, or has no dynamic section. */
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

/* Up to a length that tells the names apart which matter here. */
static void name_of(const struct object *o, uint64_t symbol, char name[NAME_BYTES])
{
    Elf64_Sym s;
    ssize_t n = 0;
    if (read_at(o->memory, o->symbols + symbol * sizeof s, &s, sizeof s))
        n = pread(o->memory, name, NAME_BYTES - 1, (off_t)(o->strings + s.st_name));
    name[n > 0 ? n : 0] = 0;
}

static bool is_core(const char *name)
{
    for (size_t i = 0; i < AB_ARRAY_LEN(core); i++)
        if (strcmp(name, core[i]) == 0)
            return true;
    return false;
}

static bool is_more(const char *name)
{
    for (size_t i = 0; i < AB_ARRAY_LEN(more); i++)
        if (strcmp(name, more[i]) == 0)
            return true;
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
    struct ab_slots_mapping *of; /* the object that is read */
    size_t n;
    struct ab_slots *out;
};

static void judge_slot(const struct walk *w, const char *name, uint64_t target)
{
    const struct ab_slots_mapping *to = find_mapping(w->mappings, w->n, target);
    if (to == NULL || strcmp(to->name, w->of->name) == 0)
        return; /* what is not resolved yet goes to the linkage table of its own object */
    const bool is_other = (to->is_libc || to->is_behind) && is_core(name);
    w->of->calls_libc = w->of->calls_libc || (is_other && to->is_libc);
    if (to->is_wanted && !to->is_behind)
        w->out->n_wanted += is_core(name);
    else if ((to->is_foreign || is_other) && w->out->why[0] == 0)
        snprintf(w->out->why, sizeof w->out->why, "calls %s of %s", name, to->name);
}

static void read_table(const struct walk *w, const struct object *o, uint64_t at, uint64_t bytes)
{
    const size_t n = bytes <= TABLE_MOST ? (size_t)(bytes / sizeof(Elf64_Rela)) : 0;
    Elf64_Rela *table = ab_alloc_zeroed(n + 1, sizeof table[0]);
    char name[NAME_BYTES];
    uint64_t target;
    bool is_read = n > 0 && read_at(o->memory, at, table, n * sizeof table[0]);
    for (size_t i = 0; is_read && i < n; i++) {
        const uint64_t kind = ELF64_R_TYPE(table[i].r_info);
        if (kind != JUMP && kind != DATA && kind != ADDRESS)
            continue;
        name_of(o, ELF64_R_SYM(table[i].r_info), name);
        if ((is_core(name) || is_more(name)) &&
            read_at(o->memory, o->bias + table[i].r_offset, &target, sizeof target))
            judge_slot(w, name, target);
    }
    free(table);
}

bool ab_slots_read(pid_t pid, struct ab_slots_mapping *mappings, size_t n, struct ab_slots *out)
{
    char path[64];
    struct walk w = {.mappings = mappings, .n = n, .out = out};
    snprintf(path, sizeof path, "/proc/%d/mem", (int)pid);
    int memory = open(path, O_RDONLY | O_CLOEXEC);
    *out = (struct ab_slots){.n_wanted = 0};
    if (memory < 0)
        return false;
    for (size_t i = 0; i < n; i++) {
        struct object o;
        w.of = &mappings[i];
        if (mappings[i].offset != 0 || mappings[i].is_wanted || mappings[i].is_foreign ||
            !open_object(memory, mappings[i].low, &o))
            continue;
        read_table(&w, &o, o.jumps, o.n_jump_bytes);
        read_table(&w, &o, o.others, o.n_other_bytes);
    }
    close(memory);
    return true;
}
