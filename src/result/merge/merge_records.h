/* SPDX-License-Identifier: MIT
 *
 * A merge while it is made, and the joining of its records; for merge.c.
 */
#ifndef AB_RESULT_MERGE_RECORDS_H
#define AB_RESULT_MERGE_RECORDS_H

#include "result/merge/merge.h"

#define AB_MERGE_NOBODY UINT32_MAX

struct ab_merge {
    const struct ab_merge_part *parts;
    uint32_t n;
    uint32_t n_rounds;  /* of the whole */
    uint32_t *owner;    /* n_rounds: which part has this round; AB_MERGE_NOBODY = none */
    uint32_t *host_map; /* hosts of all parts, one after the other, to those of *out */
    uint32_t *host_of;  /* n: where those of a part begin there */
    struct ab_session *out;
    struct ab_err *err;
};

/* The index in the whole of a part's round. */
uint32_t ab_merge_round(const struct ab_session *part, uint32_t round);

/* An out session that is a copy of a part's lets go of its lists. */
void ab_merge_begin_lists(struct ab_session *out);
/* Rounds and records of all parts into *out, by copy; both own what the records own until one of the
 * following two is called. */
void ab_merge_records(const struct ab_merge *m);
void ab_merge_take(const struct ab_merge *m);    /* the parts let go */
void ab_merge_abandon(const struct ab_merge *m); /* *out lets go */

#endif
