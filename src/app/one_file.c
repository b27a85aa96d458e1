/* SPDX-License-Identifier: MIT
 *
 * Takes the argument of commands with one file, and loads a workload with --set and --seed.
 */
#include "app/one_file.h"

#include "app/gate_set.h"
#include "app/say.h"
#include "base/bits.h"
#include "core/text.h"
#include "runner/estimate.h"
#include "workload/diag.h"

#include <stdlib.h>
#include <string.h>

enum ab_status ab_one_file(const char *const *args, size_t n_args, const char *what,
                           const char *command, const char **out, struct ab_err *err)
{
    if (n_args == 0)
        return ab_fail(err, AB_USAGE, "%s needs %s; see allocbench %s --help", command, what,
                       command);
    if (n_args > 1)
        return ab_fail(err, AB_USAGE, "%s takes one file; unexpected '%s'", command,
                       AB_SHOWN(256, args[1]));
    *out = args[0];
    return AB_OK;
}

static enum ab_status load(const struct ab_talk *talk, const char *path,
                           const struct ab_workload_options *options, struct ab_workload **out,
                           struct ab_err *err)
{
    char *messages = NULL;
    enum ab_status status = ab_workload_load(path, options, out, &messages, err);
    if (messages != NULL)
        ab_complain(talk, messages); /* all errors with their positions */
    free(messages);
    return status;
}

struct ab_workload_options ab_workload_options_of(const struct ab_settings_wanted *settings,
                                                  const struct ab_run_conditions *conditions,
                                                  bool wants_groups)
{
    return (struct ab_workload_options){
        .sets = settings->sets,
        .has_seed = settings->has_seed,
        .seed = settings->seed,
        .has_window = conditions != NULL && conditions->has_window,
        .wants_groups = wants_groups,
        .window = conditions != NULL ? conditions->window : 0,
        .inspect = ab_gate_set_inspect,
    };
}

enum ab_status ab_load_workload(const struct ab_talk *talk,
                                const struct ab_workload_options *options, const char *path,
                                struct ab_workload **out, struct ab_err *err)
{
    return load(talk, path, options, out, err);
}

enum ab_status ab_combine_workload(const struct ab_talk *talk,
                                   const struct ab_workload_options *options,
                                   const struct ab_workload *first, size_t combination,
                                   struct ab_workload **out, struct ab_err *err)
{
    struct ab_workload_options other = *options;
    other.of = first;
    other.combination = combination;
    enum ab_status status = load(talk, NULL, &other, out, err);
    if (status == AB_CONFIG)
        ab_fail(err, status, "found with combination %zu of %zu of the values", combination + 1,
                ab_workload_combinations(first));
    return status;
}

enum ab_status ab_one_combination(const char *path, const struct ab_workload *w, struct ab_err *err)
{
    const char *const *lists = ab_workload_settings(w);
    while (*lists != NULL && strchr(*lists, ',') == NULL)
        lists++;
    if (ab_workload_combinations(w) == 1)
        return AB_OK;
    return ab_fail(
        err, AB_USAGE,
        "%s: a param has a list of values (%s), here one is needed: choose it with --set",
        AB_SHOWN(512, path), *lists != NULL ? AB_SHOWN(300, *lists) : "");
}

static void show_ops(void *user, uint64_t n_ops)
{
    ab_say_count(user, "making the tape", "ops", n_ops, 0);
}

/* Reports the further errors of a workload whose tape cannot be made: those that can be found
 * without the tape. */
static void say_rest(const struct ab_talk *talk, const struct ab_workload *workload)
{
    struct ab_diag diag = {.source = ab_workload_source(workload)};
    ab_gate_set_inspect(NULL, workload, &diag);
    char *messages = diag.n_errors > 0 ? ab_diag_render(&diag) : NULL;
    if (messages != NULL)
        ab_complain(talk, messages);
    free(messages);
    ab_diag_fini(&diag);
}

/* Compiles the workload to one tape, or to bursts if `bursts` is not NULL. */
static enum ab_status compile(const struct ab_talk *talk, const char *path,
                              struct ab_workload *workload, struct ab_workload_bursts *bursts,
                              struct ab_tape *out, struct ab_err *err)
{
    struct ab_talk watching = *talk;
    if (talk->listener != NULL)
        ab_workload_watch(workload, show_ops, &watching);
    ab_say_prepare(talk, path);
    enum ab_status status = bursts != NULL ? ab_workload_compile_bursts(workload, bursts, out, err)
                                           : ab_workload_compile(workload, out, err);
    if (status == AB_CONFIG && ab_workload_values(workload)[0] != 0) {
        ab_complain(talk, err->text);
        ab_fail(err, status, "found with %s", ab_workload_values(workload));
    }
    ab_workload_watch(workload, NULL, NULL);
    ab_say_prepare(talk, NULL);
    if (status == AB_CONFIG)
        say_rest(talk, workload);
    return status;
}

enum ab_status ab_compile_workload(const struct ab_talk *talk, const char *path,
                                   struct ab_workload *workload, struct ab_tape *out,
                                   struct ab_err *err)
{
    return compile(talk, path, workload, NULL, out, err);
}

uint64_t ab_tape_memory(const struct ab_settings_wanted *settings)
{
    double share = (double)ab_available_memory() * settings->tape_mem_share;
    return settings->tape_mem_bytes != 0 ? settings->tape_mem_bytes : (uint64_t)share;
}

static enum ab_status add_burst(void *user, const struct ab_tape *burst, bool is_only,
                                struct ab_err *err)
{
    struct ab_tape_file *file = user;
    if (!file->file.is_open)
        AB_TRY(ab_tape_file_begin(is_only, file, err));
    return ab_tape_file_add(file, burst, err);
}

enum ab_status ab_lay_down_workload(const struct ab_talk *talk,
                                    const struct ab_settings_wanted *settings, const char *path,
                                    struct ab_workload *workload, struct ab_laid_down *out,
                                    struct ab_err *err)
{
    struct ab_tape_file file = {0};
    struct ab_laid_down made = {.tape_memory = ab_tape_memory(settings)};
    /* Rounds the number, so that a little more or less available memory gives the same bursts. */
    if (settings->tape_mem_bytes == 0)
        made.tape_memory = UINT64_C(1) << ab_log2(made.tape_memory);
    uint64_t share = made.tape_memory / ab_workload_combinations(workload);
    struct ab_workload_bursts bursts = {.most_bytes = share > AB_TAPE_MEM_LEAST ? share
                                                                                : AB_TAPE_MEM_LEAST,
                                        .take = add_burst,
                                        .user = &file};
    enum ab_status status = compile(talk, path, workload, &bursts, &made.tape, err);
    made.n_bursts = bursts.n;
    if (status == AB_OK)
        status = ab_tape_file_end(&file, &made.tape, &made.map, err);
    ab_tape_file_abandon(&file);
    if (status == AB_OK)
        *out = made;
    else
        ab_tape_fini(&made.tape);
    return status;
}

void ab_laid_down_fini(struct ab_laid_down *tape)
{
    ab_tape_map_close(&tape->map);
    ab_tape_fini(&tape->tape);
}

enum ab_status ab_spare_inputs(const struct ab_inputs *inputs, const struct ab_output *out,
                               const char *path, struct ab_err *err)
{
    AB_TRY(ab_output_spare(out, path, inputs->others, AB_ARRAY_LEN(inputs->others), err));
    for (size_t i = 0; i < inputs->n_rules; i++) {
        const char *file = inputs->rules[i] + 1;
        if (file[-1] == '@')
            AB_TRY(ab_output_spare(out, path, &file, 1, err));
    }
    return ab_output_spare(out, path, inputs->files, inputs->n, err);
}
