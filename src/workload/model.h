/* SPDX-License-Identifier: MIT
 *
 * The tables of a set of kind `model`, as `trace model` writes them: the kinds of blocks that a
 * program has, their lifetimes, and the order of their allocation in each part of the run.
 *
 * blocks: a row for each kind, numbered from 1.
 *   size,align,zeroed,lane,freed_by,resizes,last_size,grown,ends,life,from,to
 *
 * align 0 = as malloc does; zeroed 0 or 1; lanes from 0. The block is resized `resizes` times, by
 * equal factors, up to last_size, evenly over the first `grown` percent of its life. `ends` says
 * when the block is freed: never; calls = after `life` calls of all lanes together; fifo, lifo and
 * random = `life` parts later, between `from` and `to` percent of that part, in the order of
 * allocation, in reverse order, or at random times.
 *
 * sequence: for each part an automaton whose rows are drawn without replacement.
 *   part,state,block,next,count
 *
 * In a state of a part, a row that still has a count left is drawn, weighted by the rest of its
 * count. A block of that kind is allocated, and the state becomes `next`. If the state has nothing
 * left, the next state that has something follows. Rows are sorted by part, then by state. A part
 * begins in state 0.
 */
#ifndef AB_WORKLOAD_MODEL_H
#define AB_WORKLOAD_MODEL_H

#include "core/status.h"
#include "trace/model_tables.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ab_model_block {
    uint64_t size, align, is_zeroed, lane, freed_by, resizes, last_size, grown, ends, life;
    uint64_t from, to;
};

struct ab_model_row {
    uint32_t part, state, block, next, count; /* `block`: index in `blocks`, from 0 */
};

enum { AB_MODEL_PARTS_MAX = 4096, AB_MODEL_ROWS_MAX = 1 << 22 };

struct ab_model {
    struct ab_model_block *blocks;
    struct ab_model_row *rows;
    size_t n_blocks, n_rows, cap_blocks, cap_rows;
    uint32_t n_parts, n_lanes;
    uint64_t part_calls;
};

/* Reads one of the two tables from `text`, which is modified: the blocks, or the sequence if
 * is_sequence. The blocks must be read first. Returns NULL, or an error message whose line number
 * is in *line. */
const char *ab_model_read(struct ab_model *t, bool is_sequence, char *text, unsigned *line);
void ab_model_fini(struct ab_model *t);

#endif
