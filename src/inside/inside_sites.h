/* SPDX-License-Identifier: MIT
 *
 * Timed calls by call site, for `exec --inside --sites`: a table of fixed size in the mapping that
 * all processes share, zeroed at first. A faulty program may overwrite the table.
 */
#ifndef AB_INSIDE_INSIDE_SITES_H
#define AB_INSIDE_INSIDE_SITES_H

#include <stdint.h>

enum { AB_INSIDE_SITES = 8192, AB_INSIDE_OBJECTS = 256, AB_INSIDE_PATH = 252 };
#define AB_INSIDE_OFFSETS ((UINT64_C(1) << 48) - 1)

struct ab_inside_sum {
    uint64_t n, ticks;
};

struct ab_inside_object {
    uint32_t state;
    char path[AB_INSIDE_PATH];
};

struct ab_inside_site {
    /* index of the object + 1 in the top 16 bits, then the address in the object's file; 0 =
     * unused */
    uint64_t key;
    struct ab_inside_sum sum;
};

struct ab_inside_sites {
    uint64_t is_wanted; /* 1 = call sites are noted; set by the parent */
    struct ab_inside_sum unknown;
    struct ab_inside_object objects[AB_INSIDE_OBJECTS];
    struct ab_inside_site sites[AB_INSIDE_SITES];
};

/* Adds a timed call to the entry of its call site. */
void ab_inside_note_site(struct ab_inside_sites *to, const void *return_address, uint64_t ticks);

#endif
