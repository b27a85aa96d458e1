/* SPDX-License-Identifier: MIT
 *
 * Implements --resume. Reads the partial result and completes the request from it, so that
 * `allocbench run --resume RESULT.json` is the whole command. runner/run_session.h checks that the
 * work is the same.
 */
#ifndef AB_APP_RESUME_RESULT_H
#define AB_APP_RESUME_RESULT_H

#include "app/request.h"
#include "document/read_result.h"

struct ab_resume {
    /* completed request; borrows from the given request and from `stored` */
    struct ab_measure_request asked;
    bool is_on; /* True if --resume was given */
    /* True if the result is complete, so that there is nothing to run */
    bool is_done;
    struct ab_stored stored;
    const char **lists[4];
    char (*names)[AB_BACKEND_NAME_BYTES + AB_BACKEND_FULL_BYTES]; /* names of the back ends in
                                                                     lists[1] */
};

/* Reads the result and completes the request. Without --resume, copies *asked to out->asked. `kind`
 * is the kind of result that the command can resume. Prints a note if there is nothing to do. */
enum ab_status ab_resume_begin(const struct ab_measure_request *asked, enum ab_session_kind kind,
                               struct ab_resume *out, struct ab_err *err);
void ab_resume_end(struct ab_resume *resume);

#endif
