/* SPDX-License-Identifier: MIT
 *
 * Joins results that each have some rounds of one measurement, as shards do: every record is kept as
 * it is, in the order of the rounds. A round stays whole and on the machine that ran it; where there
 * were several machines the session lists them, and each round says which one is its own.
 */
#ifndef AB_RESULT_MERGE_H
#define AB_RESULT_MERGE_H

#include "core/text.h"
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

/* Is it the same work under the same conditions? Numbers of two different set-ups in one result
 * would be worse than none, so what goes on with a result or joins several asks here first. */

/* A list of what differs: "the seed is 1, was 5; …". Zero-initialise but for `word`; ends with
 * ab_text_fini(&text). */
struct ab_differences {
    struct ab_text text; /* n == 0: nothing differs */
    const char *word;    /* between the two values: "was", "there" */
};

/* Notes it when the two differ; NULL and "" are "unknown". UINT64_MAX is an unknown number. */
void ab_differences_add(struct ab_differences *d, const char *what, const char *now,
                        const char *was);

/* Tool, work, settings, seed, rounds, tape, phases, lanes, and which back ends there are: all but the
 * machine. */
void ab_conditions_compare(struct ab_differences *d, const struct ab_session *now,
                           const struct ab_session *was);

/* Version, file (where asked for) and build id of a back end that has numbers in both. */
void ab_conditions_compare_build(struct ab_differences *d, const struct ab_backend_info *now,
                                 const struct ab_backend_info *was, bool with_path);

#endif
