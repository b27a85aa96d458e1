/* SPDX-License-Identifier: MIT
 *
 * From verdicts to an exit code and to a command line that goes on from there.
 */
#include "cli/compare/verdict.h"

#include "base/bits.h"
#include "core/text.h"
#include "stats/gates/gate.h"

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

/* The most rounds that an open cell asks for; 0 = none. */
static uint32_t most_needed(const struct ab_comparison *c)
{
    uint32_t most = 0;
    for (uint32_t i = 0; i < c->n_cells; i++) {
        const struct ab_cell *cell = &c->cells[i];
        if (ab_cell_is_judged(cell) && cell->verdict == AB_VERDICT_INCONCLUSIVE &&
            cell->rounds_needed > most)
            most = cell->rounds_needed;
    }
    return most < ROUNDS_WORTH_TRYING ? most : most > 0 ? ROUNDS_WORTH_TRYING : 0;
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
    bool is_quoted = false;
    for (; *s != 0 && (is_quoted || *s != ' '); s++)
        is_quoted = is_quoted != (*s == '\'');
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

void ab_verdict_print_next(FILE *to, const struct ab_comparison *c)
{
    uint32_t rounds = most_needed(c);
    struct ab_text t = {0};
    char shown[4096];
    const char *line = c->now->command_line;
    if (rounds == 0 || line == NULL || line[0] == 0 || strstr(line, "--resume") != NULL)
        return;
    add_command(&t, c->now, rounds);
    if (t.s != NULL)
        fprintf(to, "next: %s%s\n", ab_text_printable(shown, sizeof shown, t.s),
                c->base != c->now && c->base->n_rounds < rounds && strstr(t.s, "--baseline") == NULL
                    ? "   (and the base with as many)"
                    : "");
    ab_text_fini(&t);
}
