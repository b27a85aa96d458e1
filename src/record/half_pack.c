/* SPDX-License-Identifier: MIT */
#include "record/half_pack.h"

enum { SIZE_AT = 4, ADDRESS_AT = 20, STAMP_AT = 48, ESCAPE = 15, ESCAPED_WORDS = 4 };

#define ADDRESS_MASK UINT64_C(0xfffffff)

size_t ab_half_pack(const struct ab_spool_event *events, size_t n, uint64_t *words, size_t cap)
{
    struct ab_spool_event before = {0};
    size_t used = 0;
    for (size_t i = 0; i < n; i++) {
        const struct ab_spool_event e = events[i];
        uint64_t moved = e.address - before.address;
        uint64_t ticks = AB_SPOOL_STAMP(&e) - AB_SPOOL_STAMP(&before);
        if (cap - used < ESCAPED_WORDS)
            return 0;
        bool is_wide = ((moved & 7) | (moved + (UINT64_C(1) << 30)) >> 31 | e.size >> 16 |
                        ticks >> 16) != 0;
        if (__builtin_expect(is_wide || (e.stamp_kind & 15) == ESCAPE, 0)) {
            words[used++] = ESCAPE;
            words[used++] = e.stamp_kind;
            words[used++] = e.address;
            words[used++] = e.size;
        } else {
            words[used++] = (e.stamp_kind & 15) | e.size << SIZE_AT |
                            (moved >> 3 & ADDRESS_MASK) << ADDRESS_AT | ticks << STAMP_AT;
        }
        before = e;
    }
    return used;
}

static struct ab_spool_event unpack_word(uint64_t word, const struct ab_spool_event *before)
{
    uint64_t moved = (uint64_t)((int64_t)(word << 16) >> (ADDRESS_AT + 16)) << 3;
    return (struct ab_spool_event){
        .stamp_kind = (AB_SPOOL_STAMP(before) + (word >> STAMP_AT)) << 4 | (word & 15),
        .address = before->address + moved,
        .size = word >> SIZE_AT & 0xffff,
    };
}

bool ab_half_unpack(const uint64_t *words, size_t n_words, struct ab_spool_event *events, size_t n)
{
    struct ab_spool_event before = {0};
    size_t used = 0;
    for (size_t i = 0; i < n; i++) {
        if (used == n_words)
            return false;
        uint64_t word = words[used++];
        if ((word & 15) != ESCAPE) {
            before = unpack_word(word, &before);
        } else {
            if (n_words - used < ESCAPED_WORDS - 1)
                return false;
            before = (struct ab_spool_event){words[used], words[used + 1], words[used + 2]};
            used += ESCAPED_WORDS - 1;
        }
        events[i] = before;
    }
    return used == n_words;
}
