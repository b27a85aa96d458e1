/* SPDX-License-Identifier: MIT
 *
 * Blocks that another thread frees go back to the heap that they are of in each form. What dies with a
 * save point or with the scope of one thread can only be in an arena of that thread's own.
 */
#include "advise/heap_form.h"

#include <stdio.h>

static const char *const names[AB_ADVICE_THREADS_COUNT] = {"one", "local", "lockfree", "sharded",
                                                           "mutex"};

const char *ab_advice_threads_name(enum ab_advice_threads threads)
{
    return names[threads];
}

static bool is_pool_or_slab(const struct ab_advice_heap *h)
{
    return h->kind == AB_ADVICE_POOL || h->kind == AB_ADVICE_SLAB;
}

/* Frees of an arena's blocks go from the code: only who allocates matters there. */
bool ab_heap_form_is_shared(const struct ab_advice_heap *h)
{
    return h->n_threads > 1 || (is_pool_or_slab(h) && !h->is_local);
}

enum ab_advice_threads ab_heap_form_usual(const struct ab_advice_heap *h)
{
    return ab_heap_form_is_shared(h) ? AB_ADVICE_LOCAL : AB_ADVICE_ONE_THREAD;
}

size_t ab_advice_forms(const struct ab_advice *a, size_t i, enum ab_advice_threads *out)
{
    const struct ab_advice_heap *h = &a->heaps[i];
    size_t n = 0;
    out[n++] = ab_heap_form_usual(h);
    if (out[0] == AB_ADVICE_ONE_THREAD || h->kind == AB_ADVICE_STACK ||
        h->kind == AB_ADVICE_NESTED || h->is_of_thread_scopes)
        return n;
    if (h->kind == AB_ADVICE_POOL)
        out[n++] = AB_ADVICE_LOCKFREE;
    if (is_pool_or_slab(h)) /* an arena has no such form */
        out[n++] = AB_ADVICE_SHARDED;
    out[n++] = AB_ADVICE_MUTEX;
    return n;
}

/* A stack keeps what it has: a replay resets it where it is empty, a program goes back to a mark long
 * before. What one thread has for itself takes no lock in a replay either. */
void ab_heap_form_name(struct ab_advice_heap *h)
{
    char threads[32] = "";
    enum ab_advice_threads form = h->threads == AB_ADVICE_ONE_THREAD ? AB_ADVICE_LOCAL : h->threads;
    if (h->threads != AB_ADVICE_ONE_THREAD || !h->is_local)
        snprintf(threads, sizeof threads, ":threads=%s", names[form]);
    switch (h->kind) {
    case AB_ADVICE_POOL:
        snprintf(h->backend, sizeof h->backend, "pool:slot=%llu%s",
                 (unsigned long long)h->size_most, threads);
        break;
    case AB_ADVICE_SLAB:
        snprintf(h->backend, sizeof h->backend, "slab%s", threads);
        break;
    case AB_ADVICE_STACK:
        snprintf(h->backend, sizeof h->backend, "arena%s", threads);
        break;
    default:
        snprintf(h->backend, sizeof h->backend, "%sarena:keep=%lluKiB%s",
                 h->kind == AB_ADVICE_DOUBLE ? "2*" : "",
                 (unsigned long long)(h->capacity_bytes >> 10), threads);
    }
}

void ab_advice_take_form(struct ab_advice *a, size_t i, enum ab_advice_threads threads)
{
    a->heaps[i].threads = threads;
    ab_heap_form_name(&a->heaps[i]);
}
