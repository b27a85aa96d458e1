/* SPDX-License-Identifier: MIT
 *
 * The page ledger: contents of the resident pages, as in page_walk.h, but updated with each block
 * that is allocated or freed. So they can be read a thousand times in a phase, each time for the
 * price of a system call.
 *
 * A page that was seen resident stays resident as long as a live block is on it, because no
 * allocator may give away what a program wrote. So page tables are read only for pages on which a
 * first block came since the last reading. After a page fault of this process that the program's
 * own writes do not explain, they are also read for pages that have a block but were not resident.
 * If reading would be too expensive (much memory requested and not written), the caller is told
 * that the contents are not known now.
 *
 * The walk over all blocks (page_walk.h) verifies the ledger wherever it is taken (memory.c).
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

/* Pages of an aligned stretch of 2 MiB, as one bit each. A page with a live block has a bit in
 * `pending`, `resident` or `before`; any other page has none there. */
struct ab_ledger_stretch {
    /* for each page, requested bytes + 2^32 × usable bytes of the blocks on it, without blocks that
     * cover the whole stretch */
    uint64_t loads[AB_RESIDENCY_PAGES_MAX];
    uint64_t pending[AB_LEDGER_WORDS]; /* pages with a live block that were not seen resident */
    uint64_t resident[AB_LEDGER_WORDS];
    /* resident pages with a live block that are in the baseline */
    uint64_t before[AB_LEDGER_WORDS];
    /* pages seen not resident in `epoch`, with or without a block */
    uint64_t absent[AB_LEDGER_WORDS];
    /* pages that were resident in `era` when their last block was freed */
    uint64_t present[AB_LEDGER_WORDS];
    /* pages of `resident` that are only assumed to be, because of `present` */
    uint64_t presumed[AB_LEDGER_WORDS];
    uint64_t epoch, era, number;
    struct ab_ledger_stretch *next; /* next stretch in ab_page_ledger.listed */
    uint32_t whole_requested,
        /* whole: number of blocks that cover the whole stretch; whole_requested: those of them that
         * requested all its bytes */
        whole;
    uint32_t n_loaded; /* pages with a nonzero load */
    uint32_t is_listed;
    uint64_t unused[2]; /* rounds the size, so that a group of stretches fills whole pages */
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
    /* tables of two levels, from the number of a stretch to its index in the pool + 1 */
    uint32_t *root, *leaves;
    /* all stretches; never shrinks, because a heap returns to its addresses */
    struct ab_ledger_stretch *pool;
    uint32_t n_leaves, n_stretches; /* number of leaves and of stretches in use */
    /* number of leaves and of stretches that are written, and so resident */
    uint32_t n_leaves_written, n_stretches_written;
    uint32_t cap_stretches;
    /* the stretches used most recently, indexed by the low bits of their numbers */
    struct ab_ledger_stretch *recent[AB_LEDGER_RECENT];
    struct ab_ledger_stretch *listed; /* list of the stretches with pages to look up */
    uint64_t requested, usable;       /* sums over all blocks; usable >= requested */
    struct {
        uint64_t requested, usable;
        /* parts of these sums on pages not seen resident, and on pages of the baseline */
    } pending, before;
    uint64_t n_pages; /* resident pages with a live block, not in the baseline */
    uint64_t n_grown; /* number of the ledger's own pages that were written since it was opened */
    int64_t credit;   /* budget for looking up pages, in pages */
    /* number of events that may have made pages resident without page faults, such as moves of
     * large blocks */
    uint64_t n_moves;
    /* page faults that the program's writes explain: pages seen absent and then written */
    uint64_t n_known;
    /* changes when pages may have become resident that the program did not write: at page faults
     * that are not explained, and at moves */
    uint64_t epoch;
    uint64_t era; /* changes when a page may have been given back */
    uint64_t resident_bytes, known_before, n_faults; /* values at the last reading */
    /* The block that was freed last, which is still counted on its pages. Most programs and
     * allocators put the next block of its size at the same place, and then nearly nothing
     * changes. */
    struct ab_ledger_block gone;
    bool is_resizing; /* True while a resized block overlaps itself. */
    bool is_lost; /* True after too many stretches, impossible sizes, or unreadable page tables. */
};

/* Maps the ledger, and writes the part that a heap with this peak of live bytes needs; more is
 * written when needed. All of it is shared memory, so it is in no footprint. Returns false if there
 * is no memory for it. */
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

/* Returns the load of a block's page, if the block has only one page, the page was seen resident,
 * and its stretch was used recently. Otherwise returns NULL. By far most calls of the ledger end
 * here. */
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

/* Adds a block; it must be dropped with the same numbers. If usable is less than size, size counts
 * instead. */
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

/* Notes that the program wrote to every page of [first, last]. The whole range must belong to live
 * blocks. */
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

/* Reads the contents of the pages now. n_ops is the number of ops since the last reading;
 * resident_bytes is the exact private memory of the process (UINT64_MAX = not known). Returns false
 * if looking up pages would be too expensive (never with `must`), or if the ledger is lost. */
bool ab_page_ledger_read(struct ab_page_ledger *l, uint64_t n_ops, uint64_t resident_bytes,
                         bool must, struct ab_page_split *out);

#endif
