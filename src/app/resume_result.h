/* SPDX-License-Identifier: MIT
 *
 * --resume: reads the partial result and takes from it what the command line does not say, so that
 * `allocbench run --resume RESULT.json` is the whole command. Whether it is the same work is for
 * runner/session.h.
 */
#ifndef AB_APP_RESUME_RESULT_H
#define AB_APP_RESUME_RESULT_H

#include "app/options.h"
#include "report/read_result.h"

struct ab_resume {
    struct ab_options options; /* completed; borrows from what begin was given, and from `stored` */
    bool is_on;                /* --resume was given */
    bool is_done;              /* … with a complete result: nothing to run */
    struct ab_stored stored;
    const char **lists[4];
    char (*names)[AB_BACKEND_NAME_BYTES + AB_BACKEND_FULL_BYTES]; /* of the back ends in lists[1] */
};

/* Without --resume out->options is *o. `kind` is of the results that the command resumes, "workload"
 * or "trace". Says when there is nothing to do. */
enum ab_status ab_resume_begin(const struct ab_options *o, const char *kind, struct ab_resume *out,
                               struct ab_err *err);
void ab_resume_end(struct ab_resume *resume);

#endif
