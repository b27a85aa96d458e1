/* SPDX-License-Identifier: MIT
 *
 * Reads the modules of a process from /proc/PID/maps and their tables from /proc/PID/mem (System
 * V ABI, chapter 5). Two mappings of one file, as dlmopen makes, are two modules: each begins at
 * file offset 0.
 */
#include "record/elf_module.h"

#include "base/bits.h"
#include "core/alloc.h"
#include "core/text.h"

#include <elf.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TABLE_MOST = 1 << 26, PIECE = 2048, HEADERS_MOST = 64, DYNAMICS_MOST = 256 };

#if defined(__x86_64__)
enum { JUMP_SLOT = R_X86_64_JUMP_SLOT, DATA_SLOT = R_X86_64_GLOB_DAT, ADDRESS = R_X86_64_64 };
#else
enum { JUMP_SLOT = R_AARCH64_JUMP_SLOT, DATA_SLOT = R_AARCH64_GLOB_DAT, ADDRESS = R_AARCH64_ABS64 };
#endif

static bool read_memory(const struct ab_modules *all, uint64_t at, void *out, size_t bytes)
{
    return at <= INT64_MAX && pread(all->memory, out, bytes, (off_t)at) == (ssize_t)bytes;
}

struct ab_module *ab_modules_find(struct ab_modules *all, uint64_t address)
{
    for (size_t i = 0; i < all->n; i++)
        if (address >= all->list[i].begin && address < all->list[i].end)
            return &all->list[i];
    return NULL;
}

/* ---- maps ---- */

/* Parses a line of maps: it begins a new module, or continues the last one. */
static bool take_line(struct ab_modules *all, const char *line)
{
    uint64_t begin, end, offset;
    int at = 0;
    if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %" SCNx64 " %*s %*s %n", &begin, &end, &offset,
               &at) != 3 ||
        at == 0 || line[at] != '/')
        return true;
    struct ab_module *last = all->n > 0 ? &all->list[all->n - 1] : NULL;
    size_t n = strcspn(line + at, "\n");
    if (n >= sizeof last->path)
        return true;
    if (last != NULL && offset != 0 && strlen(last->path) == n &&
        strncmp(last->path, line + at, n) == 0) {
        last->end = end;
        return true;
    }
    if (offset != 0)
        return true;
    AB_GROW(all->list, all->cap, all->n);
    struct ab_module *m = &all->list[all->n++];
    *m = (struct ab_module){.begin = begin, .end = end};
    memcpy(m->path, line + at, n);
    return true;
}

static uint64_t find_dynamic(const struct ab_modules *all, struct ab_module *m);

bool ab_modules_open(pid_t pid, struct ab_modules *out)
{
    char path[64], *line = NULL;
    size_t cap = 0;
    bool is_whole = true;
    *out = (struct ab_modules){.n = 0};
    AB_FIT(path, "/proc/%d/mem", (int)pid);
    out->memory = open(path, O_RDONLY | O_CLOEXEC);
    if (out->memory < 0)
        return false;
    AB_FIT(path, "/proc/%d/maps", (int)pid);
    FILE *maps = fopen(path, "re");
    while (maps != NULL && is_whole && getline(&line, &cap, maps) > 0)
        is_whole = take_line(out, line);
    free(line);
    if (maps != NULL)
        fclose(maps);
    for (size_t i = 0; i < out->n; i++)
        find_dynamic(out, &out->list[i]); /* called only to set memory_end */
    if (maps != NULL && is_whole)
        return true;
    ab_modules_close(out);
    return false;
}

void ab_modules_close(struct ab_modules *all)
{
    for (size_t i = 0; i < all->n; i++) {
        free(all->list[i].symbols);
        free(all->list[i].strings);
    }
    free(all->list);
    close(all->memory);
    *all = (struct ab_modules){.memory = -1};
}

/* ---- tables ---- */

/* Returns the address of the dynamic section; 0 = none. Sets the bias and memory_end of the
 * module. */
static uint64_t find_dynamic(const struct ab_modules *all, struct ab_module *m)
{
    Elf64_Ehdr head;
    Elf64_Phdr p[HEADERS_MOST];
    uint64_t dynamic = 0, first = UINT64_MAX, last = 0;
    if (!read_memory(all, m->begin, &head, sizeof head) ||
        memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_ident[EI_CLASS] != ELFCLASS64 ||
        head.e_phnum > HEADERS_MOST || head.e_phentsize != sizeof p[0] ||
        head.e_phoff > UINT32_MAX ||
        !read_memory(all, m->begin + head.e_phoff, p, head.e_phnum * sizeof p[0]))
        return 0;
    for (size_t i = 0; i < head.e_phnum; i++) {
        if (p[i].p_type == PT_LOAD && p[i].p_vaddr < first)
            first = p[i].p_vaddr;
        if (p[i].p_type == PT_LOAD && p[i].p_vaddr + p[i].p_memsz > last)
            last = p[i].p_vaddr + p[i].p_memsz;
        if (p[i].p_type == PT_DYNAMIC)
            dynamic = p[i].p_vaddr;
    }
    if (dynamic == 0 || first == UINT64_MAX)
        return 0;
    m->bias = m->begin - (first & ~UINT64_C(4095));
    m->memory_end = last + m->bias;
    return dynamic + m->bias;
}

/* Returns the address in the process of `value`, an address from the dynamic section. The dynamic
 * linker has added the bias to most of these values, but not to all. */
static uint64_t address_of(const struct ab_module *m, uint64_t value)
{
    return value >= m->begin && value < m->end ? value : value + m->bias;
}

static void *read_table(const struct ab_modules *all, uint64_t at, size_t bytes)
{
    void *p = bytes == 0 || bytes > TABLE_MOST ? NULL : ab_alloc(bytes);
    if (p != NULL && !read_memory(all, at, p, bytes)) {
        free(p);
        p = NULL;
    }
    return p;
}

/* Reads the symbols, strings and relocations. The number of symbols is not stored anywhere, but
 * linkers put the strings directly after the symbols. */
static void read_tables(const struct ab_modules *all, struct ab_module *m)
{
    Elf64_Dyn d;
    uint64_t at = find_dynamic(all, m), symbols = 0, strings = 0, n_strings = 0;
    const struct {
        Elf64_Sxword tag;
        uint64_t *value;
        bool is_address;
    } wanted[] = {{DT_SYMTAB, &symbols, true},
                  {DT_STRTAB, &strings, true},
                  {DT_STRSZ, &n_strings, false},
                  {DT_RELA, &m->rela[0], true},
                  {DT_RELASZ, &m->rela_bytes[0], false},
                  {DT_JMPREL, &m->rela[1], true},
                  {DT_PLTRELSZ, &m->rela_bytes[1], false}};
    m->is_read = true;
    for (int i = 0; at != 0 && i < DYNAMICS_MOST; i++, at += sizeof d) {
        if (!read_memory(all, at, &d, sizeof d) || d.d_tag == DT_NULL)
            break;
        for (size_t k = 0; k < AB_ARRAY_LEN(wanted); k++)
            if (d.d_tag == wanted[k].tag)
                *wanted[k].value = wanted[k].is_address ? address_of(m, d.d_un.d_ptr)
                                                        : d.d_un.d_val;
    }
    if (symbols == 0 || strings <= symbols || strings - symbols > TABLE_MOST || n_strings == 0)
        return;
    m->n_symbols = (strings - symbols) / sizeof(Elf64_Sym);
    m->n_strings = n_strings;
    m->symbols = read_table(all, symbols, m->n_symbols * sizeof(Elf64_Sym));
    m->strings = read_table(all, strings, n_strings);
    m->is_sound = m->symbols != NULL && m->strings != NULL && m->strings[n_strings - 1] == 0;
}

/* Returns symbol i and sets *name; NULL if there is no such symbol. */
static const Elf64_Sym *symbol_at(const struct ab_module *m, size_t i, const char **name)
{
    const Elf64_Sym *s = (const Elf64_Sym *)m->symbols + i;
    if (i >= m->n_symbols || s->st_name >= m->n_strings)
        return NULL;
    *name = m->strings + s->st_name;
    return s;
}

bool ab_module_defines(struct ab_modules *all, struct ab_module *m, const char *name,
                       uint64_t address)
{
    const char *one;
    if (!m->is_read)
        read_tables(all, m);
    for (size_t i = 1; m->is_sound && i < m->n_symbols; i++) {
        const Elf64_Sym *s = symbol_at(m, i, &one);
        if (s != NULL && s->st_shndx != SHN_UNDEF &&
            (address == 0 || s->st_value + m->bias == address) && strcmp(one, name) == 0)
            return true;
    }
    return false;
}

static void visit_piece(struct ab_modules *all, const struct ab_module *m, const Elf64_Rela *rela,
                        size_t n, const struct ab_module_visit *visit)
{
    const char *name;
    uint64_t value;
    for (size_t i = 0; i < n; i++) {
        uint64_t type = ELF64_R_TYPE(rela[i].r_info), symbol = ELF64_R_SYM(rela[i].r_info);
        if ((type == JUMP_SLOT || type == DATA_SLOT || type == ADDRESS) && symbol != 0 &&
            symbol_at(m, symbol, &name) != NULL && visit->wants(name) &&
            read_memory(all, rela[i].r_offset + m->bias, &value, sizeof value))
            visit->see(name, value, visit->user);
    }
}

void ab_module_bindings(struct ab_modules *all, struct ab_module *m,
                        const struct ab_module_visit *visit)
{
    Elf64_Rela piece[PIECE];
    if (!m->is_read)
        read_tables(all, m);
    for (int table = 0; m->is_sound && table < 2; table++) {
        uint64_t bytes = m->rela_bytes[table] > TABLE_MOST ? 0 : m->rela_bytes[table];
        for (uint64_t done = 0; done + sizeof piece[0] <= bytes;) {
            size_t left = (bytes - done) / sizeof piece[0], n = left < PIECE ? left : PIECE;
            if (!read_memory(all, m->rela[table] + done, piece, n * sizeof piece[0]))
                break;
            visit_piece(all, m, piece, n, visit);
            done += n * sizeof piece[0];
        }
    }
}
