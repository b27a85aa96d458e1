/* SPDX-License-Identifier: MIT
 *
 * Shares the memory pass out among the heaps of a placement: blocks by the heap in their references,
 * pages by the blocks on them, and each heap's own figures.
 */
#include "worker/memory/heap_memory.h"

#include "worker/memory/page_walk.h"
#include "worker/target/routed.h"

void ab_heap_memory_open(struct ab_worker *w, struct ab_memory_pass *m)
{
    if (w->route == NULL || m->report->is_scout)
        return;
    size_t bytes = ab_heap_pages_bytes(w->image->facts.live_peak_bytes);
    ab_heap_pages_init(&m->heap_pages,
                       ab_worker_map(w, bytes, "owners of pages in the memory pass"), bytes,
                       &m->residency, &m->baseline);
    m->n_heaps = w->route->n_heaps;
}

void ab_heap_memory_note(const struct ab_worker *w, struct ab_memory_pass *m, uint32_t slot)
{
    struct ab_block_entry *e = &m->book.entries[slot];
    if (m->n_heaps == 0)
        return;
    e->heap = (uint8_t)(w->slots[slot].ref >> AB_ROUTED_SHIFT);
    ab_heap_pages_put(&m->heap_pages, e->at, e->usable > e->size ? e->usable : e->size, e->heap);
}

void ab_heap_memory_opened(struct ab_worker *w, uint32_t index, const struct ab_backend *backend,
                           struct ab_heap *heap)
{
    if (w->memory != NULL)
        w->memory->heaps[index] = (struct ab_opened_heap){backend, heap};
}

static void ask(const struct ab_opened_heap *f, struct ab_heap_reading *s)
{
    struct ab_heap_stats stats = {AB_UNKNOWN, AB_UNKNOWN, AB_UNKNOWN, AB_UNKNOWN, AB_UNKNOWN};
    if (f->backend->stats == NULL || f->backend->stats(f->heap, &stats) != 0)
        return;
    s->allocated_bytes = stats.live_bytes;
    s->mapped_bytes = stats.committed_bytes;
    s->reserved_bytes = stats.reserved_bytes;
    s->metadata_bytes = stats.metadata_bytes;
}

static void walk(struct ab_memory_pass *m, uint32_t heap, struct ab_heap_reading *s)
{
    struct ab_page_tally t;
    m->walk.only = heap + 1;
    ab_page_walk(&m->walk, &m->book, &t);
    m->walk.only = 0;
    if (t.is_overlapping || t.is_unreadable)
        return;
    s->live_bytes = t.live;
    s->internal_bytes = t.internal;
    s->external_bytes = t.external;
}

void ab_heap_memory_look(struct ab_memory_pass *m, struct ab_memory_state *s)
{
    uint64_t footprints[AB_ROUTE_HEAPS_MAX];
    const bool has_pages = (m->report->flags & (AB_MEMORY_MOVES | AB_MEMORY_NO_PAGES)) == 0;
    if (m->n_heaps == 0)
        return;
    bool is_known = has_pages && ab_heap_pages_count(&m->heap_pages, footprints);
    for (uint32_t h = 0; h < m->n_heaps; h++) {
        s->heaps[h].requested_bytes = 0;
        if (is_known)
            s->heaps[h].footprint_bytes = footprints[h];
        if (has_pages)
            walk(m, h, &s->heaps[h]);
        ask(&m->heaps[h], &s->heaps[h]);
    }
    for (uint32_t slot = 0; slot < m->book.n_slots; slot++)
        if (m->book.entries[slot].is_live)
            s->heaps[m->book.entries[slot].heap].requested_bytes += m->book.entries[slot].size;
}

void ab_heap_memory_drained(struct ab_memory_pass *m, unsigned when)
{
    uint64_t footprints[AB_ROUTE_HEAPS_MAX];
    if (m->n_heaps == 0 || (m->report->flags & (AB_MEMORY_MOVES | AB_MEMORY_NO_PAGES)) != 0 ||
        !ab_heap_pages_count(&m->heap_pages, footprints))
        return;
    for (uint32_t h = 0; h < m->n_heaps; h++)
        m->report->heaps_drained_bytes[h][when] = footprints[h];
}
