/* SPDX-License-Identifier: MIT
 *
 * From the file of a workload to its measurement.
 */
#include "app/run_workload.h"

#include "app/measure_tape.h"
#include "app/one_file.h"
#include "app/resume_result.h"
#include "tape/tape_file.h"

static enum ab_status measure_workload(const struct ab_options *o, struct ab_session *resumed,
                                       ab_take_session *take, void *user, int *exit_code,
                                       struct ab_err *err)
{
    const char *path;
    struct ab_workload *workload = NULL;
    struct ab_tape tape = {0};
    struct ab_tape_map map = {0};
    AB_TRY(ab_one_file(o, "a workload", "run", &path, err));
    AB_TRY(ab_load_workload(o, path, &workload, err));
    enum ab_status status = ab_compile_workload(o, path, workload, &tape, err);
    if (status == AB_OK)
        status = ab_tape_map_open(&tape, &map, err);
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
            .resumed = resumed,
            .take = take,
            .user = user,
        };
        subject.backends = ab_workload_backends(workload, &subject.n_backends);
        status = ab_measure_tape(o, &subject, exit_code, err);
    }
    ab_tape_map_close(&map);
    ab_tape_fini(&tape);
    ab_workload_free(workload);
    return status;
}

enum ab_status ab_run_workload(const struct ab_options *o, ab_take_session *take, void *user,
                               int *exit_code, struct ab_err *err)
{
    struct ab_resume resume;
    AB_TRY(ab_resume_begin(o, "workload", &resume, err));
    enum ab_status status = AB_OK;
    if (!resume.is_done)
        status = measure_workload(&resume.options, resume.is_on ? &resume.stored.session : NULL,
                                  take, user, exit_code, err);
    ab_resume_end(&resume);
    return status;
}
