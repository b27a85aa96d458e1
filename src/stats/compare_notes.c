/* SPDX-License-Identifier: MIT
 *
 * May two results be compared, on one machine or as advice only, and what differs between them that
 * is no obstacle: the libraries themselves, first of all.
 */
#include "stats/compare_notes.h"

#include "base/bits.h"
#include "core/grow.h"
#include "core/text.h"
#include "core/units_show.h"
#include "result/session.h"
#include "stats/metric.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void ab_comparison_note(struct ab_comparison *c, const char *fmt, ...)
{
    va_list args;
    char text[AB_COMPARE_NOTE_BYTES];
    AB_GROW(c->notes, c->cap_notes, c->n_notes);
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    ab_text_printable(c->notes[c->n_notes++], AB_COMPARE_NOTE_BYTES, text); /* names are anyone's */
}

uint32_t ab_compare_find(const struct ab_session *s, const char *name)
{
    for (uint32_t i = 0; i < s->n_backends; i++)
        if (strcmp(s->backends[i].name, name) == 0)
            return i;
    return UINT32_MAX;
}

/* ---- may they be compared? ---- */

enum ab_status ab_compare_check_whole(const struct ab_session *s, const char *label,
                                      struct ab_err *err)
{
    const char *command = strcmp(s->kind, "trace") == 0        ? "replay"
                          : strcmp(s->kind, AB_KIND_EXEC) == 0 ? "exec"
                                                               : "run";
    if (s->n_rounds == 0)
        return ab_fail(err, AB_INPUT, "%s has no round: nothing to compare", label);
    if (!s->is_complete)
        return ab_fail(err, AB_INPUT,
                       "%s is incomplete, %u of %u rounds; complete it with\n"
                       "  allocbench %s --resume '%s'",
                       label, s->n_rounds, s->n_rounds_planned, command, label);
    for (uint32_t i = 0; i < s->n_backends; i++)
        if (!ab_backend_is_null(&s->backends[i]) && ab_session_has_numbers(s, i))
            return AB_OK;
    return ab_fail(err, AB_BACKEND, "%s has no numbers: every back end in it failed", label);
}

static bool is_same_work(const struct ab_session *a, const struct ab_session *b)
{
    return a->tape_sha256[0] != 0 && strcmp(a->tape_sha256, b->tape_sha256) == 0;
}

enum ab_status ab_compare_check_work(const struct ab_session *base, const char *base_label,
                                     const struct ab_session *now, const char *now_label,
                                     struct ab_err *err)
{
    char names[2][128];
    ab_text_printable(names[0], sizeof names[0], base->name);
    ab_text_printable(names[1], sizeof names[1], now->name);
    if (!is_same_work(base, now))
        return ab_fail(
            err, AB_USAGE,
            "different work: %s ran %s (digest %.12s), %s ran %s (digest %.12s); only "
            "the same workload or trace with the same parameters and seed can be compared",
            base_label, names[0], base->tape_sha256, now_label, names[1], now->tape_sha256);
    if (base->is_strict != now->is_strict)
        return ab_fail(
            err, AB_USAGE, "different work: %s was measured with --order strict, %s was not",
            base->is_strict ? base_label : now_label, base->is_strict ? now_label : base_label);
    for (uint32_t i = 0; i < base->n_backends; i++)
        for (uint32_t k = 0; k < now->n_backends; k++)
            if (!ab_backend_is_null(&base->backends[i]) &&
                strcmp(base->backends[i].name, now->backends[k].name) == 0)
                return AB_OK;
    return ab_fail(err, AB_USAGE,
                   "%s and %s have no back end in common; measure both libraries under one name: "
                   "-b NAME=PATH",
                   base_label, now_label);
}

/* ---- what differs ---- */

static const char *or_unknown(const char *s)
{
    return s[0] != 0 ? s : "unknown";
}

/* Notes differences in what the fingerprint is made of (result/environment.c). */
static void describe_machine(struct ab_comparison *c)
{
    const struct ab_host *a, *b; /* no round of one pairs with one of the other */
    struct ab_text t = {0};
    if (ab_sessions_share_host(c->base, c->now, &a, &b))
        return;
    bool is_known = a->fingerprint[0] != 0 && b->fingerprint[0] != 0;
    c->is_advisory = true;
    ab_text_add(&t, is_known ? "another machine or system: " : "the machine is not known: ");
    if (strcmp(a->name, b->name) != 0)
        ab_text_addf(&t, "node %.48s, now %.48s; ", or_unknown(a->name), or_unknown(b->name));
    if (strcmp(a->cpu, b->cpu) != 0)
        ab_text_addf(&t, "CPU %.48s, now %.48s; ", or_unknown(a->cpu), or_unknown(b->cpu));
    if (a->cpus_online != b->cpus_online)
        ab_text_addf(&t, "%u CPUs, now %u; ", a->cpus_online, b->cpus_online);
    if (strcmp(a->kernel, b->kernel) != 0)
        ab_text_addf(&t, "kernel %.40s, now %.40s; ", or_unknown(a->kernel), or_unknown(b->kernel));
    if (strcmp(a->libc, b->libc) != 0)
        ab_text_addf(&t, "%.24s, now %.24s; ", or_unknown(a->libc), or_unknown(b->libc));
    if (t.s != NULL)
        ab_text_printable(c->advisory, sizeof c->advisory, t.s);
    size_t n = strlen(c->advisory);
    while (n > 0 && strchr("; :", c->advisory[n - 1]) != NULL)
        c->advisory[--n] = 0;
    if (n == 0)
        snprintf(c->advisory, sizeof c->advisory, "another machine");
    ab_text_fini(&t);
}

static void note_text(struct ab_comparison *c, const char *what, const char *a, const char *b)
{
    char shown[2][90];
    if (strcmp(a, b) == 0)
        return;
    ab_text_printable(shown[0], sizeof shown[0], or_unknown(a));
    ab_text_printable(shown[1], sizeof shown[1], or_unknown(b));
    ab_comparison_note(c, "%s: %s, now %s", what, shown[0], shown[1]);
}

static void note_library(struct ab_comparison *c, const struct ab_backend_info *a,
                         const struct ab_backend_info *b)
{
    char what[200], name[160];
    ab_text_printable(name, sizeof name, b->name);
    snprintf(what, sizeof what, "%s, version", name);
    note_text(c, what, a->version, b->version);
    snprintf(what, sizeof what, "%s, build id", name);
    note_text(c, what, a->build_id, b->build_id);
}

static void note_settings(struct ab_comparison *c)
{
    const char *const *a = c->base->settings, *const *b = c->now->settings;
    struct ab_text t[2] = {{0}, {0}};
    for (; a != NULL && *a != NULL; a++)
        ab_text_addf(&t[0], "%s%s", t[0].n > 0 ? " " : "", *a);
    for (; b != NULL && *b != NULL; b++)
        ab_text_addf(&t[1], "%s%s", t[1].n > 0 ? " " : "", *b);
    note_text(c, "settings", t[0].s != NULL ? t[0].s : "none", t[1].s != NULL ? t[1].s : "none");
    ab_text_fini(&t[0]);
    ab_text_fini(&t[1]);
}

void ab_comparison_note_rules(struct ab_comparison *c, const struct ab_backend_info *a,
                              const struct ab_backend_info *b)
{
    ab_comparison_note(c, "%.80s has other rules: %.90s, now %.90s: not compared", b->name,
                       a->map[0] != 0 ? a->map : "none", b->map[0] != 0 ? b->map : "none");
}

/* Missed iterations are those of one budget; a result without iterations has no row. */
static void note_iterations(struct ab_comparison *c)
{
    char phase[100], was[32], is[32];
    for (uint32_t i = 0; i < c->now->n_phases; i++) {
        if (ab_session_phase_is_repeated(c->now, i))
            continue;
        const struct ab_iterations *a = ab_session_iterations(c->base, c->now->phases[i]);
        const struct ab_iterations *b = ab_session_iterations(c->now, c->now->phases[i]);
        double budget[2] = {a != NULL ? a->budget_ns : (double)NAN,
                            b != NULL ? b->budget_ns : (double)NAN};
        bool is_same = budget[0] == budget[1] || (isnan(budget[0]) && isnan(budget[1]));
        ab_text_printable(phase, sizeof phase, c->now->phases[i]);
        if ((a == NULL) != (b == NULL))
            ab_comparison_note(c, "%s: iterations were timed in %s alone: not compared", phase,
                               a != NULL ? "the base" : "the new result");
        if (a != NULL && b != NULL && !is_same)
            ab_comparison_note(
                c, "%s: budget of an iteration: %s, now %s: missed ones are not compared", phase,
                isnan(budget[0]) ? "none" : ab_units_time(was, sizeof was, budget[0]),
                isnan(budget[1]) ? "none" : ab_units_time(is, sizeof is, budget[1]));
    }
}

void ab_comparison_describe(struct ab_comparison *c)
{
    const struct ab_session *a = c->base, *b = c->now;
    describe_machine(c);
    for (uint32_t i = 0; i < a->n_backends; i++)
        for (uint32_t k = 0; k < b->n_backends; k++)
            if (strcmp(a->backends[i].name, b->backends[k].name) == 0)
                note_library(c, &a->backends[i], &b->backends[k]);
    const char *version[2] = {a->tool.version != NULL ? a->tool.version : AB_VERSION,
                              b->tool.version != NULL ? b->tool.version : AB_VERSION};
    note_text(c, "allocbench", version[0], version[1]);
    note_text(c, "transparent huge pages", a->host.thp, b->host.thp);
    note_text(c, "CPU governor", a->host.governor, b->host.governor);
    note_settings(c);
    note_iterations(c);
}
