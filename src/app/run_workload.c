/* SPDX-License-Identifier: MIT
 *
 * From the file of a workload to its measurement.
 */
#include "app/run_workload.h"

#include "app/measure_tape.h"
#include "app/one_file.h"
#include "app/resume_result.h"
#include "core/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct settings { /* of the subject, as texts; ends with NULL */
    const char **list;
    char bursts[64];
};

/* The values of its params, and how the tape is cut: another cut is other work. */
static void list_settings(const char *const *params, const struct ab_laid_down *tape,
                          struct settings *s)
{
    size_t n = 0;
    while (params[n] != NULL)
        n++;
    s->list = ab_alloc_zeroed(n + 2, sizeof s->list[0]);
    memcpy(s->list, params, n * sizeof s->list[0]);
    if (tape->n_bursts == 1)
        return;
    snprintf(s->bursts, sizeof s->bursts, AB_TAPE_MEM_SETTING "%llu, %u bursts",
             (unsigned long long)tape->most_bytes, tape->n_bursts);
    s->list[n] = s->bursts;
}

static enum ab_status measure_workload(const struct ab_options *o, struct ab_session *resumed,
                                       ab_take_session *take, void *user, int *exit_code,
                                       struct ab_err *err)
{
    const char *path;
    struct ab_workload *workload = NULL;
    struct ab_laid_down tape = {0};
    struct settings settings = {0};
    AB_TRY(ab_one_file(o, "a workload", "run", &path, err));
    AB_TRY(ab_load_workload(o, path, &workload, err));
    enum ab_status status = ab_lay_down_workload(o, path, workload, &tape, err);
    if (status == AB_OK) {
        list_settings(ab_workload_params(workload), &tape, &settings);
        struct ab_subject subject = {
            .kind = "workload",
            .name = ab_workload_name(workload),
            .about = ab_workload_about(workload),
            .path = path,
            .text = ab_workload_text(workload),
            .settings = settings.list,
            .seed = ab_workload_seed(workload),
            .tape = &tape.tape,
            .map = &tape.map,
            .workload = workload,
            .resumed = resumed,
            .take = take,
            .user = user,
        };
        subject.backends = ab_workload_backends(workload, &subject.n_backends);
        status = ab_measure_tape(o, &subject, exit_code, err);
    }
    free(settings.list);
    ab_laid_down_fini(&tape);
    ab_workload_free(workload);
    return status;
}

enum ab_status ab_run_workload(const struct ab_options *o, ab_take_session *take, void *user,
                               int *exit_code, struct ab_err *err)
{
    struct ab_resume resume;
    AB_TRY(ab_resume_begin(o, "workload", &resume, err));
    struct ab_named_outputs named = {.options = *o};
    enum ab_status status = AB_OK;
    if (!resume.is_done) {
        ab_named_outputs_make(&resume.options, &named);
        status = measure_workload(&named.options, resume.is_on ? &resume.stored.session : NULL,
                                  take, user, exit_code, err);
    }
    ab_named_outputs_fini(&named);
    ab_resume_end(&resume);
    return status;
}
