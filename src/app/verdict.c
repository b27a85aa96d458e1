/* SPDX-License-Identifier: MIT
 *
 * From verdicts to an exit code and to a command line that goes on from there.
 */
#include "app/verdict.h"

#include "app/baselines.h"
#include "base/bits.h"
#include "core/text.h"
#include "report/table/sink_compare.h"
#include "report/table/table.h"
#include "stats/gate.h"

#include <string.h>

enum { ROUNDS_WORTH_TRYING = 200 };

enum ab_status ab_verdict_worse(enum ab_status a, enum ab_status b)
{
    static const enum ab_status order[] = {AB_BACKEND, AB_CONFIG, AB_GATE, AB_INCONCLUSIVE};
    for (size_t i = 0; i < AB_ARRAY_LEN(order); i++)
        if (a == order[i] || b == order[i])
            return order[i];
    return AB_OK;
}

enum ab_status ab_verdict_status(const struct ab_options *o, const struct ab_comparison *c,
                                 const struct ab_session *session)
{
    enum ab_status status = ab_gates_status(session);
    if (c != NULL)
        status = ab_verdict_worse(status, ab_comparison_status(c));
    if (status == AB_INCONCLUSIVE && !o->fails_inconclusive)
        status = AB_OK;
    if (c != NULL && c->is_advisory && o->is_strict_compare)
        status = ab_verdict_worse(status, AB_GATE);
    return status;
}

/* The most rounds that an open cell or gate asks for; 0 = none. `c` may be NULL. */
static uint32_t most_needed(const struct ab_comparison *c, const struct ab_session *s)
{
    uint32_t most = 0;
    for (uint32_t i = 0; c != NULL && i < c->n_cells; i++) {
        const struct ab_cell *cell = &c->cells[i];
        if (ab_cell_is_judged(cell) && cell->verdict == AB_VERDICT_INCONCLUSIVE &&
            cell->rounds_needed != UINT32_MAX && cell->rounds_needed > most)
            most = cell->rounds_needed;
    }
    for (uint32_t i = 0; i < s->n_gates; i++)
        if (s->gates[i].verdict == AB_GATE_INCONCLUSIVE &&
            s->gates[i].rounds_needed != UINT32_MAX && s->gates[i].rounds_needed > most)
            most = s->gates[i].rounds_needed;
    return most < ROUNDS_WORTH_TRYING ? most : ROUNDS_WORTH_TRYING;
}

/* Does an argument set the number of rounds, or what ends them? Returns how many words it takes. */
static size_t words_of_rounds(const char *word)
{
    static const char *const names[] = {"rounds", "reps", "time-budget", "precision"};
    if (strncmp(word, "--", 2) != 0)
        return 0;
    word += 2;
    for (size_t i = 0; i < AB_ARRAY_LEN(names); i++) {
        size_t n = strlen(names[i]);
        if (strncmp(word, names[i], n) == 0 && word[n] == ' ')
            return 2;
        if (strncmp(word, names[i], n) == 0 && word[n] == '=')
            return 1;
    }
    return 0;
}

static const char *skip_word(const char *s)
{
    s += ab_text_shell_word(s);
    return *s == ' ' ? s + 1 : s;
}

/* The command that measured it, with another number of rounds: before what may be the command line of
 * a program. */
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

/* Is the second word one of a command that measures? That of a merge would only join its parts again. */
static bool is_measurement(const char *command_line)
{
    static const char *const names[] = {"run", "replay", "exec"};
    const char *word = skip_word(command_line);
    for (size_t i = 0; i < AB_ARRAY_LEN(names); i++) {
        size_t n = strlen(names[i]);
        if (strncmp(word, names[i], n) == 0 && (word[n] == ' ' || word[n] == 0))
            return true;
    }
    return false;
}

/* Of an exec it has to be known where the program's own words begin. */
static bool can_repeat(const struct ab_session *s)
{
    return s->command_line != NULL && is_measurement(s->command_line) &&
           strstr(s->command_line, "--resume") == NULL &&
           (!ab_session_is_exec(s) || strstr(s->command_line, " -- ") != NULL);
}

static void print_repeat(FILE *to, const char *lead, const struct ab_session *s, uint32_t rounds,
                         struct ab_table_style style)
{
    struct ab_text t = {0};
    char shown[4096];
    add_command(&t, s, rounds);
    if (t.s != NULL)
        ab_table_command(to, style, lead, ab_text_printable(shown, sizeof shown, t.s));
    ab_text_fini(&t);
}

static void print_number(FILE *to, uint32_t rounds, struct ab_table_style style)
{
    struct ab_text t = {0};
    ab_text_addf(&t, "next: measure both with --rounds %u", rounds);
    if (t.s != NULL)
        ab_table_prose(to, style, AB_PLAIN, t.s);
    ab_text_fini(&t);
}

/* Both sides need the rounds; a baseline is measured with it, or has them. */
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

/* The name of a baseline; NULL = a file, or this run. */
static const char *name_in(const char *label)
{
    const size_t n = strlen(AB_BASELINE_LABEL);
    return label != NULL && strncmp(label, AB_BASELINE_LABEL, n) == 0 ? label + n : NULL;
}

/* Better than a baseline, and no baseline itself: may it take the place of the one? */
static bool is_renewal(const struct ab_comparison *c, const char *file)
{
    return file != NULL && name_in(c->base_label) != NULL && name_in(c->now_label) == NULL &&
           ab_comparison_status(c) == AB_OK && ab_comparison_count(c, AB_VERDICT_IMPROVED) > 0;
}

static void print_update(FILE *to, const struct ab_options *o, const char *name, const char *file,
                         struct ab_table_style style)
{
    struct ab_text t = {0};
    char shown[4096];
    ab_text_addf(&t, "allocbench baseline update %s", name);
    if (file[0] != 0) {
        ab_text_add(&t, " ");
        ab_text_add_shell(&t, file);
    }
    if (o->results != NULL) {
        ab_text_add(&t, " --results ");
        ab_text_add_shell(&t, o->results);
    }
    if (t.s != NULL)
        ab_table_command(to, style, "next: ", ab_text_printable(shown, sizeof shown, t.s));
    ab_text_fini(&t);
}

/* Where a regression can be seen. */
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

void ab_verdict_print_next(FILE *to, const struct ab_options *o, const struct ab_comparison *c,
                           const struct ab_session *s, const char *file,
                           struct ab_table_style style)
{
    uint32_t rounds = most_needed(c, s);
    if (rounds > 0 && can_repeat(s))
        print_rounds(to, c, s, rounds, style);
    else if (rounds > 0 && c != NULL && c->base != s)
        print_number(to, rounds, style);
    else if (c != NULL && ab_comparison_count(c, AB_VERDICT_REGRESSED) > 0)
        print_look(to, c, style);
    else if (c != NULL && is_renewal(c, file))
        print_update(to, o, name_in(c->base_label), file, style);
}
