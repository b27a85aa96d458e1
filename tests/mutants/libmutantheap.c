/* SPDX-License-Identifier: MIT
 *
 * A heap with handles, marks, resets and statistics; its parameter `mutant` chooses what is wrong
 * with it. A handle is a place in a table and how often that place was used; bytes come from one
 * reservation, cells of a power of two with a list of free ones for each.
 */
#include "allocators/ab_backend.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>

enum { PLACES = 1 << 17, CLASSES = 31 };
#define REGION ((size_t)1 << 34)

struct place {
    char *at;
    size_t size;
    uint64_t born;        /* counts allocations; 0 = free */
    uint32_t times, next; /* how often used; next free place + 1 */
    uint8_t class;
};

struct ab_heap {
    struct place *places;
    char *region, *fresh;
    void *cells[CLASSES];
    uint32_t n_places, vacant;
    uint64_t n_born, live_bytes, n_frees, n_handed_out;
    pthread_mutex_t lock;
    pthread_t owner;
    int mutant;
    uint32_t salt; /* of the heap's handles */
};

static ab_ref make_ref(const struct ab_heap *h, uint32_t i)
{
    uint32_t times = h->mutant == 43 ? h->places[i].times & 0xff : h->places[i].times;
    return (ab_ref)h->salt << 52 | (ab_ref)times << 20 | (i + 1);
}

/* NULL for a handle that is stale, or never was one. */
static struct place *find(struct ab_heap *h, ab_ref ref)
{
    uint64_t i = (ref & 0xfffff) - 1;
    if (i >= h->n_places || h->places[i].born == 0)
        return NULL;
    if (h->mutant == 44)
        return &h->places[i];
    return make_ref(h, (uint32_t)i) == ref ? &h->places[i] : NULL;
}

static int heap_open(const struct ab_open_args *args, struct ab_heap **out)
{
    struct ab_heap *h = mmap(NULL, sizeof *h + PLACES * sizeof(struct place),
                             PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                             -1, 0);
    char *region = mmap(NULL, REGION, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
                        0);
    if (h == MAP_FAILED || region == MAP_FAILED)
        return ENOMEM;
    h->places = (struct place *)(h + 1);
    h->region = region;
    h->fresh = (char *)(((uintptr_t)region + 65535) & ~(uintptr_t)65535);
    h->mutant = (int)args->values[0];
    static uint32_t n_opened;
    h->salt = h->mutant == 90 ? 0 : n_opened++ & 0xfff;
    h->owner = pthread_self();
    pthread_mutex_init(&h->lock, NULL);
    *out = h;
    return 0;
}

static void heap_close(struct ab_heap *h)
{
    munmap(h->region, REGION);
    munmap(h, sizeof *h + PLACES * sizeof(struct place));
}

static char *take_cell(struct ab_heap *h, unsigned class)
{
    size_t bytes = (size_t)1 << class;
    char *cell = h->cells[class];
    if (h->mutant == 49 && h->n_born % 97 == 96 && cell != NULL) {
        struct timespec now; /* which one depends on the time of day */
        clock_gettime(CLOCK_MONOTONIC, &now);
        if ((now.tv_nsec & 64) != 0)
            cell = NULL;
    }
    if (cell != NULL) {
        if (h->mutant == 46)
            sched_yield();
        memcpy(&h->cells[class], cell, sizeof(void *));
        return cell;
    }
    size_t align = bytes < 65536 ? bytes : 65536;
    cell = (char *)(((uintptr_t)h->fresh + align - 1) & ~(align - 1));
    if (bytes > (size_t)(h->region + REGION - cell))
        return NULL;
    uintptr_t begin = (uintptr_t)h->fresh & ~(uintptr_t)4095;
    uintptr_t end = ((uintptr_t)cell + bytes + 4095) & ~(uintptr_t)4095;
    if (mprotect((void *)begin, end - begin, PROT_READ | PROT_WRITE) != 0)
        return NULL;
    h->fresh = cell + bytes;
    return cell;
}

static ab_ref alloc_locked(struct ab_heap *h, size_t align, size_t size)
{
    unsigned class = 4;
    size_t need = size > align ? size : align;
    if (need > (size_t)1 << 30)
        return 0;
    while (((size_t)1 << class) < need)
        class ++;
    uint32_t i = h->vacant != 0 ? h->vacant - 1 : h->n_places;
    char *cell = i < PLACES ? take_cell(h, class) : NULL;
    if (cell == NULL)
        return 0;
    if (h->vacant != 0)
        h->vacant = h->places[i].next;
    else
        h->n_places++;
    struct place *p = &h->places[i];
    *p = (struct place){cell, size, ++h->n_born, p->times + 1, 0, (uint8_t) class};
    h->live_bytes += (size_t)1 << class;
    return make_ref(h, i);
}

static void lock(struct ab_heap *h)
{
    if (h->mutant != 46)
        pthread_mutex_lock(&h->lock);
}

static void unlock(struct ab_heap *h)
{
    if (h->mutant != 46)
        pthread_mutex_unlock(&h->lock);
}

static ab_ref heap_aligned(struct ab_heap *h, size_t align, size_t size)
{
    lock(h);
    ab_ref ref = alloc_locked(h, align, size);
    unlock(h);
    return ref;
}

static ab_ref heap_alloc(struct ab_heap *h, size_t size)
{
    return heap_aligned(h, 16, size);
}

static void drop(struct ab_heap *h, struct place *p)
{
    bool is_lost = h->mutant == 48 && !pthread_equal(pthread_self(), h->owner) &&
                   ++h->n_frees % 10000 == 9999;
    p->born = 0;
    if (is_lost) /* the queue of another thread's frees loses one */
        return;
    h->live_bytes -= (size_t)1 << p->class;
    memcpy(p->at, &h->cells[p->class], sizeof(void *));
    h->cells[p->class] = p->at;
    p->next = h->vacant;
    h->vacant = (uint32_t)(p - h->places) + 1;
}

static void heap_free(struct ab_heap *h, ab_ref ref, size_t size)
{
    (void)size;
    lock(h);
    struct place *p = find(h, ref);
    if (p != NULL)
        drop(h, p);
    else if (h->mutant == 51 && (ref & 0xfffff) != 0 && (ref & 0xfffff) <= h->n_places) {
        p = &h->places[(ref & 0xfffff) - 1];
        memcpy(p->at, &h->cells[p->class], sizeof(void *));
        h->cells[p->class] = p->at;
    }
    unlock(h);
}

static void *heap_resolve(struct ab_heap *h, ab_ref ref)
{
    lock(h);
    struct place *p = find(h, ref);
    void *at = p != NULL ? p->at : NULL;
    unlock(h);
    return h->mutant == 52 && ++h->n_handed_out % 4000 == 3999 ? NULL : at;
}

static size_t heap_usable(struct ab_heap *h, ab_ref ref)
{
    lock(h);
    struct place *p = find(h, ref);
    size_t bytes = p != NULL ? (size_t)1 << p->class : 0;
    unlock(h);
    return bytes;
}

static uint64_t heap_mark(struct ab_heap *h)
{
    return h->n_born;
}

static void heap_release(struct ab_heap *h, uint64_t mark)
{
    lock(h);
    if (h->mutant == 54 && mark > 0)
        mark--; /* takes one that is older along */
    bool leaves_one = (h->mutant == 57 || h->mutant == 58) && mark > 0;
    for (uint32_t i = 0; i < h->n_places; i++) {
        if (h->places[i].born <= mark)
            continue;
        if (!leaves_one)
            drop(h, &h->places[i]);
        leaves_one = false;
    }
    unlock(h);
}

static void heap_reset(struct ab_heap *h)
{
    bool keeps_one = h->mutant == 45 && h->live_bytes > 0;
    heap_release(h, 0);
    if (keeps_one)
        h->live_bytes += 16;
    if (h->mutant == 53) /* from the start again, with the lists of free cells as they are */
        h->fresh = (char *)(((uintptr_t)h->region + 65535) & ~(uintptr_t)65535);
}

static int heap_stats(struct ab_heap *h, struct ab_heap_stats *out)
{
    *out = (struct ab_heap_stats){AB_UNKNOWN, AB_UNKNOWN, h->live_bytes, AB_UNKNOWN, AB_UNKNOWN};
    if (h->mutant == 35)
        out->live_bytes /= 4;
    if (h->mutant == 58)
        out->live_bytes = AB_UNKNOWN;
    return 0;
}

static const struct ab_param params[] = {
    {.name = "mutant", .help = "what is wrong; 0 = nothing", .type = AB_PARAM_COUNT, .max = 99},
};

const struct ab_backend ab_backend_v1 = {
    .abi = AB_BACKEND_ABI,
    .size = sizeof(struct ab_backend),
    .name = "mutantheap",
    .summary = "a heap that is wrong in a way that can be chosen",
    .traits = AB_TRAIT_THREAD_SAFE | AB_TRAIT_REMOTE_FREE | AB_TRAIT_DETECTS_MISUSE |
              AB_TRAIT_REPEATABLE,
    .params = params,
    .n_params = 1,
    .open = heap_open,
    .close = heap_close,
    .alloc = heap_alloc,
    .alloc_aligned = heap_aligned,
    .free = heap_free,
    .usable_size = heap_usable,
    .reset = heap_reset,
    .mark = heap_mark,
    .release = heap_release,
    .resolve = heap_resolve,
    .stats = heap_stats,
};
