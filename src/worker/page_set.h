/* SPDX-License-Identifier: MIT
 *
 * A multiset of page numbers: for each page how many blocks lie on it. Open addressing over memory
 * that the caller mapped; erasing closes the gap, so that the table never fills with ghosts.
 * Eight pages that are neighbours share a cache line of the table: most blocks come in address
 * order.
 */
#ifndef AB_WORKER_PAGE_SET_H
#define AB_WORKER_PAGE_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* An entry is page << 21 | firm << 20 | count; 0 = empty. */
struct ab_page_set {
    uint64_t *entries;
    uint64_t mask;
    uint64_t n, n_firm; /* distinct pages; how many of them are firm */
    bool is_full;       /* a page had to be left out: no number here can be trusted */
};
#define AB_PAGE_SET_NUMBER(entry) ((entry) >> 21)
#define AB_PAGE_SET_IS_FIRM(entry) (((entry) >> 20 & 1) != 0)

/* Entries for at most n pages at once, a power of two. */
uint64_t ab_page_set_capacity(uint64_t n);
void ab_page_set_init(struct ab_page_set *set, void *memory, uint64_t capacity);
/* True when the page was not there. A page once firm stays so while it is in the set. */
bool ab_page_set_add(struct ab_page_set *set, uint64_t page, bool is_firm);
/* True when it is not there any more. */
bool ab_page_set_remove(struct ab_page_set *set, uint64_t page);

#endif
