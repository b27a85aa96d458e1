/* SPDX-License-Identifier: MIT
 *
 * Notes the program's control calls to its malloc library (base/library_calls.def), such as
 * malloc_trim and mallctl.
 *
 * Every C library has malloc_trim and mallopt: the recorder exports these two functions and passes
 * calls on. Others, such as mallctl or mi_collect, exist only in some libraries. Programs test for
 * them by weak references or dlsym, so that a recorder that defined them would change the program.
 * If a loaded library defines such a function, the GOT entries of the program's modules are
 * redirected to a function here, which notes the call and passes it on. Calls from modules loaded
 * later, or through dlsym, are not seen.
 *
 * Names are looked up in the modules' own symbol tables, because dlsym allocates if it finds
 * nothing, and leaves a message for the program's dlerror.
 */
#include "record/preload/preload.h"

#include "base/link_tables.h"
#include "record/preload/preload_spool.h"

#include <dlfcn.h>
#include <malloc.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>

#define NOINLINE __attribute__((noinline))

enum call {
#define NAME(shown, symbol, how) CALL_##symbol,
#include "base/library_calls.def"
    CALL_COUNT
};

static void note(enum call call, uint64_t argument)
{
    ab_spool_note_beside(AB_SPOOL_ASIDE, AB_SPOOL_ASIDE_MAKE(AB_SPOOL_REQUEST, call), argument);
}

/* ---- calls of every C library ---- */

__attribute__((visibility("default"))) int malloc_trim(size_t pad)
{
    static int (*next)(size_t);
    if (next == NULL)
        next = (int (*)(size_t))dlsym(RTLD_NEXT, "malloc_trim");
    note(CALL_malloc_trim, pad);
    return next != NULL ? next(pad) : 0;
}

__attribute__((visibility("default"))) int mallopt(int parameter, int value)
{
    static int (*next)(int, int);
    if (next == NULL)
        next = (int (*)(int, int))dlsym(RTLD_NEXT, "mallopt");
    note(CALL_mallopt, 0);
    return next != NULL ? next(parameter, value) : 0;
}

/* ---- calls of some libraries ---- */

/* Type that fits all these functions. None of them has more than eight arguments, of which at most
 * one is not an integer. Arguments that the caller did not pass are garbage, which is passed on and
 * not used. */
typedef long any_function(long a, long b, long c, long d, long e, long f, long g, long h, double x);

static any_function *found[CALL_COUNT];

#define STAND_IN_EXPORTED(symbol)
#define STAND_IN_BOUND(symbol) \
    static NOINLINE long stand_in_##symbol(long a, long b, long c, long d, long e, long f, long g, \
                                           long h, double x) \
    { \
        note(CALL_##symbol, 0); \
        return found[CALL_##symbol](a, b, c, d, e, f, g, h, x); \
    }
#define NAME(shown, symbol, how) STAND_IN_##how(symbol)
#include "base/library_calls.def"

#define ROW_EXPORTED(symbol) \
    { \
        NULL, NULL \
    }
#define ROW_BOUND(symbol) \
    { \
#symbol, stand_in_##symbol \
    }
static const struct {
    const char *name; /* NULL = exported by the recorder */
    any_function *stand_in;
} calls[] = {
#define NAME(shown, symbol, how) ROW_##how(symbol),
#include "base/library_calls.def"
};

/* ---- GOT entries of modules ---- */

#if defined(__x86_64__)
enum { JUMP_SLOT = R_X86_64_JUMP_SLOT, DATA_SLOT = R_X86_64_GLOB_DAT };
#else
enum { JUMP_SLOT = R_AARCH64_JUMP_SLOT, DATA_SLOT = R_AARCH64_GLOB_DAT };
#endif

/* Finds the first definition of `name` in a library that is loaded after the recorder; NULL =
 * none. */
static any_function *look_up(const char *name)
{
    for (const struct link_map *map = own_map(); map != NULL; map = map->l_next) {
        const ElfW(Sym) *symbol = map->l_ld == _DYNAMIC ? NULL : defined_symbol(map, name);
        if (symbol != NULL && ELF64_ST_TYPE(symbol->st_info) == STT_FUNC)
            return (any_function *)(map->l_addr + symbol->st_value);
    }
    return NULL;
}

/* Returns the program headers of a module. Those of the program come from the kernel, those of a
 * library from its ELF header. */
static const ElfW(Phdr) * program_headers(const struct link_map *map, size_t *n)
{
    const ElfW(Ehdr) *head = (const ElfW(Ehdr) *)map->l_addr;
    bool is_program = map == _r_debug.r_map;
    *n = is_program ? getauxval(AT_PHNUM) : head->e_phnum;
    return (const ElfW(Phdr) *)(is_program ? getauxval(AT_PHDR) : map->l_addr + head->e_phoff);
}

/* True if the page is in RELRO, which the dynamic linker has made read-only. */
static bool is_read_only(const struct link_map *map, uintptr_t page)
{
    size_t n;
    const ElfW(Phdr) *p = program_headers(map, &n);
    for (size_t i = 0; i < n; i++)
        if (p[i].p_type == PT_GNU_RELRO && page + AB_SPOOL_PAGE > map->l_addr + p[i].p_vaddr &&
            page + AB_SPOOL_PAGE <= map->l_addr + p[i].p_vaddr + p[i].p_memsz)
            return true;
    return false;
}

static void change(const struct link_map *map, uintptr_t slot, any_function *to)
{
    uintptr_t page = slot & ~(uintptr_t)(AB_SPOOL_PAGE - 1);
    bool is_fixed = is_read_only(map, page);
    if (is_fixed && syscall(SYS_mprotect, page, AB_SPOOL_PAGE, PROT_READ | PROT_WRITE) != 0)
        return;
    __atomic_store_n((any_function **)slot, to, __ATOMIC_RELEASE);
    if (is_fixed)
        syscall(SYS_mprotect, page, AB_SPOOL_PAGE, PROT_READ);
}

/* Redirects a GOT entry to the function here. An unresolved data slot (NULL) stays, because the
 * module may work without the function; an unresolved jump slot may be bound later. Entries of the
 * library that defines the function stay too, because these calls are not the program's. */
static void take_slot(const struct link_map *map, const ElfW(Rela) * r)
{
    const ElfW(Sym) *symbols = dynamic_table(map, DT_SYMTAB);
    const char *strings = dynamic_table(map, DT_STRTAB);
    unsigned type = ELF64_R_TYPE(r->r_info);
    uintptr_t slot = map->l_addr + r->r_offset;
    if ((type != JUMP_SLOT && type != DATA_SLOT) || symbols == NULL || strings == NULL)
        return;
    const char *name = strings + symbols[ELF64_R_SYM(r->r_info)].st_name;
    for (size_t i = 0; i < CALL_COUNT; i++)
        if (found[i] != NULL && strcmp(name, calls[i].name) == 0 &&
            (type == JUMP_SLOT || *(any_function **)slot == found[i]) &&
            defined_symbol(map, name) == NULL)
            change(map, slot, calls[i].stand_in);
}

static void take_slots(const struct link_map *map, ElfW(Sxword) table, ElfW(Sxword) bytes)
{
    const ElfW(Rela) *slots = dynamic_table(map, table);
    size_t n = 0;
    for (const ElfW(Dyn) *d = map->l_ld; d->d_tag != DT_NULL; d++)
        if (d->d_tag == bytes)
            n = d->d_un.d_val / sizeof slots[0];
    for (size_t i = 0; slots != NULL && i < n; i++)
        take_slot(map, &slots[i]);
}

/* Redirects the GOT entries. Runs as a constructor, when all modules that the program starts with
 * are bound. */
static __attribute__((constructor)) void stand_in(void)
{
    bool any = false;
    for (size_t i = 0; i < CALL_COUNT; i++)
        if (calls[i].name != NULL && (found[i] = look_up(calls[i].name)) != NULL)
            any = true;
    for (const struct link_map *map = _r_debug.r_map; any && map != NULL; map = map->l_next) {
        if (map->l_ld == _DYNAMIC || map->l_ld == NULL)
            continue;
        take_slots(map, DT_RELA, DT_RELASZ);
        take_slots(map, DT_JMPREL, DT_PLTRELSZ);
    }
}
