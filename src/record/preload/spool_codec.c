/* SPDX-License-Identifier: MIT
 *
 * Packs the events of a full half into words, and unpacks them.
 */
#include "record/preload/spool_codec.h"

enum { TICKS_AT = 4, SIZE_AT = 20, REGION_AT = 36, ADDRESS_AT = 37 };
enum { ESCAPE = 15, ESCAPED_WORDS = 4 };
enum { AT_A_TIME = 32 }; /* number of events that are packed between two checks of the room left */

/* bits of stamp_kind that a packed event stores as a difference: kind and ticks */
#define CHANGED_MASK UINT64_C(0xfffff)
#define REGION (UINT64_C(1) << REGION_AT)
/* distances of addresses from -REACH to REACH fit: 27 bits, in units of 8 */
#define REACH (UINT64_C(1) << 29)

/* State of the previous events, against which the next event is encoded. Packing and unpacking
 * update it in the same way. */
struct before {
    /* here: last address in the current region; there: last address in the other region */
    uint64_t here, there;
    uint64_t region; /* current region: 0 or REGION */
    uint64_t stamp;  /* stamp of the previous event, as in stamp_kind, with kind 0 */
};

static inline void change_region(struct before *before)
{
    uint64_t there = before->there;
    before->there = before->here;
    before->here = there;
    before->region ^= REGION;
}

static inline bool is_far(uint64_t moved)
{
    return moved + REACH >= 2 * REACH;
}

/* Chooses the region for an address: changes to the other region if the address is far from the
 * last one in the current region. */
static inline void find_region(struct before *before, uint64_t address)
{
    if (__builtin_expect(is_far(address - before->here), 0))
        change_region(before);
}

static inline bool is_of_sites(uint64_t kind)
{
    return kind >= AB_SPOOL_SITE && kind <= AB_SPOOL_MODULE;
}

/* True if the event is of a call site and fits its short form. Events that do not fit, which no
 * recorder writes, are stored unpacked. */
static inline bool fits_of_sites(const struct ab_spool_event *e)
{
    if (e->stamp_kind >> 4 != 0 || !is_of_sites(e->stamp_kind))
        return false;
    if (e->stamp_kind == AB_SPOOL_MODULE)
        return e->address >> 60 == 0;
    return e->size >> 60 == 0 && (e->stamp_kind == AB_SPOOL_FRAME || e->address == 0);
}

static uint64_t *pack_of_sites(const struct ab_spool_event *e, uint64_t *words)
{
    uint64_t kind = e->stamp_kind & 15;
    *words++ = kind | (kind == AB_SPOOL_MODULE ? e->address : e->size) << 4;
    if (kind != AB_SPOOL_SITE)
        *words++ = kind == AB_SPOOL_MODULE ? e->size : e->address;
    return words;
}

/* Unpacks an event of a call site. Returns the number of words that the event has; 0 = there are
 * too few words. */
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

/* Packs any event. Returns the end of the packed words. */
static __attribute__((noinline)) uint64_t *pack_any(const struct ab_spool_event *e,
                                                    struct before *before, uint64_t *words)
{
    if (fits_of_sites(e))
        return pack_of_sites(e, words);
    uint64_t changed = e->stamp_kind - before->stamp;
    find_region(before, e->address);
    uint64_t moved = e->address - before->here;
    before->here = e->address;
    before->stamp = e->stamp_kind & ~UINT64_C(15);
    bool is_wide = (moved & 7) != 0 || is_far(moved) || e->size >> 16 != 0 || changed >> 20 != 0;
    if (!is_wide && (e->stamp_kind & 15) < AB_SPOOL_SITE) {
        *words++ = changed | e->size << SIZE_AT | before->region | moved << (ADDRESS_AT - 3);
        return words;
    }
    *words++ = ESCAPE;
    *words++ = e->stamp_kind;
    *words++ = e->address;
    *words++ = e->size;
    return words;
}

/* Packs n events as pack_any does, but handles the usual events faster. Returns the end of the
 * packed words. */
static inline uint64_t *pack_some(const struct ab_spool_event *e, size_t n, struct before *state,
                                  uint64_t *words)
{
    /* a copy whose address is not taken, so that it stays in registers */
    struct before before = *state;
    for (const struct ab_spool_event *end = e + n; e < end; e++) {
        uint64_t stamp_kind = e->stamp_kind, address = e->address, size = e->size;
        uint64_t changed = stamp_kind - before.stamp, moved = address - before.here;
        bool is_usual = (stamp_kind & 8) == 0 && !is_far(moved) &&
                        ((changed >> TICKS_AT | size) >> 16 | (moved & 7)) == 0;
        if (__builtin_expect(is_usual, 1)) {
            *words++ = changed | size << SIZE_AT | before.region | moved << (ADDRESS_AT - 3);
            before.here = address;
            before.stamp = stamp_kind & ~UINT64_C(15);
        } else if (stamp_kind == AB_SPOOL_SITE && (size >> 60 | address) == 0) {
            *words++ = AB_SPOOL_SITE | size << 4;
        } else {
            *state = before;
            words = pack_any(e, state, words);
            before = *state;
        }
    }
    *state = before;
    return words;
}

size_t ab_half_pack(const struct ab_spool_event *events, size_t n, uint64_t *words, size_t cap)
{
    struct before before = {0};
    uint64_t *end = words;
    while (n > 0) {
        size_t n_now = n < AT_A_TIME ? n : AT_A_TIME;
        if (cap - (size_t)(end - words) < n_now * ESCAPED_WORDS)
            return 0;
        end = pack_some(events, n_now, &before, end);
        events += n_now;
        n -= n_now;
    }
    return (size_t)(end - words);
}

static struct ab_spool_event unpack_word(uint64_t word, const struct before *before)
{
    uint64_t moved = (uint64_t)((int64_t)word >> ADDRESS_AT) << 3;
    return (struct ab_spool_event){
        .stamp_kind = before->stamp + (word & CHANGED_MASK),
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
            if ((word & REGION) != before.region)
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
        before.stamp = events[i].stamp_kind & ~UINT64_C(15);
    }
    return used == n_words;
}
