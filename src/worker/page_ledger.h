/* SPDX-License-Identifier: MIT
 *
 * What the resident pages hold, as page_walk.h has it, but kept up with each block that comes and
 * goes, so that it is known at a thousand places of a phase for the price of a system call each.
 *
 * A page that was seen resident stays so as long as a live block is on it: no allocator may give
 * away what a program wrote. So page tables are asked only for pages that came under a block since
 * they were last looked at, and, after a page fault of this process that the program's own writes do
 * not explain, for those that had not been written to. Where that would be too dear (much memory
 * that is asked for and not written), the caller learns that it is not known here. The walk over all
 * blocks proves the ledger wherever it is taken (memory.c).
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

/* 2 MiB. A page with a live block has one of the three bits, any other none. */
struct ab_ledger_stretch {
    /* Of blocks that do not cover it whole: requested bytes, and 2^32 times all bytes. */
    uint64_t loads[AB_RESIDENCY_PAGES_MAX];
    uint64_t pending[AB_LEDGER_WORDS]; /* not seen resident */
    uint64_t resident[AB_LEDGER_WORDS];
    uint64_t before[AB_LEDGER_WORDS];   /* resident, and of the baseline */
    uint64_t absent[AB_LEDGER_WORDS];   /* seen so in `epoch`; whether a block is there or not */
    uint64_t present[AB_LEDGER_WORDS];  /* resident when the last block went, in `era` */
    uint64_t presumed[AB_LEDGER_WORDS]; /* of the resident ones: taken to be, because present */
    uint64_t epoch, era, number;
    struct ab_ledger_stretch *next; /* of those with pages to look at */
    uint32_t whole_requested,
        whole;         /* blocks that cover it whole; of these, with requested bytes */
    uint32_t n_loaded; /* pages with a load of their own */
    uint32_t is_listed;
    uint64_t unused[2]; /* makes a group of them whole pages */
};
#define AB_LEDGER_LOAD(requested, usable) ((requested) + ((uint64_t)(usable) << 32))
#define AB_LEDGER_USABLE(load) ((uint32_t)((load) >> 32))
#define AB_LEDGER_REQUESTED(load) ((uint32_t)(load))

struct ab_ledger_block {
    uint64_t at, size, usable; /* usable 0: none */
};

struct ab_page_ledger {
    const struct ab_residency *residency;
    const struct ab_page_runs *baseline;
    uint64_t page_bytes, page_log2;
    uint32_t *root, *leaves;        /* number of a stretch -> its place in the pool, + 1 */
    struct ab_ledger_stretch *pool; /* never given back: a heap comes back to its addresses */
    uint32_t n_leaves, n_stretches; /* in use */
    uint32_t n_leaves_written, n_stretches_written; /* resident */
    uint32_t cap_stretches;
    struct ab_ledger_stretch *recent[AB_LEDGER_RECENT]; /* found last, by the end of its number */
    struct ab_ledger_stretch *listed;                   /* those with pages to look at, linked */
    uint64_t requested, usable; /* of all blocks; usable is never the less */
    struct {
        uint64_t requested, usable;
    } pending, before; /* of these, on pages not seen resident; on pages of the baseline */
    uint64_t n_pages;  /* with a live block, resident, not of the baseline */
    uint64_t n_grown;  /* pages of its own that it wrote since it was opened */
    int64_t credit;    /* for looking at pages, in pages */
    uint64_t n_moves;  /* of large blocks by a resize, which may bring their pages along */
    uint64_t n_known;  /* pages that were seen absent and then written to by the program: a fault */
    uint64_t epoch;    /* while it stays the same no other page became resident: page faults of the
                          process, less those that are known, and moves */
    uint64_t era;      /* while it stays the same no page was given back */
    uint64_t resident_bytes, known_before, n_faults; /* when it was read last */
    /* Went last, and is still on its pages: most programs and allocators put the next block of its size
     * there, and then nearly nothing changes. */
    struct ab_ledger_block gone;
    bool is_resizing; /* a block lies on itself for a moment */
    bool is_lost;     /* more stretches than it holds, nonsense, or unreadable page tables */
};

/* Maps and writes what a heap of so many live bytes needs; more is there, and written as needed.
 * False when there is no memory for it. All of it is shared: in no footprint. */
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

/* The load of a block's only page, where that was seen resident and its stretch is a recent one: most
 * calls by far end here. Else NULL. */
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

/* A block comes, and goes with the same numbers. usable < size counts as size. */
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

/* The program wrote to every page of [first, last], all of live blocks. */
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

/* The split now, after `n_ops` ops since it was asked last, with so many private bytes resident in
 * the process, exactly (UINT64_MAX = not known). False: not known here, because looking
 * would be too dear (never with `must`) or the ledger is lost. */
bool ab_page_ledger_read(struct ab_page_ledger *l, uint64_t n_ops, uint64_t resident_bytes,
                         bool must, struct ab_page_split *out);

#endif
