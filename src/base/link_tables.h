/* SPDX-License-Identifier: MIT
 *
 * Finds symbols of the loaded libraries in the tables of the dynamic linker. Unlike dlsym,
 * allocates nothing and leaves no message for the program's dlerror. Must run before a second
 * thread does.
 */
#ifndef AB_BASE_LINK_TABLES_H
#define AB_BASE_LINK_TABLES_H

#include <elf.h>
#include <link.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline const void *dynamic_table(const struct link_map *map, ElfW(Sxword) tag)
{
    for (const ElfW(Dyn) *d = map->l_ld; d != NULL && d->d_tag != DT_NULL; d++)
        if (d->d_tag == tag) /* the dynamic linker has added the load address to most entries */
            return (const char *)d->d_un.d_ptr + (d->d_un.d_ptr < map->l_addr ? map->l_addr : 0);
    return NULL;
}

/* Returns the symbol `name` if the library of `map` defines it, otherwise NULL. */
static inline const ElfW(Sym) * defined_symbol(const struct link_map *map, const char *name)
{
    const uint32_t *table = dynamic_table(map, DT_GNU_HASH);
    const ElfW(Sym) *symbols = dynamic_table(map, DT_SYMTAB);
    const char *strings = dynamic_table(map, DT_STRTAB);
    uint32_t hash = 5381;
    if (table == NULL || symbols == NULL || strings == NULL || table[0] == 0)
        return NULL;
    for (const char *c = name; *c != 0; c++)
        hash = hash * 33 + (uint8_t)*c;
    const uint32_t *buckets = table + 4 + table[2] * (sizeof(ElfW(Addr)) / 4);
    const uint32_t *chains = buckets + table[0];
    uint32_t i = buckets[hash % table[0]];
    for (; i >= table[1]; i++) {
        uint32_t chain = chains[i - table[1]];
        if ((chain | 1) == (hash | 1) && symbols[i].st_value != 0 &&
            strcmp(strings + symbols[i].st_name, name) == 0)
            return &symbols[i];
        if ((chain & 1) != 0)
            break;
    }
    return NULL;
}

/* Returns the link map of the library that this code is compiled into, because in each library
 * _DYNAMIC means its own table. NULL if it is not in the list. */
static inline const struct link_map *own_map(void)
{
    const struct link_map *map = _r_debug.r_map;
    while (map != NULL && map->l_ld != _DYNAMIC)
        map = map->l_next;
    return map;
}

#endif
