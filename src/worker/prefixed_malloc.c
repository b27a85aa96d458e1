/* SPDX-License-Identifier: MIT
 *
 * Opens a malloc library with other function names (mi_malloc, je_malloc …) by dlopen, so that the
 * process's own malloc remains the C library's. Each function must come from this very file.
 * Initializes libraries that need it, such as an allocator of the malloc lab (mm_init).
 */
#include "worker/worker.h"

#include <dlfcn.h>
#include <string.h>
#include <sys/stat.h>

static void *library;

/* True if the address lies in a mapping of the file that request.want_dev and want_ino identify. */
static bool worker_is_of_file(const struct ab_worker *w, const void *address)
{
    const struct ab_run_request *want = &w->page->request;
    Dl_info info;
    struct stat st;
    return dladdr(address, &info) != 0 && info.dli_fname != NULL &&
           stat(info.dli_fname, &st) == 0 && st.st_dev == want->want_dev &&
           st.st_ino == want->want_ino;
}

/* Returns the library's function of this name; NULL = none. Functions of the library's dependencies
 * do not count, because blocks must not go from one allocator to another. */
static void *find(struct ab_worker *w, const char *name)
{
    const char *prefix = w->page->request.prefix;
    char symbol[80];
    size_t n = strlen(prefix), bytes = strlen(name) + 1;
    if (n + bytes > sizeof symbol)
        return NULL;
    memcpy(symbol, prefix, n);
    memcpy(symbol + n, name, bytes);
    void *found = dlsym(library, symbol);
    return found != NULL && worker_is_of_file(w, found) ? found : NULL;
}

/* Calls posix_memalign with the signature of memalign, for a library without another aligned
 * function. Leaves errno as memalign would. Only one library of a process may use this adapter,
 * because calls for two libraries could not be told apart. */
static int (*real_posix_memalign)(void **, size_t, size_t);

static void *by_posix_memalign(size_t align, size_t size)
{
    void *p = NULL;
    return real_posix_memalign(&p, align < sizeof p ? sizeof p : align, size) == 0 ? p : NULL;
}

static void find_aligned(struct ab_worker *w, struct ab_malloc_calls *face)
{
    *(void **)&face->memalign = find(w, "memalign");
    if (face->memalign == NULL)
        *(void **)&face->memalign = find(w, "aligned_alloc");
    void *posix_memalign = find(w, "posix_memalign");
    if (face->memalign != NULL || posix_memalign == NULL)
        return;
    if (real_posix_memalign != NULL)
        ab_worker_fail(w, AB_FAILURE_LIBRARY, "is the second library of the mapping with ",
                       "posix_memalign and no other aligned allocation", NULL);
    *(void **)&real_posix_memalign = posix_memalign;
    face->memalign = by_posix_memalign;
}

static void call_init(struct ab_worker *w, const char *name)
{
    int (*init)(void);
    *(void **)&init = dlsym(library, name);
    if (init == NULL)
        ab_worker_fail(w, AB_FAILURE_LIBRARY, "does not define ", name, ", which init= names",
                       NULL);
    if (init() == -1)
        ab_worker_fail(w, AB_FAILURE_LIBRARY, "could not be initialized: ", name, " returned -1",
                       NULL);
}

/* Calls the functions of init=, which are separated by '+'. */
static void call_inits(struct ab_worker *w, const char *names)
{
    char name[sizeof w->page->request.params];
    for (const char *p = names; *p != 0; p += *p == '+') {
        size_t n = 0;
        for (; *p != 0 && *p != '+' && n + 1 < sizeof name; p++)
            name[n++] = *p;
        name[n] = 0;
        call_init(w, name);
    }
}

/* Initializes the library, if it has a function for that. In the malloc lab the function is
 * mm_init, called after mem_init, which sets up the memory that the lab's driver simulates. */
static void initialize(struct ab_worker *w)
{
    const char *asked = w->page->request.params;
    int (*init)(void);
    if (strcmp(asked, "none") == 0)
        return;
    if (asked[0] != 0) {
        call_inits(w, asked);
        return;
    }
    *(void **)&init = find(w, "init");
    if (init == NULL)
        return;
    if (strcmp(w->page->request.prefix, "mm_") == 0 && dlsym(library, "mem_init") != NULL)
        call_init(w, "mem_init");
    if (init() == -1)
        ab_worker_fail(w, AB_FAILURE_LIBRARY, "could not be initialized: ", w->page->request.prefix,
                       "init returned -1", NULL);
}

uint32_t ab_worker_open_prefix(struct ab_worker *w, struct ab_malloc_calls *face)
{
    library = dlopen(w->page->request.path, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL)
        ab_worker_fail(w, AB_FAILURE_LIBRARY, "cannot be loaded: ", dlerror(), NULL);
    *face = (struct ab_malloc_calls){.malloc = NULL};
    *(void **)&face->malloc = find(w, "malloc");
    *(void **)&face->free = find(w, "free");
    if (face->malloc == NULL || face->free == NULL)
        ab_worker_fail(w, AB_FAILURE_LIBRARY, "does not define ", w->page->request.prefix,
                       "malloc and ", w->page->request.prefix, "free", NULL);
    *(void **)&face->calloc = find(w, "calloc");
    *(void **)&face->realloc = find(w, "realloc");
    *(void **)&face->usable_size = find(w, "malloc_usable_size");
    if (face->usable_size == NULL)
        *(void **)&face->usable_size = find(w, "usable_size");
    initialize(w);
    find_aligned(w, face);
    ab_worker_find_sized_free(w, face, find);
    ab_worker_find_trim(w, find);
    *(void **)&face->aligned_alloc = find(w, "aligned_alloc");
    *(void **)&face->posix_memalign = find(w, "posix_memalign");
    ab_worker_identify_object(w, *(void **)&face->malloc, true);
    ab_worker_ask_version(w, library, find(w, "mallctl"));
    return 1u << AB_OP_ALLOC | 1u << AB_OP_FREE | 1u << AB_OP_ACCESS |
           (face->calloc != NULL ? 1u : 0u) << AB_OP_ALLOC_ZEROED |
           (face->memalign != NULL ? 1u : 0u) << AB_OP_ALLOC_ALIGNED |
           (face->realloc != NULL ? 1u : 0u) << AB_OP_RESIZE;
}
