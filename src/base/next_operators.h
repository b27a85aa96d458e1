/* SPDX-License-Identifier: MIT
 *
 * For a library that stands in front of the malloc of a program: operator new and delete of C++
 * behind it. They are read from the tables of the libraries that were loaded at the start, without
 * dlsym: where there is no C++, a dlsym that fails would leave a message for the program's dlerror.
 * Included once in a library, and only before a second thread runs.
 *
 * A program in C may open libraries in C++ later, with a libstdc++ that is in nobody's sight but
 * theirs. Then our operators have nothing to pass calls on to; so they are taken out of the table of
 * our symbols, and such libraries bind to their own, as they would without us.
 */
#ifndef AB_BASE_NEXT_OPERATORS_H
#define AB_BASE_NEXT_OPERATORS_H

#include "base/link_tables.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* X(name as the linker has it, parameters, arguments, alignment; 0 = that of malloc) */
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

static struct { /* NULL = there is none behind us */
#define AB_NEXT_NEW(name, parameters, arguments, align) void *(*name)parameters;
#define AB_NEXT_DELETE(name, parameters, arguments) void(*name) parameters;
    AB_NEXT_NEWS(AB_NEXT_NEW)
    AB_NEXT_DELETES(AB_NEXT_DELETE)
#undef AB_NEXT_NEW
#undef AB_NEXT_DELETE
} operators;

/* The first one behind us; *is_of_malloc is set where its library defines malloc too: then what the
 * operator does is no call of malloc that anybody else would see. */
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

/* Returns true if those behind us are of a library that has a malloc of its own. */
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

/* Hides our operators from symbol lookups that come later. Our library is linked so that nothing that is executed
 * shares a page with its symbols. */
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
            return; /* hidden already */
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
