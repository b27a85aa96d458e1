/* SPDX-License-Identifier: MIT
 *
 * Measures a workload, from its file to the exit code.
 */
#include "app/run_workload.h"

#include "app/measure_tape.h"
#include "app/one_file.h"
#include "app/owners.h"
#include "app/resume_result.h"
#include "core/alloc.h"
#include "core/text.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

struct settings { /* settings of the subject as texts; ends with NULL */
    const char **list;
    char bursts[64];
};

/* Lists the values of the params and the division into bursts. Bursts are listed because a
 * different division makes different work. */
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
    AB_FIT(s->bursts, AB_TAPE_MEM_SETTING "%llu, %u bursts", (unsigned long long)tape->tape_memory,
           tape->n_bursts);
    s->list[n] = s->bursts;
}

/* The n combinations of values of a workload; n is 1 if each param has a single value. */
struct combinations {
    struct ab_workload **workloads;
    struct ab_laid_down *tapes;
    struct ab_subject *subjects;
    struct ab_owner_list *owners;
    struct ab_workload_options options;
    struct settings settings; /* common to all combinations */
    uint32_t n;
};

/* Raises the limit of open files, because each combination keeps its tape open. */
static void allow_files(uint32_t n)
{
    struct rlimit limit;
    enum { OTHERS = 128 };
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= n + (rlim_t)OTHERS)
        return;
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
}

static enum ab_status make_one(const struct ab_measure_request *asked, const char *path, uint32_t i,
                               struct combinations *c, struct ab_err *err)
{
    struct ab_workload **workload = &c->workloads[i];
    struct ab_laid_down *tape = &c->tapes[i];
    if (i > 0)
        AB_TRY(ab_combine_workload(&asked->talk, &c->options, c->workloads[0], i, workload, err));
    AB_TRY(ab_lay_down_workload(&asked->talk, &asked->settings, path, *workload, tape, err));
    c->subjects[i] = (struct ab_subject){
        .kind = AB_SESSION_WORKLOAD,
        .name = ab_workload_name(*workload),
        .about = ab_workload_about(*workload),
        .path = path,
        .text = ab_workload_text(*workload),
        .values = ab_workload_values(*workload),
        .seed = ab_workload_seed(*workload),
        .tape = &tape->tape,
        .map = &tape->map,
        .workload = *workload,
    };
    if (ab_owners_are_wanted(asked, *workload)) {
        AB_TRY(ab_owners_of_sets(&tape->tape, *workload, &c->owners[i], err));
        AB_TRY(ab_owners_find_moments(&asked->passes, tape->map.image, &c->owners[i], err));
        c->subjects[i].owners = &c->owners[i].owners;
    }
    c->subjects[i].backends = ab_workload_backends(*workload, &c->subjects[i].n_backends);
    return AB_OK;
}

static enum ab_status make_all(const struct ab_measure_request *asked, const char *path,
                               struct combinations *c, struct ab_err *err)
{
    struct ab_workload *first = NULL;
    c->options = ab_workload_options_of(&asked->settings, &asked->conditions,
                                        ab_groups_are_wanted(asked));
    AB_TRY(ab_load_workload(&asked->talk, &c->options, path, &first, err));
    size_t n = ab_workload_combinations(first);
    c->n = (uint32_t)n;
    c->workloads = ab_alloc_zeroed(n, sizeof c->workloads[0]);
    c->tapes = ab_alloc_zeroed(n, sizeof c->tapes[0]);
    c->subjects = ab_alloc_zeroed(n, sizeof c->subjects[0]);
    c->owners = ab_alloc_zeroed(n, sizeof c->owners[0]);
    c->workloads[0] = first;
    allow_files(c->n);
    enum ab_status status = AB_OK;
    for (uint32_t i = 0; i < c->n && status == AB_OK; i++)
        status = make_one(asked, path, i, c, err);
    if (status != AB_OK)
        return status;
    uint32_t longest = 0;
    for (uint32_t i = 1; i < c->n; i++)
        longest = c->tapes[i].n_bursts > c->tapes[longest].n_bursts ? i : longest;
    list_settings(ab_workload_settings(first), &c->tapes[longest], &c->settings);
    for (uint32_t i = 0; i < c->n; i++)
        c->subjects[i].settings = c->settings.list;
    return AB_OK;
}

static void release(struct combinations *c)
{
    for (uint32_t i = 0; i < c->n; i++) {
        ab_laid_down_fini(&c->tapes[i]);
        ab_workload_free(c->workloads[i]);
        ab_owners_fini(&c->owners[i]);
    }
    free(c->workloads);
    free(c->tapes);
    free(c->subjects);
    free(c->owners);
    free(c->settings.list);
}

static enum ab_status measure_workload(const struct ab_measure_request *asked,
                                       struct ab_session *resumed, int *exit_code,
                                       struct ab_err *err)
{
    const char *path;
    struct combinations c = {0};
    AB_TRY(ab_one_file(asked->args, asked->n_args, "a workload", "run", &path, err));
    enum ab_status status = make_all(asked, path, &c, err);
    /* A caller that takes the session itself expects a single combination of values. */
    if (status == AB_OK && asked->take != NULL)
        status = ab_one_combination(path, c.workloads[0], err);
    for (uint32_t i = 0; i < c.n; i++)
        c.subjects[i].resumed = resumed;
    if (status == AB_OK)
        status = ab_measure_tape(asked, c.subjects, c.n, exit_code, err);
    release(&c);
    return status;
}

enum ab_status ab_run_workload(const struct ab_measure_request *asked, int *exit_code,
                               struct ab_err *err)
{
    struct ab_resume resume;
    AB_TRY(ab_resume_begin(asked, AB_SESSION_WORKLOAD, &resume, err));
    struct ab_named_outputs named = {0};
    enum ab_status status = AB_OK;
    if (!resume.is_done) {
        ab_named_outputs_make(&resume.asked.outputs, resume.asked.args, resume.asked.n_args,
                              &named);
        resume.asked.outputs = named.wanted;
        status = measure_workload(&resume.asked, resume.is_on ? &resume.stored.session : NULL,
                                  exit_code, err);
    }
    ab_named_outputs_fini(&named);
    ab_resume_end(&resume);
    return status;
}
