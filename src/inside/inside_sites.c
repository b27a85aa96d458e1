/* SPDX-License-Identifier: MIT
 *
 * Finds the call site of a timed call: the object that contains the return address, and the address
 * relative to that object's file. So all processes of a run find the same entry. Uses no lock and
 * no malloc. Calls without room in the table are counted in `unknown`.
 */
#include "inside/inside_sites.h"

#include <link.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#define HIDDEN __attribute__((visibility("hidden")))

enum { FREE, WRITTEN, COMPLETE }; /* states of an entry of the table of objects */

#if __GLIBC_PREREQ(2, 35)

#pragma weak _dl_find_object

/* Object of the last timed call of this thread. */
static __thread struct {
    uintptr_t begin, end, base;
    uint32_t object; /* index in the table of objects + 1; 0 = no room */
} last;

static uint32_t find_place(struct ab_inside_sites *to, const char *path)
{
    for (uint32_t i = 0; i < AB_INSIDE_OBJECTS; i++) {
        struct ab_inside_object *o = &to->objects[i];
        uint32_t state = __atomic_load_n(&o->state, __ATOMIC_ACQUIRE);
        if (state == COMPLETE && strcmp(o->path, path) == 0)
            return i + 1;
        if (state != FREE || !__atomic_compare_exchange_n(&o->state, &state, WRITTEN, false,
                                                          __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
            continue;
        strcpy(o->path, path);
        __atomic_store_n(&o->state, COMPLETE, __ATOMIC_RELEASE);
        return i + 1;
    }
    return 0;
}

/* Reads the path of an object into `path`. For the program itself, which has no name in the dynamic
 * linker's list, reads /proc/self/exe. Returns false if the path does not fit. */
static bool read_path(const struct link_map *map, char path[AB_INSIDE_PATH])
{
    if (map->l_name[0] != 0) {
        size_t n = strlen(map->l_name);
        memcpy(path, map->l_name, n < AB_INSIDE_PATH ? n + 1 : 0);
        return n < AB_INSIDE_PATH;
    }
    ssize_t n = readlink("/proc/self/exe", path, AB_INSIDE_PATH - 1);
    path[n > 0 ? n : 0] = 0;
    return n > 0 && n < AB_INSIDE_PATH - 1;
}

static bool find_object(struct ab_inside_sites *to, uintptr_t address)
{
    char path[AB_INSIDE_PATH];
    struct dl_find_object found;
    if (address - last.begin < last.end - last.begin)
        return last.object != 0;
    if (_dl_find_object == NULL || _dl_find_object((void *)address, &found) != 0)
        return false;
    last.object = read_path(found.dlfo_link_map, path) ? find_place(to, path) : 0;
    last.base = found.dlfo_link_map->l_addr;
    last.begin = (uintptr_t)found.dlfo_map_start;
    last.end = (uintptr_t)found.dlfo_map_end;
    return last.object != 0;
}

static uint64_t key_of(struct ab_inside_sites *to, uintptr_t address)
{
    return find_object(to, address)
               ? (uint64_t)last.object << 48 | ((address - last.base) & AB_INSIDE_OFFSETS)
               : 0;
}

#else

static uint64_t key_of(struct ab_inside_sites *to, uintptr_t address)
{
    (void)to;
    (void)address;
    return 0;
}

#endif

/* Finds or adds the entry of a call site. Returns NULL if the table is full. */
static struct ab_inside_site *find_site(struct ab_inside_sites *to, uint64_t key)
{
    uint64_t at = key * UINT64_C(0x9e3779b97f4a7c15) >> 32;
    for (uint32_t i = 0; i < 64; i++) {
        struct ab_inside_site *s = &to->sites[(at + i) % AB_INSIDE_SITES];
        uint64_t seen = __atomic_load_n(&s->key, __ATOMIC_RELAXED);
        if (seen == key ||
            (seen == 0 && __atomic_compare_exchange_n(&s->key, &seen, key, false, __ATOMIC_RELAXED,
                                                      __ATOMIC_RELAXED)))
            return s;
        if (seen == key) /* another thread has just added the site */
            return s;
    }
    return NULL;
}

/* Looks up the address return_address - 1, because it is inside the call instruction. */
HIDDEN void ab_inside_note_site(struct ab_inside_sites *to, const void *return_address,
                                uint64_t ticks)
{
    uint64_t key = key_of(to, (uintptr_t)return_address - 1);
    struct ab_inside_site *site = key != 0 ? find_site(to, key) : NULL;
    struct ab_inside_sum *sum = site != NULL ? &site->sum : &to->unknown;
    __atomic_fetch_add(&sum->n, 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(&sum->ticks, ticks, __ATOMIC_RELAXED);
}
