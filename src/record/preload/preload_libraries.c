/* SPDX-License-Identifier: MIT
 *
 * Watches libraries that bypass the recorder. A library loaded with RTLD_DEEPBIND or dlmopen calls
 * another malloc than the recorder's. `record` sees this in the symbols that the dynamic linker has
 * bound, when the process is about to exit. The library may be closed before that. Once a library
 * was loaded in this way, `record` therefore also looks before the first close of each library.
 */
#include "record/preload/preload_spool.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>

#define EXPORT __attribute__((visibility("default")))

static struct {
    void *(*dlopen)(const char *, int);
    void *(*dlmopen)(Lmid_t, const char *, int);
    int (*dlclose)(void *);
} real;

static bool has_apart; /* True if a library was loaded with RTLD_DEEPBIND or dlmopen */

enum { CLOSED_MOST = 256 };
static uint64_t closed[CLOSED_MOST]; /* hashes of the names of closed libraries; 0 = empty */

void ab_libraries_find_real(void)
{
    *(void **)&real.dlopen = dlsym(RTLD_NEXT, "dlopen");
    *(void **)&real.dlmopen = dlsym(RTLD_NEXT, "dlmopen");
    *(void **)&real.dlclose = dlsym(RTLD_NEXT, "dlclose");
}

/* Looks up the real functions if that was not done yet, because a constructor of another library
 * may run before the recorder's. */
static void make_ready(void)
{
    if (real.dlclose == NULL)
        ab_libraries_find_real();
}

/* dlopen and dlmopen end in a tail call, because the dynamic linker looks at the caller for RUNPATH
 * and for the namespace. */

EXPORT void *dlopen(const char *path, int flags)
{
    make_ready();
    if ((flags & RTLD_DEEPBIND) != 0)
        has_apart = true;
    return real.dlopen(path, flags);
}

EXPORT void *dlmopen(Lmid_t space, const char *path, int flags)
{
    make_ready();
    if (space != LM_ID_BASE || (flags & RTLD_DEEPBIND) != 0)
        has_apart = true;
    return real.dlmopen(space, path, flags);
}

static uint64_t hash_of(const char *name)
{
    uint64_t hash = UINT64_C(14695981039346656037); /* FNV-1a */
    for (; *name != 0; name++)
        hash = (hash ^ (uint8_t)*name) * UINT64_C(1099511628211);
    return hash | 1;
}

/* True if no library of this name was closed before. False also if there is no room to remember the
 * name. */
static bool is_first_close(const char *name)
{
    uint64_t hash = hash_of(name);
    for (unsigned i = 0; i < CLOSED_MOST; i++) {
        uint64_t *place = &closed[(hash + i) % CLOSED_MOST], none = 0;
        if (__atomic_compare_exchange_n(place, &none, hash, false, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED))
            return true;
        if (none == hash)
            return false;
    }
    return false;
}

EXPORT int dlclose(void *library)
{
    const struct ab_spool_process *p = ab_process;
    make_ready();
    if (has_apart && p->image != NULL && p->image->pid == ab_process_id() &&
        is_first_close(((const struct link_map *)library)->l_name))
        ab_files_look((struct ab_file_id){p->image->pid, p->generation, -1}, false);
    return real.dlclose(library);
}
