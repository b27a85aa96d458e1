/* SPDX-License-Identifier: MIT
 *
 * liballocbench-closes.so, preloaded after the allocator in the untimed runs of `exec`, in which `exec`
 * looks at the libraries that each process has loaded. Before a library is closed, it makes the process
 * stop for such a look, by a munmap of 0 bytes at the library's address: the filter of system calls that
 * `exec` has installed (program/start.c) catches it. Without the filter this call fails and does nothing.
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
