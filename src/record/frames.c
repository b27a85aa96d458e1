/* SPDX-License-Identifier: MIT
 *
 * liballocbench-frames.so. `record --marks` preloads it after the recorder. It defines the
 * functions by which programs show a frame (AB_FRAMES); each marks a frame and calls the real
 * function. Each takes at most two arguments, neither of them floating-point. It is a separate
 * library, so that without --marks no program finds one of these functions that does not exist
 * otherwise.
 */
#include "record/mark.h"
#include "record/preload/spool.h"

#include <dlfcn.h>
#include <stddef.h>

typedef long show(void *of, void *what);

/* Finds the real function as the dynamic linker would: globally or, for a plug-in, in the
 * dependencies of the caller. A failed search allocates an error message, but only once. */
static show *find(const char *name, const void *caller)
{
    Dl_info of;
    void *found = dlsym(RTLD_NEXT, name), *handle = NULL;
    if (found == NULL && dladdr(caller, &of) != 0)
        handle = dlopen(of.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    return (show *)(handle != NULL ? dlsym(handle, name) : found);
}

#define SHOW(name) \
    __attribute__((visibility("default"))) show name; \
    long name(void *of, void *what) \
    { \
        static show *real; \
        show *known = __atomic_load_n(&real, __ATOMIC_RELAXED); \
        if (known == NULL) \
            __atomic_store_n(&real, known = find(#name, __builtin_return_address(0)), \
                             __ATOMIC_RELAXED); \
        allocbench_mark(#name); \
        return known != NULL ? known(of, what) : 0; \
    }
AB_FRAMES(SHOW)
