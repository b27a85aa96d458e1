/* SPDX-License-Identifier: MIT
 *
 * Memory of each heap of a placement. A block's heap is known from its reference, a page's heap
 * from the blocks on the page. Each heap's own statistics are read as well.
 */
#include "worker/heap_memory.h"

#include "worker/memory_pass.h"
#include "worker/page_walk.h"
#include "worker/placed.h"

#include <string.h>

void ab_heap_memory_open(struct ab_worker *w, struct ab_memory_pass *m)
{
    if (w->placement == NULL || m->report->is_scout)
        return;
    size_t bytes = ab_heap_pages_bytes(w->image->facts.live_peak_bytes);
    ab_heap_pages_init(&m->heap_pages,
                       ab_worker_map(w, bytes, "owners of pages in the memory pass"), bytes,
                       &m->residency, &m->baseline);
    m->n_heaps = w->placement->n_heaps;
}

void ab_heap_memory_note(const struct ab_worker *w, struct ab_memory_pass *m, uint32_t slot)
{
    struct ab_block_entry *e = &m->book.entries[slot];
    if (m->n_heaps == 0)
        return;
    e->heap = (uint8_t)(w->slots[slot].ref >> AB_PLACED_SHIFT);
    ab_heap_pages_put(&m->heap_pages, e->at, e->usable > e->size ? e->usable : e->size, e->heap);
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

void ab_heap_memory_read(struct ab_memory_pass *m, struct ab_memory_state *s)
{
    uint64_t footprints[AB_PLACEMENT_HEAPS_MAX];
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

/* ---- owners of pages ----
 *
 * The owners are in a hash table of fixed size, with one entry for each stretch of 2 MiB. */

enum { STRETCHES_LEAST = 1 << 11, STRETCHES_MOST = 1 << 18, SPARE = 8 };
/* addresses from here on are invalid, and so are blocks larger than BLOCK_BYTES_MAX */
#define ADDRESS_TOP (UINT64_C(1) << 56)
#define BLOCK_BYTES_MAX (UINT64_C(1) << 40)

size_t ab_heap_pages_bytes(uint64_t live_peak_bytes)
{
    uint64_t n = STRETCHES_LEAST;
    while (n < STRETCHES_MOST && n < (live_peak_bytes >> AB_STRETCH_LOG2) * SPARE)
        n *= 2;
    return n * sizeof(struct ab_heap_stretch);
}

void ab_heap_pages_init(struct ab_heap_pages *p, void *memory, size_t bytes,
                        const struct ab_residency *residency, const struct ab_page_runs *baseline)
{
    *p = (struct ab_heap_pages){.residency = residency,
                                .baseline = baseline,
                                .table = memory,
                                .recent = memory,
                                .cap = bytes / sizeof(struct ab_heap_stretch)};
}

/* Returns the entry of a stretch, adding it if needed; NULL = the table is full. */
static struct ab_heap_stretch *find(struct ab_heap_pages *p, uint64_t number)
{
    struct ab_heap_stretch *s = p->recent;
    if (s->number != number + 1)
        s = ab_stretch_find(p->table, sizeof *s, p->cap, &p->n_used, number);
    return s != NULL ? p->recent = s : NULL;
}

void ab_heap_pages_put(struct ab_heap_pages *p, uint64_t at, uint64_t bytes, unsigned heap)
{
    const unsigned log2 = AB_STRETCH_LOG2 - p->residency->page_log2;
    const uint64_t mask = (UINT64_C(1) << log2) - 1;
    if (at >= ADDRESS_TOP || bytes > BLOCK_BYTES_MAX)
        p->is_lost = true;
    if (bytes == 0 || p->is_lost)
        return;
    uint64_t last = (at + bytes - 1) >> p->residency->page_log2;
    for (uint64_t page = at >> p->residency->page_log2; page <= last;) {
        struct ab_heap_stretch *s = find(p, page >> log2);
        uint64_t stop = last < (page | mask) ? last : page | mask;
        if (s == NULL) {
            p->is_lost = true;
            return;
        }
        memset(&s->owners[page & mask], (int)heap + 1, stop - page + 1);
        page = stop + 1;
    }
}

/* Returns the owner of the stretch if all its pages with an owner have the same one; 0 = several
 * owners. */
static uint8_t find_only_owner(const struct ab_heap_stretch *s, uint32_t n)
{
    uint8_t only = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (s->owners[i] == 0)
            continue;
        if (only != 0 && s->owners[i] != only)
            return 0;
        only = s->owners[i];
    }
    return only;
}

static bool count_stretch(const struct ab_heap_pages *p, const struct ab_heap_stretch *s,
                          uint64_t bytes[AB_PLACEMENT_HEAPS_MAX])
{
    bool is_there[AB_RESIDENCY_PAGES_MAX];
    const unsigned log2 = AB_STRETCH_LOG2 - p->residency->page_log2;
    const uint32_t n = UINT32_C(1) << log2;
    const uint64_t first = (s->number - 1) << log2;
    const uint8_t only = find_only_owner(s, n);
    if (!ab_residency_read(p->residency, first, n, is_there))
        return false;
    for (uint32_t i = 0; i < n; i++) {
        uint8_t owner = s->owners[i] != 0 ? s->owners[i] : only;
        if (is_there[i] && owner != 0 && !ab_page_runs_have(p->baseline, first + i))
            bytes[owner - 1] += UINT64_C(1) << p->residency->page_log2;
    }
    return true;
}

bool ab_heap_pages_count(struct ab_heap_pages *p, uint64_t bytes[AB_PLACEMENT_HEAPS_MAX])
{
    memset(bytes, 0, AB_PLACEMENT_HEAPS_MAX * sizeof bytes[0]);
    for (uint64_t i = 0; i < p->cap && !p->is_lost; i++)
        if (p->table[i].number != 0 && !count_stretch(p, &p->table[i], bytes))
            p->is_lost = true;
    return !p->is_lost;
}
