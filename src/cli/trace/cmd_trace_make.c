/* SPDX-License-Identifier: MIT
 *
 * `trace cut`: writes a part of a trace as a trace, and says what is in it.
 */
#include "app/one_file.h"
#include "cli/record/spool_traces.h"
#include "cli/trace/cmd_trace.h"
#include "core/text.h"
#include "exchange/intake.h"
#include "report/output.h"
#include "symbols/site_match.h"
#include "trace_tools/cut.h"
#include "trace_tools/filter.h"
#include "trace_tools/merge.h"

#include <string.h>
#include <unistd.h>

static void print_summary(const char *path, const struct ab_cut_report *r)
{
    fprintf(stderr, "allocbench: %s: %llu events", AB_SHOWN(600, path),
            (unsigned long long)r->info.events);
    if (r->n_kept > 0)
        fprintf(stderr, ", the first %llu are allocations from before the cut",
                (unsigned long long)r->n_kept);
    if (r->n_dropped > 0)
        fprintf(stderr, "; %llu calls on blocks from before the cut omitted",
                (unsigned long long)r->n_dropped);
    fputc('\n', stderr);
}

enum ab_status ab_trace_open_file(const struct ab_options *o, size_t first, const char *path,
                                  struct ab_output *out, struct ab_err *err)
{
    AB_TRY(ab_output_open(path, out, err));
    enum ab_status status = ab_spare_inputs(o, first, out, path, err);
    if (status != AB_OK)
        ab_output_abandon(out);
    return status;
}

/* Opens what -o names for a trace; AB_USAGE without it, or when it would go to a terminal. */
static enum ab_status open_output(const struct ab_options *o, const char *word, size_t first,
                                  struct ab_output *out, struct ab_err *err)
{
    if (o->output == NULL)
        return ab_fail(err, AB_USAGE, "trace %s needs -o: the trace to write", word);
    if (strcmp(o->output, "-") == 0 && isatty(STDOUT_FILENO))
        return ab_fail(err, AB_USAGE,
                       "a trace is binary and not written to a terminal; give a file");
    return ab_trace_open_file(o, first, o->output, out, err);
}

enum ab_status ab_trace_cmd_cut(const struct ab_options *o, int *exit_code, struct ab_err *err)
{
    struct ab_trace_watch watch;
    struct ab_walk walk = {0};
    struct ab_output out = {0};
    struct ab_cut_report report;
    (void)exit_code;
    if (o->output != NULL && !o->has_events)
        return ab_fail(err, AB_USAGE, "trace cut needs --events A..B: the range to keep");
    AB_TRY(open_output(o, "cut", 1, &out, err));
    ab_trace_watch_begin(&watch, o, o->args[1], &walk);
    enum ab_status status = ab_trace_cut(&walk, !o->is_dropping_live, out.to, &report, err);
    ab_trace_watch_end(&watch);
    if (status == AB_OK)
        status = ab_output_commit(&out, err);
    if (status == AB_OK && !o->is_quiet)
        print_summary(o->output, &report);
    ab_output_abandon(&out);
    return status;
}

/* `trace filter` and `trace anonymize`: a trace with less in it, and what is left out. */

struct sites { /* that are kept */
    const struct ab_options *o;
    struct ab_site_matcher
        *matcher; /* made when the first stack comes, by which there is a table */
    uint64_t met; /* bit i: an allocation comes from pattern i */
    bool is_short_of_memory;
};

static void open_matcher(struct sites *s, const struct ab_site_table *table)
{
    struct ab_err err;
    s->matcher = ab_site_matcher_open(table, NULL, NULL);
    for (size_t i = 0; s->matcher != NULL && i < s->o->n_site_patterns; i++)
        if (ab_site_matcher_add(s->matcher, s->o->site_patterns[i], &err) != AB_OK)
            s->is_short_of_memory = true; /* they have been checked */
    s->is_short_of_memory = s->is_short_of_memory || s->matcher == NULL;
}

static bool has_site(void *user, const struct ab_site_table *table, uint32_t stack)
{
    struct sites *s = user;
    if (s->matcher == NULL && !s->is_short_of_memory)
        open_matcher(s, table);
    uint64_t mask = s->matcher != NULL ? ab_site_matcher_mask(s->matcher, stack) : 0;
    s->met |= mask;
    return mask != 0;
}

/* A pattern that nothing fits is a misspelling. */
static enum ab_status check_sites(const struct sites *s, struct ab_err *err)
{
    if (s->is_short_of_memory)
        return ab_fail(err, AB_SYSTEM, "out of memory for the call sites");
    for (size_t i = 0; i < s->o->n_site_patterns; i++)
        if ((s->met >> i & 1) == 0)
            return ab_fail(err, AB_USAGE,
                           "--site: '%s' fits no allocation of the trace; `allocbench trace info "
                           "--sites` shows them",
                           AB_SHOWN(300, s->o->site_patterns[i]));
    return AB_OK;
}

/* sites: NULL = none are asked for. */
static enum ab_status write_filtered(const struct ab_options *o, const char *word,
                                     const struct ab_filter *filter, const struct sites *sites,
                                     struct ab_filter_report *report, struct ab_err *err)
{
    struct ab_trace_watch watch;
    struct ab_walk walk = {0};
    struct ab_output out = {0};
    AB_TRY(open_output(o, word, 1, &out, err));
    ab_trace_watch_begin(&watch, o, o->args[1], &walk);
    enum ab_status status = ab_trace_filter(&walk, filter, out.to, report, err);
    ab_trace_watch_end(&watch);
    if (status == AB_OK && sites != NULL)
        status = check_sites(sites, err);
    if (status == AB_OK)
        status = ab_output_commit(&out, err);
    ab_output_abandon(&out);
    return status;
}

static enum ab_status check_patterns(const struct ab_options *o, struct ab_err *err)
{
    if (o->n_site_patterns > AB_SITE_PATTERNS_MAX)
        return ab_fail(err, AB_USAGE, "--site: more than %d patterns", AB_SITE_PATTERNS_MAX);
    for (size_t i = 0; i < o->n_site_patterns; i++) {
        enum ab_status status = ab_site_pattern_check(o->site_patterns[i], err);
        if (status != AB_OK)
            return ab_err_context(err, "--site: ");
    }
    return AB_OK;
}

/* Before the filter, so that it is said of the command and not of the trace. */
static enum ab_status check_filter(const struct ab_options *o, struct ab_err *err)
{
    AB_TRY(check_patterns(o, err));
    if (o->n_site_patterns > 0 || o->n_trace_threads > 0 || o->has_sizes || o->has_times ||
        o->has_events)
        return AB_OK;
    return ab_fail(
        err, AB_USAGE,
        "trace filter needs --thread, --site, --size, --time or --events: which blocks to "
        "keep");
}

enum ab_status ab_trace_cmd_filter(const struct ab_options *o, int *exit_code, struct ab_err *err)
{
    struct ab_filter filter = {.threads = o->trace_threads,
                               .n_threads = o->n_trace_threads,
                               .sizes = o->has_sizes ? o->sizes : AB_EXTENT_ALL,
                               .events = AB_EXTENT_ALL,
                               .has_times = o->has_times};
    struct ab_filter_report r;
    struct sites sites = {.o = o};
    (void)exit_code;
    AB_TRY(check_filter(o, err));
    if (o->n_site_patterns > 0) {
        filter.has_site = has_site;
        filter.site_user = &sites;
    }
    if (o->has_events)
        filter.events = (struct ab_extent){o->first_event, o->end_event};
    if (o->has_times) /* the clock of a trace has ticks of 1 us: of B the tick that begins before it */
        filter.times_us = (struct ab_extent){
            (o->times.first + 999) / 1000,
            o->times.end == UINT64_MAX ? UINT64_MAX : (o->times.end + 999) / 1000};
    enum ab_status status = write_filtered(o, "filter", &filter, &sites, &r, err);
    ab_site_matcher_close(sites.matcher);
    AB_TRY(status);
    if (!o->is_quiet)
        fprintf(stderr, "allocbench: %s: %llu of %llu events\n", AB_SHOWN(600, o->output),
                (unsigned long long)r.info.events, (unsigned long long)r.before.events);
    return AB_OK;
}

enum ab_status ab_trace_cmd_anonymize(const struct ab_options *o, int *exit_code,
                                      struct ab_err *err)
{
    struct ab_filter filter = {
        .sizes = AB_EXTENT_ALL, .events = AB_EXTENT_ALL, .is_anonymous = true};
    struct ab_filter_report r;
    (void)exit_code;
    AB_TRY(write_filtered(o, "anonymize", &filter, NULL, &r, err));
    if (o->is_quiet)
        return AB_OK;
    fprintf(stderr, "allocbench: %s: %llu events\n", AB_SHOWN(600, o->output),
            (unsigned long long)r.info.events);
    if (r.before.program[0] != 0)
        fprintf(stderr, "allocbench: removed: the name of the program (%s)\n",
                AB_SHOWN(1024, r.before.program));
    if (r.before.has_sites)
        fputs("allocbench: removed: the call sites\n", stderr);
    if (r.before.has_marks)
        fputs("allocbench: removed: the names of the marks\n", stderr);
    if (r.before.bypass.is_there)
        fputs("allocbench: removed: the note of what was not seen, with the names of libraries\n",
              stderr);
    if (r.before.optional_chunks > 0)
        fprintf(stderr, "allocbench: removed: %llu chunk%s of optional data\n",
                (unsigned long long)r.before.optional_chunks,
                r.before.optional_chunks == 1 ? "" : "s");
    fprintf(stderr,
            "allocbench: kept: calls, sizes, alignments, threads as numbers%s, and their "
            "order\n",
            r.before.has_time ? ", times since the first call" : "");
    return AB_OK;
}

/* `trace merge`: several traces as one. */

static void cmd_trace_merge_print_summary(const struct ab_options *o,
                                          const struct ab_merge_report *r)
{
    fprintf(stderr, "allocbench: %s: %llu events of %llu thread%s, %s\n", AB_SHOWN(600, o->output),
            (unsigned long long)r->info.events, (unsigned long long)r->info.threads,
            r->info.threads == 1 ? "" : "s",
            o->is_serial    ? "one trace after the other"
            : r->is_by_time ? "side by side by their times"
                            : "side by side in proportion to their lengths");
    if (r->has_lost_times)
        fputs("allocbench: the times are left out: not every trace has them\n", stderr);
    if (r->n_lost_marks > 0)
        fprintf(stderr, "allocbench: marks omitted, more than a trace can have: %llu\n",
                (unsigned long long)r->n_lost_marks);
}

enum ab_status ab_trace_cmd_merge(const struct ab_options *o, int *exit_code, struct ab_err *err)
{
    struct ab_trace_watch watch = {.path = o->output};
    struct ab_output out = {0};
    struct ab_merge_report report;
    (void)exit_code;
    AB_TRY(open_output(o, "merge", 1, &out, err));
    ab_progress_begin(&watch.line, o->is_quiet);
    struct ab_merge_request merge = {.paths = o->args + 1,
                                     .n = o->n_args - 1,
                                     .is_serial = o->is_serial,
                                     .is_partial = o->is_partial,
                                     .to = out.to,
                                     .progress = watch.line.is_on ? ab_trace_watch_show : NULL,
                                     .user = &watch};
    enum ab_status status = ab_trace_merge(&merge, &report, err);
    ab_trace_watch_end(&watch);
    if (status == AB_OK)
        status = ab_output_commit(&out, err);
    if (status == AB_OK && !o->is_quiet)
        cmd_trace_merge_print_summary(o, &report);
    ab_output_abandon(&out);
    return status;
}

/* `trace import FORMAT`: files of other tools. What a trace cannot hold is said on standard error. */

static void say(uint64_t n, const char *one, const char *many)
{
    if (n > 0)
        fprintf(stderr, "allocbench: %llu %s\n", (unsigned long long)n, n == 1 ? one : many);
}

static void print_import(const char *path, const struct ab_intake_report *r)
{
    const struct ab_trace_info *info = &r->info;
    fprintf(stderr, "allocbench: %s: %llu events of %llu thread%s, from %llu calls\n",
            AB_SHOWN(600, path), (unsigned long long)info->events,
            (unsigned long long)info->threads, info->threads == 1 ? "" : "s",
            (unsigned long long)(r->n_calls + r->n_other_process));
    say(r->n_unknown_frees, "free left out: its block is not live, it was freed or never seen",
        "frees left out: their blocks are not live, they were freed or never seen");
    say(r->n_null_frees, "free of NULL left out", "frees of NULL left out");
    say(r->n_unknown_resizes,
        "resize of a block that is not live: taken as an allocation, unless it gave none",
        "resizes of blocks that are not live: taken as allocations, unless they gave none");
    say(r->n_reused, "free added: its address was given out again without one",
        "frees added: their addresses were given out again without one");
    say(r->n_guessed,
        "free may be of another block of the same size and place: the file does not say",
        "frees may be of other blocks of the same size and place: the file does not say");
    say(r->n_late, "time before that of the event before was raised to it",
        "times before those of the events before were raised to them");
    say(r->n_other_process, "call of another process left out",
        "calls of other processes left out");
    if (r->is_cut)
        fputs("allocbench: the end of the file is missing\n", stderr);
}

enum ab_status ab_trace_cmd_import(const struct ab_options *o, int *exit_code, struct ab_err *err)
{
    struct ab_trace_watch watch = {.path = o->args[2]};
    struct ab_import import = {.path = o->args[2], .is_partial = o->is_partial, .user = &watch};
    struct ab_output out = {0};
    struct ab_intake_report report;
    (void)exit_code;
    AB_TRY(ab_format_find(o->args[1], &import.format, err));
    AB_TRY(open_output(o, "import", 2, &out, err));
    ab_progress_begin(&watch.line, o->is_quiet);
    import.to = out.to;
    import.progress = watch.line.is_on ? ab_trace_watch_show : NULL;
    enum ab_status status = ab_import(&import, &report, err);
    ab_trace_watch_end(&watch);
    if (status == AB_OK)
        status = ab_output_commit(&out, err);
    if (status == AB_OK && !o->is_quiet)
        print_import(o->output, &report);
    ab_output_abandon(&out);
    return status;
}

/* A trace of a spool that was left: by `record --no-convert`, or because `record` was killed before
 * it could convert. The spool is read only; whoever has the trace may remove it. */

static enum ab_status check_ended(const struct ab_spool_traces *t, struct ab_err *err)
{
    for (size_t i = 0; i < t->n_images; i++)
        if (ab_spool_is_written(t->folder, &t->images[i]))
            return ab_fail(err, AB_INPUT, "process %u (%s) is still being recorded; end it first",
                           t->images[i].image.pid, AB_SHOWN(600, t->images[i].image.program));
    return t->n_images > 0 ? AB_OK
                           : ab_fail(err, AB_INPUT,
                                     "not a spool of this version of allocbench: "
                                     "contains no recorded process");
}

static enum ab_status recover(struct ab_spool_traces *t, const char *output, struct ab_err *err)
{
    struct ab_output out = {0};
    enum ab_status status = check_ended(t, err);
    if (status != AB_OK)
        return ab_err_context(err, "%s: ", AB_SHOWN(512, t->folder));
    struct ab_trace_place place;
    const char *program = t->main != NULL ? t->main->image.program : "";
    status = ab_trace_place_find(output, program[0] != 0 ? program : "trace", "abt", &place, err);
    t->path = place.path;
    t->has_folder = place.is_in_folder;
    if (status == AB_OK && (status = ab_output_open(t->path, &out, err)) == AB_OK)
        status = ab_spool_traces_write(t, &out, err);
    ab_output_abandon(&out);
    return status;
}

enum ab_status ab_trace_cmd_recover(const struct ab_options *o, int *exit_code, struct ab_err *err)
{
    char folder[4096], part[4096 + 16];
    struct ab_spool_traces t = {
        .folder = ab_spool_folder(o->args[1], folder, sizeof folder),
        .is_quiet = o->is_quiet,
        .is_partial = o->is_partial,
    };
    (void)exit_code;
    t.part = ab_spool_part(t.folder, part, sizeof part);
    if (o->output == NULL || strcmp(o->output, "-") == 0)
        return ab_fail(err, AB_USAGE, "trace recover needs -o: the file to write the trace to");
    enum ab_status status = ab_spool_traces_open(&t, err);
    if (status == AB_OK)
        status = recover(&t, o->output, err);
    ab_spool_traces_close(&t);
    return status;
}
