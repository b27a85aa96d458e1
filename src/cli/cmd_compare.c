/* SPDX-License-Identifier: MIT
 *
 * `compare`: stored results against the first of them.
 */
#include "app/baselines.h"
#include "app/noise_warning.h"
#include "app/one_file.h"
#include "app/outputs.h"
#include "app/verdict.h"
#include "cli/commands.h"
#include "cli/show.h"
#include "cli/terminal.h"
#include "core/text.h"
#include "report/compare_json.h"
#include "report/output.h"
#include "report/table/sink_compare.h"
#include "report/table/sink_gates.h"
#include "stats/gate.h"
#include "stats/metric.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- --gate, read against what a stored result has ---- */

struct gates {
    struct ab_gate *gates; /* borrow from the session and the command line */
    size_t n;
};

struct names {
    struct ab_gate_phase *phases;
    const char **backends;
};

static bool list_names(const struct ab_session *s, struct names *n)
{
    n->phases = calloc(s->n_phases + 1u, sizeof n->phases[0]);
    n->backends = calloc(s->n_backends + 1u, sizeof n->backends[0]);
    if (n->phases == NULL || n->backends == NULL)
        return false;
    for (uint32_t i = 0; i < s->n_phases; i++) {
        n->phases[i].name = s->phases[i];
        for (unsigned k = 0; k < AB_OP_KIND_COUNT; k++)
            n->phases[i].kinds |= ab_session_has_op(s, s->phases[i], k) ? 1u << k : 0;
        const struct ab_iterations *each = ab_session_iterations(s, s->phases[i]);
        n->phases[i].iteration = each != NULL ? each->name : NULL;
        n->phases[i].has_budget = each != NULL && isfinite(each->budget_ns);
    }
    for (uint32_t i = 0; i < s->n_backends; i++)
        n->backends[i] = s->backends[i].name;
    return true;
}

static enum ab_status read_one(const char *text, const struct ab_gate_scope *scope, struct gates *g,
                               struct ab_err *err)
{
    struct ab_gate_error error;
    char shown[300];
    size_t n = 0;
    if (!ab_gate_parse_each(text, scope, g->gates + g->n, &n, &error))
        return ab_fail(err, AB_USAGE, "--gate '%s': %s",
                       ab_text_printable(shown, sizeof shown, text), error.text);
    for (size_t i = 0; i < n; i++)
        g->gates[g->n + i].place = "--gate";
    g->n += n;
    return AB_OK;
}

/* AB_USAGE for what cannot be. */
static enum ab_status read_gates_of(const struct ab_options *o, const struct ab_session *now,
                                    struct gates *out, struct ab_err *err)
{
    struct names names = {0};
    size_t each = now->n_phases > 0 ? now->n_phases : 1; /* gates of one text, at most */
    struct gates g = {.gates = calloc(o->n_gates * each + 1, sizeof g.gates[0])};
    enum ab_status status = g.gates != NULL && list_names(now, &names)
                                ? AB_OK
                                : ab_fail(err, AB_SYSTEM, "out of memory");
    struct ab_gate_scope scope = {.phases = names.phases,
                                  .n_phases = now->n_phases,
                                  .backends = names.backends,
                                  .n_backends = now->n_backends};
    for (size_t i = 0; i < o->n_gates && status == AB_OK; i++)
        status = read_one(o->gates[i], &scope, &g, err);
    free(names.phases);
    free(names.backends);
    if (status == AB_OK)
        *out = g;
    else
        free(g.gates);
    return status;
}

static void release_gates(struct gates *g)
{
    free(g->gates);
    *g = (struct gates){0};
}

/* ---- the comparison ---- */

struct compare_run {
    const struct ab_options *options;
    struct ab_base base;
    size_t n; /* new results */
    struct ab_base *news;
    struct ab_comparison *comparisons;
    struct gates *gates;
    struct ab_output json;
    struct ab_outputs outputs;
    enum ab_status verdict;
};

static enum ab_status check_arguments(const struct ab_options *o, struct ab_err *err)
{
    const char *output = ab_outputs_asked_for(o);
    if (o->n_args < 2)
        return ab_fail(err, AB_USAGE,
                       "compare needs a base and at least one new result: allocbench compare "
                       "BASE.json NEW.json");
    if (o->n_args > 2 && output != NULL)
        return ab_fail(err, AB_USAGE, "--%s takes one new result, %zu are given", output,
                       o->n_args - 1);
    if (o->json != NULL && strcmp(o->json, "-") == 0 && ab_outputs_use_stdout(o))
        return ab_fail(err, AB_USAGE, "only one output can be standard output");
    return AB_OK;
}

/* Every file is read and found fit before anything is printed. */
static enum ab_status read_results(struct compare_run *r, struct ab_err *err)
{
    const struct ab_options *o = r->options;
    enum ab_status status = ab_base_find(o, o->args[0], &r->base, err);
    for (size_t i = 0; i < r->n && status == AB_OK; i++)
        status = ab_base_find(o, o->args[i + 1], &r->news[i], err);
    if (status == AB_OK)
        status = ab_compare_check_whole(&r->base.stored.session, r->base.label, err);
    for (size_t i = 0; i < r->n && status == AB_OK; i++) {
        const struct ab_session *now = &r->news[i].stored.session;
        status = ab_compare_check_whole(now, r->news[i].label, err);
        if (status == AB_OK)
            status = ab_compare_check_work(&r->base.stored.session, r->base.label, now,
                                           r->news[i].label, err);
    }
    return status;
}

static enum ab_status open_outputs(struct compare_run *r, struct ab_err *err)
{
    const struct ab_options *o = r->options;
    enum ab_status status = ab_outputs_open(o, &r->outputs, err);
    if (status == AB_OK && o->json != NULL)
        status = ab_output_open(o->json, &r->json, err);
    if (status == AB_OK)
        status = ab_outputs_spare_inputs(&r->outputs, o, err);
    if (status == AB_OK)
        status = ab_spare_inputs(o, 0, &r->json, o->json, err);
    return status;
}

static enum ab_status compare_all(struct compare_run *r, struct ab_err *err)
{
    for (size_t i = 0; i < r->n; i++) {
        struct ab_session *now = &r->news[i].stored.session;
        struct ab_comparison *c = &r->comparisons[i];
        enum ab_status status = read_gates_of(r->options, now, &r->gates[i], err);
        if (status != AB_OK)
            return status;
        ab_compare_results(&r->base.stored.session, now, r->options->limit, c);
        ab_gates_judge(r->gates[i].gates, r->gates[i].n, now, &r->base.stored.session);
        ab_noise_warn_limit(r->options, now->host.fingerprint, "--limit", "all", "time",
                            r->options->limit, now->n_rounds);
        c->base_label = r->base.label;
        c->now_label = r->news[i].label;
        c->is_strict = r->options->is_strict_compare;
        now->comparison = c;
    }
    if (r->options->is_joint)
        ab_comparisons_join(r->comparisons, r->n);
    for (size_t i = 0; i < r->n; i++)
        r->verdict = ab_verdict_worse(r->verdict, ab_verdict_status(r->options, &r->comparisons[i],
                                                                    &r->news[i].stored.session));
    return AB_OK;
}

static void print_one(const struct compare_run *r, size_t i, FILE *to)
{
    const struct ab_comparison *c = &r->comparisons[i];
    struct ab_table_style style = ab_terminal_style(r->options);
    style.color = style.color && to == stdout;
    ab_sink_compare(to, c, style);
    ab_sink_gates(to, c->now, style);
    ab_verdict_print_next(to, r->options, c, c->now, r->options->args[i + 1], style);
}

static bool is_stdout_taken(const struct ab_options *o)
{
    return ab_outputs_use_stdout(o) || (o->json != NULL && strcmp(o->json, "-") == 0);
}

/* Standard output has the tables, unless a document goes there or none was asked for. */
static void print_all(const struct compare_run *r)
{
    const struct ab_options *o = r->options;
    bool is_taken = is_stdout_taken(o);
    for (size_t i = 0; i < r->n; i++) {
        const struct ab_comparison *c = &r->comparisons[i];
        bool is_bad = ab_verdict_status(o, c, c->now) != AB_OK;
        if (o->is_quiet) {
            ab_verdicts_tell(c->now, o->fails_inconclusive);
            continue;
        }
        if (i > 0 && !is_taken)
            fputc('\n', stdout);
        if (!is_taken || is_bad)
            print_one(r, i, is_taken ? stderr : stdout);
    }
}

static enum ab_status write_files(struct compare_run *r, struct ab_err *err)
{
    enum ab_status status = AB_OK;
    if (r->json.to != NULL) {
        if (ab_comparisons_write(r->json.to, r->comparisons, r->n, ab_status_exit_code(r->verdict)))
            status = ab_output_commit(&r->json, err);
        else
            status = ab_fail(err, AB_SYSTEM, "out of memory for the comparison");
    }
    if (status == AB_OK && r->n == 1)
        status = ab_outputs_write(&r->outputs, &r->news[0].stored.session, err);
    return status;
}

static void print_lines(const struct compare_run *r)
{
    for (size_t i = 0; i < r->n; i++)
        ab_outputs_lines(r->options, &r->news[i].stored.session,
                         is_stdout_taken(r->options) ? stderr : stdout);
}

static void release(struct compare_run *r)
{
    ab_outputs_abandon(&r->outputs);
    ab_output_abandon(&r->json);
    for (size_t i = 0; i < r->n; i++) {
        if (r->comparisons != NULL)
            ab_comparison_fini(&r->comparisons[i]);
        if (r->news != NULL)
            ab_base_fini(&r->news[i]);
        if (r->gates != NULL)
            release_gates(&r->gates[i]);
    }
    free(r->comparisons);
    free(r->news);
    free(r->gates);
    ab_base_fini(&r->base);
}

enum ab_status ab_cmd_compare(const struct ab_options *o, int *exit_code, struct ab_err *err)
{
    struct compare_run r = {.options = o, .verdict = AB_OK};
    enum ab_status status = check_arguments(o, err);
    if (status != AB_OK)
        return status;
    r.n = o->n_args - 1;
    r.news = calloc(r.n, sizeof r.news[0]);
    r.comparisons = calloc(r.n, sizeof r.comparisons[0]);
    r.gates = calloc(r.n, sizeof r.gates[0]);
    if (r.news == NULL || r.comparisons == NULL || r.gates == NULL)
        status = ab_fail(err, AB_SYSTEM, "out of memory");
    if (status == AB_OK && (status = read_results(&r, err)) == AB_OK &&
        (status = open_outputs(&r, err)) == AB_OK && (status = compare_all(&r, err)) == AB_OK) {
        status = write_files(&r, err);
        print_all(&r);
        if (status == AB_OK)
            print_lines(&r);
    }
    *exit_code = ab_status_exit_code(r.verdict);
    release(&r);
    return status;
}
