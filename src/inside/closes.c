/* SPDX-License-Identifier: MIT
 *
 * liballocbench-closes.so, preloaded behind the allocator in the untimed runs of `exec`, in which
 * `exec` looks at the loaded libraries of each process. Before a library is closed, the process
 * stops for such a look: a munmap of 0 bytes at the library's address is caught by the filter of
 * system calls that `exec` has installed (program/start.c). Without the filter this call fails and
 * does nothing.
 */
#include <dlfcn.h>
#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { SHOWN_MOST = 10000 }; /* per process, because a program may close libraries all the time */

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
