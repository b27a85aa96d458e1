/* SPDX-License-Identifier: MIT
 *
 * Packs the events of a full buffer into words, and unpacks them.
 */
#include "record/preload/spool_codec.h"

enum { SIZE_AT = 4, REGION_AT = 20, ADDRESS_AT = 21, STAMP_AT = 48 };
enum { ESCAPE = 15, ESCAPED_WORDS = 4 };

#define ADDRESS_MASK UINT64_C(0x7ffffff)
#define REACH (UINT64_C(1) << 29) /* what its 27 bits hold, by 8 */

/* What the next event is written as a difference from. Both sides keep it the same way. */
struct before {
    uint64_t here, there; /* the addresses before, of this region and of the other */
    uint64_t region;      /* this one: 0 or 1 */
    uint64_t stamp;
};

static inline void change_region(struct before *before)
{
    uint64_t there = before->there;
    before->there = before->here;
    before->here = there;
    before->region ^= 1;
}

/* An address that is far from here belongs to the other region, or makes it its own. */
static inline void find_region(struct before *before, uint64_t address)
{
    if (__builtin_expect(address - before->here + REACH >= 2 * REACH, 0))
        change_region(before);
}

static inline bool is_of_sites(uint64_t kind)
{
    return kind >= AB_SPOOL_SITE && kind <= AB_SPOOL_MODULE;
}

/* What no recorder writes may not fit: it is written as it is. */
static inline bool fits_of_sites(const struct ab_spool_event *e)
{
    if (e->stamp_kind >> 4 != 0 || !is_of_sites(e->stamp_kind))
        return false;
    if (e->stamp_kind == AB_SPOOL_MODULE)
        return e->address >> 60 == 0;
    return e->size >> 60 == 0 && (e->stamp_kind == AB_SPOOL_FRAME || e->address == 0);
}

static size_t pack_of_sites(const struct ab_spool_event *e, uint64_t *words)
{
    uint64_t kind = e->stamp_kind & 15;
    words[0] = kind | (kind == AB_SPOOL_MODULE ? e->address : e->size) << 4;
    words[1] = kind == AB_SPOOL_MODULE ? e->size : e->address;
    return kind == AB_SPOOL_SITE ? 1 : 2;
}

/* How many words it was; 0 = there are not so many. */
static size_t unpack_of_sites(const uint64_t *words, size_t n_words, struct ab_spool_event *e)
{
    uint64_t kind = words[0] & 15, first = words[0] >> 4;
    *e = (struct ab_spool_event){kind, 0, first};
    if (kind == AB_SPOOL_SITE)
        return 1;
    if (n_words < 2)
        return 0;
    *e = kind == AB_SPOOL_MODULE ? (struct ab_spool_event){kind, first, words[1]}
                                 : (struct ab_spool_event){kind, words[1], first};
    return 2;
}

size_t ab_half_pack(const struct ab_spool_event *events, size_t n, uint64_t *words, size_t cap)
{
    struct before before = {0};
    size_t used = 0;
    for (const struct ab_spool_event *e = events; e < events + n; e++) {
        if (cap - used < ESCAPED_WORDS)
            return 0;
        if (fits_of_sites(e)) {
            used += pack_of_sites(e, words + used);
            continue;
        }
        uint64_t ticks = AB_SPOOL_STAMP(e) - before.stamp;
        find_region(&before, e->address);
        uint64_t moved = e->address - before.here;
        before.here = e->address;
        before.stamp = AB_SPOOL_STAMP(e);
        bool is_wide = ((moved & 7) | (moved + REACH) >> 30 | (e->size | ticks) >> 16) != 0;
        if (__builtin_expect(is_wide || (e->stamp_kind & 15) >= AB_SPOOL_SITE, 0)) {
            words[used++] = ESCAPE;
            words[used++] = e->stamp_kind;
            words[used++] = e->address;
            words[used++] = e->size;
        } else {
            words[used++] = (e->stamp_kind & 15) | e->size << SIZE_AT | before.region << REGION_AT |
                            (moved >> 3 & ADDRESS_MASK) << ADDRESS_AT | ticks << STAMP_AT;
        }
    }
    return used;
}

static struct ab_spool_event unpack_word(uint64_t word, const struct before *before)
{
    uint64_t moved = (uint64_t)((int64_t)(word << (64 - STAMP_AT)) >> (64 - 27)) << 3;
    return (struct ab_spool_event){
        .stamp_kind = (before->stamp + (word >> STAMP_AT)) << 4 | (word & 15),
        .address = before->here + moved,
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
        if (is_of_sites(word & 15)) {
            size_t n_of = unpack_of_sites(words + used - 1, n_words - used + 1, &events[i]);
            if (n_of == 0)
                return false;
            used += n_of - 1;
            continue;
        }
        if ((word & 15) != ESCAPE) {
            if ((word >> REGION_AT & 1) != before.region)
                change_region(&before);
            events[i] = unpack_word(word, &before);
        } else {
            if (n_words - used < ESCAPED_WORDS - 1)
                return false;
            events[i] = (struct ab_spool_event){words[used], words[used + 1], words[used + 2]};
            find_region(&before, events[i].address);
            used += ESCAPED_WORDS - 1;
        }
        before.here = events[i].address;
        before.stamp = AB_SPOOL_STAMP(&events[i]);
    }
    return used == n_words;
}
