/* SPDX-License-Identifier: MIT
 *
 * Joins results that each have some rounds of one measurement, as shards have. Every record is kept
 * unchanged, in the order of the rounds. A round stays whole and belongs to the machine that ran
 * it. With several machines, the session lists the machines, and each round names its own.
 */
#ifndef AB_RESULT_MERGE_H
#define AB_RESULT_MERGE_H

#include "core/text.h"
#include "result/result.h"

struct ab_merge_part {
    /* the merge takes the session's lists of records and leaves it without */
    struct ab_session *session;
    const char *file; /* file name, for messages and for the list of parts */
    char sha256[65];  /* digest of the file; "" = not known */
};

/* Joins parts[0..n), n >= 1, into *out. *out borrows strings, phases, settings and CPUs from the
 * first part, so the parts must outlive it. out->backends is malloc'ed; ab_session_fini does not
 * free it.
 *
 * Returns AB_USAGE if the work, the conditions or the libraries differ, if two parts have the same
 * round, or if a round is missing. With `is_partial`, missing rounds are allowed and
 * out->is_complete is false. On failure the parts are unchanged. */
enum ab_status ab_merge(const struct ab_merge_part *parts, uint32_t n, bool is_partial,
                        struct ab_session *out, struct ab_err *err);

/* Comparison of conditions. A result with numbers of two different set-ups would be worse than
 * none, so resuming and merging first compare the conditions. */

/* A list of differences as text: "the seed is 1, was 5; …". Zero-initialize all but `word`; free
 * with ab_text_fini(&text). */
struct ab_differences {
    struct ab_text text; /* n == 0: nothing differs */
    const char *word;    /* word between the two values: "was", "there" */
};

/* Adds `what` to the list if its values differ. NULL and "" are written as "unknown". */
void ab_differences_add(struct ab_differences *d, const char *what, const char *now,
                        const char *was);

/* Lists the differences in everything except the machine: tool, work, settings, seed, rounds, tape,
 * phases, lanes, and the set of back ends. */
void ab_conditions_compare(struct ab_differences *d, const struct ab_session *now,
                           const struct ab_session *was);

/* Lists the differences of a back end that has numbers in both sessions: version, build id and, if
 * with_path, file. */
void ab_conditions_compare_build(struct ab_differences *d, const struct ab_backend_info *now,
                                 const struct ab_backend_info *was, bool with_path);

#endif
