/* SPDX-License-Identifier: MIT
 *
 * The tables of a set of kind `model`, as `trace model` writes them: which kinds of blocks a program
 * has, how long they live, and in which order they are allocated in each part of the run.
 *
 * blocks: a row for each kind, numbered from 1.
 *   size,align,zeroed,lane,freed_by,resizes,last_size,grown,ends,life,from,to
 * align 0 = as malloc does; zeroed 0 or 1; lanes from 0. The block is resized `resizes` times, by equal
 * factors to last_size, evenly over the first `grown` percent of its life. `ends`: never; calls = after
 * `life` calls of all lanes; fifo, lifo, random = in the part that comes `life` parts later, from `from`
 * to `to` percent of it: in the order of allocation, in reverse order, or at random positions.
 *
 * sequence: for each part an automaton whose rows are drawn without replacement.
 *   part,state,block,next,count
 * In a state of a part, one of its rows that has something left of its count is drawn, by what is left;
 * a block of that kind is allocated, and the state is `next`. Where nothing is left, it goes on with the
 * next state that has something. Rows are sorted by part, then by state; a part begins in state 0.
 */
#ifndef AB_WORKLOAD_MODEL_H
#define AB_WORKLOAD_MODEL_H

#include "core/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define AB_MODEL_BLOCKS_HEAD \
    "size,align,zeroed,lane,freed_by,resizes,last_size,grown,ends,life,from,to"
#define AB_MODEL_SEQUENCE_HEAD "part,state,block,next,count"

enum ab_block_end {
    AB_ENDS_NEVER,
    AB_ENDS_CALLS,
    AB_ENDS_FIFO, /* from here on in a later part */
    AB_ENDS_LIFO,
    AB_ENDS_RANDOM,
};
extern const char *const ab_block_end_words[]; /* by enum ab_block_end; NULL at the end */

struct ab_model_block {
    uint64_t size, align, is_zeroed, lane, freed_by, resizes, last_size, grown, ends, life;
    uint64_t from, to;
};

struct ab_model_row {
    uint32_t part, state, block, next, count; /* block from 0 */
};

enum { AB_MODEL_PARTS_MAX = 4096, AB_MODEL_ROWS_MAX = 1 << 22 };

struct ab_model {
    struct ab_model_block *blocks;
    struct ab_model_row *rows;
    size_t n_blocks, n_rows, cap_blocks, cap_rows;
    uint32_t n_parts, n_lanes;
    uint64_t part_calls;
};

/* Read a table out of its text, which is changed. NULL, or what is wrong, with its line; the blocks come
 * first. */
const char *ab_model_read(struct ab_model *t, bool is_sequence, char *text, unsigned *line);
void ab_model_fini(struct ab_model *t);

#endif
