/* SPDX-License-Identifier: MIT
 *
 * Finds the C++ operators new and delete to which a preloaded library passes calls on. A preloaded
 * library that interposes malloc (the recorder) defines these operators too. The next definitions
 * are those of libstdc++, or of the malloc library that the program is linked to.
 *
 * The definitions are searched for in the symbol tables of the libraries that were loaded at the
 * start. dlsym is not used, because in a program without C++ it fails, and leaves a message for the
 * program's dlerror. To be included in one source of a library, and called before a second thread
 * runs.
 *
 * A C program may open C++ libraries later, with a libstdc++ that only these can see. The operators
 * of the preloaded library would then have none to pass calls on to. So hide_operators() removes
 * them from the library's symbol table, and the C++ libraries bind to their own operators, as
 * without a preload.
 */
#ifndef AB_BASE_NEXT_OPERATORS_H
#define AB_BASE_NEXT_OPERATORS_H

#include "base/link_tables.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

/* The operators new, as X(linker name, parameters, arguments, alignment). Alignment 0 = that of
 * malloc. */
#define AB_NEXT_NEWS(X) \
    X(_Znwm, (size_t n), (n), 0) \
    X(_Znam, (size_t n), (n), 0) \
    X(_ZnwmRKSt9nothrow_t, (size_t n, const void *t), (n, t), 0) \
    X(_ZnamRKSt9nothrow_t, (size_t n, const void *t), (n, t), 0) \
    X(_ZnwmSt11align_val_t, (size_t n, size_t a), (n, a), a) \
    X(_ZnamSt11align_val_t, (size_t n, size_t a), (n, a), a) \
    X(_ZnwmSt11align_val_tRKSt9nothrow_t, (size_t n, size_t a, const void *t), (n, a, t), a) \
    X(_ZnamSt11align_val_tRKSt9nothrow_t, (size_t n, size_t a, const void *t), (n, a, t), a)
#define AB_NEXT_DELETES(X) \
    X(_ZdlPv, (void *p), (p)) \
    X(_ZdaPv, (void *p), (p)) \
    X(_ZdlPvm, (void *p, size_t n), (p, n)) \
    X(_ZdaPvm, (void *p, size_t n), (p, n)) \
    X(_ZdlPvRKSt9nothrow_t, (void *p, const void *t), (p, t)) \
    X(_ZdaPvRKSt9nothrow_t, (void *p, const void *t), (p, t)) \
    X(_ZdlPvSt11align_val_t, (void *p, size_t a), (p, a)) \
    X(_ZdaPvSt11align_val_t, (void *p, size_t a), (p, a)) \
    X(_ZdlPvmSt11align_val_t, (void *p, size_t n, size_t a), (p, n, a)) \
    X(_ZdaPvmSt11align_val_t, (void *p, size_t n, size_t a), (p, n, a)) \
    X(_ZdlPvSt11align_val_tRKSt9nothrow_t, (void *p, size_t a, const void *t), (p, a, t)) \
    X(_ZdaPvSt11align_val_tRKSt9nothrow_t, (void *p, size_t a, const void *t), (p, a, t))

static struct { /* the next definition of each operator; NULL = none */
#define AB_NEXT_NEW(name, parameters, arguments, align) void *(*name)parameters;
#define AB_NEXT_DELETE(name, parameters, arguments) void(*name) parameters;
    AB_NEXT_NEWS(AB_NEXT_NEW)
    AB_NEXT_DELETES(AB_NEXT_DELETE)
#undef AB_NEXT_NEW
#undef AB_NEXT_DELETE
} operators;

/* Returns the first definition of the operator `name` in a library that was loaded after this one,
 * or NULL. Sets *is_of_malloc if that library defines malloc too: its operators then allocate by
 * themselves, and an interposed malloc does not see these calls. */
static inline void *next_operator(const struct link_map *us, const char *name, bool *is_of_malloc)
{
    for (const struct link_map *map = us->l_next; map != NULL; map = map->l_next) {
        const ElfW(Sym) *symbol = defined_symbol(map, name);
        if (symbol == NULL)
            continue;
        *is_of_malloc = *is_of_malloc || defined_symbol(map, "malloc") != NULL;
        return (char *)map->l_addr + symbol->st_value;
    }
    return NULL;
}

/* Fills `operators`. Returns true if some of the next operators belong to a library with its own
 * malloc. */
static inline bool find_next_operators(void)
{
    const struct link_map *us = own_map();
    bool is_of_malloc = false;
    if (us == NULL)
        return false;
#define AB_NEXT_FIND(name, ...) *(void **)&operators.name = next_operator(us, #name, &is_of_malloc);
    AB_NEXT_NEWS(AB_NEXT_FIND)
    AB_NEXT_DELETES(AB_NEXT_FIND)
#undef AB_NEXT_FIND
    return is_of_malloc;
}

/* Hides this library's operators from later symbol lookups, by zeroing their values in its symbol
 * table. The library is linked so that no page has both symbols and code, because the pages are
 * writable for a moment. */
static inline void hide_operators(void)
{
    const struct link_map *us = own_map();
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE) - 1;
    uintptr_t low = UINTPTR_MAX, high = 0;
    if (us == NULL)
        return;
#define AB_NEXT_OURS(name, ...) (ElfW(Sym) *)(uintptr_t)defined_symbol(us, #name),
    ElfW(Sym) *const ours[] = {AB_NEXT_NEWS(AB_NEXT_OURS) AB_NEXT_DELETES(AB_NEXT_OURS)};
#undef AB_NEXT_OURS
    for (size_t i = 0; i < sizeof ours / sizeof ours[0]; i++) {
        if (ours[i] == NULL)
            return; /* the operators are hidden already */
        low = (uintptr_t)ours[i] < low ? (uintptr_t)ours[i] : low;
        high = (uintptr_t)(ours[i] + 1) > high ? (uintptr_t)(ours[i] + 1) : high;
    }
    low &= ~page;
    high = (high + page) & ~page;
    if (mprotect((void *)low, high - low, PROT_READ | PROT_WRITE) != 0)
        return;
    for (size_t i = 0; i < sizeof ours / sizeof ours[0]; i++)
        ours[i]->st_value = 0;
    mprotect((void *)low, high - low, PROT_READ);
}

#endif
