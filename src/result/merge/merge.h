/* SPDX-License-Identifier: MIT
 *
 * Joins results that each have some rounds of one measurement, as shards do: every record is kept as
 * it is, in the order of the rounds. A round stays whole and on the machine that ran it; where there
 * were several machines the session lists them, and each round says which one is its own.
 */
#ifndef AB_RESULT_MERGE_H
#define AB_RESULT_MERGE_H

#include "result/result.h"

struct ab_merge_part {
    struct ab_session *session; /* its lists of records are taken out of it */
    const char *file;           /* for messages, and for the list of parts */
    char sha256[65];            /* of the file; "" = not known */
};

/* Joins parts[0..n), n >= 1, into *out, which borrows strings, phases, settings and CPUs of the
 * first: the parts have to outlive it. out->backends is malloc'ed and not freed by ab_session_fini.
 * AB_USAGE when the work, the conditions, or libraries differ, or two have one round; or when a
 * round is in none, unless `is_partial`: then out->is_complete is false. On failure the parts are
 * whole. */
enum ab_status ab_merge(const struct ab_merge_part *parts, uint32_t n, bool is_partial,
                        struct ab_session *out, struct ab_err *err);

#endif
