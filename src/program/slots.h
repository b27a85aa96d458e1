/* SPDX-License-Identifier: MIT
 *
 * Finds out which malloc a running process calls. Every loaded object has a slot (GOT entry) for
 * each function of another object that it calls, and the dynamic linker fills the slot with an
 * address.
 */
#ifndef AB_PROGRAM_SLOTS_H
#define AB_PROGRAM_SLOTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Slots of a file for functions of the malloc family, from its relocations. Read from the first
 * process that has mapped the file, and valid for all others. Zero-initialize it, free `items`. */
struct ab_slots_table {
    bool is_read;
    /* address of the first byte of the file, relative to the addresses of its segments */
    uint64_t first;
    struct ab_slots_entry *items;
    size_t n, cap;
};

struct ab_slots_mapping { /* mapping of a file; an array of them is sorted by address */
    uint64_t low, high, offset;
    bool is_wanted; /* True if it belongs to the allocator that must be called */
    /* True if only the interposer, preloaded ahead of it, calls this wanted allocator */
    bool is_behind;
    bool is_libc;    /* True if it is the C library and the wanted allocator is another one */
    bool is_foreign; /* True if it is any other object that defines malloc */
    bool calls_libc; /* result: True if the object that begins here calls the C library's malloc */
    struct ab_slots_table *table; /* slots of its file; NULL = read them each time */
    char name[256];
};

struct ab_slots {
    /* slots of malloc, calloc, realloc, free that lead to the wanted allocator */
    unsigned n_wanted;
    char why[600]; /* "calls X of OBJECT" for the first slot that leads elsewhere; "" = none */
};

/* Reads and judges the slots of a process. With lazy binding, a function that is not resolved
 * yet counts neither way. Returns false if the process cannot be read. */
bool ab_slots_read(pid_t pid, struct ab_slots_mapping *mappings, size_t n, struct ab_slots *out);

#endif
