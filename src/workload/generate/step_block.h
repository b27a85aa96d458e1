/* SPDX-License-Identifier: MIT
 *
 * Ops on one block: in a slot of the pool, or at a position of a set. Each pushes an op or counts as
 * idle; the set follows.
 */
#ifndef AB_WORKLOAD_GENERATE_STEP_BLOCK_H
#define AB_WORKLOAD_GENERATE_STEP_BLOCK_H

#include "workload/generate/generator.h"

enum ab_status ab_block_push_failed(struct ab_generator *g);

enum ab_status ab_block_no_op(struct ab_generator *g);

/* A block in a slot of the pool. */
enum ab_status ab_block_alloc_pooled(struct ab_generator *g, uint32_t *slot);

enum ab_status ab_block_free_pooled(struct ab_generator *g, uint32_t slot);

enum ab_status ab_block_alloc_at(struct ab_generator *g, struct ab_instance *s, uint32_t position);

enum ab_status ab_block_free_at(struct ab_generator *g, struct ab_instance *s, uint32_t position);

enum ab_status ab_block_resize_at(struct ab_generator *g, struct ab_instance *s, uint32_t position);

/* An empty block has no line that could be read. */
enum ab_status ab_block_access_at(struct ab_generator *g, struct ab_instance *s, uint32_t position);

/* A new block takes the position; then the one that was there is freed. */
enum ab_status ab_block_exchange_new(struct ab_generator *g, struct ab_instance *s,
                                     uint32_t position);

/* The blocks at two positions change places; where one is empty, the other's block moves. */
enum ab_status ab_block_exchange_with(struct ab_generator *g, struct ab_instance *s,
                                      uint32_t position);

/* Room for one more block where a set grows. */
enum ab_status ab_block_make_room(struct ab_generator *g, struct ab_instance *s);
/* Errors: all positions of the set are occupied; this one is. */
enum ab_status ab_block_no_room(struct ab_generator *g, uint32_t set, const struct ab_instance *s);
enum ab_status ab_block_occupied(struct ab_generator *g, const char *what, uint32_t set,
                                 uint32_t position);

#endif
