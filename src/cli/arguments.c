/* SPDX-License-Identifier: MIT
 *
 * Resolves names with '@', and has a table of the kinds of files that each command takes. Refuses
 * files of another kind, and names the right command for them.
 */
#include "cli/arguments.h"

#include "app/backend_choice.h"
#include "app/catalogue.h"
#include "app/file_kind.h"
#include "app/named_workload.h"
#include "app/result_store.h"
#include "base/bits.h"
#include "cli/options.h"
#include "core/alloc.h"
#include "core/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum role {
    NO_FILE,
    WORKLOAD,
    TRACE,
    RESULT,
    BASE, /* a result, or the name of a baseline */
    WORK, /* for verify: a workload, a trace or a back end */
};

/* Kind of a command's arguments from number `from` on. `trace` has no row, because it reads all its
 * files and names each bad one. */
static const struct {
    enum ab_command_id command;
    enum role role;
    size_t from;
} table[] = {
    {AB_COMMAND_RUN, WORKLOAD, 0},       {AB_COMMAND_CHECK, WORKLOAD, 0},
    {AB_COMMAND_CALIBRATE, WORKLOAD, 0}, {AB_COMMAND_REPLAY, TRACE, 0},
    {AB_COMMAND_REPORT, RESULT, 0},      {AB_COMMAND_COMPARE, BASE, 0},
    {AB_COMMAND_MERGE, RESULT, 0},       {AB_COMMAND_BASELINE, RESULT, 2},
    {AB_COMMAND_VERIFY, WORK, 0},        {AB_COMMAND_ADVISE, TRACE, 0},
};

static enum role role_of(enum ab_command_id command, size_t i)
{
    for (size_t k = 0; k < AB_ARRAY_LEN(table); k++)
        if (table[k].command == command && i >= table[k].from)
            return table[k].role;
    return NO_FILE;
}

/* ---- files of another kind ---- */

static bool is_meant(enum role role, enum ab_file_kind kind, const char *path)
{
    switch (role) {
    case WORKLOAD:
        return kind == AB_FILE_WORKLOAD;
    case TRACE:
        return kind == AB_FILE_TRACE;
    case RESULT: /* HTML reports count, because a report contains its result */
        return kind == AB_FILE_RESULT || kind == AB_FILE_REPORT || kind == AB_FILE_SUITE;
    /* a name without '/' and '.', such as "main", is a baseline, even if a file has this name */
    case BASE:
        return kind == AB_FILE_RESULT || kind == AB_FILE_REPORT || kind == AB_FILE_SUITE ||
               strpbrk(path, "/.") == NULL;
    case WORK:
        return kind == AB_FILE_WORKLOAD || kind == AB_FILE_TRACE || kind == AB_FILE_BINARY ||
               strpbrk(path, "/.") == NULL;
    case NO_FILE:
        break;
    }
    return true;
}

/* Returns the right command for a file of this kind, and sets *after to the text that follows the
 * file's path in that command; NULL = unknown. */
static const char *right_command(enum ab_command_id command, enum ab_file_kind kind,
                                 const char **after)
{
    *after = kind == AB_FILE_SPOOL ? " -o OUT.abt" : "";
    switch (kind) {
    case AB_FILE_WORKLOAD:
        return "run";
    case AB_FILE_TRACE:
        return command == AB_COMMAND_CHECK ? "trace check" : "replay";
    case AB_FILE_RESULT:
    case AB_FILE_REPORT:
    case AB_FILE_SUITE:
        return "report";
    case AB_FILE_SPOOL:
        return "trace recover";
    case AB_FILE_BINARY:
        return "run WORKLOAD.yaml -b";
    case AB_FILE_UNKNOWN:
    case AB_FILE_KINDS:
        break;
    }
    return NULL;
}

/* Fails with AB_USAGE if a file of another tool is given as a trace. */
static enum ab_status check_foreign(enum ab_command_id command, const char *path,
                                    struct ab_err *err)
{
    const char *format = ab_foreign_format_of(path);
    if (format == NULL)
        return AB_OK;
    return ab_fail(err, AB_USAGE,
                   "%s: %s is in the format %s, which is not a trace of allocbench; import it "
                   "first: allocbench trace import %s -o OUT.abt",
                   ab_commands[command].name, AB_SHOWN(512, path), format, AB_SHOWN(512, path));
}

static enum ab_status check_kind(enum ab_command_id command, enum role role, const char *path,
                                 struct ab_err *err)
{
    static const char *const wanted[] = {
        [NO_FILE] = "",        [WORKLOAD] = "a workload", [TRACE] = "a trace",
        [RESULT] = "a result", [BASE] = "a result",       [WORK] = "a workload or a trace",
    };
    char shown[512];
    const char *after;
    enum ab_file_kind kind = role == NO_FILE || strcmp(path, "-") == 0 ? AB_FILE_UNKNOWN
                                                                       : ab_file_kind_of(path);
    if (role == TRACE && kind == AB_FILE_UNKNOWN && strcmp(path, "-") != 0)
        return check_foreign(command, path, err);
    const char *right = right_command(command, kind, &after);
    if (right == NULL || is_meant(role, kind, path))
        return AB_OK;
    ab_text_printable(shown, sizeof shown, path);
    return ab_fail(err, AB_USAGE, "%s: %s is %s, not %s; try: allocbench %s %s%s",
                   ab_commands[command].name, shown, ab_file_kind_names[kind], wanted[role], right,
                   shown, after);
}

/* True if `text` plus the usual suffix of its kind is a file. Sets *end to this suffix. */
static bool is_without_end(enum role role, const char *text, const char **end)
{
    static const char *const ends[] = {
        [WORKLOAD] = ".yaml", [TRACE] = ".abt", [RESULT] = ".json", [WORK] = NULL};
    char path[4096];
    *end = ends[role];
    int n = *end != NULL ? snprintf(path, sizeof path, "%s%s", text, *end) : 0;
    return n > 0 && (size_t)n < sizeof path && access(path, F_OK) == 0;
}

/* Refuses an allocator as a file argument, as in "-b glibc jemalloc" or "-b glibc, jemalloc". */
static enum ab_status refuse_backend(enum ab_command_id command, const struct ab_options *o,
                                     const char *text, struct ab_err *err)
{
    if (!ab_catalogue_has(AB_NAMES_BACKENDS, text) || access(text, F_OK) == 0)
        return AB_OK;
    const char *list = o->backends.n > 0 ? o->backends.names[o->backends.n - 1] : "";
    int n = (int)strlen(list);
    n -= n > 0 && list[n - 1] == ',';
    return ab_fail(err, AB_USAGE,
                   "%s: %s is an allocator, not a file; a list of allocators has commas and no "
                   "blanks: -b %.*s%s%s",
                   ab_commands[command].name, text, n, AB_SHOWN(512, list), n > 0 ? "," : "", text);
}

/* Fails if a file is missing, and suggests a likely name: the name with its suffix, or an installed
 * workload with its '@'. */
static enum ab_status check_there(enum ab_command_id command, enum role role, const char *text,
                                  struct ab_err *err)
{
    char name[256];
    const char *shown = AB_SHOWN(256, text), *as = ab_commands[command].name, *end;
    if (access(text, F_OK) == 0 || strcmp(text, "-") == 0)
        return AB_OK;
    if (is_without_end(role, text, &end))
        return ab_fail(err, AB_INPUT, "%s: there is no file %s, but %s%s", as, shown, shown, end);
    bool is_exact, is_known = (role == WORKLOAD || role == TRACE) &&
                              ab_is_named(role == TRACE ? AB_NAMED_TRACE : AB_NAMED_WORKLOAD, text,
                                          name, sizeof name, &is_exact);
    if (!is_known)
        return AB_OK;
    return is_exact ? ab_fail(err, AB_INPUT, "%s: there is no file %s; try: allocbench %s @%s", as,
                              shown, as, name)
                    : ab_fail(err, AB_INPUT, "%s: there is no file %s; did you mean @%s?", as,
                              shown, name);
}

static bool is_group_of_workloads(const char *text)
{
    struct ab_err ignored;
    char **paths = NULL;
    size_t n = 0;
    bool is = ab_named_group(AB_NAMED_WORKLOAD, text, &paths, &n, &ignored) == AB_OK && n > 0;
    for (size_t i = 0; i < n; i++)
        free(paths[i]);
    free(paths);
    return is;
}

/* Resolves "@NAME" to a trace. A file whose name begins with '@' is written ./@NAME. */
static enum ab_status find_trace(const char *text, char **out, struct ab_err *err)
{
    char name[256];
    bool is_exact;
    const char *shown = AB_SHOWN(256, text);
    if (is_group_of_workloads(text))
        return ab_fail(err, AB_USAGE, "%s are workloads, not traces; try: allocbench run %s", shown,
                       shown);
    if (ab_is_named(AB_NAMED_WORKLOAD, text + 1, name, sizeof name, &is_exact) && is_exact)
        return ab_fail(err, AB_USAGE, "%s is a workload, not a trace; try: allocbench run %s",
                       shown, shown);
    return ab_named_find(AB_NAMED_TRACE, text, out, err);
}

/* ---- names ---- */

static enum ab_status settle(enum ab_command_id command, const struct ab_options *o, enum role role,
                             const char **text, struct ab_arguments *out, struct ab_err *err)
{
    char *path = NULL;
    if (*text == NULL || role == NO_FILE)
        return AB_OK;
    if ((*text)[0] != '@') {
        AB_TRY(check_there(command, role, *text, err));
        return check_kind(command, role, *text, err);
    }
    AB_TRY(role == RESULT || role == BASE ? ab_last_result(&o->store, &o->talk, *text, &path, err)
           : role == TRACE                ? find_trace(*text, &path, err)
                                          : ab_named_find(AB_NAMED_WORKLOAD, *text, &path, err));
    AB_GROW(out->owned, out->cap, out->n);
    *text = out->owned[out->n++] = path;
    return AB_OK;
}

/* Replaces the names of groups by their files. */
static enum ab_status expand_groups(enum ab_command_id command, struct ab_options *o,
                                    struct ab_arguments *out, struct ab_err *err)
{
    const char **args = NULL;
    size_t n_args = 0;
    if (command != AB_COMMAND_RUN && command != AB_COMMAND_REPLAY)
        return AB_OK;
    for (size_t i = 0; i < o->n_args; i++) {
        char **paths;
        size_t n;
        AB_TRY(ab_named_group(command == AB_COMMAND_RUN ? AB_NAMED_WORKLOAD : AB_NAMED_TRACE,
                              o->args[i], &paths, &n, err));
        for (size_t k = 0; k < n; k++) {
            AB_GROW(out->owned, out->cap, out->n);
            out->owned[out->n++] = paths[k];
            ab_grow_words(&args, &n_args, paths[k]);
        }
        o->is_group = o->is_group || n > 0;
        if (n == 0)
            ab_grow_words(&args, &n_args, o->args[i]);
        free(paths);
    }
    free(o->args);
    o->args = args;
    o->n_args = n_args;
    return AB_OK;
}

enum ab_status ab_arguments_settle(enum ab_command_id command, struct ab_options *o,
                                   struct ab_arguments *out, struct ab_err *err)
{
    AB_TRY(
        ab_sweeps_expand(&o->backends, o->sweeps, o->n_sweeps, command == AB_COMMAND_ADVISE, err));
    AB_TRY(expand_groups(command, o, out, err));
    bool takes_backends = command == AB_COMMAND_RUN || command == AB_COMMAND_CHECK ||
                          command == AB_COMMAND_REPLAY || command == AB_COMMAND_EXEC;
    for (size_t i = 0; i < o->n_args; i++) {
        if (takes_backends && (i == 0 || command != AB_COMMAND_EXEC))
            AB_TRY(refuse_backend(command, o, o->args[i], err));
        AB_TRY(settle(command, o, role_of(command, i), &o->args[i], out, err));
    }
    AB_TRY(settle(command, o, RESULT, &o->resume.path, out, err));
    AB_TRY(settle(command, o, BASE, &o->verdicts.baseline, out, err));
    return settle(command, o, TRACE, &o->program.trace, out, err);
}

void ab_arguments_fini(struct ab_arguments *arguments)
{
    for (size_t i = 0; i < arguments->n; i++)
        free(arguments->owned[i]);
    free(arguments->owned);
    *arguments = (struct ab_arguments){0};
}
