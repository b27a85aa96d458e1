/* SPDX-License-Identifier: MIT
 *
 * The owners of pages by stretches of 2 MiB, in a hash table of fixed size.
 */
#include "worker/memory/heap_pages.h"

#include "base/bits.h"
#include "worker/memory/page_walk.h"

#include <string.h>

enum { STRETCHES_LEAST = 1 << 11, STRETCHES_MOST = 1 << 18, SPARE = 8 };
#define ADDRESS_TOP (UINT64_C(1) << 56) /* beyond is nonsense, as are larger blocks than: */
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

/* NULL: the table is full. */
static struct ab_heap_stretch *find(struct ab_heap_pages *p, uint64_t number)
{
    uint64_t i = number * UINT64_C(0x9e3779b97f4a7c15) >> 20 & (p->cap - 1);
    if (p->recent->number == number + 1)
        return p->recent;
    while (p->table[i].number != 0 && p->table[i].number != number + 1)
        i = (i + 1) & (p->cap - 1);
    if (p->table[i].number == 0) {
        if (p->n_used >= p->cap / 4 * 3)
            return NULL;
        p->table[i].number = number + 1;
        p->n_used++;
    }
    return p->recent = &p->table[i];
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

/* Of the pages without an owner: that of all others, 0 = there are several. */
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
                          uint64_t bytes[AB_ROUTE_HEAPS_MAX])
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

bool ab_heap_pages_count(struct ab_heap_pages *p, uint64_t bytes[AB_ROUTE_HEAPS_MAX])
{
    memset(bytes, 0, AB_ROUTE_HEAPS_MAX * sizeof bytes[0]);
    for (uint64_t i = 0; i < p->cap && !p->is_lost; i++)
        if (p->table[i].number != 0 && !count_stretch(p, &p->table[i], bytes))
            p->is_lost = true;
    return !p->is_lost;
}
