/* SPDX-License-Identifier: MIT
 *
 * liballocbench-closes.so, preloaded after the allocator in the untimed runs of `exec`, which
 * looks at the loaded libraries of each process. Before a library is closed, the process stops so
 * that `exec` can look: dlclose first calls munmap with the library's handle as address and 0
 * bytes, which the seccomp filter of `exec` catches (program/start.c). Without the filter this
 * munmap fails and does nothing.
 */
#include <dlfcn.h>
#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

/* most stops of a process, because a program may close libraries all the time */
enum { SHOWN_MOST = 10000 };

__attribute__((visibility("default"))) int dlclose(void *library)
{
    static int (*next)(void *);
    static unsigned n_closed;
    int saved = errno;
    if (next == NULL)
        *(void **)&next = dlsym(RTLD_NEXT, "dlclose");
    if (__atomic_fetch_add(&n_closed, 1, __ATOMIC_RELAXED) < SHOWN_MOST)
        syscall(SYS_munmap, library, (size_t)0);
    errno = saved;
    return next(library);
}
