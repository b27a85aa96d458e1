/* SPDX-License-Identifier: MIT
 *
 * The entries of a module are those that its dynamic section names: relocations of kinds JUMP_SLOT
 * and GLOB_DAT. One that is bound at its first call leads back into the module until then.
 */
#include "record/preload/preload_marks/hooks.h"

#include <elf.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>

#if defined(__x86_64__)
enum { JUMP_SLOT = R_X86_64_JUMP_SLOT, GLOB_DAT = R_X86_64_GLOB_DAT };
#else
enum { JUMP_SLOT = R_AARCH64_JUMP_SLOT, GLOB_DAT = R_AARCH64_GLOB_DAT };
#endif

struct tables {
    const Elf64_Sym *symbols;
    const char *names;
    const Elf64_Rela *rela, *plt; /* of data, of calls */
    size_t n_rela, n_plt;
    const uint32_t *hash; /* DT_GNU_HASH */
};

/* The dynamic linker has made them addresses, but those of the kernel's own module. */
static const void *at(const struct dl_phdr_info *m, Elf64_Addr address)
{
    return (const void *)(address < m->dlpi_addr ? m->dlpi_addr + address : address);
}

static void read_dynamic(const struct dl_phdr_info *m, const Elf64_Dyn *d, struct tables *t)
{
    for (; d->d_tag != DT_NULL; d++) {
        switch (d->d_tag) {
        case DT_SYMTAB:
            t->symbols = at(m, d->d_un.d_ptr);
            break;
        case DT_STRTAB:
            t->names = at(m, d->d_un.d_ptr);
            break;
        case DT_GNU_HASH:
            t->hash = at(m, d->d_un.d_ptr);
            break;
        case DT_RELA:
            t->rela = at(m, d->d_un.d_ptr);
            break;
        case DT_RELASZ:
            t->n_rela = d->d_un.d_val / sizeof t->rela[0];
            break;
        case DT_JMPREL:
            t->plt = at(m, d->d_un.d_ptr);
            break;
        case DT_PLTRELSZ:
            t->n_plt = d->d_un.d_val / sizeof t->plt[0];
            break;
        default:
            break;
        }
    }
}

static bool is_within(const struct dl_phdr_info *m, uint32_t type, uintptr_t address)
{
    for (unsigned i = 0; i < m->dlpi_phnum; i++) {
        const Elf64_Phdr *p = &m->dlpi_phdr[i];
        if (p->p_type == type && address - (m->dlpi_addr + p->p_vaddr) < p->p_memsz)
            return true;
    }
    return false;
}

static void write_entry(const struct dl_phdr_info *m, uintptr_t *entry, uintptr_t to)
{
    uintptr_t page = (uintptr_t)entry & ~(uintptr_t)(AB_SPOOL_PAGE - 1);
    bool is_fixed = is_within(m, PT_GNU_RELRO, (uintptr_t)entry);
    if (is_fixed && mprotect((void *)page, AB_SPOOL_PAGE, PROT_READ | PROT_WRITE) != 0)
        return;
    __atomic_store_n(entry, to, __ATOMIC_RELEASE);
    if (is_fixed)
        mprotect((void *)page, AB_SPOOL_PAGE, PROT_READ);
}

/* What leads back into its own module is not bound yet, or a function of it. */
static void change_entry(const struct dl_phdr_info *m, const char *name, uintptr_t *entry,
                         uintptr_t *real, uintptr_t to)
{
    uintptr_t is = __atomic_load_n(entry, __ATOMIC_ACQUIRE);
    bool is_own = is_within(m, PT_LOAD, is);
    if (is == to || is == 0)
        return;
    if (*real == 0 && !is_own)
        *real = is;
    bool is_unbound = is_own && is != ab_entries_find(m, name);
    if (*real != 0 && (is == *real || is_unbound))
        write_entry(m, entry, to);
}

static void change_all(const struct dl_phdr_info *m, const struct tables *t, const Elf64_Rela *rela,
                       size_t n, const char *name, uintptr_t *real, uintptr_t to)
{
    for (size_t i = 0; i < n; i++) {
        unsigned type = ELF64_R_TYPE(rela[i].r_info);
        const Elf64_Sym *symbol = &t->symbols[ELF64_R_SYM(rela[i].r_info)];
        if ((type == JUMP_SLOT || type == GLOB_DAT) &&
            strcmp(t->names + symbol->st_name, name) == 0)
            change_entry(m, name, (uintptr_t *)(m->dlpi_addr + rela[i].r_offset), real, to);
    }
}

static struct tables tables_of(const struct dl_phdr_info *m)
{
    struct tables t = {0};
    for (unsigned i = 0; i < m->dlpi_phnum; i++)
        if (m->dlpi_phdr[i].p_type == PT_DYNAMIC)
            read_dynamic(m, (const Elf64_Dyn *)(m->dlpi_addr + m->dlpi_phdr[i].p_vaddr), &t);
    return t;
}

static bool is_function(const struct tables *t, const Elf64_Sym *symbol, const char *name)
{
    return ELF64_ST_TYPE(symbol->st_info) == STT_FUNC && symbol->st_shndx != SHN_UNDEF &&
           strcmp(t->names + symbol->st_name, name) == 0;
}

static uint32_t hash_of(const char *name)
{
    uint32_t hash = 5381;
    for (; *name != 0; name++)
        hash = hash * 33 + (uint8_t)*name;
    return hash;
}

uintptr_t ab_entries_find(const struct dl_phdr_info *module, const char *name)
{
    struct tables t = tables_of(module);
    if (t.hash == NULL || t.symbols == NULL || t.names == NULL || t.hash[0] == 0)
        return 0;
    uint32_t n_buckets = t.hash[0], first = t.hash[1], hash = hash_of(name);
    const uint32_t *buckets = t.hash + 4 + 2 * t.hash[2]; /* behind the filter's words of 64 bits */
    const uint32_t *chain = buckets + n_buckets;
    uint32_t i = buckets[hash % n_buckets];
    if (i < first)
        return 0;
    for (;; i++) {
        if (((chain[i - first] ^ hash) >> 1) == 0 && is_function(&t, &t.symbols[i], name))
            return module->dlpi_addr + t.symbols[i].st_value;
        if ((chain[i - first] & 1) != 0) /* the last one of its bucket */
            return 0;
    }
}

void ab_entries_change(const struct dl_phdr_info *module, const char *name, uintptr_t *real,
                       uintptr_t to)
{
    struct tables t = tables_of(module);
    if (t.symbols == NULL || t.names == NULL)
        return;
    if (t.rela != NULL)
        change_all(module, &t, t.rela, t.n_rela, name, real, to);
    if (t.plt != NULL)
        change_all(module, &t, t.plt, t.n_plt, name, real, to);
}
