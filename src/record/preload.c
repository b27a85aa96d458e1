/* SPDX-License-Identifier: MIT
 *
 * The interposer: stands in front of whatever malloc the program has (libc's or a preloaded one,
 * found by RTLD_NEXT) and logs each call, releases before the real call, acquires behind it.
 * free(NULL) is no event, realloc(NULL, n) is an allocation. A thread or signal handler may enter
 * at any point; there is no lock and no busy flag, hence nothing to lose or to wait for.
 */
#include "record/preload_log.h"

#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

static struct {
    void *(*malloc)(size_t);
    void *(*calloc)(size_t, size_t);
    void *(*realloc)(void *, size_t);
    void *(*reallocarray)(void *, size_t, size_t);
    void (*free)(void *);
    void *(*memalign)(size_t, size_t);
    void *(*aligned_alloc)(size_t, size_t);
    int (*posix_memalign)(void **, size_t, size_t);
    void *(*valloc)(size_t);
    void *(*pvalloc)(size_t);
} real;

static enum { NEW, STARTING, READY } state;

/* ---- memory for calls that come while the real functions are being looked up ---- */

enum { BOOT_BYTES = 64 << 10, BOOT_ALIGN = 16 };
static _Alignas(BOOT_ALIGN) char boot[BOOT_BYTES];
static _Atomic size_t boot_used;

static void *boot_alloc(size_t n)
{
    if (n > BOOT_BYTES)
        return NULL;
    size_t need = BOOT_ALIGN + (n + BOOT_ALIGN - 1) / BOOT_ALIGN * BOOT_ALIGN;
    size_t at = atomic_fetch_add(&boot_used, need);
    if (at + need > BOOT_BYTES)
        return NULL;
    memcpy(boot + at, &n, sizeof n); /* zero otherwise: static, and never used twice */
    return boot + at + BOOT_ALIGN;
}

static bool is_boot(const void *p)
{
    return (const char *)p >= boot && (const char *)p < boot + BOOT_BYTES;
}

static size_t boot_size(const void *p)
{
    size_t n;
    memcpy(&n, (const char *)p - BOOT_ALIGN, sizeof n);
    return n;
}

/* ---- finding the real functions ---- */

static void find(void *function, const char *name)
{
    void *found = dlsym(RTLD_NEXT, name);
    memcpy(function, &found, sizeof found);
}

static void start(void)
{
    state = STARTING;
    find(&real.malloc, "malloc");
    find(&real.calloc, "calloc");
    find(&real.realloc, "realloc");
    find(&real.reallocarray, "reallocarray");
    find(&real.free, "free");
    find(&real.memalign, "memalign");
    find(&real.aligned_alloc, "aligned_alloc");
    find(&real.posix_memalign, "posix_memalign");
    find(&real.valloc, "valloc");
    find(&real.pvalloc, "pvalloc");
    ab_log_start();
    state = READY;
}

/* False only for what dlsym itself asks for meanwhile. The first call comes from ld.so or libc,
 * before there can be a second thread. */
static inline bool is_ready(void)
{
    if (__builtin_expect(state != READY, 0)) {
        if (state == STARTING)
            return false;
        start();
    }
    return true;
}

/* A program that never calls is to be told from one that was never reached. */
__attribute__((constructor)) static void at_load(void)
{
    is_ready();
}

/* ---- the calls ---- */

static inline void log_alloc(enum ab_spool_kind kind, unsigned align_log2, const void *p, size_t n)
{
    if (ab_log_is_open())
        ab_log_append(kind, align_log2, (uintptr_t)p, n);
}

/* As libc does: what is no power of two becomes the next one. */
static unsigned log2_up(size_t align)
{
    return align <= 1 ? 0 : 64 - (unsigned)__builtin_clzll(align - 1);
}

EXPORT void *malloc(size_t n)
{
    if (!is_ready())
        return boot_alloc(n);
    void *p = real.malloc(n);
    log_alloc(AB_SPOOL_ALLOC, 0, p, n);
    return p;
}

EXPORT void *calloc(size_t n, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(n, size, &bytes))
        bytes = SIZE_MAX;
    if (!is_ready())
        return boot_alloc(bytes);
    void *p = real.calloc(n, size);
    log_alloc(AB_SPOOL_ALLOC_ZEROED, 0, p, bytes);
    return p;
}

EXPORT void free(void *p)
{
    if (is_boot(p) || !is_ready())
        return;
    if (p != NULL && ab_log_is_open())
        ab_log_append(AB_SPOOL_FREE, 0, (uintptr_t)p, 0);
    real.free(p);
}

static void *boot_realloc(void *old, size_t n)
{
    void *p = malloc(n);
    if (p != NULL && old != NULL)
        memcpy(p, old, n < boot_size(old) ? n : boot_size(old));
    return p;
}

/* The end is logged whenever the beginning was: a gate that closes in between leaves both out. */
static void *log_realloc(void *old, size_t n)
{
    bool is_open = ab_log_is_open();
    if (is_open)
        ab_log_append(AB_SPOOL_RESIZE_BEGIN, 0, (uintptr_t)old, n);
    void *p = real.realloc(old, n);
    if (is_open && ab_log_is_open())
        ab_log_append(AB_SPOOL_RESIZE_END, 0, (uintptr_t)p, n);
    return p;
}

EXPORT void *realloc(void *old, size_t n)
{
    if (is_boot(old) || !is_ready())
        return boot_realloc(old, n);
    if (old != NULL)
        return log_realloc(old, n);
    void *p = real.realloc(NULL, n);
    log_alloc(AB_SPOOL_ALLOC, 0, p, n);
    return p;
}

/* Not through the real reallocarray: libc's calls realloc by its public name, which is ours. */
EXPORT void *reallocarray(void *old, size_t n, size_t size)
{
    size_t bytes;
    if (!__builtin_mul_overflow(n, size, &bytes))
        return realloc(old, bytes);
    if (!is_ready())
        return NULL;
    bool is_open = ab_log_is_open();
    if (is_open && old != NULL)
        ab_log_append(AB_SPOOL_RESIZE_BEGIN, 0, (uintptr_t)old, SIZE_MAX);
    void *p = real.reallocarray(old, n, size); /* fails, in its own way */
    if (is_open && ab_log_is_open())
        ab_log_append(old != NULL ? AB_SPOOL_RESIZE_END : AB_SPOOL_ALLOC, 0, (uintptr_t)p,
                      SIZE_MAX);
    return p;
}

EXPORT void *memalign(size_t align, size_t n)
{
    if (!is_ready())
        return NULL;
    void *p = real.memalign(align, n);
    log_alloc(AB_SPOOL_ALLOC_ALIGNED, log2_up(align), p, n);
    return p;
}

EXPORT void *aligned_alloc(size_t align, size_t n)
{
    if (!is_ready())
        return NULL;
    void *p = real.aligned_alloc(align, n);
    log_alloc(AB_SPOOL_ALLOC_ALIGNED, log2_up(align), p, n);
    return p;
}

EXPORT int posix_memalign(void **out, size_t align, size_t n)
{
    if (!is_ready())
        return ENOMEM;
    int wrong = real.posix_memalign(out, align, n);
    log_alloc(AB_SPOOL_ALLOC_ALIGNED, log2_up(align), wrong == 0 ? *out : NULL, n);
    return wrong;
}

EXPORT void *valloc(size_t n)
{
    if (!is_ready())
        return NULL;
    void *p = real.valloc(n);
    log_alloc(AB_SPOOL_ALLOC_ALIGNED, log2_up((size_t)sysconf(_SC_PAGESIZE)), p, n);
    return p;
}

EXPORT void *pvalloc(size_t n)
{
    if (!is_ready())
        return NULL;
    void *p = real.pvalloc(n);
    log_alloc(AB_SPOOL_ALLOC_ALIGNED, log2_up((size_t)sysconf(_SC_PAGESIZE)), p, n);
    return p;
}
