/* SPDX-License-Identifier: MIT
 *
 * Which rounds, and of them which back ends, a shard runs. What is compared are the back ends of one
 * round, on one machine one after the other: a shard has whole rounds as long as there are enough of
 * them, shard i of n the rounds i - 1, i - 1 + n, … With more shards than rounds each round is
 * divided among some shards, back end by back end; its ratios are then between those that ran
 * together.
 */
#ifndef AB_RESULT_MERGE_SHARD_H
#define AB_RESULT_MERGE_SHARD_H

#include "result/result.h"

enum { AB_SHARDS_MAX = 10000 };

/* AB_USAGE when there are more shards than rounds times back ends. */
enum ab_status ab_shard_check(struct ab_run_shard shard, uint32_t rounds, uint32_t n_backends,
                              struct ab_err *err);

/* How many rounds of `rounds` it runs, wholly or in part, and the index of the k-th, ascending. */
uint32_t ab_shard_n_rounds(struct ab_run_shard shard, uint32_t rounds);
uint32_t ab_shard_round(struct ab_run_shard shard, uint32_t rounds, uint32_t k);
bool ab_shard_has_round(struct ab_run_shard shard, uint32_t rounds, uint32_t round);
/* Does it run this back end in its rounds? */
bool ab_shard_has_backend(struct ab_run_shard shard, uint32_t rounds, uint32_t backend);

/* Are there so many shards that rounds are divided? */
bool ab_shard_is_divided(struct ab_run_shard shard, uint32_t rounds);
/* The index in the merged result: that of the round, or, where rounds are divided, of this part of
 * it, the parts of all rounds counted one after the other. */
uint32_t ab_shard_merged_round(struct ab_run_shard shard, uint32_t rounds, uint32_t round);

#endif
