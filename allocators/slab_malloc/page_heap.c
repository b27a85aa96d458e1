/* SPDX-License-Identifier: MIT
 *
 * The page heap: spans of units of 64 KiB, for all threads. Free spans are merged with their free
 * neighbours and kept in bins by their length. A request takes the shortest free span that fits;
 * memory that was never used comes last. A span that is not zero holds pages. It gives them back if
 * no request takes it for a while, or if too many spans hold pages.
 *
 * Records of free spans: the first one has n_units and the last one `back`, so that both neighbours
 * find the span. The records between are AB_SPAN_NONE.
 */
#include "allocators/common/pages.h"
#include "allocators/slab_malloc/slab_malloc.h"

#include <time.h>

enum {
    N_BINS = 64, /* the last bin has all spans of N_BINS units or more */
    /* units to commit first in a region; later as many as are committed already */
    FIRST_COMMIT = 16,
    DIRTY_UNITS = 512, /* number of free units that may always hold pages */
};
_Static_assert(AB_RUN_BYTES >> AB_UNIT_LOG2 < N_BINS, "any span of the last bin is long enough");
_Static_assert(AB_REGION_UNITS << AB_SPAN_LOG2 <= 1 << AB_UNIT_LOG2, "records fit their unit");

uint8_t ab_region_map[AB_N_REGIONS];

pthread_mutex_t ab_page_heap_mutex = PTHREAD_MUTEX_INITIALIZER; /* protects all data below */
static struct ab_span *bins[N_BINS];                            /* bin n has spans of n + 1 units */
/* bit n is set if bin n is not empty */
static uint64_t bin_mask;
static struct ab_span *fresh; /* the first unit of the newest region that no span ever used */
/* n_fresh: units from `fresh` to the end of the region. n_commit: how many of these are
 * accessible */
static unsigned n_fresh, n_commit;
/* n_used: units in use. n_dirty: units of free spans that are not zero */
static size_t n_used, n_dirty;
/* units of n_dirty that the system refused to take back: locked pages */
static size_t n_refused;

/* Returns the time from the coarse clock, which costs few instructions and is precise to a few
 * ms. */
uint32_t ab_clock_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
    return (uint32_t)((uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000);
}

/* ---- free spans ---- */

static unsigned bin_of(unsigned n_units)
{
    return n_units < N_BINS ? n_units - 1 : N_BINS - 1;
}

static void enter(struct ab_span *span, unsigned n_units, bool is_zero, uint32_t since_ms)
{
    unsigned bin = bin_of(n_units);
    span[n_units - 1].kind = AB_SPAN_FREE;
    span[n_units - 1].back = (uint16_t)(n_units - 1);
    span->kind = AB_SPAN_FREE;
    span->n_units = (uint16_t)n_units;
    span->back = 0;
    span->is_zero = is_zero;
    span->left = since_ms;
    span->prev = NULL;
    span->next = bins[bin];
    if (span->next != NULL)
        span->next->prev = span;
    bins[bin] = span;
    bin_mask |= UINT64_C(1) << bin;
    n_dirty += is_zero ? 0 : n_units;
}

static void leave(struct ab_span *span)
{
    unsigned bin = bin_of(span->n_units);
    if (span->prev != NULL)
        span->prev->next = span->next;
    else
        bins[bin] = span->next;
    if (span->next != NULL)
        span->next->prev = span->prev;
    if (bins[bin] == NULL)
        bin_mask &= ~(UINT64_C(1) << bin);
    n_dirty -= span->is_zero ? 0 : span->n_units;
    span[span->n_units - 1].kind = AB_SPAN_NONE;
    span->kind = AB_SPAN_NONE;
}

static struct ab_span *take_free(unsigned n_units)
{
    uint64_t mask = bin_mask >> (n_units - 1);
    if (mask == 0)
        return NULL;
    struct ab_span *span = bins[n_units - 1 + (unsigned)__builtin_ctzll(mask)];
    leave(span);
    if (span->n_units > n_units)
        enter(span + n_units, span->n_units - n_units, span->is_zero, span->left);
    return span;
}

/* ---- regions ---- */

/* Reserves a region at a multiple of its size. First tries without an alignment: the system often
 * gives the addresses just below the last mapping, which fit. */
static char *map_region(void)
{
    char *map = ab_pages_reserve(AB_REGION_BYTES, 0);
    if (map == NULL || ((uintptr_t)map & (AB_REGION_BYTES - 1)) == 0)
        return map;
    ab_pages_release(map, AB_REGION_BYTES);
    return ab_pages_reserve(AB_REGION_BYTES, AB_REGION_BYTES);
}

static bool give_access(char *base, unsigned n_units)
{
    return ab_pages_commit(base, (size_t)n_units << AB_UNIT_LOG2) == 0;
}

static bool new_region(void)
{
    char *map = map_region();
    size_t index = (uintptr_t)map >> AB_REGION_LOG2;
    if (map == NULL)
        return false;
    if (index >= AB_N_REGIONS || !give_access(map, FIRST_COMMIT)) {
        ab_pages_release(map, AB_REGION_BYTES);
        return false;
    }
    struct ab_span *records = (struct ab_span *)map;
    records->kind = AB_SPAN_HEADER;
    __atomic_store_n(&ab_region_map[index], 1, __ATOMIC_RELAXED);
    fresh = records + 1;
    n_fresh = AB_REGION_UNITS - 1;
    n_commit = FIRST_COMMIT - 1;
    return true;
}

/* Makes the first n_units of the fresh memory accessible. Returns false if the system refuses. */
static bool commit(unsigned n_units)
{
    if (n_units <= n_commit)
        return true;
    unsigned n_done = AB_REGION_UNITS - n_fresh + n_commit, n = n_units - n_commit;
    n = n < n_done ? n_done : n;
    n = n > n_fresh - n_commit ? n_fresh - n_commit : n;
    if (!give_access(ab_span_base(fresh + n_commit), n))
        return false;
    n_commit += n;
    return true;
}

static struct ab_span *cut_fresh(unsigned n_units)
{
    struct ab_span *span = fresh;
    fresh += n_units;
    n_fresh -= n_units;
    n_commit -= n_units;
    span->is_zero = true;
    return span;
}

static struct ab_span *take_fresh(unsigned n_units)
{
    if (n_fresh < n_units) { /* the rest of the region becomes a free span */
        unsigned n = n_fresh;
        if (n > 0 && commit(n))
            enter(cut_fresh(n), n, true, 0);
        n_fresh = n_commit = 0;
        if (!new_region())
            return NULL;
    }
    return commit(n_units) ? cut_fresh(n_units) : NULL;
}

/* ---- spans in use ---- */

static void set_parts(struct ab_span *span, unsigned n_units)
{
    span->n_units = (uint16_t)n_units;
    for (unsigned i = 1; i < n_units; i++) {
        span[i].kind = AB_SPAN_PART;
        span[i].back = (uint16_t)i;
    }
}

struct ab_span *ab_page_heap_alloc(unsigned n_units, enum ab_span_kind kind)
{
    ab_lock_take(&ab_page_heap_mutex);
    struct ab_span *span = take_free(n_units);
    if (span == NULL)
        span = take_fresh(n_units);
    if (span != NULL) {
        span->kind = (uint8_t)kind;
        span->back = 0;
        set_parts(span, n_units);
        n_used += n_units;
        n_refused = n_refused < n_dirty ? n_refused : n_dirty;
    }
    ab_lock_release(&ab_page_heap_mutex);
    return span;
}

static unsigned index_of(const struct ab_span *span)
{
    return (unsigned)(((uintptr_t)span & (AB_REGION_BYTES - 1)) >> AB_SPAN_LOG2);
}

/* Frees units that were in use, and merges them with their free neighbours. */
static void join(struct ab_span *span, unsigned n_units, uint32_t now_ms)
{
    for (unsigned i = 0; i < n_units; i++)
        span[i].kind = AB_SPAN_NONE;
    struct ab_span *after = span + n_units, *before = span - 1;
    if (index_of(span) + n_units < AB_REGION_UNITS && after->kind == AB_SPAN_FREE) {
        n_units += after->n_units;
        leave(after);
    }
    if (before->kind == AB_SPAN_FREE) {
        before -= before->back;
        n_units += before->n_units;
        leave(before);
        span = before;
    }
    enter(span, n_units, false, now_ms);
}

static void purge(uint32_t now_ms, bool all)
{
    for (unsigned bin = 0; bin < N_BINS; bin++)
        for (struct ab_span *span = bins[bin]; span != NULL; span = span->next) {
            if (span->is_zero || (!all && !ab_clock_is_due(span->left, now_ms)))
                continue;
            /* if the system refuses (locked pages), the next try is after AB_DECAY_MS */
            span->left = now_ms;
            span->is_zero = ab_pages_discard(ab_span_base(span),
                                             (size_t)span->n_units << AB_UNIT_LOG2) == 0;
            n_dirty -= span->is_zero ? span->n_units : 0;
        }
    if (all || n_refused > n_dirty)
        n_refused = n_dirty;
}

static void free_units(struct ab_span *span, unsigned n_units)
{
    uint32_t now_ms = ab_clock_ms();
    n_used -= n_units;
    join(span, n_units, now_ms);
    if (n_dirty > n_refused + DIRTY_UNITS && n_dirty > n_used / 2)
        purge(now_ms, true);
}

void ab_page_heap_free(struct ab_span *span)
{
    ab_lock_take(&ab_page_heap_mutex);
    free_units(span, span->n_units);
    ab_lock_release(&ab_page_heap_mutex);
}

static bool resize(struct ab_span *run, unsigned n_units)
{
    unsigned n_old = run->n_units;
    struct ab_span *after = run + n_old;
    if (n_units < n_old) {
        run->n_units = (uint16_t)n_units;
        free_units(run + n_units, n_old - n_units);
        return true;
    }
    if (index_of(run) + n_old >= AB_REGION_UNITS || after->kind != AB_SPAN_FREE ||
        n_old + after->n_units < n_units)
        return false;
    leave(after);
    unsigned n_rest = n_old + after->n_units - n_units;
    if (n_rest > 0)
        enter(run + n_units, n_rest, after->is_zero, after->left);
    set_parts(run, n_units);
    n_used += n_units - n_old;
    return true;
}

bool ab_page_heap_resize(struct ab_span *run, unsigned n_units)
{
    ab_lock_take(&ab_page_heap_mutex);
    bool is_done = resize(run, n_units);
    ab_lock_release(&ab_page_heap_mutex);
    return is_done;
}

void ab_page_heap_purge(uint32_t now_ms, bool all)
{
    ab_lock_take(&ab_page_heap_mutex);
    purge(now_ms, all);
    ab_lock_release(&ab_page_heap_mutex);
}

void ab_page_heap_count(size_t *used, size_t *dirty)
{
    ab_lock_take(&ab_page_heap_mutex);
    *used = n_used;
    *dirty = n_dirty;
    ab_lock_release(&ab_page_heap_mutex);
}
