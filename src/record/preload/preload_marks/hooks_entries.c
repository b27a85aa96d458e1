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
    const uint32_t *hash, *old_hash; /* DT_GNU_HASH, DT_HASH */
    const uint16_t *versions;        /* of symbols; NULL = they have none */
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
        case DT_HASH:
            t->old_hash = at(m, d->d_un.d_ptr);
            break;
        case DT_VERSYM:
            t->versions = at(m, d->d_un.d_ptr);
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

/* A page that only begins in the part that is read-only has stayed writable. */
static void write_entry(const struct dl_phdr_info *m, uintptr_t *entry, uintptr_t to)
{
    uintptr_t page = (uintptr_t)entry & ~(uintptr_t)(AB_SPOOL_PAGE - 1);
    bool is_fixed = is_within(m, PT_GNU_RELRO, (uintptr_t)entry) &&
                    is_within(m, PT_GNU_RELRO, page + AB_SPOOL_PAGE - 1);
    if (is_fixed && mprotect((void *)page, AB_SPOOL_PAGE, PROT_READ | PROT_WRITE) != 0)
        return;
    __atomic_store_n(entry, to, __ATOMIC_RELEASE);
    if (is_fixed)
        mprotect((void *)page, AB_SPOOL_PAGE, PROT_READ);
}

/* What leads back into its own module is not bound yet, or a function of it. */
static void change_entry(const struct dl_phdr_info *m, const struct ab_entries_wish *w,
                         uintptr_t *entry)
{
    uintptr_t is = __atomic_load_n(entry, __ATOMIC_ACQUIRE);
    bool is_unbound = is != w->real && is_within(m, PT_LOAD, is) &&
                      is != ab_entries_find(m, w->name);
    if (is == w->real || (is_unbound && w->takes_unbound))
        write_entry(m, entry, w->to);
}

static void change_entries(const struct dl_phdr_info *m, const struct tables *t,
                           const Elf64_Rela *rela, size_t n, const struct ab_entries_wish *w)
{
    for (size_t i = 0; rela != NULL && i < n; i++) {
        unsigned type = ELF64_R_TYPE(rela[i].r_info);
        const Elf64_Sym *symbol = &t->symbols[ELF64_R_SYM(rela[i].r_info)];
        if ((type == JUMP_SLOT || type == GLOB_DAT) &&
            strcmp(t->names + symbol->st_name, w->name) == 0)
            change_entry(m, w, (uintptr_t *)(m->dlpi_addr + rela[i].r_offset));
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

/* Not one of a version that is there for older programs only. */
static bool is_function(const struct tables *t, uint32_t i, const char *name)
{
    enum { IS_HIDDEN = 0x8000 };
    unsigned type = ELF64_ST_TYPE(t->symbols[i].st_info);
    return (type == STT_FUNC || type == STT_GNU_IFUNC) && t->symbols[i].st_shndx != SHN_UNDEF &&
           strcmp(t->names + t->symbols[i].st_name, name) == 0 &&
           (t->versions == NULL || (t->versions[i] & IS_HIDDEN) == 0);
}

/* Of an IFUNC, what its function chooses, as the dynamic linker asks it. */
static uintptr_t address_of(const struct dl_phdr_info *m, const Elf64_Sym *symbol)
{
    uintptr_t address = m->dlpi_addr + symbol->st_value;
    return ELF64_ST_TYPE(symbol->st_info) == STT_FUNC ? address : ((uintptr_t(*)(void))address)();
}

static uint32_t hash_of(const char *name)
{
    uint32_t hash = 5381;
    for (; *name != 0; name++)
        hash = hash * 33 + (uint8_t)*name;
    return hash;
}

/* The number of its symbol; 0 = none. */
static uint32_t find_by_hash(const struct tables *t, const char *name)
{
    uint32_t n_buckets = t->hash[0], first = t->hash[1], hash = hash_of(name);
    const uint32_t *buckets = t->hash + 4 +
                              2 * t->hash[2]; /* behind the filter's words of 64 bits */
    const uint32_t *chain = buckets + n_buckets;
    uint32_t i = n_buckets > 0 ? buckets[hash % n_buckets] : 0;
    if (i < first)
        return 0;
    for (;; i++) {
        if (((chain[i - first] ^ hash) >> 1) == 0 && is_function(t, i, name))
            return i;
        if ((chain[i - first] & 1) != 0) /* the last one of its bucket */
            return 0;
    }
}

/* One after the other: only old libraries have no other table. */
static uint32_t find_in_all(const struct tables *t, const char *name)
{
    for (uint32_t i = 1; i < t->old_hash[1]; i++)
        if (is_function(t, i, name))
            return i;
    return 0;
}

uintptr_t ab_entries_find(const struct dl_phdr_info *module, const char *name)
{
    struct tables t = tables_of(module);
    uint32_t i = 0;
    if (t.symbols == NULL || t.names == NULL)
        return 0;
    if (t.hash != NULL)
        i = find_by_hash(&t, name);
    else if (t.old_hash != NULL)
        i = find_in_all(&t, name);
    return i != 0 ? address_of(module, &t.symbols[i]) : 0;
}

void ab_entries_change(const struct dl_phdr_info *module, const struct ab_entries_wish *wish)
{
    struct tables t = tables_of(module);
    if (t.symbols == NULL || t.names == NULL)
        return;
    change_entries(module, &t, t.rela, t.n_rela, wish);
    change_entries(module, &t, t.plt, t.n_plt, wish);
}
