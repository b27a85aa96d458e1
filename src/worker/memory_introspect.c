/* SPDX-License-Identifier: MIT
 *
 * Finds and calls the allocators' functions that report statistics, print settings, and give memory
 * back.
 */
#include "worker/memory.h"

#include "base/bits.h"
#include "worker/worker.h"

#include <dlfcn.h>
#include <malloc.h>
#include <string.h>
#include <unistd.h>

typedef int mallctl_function(const char *, void *, size_t *, void *, size_t);
typedef int property_function(const char *, size_t *);
typedef void process_info_function(size_t *, size_t *, size_t *, size_t *, size_t *, size_t *,
                                   size_t *, size_t *);
typedef struct mallinfo2 mallinfo_function(void);
typedef int trim_function(size_t);
typedef void release_function(void);
typedef void collect_function(bool);
typedef int command_function(int, void *);
typedef void stats_function(void (*)(void *, const char *), void *, const char *);

static const struct {
    enum ab_introspect_kind kind;
    const char *ask, *purge;
    /* True if the function may be in an object other than the one that serves malloc. */
    bool is_anywhere;
} kinds[] = {
    {AB_INTROSPECT_MALLCTL, "mallctl", "mallctl", false},
    {AB_INTROSPECT_EXTENSION, "MallocExtension_GetNumericProperty",
     "MallocExtension_ReleaseFreeMemory", false},
    {AB_INTROSPECT_MIMALLOC, "mi_process_info", "mi_collect", false},
    {AB_INTROSPECT_MALLINFO, "mallinfo2", "malloc_trim", false},
    {AB_INTROSPECT_TBB, "scalable_allocation_command", "scalable_allocation_command", true},
};

static void *find(const char *name, const void *object_of, bool is_anywhere)
{
    Dl_info want, have;
    void *found = dlsym(RTLD_DEFAULT, name);
    if (found == NULL || is_anywhere)
        return found;
    bool is_same = dladdr(object_of, &want) != 0 && dladdr(found, &have) != 0 &&
                   want.dli_fbase == have.dli_fbase;
    return is_same ? found : NULL;
}

void ab_introspect_malloc(struct ab_introspect *in, const void *object_of)
{
    *in = (struct ab_introspect){.kind = AB_INTROSPECT_NONE};
    for (size_t i = 0; i < AB_ARRAY_LEN(kinds); i++) {
        void *ask = find(kinds[i].ask, object_of, kinds[i].is_anywhere);
        if (ask == NULL)
            continue;
        in->kind = kinds[i].kind;
        in->ask = ask;
        in->purge = find(kinds[i].purge, object_of, kinds[i].is_anywhere);
        in->is_libc = find("gnu_get_libc_version", object_of, false) != NULL;
        return;
    }
}

void ab_worker_find_trim(struct ab_worker *w, ab_own_function *find_own)
{
    bool is_wanted = w->image->n_trims > 0 && w->trim == NULL;
    /* asks only if the tape needs it, because dlsym calls malloc for a name that it does not
     * find */
    if (is_wanted)
        *(void **)&w->trim = find_own(w, "malloc_trim");
}

void ab_introspect_heap(struct ab_introspect *in, const struct ab_backend *backend,
                        struct ab_heap *heap)
{
    *in = (struct ab_introspect){.kind = AB_INTROSPECT_HEAP, .backend = backend, .heap = heap};
}

static void ask_mallctl(mallctl_function *mallctl, uint64_t *allocated, uint64_t *mapped)
{
    uint64_t epoch = 1;
    size_t value = 0, n = sizeof value;
    if (mallctl("epoch", NULL, NULL, &epoch, sizeof epoch) != 0)
        return;
    if (mallctl("stats.allocated", &value, &n, NULL, 0) == 0)
        *allocated = value;
    if (mallctl("stats.resident", &value, &n, NULL, 0) == 0)
        *mapped = value;
}

/* Reads mallinfo2. The C library's uordblks leaves out blocks that are mapped separately; scudo's
 * uordblks includes them. */
static void ask_mallinfo(mallinfo_function *mallinfo, bool is_libc, uint64_t *allocated,
                         uint64_t *mapped)
{
    struct mallinfo2 info = mallinfo();
    *allocated = is_libc ? info.uordblks + info.hblkhd : info.uordblks;
    *mapped = info.arena + info.hblkhd;
}

static void ask_extension(property_function *get, uint64_t *allocated, uint64_t *mapped)
{
    size_t value = 0;
    if (get("generic.current_allocated_bytes", &value) != 0)
        *allocated = value;
    if (get("generic.heap_size", &value) != 0)
        *mapped = value;
}

static void ask_heap(const struct ab_introspect *in, uint64_t *allocated, uint64_t *mapped)
{
    struct ab_heap_stats stats = {AB_UNKNOWN, AB_UNKNOWN, AB_UNKNOWN, AB_UNKNOWN, AB_UNKNOWN};
    if (in->backend->stats == NULL || in->backend->stats(in->heap, &stats) != 0)
        return;
    *allocated = stats.live_bytes;
    *mapped = stats.committed_bytes;
}

void ab_introspect_ask(const struct ab_introspect *in, uint64_t *allocated, uint64_t *mapped)
{
    *allocated = *mapped = UINT64_MAX;
    if (in->kind == AB_INTROSPECT_MALLINFO) {
        ask_mallinfo((mallinfo_function *)in->ask, in->is_libc, allocated, mapped);
    } else if (in->kind == AB_INTROSPECT_MALLCTL) {
        ask_mallctl((mallctl_function *)in->ask, allocated, mapped);
    } else if (in->kind == AB_INTROSPECT_EXTENSION) {
        ask_extension((property_function *)in->ask, allocated, mapped);
    } else if (in->kind == AB_INTROSPECT_MIMALLOC) {
        size_t x[7] = {0}, commit = 0; /* mimalloc's "rss" is the committed memory too */
        ((process_info_function *)in->ask)(&x[0], &x[1], &x[2], &x[3], &x[4], &commit, &x[5],
                                           &x[6]);
        *mapped = commit;
    } else if (in->kind == AB_INTROSPECT_HEAP) {
        ask_heap(in, allocated, mapped);
    }
}

bool ab_introspect_purge(const struct ab_introspect *in)
{
    enum { TBB_CLEAN_ALL_BUFFERS = 0 };
    if (in->kind == AB_INTROSPECT_HEAP) {
        if (in->backend->purge == NULL)
            return false;
        in->backend->purge(in->heap);
        return true;
    }
    if (in->purge == NULL)
        return false;
    switch (in->kind) {
    case AB_INTROSPECT_MALLINFO:
        ((trim_function *)in->purge)(0);
        return true;
    case AB_INTROSPECT_MALLCTL: /* arena 4096 stands for all arenas */
        return ((mallctl_function *)in->purge)("arena.4096.purge", NULL, NULL, NULL, 0) == 0;
    case AB_INTROSPECT_EXTENSION:
        ((release_function *)in->purge)();
        return true;
    case AB_INTROSPECT_MIMALLOC:
        ((collect_function *)in->purge)(true);
        return true;
    case AB_INTROSPECT_TBB:
        ((command_function *)in->purge)(TBB_CLEAN_ALL_BUFFERS, NULL);
        return true;
    default:
        return false;
    }
}

static void say(void *unused, const char *text)
{
    ssize_t ignored = write(STDOUT_FILENO, text, strlen(text));
    (void)ignored;
    (void)unused;
}

static void say_number(const char *name, uint64_t n)
{
    char buf[24];
    say(NULL, name);
    say(NULL, ": ");
    say(NULL, ab_worker_number(buf, n));
    say(NULL, "\n");
}

/* Prints the settings of gperftools. Its properties have names that differ from those of its
 * variables. Other settings are flags, which it exports. */
static void say_extension(const struct ab_introspect *in)
{
#define FLAG(length, type, flag) \
    "_ZN" #length "FLAG__namespace_do_not_use_directly_use_DECLARE_" type "_instead" flag "E"
    static const struct {
        const char *variable, *property, *flag;
        bool is_double; /* type of the flag: double, else bool */
    } all[] = {
        {"TCMALLOC_MAX_TOTAL_THREAD_CACHE_BYTES", "tcmalloc.max_total_thread_cache_bytes", "", 0},
        {"TCMALLOC_AGGRESSIVE_DECOMMIT", "tcmalloc.aggressive_memory_decommit", "", 0},
        {"TCMALLOC_HEAP_LIMIT_MB", "tcmalloc.heap_limit_mb", "", 0},
        {"TCMALLOC_RELEASE_RATE", "", FLAG(62, "double", "27FLAGS_tcmalloc_release_rate"), 1},
        {"TCMALLOC_SKIP_SBRK", "", FLAG(60, "bool", "22FLAGS_malloc_skip_sbrk"), 0},
        {"TCMALLOC_SKIP_MMAP", "", FLAG(60, "bool", "22FLAGS_malloc_skip_mmap"), 0},
    };
#undef FLAG
    for (size_t i = 0; i < AB_ARRAY_LEN(all); i++) {
        size_t value = 0;
        const void *flag = find(all[i].flag, in->ask, false);
        double as_double = flag != NULL && all[i].is_double ? *(const double *)flag : 0;
        bool is_known = flag != NULL ||
                        ((property_function *)in->ask)(all[i].property, &value) != 0;
        if (flag != NULL)
            value = all[i].is_double ? (size_t)as_double : *(const bool *)flag;
        if (is_known && (!all[i].is_double || (double)value == as_double)) /* whole numbers only */
            say_number(all[i].variable, value);
    }
}

void ab_introspect_settings(const struct ab_introspect *in)
{
    void *stats = in->kind == AB_INTROSPECT_MALLCTL ? find("malloc_stats_print", in->ask, false)
                                                    : NULL;
    say_number("kind", in->kind);
    say_number("is_libc", in->is_libc);
    if (stats != NULL) /* prints only settings, as far as this version of the library can */
        ((stats_function *)stats)(say, NULL, "mdablxeh");
    if (in->kind == AB_INTROSPECT_EXTENSION)
        say_extension(in);
}
