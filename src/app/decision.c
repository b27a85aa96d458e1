/* SPDX-License-Identifier: MIT
 *
 * Keeps a baseline from before the run to its end. Turns gates and comparison into one status and a
 * command line for the next step.
 */
#include "app/decision.h"

#include "app/say.h"
#include "base/bits.h"
#include "base/nearest.h"
#include "core/alloc.h"
#include "core/text.h"
#include "report/table/sink_checks.h"
#include "report/table/table.h"
#include "stats/compare_drift.h"
#include "stats/metric.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- --base ----
 * Names are those of the tables, settings included. A base that is absent or fails is no error:
 * then nothing is compared, and the report shows the reason. */

static enum ab_status refuse_base(const char *name, const char *const *known, size_t n,
                                  struct ab_err *err)
{
    struct ab_text why = {0};
    const char *nearest = ab_text_nearest(name, known, n);
    if (nearest != NULL)
        ab_text_addf(&why, "did you mean '%s'? ", AB_SHOWN(200, nearest));
    ab_text_add(&why, n > 0 ? "there are: " : "there is none");
    for (size_t i = 0; i < n; i++)
        ab_text_addf(&why, "%s%s", i > 0 ? ", " : "", AB_SHOWN(200, known[i]));
    ab_fail(err, AB_USAGE, "--base: no back end '%s' to compare with; %s", AB_SHOWN(200, name),
            why.s);
    ab_text_fini(&why);
    return AB_USAGE;
}

enum ab_status ab_base_name_set(const char *name, struct ab_session *session, struct ab_err *err)
{
    const char **known = ab_alloc_zeroed(session->n_backends + 1, sizeof *known);
    char(*own)[AB_BACKEND_NAME_BYTES] = ab_alloc_zeroed(session->n_backends + 1, sizeof own[0]);
    size_t n = 0;
    bool is_found = false;
    for (uint32_t i = 0; name != NULL && i < session->n_backends; i++)
        if (!ab_backend_is_null(&session->backends[i])) {
            if (session->backends[i].combination == 0)
                known[n++] = ab_backend_own_name(&session->backends[i], own[i]);
            is_found = is_found || ab_backend_is_named(&session->backends[i], name);
        }
    if (is_found)
        session->base = name;
    enum ab_status status = name == NULL || is_found ? AB_OK : refuse_base(name, known, n, err);
    free(known);
    free(own);
    return status;
}

/* ---- the status, and what to do next ---- */

enum { ROUNDS_WORTH_TRYING = 200 };

enum ab_status ab_verdict_status(const struct ab_options *o, const struct ab_session *session)
{
    const struct ab_comparison *c = session->comparison;
    enum ab_status status = ab_gates_status(session);
    if (c != NULL)
        status = ab_verdict_worse(status, ab_comparison_status(c));
    if (status == AB_INCONCLUSIVE && !o->verdicts.fails_inconclusive)
        status = AB_OK;
    if (c != NULL && c->is_advisory && o->verdicts.is_strict)
        status = ab_verdict_worse(status, AB_GATE);
    return status;
}

/* Returns the rounds that all inconclusive cells and gates need, up to ROUNDS_WORTH_TRYING; 0 =
 * none. */
static uint32_t most_needed(const struct ab_session *s)
{
    const struct ab_comparison *c = s->comparison;
    uint32_t of_cells = c != NULL ? ab_checks_rounds_needed(c->cells, c->n_cells) : 0;
    uint32_t most = ab_checks_rounds_needed(s->gates, s->n_gates);
    most = of_cells > most ? of_cells : most;
    return most < ROUNDS_WORTH_TRYING ? most : ROUNDS_WORTH_TRYING;
}

/* Returns the text after the name if `word` begins with one of `names`, followed by a blank or '='.
 * Returns NULL otherwise. */
static const char *behind_name(const char *word, const char *const *names, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strncmp(word, names[i], strlen(names[i])) == 0 &&
            strchr(" =", word[strlen(names[i])]) != NULL)
            return word + strlen(names[i]);
    return NULL;
}

/* Returns how many words an argument takes that sets the number of rounds or their end; 0 if it
 * does not. */
static size_t words_of_rounds(const char *word)
{
    static const char *const names[] = {"--rounds", "--reps", "--time-budget", "--precision"};
    const char *end = behind_name(word, names, AB_ARRAY_LEN(names));
    return end == NULL || *end == 0 ? 0 : *end == ' ' ? 2 : 1;
}

static const char *skip_word(const char *s)
{
    s += ab_text_shell_word(s);
    return *s == ' ' ? s + 1 : s;
}

/* Appends the command that measured `s` with another number of rounds. The option is inserted at
 * the front, because the rest may be the command line of a program. */
static void add_command(struct ab_text *t, const struct ab_session *s, uint32_t rounds)
{
    const char *word = s->command_line, *end = skip_word(skip_word(word)); /* allocbench run */
    bool is_ours = true;
    ab_text_addf(t, "%.*s%s--rounds %u ", (int)(end - word), word, end[-1] == ' ' ? "" : " ",
                 rounds);
    for (word = end; *word != 0; word = end) {
        size_t n = is_ours ? words_of_rounds(word) : 0;
        is_ours = is_ours && strncmp(word, "-- ", 3) != 0;
        end = skip_word(word);
        if (n == 0)
            ab_text_addf(t, "%.*s", (int)(end - word), word);
        else if (n == 2)
            end = skip_word(end);
    }
    while (t->n > 0 && t->s[t->n - 1] == ' ')
        t->s[--t->n] = 0;
}

/* True if the second word is a command that measures. Repeating `merge` would only join the same
 * parts again. */
static bool is_measurement(const char *command_line)
{
    static const char *const names[] = {"run", "replay", "exec"};
    const char *end = behind_name(skip_word(command_line), names, AB_ARRAY_LEN(names));
    return end != NULL && *end != '=';
}

/* True if the session's command line can be run again with other options. For exec, " -- " must
 * show where the program's own arguments begin. */
static bool can_repeat(const struct ab_session *s)
{
    return s->command_line != NULL && is_measurement(s->command_line) &&
           strstr(s->command_line, "--resume") == NULL &&
           strstr(s->command_line, AB_NO_COMMAND_LINE) == NULL &&
           (!ab_session_is_exec(s) || strstr(s->command_line, " -- ") != NULL);
}

/* Prints a command to type, and frees the text. */
static void print_command(FILE *to, const char *lead, struct ab_text *t,
                          struct ab_table_style style)
{
    char shown[4096];
    ab_table_command(to, style, lead, ab_text_printable(shown, sizeof shown, t->s));
    ab_text_fini(t);
}

static void print_repeat(FILE *to, const char *lead, const struct ab_session *s, uint32_t rounds,
                         struct ab_table_style style)
{
    struct ab_text t = {0};
    add_command(&t, s, rounds);
    print_command(to, lead, &t, style);
}

/* Prints the commands that measure both sides with enough rounds. A baseline needs none if it is
 * measured along or has them already. */
static void print_rounds(FILE *to, const struct ab_comparison *c, const struct ab_session *s,
                         uint32_t rounds, struct ab_table_style style)
{
    print_repeat(to, "next: ", s, rounds, style);
    if (c == NULL || c->base == s || c->base->n_rounds >= rounds ||
        strstr(s->command_line, "--baseline") != NULL)
        return;
    if (can_repeat(c->base))
        print_repeat(to, "and:  ", c->base, rounds, style);
    else
        ab_table_prose(to, style, AB_PLAIN, "and:  the base with as many rounds");
}

/* Returns the baseline's name in a label; NULL = a file, or this run. */
static const char *name_in(const char *label)
{
    const size_t n = strlen(AB_BASELINE_LABEL);
    return label != NULL && strncmp(label, AB_BASELINE_LABEL, n) == 0 ? label + n : NULL;
}

/* True if the result improves on a baseline and may replace it. */
static bool is_renewal(const struct ab_comparison *c, const char *file)
{
    return file != NULL && name_in(c->base_label) != NULL && name_in(c->now_label) == NULL &&
           ab_comparison_status(c) == AB_OK && ab_comparison_count(c, AB_VERDICT_IMPROVED) > 0;
}

static void print_update(FILE *to, const struct ab_options *o, const char *name, const char *file,
                         struct ab_table_style style)
{
    struct ab_text t = {0};
    ab_text_addf(&t, "allocbench baseline update %s", name);
    if (file[0] != 0) {
        ab_text_add(&t, " ");
        ab_text_add_shell(&t, file);
    }
    if (o->store.folder != NULL) {
        ab_text_add(&t, " --results ");
        ab_text_add_shell(&t, o->store.folder);
    }
    print_command(to, "next: ", &t, style);
}

/* Prints which option shows more of the comparison. */
static void print_look(FILE *to, const struct ab_comparison *c, struct ab_table_style style)
{
    bool is_cut = ab_sink_compare_is_cut(c, style.is_verbose), is_drawn = c->base != c->now;
    if (is_cut || is_drawn)
        ab_table_prose(
            to, style, AB_PLAIN,
            !is_drawn ? "next: -v lists every percentile"
            : is_cut
                ? "next: -v lists every percentile, --html FILE draws both results over each other"
                : "next: --html FILE draws both results over each other");
}

void ab_verdicts_print(FILE *to, const struct ab_options *o, const struct ab_session *s,
                       const char *file, struct ab_table_style style)
{
    const struct ab_comparison *c = s->comparison;
    uint32_t rounds = most_needed(s);
    char text[64];
    if (c != NULL)
        ab_sink_compare(to, c, style);
    ab_sink_gates(to, s, style);
    snprintf(text, sizeof text, "next: measure both with --rounds %u", rounds);
    if (rounds > 0 && can_repeat(s))
        print_rounds(to, c, s, rounds, style);
    else if (rounds > 0 && c != NULL && c->base != s)
        ab_table_prose(to, style, AB_PLAIN, text);
    else if (c != NULL && ab_comparison_count(c, AB_VERDICT_FAIL) > 0)
        print_look(to, c, style);
    else if (c != NULL && is_renewal(c, file))
        print_update(to, o, name_in(c->base_label), file, style);
}

/* ---- from before the run to its end ---- */

static const struct ab_session *baseline_of(const struct ab_decision *d)
{
    return d->base.label != NULL ? &d->base.stored.session : NULL;
}

/* Returns the name of an option that asks for a comparison although none will be made; NULL =
 * none. */
static const char *find_idle(const struct ab_decision *d)
{
    const struct ab_options *o = d->options;
    if (o->verdicts.baseline != NULL)
        return NULL;
    return o->verdicts.is_strict                   ? "strict"
           : o->verdicts.is_joint && !d->is_within ? "jointly"
                                                   : NULL;
}

enum ab_status ab_decision_open(const struct ab_options *o, struct ab_decision *out,
                                struct ab_err *err)
{
    struct ab_decision d = {.options = o};
    d.is_within = o->verdicts.has_limit && o->verdicts.baseline == NULL;
    const char *idle = find_idle(&d);
    if (idle != NULL)
        return ab_fail(err, AB_USAGE, "--%s requires %s--baseline NAME|FILE", idle,
                       o->verdicts.is_joint && !o->verdicts.is_strict ? "--limit or " : "");
    enum ab_status status = AB_OK;
    if (o->verdicts.baseline != NULL &&
        (status = ab_base_find(o, o->verdicts.baseline, &d.base, err)) == AB_OK)
        status = ab_base_check(&d.base, err);
    if (status == AB_OK)
        *out = d;
    else
        ab_base_fini(&d.base);
    return status;
}

enum ab_status ab_decision_add_control(const struct ab_decision *d, struct ab_selection_list *list,
                                       struct ab_err *err)
{
    static const char name[] = "glibc";
    const struct ab_session *base = baseline_of(d);
    uint32_t i = 0;
    while (base != NULL && i < base->n_backends &&
           !(ab_backend_is_named(&base->backends[i], name) &&
             ab_backend_is_comparable(&base->backends[i])))
        i++;
    size_t n = list->n;
    if (base == NULL || i == base->n_backends || base->backends[i].build_id[0] == 0 ||
        n >= AB_SELECTION_MAX)
        return AB_OK;
    AB_TRY(ab_selection_add(list, name, err));
    if (list->n == n)
        return AB_OK;
    list->items[n].is_control = true;
    ab_say(d->options,
           "allocbench: note: %s is measured along, as in the baseline: it shows what the "
           "machine did",
           name);
    return AB_OK;
}

enum ab_status ab_decision_check(const struct ab_decision *d, const struct ab_session *session,
                                 struct ab_err *err)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < session->n_backends; i++)
        n += session->backends[i].combination == 0 && !ab_backend_is_null(&session->backends[i]);
    if (d->is_within && n < 2)
        return ab_fail(err, AB_USAGE,
                       "--limit is about ratios: it needs two back ends, or a --baseline");
    if (baseline_of(d) == NULL)
        return AB_OK;
    return ab_compare_check_work(baseline_of(d), d->base.label, session, "this run", err);
}

/* Compares the session with its baseline or base. Leaves *out empty if there is none. */
static void compare(const struct ab_decision *d, const struct ab_session *session,
                    struct ab_comparison *out)
{
    const struct ab_session *base = baseline_of(d);
    uint32_t backend = ab_session_base(session);
    if (base != NULL)
        ab_compare_results(base, session, d->options->verdicts.limit, out);
    else if (d->is_within && backend != UINT32_MAX)
        ab_compare_backends(session, backend, d->options->verdicts.limit, out);
}

void ab_decision_make(struct ab_decision *d, const struct ab_gate_set *gates,
                      struct ab_session *session)
{
    const struct ab_session *base = baseline_of(d);
    d->gates = gates;
    ab_gates_judge(gates->gates, gates->n_gates, session, base);
    ab_claims_measure(gates->claims, gates->n_claims, session);
    if (session->is_complete) {
        compare(d, session, &d->comparison);
        if (d->options->verdicts.is_joint)
            ab_comparisons_join(&d->comparison, 1);
    }
    d->comparison.base_label = d->base.label;
    d->comparison.now_label = base != NULL ? "this run" : NULL;
    d->comparison.is_strict = d->options->verdicts.is_strict;
    session->comparison = d->comparison.now != NULL ? &d->comparison : NULL;
}

/* True if the back end is a library that did not change since the baseline. New rounds are judged
 * relative to such libraries, as the first were. */
static bool is_control(const struct ab_decision *d, const struct ab_backend_info *b)
{
    uint32_t base = ab_session_backend(baseline_of(d), b->name);
    return base != UINT32_MAX && ab_drift_is_unchanged(&baseline_of(d)->backends[base], b);
}

uint32_t ab_decision_suspicious(const struct ab_decision *d, const struct ab_session *session,
                                bool *is_concerned)
{
    const struct ab_comparison *c = &d->comparison;
    uint32_t n = ab_checks_suspicious(session->gates, session->n_gates, session, is_concerned) +
                 ab_checks_suspicious(c->cells, c->n_cells, session, is_concerned);
    for (uint32_t i = 0; baseline_of(d) != NULL && n > 0 && i < session->n_backends; i++)
        if (is_control(d, &session->backends[i]))
            is_concerned[i] = true;
    return n;
}

void ab_decision_confirm(struct ab_decision *d, struct ab_session *session,
                         struct ab_session *again)
{
    struct ab_comparison c = {0}, *of = &d->comparison;
    ab_gates_judge(d->gates->gates, d->gates->n_gates, again, baseline_of(d));
    compare(d, again, &c);
    ab_checks_confirm(session->gates, session->n_gates, again->gates, again->n_gates,
                      again->n_rounds);
    ab_checks_confirm(of->cells, of->n_cells, c.cells, c.n_cells, again->n_rounds);
    ab_comparison_fini(&c);
}

void ab_decision_close(struct ab_decision *d)
{
    ab_comparison_fini(&d->comparison);
    ab_base_fini(&d->base);
}
