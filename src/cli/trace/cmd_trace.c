/* SPDX-License-Identifier: MIT
 *
 * The words of `allocbench trace`: which there are, what options and how many files each takes.
 */
#include "cli/trace/cmd_trace.h"

#include "base/bits.h"
#include "base/nearest.h"
#include "cli/commands.h"
#include "core/text.h"

#include <string.h>

enum {
    EVENTS = 1,
    LIVE = 2,
    PARTIAL = 4,
    DIGEST = 8,
    OUTPUT = 16,
    JSON = 32,
    CSV = 64,
    LIVE_CSV = 128
};

static const struct word {
    const char *name;
    bool takes_many;
    unsigned options;
    enum ab_status (*run)(const struct ab_options *o, int *exit_code, struct ab_err *err);
} words[] = {
    {"info", true, PARTIAL | DIGEST | JSON, ab_trace_cmd_info},
    {"check", true, PARTIAL, ab_trace_cmd_check},
    {"dump", false, EVENTS | PARTIAL, ab_trace_cmd_dump},
    {"cut", false, EVENTS | LIVE | PARTIAL | OUTPUT, ab_trace_cmd_cut},
    {"export", false, EVENTS | PARTIAL | CSV | LIVE_CSV, ab_trace_cmd_export},
    {"recover", false, PARTIAL | OUTPUT, ab_trace_cmd_recover},
};

const char *ab_trace_command_name(size_t i)
{
    return i < AB_ARRAY_LEN(words) ? words[i].name : NULL;
}

static enum ab_status find_word(const char *given, const struct word **out, struct ab_err *err)
{
    const char *names[AB_ARRAY_LEN(words)];
    char shown[256];
    for (size_t i = 0; i < AB_ARRAY_LEN(words); i++)
        if (strcmp(names[i] = words[i].name, given) == 0) {
            *out = &words[i];
            return AB_OK;
        }
    const char *near = ab_text_nearest(given, names, AB_ARRAY_LEN(words));
    ab_text_printable(shown, sizeof shown, given);
    return near != NULL
               ? ab_fail(err, AB_USAGE, "trace %s: unknown command; did you mean %s?", shown, near)
               : ab_fail(err, AB_USAGE,
                         "trace %s: unknown command; allowed are info, "
                         "check, dump, cut, export and recover",
                         shown);
}

static enum ab_status check_options(const struct word *word, const struct ab_options *o,
                                    struct ab_err *err)
{
    const struct {
        bool is_given;
        const char *name;
    } given[] = {
        {o->has_events, "events"},     {o->has_live, "live"},
        {o->is_partial, "partial"},    {o->wants_digest, "digest"},
        {o->output != NULL, "output"}, {o->json != NULL, "json"},
        {o->csv != NULL, "csv"},       {o->live_csv != NULL, "live-csv"},
    };
    for (unsigned i = 0; i < AB_ARRAY_LEN(given); i++)
        if (given[i].is_given && (word->options >> i & 1) == 0)
            return ab_fail(err, AB_USAGE,
                           "trace %s does not take --%s; see allocbench trace --help", word->name,
                           given[i].name);
    return AB_OK;
}

static enum ab_status check_files(const struct word *word, const struct ab_options *o,
                                  struct ab_err *err)
{
    size_t n_standard_input = 0;
    if (o->n_args < 2)
        return ab_fail(err, AB_USAGE, "trace %s needs a file: allocbench trace %s %s", word->name,
                       word->name, word->run == ab_trace_cmd_recover ? "SPOOL" : "TRACE.abt");
    if (o->n_args > 2 && !word->takes_many)
        return ab_fail(err, AB_USAGE, "trace %s takes one %s", word->name,
                       word->run == ab_trace_cmd_recover ? "spool" : "trace");
    for (size_t i = 1; i < o->n_args; i++)
        n_standard_input += strcmp(o->args[i], "-") == 0;
    return n_standard_input < 2 ? AB_OK
                                : ab_fail(err, AB_USAGE, "standard input can be read only once");
}

enum ab_status ab_cmd_trace(const struct ab_options *o, int *exit_code, struct ab_err *err)
{
    const struct word *word;
    if (o->n_args == 0)
        return ab_fail(err, AB_USAGE, "trace needs a command: allocbench trace info TRACE.abt");
    AB_TRY(find_word(o->args[0], &word, err));
    AB_TRY(check_options(word, o, err));
    AB_TRY(check_files(word, o, err));
    return word->run(o, exit_code, err);
}
