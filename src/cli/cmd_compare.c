/* SPDX-License-Identifier: MIT
 *
 * Implements `compare`: prints the comparisons of stored results with the first of them.
 */
#include "app/compare_files.h"
#include "app/decision.h"
#include "app/outputs.h"
#include "cli/commands.h"
#include "cli/requests.h"
#include "cli/show.h"
#include "cli/terminal.h"

#include <stdio.h>
#include <string.h>

static enum ab_status check_arguments(const struct ab_options *o, struct ab_err *err)
{
    const char *output = ab_outputs_asked_for(&o->outputs);
    if (o->n_args < 2)
        return ab_fail(err, AB_USAGE,
                       "compare needs a base and at least one new result: allocbench compare "
                       "BASE.json NEW.json");
    if (o->n_args > 2 && output != NULL)
        return ab_fail(err, AB_USAGE, "--%s takes one new result, %zu are given", output,
                       o->n_args - 1);
    if (output != NULL && ab_base_is_suite(&o->store, o->args[0]))
        return ab_fail(err, AB_USAGE, "--%s is for one workload; for several, use --json", output);
    if (o->json != NULL && strcmp(o->json, "-") == 0 && ab_outputs_use_stdout(&o->outputs))
        return ab_fail(err, AB_USAGE, "only one output can be standard output");
    return AB_OK;
}

static const struct ab_base *base_at(const struct compare_run *r, size_t i)
{
    return r->bases != NULL ? &r->bases[i] : &r->base;
}

static void make_room(struct compare_run *r, size_t n)
{
    r->news = ab_alloc_zeroed(n + 1, sizeof r->news[0]);
    r->comparisons = ab_alloc_zeroed(n + 1, sizeof r->comparisons[0]);
    r->gates = ab_alloc_zeroed(n + 1, sizeof r->gates[0]);
}

/* ---- suites: workloads are paired by name ---- */

static enum ab_status find_item(const char *file, const struct ab_suite_item *item,
                                struct ab_base *out, struct ab_err *err)
{
    *out = ab_base_of_item(item, file);
    return ab_compare_check_whole(&out->stored.session, out->label, err);
}

static void note_alone(const struct ab_options *o, const char *file, const char *name)
{
    if (!o->talk.is_quiet)
        fprintf(stderr, "allocbench: note: only %s contains a result of %s\n", AB_SHOWN(512, file),
                AB_SHOWN(256, name));
}

/* Pairs the workloads that both suites have, and prints a note for each that only one has. */
static enum ab_status pair_items(struct compare_run *r, size_t at, struct ab_err *err)
{
    const struct ab_options *o = r->options;
    const struct ab_suite *base = &r->suites[0], *now = &r->suites[at];
    for (uint32_t i = 0; i < now->n; i++) {
        const struct ab_suite_item *of = ab_suite_find(base, now->items[i].name);
        bool has_now = now->items[i].document != NULL,
             has_base = of != NULL && of->document != NULL;
        if (has_now && has_base) {
            size_t k = r->n++;
            AB_TRY(find_item(o->args[0], of, &r->bases[k], err));
            AB_TRY(find_item(o->args[at], &now->items[i], &r->news[k], err));
            AB_TRY(ab_compare_check_work(&r->bases[k].stored.session, r->bases[k].label,
                                         &r->news[k].stored.session, r->news[k].label, err));
        } else if (has_now || has_base) {
            note_alone(o, o->args[has_now ? at : 0], now->items[i].name);
        }
    }
    for (uint32_t i = 0; i < base->n; i++)
        if (base->items[i].document != NULL && ab_suite_find(now, base->items[i].name) == NULL)
            note_alone(o, o->args[0], base->items[i].name);
    return AB_OK;
}

static enum ab_status read_suites(struct compare_run *r, struct ab_err *err)
{
    const struct ab_options *o = r->options;
    size_t most = 0;
    r->suites = ab_alloc_zeroed(o->n_args, sizeof r->suites[0]);
    for (; r->n_suites < o->n_args; r->n_suites++) {
        AB_TRY(ab_base_find_suite(&o->store, &o->talk, o->args[r->n_suites],
                                  &r->suites[r->n_suites], err));
        most += r->suites[r->n_suites].n;
    }
    make_room(r, most);
    r->bases = ab_alloc_zeroed(most + 1, sizeof r->bases[0]);
    for (size_t i = 1; i < o->n_args; i++)
        AB_TRY(pair_items(r, i, err));
    return r->n > 0 ? AB_OK
                    : ab_fail(err, AB_USAGE, "%s and %s have no workload in common",
                              AB_SHOWN(300, o->args[0]), AB_SHOWN(300, o->args[1]));
}

/* Reads and checks all files before anything is printed. */
static enum ab_status read_results(struct compare_run *r, struct ab_err *err)
{
    const struct ab_options *o = r->options;
    if (ab_base_is_suite(&o->store, o->args[0]))
        return read_suites(r, err);
    r->n = o->n_args - 1;
    make_room(r, r->n);
    enum ab_status status = ab_base_find(&o->store, &o->talk, o->args[0], &r->base, err);
    for (size_t i = 0; i < r->n && status == AB_OK; i++)
        status = ab_base_find(&o->store, &o->talk, o->args[i + 1], &r->news[i], err);
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
    const struct ab_inputs inputs = ab_inputs_of(o);
    enum ab_status status = ab_outputs_open(&o->outputs, &r->outputs, err);
    if (status == AB_OK && o->json != NULL)
        status = ab_output_open(o->json, &r->json, err);
    if (status == AB_OK)
        status = ab_outputs_spare_inputs(&r->outputs, &o->outputs, &inputs, err);
    if (status == AB_OK)
        status = ab_spare_inputs(&inputs, &r->json, o->json, err);
    return status;
}

static enum ab_status compare_all(struct compare_run *r, struct ab_err *err)
{
    const struct ab_options *o = r->options;
    const struct ab_verdicts_wanted *wanted = &o->verdicts;
    for (size_t i = 0; i < r->n; i++) {
        struct ab_session *now = &r->news[i].stored.session;
        struct ab_comparison *c = &r->comparisons[i];
        enum ab_status status = ab_gate_set_of_result(wanted->gates, wanted->n_gates, now,
                                                      &r->gates[i], err);
        if (status != AB_OK)
            return status;
        const struct ab_base *base = base_at(r, i);
        ab_compare_results(&base->stored.session, now, wanted->limit, c);
        ab_gates_judge(r->gates[i].gates, r->gates[i].n_gates, now, &base->stored.session);
        ab_noise_warn_limit(&o->store, &o->talk, now->host.fingerprint, "--limit", "all", "time",
                            wanted->limit, now->n_rounds);
        c->base_label = base->label;
        c->now_label = r->news[i].label;
        c->is_strict = wanted->is_strict;
        now->comparison = c;
    }
    if (wanted->is_joint)
        ab_comparisons_join(r->comparisons, r->n);
    for (size_t i = 0; i < r->n; i++)
        r->verdict = ab_status_worse(r->verdict,
                                     ab_verdict_status(wanted, &r->news[i].stored.session));
    return AB_OK;
}

static void print_one(const struct compare_run *r, size_t i, FILE *to)
{
    struct ab_table_style style = ab_terminal_style(r->options);
    style.color = style.color && to == stdout;
    ab_verdicts_print(to, r->options->store.folder, &r->news[i].stored.session,
                      r->bases == NULL ? r->options->args[i + 1] : NULL, style);
}

static bool is_stdout_taken(const struct ab_options *o)
{
    return ab_outputs_use_stdout(&o->outputs) || (o->json != NULL && strcmp(o->json, "-") == 0);
}

static void print_one(const struct ab_options *o, const struct ab_session *now, const char *file,
                      FILE *to)
{
    struct ab_table_style style = ab_terminal_style(o);
    style.color = style.color && to == stdout;
    ab_verdicts_print(to, o->store.folder, now, file, style);
}

/* Prints the tables, unless standard output has a document or --quiet is given. */
static void print_all(const struct ab_options *o, const struct ab_base *news, size_t n,
                      bool are_of_suites)
{
    bool is_taken = is_stdout_taken(o);
    for (size_t i = 0; i < n; i++) {
        const struct ab_session *now = &news[i].stored.session;
        bool is_bad = ab_verdict_status(&o->verdicts, now) != AB_OK;
        if (o->talk.is_quiet) {
            ab_verdicts_tell(now, o->verdicts.fails_inconclusive);
            continue;
        }
        if (i > 0 && !is_taken)
            fputc('\n', stdout);
        if (!is_taken || is_bad)
            print_one(o, now, are_of_suites ? NULL : o->args[i + 1], is_taken ? stderr : stdout);
    }
}

static void show(void *user, const struct ab_base *news, size_t n, bool are_of_suites,
                 bool is_written)
{
    const struct ab_options *o = user;
    print_all(o, news, n, are_of_suites);
    for (size_t i = 0; i < n && is_written; i++)
        ab_outputs_lines(&o->outputs, &news[i].stored.session,
                         is_stdout_taken(o) ? stderr : stdout);
}

enum ab_status ab_cmd_compare(const struct ab_options *o, int *exit_code, struct ab_err *err)
{
    const struct ab_compare_request request = {
        .talk = o->talk,
        .inputs = ab_inputs_of(o),
        .verdicts = o->verdicts,
        .store = o->store,
        .outputs = o->outputs,
        .json = o->json,
        .show = show,
        .user = (void *)(uintptr_t)o,
    };
    AB_TRY(check_arguments(o, err));
    return ab_compare_files(&request, exit_code, err);
}
