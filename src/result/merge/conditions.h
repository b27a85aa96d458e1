/* SPDX-License-Identifier: MIT
 *
 * Is it the same work under the same conditions? Numbers of two different set-ups in one result
 * would be worse than none, so what goes on with a result or joins several asks here first.
 */
#ifndef AB_RESULT_MERGE_CONDITIONS_H
#define AB_RESULT_MERGE_CONDITIONS_H

#include "core/text.h"
#include "result/result.h"

/* A list of what differs: "the seed is 1, was 5; …". Zero-initialise but for `word`; ends with
 * ab_text_fini(&text). */
struct ab_differences {
    struct ab_text text; /* n == 0: nothing differs */
    const char *word;    /* between the two values: "was", "there" */
};

/* Notes it when the two differ; NULL and "" are "unknown". UINT64_MAX is an unknown number. */
void ab_differences_add(struct ab_differences *d, const char *what, const char *now,
                        const char *was);
void ab_differences_add_number(struct ab_differences *d, const char *what, uint64_t now,
                               uint64_t was);

/* Tool, work, settings, seed, rounds, tape, phases, lanes, and which back ends there are: all but the
 * machine. */
void ab_conditions_compare(struct ab_differences *d, const struct ab_session *now,
                           const struct ab_session *was);

/* Version, file (where asked for) and build id of a back end that has numbers in both. */
void ab_conditions_compare_build(struct ab_differences *d, const struct ab_backend_info *now,
                                 const struct ab_backend_info *was, bool with_path);

#endif
