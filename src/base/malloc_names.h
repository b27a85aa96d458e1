/* SPDX-License-Identifier: MIT
 *
 * Recognizes the functions of the malloc family by their names (malloc_names.def).
 */
#ifndef AB_BASE_MALLOC_NAMES_H
#define AB_BASE_MALLOC_NAMES_H

#include <stddef.h>
#include <string.h>

/* malloc_names.def says which function has which flag. */
enum ab_malloc_name_flags {
    AB_MALLOC_FAMILY = 1, /* set for every function of the family */
    AB_MALLOC_CORE = 2,
    AB_MALLOC_RECORDED = 4,
    AB_MALLOC_KEEPS = 8,
};

/* Returns the flags of the function that has the first n characters of `name` as its name; 0 = it
 * is not of the family. */
static inline unsigned ab_malloc_name_flags(const char *name, size_t n)
{
    enum { CORE = AB_MALLOC_CORE, RECORDED = AB_MALLOC_RECORDED, KEEPS = AB_MALLOC_KEEPS };
    static const struct {
        const char *name;
        unsigned flags;
    } family[] = {
#define AB_MALLOC_NAME(name, flags) {#name, AB_MALLOC_FAMILY | (flags)},
#include "base/malloc_names.def"
    };
    for (size_t i = 0; i < sizeof family / sizeof family[0]; i++)
        if (strlen(family[i].name) == n && memcmp(family[i].name, name, n) == 0)
            return family[i].flags;
    return 0;
}

/* Indexes of the AB_MALLOC_SERVED functions, which a malloc library must define to be measured in a
 * worker. */
enum {
#define AB_MALLOC_SERVED(name, flags) AB_SERVED_##name,
#define AB_MALLOC_NAME(name, flags)
#include "base/malloc_names.def"
    AB_SERVED_COUNT
};

#endif
