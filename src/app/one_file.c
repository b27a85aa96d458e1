/* SPDX-License-Identifier: MIT
 *
 * The argument of commands that take one file, and loading a workload with --set and --seed.
 */
#include "app/one_file.h"

#include "app/say.h"
#include "base/bits.h"
#include "core/text.h"

#include <stdlib.h>

enum ab_status ab_one_file(const struct ab_options *o, const char *what, const char *command,
                           const char **out, struct ab_err *err)
{
    if (o->n_args == 0)
        return ab_fail(err, AB_USAGE, "%s needs %s; see allocbench %s --help", command, what,
                       command);
    if (o->n_args > 1)
        return ab_fail(err, AB_USAGE, "%s takes one file; unexpected '%s'", command,
                       AB_SHOWN(256, o->args[1]));
    *out = o->args[0];
    return AB_OK;
}

enum ab_status ab_load_workload(const struct ab_options *o, const char *path,
                                struct ab_workload **out, struct ab_err *err)
{
    struct ab_workload_options options = {
        .sets = o->sets,
        .has_seed = o->has_seed,
        .seed = o->seed,
        .has_window = o->has_window,
        .wants_groups = o->n_maps > 0,
        .window = o->window,
    };
    char *messages = NULL;
    enum ab_status status = ab_workload_load(path, &options, out, &messages, err);
    if (messages != NULL)
        ab_complain(o, messages); /* every error with its place, complete as it is */
    free(messages);
    return status;
}

static void show_ops(void *user, uint64_t n_ops)
{
    ab_say_count(user, "making the tape", "ops", n_ops, 0);
}

enum ab_status ab_compile_workload(const struct ab_options *o, const char *path,
                                   struct ab_workload *workload, struct ab_tape *out,
                                   struct ab_err *err)
{
    struct ab_options watching = *o;
    if (o->listener != NULL)
        ab_workload_watch(workload, show_ops, &watching);
    ab_say_prepare(o, path);
    enum ab_status status = ab_workload_compile(workload, out, err);
    ab_workload_watch(workload, NULL, NULL);
    ab_say_prepare(o, NULL);
    return status;
}

enum ab_status ab_spare_inputs(const struct ab_options *o, size_t first,
                               const struct ab_output *out, const char *path, struct ab_err *err)
{
    const char *const named[] = {o->baseline, o->trace, o->stdin_path};
    bool replaces = false;
    for (size_t i = 0; i < AB_ARRAY_LEN(named); i++)
        replaces |= named[i] != NULL && ab_output_replaces(out, named[i]);
    for (size_t i = first; i < o->n_args; i++)
        replaces |= ab_output_replaces(out, o->args[i]);
    for (size_t i = 0; i < o->n_maps; i++)
        replaces |= o->maps[i][0] == '@' && ab_output_replaces(out, o->maps[i] + 1);
    if (replaces)
        return ab_fail(err, AB_USAGE, "'%s' would replace the file that is read",
                       AB_SHOWN(600, path));
    return AB_OK;
}
