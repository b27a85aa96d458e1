/* SPDX-License-Identifier: MIT
 *
 * Proves which library serves malloc, because an ignored preload would silently measure the C
 * library. For each function that the process would call, finds the object that defines it, and
 * compares that object's file with the requested one. Files are compared by device and inode,
 * because names can mislead and links do not matter.
 */
#include "worker/worker.h"

#include "base/malloc_names.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <link.h>
#include <string.h>
#include <sys/stat.h>

static const char *const names[AB_SERVED_COUNT] = {
#define AB_MALLOC_SERVED(name, flags) #name,
#define AB_MALLOC_NAME(name, flags)
#include "base/malloc_names.def"
};

struct note_search {
    uintptr_t base;
    char *hex; /* 41 bytes */
};

static void copy_build_id(const void *notes, size_t bytes, char *hex)
{
    const char *p = notes, *end = p + bytes;
    while ((size_t)(end - p) >= sizeof(ElfW(Nhdr))) {
        const ElfW(Nhdr) *n = (const ElfW(Nhdr) *)p;
        const char *name = p + sizeof *n, *desc = name + ((n->n_namesz + 3u) & ~3u);
        if (desc > end || n->n_descsz > (size_t)(end - desc))
            return;
        if (n->n_type == NT_GNU_BUILD_ID && n->n_namesz == 4 && memcmp(name, "GNU", 4) == 0) {
            for (uint32_t i = 0; i < n->n_descsz && i < 20; i++) {
                hex[2 * i] = "0123456789abcdef"[(unsigned char)desc[i] >> 4];
                hex[2 * i + 1] = "0123456789abcdef"[desc[i] & 15];
            }
            return;
        }
        p = desc + ((n->n_descsz + 3u) & ~3u);
    }
}

static int search_notes(struct dl_phdr_info *info, size_t size, void *user)
{
    (void)size;
    struct note_search *search = user;
    bool is_object = false;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *ph = &info->dlpi_phdr[i];
        uintptr_t begin = info->dlpi_addr + ph->p_vaddr;
        if (ph->p_type == PT_LOAD && search->base >= begin && search->base < begin + ph->p_memsz)
            is_object = true;
    }
    for (int i = 0; is_object && i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_NOTE)
            copy_build_id((const void *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr),
                          info->dlpi_phdr[i].p_memsz, search->hex);
    return is_object;
}

void ab_worker_identify_object(struct ab_worker *w, const void *address, bool must_match)
{
    struct ab_identity *id = &w->page->report.identity;
    const struct ab_run_request *want = &w->page->request;
    Dl_info info;
    struct stat st;
    if (dladdr(address, &info) == 0 || info.dli_fname == NULL)
        ab_worker_fail(w, AB_FAILURE_LIBRARY, "its functions are in no loaded object", NULL);
    strncpy(id->path, info.dli_fname, sizeof id->path - 1);
    if (stat(info.dli_fname, &st) == 0) {
        id->dev = st.st_dev;
        id->ino = st.st_ino;
        /* the path leads nowhere: the process changed its root, or the library deleted itself */
    } else if (must_match) {
        ab_worker_fail(
            w, AB_FAILURE_LIBRARY, "its file ", id->path,
            " is no longer visible to the process that loaded it: ", strerrordesc_np(errno), NULL);
    }
    struct note_search search = {.base = (uintptr_t)address, .hex = id->build_id};
    dl_iterate_phdr(search_notes, &search);
    if (must_match && (id->dev != want->want_dev || id->ino != want->want_ino))
        ab_worker_fail(w, AB_FAILURE_LIBRARY, "served by ", id->path, " instead", NULL);
}

/* Fails the run if some functions come from a library other than the preloaded one; the message
 * names both libraries. */
static void check_one_object(struct ab_worker *w, void *const *functions)
{
    Dl_info first, other;
    if (dladdr(functions[0], &first) == 0)
        return;
    for (int i = 1; i < AB_SERVED_COUNT; i++)
        if (dladdr(functions[i], &other) == 0 || other.dli_fbase != first.dli_fbase)
            ab_worker_fail(w, AB_FAILURE_LIBRARY, "malloc comes from ", first.dli_fname, ", but ",
                           names[i], " from ", other.dli_fname == NULL ? "?" : other.dli_fname,
                           NULL);
}

static const char *last_slash(const char *path)
{
    const char *found = NULL;
    for (; *path != 0; path++)
        if (*path == '/')
            found = path;
    return found;
}

/* Checks tbb's malloc. The preloaded library is only a proxy; the allocator is libtbbmalloc.so.2,
 * which the loader may find anywhere. It must be the file beside the proxy. Otherwise the system's
 * allocator would silently be measured instead of the user's own build. */
static void check_proxy(struct ab_worker *w, const void *proxy)
{
    static const char file[] = "libtbbmalloc.so.2";
    const char *path = w->page->request.path, *slash = last_slash(path);
    void *scalable = dlsym(RTLD_DEFAULT, "scalable_malloc");
    char beside[sizeof w->page->request.path + sizeof file];
    Dl_info mine, other;
    struct stat want, have;
    if (dlsym(RTLD_DEFAULT, "__TBB_malloc_proxy") == NULL || scalable == NULL || slash == NULL ||
        dladdr(proxy, &mine) == 0 || dladdr(scalable, &other) == 0 ||
        mine.dli_fbase == other.dli_fbase)
        return;
    size_t n = (size_t)(slash - path) + 1;
    for (size_t i = 0; i < n; i++)
        beside[i] = path[i];
    memcpy(beside + n, file, sizeof file);
    if (stat(beside, &want) != 0 || stat(other.dli_fname, &have) != 0 ||
        want.st_dev != have.st_dev || want.st_ino != have.st_ino)
        ab_worker_fail(w, AB_FAILURE_LIBRARY, "is a proxy and calls ", other.dli_fname, ", not to ",
                       beside, NULL);
}

/* Returns a version number with dots, such as "2.0.9" for mimalloc's 209. The first half of buf
 * holds the dotted form, the second half the digits. */
static const char *dotted(char buf[48], int version)
{
    const char *digits = ab_worker_number(buf + 24, (uint64_t)version);
    if (strlen(digits) != 3)
        return digits;
    for (int i = 0; i < 3; i++) {
        buf[2 * i] = digits[i];
        buf[2 * i + 1] = i < 2 ? '.' : 0;
    }
    return buf;
}

/* Sets report.version to the version that the library itself reports. The parent could only guess
 * it from file names. */
void ab_worker_ask_version(struct ab_worker *w, void *library, void *mallctl)
{
    char *out = w->page->report.version;
    size_t cap = sizeof w->page->report.version;
    const char *text = NULL;
    size_t n = sizeof text;
    int (*control)(const char *, void *, size_t *, void *,
                   size_t) = (int (*)(const char *, void *, size_t *, void *, size_t))mallctl;
    const char *(*tc_version)(int *, int *, const char **) =
        (const char *(*)(int *, int *, const char **))dlsym(library, "tc_version");
    int (*mi_version)(void) = (int (*)(void))dlsym(library, "mi_version");
    char buf[48];
    if (control != NULL && control("version", &text, &n, NULL, 0) != 0)
        text = NULL;
    else if (control == NULL && tc_version != NULL)
        text = tc_version(NULL, NULL, NULL);
    else if (control == NULL && mi_version != NULL)
        text = dotted(buf, mi_version());
    if (text == NULL)
        return;
    for (size_t i = 0; i + 1 < cap && text[i] != 0; i++)
        out[i] = text[i] >= 0x20 && text[i] < 0x7f ? text[i] : '?';
}

/* Finds a function of the object that serves malloc; NULL = it has none. RTLD_DEFAULT suffices,
 * because a preloaded library comes before the C library. */
static void *find_own(struct ab_worker *w, const char *name)
{
    void *found = dlsym(RTLD_DEFAULT, name), *serves = dlsym(RTLD_DEFAULT, "malloc");
    Dl_info own, other;
    (void)w;
    return found != NULL && dladdr(serves, &own) != 0 && dladdr(found, &other) != 0 &&
                   own.dli_fbase == other.dli_fbase
               ? found
               : NULL;
}

void ab_worker_identify_malloc(struct ab_worker *w, struct ab_malloc_calls *face)
{
    void *functions[AB_SERVED_COUNT];
    for (int i = 0; i < AB_SERVED_COUNT; i++)
        if ((functions[i] = dlsym(RTLD_DEFAULT, names[i])) == NULL)
            ab_worker_fail(w, AB_FAILURE_LIBRARY, names[i], " is not defined", NULL);
    bool is_libc = w->page->request.source == AB_SOURCE_LIBC;
    ab_worker_identify_object(w, functions[0], !is_libc);
    check_one_object(w, functions);
    Dl_info libc, mine;
    void *probe = dlsym(RTLD_DEFAULT, "gnu_get_libc_version");
    if (is_libc && (dladdr(probe, &libc) == 0 || dladdr(functions[0], &mine) == 0 ||
                    libc.dli_fbase != mine.dli_fbase))
        ab_worker_fail(w, AB_FAILURE_LIBRARY, "malloc is served by ", w->page->report.identity.path,
                       ", not by the C library", NULL);
    face->malloc = (void *(*)(size_t))functions[AB_SERVED_malloc];
    face->free = (void (*)(void *))functions[AB_SERVED_free];
    face->calloc = (void *(*)(size_t, size_t))functions[AB_SERVED_calloc];
    face->realloc = (void *(*)(void *, size_t))functions[AB_SERVED_realloc];
    face->memalign = (void *(*)(size_t, size_t))functions[AB_SERVED_memalign];
    face->aligned_alloc = (void *(*)(size_t, size_t))functions[AB_SERVED_aligned_alloc];
    face->posix_memalign = (int (*)(void **, size_t, size_t))functions[AB_SERVED_posix_memalign];
    face->usable_size = (size_t(*)(void *))functions[AB_SERVED_malloc_usable_size];
    ab_worker_find_sized_free(w, face, find_own);
    ab_worker_find_trim(w, find_own);
    if (!is_libc) { /* not asked: the parent uses the same C library and knows its version */
        check_proxy(w, functions[0]);
        ab_worker_ask_version(w, RTLD_DEFAULT, dlsym(RTLD_DEFAULT, "mallctl"));
    }
}
