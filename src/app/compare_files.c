/* SPDX-License-Identifier: MIT
 *
 * Reads the results, pairs the workloads of suites, compares and judges.
 */
#include "app/compare_files.h"

#include "app/decision.h"
#include "app/noise_warning.h"
#include "app/outputs.h"
#include "app/say.h"
#include "core/alloc.h"
#include "core/output.h"
#include "document/checks_json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct compare_run {
    const struct ab_compare_request *asked;
    struct ab_base base;
    size_t n; /* number of new results */
    struct ab_base *news;
    /* for suites: the base of each new result, from the base suite; NULL = `base` is the base of
     * all */
    struct ab_base *bases;
    struct ab_suite *suites; /* n_suites suites that the new results come from */
    size_t n_suites;
    struct ab_comparison *comparisons;
    struct ab_gate_set *gates;
    struct ab_output json;
    struct ab_outputs outputs;
    enum ab_status verdict;
};

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

static void note_alone(const struct ab_compare_request *o, const char *file, const char *name)
{
    ab_say(&o->talk, "allocbench: note: only %s has a result of %s", AB_SHOWN(512, file),
           AB_SHOWN(256, name));
}

/* Pairs the workloads that both suites have, and prints a note for each workload that only one
 * suite has. */
static enum ab_status pair_items(struct compare_run *r, size_t at, struct ab_err *err)
{
    const struct ab_compare_request *o = r->asked;
    const struct ab_suite *base = &r->suites[0], *now = &r->suites[at];
    for (uint32_t i = 0; i < now->n; i++) {
        const struct ab_suite_item *of = ab_suite_find(base, now->items[i].name);
        bool has_now = now->items[i].document != NULL,
             has_base = of != NULL && of->document != NULL;
        if (has_now && has_base) {
            size_t k = r->n++;
            AB_TRY(find_item(o->inputs.files[0], of, &r->bases[k], err));
            AB_TRY(find_item(o->inputs.files[at], &now->items[i], &r->news[k], err));
            AB_TRY(ab_compare_check_work(&r->bases[k].stored.session, r->bases[k].label,
                                         &r->news[k].stored.session, r->news[k].label, err));
        } else if (has_now || has_base) {
            note_alone(o, o->inputs.files[has_now ? at : 0], now->items[i].name);
        }
    }
    for (uint32_t i = 0; i < base->n; i++)
        if (base->items[i].document != NULL && ab_suite_find(now, base->items[i].name) == NULL)
            note_alone(o, o->inputs.files[0], base->items[i].name);
    return AB_OK;
}

static enum ab_status read_suites(struct compare_run *r, struct ab_err *err)
{
    const struct ab_compare_request *o = r->asked;
    size_t most = 0;
    r->suites = ab_alloc_zeroed(o->inputs.n, sizeof r->suites[0]);
    for (; r->n_suites < o->inputs.n; r->n_suites++) {
        AB_TRY(ab_base_find_suite(&o->store, &o->talk, o->inputs.files[r->n_suites],
                                  &r->suites[r->n_suites], err));
        most += r->suites[r->n_suites].n;
    }
    make_room(r, most);
    r->bases = ab_alloc_zeroed(most + 1, sizeof r->bases[0]);
    for (size_t i = 1; i < o->inputs.n; i++)
        AB_TRY(pair_items(r, i, err));
    return r->n > 0 ? AB_OK
                    : ab_fail(err, AB_USAGE, "%s and %s have no workload in common",
                              AB_SHOWN(300, o->inputs.files[0]), AB_SHOWN(300, o->inputs.files[1]));
}

/* Reads and checks all files before anything is printed. */
static enum ab_status read_results(struct compare_run *r, struct ab_err *err)
{
    const struct ab_compare_request *o = r->asked;
    if (ab_base_is_suite(&o->store, o->inputs.files[0]))
        return read_suites(r, err);
    r->n = o->inputs.n - 1;
    make_room(r, r->n);
    enum ab_status status = ab_base_find(&o->store, &o->talk, o->inputs.files[0], &r->base, err);
    for (size_t i = 0; i < r->n && status == AB_OK; i++)
        status = ab_base_find(&o->store, &o->talk, o->inputs.files[i + 1], &r->news[i], err);
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
    const struct ab_compare_request *o = r->asked;
    enum ab_status status = ab_outputs_open(&o->outputs, &r->outputs, err);
    if (status == AB_OK && o->json != NULL)
        status = ab_output_open(o->json, &r->json, err);
    if (status == AB_OK)
        status = ab_outputs_spare_inputs(&r->outputs, &o->outputs, &o->inputs, err);
    if (status == AB_OK)
        status = ab_spare_inputs(&o->inputs, &r->json, o->json, err);
    return status;
}

static enum ab_status compare_all(struct compare_run *r, struct ab_err *err)
{
    const struct ab_compare_request *o = r->asked;
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

static enum ab_status write_files(struct compare_run *r, struct ab_err *err)
{
    enum ab_status status = AB_OK;
    if (r->json.to != NULL) {
        ab_comparisons_write(r->json.to, r->comparisons, r->n, ab_status_exit_code(r->verdict));
        status = ab_output_commit(&r->json, err);
    }
    if (status == AB_OK && r->n == 1)
        status = ab_outputs_write(&r->outputs, &r->news[0].stored.session, err);
    return status;
}

static void release(struct compare_run *r)
{
    ab_outputs_abandon(&r->outputs);
    ab_output_abandon(&r->json);
    for (size_t i = 0; i < r->n; i++) {
        ab_comparison_fini(&r->comparisons[i]);
        ab_base_fini(&r->news[i]);
        if (r->bases != NULL)
            ab_base_fini(&r->bases[i]);
        ab_gate_set_fini(&r->gates[i]);
    }
    for (size_t i = 0; i < r->n_suites; i++)
        ab_suite_fini(&r->suites[i]);
    free(r->suites);
    free(r->bases);
    free(r->comparisons);
    free(r->news);
    free(r->gates);
    ab_base_fini(&r->base);
}

enum ab_status ab_compare_files(const struct ab_compare_request *asked, int *exit_code,
                                struct ab_err *err)
{
    struct compare_run r = {.asked = asked, .verdict = AB_OK};
    enum ab_status status = read_results(&r, err);
    if (status == AB_OK && (status = open_outputs(&r, err)) == AB_OK &&
        (status = compare_all(&r, err)) == AB_OK) {
        status = write_files(&r, err);
        asked->show(asked->user, r.news, r.n, r.bases != NULL, status == AB_OK);
    }
    *exit_code = ab_status_exit_code(r.verdict);
    release(&r);
    return status;
}
