/* SPDX-License-Identifier: MIT
 *
 * A dlsym that allocates, as that of some C libraries does: who looks up malloc by it is asked for
 * memory before it knows where to get any. The blocks are kept, and at the end one is resized and
 * all are given back; a content that was lost ends the process with 9.
 */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { KEPT = 16, SIZE = 200 };
static char *kept[KEPT];
static int n_kept;

__attribute__((visibility("default"))) void *dlsym(void *handle, const char *name)
{
    static void *(*real)(void *, const char *);
    if (real == NULL)
        *(void **)&real = dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.34");
    if (real == NULL)
        *(void **)&real = dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.2.5");
    if (real == NULL)
        _exit(8);
    if (n_kept < KEPT) {
        kept[n_kept] = calloc(1, SIZE);
        if (kept[n_kept] == NULL || kept[n_kept][0] != 0 || kept[n_kept][SIZE - 1] != 0)
            _exit(9);
        memset(kept[n_kept], 1 + n_kept, SIZE);
        n_kept++;
    }
    return real(handle, name);
}

static __attribute__((destructor)) void give_back(void)
{
    for (int i = 0; i < n_kept; i++) {
        if (kept[i][0] != 1 + i || kept[i][SIZE - 1] != 1 + i)
            _exit(9);
        if (i == 0)
            kept[i] = realloc(kept[i], 4001);
        if (kept[i][SIZE - 1] != 1 + i)
            _exit(9);
        free(kept[i]);
    }
}
