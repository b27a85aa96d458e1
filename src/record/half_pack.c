/* SPDX-License-Identifier: MIT */
#include "record/half_pack.h"

enum { SIZE_AT = 4, REGION_AT = 20, ADDRESS_AT = 21, STAMP_AT = 48, ESCAPE = 15, ESCAPED_WORDS = 4 };

#define ADDRESS_MASK UINT64_C(0x7ffffff)
#define REACH (UINT64_C(1) << 29) /* what its 27 bits hold, by 8 */

/* What the next event is told against. Both sides keep it the same way. */
struct before {
    uint64_t addresses[2]; /* of two regions; `last` says whose was the event before */
    unsigned last;
    uint64_t stamp;
};

static inline bool is_near(uint64_t address, uint64_t other)
{
    return address - other + REACH < 2 * REACH;
}

/* Its region: the last one's when it is near that, else the other, which it takes over. */
static inline unsigned region_of(const struct before *before, uint64_t address)
{
    return before->last ^ !is_near(address, before->addresses[before->last]);
}

static inline void keep(struct before *before, unsigned region, const struct ab_spool_event *e)
{
    before->addresses[region] = e->address;
    before->last = region;
    before->stamp = AB_SPOOL_STAMP(e);
}

size_t ab_half_pack(const struct ab_spool_event *events, size_t n, uint64_t *words, size_t cap)
{
    struct before before = {0};
    size_t used = 0;
    for (size_t i = 0; i < n; i++) {
        const struct ab_spool_event e = events[i];
        unsigned region = region_of(&before, e.address);
        uint64_t moved = e.address - before.addresses[region];
        uint64_t ticks = AB_SPOOL_STAMP(&e) - before.stamp;
        if (cap - used < ESCAPED_WORDS)
            return 0;
        bool is_wide = ((moved & 7) | (moved + REACH) >> 30 | e.size >> 16 | ticks >> 16) != 0;
        if (__builtin_expect(is_wide || (e.stamp_kind & 15) == ESCAPE, 0)) {
            words[used++] = ESCAPE;
            words[used++] = e.stamp_kind;
            words[used++] = e.address;
            words[used++] = e.size;
        } else {
            words[used++] = (e.stamp_kind & 15) | e.size << SIZE_AT |
                            (uint64_t)region << REGION_AT |
                            (moved >> 3 & ADDRESS_MASK) << ADDRESS_AT | ticks << STAMP_AT;
        }
        keep(&before, region, &e);
    }
    return used;
}

static struct ab_spool_event unpack_word(uint64_t word, const struct before *before)
{
    uint64_t moved = (uint64_t)((int64_t)(word << (64 - STAMP_AT)) >> (64 - 27)) << 3;
    return (struct ab_spool_event){
        .stamp_kind = (before->stamp + (word >> STAMP_AT)) << 4 | (word & 15),
        .address = before->addresses[word >> REGION_AT & 1] + moved,
        .size = word >> SIZE_AT & 0xffff,
    };
}

bool ab_half_unpack(const uint64_t *words, size_t n_words, struct ab_spool_event *events, size_t n)
{
    struct before before = {0};
    size_t used = 0;
    for (size_t i = 0; i < n; i++) {
        if (used == n_words)
            return false;
        uint64_t word = words[used++];
        if ((word & 15) != ESCAPE) {
            events[i] = unpack_word(word, &before);
            keep(&before, word >> REGION_AT & 1, &events[i]);
            continue;
        }
        if (n_words - used < ESCAPED_WORDS - 1)
            return false;
        events[i] = (struct ab_spool_event){words[used], words[used + 1], words[used + 2]};
        keep(&before, region_of(&before, events[i].address), &events[i]);
        used += ESCAPED_WORDS - 1;
    }
    return used == n_words;
}
