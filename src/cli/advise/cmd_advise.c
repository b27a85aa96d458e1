/* SPDX-License-Identifier: MIT
 *
 * Implements `advise`: writes and prints the advice on a trace.
 */
#include "app/advise/advise_rules.h"
#include "app/advise/advising.h"
#include "app/one_file.h"
#include "base/bits.h"
#include "cli/advise/advise.h"
#include "cli/commands.h"
#include "cli/requests.h"
#include "cli/terminal.h"
#include "cli/trace.h"
#include "core/alloc.h"
#include "core/output.h"
#include "report/table/table.h"

#include <stdlib.h>
#include <string.h>

struct work {
    const struct ab_options *options;
    const char *path;
    /* arguments for the command in the text: the path, and --scope if given */
    struct ab_text arguments;
    struct ab_output rules, code, json; /* outputs, opened before anything is measured */
    struct ab_progress_files files;
    struct ab_advise_request request;
    struct ab_advising result;
};

static bool is_stdout(const char *path)
{
    return path != NULL && strcmp(path, "-") == 0;
}

static enum ab_status open_outputs(struct work *w, struct ab_err *err)
{
    const struct {
        const char *path;
        struct ab_output *file;
    } all[] = {{w->options->output, &w->rules},
               {w->options->code, &w->code},
               {w->options->json, &w->json}};
    const struct ab_inputs inputs = ab_inputs_of(w->options);
    for (size_t i = 0; i < AB_ARRAY_LEN(all); i++) {
        if (all[i].path == NULL)
            continue;
        AB_TRY(ab_output_open(all[i].path, all[i].file, err));
        AB_TRY(ab_spare_inputs(&inputs, all[i].file, all[i].path, err));
        for (size_t k = 0; k < i; k++)
            if (all[k].path != NULL && ab_output_is_same(all[i].file, all[k].file))
                return ab_fail(err, AB_USAGE, "two of -o, --code and --json name the same file");
    }
    return AB_OK;
}

/* Writes the C code of the advised heaps only. */
static enum ab_status write_code(struct work *w, const char *trace, struct ab_err *err)
{
    struct ab_text text = {0};
    ab_code_write(&w->result.advice, w->result.measured.used, trace, &text);
    fputs(text.s, w->code.to);
    ab_text_fini(&text);
    return ab_output_commit(&w->code, err);
}

static bool is_on_stdout(const struct work *w)
{
    const struct ab_options *o = w->options;
    return is_stdout(o->output) || is_stdout(o->code) || is_stdout(o->json);
}

static enum ab_status write_outputs(struct work *w, const struct ab_advise_view *view,
                                    struct ab_err *err)
{
    const struct ab_options *o = w->options;
    static const char *const scopes[] = {
        [AB_SCOPES_NESTED] = " --scope nested", [AB_SCOPES_OUTER] = " --scope outer"};
    ab_text_addf(&w->arguments, "%s%s", w->path,
                 o->scopes_wish != AB_SCOPES_BEST ? scopes[o->scopes_wish] : "");
    if (o->output != NULL) {
        ab_advise_write_rules(w->rules.to, &w->result.advice, w->result.measured.used,
                              w->result.base, w->arguments.s);
        AB_TRY(ab_output_commit(&w->rules, err));
    }
    if (o->code != NULL)
        AB_TRY(write_code(w, view->trace, err));
    if (o->json != NULL) {
        ab_advise_write_json(w->json.to, view);
        AB_TRY(ab_output_commit(&w->json, err));
    }
    if (!is_on_stdout(w) && !o->talk.is_quiet)
        ab_advise_print(stdout, view, ab_terminal_style(o));
    return AB_OK;
}

static enum ab_status advise(struct work *w, struct ab_err *err)
{
    const struct ab_options *o = w->options;
    struct ab_advising *a = &w->result;
    struct ab_format_guard guard;
    AB_TRY(ab_one_file(o->args, o->n_args, "a trace", "advise", &w->path, err));
    if (strcmp(w->path, "-") == 0)
        return ab_fail(
            err, AB_USAGE,
            "advise reads a trace several times, but standard input can be read only once; name a "
            "file");
    AB_TRY(open_outputs(w, err));
    w->request = (struct ab_advise_request){.pass = ab_trace_pass_of(o, w->path, &w->files),
                                            .measure = ab_measure_request_of(o),
                                            .budget_ns = o->budget_ns};
    AB_TRY(ab_advise_trace(&w->request, a, err));
    const struct ab_advise_view view = {.advice = &a->advice,
                                        .measured = &a->measured,
                                        .trace = basename(w->path),
                                        .base = a->base,
                                        .budget_ns = (double)o->budget_ns,
                                        .budget = o->budget_ns != 0 ? &a->budget : NULL,
                                        .nested = &a->nested,
                                        .scopes = &a->scopes,
                                        .pins = &a->pins,
                                        .other = &a->other};
    ab_format_begin(&guard);
    enum ab_status status = write_outputs(w, &view, err);
    ab_format_end(&guard);
    return status;
}

enum ab_status ab_cmd_advise(const struct ab_options *o, int *exit_code, struct ab_err *err)
{
    struct work *w = ab_alloc_zeroed(1, sizeof *w);
    w->options = o;
    enum ab_status status = advise(w, err);
    ab_output_abandon(&w->rules);
    ab_output_abandon(&w->code);
    ab_output_abandon(&w->json);
    ab_text_fini(&w->arguments);
    ab_advising_fini(&w->result);
    free(w);
    *exit_code = 0;
    return status;
}
