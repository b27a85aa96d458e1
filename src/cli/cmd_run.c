/* SPDX-License-Identifier: MIT
 *
 * `run`: makes the tape of a workload and has it measured.
 */
#include "app/measure.h"
#include "app/resume_result.h"
#include "cli/build_limit.h"
#include "cli/commands.h"
#include "cli/one_file.h"
#include "core/text.h"
#include "runner/tape_file.h"
#include "workload/workload.h"

#include <stdlib.h>

static enum ab_status run_workload(const struct ab_options *o, struct ab_resume *resume,
                                   int *exit_code, struct ab_err *err)
{
    const char *path;
    struct ab_workload *workload = NULL;
    struct ab_tape tape = {0};
    struct ab_tape_map map = {0};
    enum ab_status status = ab_one_file(o, "a workload", "run", &path, err);
    if (status != AB_OK || (status = ab_load_workload(o, path, &workload, err)) != AB_OK)
        return status;
    ab_build_limit_begin(o, path);
    if ((status = ab_compile_workload(o, workload, &tape, err)) == AB_OK)
        status = ab_tape_map_open(&tape, &map, err);
    ab_build_limit_end();
    if (status == AB_OK) {
        struct ab_subject subject = {
            .kind = "workload",
            .name = ab_workload_name(workload),
            .about = ab_workload_about(workload),
            .path = path,
            .text = ab_workload_text(workload),
            .settings = ab_workload_params(workload),
            .seed = ab_workload_seed(workload),
            .tape = &tape,
            .map = &map,
            .workload = workload,
            .resumed = resume->is_on ? &resume->stored.session : NULL,
        };
        subject.backends = ab_workload_backends(workload, &subject.n_backends);
        status = ab_measure(o, &subject, exit_code, err);
    }
    ab_tape_map_close(&map);
    ab_tape_fini(&tape);
    ab_workload_free(workload);
    return status;
}

enum ab_status ab_cmd_run(const struct ab_options *o, int *exit_code, struct ab_err *err)
{
    struct ab_resume resume;
    enum ab_status status = ab_resume_begin(o, "workload", &resume, err);
    if (status != AB_OK)
        return status;
    if (!resume.is_done)
        status = run_workload(&resume.options, &resume, exit_code, err);
    ab_resume_end(&resume);
    return status;
}
