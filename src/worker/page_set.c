/* SPDX-License-Identifier: MIT */
#include "worker/page_set.h"

#include "core/bits.h"

static const uint64_t count_mask = (UINT64_C(1) << 20) - 1;
static const uint64_t firm_bit = UINT64_C(1) << 20;

enum { LEAST = 1024 };

uint64_t ab_page_set_capacity(uint64_t n)
{
    uint64_t capacity = LEAST;
    while (capacity < n + n / 2 && capacity < UINT64_C(1) << 40)
        capacity *= 2;
    return capacity;
}

void ab_page_set_init(struct ab_page_set *set, void *memory, uint64_t capacity)
{
    *set = (struct ab_page_set){.entries = memory, .mask = capacity - 1};
}

static uint64_t home(const struct ab_page_set *set, uint64_t page)
{
    uint64_t group = (page >> 3) * UINT64_C(0x9e3779b97f4a7c15);
    return ((group >> 24 << 3) + (page & 7)) & set->mask;
}

/* Where the page is, or the empty place where it would go. */
static uint64_t find(const struct ab_page_set *set, uint64_t page)
{
    uint64_t i = home(set, page);
    while (set->entries[i] != 0 && AB_PAGE_SET_NUMBER(set->entries[i]) != page)
        i = (i + 1) & set->mask;
    return i;
}

bool ab_page_set_add(struct ab_page_set *set, uint64_t page, bool is_firm)
{
    uint64_t i = find(set, page), firm = is_firm ? firm_bit : 0;
    uint64_t *entry = &set->entries[i];
    bool is_new = *entry == 0;
    if ((is_new && set->n + 1 + set->mask / 8 > set->mask) || (*entry & count_mask) == count_mask) {
        set->is_full = true;
        return false;
    }
    if (is_new)
        *entry = page << 21;
    set->n += is_new;
    set->n_firm += is_firm && (*entry & firm_bit) == 0;
    *entry = (*entry | firm) + 1;
    return is_new;
}

/* Moves up what was displaced by the entry at `hole`, so that every page can still be found. */
static void close_gap(struct ab_page_set *set, uint64_t hole)
{
    for (uint64_t i = (hole + 1) & set->mask; set->entries[i] != 0; i = (i + 1) & set->mask) {
        uint64_t wanted = home(set, AB_PAGE_SET_NUMBER(set->entries[i]));
        if (((i - wanted) & set->mask) < ((i - hole) & set->mask))
            continue; /* it would land before its home */
        set->entries[hole] = set->entries[i];
        hole = i;
    }
    set->entries[hole] = 0;
}

bool ab_page_set_remove(struct ab_page_set *set, uint64_t page)
{
    uint64_t i = find(set, page);
    uint64_t *entry = &set->entries[i];
    if (*entry == 0)
        return false; /* left out when it was full */
    if ((--*entry & count_mask) != 0)
        return false;
    set->n--;
    set->n_firm -= (*entry & firm_bit) != 0;
    close_gap(set, i);
    return true;
}
