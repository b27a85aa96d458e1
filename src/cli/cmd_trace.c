/* SPDX-License-Identifier: MIT
 *
 * Table of the subcommands of `allocbench trace`, with their options and numbers of files. Also has
 * all subcommands except `info`.
 */
#include "app/catalogue.h"
#include "app/trace/trace_dump.h"
#include "app/trace/trace_making.h"
#include "app/trace/trace_modeling.h"
#include "base/bits.h"
#include "base/nearest.h"
#include "cli/commands.h"
#include "cli/option_table.h"
#include "cli/spool_summary.h"
#include "cli/trace.h"
#include "core/text.h"
#include "core/units_show.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- check: verifies each file and prints one line ---- */

static enum ab_status trace_check(const struct ab_options *o, int *exit_code, struct ab_err *err)
{
    struct ab_progress_files files;
    struct ab_trace_info info;
    for (size_t i = 1; i < o->n_args; i++) {
        const struct ab_trace_pass pass = ab_trace_pass_of(o, o->args[i], &files);
        enum ab_status status = ab_trace_pass_check(&pass, &info, err);
        if (status == AB_INPUT) { /* the other files are still checked */
            fflush(stdout);
            fprintf(stderr, "allocbench: %s\n", err->text);
            *exit_code = ab_status_exit_code(AB_INPUT);
        } else if (status != AB_OK) {
            return status;
        } else {
            printf("%s: ok, %llu events%s\n", AB_SHOWN(600, o->args[i]),
                   (unsigned long long)info.events,
                   info.is_partial ? " (partial: its end is missing)" : "");
        }
    }
    return AB_OK;
}

static enum ab_status trace_dump(const struct ab_options *o, int *exit_code, struct ab_err *err)
{
    struct ab_progress_files files;
    const struct ab_trace_pass pass = ab_trace_pass_of(o, o->args[1], &files);
    (void)exit_code;
    return ab_trace_dump(&pass, stdout, err);
}

/* ---- cut: writes a part of a trace, and prints what the part has ---- */

static void print_cut(const char *path, const struct ab_cut_report *r)
{
    fprintf(stderr, "allocbench: %s: %llu events", AB_SHOWN(600, path),
            (unsigned long long)r->info.events);
    if (r->n_kept > 0)
        fprintf(stderr, ", of which the first %llu are allocations from before the cut",
                (unsigned long long)r->n_kept);
    if (r->n_dropped > 0)
        fprintf(stderr, "; %llu calls on blocks from before the cut omitted",
                (unsigned long long)r->n_dropped);
    fputc('\n', stderr);
}

/* Sets *out to the trace to write to -o, made from the files o->args[first] and following. Fails
 * with AB_USAGE without -o, or if the trace would go to a terminal. */
static enum ab_status request_of(const struct ab_options *o, enum ab_new_trace_kind kind,
                                 const char *word, size_t first, struct ab_progress_files *files,
                                 struct ab_new_trace *out, struct ab_err *err)
{
    if (o->output == NULL)
        return ab_fail(err, AB_USAGE, "trace %s needs -o, the name of the trace to write", word);
    if (strcmp(o->output, "-") == 0 && isatty(STDOUT_FILENO))
        return ab_fail(err, AB_USAGE,
                       "a trace is binary and is not written to a terminal; give a file");
    *out = (struct ab_new_trace){.kind = kind,
                                 .output = o->output,
                                 .keep = &o->filter,
                                 .is_serial = o->is_serial,
                                 .inputs = o->args + first,
                                 .n = o->n_args - first,
                                 .pass = ab_trace_pass_of(o, o->args[first], files)};
    return AB_OK;
}

static enum ab_status trace_cut(const struct ab_options *o, int *exit_code, struct ab_err *err)
{
    struct ab_progress_files files;
    struct ab_new_trace request;
    union ab_new_trace_report report;
    (void)exit_code;
    if (o->output != NULL && !o->filter.has_events)
        return ab_fail(err, AB_USAGE, "trace cut needs --events A..B, the range to keep");
    AB_TRY(request_of(o, AB_NEW_TRACE_CUT, "cut", 1, &files, &request, err));
    AB_TRY(ab_new_trace_write(&request, &report, err));
    if (!o->talk.is_quiet)
        print_cut(o->output, &report.cut);
    return AB_OK;
}

static enum ab_status trace_filter(const struct ab_options *o, int *exit_code, struct ab_err *err)
{
    struct ab_progress_files files;
    struct ab_new_trace request;
    union ab_new_trace_report report;
    (void)exit_code;
    if (o->filter.n_sites == 0 && o->filter.n_threads == 0 && !o->filter.has_sizes &&
        !o->filter.has_times && !o->filter.has_events)
        return ab_fail(
            err, AB_USAGE,
            "trace filter needs --thread, --site, --size, --time or --events, which say what "
            "blocks to keep");
    AB_TRY(request_of(o, AB_NEW_TRACE_FILTER, "filter", 1, &files, &request, err));
    AB_TRY(ab_new_trace_write(&request, &report, err));
    if (!o->talk.is_quiet)
        fprintf(stderr, "allocbench: %s: %llu of %llu events\n", AB_SHOWN(600, o->output),
                (unsigned long long)report.filter.info.events,
                (unsigned long long)report.filter.before.events);
    return AB_OK;
}

/* ---- share: writes an anonymous trace of numbers only, verified, with a text about it ---- */

/* Returns the path of the text about a trace, malloc'ed: share.txt for share.abt. */
static char *text_path(const char *path)
{
    size_t n = strlen(path);
    bool is_named = n > 4 && strcmp(path + n - 4, ".abt") == 0;
    struct ab_text out = {0};
    ab_text_addf(&out, "%.*s.txt", (int)(is_named ? n - 4 : n), path);
    return out.s;
}

/* Writes the text about the trace, which can be read at `path`. */
static enum ab_status describe(void *user, const char *path, FILE *to, struct ab_err *err)
{
    const struct ab_options *o = user;
    const char *name = basename(o->output);
    fprintf(
        to,
        "%s: the calls of a program to malloc, recorded with allocbench. The trace contains no "
        "names%s,\n"
        "no addresses and no contents of blocks. Every call is possible, all totals are right.\n"
        "To measure allocators on it: allocbench replay %s\n\n",
        AB_SHOWN(300, name), o->keeps_functions ? " but of functions" : "", AB_SHOWN(300, name));
    return ab_trace_print_info(to, path, o->keeps_functions, err);
}

static void print_removed(const struct ab_trace_info *before, bool keeps_functions)
{
    if (before->program[0] != 0)
        fprintf(stderr, "allocbench: removed: the name of the program (%s)\n",
                AB_SHOWN(1024, before->program));
    if (before->has_sites)
        fprintf(stderr, "allocbench: removed: %s\n",
                keeps_functions ? "paths and addresses of the call sites" : "the call sites");
    if (before->has_marks)
        fputs("allocbench: removed: the names of the marks\n", stderr);
    if (before->bypass.n_names > 0)
        fputs("allocbench: removed: the names of libraries that call another malloc\n", stderr);
    if (before->optional_chunks > 0)
        fprintf(stderr, "allocbench: removed: %llu chunk%s of optional data\n",
                (unsigned long long)before->optional_chunks,
                before->optional_chunks == 1 ? "" : "s");
    fprintf(stderr,
            "allocbench: kept: calls, sizes, alignments, threads as numbers%s%s, and their "
            "order\n",
            keeps_functions ? ", names of functions" : "",
            before->has_time ? ", times since the first call" : "");
}

static enum ab_status trace_share(const struct ab_options *o, int *exit_code, struct ab_err *err)
{
    struct ab_progress_files files;
    struct ab_new_trace request;
    union ab_new_trace_report report;
    (void)exit_code;
    if (o->output != NULL && strcmp(o->output, "-") == 0)
        return ab_fail(
            err, AB_USAGE,
            "trace share writes two files, so it cannot write to standard output: name a "
            "file with -o, such as share.abt (the text goes to share.txt)");
    AB_TRY(request_of(o, AB_NEW_TRACE_SHARE, "share", 1, &files, &request, err));
    char *path = text_path(o->output);
    request.sharing = (struct ab_sharing){.text_path = path,
                                          .keeps_functions = o->keeps_functions,
                                          .describe = describe,
                                          .user = (void *)o};
    enum ab_status status = ab_new_trace_write(&request, &report, err);
    if (status == AB_OK && !o->talk.is_quiet) {
        fprintf(stderr, "allocbench: %s: %llu events; %s describes its contents\n",
                AB_SHOWN(600, o->output), (unsigned long long)report.filter.info.events,
                AB_SHOWN(600, path));
        print_removed(&report.filter.before, o->keeps_functions);
    }
    free(path);
    return status;
}

/* Prints the result of `trace merge`, which makes one trace of several. */

static void print_merge(const struct ab_options *o, const struct ab_merge_report *r)
{
    fprintf(stderr, "allocbench: %s: %llu events of %llu thread%s, %s\n", AB_SHOWN(600, o->output),
            (unsigned long long)r->info.events, (unsigned long long)r->info.threads,
            r->info.threads == 1 ? "" : "s",
            o->is_serial    ? "one trace after the other"
            : r->is_by_time ? "side by side by their times"
                            : "side by side in proportion to their lengths");
    if (r->has_lost_times)
        fputs("allocbench: the times are left out, because not every trace has them\n", stderr);
    if (r->n_lost_marks > 0)
        fprintf(stderr, "allocbench: %llu marks omitted, because a trace cannot hold more\n",
                (unsigned long long)r->n_lost_marks);
}

static enum ab_status trace_merge(const struct ab_options *o, int *exit_code, struct ab_err *err)
{
    struct ab_progress_files files;
    struct ab_new_trace request;
    union ab_new_trace_report report;
    (void)exit_code;
    AB_TRY(request_of(o, AB_NEW_TRACE_MERGE, "merge", 1, &files, &request, err));
    request.pass.path = o->output;
    AB_TRY(ab_new_trace_write(&request, &report, err));
    if (!o->talk.is_quiet)
        print_merge(o, &report.merge);
    return AB_OK;
}

/* Prints, for `trace import`, how many things were found that a trace cannot contain; nothing if
 * `n` is 0. */

static void say(uint64_t n, const char *one, const char *many)
{
    if (n > 0)
        fprintf(stderr, "allocbench: %llu %s\n", (unsigned long long)n, n == 1 ? one : many);
}

/* True if more allocations got the address of a live block than the order of threads explains. Then
 * the file has events of several processes. Files of gperftools never count as such, because
 * gperftools logs no free of aligned blocks. */
static bool is_of_several(const struct ab_intake_report *r)
{
    enum { ODD_ONE_IN = 100, ODD_LEAST = 10 };
    return r->n_reused >= ODD_LEAST && r->n_reused > r->n_calls / ODD_ONE_IN &&
           strcmp(r->format->name, "gperftools") != 0;
}

static void print_import(const char *path, const struct ab_intake_report *r)
{
    const struct ab_trace_info *info = &r->info;
    fprintf(stderr, "allocbench: %s: %llu events of %llu thread%s, from %llu calls\n",
            AB_SHOWN(600, path), (unsigned long long)info->events,
            (unsigned long long)info->threads, info->threads == 1 ? "" : "s",
            (unsigned long long)(r->n_calls + r->n_other_process));
    say(r->n_unknown_frees,
        "free left out, because its block is not live: it was freed or never "
        "seen",
        "frees left out, because their blocks are not live: they were freed or never seen");
    say(r->n_null_frees, "free of NULL left out", "frees of NULL left out");
    say(r->n_unknown_resizes,
        "resize of a block that is not live, taken as an allocation unless it failed",
        "resizes of blocks that are not live, taken as allocations unless they failed");
    say(r->n_reused, "free added, because its address was given out again without one",
        "frees added, because their addresses were given out again without one");
    say(r->n_guessed,
        "free that may belong to another block of the same size and place, because the file does "
        "not say",
        "frees that may belong to other blocks of the same size and place, because the file does "
        "not say");
    say(r->n_late, "time was earlier than that of the event before, and was raised to it",
        "times were earlier than those of the events before, and were raised to them");
    say(r->n_other_process, "call of another process left out",
        "calls of other processes left out");
    say(r->n_writes, "write to a block left out", "writes to blocks left out");
    say(r->n_after_end, "line left out after the last call that the header announces",
        "lines left out after the last call that the header announces");
    if (is_of_several(r))
        fputs("allocbench: with so many missing frees, the file cannot have all calls of one "
              "process: the program may fork, or the file may mix two runs\n",
              stderr);
    if (r->is_last_in_doubt)
        fputs("allocbench: the last line has no newline at its end; it was read as a whole line\n",
              stderr);
    if (r->is_cut)
        fputs("allocbench: the end of the file is missing\n", stderr);
}

static enum ab_status trace_import(const struct ab_options *o, int *exit_code, struct ab_err *err)
{
    struct ab_progress_files files;
    struct ab_new_trace request;
    union ab_new_trace_report report;
    size_t file = o->n_args - 1;
    (void)exit_code;
    if (file == 1 && ab_catalogue_has(AB_NAMES_FORMATS, o->args[1]))
        return ab_fail(err, AB_USAGE, "trace import %s needs a FILE to read", o->args[1]);
    AB_TRY(request_of(o, AB_NEW_TRACE_IMPORT, "import", file, &files, &request, err));
    request.format = file > 1 ? o->args[1] : NULL;
    AB_TRY(ab_new_trace_write(&request, &report, err));
    if (!o->talk.is_quiet && request.format == NULL)
        fprintf(stderr, "allocbench: %s: recognized as %s\n", AB_SHOWN(600, request.pass.path),
                report.import.format->name);
    if (!o->talk.is_quiet)
        print_import(o->output, &report.import);
    return AB_OK;
}

/* ---- model: makes a workload that does what the trace did ---- */

/* Warns if the workload's files are larger than the trace, because they then contain almost all
 * calls of the trace. */
static void print_size(const struct ab_modeled *m)
{
    if (m->trace_bytes == 0 || m->bytes <= m->trace_bytes)
        return;
    char a[32], b[32];
    printf("  size: %s, larger than the trace (%s), because the program is too irregular for a "
           "short model.\n"
           "  If others may see the calls, allocbench trace share gives a smaller file.\n",
           ab_units_bytes(a, sizeof a, (double)m->bytes),
           ab_units_bytes(b, sizeof b, (double)m->trace_bytes));
}

static enum ab_status trace_model(const struct ab_options *o, int *exit_code, struct ab_err *err)
{
    struct ab_modeled m = {.stem = ""};
    struct ab_progress_files files;
    struct ab_trace_pass pass = ab_trace_pass_of(o, o->args[1], &files);
    size_t n = o->output != NULL ? strlen(o->output) : 0;
    (void)exit_code;
    if (n <= 5 || strcmp(o->output + n - 5, ".yaml") != 0 || n >= sizeof m.stem)
        return ab_fail(err, AB_USAGE,
                       "trace model needs -o NAME.yaml, the workload to write; beside it, it "
                       "writes NAME-blocks.csv and NAME-sequence.csv");
    if (strcmp(o->args[1], "-") == 0)
        return ab_fail(err, AB_USAGE, "trace model reads the trace several times: give a file");
    snprintf(m.stem, sizeof m.stem, "%.*s", (int)(n - 5), o->output);
    enum ab_status status = ab_model_trace(&pass, &m, err);
    if (status == AB_OK && !o->talk.is_quiet) {
        printf("%s, with %s-blocks.csv and %s-sequence.csv\n", AB_SHOWN(600, o->output),
               AB_SHOWN(300, basename(m.stem)), AB_SHOWN(300, basename(m.stem)));
        ab_model_trace_distance(stdout, &m, "  ");
        print_size(&m);
    }
    ab_trace_model_fini(&m.model);
    return status;
}

/* Makes traces of a spool left by `record --no-convert` or by a killed `record`. Only reads the
 * spool, which the user may remove afterwards. */
static enum ab_status trace_recover(const struct ab_options *o, int *exit_code, struct ab_err *err)
{
    struct ab_recording recording;
    struct ab_progress_files files = {.is_quiet = o->talk.is_quiet};
    struct ab_recover_request request = {.spool = o->args[1],
                                         .output = o->output,
                                         .is_partial = o->is_partial,
                                         .progress = ab_progress_of_files(&files)};
    (void)exit_code;
    if (o->output == NULL || strcmp(o->output, "-") == 0)
        return ab_fail(err, AB_USAGE, "trace recover needs -o, the name of the trace to write");
    enum ab_status status = ab_recover(&request, &recording, err);
    ab_spool_summary_print_traces(&recording, o->talk.is_quiet);
    ab_recording_end(&recording);
    return status;
}

/* ---- the table of subcommands ---- */

enum { OPTIONS_MOST = 13 };

static const struct word {
    const char *name, *files; /* files: what the subcommand's arguments are called in messages */
    unsigned least, most;
    enum ab_status (*run)(const struct ab_options *o, int *exit_code, struct ab_err *err);
    const char *options[OPTIONS_MOST]; /* further options, besides those of all subcommands */
} words[] = {
    {"info",
     "TRACE.abt",
     1,
     UINT_MAX,
     ab_trace_cmd_info,
     {"partial", "digest", "json", "sites", "sort", "scopes", "scope", "flame", "folded",
      "flame-by", "html", "verbose"}},
    {"check", "TRACE.abt", 1, UINT_MAX, trace_check, {"partial"}},
    {"dump", "TRACE.abt", 1, 1, trace_dump, {"events", "partial"}},
    {"cut", "TRACE.abt", 1, 1, trace_cut, {"events", "live", "partial", "output"}},
    {"filter",
     "TRACE.abt",
     1,
     1,
     trace_filter,
     {"events", "partial", "output", "thread", "size", "time", "site"}},
    {"merge", "A.abt B.abt", 2, AB_MERGE_MOST, trace_merge, {"partial", "output", "serial"}},
    {"share", "TRACE.abt", 1, 1, trace_share, {"partial", "output", "functions"}},
    {"model", "TRACE.abt", 1, 1, trace_model, {"partial", "output"}},
    {"import", "[FORMAT] FILE", 1, 2, trace_import, {"partial", "output"}},
    {"recover", "SPOOL", 1, 1, trace_recover, {"partial", "output"}},
};

const char *ab_trace_command_name(size_t i)
{
    return i < AB_ARRAY_LEN(words) ? words[i].name : NULL;
}

static bool takes(const struct word *word, const char *option)
{
    for (size_t i = 0; i < OPTIONS_MOST && word->options[i] != NULL; i++)
        if (strcmp(word->options[i], option) == 0)
            return true;
    return false;
}

bool ab_trace_command_takes(const char *name, const char *option)
{
    bool is_of_all = true, is_taken = false, is_known = false;
    for (size_t i = 0; i < AB_ARRAY_LEN(words); i++) {
        bool is_it = strcmp(words[i].name, name) == 0;
        is_known = is_known || is_it;
        is_taken = is_taken || (is_it && takes(&words[i], option));
        is_of_all = is_of_all && !takes(&words[i], option);
    }
    return is_known && (is_taken || is_of_all);
}

/* Fails with AB_USAGE for common names of subcommands in other tools, and suggests our name. */
static enum ab_status refuse_other_word(const char *given, struct ab_err *err)
{
    static const struct {
        const char *words, *right;
    } others[] = {
        {" slice extract split head trim ", "trace cut --events A..B"},
        {" inspect show stat stats summary view analyze ", "trace info"},
        {" validate verify prove fsck ", "trace check"},
        {" convert from ", "trace import"},
        {" print cat events text ", "trace dump"},
        {" join concat combine append ", "trace merge"},
        {" grep select ", "trace filter"},
        {" anonymize scrub strip ", "trace share"},
        {" workload synthesize generate ", "trace model"},
    };
    char word[64];
    if (strcmp(given, "export") == 0)
        return ab_fail(err, AB_USAGE,
                       "trace export was removed: trace dump writes the events, trace info --json "
                       "- the curve of live memory; files of other tools can only be imported");
    if (strcmp(given, "record") == 0 || strcmp(given, "replay") == 0)
        return ab_fail(err, AB_USAGE, "%s is a command of its own: allocbench %s", given, given);
    snprintf(word, sizeof word, " %.60s ", given);
    for (size_t i = 0; i < AB_ARRAY_LEN(others); i++)
        if (strstr(others[i].words, word) != NULL)
            return ab_fail(err, AB_USAGE, "trace %s is called %s", given, others[i].right);
    return AB_OK;
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
    AB_TRY(refuse_other_word(given, err));
    const char *near = ab_text_nearest(given, names, AB_ARRAY_LEN(words));
    char list[256] = "";
    ab_text_printable(shown, sizeof shown, given);
    if (near != NULL)
        return ab_fail(err, AB_USAGE, "trace %s: unknown command; did you mean %s?", shown, near);
    for (size_t i = 0; i < AB_ARRAY_LEN(words); i++)
        ab_text_join(list, sizeof list, i + 1 < AB_ARRAY_LEN(words) ? ", " : " and ", names[i]);
    return ab_fail(err, AB_USAGE, "trace %s: unknown command; the commands are %s", shown, list);
}

static enum ab_status check_options(const struct word *word, const struct ab_options *o,
                                    struct ab_err *err)
{
    for (size_t i = 0; i < o->n_given; i++)
        if (!ab_trace_command_takes(word->name, o->given[i]))
            return ab_fail(err, AB_USAGE,
                           "trace %s does not take --%s; see allocbench trace %s --help",
                           word->name, o->given[i], word->name);
    return AB_OK;
}

static enum ab_status check_files(const struct word *word, const struct ab_options *o,
                                  struct ab_err *err)
{
    size_t n_standard_input = 0, n = o->n_args - 1;
    if (n < word->least)
        return ab_fail(err, AB_USAGE, "trace %s needs %s: allocbench trace %s %s", word->name,
                       word->least == 1 ? "a file" : word->files, word->name, word->files);
    if (n > word->most && word->run == trace_merge)
        return ab_fail(err, AB_USAGE, "trace merge takes at most %u traces", word->most);
    if (n > word->most)
        return ab_fail(err, AB_USAGE, "trace %s takes %s", word->name,
                       word->run == trace_recover ? "one spool"
                       : word->most == 1          ? "one trace"
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
        return ab_fail(err, AB_USAGE,
                       "trace needs a command, such as allocbench trace info "
                       "TRACE.abt");
    AB_TRY(find_word(o->args[0], &word, err));
    AB_TRY(check_options(word, o, err));
    AB_TRY(check_files(word, o, err));
    return word->run(o, exit_code, err);
}
