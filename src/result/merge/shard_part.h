/* SPDX-License-Identifier: MIT
 *
 * Divides the rounds of a measurement among shards. Back ends are compared within a round, in which
 * they run one after the other on one machine. So a shard runs whole rounds if there are enough.
 * Shard i of n runs the rounds i - 1, i - 1 + n, … With more shards than rounds, the back ends of
 * each round are divided among several shards. Ratios then exist only between back ends that ran in
 * the same shard.
 */
#ifndef AB_RESULT_MERGE_SHARD_PART_H
#define AB_RESULT_MERGE_SHARD_PART_H

#include "result/result.h"

enum { AB_SHARDS_MAX = 10000 };

/* Returns AB_USAGE if there are more shards than rounds times back ends. */
enum ab_status ab_shard_check(struct ab_run_shard shard, uint32_t rounds, uint32_t n_backends,
                              struct ab_err *err);

/* Return the number of rounds that the shard runs, wholly or in part, and the index of the k-th of
 * them, ascending. */
uint32_t ab_shard_n_rounds(struct ab_run_shard shard, uint32_t rounds);
uint32_t ab_shard_round(struct ab_run_shard shard, uint32_t rounds, uint32_t k);
bool ab_shard_has_round(struct ab_run_shard shard, uint32_t rounds, uint32_t round);
/* True if the shard runs this back end in its rounds. */
bool ab_shard_has_backend(struct ab_run_shard shard, uint32_t rounds, uint32_t backend);

/* True if there are more shards than rounds, so that rounds are divided. */
bool ab_shard_is_divided(struct ab_run_shard shard, uint32_t rounds);
/* Returns the index of a round in the merged result. If rounds are divided, the parts of all rounds
 * are counted one after the other. */
uint32_t ab_shard_merged_round(struct ab_run_shard shard, uint32_t rounds, uint32_t round);

#endif
