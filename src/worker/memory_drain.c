/* SPDX-License-Identifier: MIT
 *
 * The drain after the last op: frees every block, then reads the footprint at once, after a wait,
 * and after a purge. The harness does nothing else in between.
 */
#include "worker/heap_memory.h"
#include "worker/memory.h"
#include "worker/memory_pass.h"

#include "base/clock.h"

static const uint64_t waits_ns[AB_DRAIN_COUNT - 1] = {0, 100000000, 1000000000, 10000000000};
enum { PURGE = AB_DRAIN_COUNT - 1 };

static bool is_heap(const struct ab_worker *w)
{
    return w->page->request.boundary != AB_BOUNDARY_MALLOC;
}

static void free_block(struct ab_worker *w, uint32_t slot, const struct ab_block_entry *e)
{
    /* frees in the name of the lane that allocated the block */
    const struct ab_lane *lane = &w->lanes[e->lane];
    uintptr_t ref = w->slots[slot].ref;
    if (is_heap(w))
        lane->own_face.free(lane->own_face.heap, ref, e->size);
    else
        ((struct ab_malloc_calls *)lane->face)->free((void *)ref);
}

static void free_all(struct ab_worker *w, struct ab_memory_pass *m)
{
    /* only the slots of the tape: blocks of the aged heap stay */
    for (uint32_t slot = 0; slot < w->image->n_slots; slot++)
        if (m->book.entries[slot].is_live) {
            free_block(w, slot, &m->book.entries[slot]);
            ab_book_drop(&m->book, slot);
        }
}

/* Frees all blocks. A heap that cannot free single blocks is emptied by its reset, if it has one.
 * Returns false if it can neither free nor reset. */
static bool empty(struct ab_worker *w, struct ab_memory_pass *m)
{
    const struct ab_backend *b = m->introspect.backend;
    bool keeps = is_heap(w) && (b->free == NULL || (b->traits & AB_TRAIT_NO_FREE) != 0);
    if (keeps && b->reset == NULL)
        return false;
    free_all(w, m);
    for (uint32_t i = 0; keeps && i < w->image->n_lanes; i++) {
        if (i == 0 || b->thread_enter != NULL) /* without thread_enter, the lanes share one heap */
            b->reset(w->lanes[i].own_face.heap);
    }
    return true;
}

/* Notes the bytes that each heap holds after all blocks are freed: drain reading number `when`. */
static void heap_memory_drained(struct ab_memory_pass *m, unsigned when)
{
    uint64_t footprints[AB_PLACEMENT_HEAPS_MAX];
    if (m->n_heaps == 0 || (m->report->flags & (AB_MEMORY_MOVES | AB_MEMORY_NO_PAGES)) != 0 ||
        !ab_heap_pages_count(&m->heap_pages, footprints))
        return;
    for (uint32_t h = 0; h < m->n_heaps; h++)
        m->report->heaps_drained_bytes[h][when] = footprints[h];
}

static void drain(struct ab_worker *w, struct ab_memory_pass *m)
{
    struct ab_memory_report *r = m->report;
    m->book.pages = NULL; /* the ledger is no longer kept, because no phase is running */
    if (!empty(w, m)) {
        r->flags |= AB_MEMORY_KEEPS;
        return;
    }
    const bool is_virtual = m->time.clock != NULL;
    uint64_t begun = is_virtual ? m->time.now_ns : ab_clock_now_ns();
    for (unsigned i = 0; i < AB_DRAIN_COUNT - 1 && waits_ns[i] <= r->drain_ns; i++) {
        if (is_virtual)
            ab_memory_time_wait(m, begun + waits_ns[i]);
        else if (waits_ns[i] > 0)
            ab_clock_sleep_until(begun + waits_ns[i]);
        r->drained_bytes[i] = ab_memory_footprint_exact(m);
        heap_memory_drained(m, i);
    }
    if (!ab_introspect_purge(&m->introspect))
        return;
    r->drained_bytes[PURGE] = ab_memory_footprint_exact(m);
    heap_memory_drained(m, PURGE);
}

void ab_memory_drain(struct ab_worker *w)
{
    if (w->memory == NULL || w->memory->report->is_scout)
        return;
    drain(w, w->memory);
}
