/* SPDX-License-Identifier: MIT
 *
 * Who serves malloc? A preload that was ignored would silently measure the C library, so all eight
 * functions are traced to the object that defines them, and that object to the file asked for
 * (device and inode: names lie, links do not matter).
 */
#include "worker/worker.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const names[] = {
    "malloc",   "free",          "calloc",         "realloc",
    "memalign", "aligned_alloc", "posix_memalign", "malloc_usable_size",
};
enum { N_NAMES = sizeof names / sizeof names[0] };

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
    struct ab_identity *id = &w->block->report.identity;
    const struct ab_run_request *want = &w->block->request;
    Dl_info info;
    struct stat st;
    if (dladdr(address, &info) == 0 || info.dli_fname == NULL)
        ab_worker_fail(w, AB_FAILURE_LIBRARY, "its functions belong to no loaded object", NULL);
    strncpy(id->path, info.dli_fname, sizeof id->path - 1);
    if (stat(info.dli_fname, &st) == 0) {
        id->dev = st.st_dev;
        id->ino = st.st_ino;
    }
    struct note_search search = {.base = (uintptr_t)address, .hex = id->build_id};
    dl_iterate_phdr(search_notes, &search);
    if (must_match && (id->dev != want->want_dev || id->ino != want->want_ino))
        ab_worker_fail(w, AB_FAILURE_LIBRARY, "served by ", id->path, " instead", NULL);
}

/* The preload was asked for, yet some functions come from elsewhere: say which. */
static void check_one_object(struct ab_worker *w, void *const *functions)
{
    Dl_info first, other;
    if (dladdr(functions[0], &first) == 0)
        return;
    for (int i = 1; i < N_NAMES; i++)
        if (dladdr(functions[i], &other) == 0 || other.dli_fbase != first.dli_fbase)
            ab_worker_fail(w, AB_FAILURE_LIBRARY, "malloc comes from ", first.dli_fname, ", but ",
                           names[i], " from ", other.dli_fname == NULL ? "?" : other.dli_fname,
                           NULL);
}

/* What the library says of its own version; the parent knows file names, this knows the code. */
static void ask_version(struct ab_worker *w)
{
    char *out = w->block->report.version;
    size_t cap = sizeof w->block->report.version;
    const char *text = NULL;
    size_t n = sizeof text;
    int (*mallctl)(const char *, void *, size_t *, void *, size_t) =
        (int (*)(const char *, void *, size_t *, void *, size_t))dlsym(RTLD_DEFAULT, "mallctl");
    const char *(*tc_version)(int *, int *, const char **) =
        (const char *(*)(int *, int *, const char **))dlsym(RTLD_DEFAULT, "tc_version");
    int (*mi_version)(void) = (int (*)(void))dlsym(RTLD_DEFAULT, "mi_version");
    const char *(*libc)(void) = (const char *(*)(void))dlsym(RTLD_DEFAULT, "gnu_get_libc_version");
    char buf[24];
    if (w->block->request.source == AB_SOURCE_LIBC)
        text = libc != NULL ? libc() : NULL;
    else if (mallctl != NULL && mallctl("version", &text, &n, NULL, 0) != 0)
        text = NULL;
    else if (tc_version != NULL)
        text = tc_version(NULL, NULL, NULL);
    else if (mi_version != NULL)
        text = ab_worker_number(buf, (uint64_t)mi_version());
    if (text == NULL)
        return;
    for (size_t i = 0; i + 1 < cap && text[i] != 0; i++)
        out[i] = text[i] >= 0x20 && text[i] < 0x7f ? text[i] : '?';
}

void ab_worker_identify_malloc(struct ab_worker *w, struct ab_malloc_face *face)
{
    void *functions[N_NAMES];
    for (int i = 0; i < N_NAMES; i++)
        if ((functions[i] = dlsym(RTLD_DEFAULT, names[i])) == NULL)
            ab_worker_fail(w, AB_FAILURE_LIBRARY, names[i], " is not defined", NULL);
    bool is_libc = w->block->request.source == AB_SOURCE_LIBC;
    ab_worker_identify_object(w, functions[0], !is_libc);
    check_one_object(w, functions);
    Dl_info libc, mine;
    void *probe = dlsym(RTLD_DEFAULT, "gnu_get_libc_version");
    if (is_libc && (dladdr(probe, &libc) == 0 || dladdr(functions[0], &mine) == 0 ||
                    libc.dli_fbase != mine.dli_fbase))
        ab_worker_fail(w, AB_FAILURE_LIBRARY, "malloc is served by ",
                       w->block->report.identity.path, ", not by the C library", NULL);
    face->malloc = (void *(*)(size_t))functions[0];
    face->free = (void (*)(void *))functions[1];
    face->calloc = (void *(*)(size_t, size_t))functions[2];
    face->realloc = (void *(*)(void *, size_t))functions[3];
    face->memalign = (void *(*)(size_t, size_t))functions[4];
    face->usable_size = (size_t(*)(void *))functions[7];
    ask_version(w);
}
