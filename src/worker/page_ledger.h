/* SPDX-License-Identifier: MIT
 *
 * Contents of the resident pages, as in page_walk.h, but updated with each block that is allocated
 * or freed. So they can be read a thousand times in a phase, for the price of a system call each.
 *
 * A page that was seen resident stays so as long as a live block is on it, because no allocator may
 * give away what a program wrote. So page tables are read only for pages that came under a block
 * since the last reading. After a page fault of this process that the program's own writes do not
 * explain, they are read for pages without writes as well. If that would be too expensive (much
 * memory requested and not written), the caller learns that the contents are not known here.
 * Wherever the walk over all blocks is taken, it verifies the ledger (memory.c).
 */
#ifndef AB_WORKER_PAGE_LEDGER_H
#define AB_WORKER_PAGE_LEDGER_H

#include "base/bits.h"
#include "worker/residency.h"

#include <stdbool.h>
#include <stdint.h>

struct ab_page_split { /* bytes, as in struct ab_page_tally */
    uint64_t live, internal, external, untouched, baseline;
};

enum {
    AB_LEDGER_WORDS = AB_RESIDENCY_PAGES_MAX / 64,
    AB_LEDGER_STRETCH_LOG2 = 21,
    AB_LEDGER_RECENT = 64
};

/* Pages of an aligned stretch of 2 MiB. A page with a live block has one of the first three bits,
 * any other page none of them. */
struct ab_ledger_stretch {
    /* sums over the blocks that do not cover the whole stretch: requested bytes + 2^32 × usable
     * bytes */
    uint64_t loads[AB_RESIDENCY_PAGES_MAX];
    uint64_t pending[AB_LEDGER_WORDS]; /* pages with a block, not seen resident */
    uint64_t resident[AB_LEDGER_WORDS];
    uint64_t before[AB_LEDGER_WORDS];   /* resident, and in the baseline */
    uint64_t absent[AB_LEDGER_WORDS];   /* seen absent in `epoch`, with or without a block */
    uint64_t present[AB_LEDGER_WORDS];  /* resident in `era` when its last block was freed */
    uint64_t presumed[AB_LEDGER_WORDS]; /* subset of `resident`: assumed, because `present` */
    uint64_t epoch, era, number;
    struct ab_ledger_stretch *next; /* next stretch with pages to look at */
    uint32_t whole_requested,
        whole;         /* blocks that cover the whole stretch; of these, with requested bytes */
    uint32_t n_loaded; /* pages with a nonzero load */
    uint32_t is_listed;
    uint64_t unused[2]; /* rounds the size, so that a group of them is whole pages */
};
#define AB_LEDGER_LOAD(requested, usable) ((requested) + ((uint64_t)(usable) << 32))
#define AB_LEDGER_USABLE(load) ((uint32_t)((load) >> 32))
#define AB_LEDGER_REQUESTED(load) ((uint32_t)(load))

struct ab_ledger_block {
    uint64_t at, size, usable; /* usable 0 = no block */
};

struct ab_page_ledger {
    const struct ab_residency *residency;
    const struct ab_page_runs *baseline;
    uint64_t page_bytes, page_log2;
    uint32_t *root, *leaves; /* stretch number -> index in the pool + 1 */
    /* all stretches; never shrinks, because a heap returns to its addresses */
    struct ab_ledger_stretch *pool;
    uint32_t n_leaves, n_stretches; /* number in use */
    /* the part of each that is written and so resident */
    uint32_t n_leaves_written, n_stretches_written;
    uint32_t cap_stretches;
    /* stretches used recently, indexed by the low bits of their numbers */
    struct ab_ledger_stretch *recent[AB_LEDGER_RECENT];
    struct ab_ledger_stretch *listed; /* list of the stretches with pages to look at */
    uint64_t requested, usable;       /* sums over all blocks; usable >= requested */
    struct {
        uint64_t requested, usable;
    } pending, before; /* parts of these on pages not seen resident, and on pages of the baseline */
    uint64_t n_pages;  /* resident pages with a live block, not in the baseline */
    uint64_t n_grown;  /* the ledger's own pages written since it was opened */
    int64_t credit;    /* budget for looking at pages, in pages */
    uint64_t n_moves;  /* large blocks moved by a resize, perhaps with their pages */
    /* page faults expected from the program's writes: pages seen absent and then written */
    uint64_t n_known;
    /* changes when other pages may have become resident: page faults of the process that are not
     * known, and moves */
    uint64_t epoch;
    uint64_t era; /* changes when a page may have been given back */
    uint64_t resident_bytes, known_before, n_faults; /* values at the last reading */
    /* The block freed last, which is still on its pages. Most programs and allocators put the next
     * block of its size there, and then nearly nothing changes. */
    struct ab_ledger_block gone;
    bool is_resizing; /* True while a resized block overlaps itself. */
    bool is_lost; /* True after too many stretches, impossible sizes, or unreadable page tables. */
};

/* Maps the ledger, and writes the part that a heap of so many live bytes needs; more is written
 * when needed. All of it is shared memory, so it is in no footprint. Returns false if there is no
 * memory for it. */
bool ab_page_ledger_open(struct ab_page_ledger *l, const struct ab_residency *residency,
                         const struct ab_page_runs *baseline, uint64_t live_peak_bytes);

static inline struct ab_ledger_stretch *ab_page_ledger_recent(struct ab_page_ledger *l,
                                                              uintptr_t at)
{
    return l->recent[at >> AB_LEDGER_STRETCH_LOG2 & (AB_LEDGER_RECENT - 1)];
}

static inline uint32_t ab_page_ledger_index(const struct ab_page_ledger *l, uintptr_t at)
{
    return (uint32_t)(at >> l->page_log2) &
           ((UINT32_C(1) << (AB_LEDGER_STRETCH_LOG2 - l->page_log2)) - 1);
}

/* Returns the load of a block's only page, if the page was seen resident and its stretch was used
 * recently; else NULL. By far most calls end here. */
static inline uint64_t *ab_page_ledger_load(struct ab_page_ledger *l, uintptr_t at, uint64_t usable)
{
    struct ab_ledger_stretch *s = ab_page_ledger_recent(l, at);
    uint32_t i = ab_page_ledger_index(l, at);
    if (AB_UNLIKELY(at >> AB_LEDGER_STRETCH_LOG2 != s->number ||
                    (at & (l->page_bytes - 1)) + usable > l->page_bytes || usable > l->page_bytes))
        return NULL;
    return AB_LIKELY((s->resident[i >> 6] >> (i & 63) & 1) != 0) ? &s->loads[i] : NULL;
}

void ab_page_ledger_put_slow(struct ab_page_ledger *l, uintptr_t at, uint64_t size,
                             uint64_t usable);
void ab_page_ledger_drop_slow(struct ab_page_ledger *l, uintptr_t at, uint64_t size,
                              uint64_t usable);

/* Adds a block; it must be dropped with the same numbers. A usable less than size counts as
 * size. */
static inline void ab_page_ledger_put(struct ab_page_ledger *l, uintptr_t at, uint64_t size,
                                      uint64_t usable)
{
    usable = usable > size ? usable : size;
    uint64_t *load = ab_page_ledger_load(l, at, usable);
    if (AB_UNLIKELY(load == NULL || *load == 0 ||
                    AB_LEDGER_USABLE(*load) + usable > l->page_bytes)) {
        ab_page_ledger_put_slow(l, at, size, usable);
        return;
    }
    l->requested += size;
    l->usable += usable;
    *load += AB_LEDGER_LOAD(size, usable);
}

static inline void ab_page_ledger_drop(struct ab_page_ledger *l, uintptr_t at, uint64_t size,
                                       uint64_t usable)
{
    usable = usable > size ? usable : size;
    uint64_t *load = ab_page_ledger_load(l, at, usable);
    if (AB_UNLIKELY(load == NULL || AB_LEDGER_USABLE(*load) <= usable)) {
        ab_page_ledger_drop_slow(l, at, size, usable);
        return;
    }
    l->requested -= size;
    l->usable -= usable;
    *load -= AB_LEDGER_LOAD(size, usable);
}

void ab_page_ledger_touch_slow(struct ab_page_ledger *l, uintptr_t first, uintptr_t last);

/* Notes that the program wrote to every page of [first, last], all of live blocks. */
static inline void ab_page_ledger_touch(struct ab_page_ledger *l, uintptr_t first, uintptr_t last)
{
    const struct ab_ledger_stretch *s = ab_page_ledger_recent(l, first);
    uint32_t i = ab_page_ledger_index(l, first);
    uint64_t more = (last >> l->page_log2) - (first >> l->page_log2); /* pages */
    if (first >> AB_LEDGER_STRETCH_LOG2 != s->number ||
        last >> AB_LEDGER_STRETCH_LOG2 != s->number || (i & 63) + more > 63 ||
        (s->pending[i >> 6] & UINT64_MAX >> (63 - more) << (i & 63)) != 0)
        ab_page_ledger_touch_slow(l, first, last);
}

/* Reads the contents of the pages now. n_ops is the number of ops since the last reading,
 * resident_bytes the exact private memory of the process (UINT64_MAX = not known). Returns false if
 * looking would be too expensive (never with `must`), or if the ledger is lost. */
bool ab_page_ledger_read(struct ab_page_ledger *l, uint64_t n_ops, uint64_t resident_bytes,
                         bool must, struct ab_page_split *out);

#endif
