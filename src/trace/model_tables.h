/* SPDX-License-Identifier: MIT
 *
 * Words and column heads of the two tables of a workload model. `trace model` writes these tables,
 * and a workload set of kind `model` reads them. workload/model.h explains the columns.
 */
#ifndef AB_TRACE_MODEL_TABLES_H
#define AB_TRACE_MODEL_TABLES_H

#define AB_MODEL_BLOCKS_HEAD \
    "size,align,zeroed,lane,freed_by,resizes,last_size,grown,ends,life,from,to"
#define AB_MODEL_SEQUENCE_HEAD "part,state,block,next,count"

/* When a block is freed: identifier, word in the table. For `fifo` and the ones after it, the block
 * is freed in a later part of the run (workload/model.h). */
#define AB_BLOCK_ENDS(X) \
    X(NEVER, never) X(CALLS, calls) X(FIFO, fifo) X(LIFO, lifo) X(RANDOM, random)

enum ab_block_end {
#define AB_END_OF(id, word) AB_ENDS_##id,
    AB_BLOCK_ENDS(AB_END_OF)
#undef AB_END_OF
};

#define AB_END_WORD(id, word) #word,
/* indexed by enum ab_block_end */
static const char *const ab_block_end_words[] = {AB_BLOCK_ENDS(AB_END_WORD)};
#undef AB_END_WORD

#endif
