/* SPDX-License-Identifier: MIT
 *
 * Joins stored results that each have some rounds of one measurement, judges and stores the result.
 */
#ifndef AB_APP_MERGE_RESULTS_H
#define AB_APP_MERGE_RESULTS_H

#include "app/one_file.h"

struct ab_merge_results_request {
    struct ab_talk talk;
    struct ab_command_line command;
    struct ab_inputs inputs; /* the results to join, at least one */
    bool is_partial;         /* True to accept missing rounds */
    struct ab_verdicts_wanted verdicts;
    struct ab_store_wanted store;
    const char *output; /* a file, "-" or a folder; NULL = the folder of `store` */
    /* Shows the joined result, which was written to the file `place`; "-" = standard output. */
    void (*show)(void *user, const struct ab_session *session, const char *place);
    void *user;
};

/* Joins the results, judges, writes the result, has it shown, and sets *exit_code. A failed back
 * end outweighs a gate, as in `run`. */
enum ab_status ab_merge_results(const struct ab_merge_results_request *r, int *exit_code,
                                struct ab_err *err);

#endif
