/* SPDX-License-Identifier: MIT
 *
 * Divides rounds and back ends among shards.
 */
#include "result/merge/shard_part.h"

bool ab_shard_is_divided(struct ab_run_shard shard, uint32_t rounds)
{
    return shard.count > rounds;
}

/* Returns the number of shards that a round is divided among: those whose number, counted from 0,
 * has the remainder `round` when it is divided by the number of rounds. */
static uint32_t parts_of(struct ab_run_shard shard, uint32_t rounds, uint32_t round)
{
    return ab_shard_is_divided(shard, rounds) ? (shard.count - round - 1) / rounds + 1 : 1;
}

enum ab_status ab_shard_check(struct ab_run_shard shard, uint32_t rounds, uint32_t n_backends,
                              struct ab_err *err)
{
    uint64_t most = (uint64_t)rounds * n_backends;
    if (shard.count <= most)
        return AB_OK;
    return ab_fail(err, AB_USAGE,
                   "--shard %u/%u: %u round%s of %u back end%s make at most %llu shard%s",
                   shard.index, shard.count, rounds, rounds == 1 ? "" : "s", n_backends,
                   n_backends == 1 ? "" : "s", (unsigned long long)most, most == 1 ? "" : "s");
}

uint32_t ab_shard_n_rounds(struct ab_run_shard shard, uint32_t rounds)
{
    if (shard.count == 0)
        return rounds;
    return ab_shard_is_divided(shard, rounds) ? 1 : (rounds - shard.index) / shard.count + 1;
}

uint32_t ab_shard_round(struct ab_run_shard shard, uint32_t rounds, uint32_t k)
{
    if (shard.count == 0)
        return k;
    return (shard.index - 1) % rounds + k * shard.count;
}

bool ab_shard_has_round(struct ab_run_shard shard, uint32_t rounds, uint32_t round)
{
    if (round >= rounds || shard.count == 0)
        return round < rounds;
    return ab_shard_is_divided(shard, rounds) ? (shard.index - 1) % rounds == round
                                              : round % shard.count == shard.index - 1;
}

bool ab_shard_has_backend(struct ab_run_shard shard, uint32_t rounds, uint32_t backend)
{
    if (!ab_shard_is_divided(shard, rounds))
        return true;
    uint32_t round = (shard.index - 1) % rounds, part = (shard.index - 1) / rounds;
    return backend % parts_of(shard, rounds, round) == part;
}

uint32_t ab_shard_merged_round(struct ab_run_shard shard, uint32_t rounds, uint32_t round)
{
    uint32_t index = 0;
    if (!ab_shard_is_divided(shard, rounds))
        return round;
    for (uint32_t r = 0; r < round; r++)
        index += parts_of(shard, rounds, r);
    return index + (shard.index - 1) / rounds;
}
