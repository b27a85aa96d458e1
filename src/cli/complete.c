/* SPDX-License-Identifier: MIT
 *
 * Finds out whether the word at the cursor is an option, its value or an argument, and prints the
 * candidates that begin like this word. Also has the scripts for the shells. The scripts call this
 * command at the tab key, and complete file names if there are no candidates.
 */
#include "cli/complete.h"

#include "app/baselines.h"
#include "app/catalogue.h"
#include "app/named_workload.h"
#include "base/bits.h"
#include "cli/cmd_list.h"
#include "cli/option_table.h"
#include "cli/scaffolds.h"
#include "cli/trace.h"
#include "core/embed.h"
#include "core/text.h"
#include "explain/explain.h"

#include <stdlib.h>
#include <string.h>

/* Output for candidates, and the word at the cursor that they must begin like. */
struct offer {
    FILE *to;
    const char *word;  /* the word at the cursor */
    const char *begin; /* part of `word` that is completed; the text before it stays */
};
AB_EMBED(bash, "src/cli/completion.bash")
AB_EMBED(zsh, "src/cli/completion.zsh")
AB_EMBED(fish, "src/cli/completion.fish")

struct line {
    int n; /* number of words; words[n - 1] is at the cursor */
    char **words;
    enum ab_command_id command;
    struct offer offer;
};

/* Prints the word with its part replaced by the candidate and `end`. Ignores candidates with
 * control characters, such as line breaks. */
static void offer(const struct offer *o, const char *candidate, const char *end)
{
    for (const char *s = candidate; *s != 0; s++)
        if ((unsigned char)*s < ' ' || *s == 0x7f)
            return;
    if (strncmp(candidate, o->begin, strlen(o->begin)) == 0)
        fprintf(o->to, "%.*s%s%s\n", (int)(o->begin - o->word), o->word, candidate, end);
}

/* ---- lists ---- */

/* Moves `begin` to the last element of a comma-separated list. */
static void begin_element(struct offer *o)
{
    const char *comma = strrchr(o->begin, ',');
    if (comma != NULL)
        o->begin = comma + 1;
}

static void offer_names(struct offer *o, enum ab_names what)
{
    const char *name;
    for (size_t i = 0; (name = ab_catalogue_name(what, i)) != NULL; i++)
        offer(o, name, "");
}

static void offer_backends(struct offer *o, bool has_words)
{
    begin_element(o);
    if (has_words) {
        offer(o, "all", "");
        offer(o, "libraries", "");
    }
    offer_names(o, AB_NAMES_BACKENDS);
}

static void offer_sweeps(struct offer *o)
{
    begin_element(o);
    offer_names(o, AB_NAMES_SWEEPS);
}

static void offer_checks(struct offer *o)
{
    begin_element(o);
    offer(o, "required", "");
    offer(o, "info", "");
    offer(o, "work", "");
    offer_names(o, AB_NAMES_CHECKS);
}

static void offer_baselines(struct offer *o)
{
    const struct ab_store_wanted store = {.folder = NULL};
    struct ab_err err;
    char *folder, **names;
    size_t n;
    if (ab_baseline_folder(&store, &folder, &err) != AB_OK)
        return;
    if (ab_baseline_names(folder, &names, &n, &err) == AB_OK) {
        for (size_t i = 0; i < n; i++)
            offer(o, names[i], "");
        ab_baseline_names_fini(names, n);
    }
    free(folder);
}

/* ---- gates: PHASE/OP/NUMBER ---- */

static void offer_phases(struct offer *o, enum ab_command_id command)
{
    offer(o, "*", "/");
    if (command == AB_COMMAND_REPLAY)
        offer(o, AB_TRACE_PHASE, "/");
    if (command == AB_COMMAND_EXEC)
        offer(o, AB_PROGRAM_PHASE, "/");
}

static void offer_word_of_gate(void *user, const char *word, const char *end)
{
    offer(user, word, end);
}

static void offer_gate(struct offer *o, enum ab_command_id command)
{
    const char *begin = o->begin, *op = strchr(begin, '/'), *colon = strchr(begin, ':');
    const char *number = op != NULL ? strchr(op + 1, '/') : NULL;
    if (op == NULL) { /* still the phase, perhaps after the name of a back end and a colon */
        o->begin = colon != NULL ? colon + 1 : begin;
        offer_phases(o, command);
        return;
    }
    o->begin = number != NULL ? number + 1 : op + 1;
    ab_gate_words(number != NULL ? op + 1 : NULL, number != NULL ? (size_t)(number - op - 1) : 0,
                  offer_word_of_gate, o);
}

/* ---- options ---- */

static void offer_options(struct line *l)
{
    const struct ab_option_info *o;
    char name[64];
    for (size_t i = 0; (o = ab_options_info(i)) != NULL; i++)
        if (ab_options_has(o, l->command)) {
            snprintf(name, sizeof name, "--%s", o->name);
            offer(&l->offer, name, "");
        }
}

static void offer_values(struct line *l, const struct ab_option_info *o)
{
    if (strcmp(o->name, "backend") == 0 || strcmp(o->name, "base") == 0)
        offer_backends(&l->offer, strcmp(o->name, "backend") == 0);
    else if (strcmp(o->name, "sweep") == 0)
        offer_sweeps(&l->offer);
    else if (strcmp(o->name, "gate") == 0)
        offer_gate(&l->offer, l->command);
    else if (strcmp(o->name, "check") == 0)
        offer_checks(&l->offer);
    else if (strcmp(o->name, "baseline") == 0)
        offer_baselines(&l->offer);
    if (o->is_value != NULL && o->words != NULL) /* the value is a comma-separated list of words */
        begin_element(&l->offer);
    for (size_t i = 0; o->words != NULL && o->words[i] != NULL; i++)
        offer(&l->offer, o->words[i], "");
}

/* Returns the option of the command that `word` names, such as "-b" or "--set", if it takes a
 * value; NULL = none. */
static const struct ab_option_info *option_of(const struct line *l, const char *word, size_t n)
{
    const struct ab_option_info *o = NULL;
    char name[64];
    snprintf(name, sizeof name, "%.*s", (int)n, word);
    if (strncmp(name, "--", 2) == 0)
        o = ab_options_find(l->command, name + 2);
    for (size_t i = 0; n == 2 && name[0] == '-' && (o = ab_options_info(i)) != NULL; i++)
        if (ab_options_has(o, l->command) && o->letter == name[1])
            break;
    return o != NULL && o->arg != NULL ? o : NULL;
}

/* ---- arguments ---- */

/* Counts the words before the cursor that are arguments of the command, which are neither options
 * nor values of options. Sets *first to the first argument. */
static int count_arguments(const struct line *l, const char **first)
{
    int n = 0;
    for (int i = 1; i < l->n - 1; i++) {
        const struct ab_option_info *o = option_of(l, l->words[i], strlen(l->words[i]));
        if (o != NULL)
            i += o->is_value == NULL || o->is_value(l->words[i + 1]);
        else if (l->words[i][0] != '-' && n++ == 0)
            *first = l->words[i];
    }
    return n;
}

static void offer_trace(struct offer *o, int place, const char *first)
{
    for (size_t i = 0; place == 0 && ab_trace_command_name(i) != NULL; i++)
        offer(o, ab_trace_command_name(i), "");
    if (place == 1 && strcmp(first, "import") == 0)
        offer_names(o, AB_NAMES_FORMATS);
}

static void offer_words(struct offer *o)
{
    struct ab_explanation e;
    for (size_t i = 0; ab_explain_at(i, &e); i++)
        offer(o, e.word, "");
}

/* Offers @NAME for the workloads that come with allocbench. */
static void offer_workloads(struct offer *o)
{
    struct ab_workload_names list;
    struct ab_err err;
    char name[200];
    if (o->begin[0] != '@' || ab_workload_names(&list, &err) != AB_OK)
        return;
    for (size_t i = 0; i < list.n; i++) {
        snprintf(name, sizeof name, "@%s", list.names[i]);
        offer(o, name, "");
    }
    ab_workload_names_fini(&list);
}

static void offer_baseline(struct offer *o, int place)
{
    for (size_t i = 0; place == 0 && ab_baseline_commands[i] != NULL; i++)
        offer(o, ab_baseline_commands[i], "");
    if (place == 1)
        offer_baselines(o);
}

static void offer_arguments(struct line *l)
{
    const char *first = "";
    int place = count_arguments(l, &first);
    switch (l->command) {
    case AB_COMMAND_TRACE:
        offer_trace(&l->offer, place, first);
        break;
    case AB_COMMAND_BASELINE:
        offer_baseline(&l->offer, place);
        break;
    case AB_COMMAND_LIST:
        for (size_t i = 0; place == 0 && i < ab_list_topic_count; i++)
            offer(&l->offer, ab_list_topics[i].name, "");
        break;
    case AB_COMMAND_INIT:
        for (size_t i = 0; place == 0 && i < ab_scaffold_count; i++)
            offer(&l->offer, ab_scaffolds[i].name, "");
        break;
    case AB_COMMAND_EXPLAIN:
        if (place == 0)
            offer_words(&l->offer);
        break;
    case AB_COMMAND_VERIFY:
        offer_backends(&l->offer, true);
        break;
    case AB_COMMAND_RUN:
    case AB_COMMAND_CHECK:
    case AB_COMMAND_CALIBRATE:
        offer_workloads(&l->offer);
        break;
    case AB_COMMAND_REPORT:
    case AB_COMMAND_COMPARE:
        if (l->offer.begin[0] == '@')
            offer(&l->offer, "@last", "");
        break;
    default: /* no candidates, so that the shell completes file names */
        break;
    }
}

static bool is_command_of_user(const struct line *l)
{
    for (int i = 1; i < l->n - 1; i++)
        if (strcmp(l->words[i], "--") == 0)
            return true;
    return false;
}

static void offer_word(struct line *l)
{
    const char *word = l->words[l->n - 1], *before = l->words[l->n - 2];
    const char *equals = strncmp(word, "--", 2) == 0 ? strchr(word, '=') : NULL;
    const struct ab_option_info *o = NULL;
    if (is_command_of_user(l))
        return;
    if (equals != NULL && (o = option_of(l, word, (size_t)(equals - word))) != NULL)
        l->offer.begin = equals + 1;
    else if (l->n > 2)
        o = option_of(l, before, strlen(before));
    if (o != NULL)
        offer_values(l, o);
    else if (word[0] == '-')
        offer_options(l);
    else
        offer_arguments(l);
}

void ab_complete_print(FILE *to, int n, char **words)
{
    if (n < 1)
        return;
    struct line l = {n, words, AB_COMMAND_COUNT, {to, words[n - 1], words[n - 1]}};
    for (int i = 0; i < AB_COMMAND_COUNT; i++) {
        if (n == 1)
            offer(&l.offer, ab_commands[i].name, "");
        else if (strcmp(ab_commands[i].name, words[0]) == 0)
            l.command = (enum ab_command_id)i;
    }
    if (n == 1) {
        offer(&l.offer, "--help", "");
        offer(&l.offer, "--version", "");
    } else if (l.command != AB_COMMAND_COUNT)
        offer_word(&l);
}

enum ab_status ab_complete_script(FILE *to, const char *shell, struct ab_err *err)
{
    static const struct {
        const char *name, *text;
    } scripts[] = {{"bash", bash}, {"zsh", zsh}, {"fish", fish}};
    for (size_t i = 0; i < AB_ARRAY_LEN(scripts); i++)
        if (strcmp(scripts[i].name, shell) == 0) {
            fputs(scripts[i].text, to);
            return AB_OK;
        }
    return ab_fail(err, AB_USAGE,
                   "--completion: unknown shell \"%s\"; allowed are bash, zsh and "
                   "fish",
                   AB_SHOWN(64, shell));
}
