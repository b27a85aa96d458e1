/* SPDX-License-Identifier: MIT
 *
 * The two most frequent readings of the memory pass: the resident bytes above the baseline, and the
 * contents of the pages.
 */
#include "worker/memory_pass.h"

#include <string.h>

uint64_t ab_memory_footprint(struct ab_memory_pass *m)
{
    uint64_t bytes;
    if (ab_footprint_read(&m->footprint, &bytes))
        return ab_memory_above(bytes + m->lost_bytes, m->base_bytes);
    m->report->flags |= AB_MEMORY_UNREADABLE;
    return AB_MEMORY_UNKNOWN;
}

uint64_t ab_memory_footprint_exact(struct ab_memory_pass *m)
{
    m->lost_bytes = ab_memory_above(ab_memory_count_lost(m), m->lost_before);
    return ab_memory_footprint(m);
}

struct ab_page_split ab_memory_split(struct ab_memory_pass *m, uint64_t footprint_bytes, bool must)
{
    const uint64_t unknown = AB_MEMORY_UNKNOWN;
    struct ab_page_split split;
    memset(&split, 0xff, sizeof split); /* UNKNOWN */
    if (m->book.pages == NULL)
        return split;
    bool is_exact = m->report->granularity_pages == 0 && footprint_bytes != unknown &&
                    footprint_bytes > m->lost_bytes;
    ab_page_ledger_read(m->book.pages, m->clock - m->split_at,
                        is_exact ? footprint_bytes - m->lost_bytes : UINT64_MAX, must, &split);
    m->split_at = m->clock;
    if (m->book.pages->is_lost) {
        m->report->flags |= AB_MEMORY_NO_LEDGER;
        m->book.pages = NULL;
    }
    return split;
}
