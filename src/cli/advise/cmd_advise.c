/* SPDX-License-Identifier: MIT
 *
 * Implements `advise`: reads a trace, measures which blocks would gain from another heap, and
 * advises what pays.
 */
#include "advise/code.h"
#include "app/one_file.h"
#include "app/replay.h"
#include "base/bits.h"
#include "base/clock.h"
#include "cli/advise/advise.h"
#include "cli/advise/advise_rules.h"
#include "cli/commands.h"
#include "cli/requests.h"
#include "cli/terminal.h"
#include "cli/trace.h"
#include "core/alloc.h"
#include "core/output.h"
#include "report/table/style.h"
#include "result/session.h"
#include "result/shown.h"
#include "stats/pin_groups.h"
#include "symbols/site_match.h"
#include "trace_tools/scopes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct work {
    const struct ab_options *options;
    struct ab_stage stage; /* the next one */
    const char *path;
    struct ab_text arguments;           /* the path, and --scope if given */
    struct ab_output rules, code, json; /* opened before anything is measured */
    struct ab_advised_pins pins;
    struct ab_scopes scopes;
    struct ab_scopes_of_threads threads; /* further threads with scopes, besides scopes.thread */
    struct ab_advice advice, other; /* other: the rejected variant, with or without nested scopes */
    struct ab_advised measured;
    struct ab_advised_budget budget;
    struct ab_advised_nested nested;
    char base[128];
};

struct naming { /* symbols; opened when the trace's table is complete */
    struct ab_site_names names;
    bool is_open;
};

static struct ab_site_named name_frame(void *user, const struct ab_site_table *table,
                                       const struct ab_site_frame *frame)
{
    struct naming *n = user;
    if (!n->is_open)
        ab_site_names_init(&n->names, table);
    n->is_open = true;
    return ab_site_names_find(&n->names, frame);
}

/* Refuses a budget if the search found scopes of several sizes. A budget does not say which level
 * it is for, so the user must choose. */
static enum ab_status require_scope(const struct work *w, struct ab_err *err)
{
    struct ab_text question = {0};
    enum ab_status status = AB_OK;
    if (w->options->scopes_wish == AB_SCOPES_BEST &&
        ab_scopes_ask(&question, &w->scopes, ab_scopes_median_calls(&w->scopes), 0))
        status = ab_fail(
            err, AB_USAGE,
            "--budget: which scopes is it for? Add --scope nested or --scope outer: the "
            "trace has no marks. %s",
            question.s);
    ab_text_fini(&question);
    return status;
}

static enum ab_status find_scopes(struct work *w, struct ab_err *err)
{
    struct ab_progress_files files;
    struct ab_walk walk = {0};
    const struct ab_trace_pass pass = ab_trace_pass_of(w->options, w->path, &files);
    ab_trace_pass_begin(&pass, &walk);
    enum ab_status status = ab_scopes_find(&walk, w->options->scopes_wish, &w->scopes, err);
    ab_file_progress_end(&pass.progress);
    if (status == AB_OK && w->options->budget_ns != 0)
        status = require_scope(w, err);
    if (status == AB_OK && w->options->scopes_wish == AB_SCOPES_BEST) /* otherwise the user chose */
        status = ab_scopes_part_threads(&walk, &w->scopes, &w->threads, err);
    return status;
}

static enum ab_status take_pins(void *user, const struct ab_session *s, struct ab_err *err)
{
    struct ab_advised_pins *out = user;
    struct ab_pins_of m;
    (void)err;
    if (!ab_session_has_numbers(s, 0) ||
        !ab_pins_find(s, 0, AB_PINS_FIRST_ROUND, ab_pin_moment_names[AB_PIN_WORST], &m))
        return AB_OK;
    out->pins = ab_alloc_zeroed(m.n, sizeof out->pins[0]);
    memcpy(out->pins, m.pins, m.n * sizeof out->pins[0]);
    out->n = m.n;
    out->position = m.pins[0].position;
    out->resident_bytes = m.resident_bytes;
    out->pinned_bytes = m.pinned_bytes;
    return AB_OK;
}

/* Runs a memory pass of the base to find the sites that pin pages at the moment with the most
 * external bytes. *out stays unknown if the base has no numbers. */
static enum ab_status find_pins(const struct ab_options *o, const struct ab_stage *stage,
                                const char *base, struct ab_advised_pins *out, struct ab_err *err)
{
    struct ab_measure_request r = ab_advise_replay(o, stage);
    int exit_code = 0;
    r.backends.names = &base;
    r.backends.n = 1;
    r.passes.topics = AB_TOPIC_PINS;
    r.passes.plan.rounds[AB_PASS_MEMORY] = r.rules.rounds = r.passes.processes = 1;
    r.replay.touch = AB_TOUCH_PAGE;
    r.conditions.drain_ns = 0;
    r.talk.stage.name = "who pins the pages";
    r.take = take_pins;
    r.user = out;
    return ab_replay(&r, &exit_code, err);
}

/* True if the pin and the group are the same place: by line, else by function, else by address.
 * Without line numbers, a function may have several groups, and each of them shows the pins of the
 * whole function. Pins do not distinguish several calls on one line. */
static bool is_of(const struct ab_pin *pin, const struct ab_advice_group *g, const char *function)
{
    char address[160];
    if (g->line > 0)
        return pin->line == (uint32_t)g->line && strcmp(pin->function, function) == 0 &&
               strcmp(pin->file, g->file) == 0;
    if (function[0] != 0)
        return pin->line == 0 && strcmp(pin->function, function) == 0;
    snprintf(address, sizeof address, "%.100s+0x%llx", g->module, (unsigned long long)g->address);
    return strcmp(pin->function, address) == 0;
}

static double pinned_by(const void *user, const struct ab_advice_group *g)
{
    const struct ab_advised_pins *pins = user;
    char function[sizeof g->function];
    if (pins->pins == NULL || pins->pins[0].group != AB_PIN_SITE || g->column > 0)
        return NAN;
    ab_wrappers_bare_name(g->function, function, sizeof function);
    for (uint32_t i = 0; i < pins->n; i++)
        if (is_of(&pins->pins[i], g, function))
            return pins->pins[i].pinned_bytes;
    return 0;
}

/* Returns the fewest pinned bytes that are worth a heap, with the bounds of a gain in memory. */
static double least_pinned(const struct ab_advised_pins *pins)
{
    double part = pins->resident_bytes / AB_ADVISED_LESS_PART;
    return part > AB_ADVISED_LESS_BYTES ? part : AB_ADVISED_LESS_BYTES;
}

static enum ab_status analyse(const struct work *w, bool is_flat, struct ab_advice *out,
                              struct ab_err *err)
{
    struct naming naming = {.is_open = false};
    const struct ab_advise_plan plan = {.path = w->path,
                                        .is_partial = w->options->replay.is_partial,
                                        .scopes = &w->scopes,
                                        .threads = &w->threads,
                                        .is_flat = is_flat,
                                        .name = name_frame,
                                        .user = &naming,
                                        .pinned_by = pinned_by,
                                        .pins = &w->pins,
                                        .least_pinned = least_pinned(&w->pins)};
    enum ab_status status = ab_advise(&plan, out, err);
    if (naming.is_open)
        ab_site_names_fini(&naming.names);
    return status;
}

/* Measures nested scopes, and keeps them in the advice if they gain against the arena of the whole
 * scope. */
static enum ab_status choose_nesting(struct work *w, struct ab_err *err)
{
    if (!ab_advise_has_nested(&w->advice))
        return AB_OK;
    enum ab_status status = analyse(w, true, &w->other, err);
    if (status == AB_OK)
        status = ab_advise_measure_nested(w->options, &w->stage, &w->advice, &w->other, &w->pins,
                                          &w->nested, err);
    w->stage.number++;
    w->stage.n = w->nested.n_stages;
    if (status == AB_OK && !w->nested.is_taken) {
        struct ab_advice chosen = w->other;
        w->other = w->advice;
        w->advice = chosen;
    }
    return status;
}

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
    ab_code_write(&w->advice, w->measured.used, trace, &text);
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
        ab_advise_write_rules(w->rules.to, &w->advice, w->measured.used, w->base, w->arguments.s);
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
    struct ab_format_guard guard;
    bool is_list;
    AB_TRY(ab_one_file(o->args, o->n_args, "a trace", "advise", &w->path, err));
    if (strcmp(w->path, "-") == 0)
        return ab_fail(
            err, AB_USAGE,
            "advise reads a trace several times, standard input comes once; name a file");
    AB_TRY(ab_advise_base(o, w->base, sizeof w->base, &is_list, err));
    AB_TRY(open_outputs(w, err));
    AB_TRY(find_scopes(w, err));
    w->stage = (struct ab_stage){.number = 1, .started_ns = ab_clock_now_ns()};
    AB_TRY(find_pins(o, &w->stage, w->base, &w->pins, err));
    w->stage.number++;
    AB_TRY(analyse(w, false, &w->advice, err));
    AB_TRY(choose_nesting(w, err));
    AB_TRY(ab_advise_measure(o, &w->stage, &w->advice, &w->pins, &w->measured, err));
    w->stage.n = w->measured.n_stages;
    if (o->budget_ns != 0)
        AB_TRY(
            ab_advise_budget(o, &w->stage, &w->advice, w->base, w->measured.used, &w->budget, err));
    const struct ab_advise_view view = {.advice = &w->advice,
                                        .measured = &w->measured,
                                        .trace = basename(w->path),
                                        .base = w->base,
                                        .budget_ns = (double)o->budget_ns,
                                        .budget = o->budget_ns != 0 ? &w->budget : NULL,
                                        .nested = &w->nested,
                                        .scopes = &w->scopes,
                                        .pins = &w->pins,
                                        .other = &w->other};
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
    ab_advised_scopes_fini(&w->budget.before);
    ab_advised_scopes_fini(&w->budget.after);
    ab_text_fini(&w->arguments);
    ab_advice_fini(&w->advice);
    ab_advice_fini(&w->other);
    ab_scopes_fini(&w->scopes);
    ab_scopes_of_threads_fini(&w->threads);
    free(w->pins.pins);
    free(w);
    *exit_code = 0;
    return status;
}
