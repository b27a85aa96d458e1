/* SPDX-License-Identifier: MIT
 *
 * A malloc that knows its threads. From a request for HEIRS_BEGIN bytes to the first of HEIRS_END or
 * more it ends the process where somebody asks for zeroed memory, which the workload does not do, and
 * at that request where some threads have ended since, but not as many as the bytes beyond HEIRS_END.
 */
#define TOY_OWN_MALLOC
#define TOY_OWN_CALLOC
#include "toy.h"

#include <pthread.h>
#include <stdlib.h>

enum { HEIRS_BEGIN = 4242, HEIRS_END = 5000 };

static pthread_key_t key;
static __thread int is_known;
static int is_watched;
static long n_ended;

static void leave(void *user)
{
    (void)user;
    __atomic_fetch_add(&n_ended, 1, __ATOMIC_RELAXED);
}

__attribute__((constructor)) static void begin(void)
{
    if (pthread_key_create(&key, leave) != 0)
        __builtin_trap();
}

static void watch(size_t size)
{
    if (size == HEIRS_BEGIN) {
        is_watched = 1;
        n_ended = 0;
    }
    if (size < HEIRS_END || !is_watched)
        return;
    if (n_ended != 0 && n_ended != (long)(size - HEIRS_END))
        __builtin_trap();
    is_watched = 0;
}

void *malloc(size_t size)
{
    if (!is_known) {
        is_known = 1;
        pthread_setspecific(key, &is_known);
    }
    watch(size);
    return toy_alloc(0, size);
}

void *calloc(size_t n, size_t size)
{
    if (is_watched)
        __builtin_trap();
    void *p = toy_alloc(0, n * size);
    return p == NULL ? NULL : memset(p, 0, n * size);
}
