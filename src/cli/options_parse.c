/* SPDX-License-Identifier: MIT
 *
 * Parses the words of the command line with the table of options, and stores the values.
 */
#include "cli/options_parse.h"

#include "base/bits.h"
#include "base/nearest.h"
#include "base/units.h"
#include "cli/option_table.h"
#include "core/alloc.h"
#include "core/text.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* ---- values ---- */

/* Stores a value in a member of struct ab_options: a bool, an enum or an unsigned number. */
static void store(void *member, size_t size, uint64_t value)
{
    if (size == sizeof(bool))
        *(bool *)member = value != 0;
    else if (size == sizeof(uint32_t))
        *(uint32_t *)member = (uint32_t)value;
    else
        *(uint64_t *)member = value;
}

static const char *read_number(const struct ab_option_info *info, const char *value, uint64_t *out)
{
    struct ab_number n;
    *out = 0;
    if (info->zero != NULL && strcmp(value, info->zero) == 0)
        return NULL;
    const char *bad = ab_units_parse(value, strlen(value), info->unit, &n);
    if (bad != NULL)
        return bad;
    *out = n.whole;
    if (n.whole < info->min && info->min == 1 && info->unit != AB_UNIT_TIME)
        return "must be at least 1";
    return n.whole < info->min || n.whole > info->max ? info->range : NULL;
}

static enum ab_status apply(const struct ab_option_info *info, const char *value,
                            struct ab_options *o, struct ab_err *err)
{
    void *member = (char *)o + info->at, *also = (char *)o + info->also;
    const char *bad = NULL;
    uint64_t number = 1;
    size_t word = 0;
    switch (info->type) {
    case AB_OPTION_LIST:
        ab_grow_words(member, also, value);
        return AB_OK;
    case AB_OPTION_TEXT:
        *(const char **)member = value;
        break;
    case AB_OPTION_WORD:
        bad = ab_option_word(value, info->words, &word);
        bad = bad != NULL && info->range != NULL ? info->range : bad;
        store(member, info->size, word);
        break;
    case AB_OPTION_NUMBER:
        bad = read_number(info, value, &number);
        store(member, info->size, number);
        break;
    case AB_OPTION_FLAG:
        store(member, info->size, number);
        break;
    case AB_OPTION_SPECIAL:
        bad = info->read(&value, o);
    }
    if (bad != NULL)
        return ab_fail(err, AB_USAGE, "--%s %s: %s", info->name, AB_SHOWN(256, value), bad);
    if (info->also != 0)
        *(bool *)also = true;
    return AB_OK;
}

/* ---- words ---- */

/* Removed options, and the text `instead` that names a replacement; COUNT = removed from all
 * commands. */
static const struct {
    enum ab_command_id command;
    const char *name, *instead;
} retired[] = {
    {AB_COMMAND_REPLAY, "cache",
     "a replay does not read the program's data; exec --trace shows how far the replay is off"},
    {AB_COMMAND_COUNT, "google-benchmark",
     "--benchmark-json writes the numbers, --csv those of each round"},
    {AB_COMMAND_ADVISE, "html",
     "the advice is printed, and --json FILE has all of it; allocbench trace info TRACE --html FILE "
     "draws flame graphs of the call sites"},
    {AB_COMMAND_RECORD, "mark-function",
     "--marks marks frames; allocbench_mark of allocbench/mark.h marks any point of the program"},
    {AB_COMMAND_EXPLAIN, "results", "allocbench report shows the numbers of a result"},
};

static const char *find_retired(enum ab_command_id command, const char *name)
{
    for (size_t i = 0; i < sizeof retired / sizeof retired[0]; i++)
        if ((retired[i].command == command || retired[i].command == AB_COMMAND_COUNT) &&
            strcmp(retired[i].name, name) == 0)
            return retired[i].instead;
    return NULL;
}

/* Options of other measuring tools, and the text `instead` that names our option. A row counts only
 * if the command has the option `ours`. */
static const struct {
    const char *name, *ours, *instead;
} habits[] = {
#define ROUNDS "use --rounds N"
#define FILES "use --json FILE, --csv FILE, --html FILE or --markdown FILE"
#define LANES "in a workload, lanes: N of a phase sets it; --set NAME=N sets a param"
#define PHASE "-v phase=NAME shows one phase"
#define WARM \
    "no warm-up is needed, because each round runs in fresh processes; in a workload a phase with " \
    "measure: false warms up"
    {"runs", "rounds", ROUNDS},
    {"r", "rounds", ROUNDS},
    {"n", "rounds", ROUNDS},
    {"repeat", "rounds", ROUNDS},
    {"repetitions", "rounds", ROUNDS},
    {"benchmark_repetitions", "rounds", ROUNDS},
    {"iterations", "rounds",
     ROUNDS "; in a workload, until: iters(N) sets the number of repetitions of a phase"},
    {"warmup", "rounds", WARM},
    {"w", "rounds", WARM},
    {"duration", "time-budget", "use --time-budget TIME"},
    {"benchmark_min_time", "time-budget", "use --time-budget TIME"},
    {"allocator", "backend", "use -b NAME,NAME"},
    {"allocators", "backend", "use -b NAME,NAME"},
    {"malloc", "backend", "use -b NAME,NAME"},
    {"o", "json", FILES},
    {"out", "json", FILES},
    {"output", "json", FILES},
    {"format", "json", FILES},
    {"benchmark_out", "json", FILES},
    {"benchmark_format", "json", FILES},
    {"export-json", "json", "use --json FILE"},
    {"export-csv", "csv", "use --csv FILE"},
    {"export-markdown", "markdown", "use --markdown FILE"},
    {"t", "set", LANES},
    {"threads", "set", LANES},
    {"filter", "gate", PHASE},
    {"benchmark_filter", "gate", PHASE},
};

static const char *find_habit(enum ab_command_id command, const char *name)
{
    for (size_t i = 0; i < AB_ARRAY_LEN(habits); i++)
        if (strcmp(habits[i].name, name) == 0 && ab_options_find(command, habits[i].ours) != NULL)
            return habits[i].instead;
    return NULL;
}

static enum ab_status unknown_option(enum ab_command_id command, const char *given,
                                     struct ab_err *err)
{
    enum { NAMES_MAX = 128 };
    const char *names[NAMES_MAX];
    const struct ab_option_info *info;
    char word[128], shown[160];
    size_t n = 0;
    for (size_t i = 0; (info = ab_options_info(i)) != NULL && n < NAMES_MAX; i++)
        if (ab_options_has(info, command))
            names[n++] = info->name;
    snprintf(word, sizeof word, "%.*s", (int)strcspn(given, "="), given);
    const char *bare = word + strspn(word, "-");
    if (bare == word + 1 && word[1] != 0 && isdigit((unsigned char)word[2]))
        word[2] = 0; /* cuts the value off, as in -n5 */
    const char *instead = find_retired(command, bare), *near = ab_text_nearest(bare, names, n);
    const char *habit = find_habit(command, bare);
    ab_text_printable(shown, sizeof shown, word);
    if (habit != NULL)
        return ab_fail(err, AB_USAGE, "%s: unknown option %s; %s", ab_commands[command].name, shown,
                       habit);
    if (instead != NULL)
        return ab_fail(err, AB_USAGE, "%s: %s was removed: %s", ab_commands[command].name, shown,
                       instead);
    return near != NULL ? ab_fail(err, AB_USAGE, "%s: unknown option %s; did you mean --%s?",
                                  ab_commands[command].name, shown, near)
                        : ab_fail(err, AB_USAGE, "%s: unknown option %s; see allocbench %s --help",
                                  ab_commands[command].name, shown, ab_commands[command].name);
}

static bool is_same(const char *name, const char *word, size_t n)
{
    return name != NULL && strlen(name) == n && strncmp(name, word, n) == 0;
}

/* Returns the option of the command that `word` names. Sets *value to the part of the word that is
 * the option's value, or to NULL. */
static const struct ab_option_info *find_option(enum ab_command_id command, const char *word,
                                                const char **value)
{
    const struct ab_option_info *info;
    bool is_long = word[1] == '-';
    size_t n = strcspn(word + 2, "=");
    for (size_t i = 0; (info = ab_options_info(i)) != NULL; i++) {
        if (!ab_options_has(info, command))
            continue;
        if (is_long && (is_same(info->name, word + 2, n) || is_same(info->alias, word + 2, n))) {
            *value = word[2 + n] == '=' ? word + 3 + n : NULL;
            return info;
        }
        if (!is_long && info->letter != 0 && info->letter == word[1]) {
            *value = word[2] == 0 ? NULL : word[2] == '=' ? word + 3 : word + 2;
            return info;
        }
    }
    return NULL;
}

static enum ab_status parse_option(enum ab_command_id command, int argc, char **argv, int *i,
                                   struct ab_options *o, struct ab_err *err)
{
    const char *value = NULL;
    const struct ab_option_info *info = find_option(command, argv[*i], &value);
    if (info == NULL)
        return unknown_option(command, argv[*i], err);
    if (value != NULL && strcmp(info->name, "help") == 0 && strcmp(value, "all") == 0)
        info = find_option(command, "--help-all", &value);
    if (info->arg == NULL && value != NULL)
        return ab_fail(err, AB_USAGE, "--%s takes no value", info->name);
    if (info->is_value != NULL && value == NULL) {
        if (*i + 1 < argc && info->is_value(argv[*i + 1]))
            value = argv[++*i];
    } else if (info->arg != NULL && value == NULL) {
        if (*i + 1 >= argc)
            return ab_fail(err, AB_USAGE, "--%s needs a value: --%s %s", info->name, info->name,
                           info->arg);
        value = argv[++*i];
    }
    ab_grow_words(&o->given, &o->n_given, info->name);
    return apply(info, value, o, err);
}

/* Refuses an option without the options that it depends on. */
static enum ab_status check_needs(enum ab_command_id command, const struct ab_options *o,
                                  struct ab_err *err)
{
    for (size_t i = 0; i < o->n_given; i++) {
        const struct ab_option_info *info = ab_options_find(command, o->given[i]);
        const char *const *needs = info->needs;
        bool is_met = needs[0] == NULL || ab_options_find(command, needs[0]) == NULL;
        for (size_t k = 0; k < o->n_given && !is_met; k++)
            is_met = strcmp(o->given[k], needs[0]) == 0 ||
                     (needs[1] != NULL && strcmp(o->given[k], needs[1]) == 0);
        if (!is_met && info->lack != NULL)
            return ab_fail(err, AB_USAGE, "%s", info->lack);
        if (!is_met)
            return ab_fail(err, AB_USAGE, "--%s requires --%s", info->name, needs[0]);
    }
    return AB_OK;
}

enum ab_status ab_options_parse(enum ab_command_id command, int argc, char **argv,
                                struct ab_options *out, struct ab_err *err)
{
    struct ab_options o = {.rules.rounds = AB_ROUNDS_DEFAULT,
                           .verdicts.limit = 0.05,
                           .conditions.drain_ns = 100000000,
                           .replay.touch = AB_TOUCH_PAGE,
                           .replay.recorded = AB_RECORDED_AUTO,
                           .settings.tape_mem_share = 0.25,
                           .server.ready_timeout_ns = UINT64_C(30000000000),
                           .server.rest_ns = UINT64_C(10000000000),
                           .filter.end_event = UINT64_MAX};
    enum ab_status status = AB_OK;
    bool is_rest = false;
    for (int i = 1; i < argc && status == AB_OK; i++) {
        if (!is_rest && strcmp(argv[i], "--") == 0)
            is_rest = true;
        else if (!is_rest && argv[i][0] == '-' && argv[i][1] != 0)
            status = parse_option(command, argc, argv, &i, &o, err);
        else {
            ab_grow_words(&o.args, &o.n_args, argv[i]);
            /* words after the program are arguments of the program */
            is_rest = is_rest || command == AB_COMMAND_RECORD || command == AB_COMMAND_EXEC;
        }
    }
    if (status == AB_OK && !o.wants_help && !o.wants_help_all)
        status = check_needs(command, &o, err);
    if (status == AB_OK)
        *out = o;
    else
        ab_options_fini(&o);
    return status;
}

void ab_options_fini(struct ab_options *o)
{
    free(o->backends.names);
    free(o->passes.moments);
    free(o->sweeps);
    free(o->backends.aged_lists);
    free(o->settings.sets);
    free(o->maps.rules);
    free(o->verdicts.gates);
    free(o->server.metrics);
    free(o->program.programs);
    free(o->program.prepares);
    free(o->filter.sites);
    free(o->args);
    free(o->given);
}
