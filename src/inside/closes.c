/* SPDX-License-Identifier: MIT
 *
 * Preloaded behind the allocator in the untimed runs of `exec`, which looks there at what a process has loaded.
 * Before a library is closed the process asks to be looked at: it unmaps no bytes at the address of what it
 * closes. The filter of system calls that `exec` has set (program/start.c) lets it wait there; without one that
 * call does nothing, and every sandbox allows it.
 */
#include <dlfcn.h>
#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { SHOWN_MOST = 10000 }; /* by a process: a program may close libraries all the time */

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
