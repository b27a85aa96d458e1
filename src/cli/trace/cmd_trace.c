/* SPDX-License-Identifier: MIT
 *
 * The words of `allocbench trace`: which there are, what options and how many files each takes.
 */
#include "cli/trace/cmd_trace.h"

#include "base/bits.h"
#include "base/nearest.h"
#include "cli/commands.h"
#include "core/text.h"
#include "trace_tools/merge.h"

#include <limits.h>
#include <string.h>

enum {
    EVENTS = 1,
    LIVE = 2,
    PARTIAL = 4,
    DIGEST = 8,
    OUTPUT = 16,
    JSON = 32,
    THREAD = 64,
    SIZE = 128,
    TIME = 256,
    SERIAL = 512,
    SITES = 1024,
    SORT = 2048,
    SITE = 4096,
    SCOPES = 8192,
    FLAME = 16384,
    FOLDED = 32768,
    FLAME_BY = 65536,
    HTML = 131072,
    SCOPE = 262144
};

static const struct word {
    const char *name, *files; /* as messages name them */
    unsigned least, most;
    unsigned options;
    enum ab_status (*run)(const struct ab_options *o, int *exit_code, struct ab_err *err);
} words[] = {
    {"info", "TRACE.abt", 1, UINT_MAX,
     PARTIAL | DIGEST | JSON | SITES | SORT | SCOPES | SCOPE | FLAME | FOLDED | FLAME_BY | HTML,
     ab_trace_cmd_info},
    {"check", "TRACE.abt", 1, UINT_MAX, PARTIAL, ab_trace_cmd_check},
    {"dump", "TRACE.abt", 1, 1, EVENTS | PARTIAL, ab_trace_cmd_dump},
    {"cut", "TRACE.abt", 1, 1, EVENTS | LIVE | PARTIAL | OUTPUT, ab_trace_cmd_cut},
    {"filter", "TRACE.abt", 1, 1, EVENTS | PARTIAL | OUTPUT | THREAD | SIZE | TIME | SITE,
     ab_trace_cmd_filter},
    {"merge", "A.abt B.abt", 2, AB_MERGE_MOST, PARTIAL | OUTPUT | SERIAL, ab_trace_cmd_merge},
    {"anonymize", "TRACE.abt", 1, 1, PARTIAL | OUTPUT, ab_trace_cmd_anonymize},
    {"import", "FORMAT FILE", 2, 2, PARTIAL | OUTPUT, ab_trace_cmd_import},
    {"recover", "SPOOL", 1, 1, PARTIAL | OUTPUT, ab_trace_cmd_recover},
};

/* In the order of the bits. */
static const char *const option_names[] = {
    "events", "live",   "partial",  "digest", "output", "json", "thread",
    "size",   "time",   "serial",   "sites",  "sort",   "site", "scopes",
    "flame",  "folded", "flame-by", "html",   "scope",
};

const char *ab_trace_command_name(size_t i)
{
    return i < AB_ARRAY_LEN(words) ? words[i].name : NULL;
}

bool ab_trace_command_takes(const char *name, const char *option)
{
    unsigned bit = 0;
    for (unsigned i = 0; i < AB_ARRAY_LEN(option_names); i++)
        if (strcmp(option_names[i], option) == 0)
            bit = 1u << i;
    for (size_t i = 0; i < AB_ARRAY_LEN(words); i++)
        if (strcmp(words[i].name, name) == 0)
            return bit == 0 || (words[i].options & bit) != 0;
    return false;
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
    if (strcmp(given, "export") == 0)
        return ab_fail(err, AB_USAGE,
                       "trace export was removed: trace dump writes the events, trace info "
                       "--json - the curve of live memory; files of other tools are only imported");
    const char *near = ab_text_nearest(given, names, AB_ARRAY_LEN(words));
    char list[256] = "";
    ab_text_printable(shown, sizeof shown, given);
    if (near != NULL)
        return ab_fail(err, AB_USAGE, "trace %s: unknown command; did you mean %s?", shown, near);
    for (size_t i = 0; i < AB_ARRAY_LEN(words); i++)
        ab_text_join(list, sizeof list, i + 1 < AB_ARRAY_LEN(words) ? ", " : " and ", names[i]);
    return ab_fail(err, AB_USAGE, "trace %s: unknown command; allowed are %s", shown, list);
}

static enum ab_status check_options(const struct word *word, const struct ab_options *o,
                                    struct ab_err *err)
{
    const bool given[] = {
        o->has_events,
        o->has_live,
        o->is_partial,
        o->wants_digest,
        o->output != NULL,
        o->json != NULL,
        o->n_trace_threads > 0,
        o->has_sizes,
        o->has_times,
        o->is_serial,
        o->wants_sites,
        o->has_site_order,
        o->n_site_patterns > 0,
        o->wants_scopes,
        o->flame != NULL,
        o->folded != NULL,
        o->has_flame_by,
        o->sinks[AB_SINK_HTML] != NULL,
        o->scopes_wish != AB_SCOPES_BEST,
    };
    _Static_assert(AB_ARRAY_LEN(given) == AB_ARRAY_LEN(option_names), "a name for each");
    for (unsigned i = 0; i < AB_ARRAY_LEN(given); i++)
        if (given[i] && (word->options >> i & 1) == 0)
            return ab_fail(err, AB_USAGE,
                           "trace %s does not take --%s; see allocbench trace %s --help",
                           word->name, option_names[i], word->name);
    return AB_OK;
}

static enum ab_status check_files(const struct word *word, const struct ab_options *o,
                                  struct ab_err *err)
{
    size_t n_standard_input = 0, n = o->n_args - 1;
    if (n < word->least)
        return ab_fail(err, AB_USAGE, "trace %s needs %s: allocbench trace %s %s", word->name,
                       word->least == 1 ? "a file" : word->files, word->name, word->files);
    if (n > word->most && word->run == ab_trace_cmd_merge)
        return ab_fail(err, AB_USAGE, "trace merge takes at most %u traces", word->most);
    if (n > word->most)
        return ab_fail(err, AB_USAGE, "trace %s takes %s", word->name,
                       word->run == ab_trace_cmd_recover ? "one spool"
                       : word->most == 1                 ? "one trace"
                                                         : word->files);
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
