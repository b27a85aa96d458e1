/* SPDX-License-Identifier: MIT
 *
 * The digest of a tape: SHA-256 over sums of its parts.
 */
#include "tape/tape_digest.h"

#include <sha2.h>
#include <stdio.h>
#include <string.h>
#include <xxhash.h>

static uint32_t lane_start(const struct ab_tape_builder *b, uint32_t phase, uint32_t lane)
{
    return phase < b->tape.n_phases ? b->starts[(size_t)phase * AB_LANES_MAX + lane]
                                    : (uint32_t)b->lanes[lane].n;
}

/* What is long goes in as its XXH3 of 128 bits: SHA-256 of every op takes longer than all the rest of
 * making a tape. */
static void digest_long(SHA2_CTX *sha, const void *p, size_t bytes)
{
    XXH128_canonical_t sum;
    XXH128_canonicalFromHash(&sum, XXH3_128bits(p, bytes));
    SHA256Update(sha, sum.digest, sizeof sum.digest);
}

static void digest_lanes(SHA2_CTX *sha, const struct ab_tape_builder *b)
{
    SHA256Update(sha, (const uint8_t *)&b->n_lanes, sizeof b->n_lanes);
    for (uint32_t p = 0; p <= b->tape.n_phases; p++)
        for (uint32_t l = 0; l < b->n_lanes; l++) {
            uint32_t start = lane_start(b, p, l);
            SHA256Update(sha, (const uint8_t *)&start, sizeof start);
        }
    digest_long(sha, b->tape.turns, b->tape.n_turns * sizeof b->tape.turns[0]);
}

/* Field by field, so that no padding and no change of a struct moves the digest; before the lanes
 * are laid down, so that the window does not move it either. */
void ab_tape_take_digest(struct ab_tape_builder *b)
{
    struct ab_tape *tape = &b->tape;
    SHA2_CTX sha;
    SHA256Init(&sha);
    uint32_t begin = 0;
    for (uint32_t i = 0; i < tape->n_phases; i++) {
        const struct ab_phase *p = &tape->phases[i];
        uint32_t head[3] = {begin, begin, p->is_measured};
        for (uint32_t l = 0; l < b->n_lanes; l++)
            head[1] += lane_start(b, i + 1, l) - lane_start(b, i, l);
        begin = head[1];
        SHA256Update(&sha, (const uint8_t *)p->name, strlen(p->name) + 1);
        SHA256Update(&sha, (const uint8_t *)head, sizeof head);
    }
    for (uint32_t l = 0; l < b->n_lanes; l++)
        digest_long(&sha, b->lanes[l].ops, b->lanes[l].n * sizeof(uint64_t));
    for (uint32_t i = 0; i < tape->n_wide; i++) {
        const struct ab_wide *w = &tape->wide[i];
        uint64_t fields[5] = {w->size, w->align, w->slot, w->code, w->flags};
        SHA256Update(&sha, (const uint8_t *)fields, sizeof fields);
    }
    if (b->n_lanes > 1)
        digest_lanes(&sha, b);
    SHA256End(&sha, tape->sha256);
}
