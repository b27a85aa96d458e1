/* SPDX-License-Identifier: MIT
 *
 * A trace of a spool that was left: by `record --no-convert`, or because `record` was killed before
 * it could convert. The spool is read only; whoever has the trace may remove it.
 */
#include "cli/record/spool_traces.h"
#include "cli/trace/cmd_trace.h"
#include "core/text.h"
#include "report/output.h"

#include <string.h>

static enum ab_status check_ended(const struct ab_spool_traces *t, struct ab_err *err)
{
    for (size_t i = 0; i < t->n_images; i++)
        if (ab_spool_is_written(t->folder, &t->images[i]))
            return ab_fail(err, AB_INPUT, "process %u (%s) is still being recorded; end it first",
                           t->images[i].image.pid, AB_SHOWN(600, t->images[i].image.program));
    return t->n_images > 0 ? AB_OK
                           : ab_fail(err, AB_INPUT,
                                     "not a spool of this version of allocbench: "
                                     "contains no recorded process");
}

static enum ab_status recover(struct ab_spool_traces *t, const char *output, struct ab_err *err)
{
    struct ab_output out = {0};
    enum ab_status status = check_ended(t, err);
    if (status != AB_OK)
        return ab_err_context(err, "%s: ", AB_SHOWN(512, t->folder));
    struct ab_trace_place place;
    const char *program = t->main != NULL ? t->main->image.program : "";
    status = ab_trace_place_find(output, program[0] != 0 ? program : "trace", "abt", &place, err);
    t->path = place.path;
    t->has_folder = place.is_in_folder;
    if (status == AB_OK && (status = ab_output_open(t->path, &out, err)) == AB_OK)
        status = ab_spool_traces_write(t, &out, err);
    ab_output_abandon(&out);
    return status;
}

enum ab_status ab_trace_cmd_recover(const struct ab_options *o, int *exit_code, struct ab_err *err)
{
    char folder[4096], part[4096 + 16];
    struct ab_spool_traces t = {
        .folder = ab_spool_folder(o->args[1], folder, sizeof folder),
        .is_quiet = o->is_quiet,
        .is_partial = o->is_partial,
    };
    (void)exit_code;
    t.part = ab_spool_part(t.folder, part, sizeof part);
    if (o->output == NULL || strcmp(o->output, "-") == 0)
        return ab_fail(err, AB_USAGE, "trace recover needs -o: the file to write the trace to");
    enum ab_status status = ab_spool_traces_open(&t, err);
    if (status == AB_OK)
        status = recover(&t, o->output, err);
    ab_spool_traces_close(&t);
    return status;
}
