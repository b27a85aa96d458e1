/* SPDX-License-Identifier: MIT
 *
 * Where the calls of a running process to malloc go: every loaded object has a slot with the address of each
 * function that it calls in another one, which the dynamic linker fills.
 */
#ifndef AB_PROGRAM_SLOTS_H
#define AB_PROGRAM_SLOTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* The slots of a file for functions that matter here, by its relocations. Read from the first process that has the
 * file mapped, and good for all. Begins as zeroes. */
struct ab_slots_table {
    bool is_read;
    uint64_t first; /* where the file begins, in the addresses of its segments */
    struct ab_slots_entry *items;
    size_t n, cap;
};
void ab_slots_table_fini(struct ab_slots_table *table);

struct ab_slots_mapping { /* of a file, in the order of addresses */
    uint64_t low, high, offset;
    bool is_wanted; /* of the allocator that is to be called */
    bool is_behind; /* wanted, and called by the interposer alone, which is preloaded ahead of it */
    bool is_libc;   /* … of the C library, where that is another one */
    bool is_foreign; /* … of any other that defines malloc */
    bool calls_libc; /* found: the object that begins here calls the C library's malloc */
    struct ab_slots_table *table; /* of its file; NULL = it is read each time */
    char name[256];
};

struct ab_slots {
    unsigned n_wanted; /* slots of malloc, calloc, realloc, free that go where they are to go */
    char why[600];     /* "calls X of OBJECT": the first slot that goes elsewhere; "" = none does */
};

/* What is not resolved yet, in a program that resolves when it calls, is in neither. False: the process cannot be
 * read. */
bool ab_slots_read(pid_t pid, struct ab_slots_mapping *mappings, size_t n, struct ab_slots *out);

#endif
