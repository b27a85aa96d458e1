/* SPDX-License-Identifier: MIT
 *
 * Reads a trace, measures which blocks would gain from another heap, and advises the heaps that
 * gain.
 */
#include "app/advise/advising.h"

#include "app/replay.h"
#include "base/clock.h"
#include "core/alloc.h"
#include "core/text.h"
#include "report/table/style.h"
#include "result/session.h"
#include "stats/pin_groups.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* symbols of the trace's modules; opened when the table of call sites is complete */
struct naming {
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

/* Refuses a budget if the search found scopes of several sizes. The budget does not say which of
 * these sizes it is for, so the user must choose. */
static enum ab_status require_scope(const struct ab_advising *w, struct ab_err *err)
{
    struct ab_text question = {0};
    enum ab_status status = AB_OK;
    if (w->request->measure.scopes_wish == AB_SCOPES_BEST &&
        ab_scopes_ask(&question, &w->scopes, ab_scopes_median_calls(&w->scopes), 0))
        status = ab_fail(
            err, AB_USAGE,
            "--budget: which scopes is it for? Add --scope nested or --scope outer: the "
            "trace has no marks. %s",
            question.s);
    ab_text_fini(&question);
    return status;
}

static enum ab_status find_scopes(struct ab_advising *w, struct ab_err *err)
{
    struct ab_walk walk = {0};
    ab_trace_pass_begin(&w->request->pass, &walk);
    enum ab_status status = ab_scopes_find(&walk, w->request->measure.scopes_wish, &w->scopes, err);
    ab_file_progress_end(&w->request->pass.progress);
    if (status == AB_OK && w->request->budget_ns != 0)
        status = require_scope(w, err);
    if (status == AB_OK &&
        w->request->measure.scopes_wish == AB_SCOPES_BEST) /* if not, the user chose the scopes */
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
static enum ab_status find_pins(const struct ab_advise_request *request,
                                const struct ab_stage *stage, const char *base,
                                struct ab_advised_pins *out, struct ab_err *err)
{
    struct ab_measure_request r = ab_advise_replay(request, stage);
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

/* True if the pin and the group are at the same place: by line, else by function, else by address.
 * Without line numbers, a function may have several groups, and each of these groups shows the pins
 * of the whole function. Pins do not distinguish several calls on one line. */
static bool is_of(const struct ab_pin *pin, const struct ab_advice_group *g, const char *function)
{
    char address[160];
    if (g->line > 0)
        return pin->line == (uint32_t)g->line && strcmp(pin->function, function) == 0 &&
               strcmp(pin->file, g->file) == 0;
    if (function[0] != 0)
        return pin->line == 0 && strcmp(pin->function, function) == 0;
    AB_FIT(address, "%s+0x%llx", g->module, (unsigned long long)g->address);
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

/* Returns the least number of pinned bytes that is worth a heap, by the bounds of a gain in
 * memory. */
static double least_pinned(const struct ab_advised_pins *pins)
{
    double part = pins->resident_bytes / AB_ADVISED_LESS_PART;
    return part > AB_ADVISED_LESS_BYTES ? part : AB_ADVISED_LESS_BYTES;
}

static enum ab_status analyse(const struct ab_advising *w, bool is_flat, struct ab_advice *out,
                              struct ab_err *err)
{
    struct naming naming = {.is_open = false};
    const struct ab_advise_plan plan = {.path = w->request->pass.path,
                                        .is_partial = w->request->measure.replay.is_partial,
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

/* Measures nested scopes, and keeps them in the advice if they gain compared with one arena for the
 * whole scope. */
static enum ab_status choose_nesting(struct ab_advising *w, struct ab_err *err)
{
    if (!ab_advise_has_nested(&w->advice))
        return AB_OK;
    enum ab_status status = analyse(w, true, &w->other, err);
    if (status == AB_OK)
        status = ab_advise_measure_nested(w->request, &w->stage, &w->advice, &w->other, &w->pins,
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

enum ab_status ab_advise_trace(const struct ab_advise_request *request, struct ab_advising *out,
                               struct ab_err *err)
{
    bool is_list;
    out->request = request;
    AB_TRY(ab_advise_base(request, out->base, sizeof out->base, &is_list, err));
    AB_TRY(find_scopes(out, err));
    out->stage = (struct ab_stage){.number = 1, .started_ns = ab_clock_now_ns()};
    AB_TRY(find_pins(request, &out->stage, out->base, &out->pins, err));
    out->stage.number++;
    AB_TRY(analyse(out, false, &out->advice, err));
    AB_TRY(choose_nesting(out, err));
    AB_TRY(ab_advise_measure(request, &out->stage, &out->advice, &out->pins, &out->measured, err));
    out->stage.n = out->measured.n_stages;
    if (request->budget_ns == 0)
        return AB_OK;
    return ab_advise_budget(request, &out->stage, &out->advice, out->base, out->measured.used,
                            &out->budget, err);
}
