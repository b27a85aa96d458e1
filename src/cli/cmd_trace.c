/* SPDX-License-Identifier: MIT
 *
 * Table of the subcommands of `allocbench trace`, with their options and numbers of files, and all
 * subcommands except `info`.
 */
#include "cli/trace.h"

#include "app/one_file.h"
#include "base/bits.h"
#include "base/nearest.h"
#include "cli/commands.h"
#include "cli/option_table.h"
#include "cli/spool_summary.h"
#include "core/alloc.h"
#include "core/output.h"
#include "core/text.h"
#include "exchange/intake.h"
#include "symbols/site_match.h"
#include "trace_tools/event_text.h"
#include "trace_tools/rewrite.h"
#include "trace_tools/walk.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- check: verifies each file and prints one line ---- */

static enum ab_status trace_check(const struct ab_options *o, int *exit_code, struct ab_err *err)
{
    struct ab_trace_watch watch;
    struct ab_walk walk = {0};
    struct ab_trace_info info;
    for (size_t i = 1; i < o->n_args; i++) {
        ab_trace_watch_begin(&watch, o, o->args[i], &walk);
        enum ab_status status = ab_trace_check(&walk, &info, err);
        ab_trace_watch_end(&watch);
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

/* ---- dump: events as lines of text ---- */

enum { BUFFER_BYTES = 1 << 16 };

struct printer {
    bool has_time;
    struct ab_mark_table marks, requests;
    size_t next_mark, next_request;
    char buffer[BUFFER_BYTES];
};

static enum ab_status flush(struct printer *p, const char *end, struct ab_err *err)
{
    size_t n = (size_t)(end - p->buffer);
    if (fwrite(p->buffer, 1, n, stdout) != n)
        return ab_fail_errno(err, AB_SYSTEM, "cannot write the events");
    return AB_OK;
}

/* Prints a name with its blanks escaped, because blanks separate fields. */
static void print_name(FILE *to, const char *name)
{
    char shown[4 * AB_MARK_NAME_MAX + 1];
    for (const char *p = ab_text_printable(shown, sizeof shown, name); *p != 0; p++)
        fputs(*p == ' ' ? "\\x20" : (const char[]){*p, 0}, to);
}

static void print_mark(FILE *to, const struct ab_mark_table *t, size_t i, bool has_time)
{
    const struct ab_trace_mark *m = &t->marks[i];
    char thread[16] = "-";
    if (m->thread != AB_MARK_NO_THREAD)
        snprintf(thread, sizeof thread, "%u", m->thread);
    fprintf(to, "%llu %s mark - - - ", (unsigned long long)m->call, thread);
    print_name(to, t->names[m->name]);
    if (has_time)
        fprintf(to, " %llu", (unsigned long long)m->time_us);
    fputc('\n', to);
}

/* Prints a request. It has no time, and its argument is in the column of a call's size. */
static void print_request(FILE *to, const struct ab_mark_table *t, size_t i)
{
    const struct ab_trace_mark *m = &t->marks[i];
    char thread[16] = "-";
    if (m->thread != AB_MARK_NO_THREAD)
        snprintf(thread, sizeof thread, "%u", m->thread);
    fprintf(to, "%llu %s request %llu - - %s\n", (unsigned long long)m->call, thread,
            (unsigned long long)m->argument, t->names[m->name]);
}

static bool is_due(const struct ab_mark_table *t, size_t next, uint64_t call)
{
    return next < t->n && t->marks[next].call <= call;
}

static void print_marks(struct printer *p, uint64_t call)
{
    for (; is_due(&p->marks, p->next_mark, call); p->next_mark++)
        print_mark(stdout, &p->marks, p->next_mark, p->has_time);
    for (; is_due(&p->requests, p->next_request, call); p->next_request++)
        print_request(stdout, &p->requests, p->next_request);
}

/* Skips the marks and requests before call `first`. */
static void skip_marks(struct printer *p, uint64_t first)
{
    while (p->next_mark < p->marks.n && p->marks.marks[p->next_mark].call < first)
        p->next_mark++;
    while (p->next_request < p->requests.n && p->requests.marks[p->next_request].call < first)
        p->next_request++;
}

static enum ab_status print_batch(struct printer *p, const struct ab_walk_batch *batch,
                                  struct ab_err *err)
{
    char *at = p->buffer, *full = p->buffer + BUFFER_BYTES - AB_EVENT_TEXT_MAX;
    for (size_t i = 0; i < batch->n; i++) {
        if (is_due(&p->marks, p->next_mark, batch->first + i) ||
            is_due(&p->requests, p->next_request, batch->first + i)) {
            AB_TRY(flush(p, at, err));
            at = p->buffer;
            print_marks(p, batch->first + i);
        }
        at = ab_event_text(at, p->has_time, batch->first + i, &batch->events[i], &batch->blocks[i]);
        if (at < full && i + 1 < batch->n)
            continue;
        AB_TRY(flush(p, at, err));
        at = p->buffer;
    }
    return AB_OK;
}

static enum ab_status dump_batch(void *user, const struct ab_walk_batch *batch, struct ab_err *err)
{
    struct printer *p = user;
    if (batch->where == AB_WALK_BEGIN) {
        p->has_time = batch->info->has_time;
        skip_marks(p, batch->first);
    }
    if (batch->where == AB_WALK_END)
        print_marks(p, batch->first);
    return print_batch(p, batch, err);
}

static enum ab_status trace_dump(const struct ab_options *o, int *exit_code, struct ab_err *err)
{
    struct printer *p = ab_alloc_zeroed(1, sizeof *p);
    (void)exit_code;
    struct ab_trace_watch watch;
    struct ab_walk walk = {
        .visit = dump_batch, .user = p, .marks = &p->marks, .requests = &p->requests};
    ab_trace_watch_begin(&watch, o, o->args[1], &walk);
    enum ab_status status = ab_trace_walk(&walk, NULL, err);
    ab_trace_watch_end(&watch);
    ab_mark_table_fini(&p->marks);
    ab_mark_table_fini(&p->requests);
    free(p);
    return status;
}

/* ---- cut: a part of a trace, and what is in it ---- */

static void print_cut(const char *path, const struct ab_cut_report *r)
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

/* Opens the trace of -o. Fails with AB_USAGE without -o, or if it would go to a terminal. */
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

struct making { /* a trace being written */
    struct ab_output out;
    struct ab_trace_watch watch;
    struct ab_walk walk; /* pass over the file o->args[first] */
};

static enum ab_status begin_making(struct making *m, const struct ab_options *o, const char *word,
                                   size_t first, struct ab_err *err)
{
    *m = (struct making){.out.to = NULL};
    AB_TRY(open_output(o, word, first, &m->out, err));
    ab_trace_watch_begin(&m->watch, o, o->args[first], &m->walk);
    return AB_OK;
}

/* Ends the trace: commits it if `status` is AB_OK, else removes it. */
static enum ab_status end_making(struct making *m, enum ab_status status, struct ab_err *err)
{
    ab_trace_watch_end(&m->watch);
    if (status == AB_OK)
        status = ab_output_commit(&m->out, err);
    ab_output_abandon(&m->out);
    return status;
}

static enum ab_status trace_cut(const struct ab_options *o, int *exit_code, struct ab_err *err)
{
    struct making m;
    struct ab_cut_report report;
    (void)exit_code;
    if (o->output != NULL && !o->filter.has_events)
        return ab_fail(err, AB_USAGE, "trace cut needs --events A..B: the range to keep");
    AB_TRY(begin_making(&m, o, "cut", 1, err));
    enum ab_status status = ab_trace_cut(&m.walk, !o->filter.is_dropping_live, m.out.to, &report,
                                         err);
    AB_TRY(end_making(&m, status, err));
    if (!o->talk.is_quiet)
        print_cut(o->output, &report);
    return AB_OK;
}

/* Implements `trace filter`. */

struct sites { /* call sites to keep */
    const struct ab_options *o;
    struct ab_site_matcher *matcher; /* made at the first stack, when the table exists */
    uint64_t met;                    /* bit i: an allocation comes from pattern i */
};

static bool has_site(void *user, const struct ab_site_table *table, uint32_t stack)
{
    struct sites *s = user;
    if (s->matcher == NULL) {
        s->matcher = ab_site_matcher_open(table, NULL, NULL);
        for (size_t i = 0; i < s->o->filter.n_sites; i++) /* the patterns were checked before */
            ab_site_matcher_add(s->matcher, s->o->filter.sites[i], NULL);
    }
    uint64_t mask = ab_site_matcher_mask(s->matcher, stack);
    s->met |= mask;
    return mask != 0;
}

/* Fails if a pattern matches nothing, which is a misspelling. */
static enum ab_status check_sites(const struct sites *s, struct ab_err *err)
{
    for (size_t i = 0; i < s->o->filter.n_sites; i++)
        if ((s->met >> i & 1) == 0)
            return ab_fail(err, AB_USAGE,
                           "--site: '%s' fits no allocation of the trace; `allocbench trace info "
                           "--sites` shows them",
                           AB_SHOWN(300, s->o->filter.sites[i]));
    return AB_OK;
}

static enum ab_status write_filtered(const struct ab_options *o, const struct ab_filter *filter,
                                     const struct sites *sites, struct ab_filter_report *report,
                                     struct ab_err *err)
{
    struct making m;
    AB_TRY(begin_making(&m, o, "filter", 1, err));
    enum ab_status status = ab_trace_filter(&m.walk, filter, m.out.to, report, err);
    if (status == AB_OK)
        status = check_sites(sites, err);
    return end_making(&m, status, err);
}

/* Checks the options before the trace is read, so that the error is about the command. */
static enum ab_status check_filter(const struct ab_options *o, struct ab_err *err)
{
    if (o->filter.n_sites > AB_SITE_PATTERNS_MAX)
        return ab_fail(err, AB_USAGE, "--site: more than %d patterns", AB_SITE_PATTERNS_MAX);
    for (size_t i = 0; i < o->filter.n_sites; i++)
        if (ab_site_pattern_check(o->filter.sites[i], err) != AB_OK)
            return ab_err_context(err, "--site: ");
    if (o->filter.n_sites > 0 || o->filter.n_threads > 0 || o->filter.has_sizes ||
        o->filter.has_times || o->filter.has_events)
        return AB_OK;
    return ab_fail(
        err, AB_USAGE,
        "trace filter needs --thread, --site, --size, --time or --events: which blocks to "
        "keep");
}

static enum ab_status trace_filter(const struct ab_options *o, int *exit_code, struct ab_err *err)
{
    struct ab_filter filter = {.threads = o->filter.threads,
                               .n_threads = o->filter.n_threads,
                               .sizes = o->filter.has_sizes ? o->filter.sizes : AB_EXTENT_ALL,
                               .events = AB_EXTENT_ALL,
                               .has_times = o->filter.has_times};
    struct ab_filter_report r;
    struct sites sites = {.o = o};
    (void)exit_code;
    AB_TRY(check_filter(o, err));
    if (o->filter.n_sites > 0) {
        filter.has_site = has_site;
        filter.site_user = &sites;
    }
    if (o->filter.has_events)
        filter.events = (struct ab_extent){o->filter.first_event, o->filter.end_event};
    if (o->filter.has_times) /* a trace has ticks of 1 us: B is the last tick before it */
        filter.times_us = (struct ab_extent){
            (o->filter.times.first + 999) / 1000,
            o->filter.times.end == UINT64_MAX ? UINT64_MAX : (o->filter.times.end + 999) / 1000};
    enum ab_status status = write_filtered(o, &filter, &sites, &r, err);
    ab_site_matcher_close(sites.matcher);
    AB_TRY(status);
    if (!o->talk.is_quiet)
        fprintf(stderr, "allocbench: %s: %llu of %llu events\n", AB_SHOWN(600, o->output),
                (unsigned long long)r.info.events, (unsigned long long)r.before.events);
    return AB_OK;
}

/* ---- share: an anonymous trace of numbers only, verified, with a text ---- */

struct sharing {
    const struct ab_options *o;
    struct ab_site_names names; /* names of functions, if they are kept */
    bool has_names;
    struct ab_filter_report report;
    char digest[65]; /* digest of the original */
};

/* Makes a frame that shows only its function and the number of the place in it. The build id is
 * that of no file, so that no program with this name is mistaken for it. */
static struct ab_site_frame name_frame(struct sharing *s, const struct ab_site_frame *frame,
                                       struct ab_site_table *out)
{
    static const uint8_t no_build[1];
    struct ab_site_named named = ab_site_names_find(&s->names, frame);
    const char *name = named.items[named.n - 1].function;
    name = name[0] != 0 ? name : "unknown";
    size_t n = strnlen(name, AB_SITE_PATH_MAX);
    return (struct ab_site_frame){
        .module = ab_site_know_module(out, name, n, no_build, sizeof no_build),
        .address = (uint64_t)(frame - s->names.table->frames) + 1};
}

static uint32_t know_functions(void *user, const struct ab_site_table *table, uint32_t stack,
                               struct ab_site_table *out)
{
    struct sharing *s = user;
    struct ab_site_frame frames[AB_SITE_DEPTH_MAX];
    const struct ab_site_stack *from = &table->stacks[stack - 1];
    if (!s->has_names)
        ab_site_names_init(&s->names, table);
    s->has_names = true;
    for (size_t i = 0; i < from->depth; i++) {
        frames[i] = *ab_site_frame(table, stack, i);
        if (frames[i].module != 0)
            frames[i] = name_frame(s, ab_site_frame(table, stack, i), out);
        if (frames[i].module == 0)
            frames[i].address = 0;
    }
    return ab_site_know_stack(out, frames, from->depth, from->end);
}

/* Returns the path of the text for a trace: share.txt for share.abt. malloc'ed. */
static char *text_path(const char *path)
{
    size_t n = strlen(path);
    bool is_named = n > 4 && strcmp(path + n - 4, ".abt") == 0;
    struct ab_text out = {0};
    ab_text_addf(&out, "%.*s.txt", (int)(is_named ? n - 4 : n), path);
    return out.s;
}

/* Reads the written trace back, and checks that it has the digest of the original's calls. */
static enum ab_status prove(const struct sharing *s, const char *path, struct ab_err *err)
{
    char digest[65];
    struct ab_walk walk = {.path = path, .digest = digest};
    AB_TRY(ab_trace_check(&walk, NULL, err));
    if (strcmp(digest, s->digest) != 0)
        return ab_fail(err, AB_SYSTEM, "the calls that were written are not those of the trace");
    return AB_OK;
}

static enum ab_status write_text(const struct sharing *s, const char *path, FILE *to,
                                 struct ab_err *err)
{
    struct ab_options o = *s->o;
    const char *name = strrchr(o.output, '/');
    o.is_partial = o.wants_scopes = false;
    o.wants_digest = o.is_verbose = true;
    o.sites.is_wanted = o.keeps_functions;
    o.sites.n = AB_SITES_SHOWN_DEFAULT;
    fprintf(
        to,
        "%s: the calls of a program to malloc, recorded with allocbench. It has no names%s,\n"
        "no addresses and no contents of blocks. Every call is possible, all totals are right.\n"
        "To measure allocators on it: allocbench replay %s\n\n",
        AB_SHOWN(300, name != NULL ? name + 1 : o.output),
        o.keeps_functions ? " but of functions" : "",
        AB_SHOWN(300, name != NULL ? name + 1 : o.output));
    return ab_trace_print_info(to, &o, path, err);
}

static void print_removed(const struct sharing *s)
{
    const struct ab_trace_info *before = &s->report.before;
    if (before->program[0] != 0)
        fprintf(stderr, "allocbench: removed: the name of the program (%s)\n",
                AB_SHOWN(1024, before->program));
    if (before->has_sites)
        fprintf(stderr, "allocbench: removed: %s\n",
                s->o->keeps_functions ? "paths and addresses of the call sites" : "the call sites");
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
            s->o->keeps_functions ? ", names of functions" : "",
            before->has_time ? ", times since the first call" : "");
}

static enum ab_status share(struct sharing *s, struct making *m, struct ab_output *text,
                            struct ab_err *err)
{
    char path[64];
    struct ab_filter filter = {.sizes = AB_EXTENT_ALL,
                               .events = AB_EXTENT_ALL,
                               .is_anonymous = true,
                               .know_site = s->o->keeps_functions ? know_functions : NULL,
                               .site_user = s};
    m->walk.digest = s->digest;
    AB_TRY(ab_trace_filter(&m->walk, &filter, m->out.to, &s->report, err));
    if (s->o->keeps_functions && !s->report.before.has_sites)
        return ab_fail(err, AB_USAGE, "%s: --functions: has no call sites; record with --sites",
                       s->o->args[1]);
    if (fflush(m->out.to) != 0)
        return ab_fail_errno(err, AB_SYSTEM, "cannot write %s", AB_SHOWN(600, s->o->output));
    snprintf(path, sizeof path, "/proc/self/fd/%d", fileno(m->out.to)); /* the file has no name
                                                                           yet */
    AB_TRY(prove(s, path, err));
    AB_TRY(write_text(s, path, text->to, err));
    return ab_output_commit(text, err);
}

static enum ab_status trace_share(const struct ab_options *o, int *exit_code, struct ab_err *err)
{
    struct making m;
    struct sharing s = {.o = o};
    struct ab_output text = {0};
    (void)exit_code;
    if (o->output != NULL && strcmp(o->output, "-") == 0)
        return ab_fail(err, AB_USAGE,
                       "trace share writes two files, share.abt and share.txt: give "
                       "-o a name");
    AB_TRY(begin_making(&m, o, "share", 1, err));
    char *path = text_path(o->output);
    enum ab_status status = ab_trace_open_file(o, 1, path, &text, err);
    if (status == AB_OK)
        status = share(&s, &m, &text, err);
    ab_output_abandon(&text);
    ab_site_names_fini(&s.names);
    status = end_making(&m, status, err);
    if (status == AB_OK && !o->talk.is_quiet) {
        fprintf(stderr, "allocbench: %s: %llu events; %s says what is in it\n",
                AB_SHOWN(600, o->output), (unsigned long long)s.report.info.events,
                AB_SHOWN(600, path));
        print_removed(&s);
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
        fputs("allocbench: the times are left out: not every trace has them\n", stderr);
    if (r->n_lost_marks > 0)
        fprintf(stderr, "allocbench: marks omitted, more than a trace can have: %llu\n",
                (unsigned long long)r->n_lost_marks);
}

static enum ab_status trace_merge(const struct ab_options *o, int *exit_code, struct ab_err *err)
{
    struct making m;
    struct ab_merge_report report;
    (void)exit_code;
    AB_TRY(begin_making(&m, o, "merge", 1, err));
    m.watch.path = o->output;
    struct ab_merge_request merge = {.paths = o->args + 1,
                                     .n = o->n_args - 1,
                                     .is_serial = o->is_serial,
                                     .is_partial = o->is_partial,
                                     .to = m.out.to,
                                     .progress = m.walk.progress,
                                     .user = &m.watch};
    AB_TRY(end_making(&m, ab_trace_merge(&merge, &report, err), err));
    if (!o->talk.is_quiet)
        print_merge(o, &report);
    return AB_OK;
}

/* Prints a count for `trace import`, about things that a trace cannot contain. */

static void say(uint64_t n, const char *one, const char *many)
{
    if (n > 0)
        fprintf(stderr, "allocbench: %llu %s\n", (unsigned long long)n, n == 1 ? one : many);
}

/* True if more allocations got the address of a live block than the order of threads explains: the
 * file has several processes. gperftools logs no free of aligned blocks, so it is excluded. */
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
    say(r->n_writes, "write to a block left out", "writes to blocks left out");
    say(r->n_after_end, "line after the last call that the head announces left out",
        "lines after the last call that the head announces left out");
    if (is_of_several(r))
        fputs("allocbench: so many frees that are missing mean that the file does not hold all "
              "calls of one process: it may be of a program that forks, or mixed from two runs\n",
              stderr);
    if (r->is_last_in_doubt)
        fputs("allocbench: the last line has no newline at its end; it was read as a whole line\n",
              stderr);
    if (r->is_cut)
        fputs("allocbench: the end of the file is missing\n", stderr);
}

static enum ab_status trace_import(const struct ab_options *o, int *exit_code, struct ab_err *err)
{
    struct making m;
    size_t file = o->n_args - 1;
    struct ab_import import = {
        .path = o->args[file], .is_partial = o->is_partial, .user = &m.watch};
    struct ab_intake_report report;
    (void)exit_code;
    if (file > 1)
        AB_TRY(ab_format_find(o->args[1], &import.format, err));
    else if (ab_format_find(o->args[1], &import.format, &(struct ab_err){0}) == AB_OK)
        return ab_fail(err, AB_USAGE, "trace import %s needs a FILE to read", import.format->name);
    AB_TRY(begin_making(&m, o, "import", file, err));
    import.to = m.out.to;
    import.progress = m.walk.progress;
    AB_TRY(end_making(&m, ab_import(&import, &report, err), err));
    if (!o->talk.is_quiet && import.format == NULL)
        fprintf(stderr, "allocbench: %s: recognized as %s\n", AB_SHOWN(600, import.path),
                report.format->name);
    if (!o->talk.is_quiet)
        print_import(o->output, &report);
    return AB_OK;
}

/* Makes traces of a spool left by `record --no-convert` or by a killed `record`. It only reads the
 * spool; the user may remove it afterwards. */
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
        return ab_fail(err, AB_USAGE, "trace recover needs -o: the file to write the trace to");
    enum ab_status status = ab_recover(&request, &recording, err);
    ab_spool_summary_print_traces(&recording, o->talk.is_quiet);
    ab_recording_end(&recording);
    return status;
}

/* ---- the words ---- */

enum { OPTIONS_MOST = 13 };

static const struct word {
    const char *name, *files; /* name in messages */
    unsigned least, most;
    enum ab_status (*run)(const struct ab_options *o, int *exit_code, struct ab_err *err);
    const char *options[OPTIONS_MOST]; /* besides the options of all subcommands */
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
    {"model", "TRACE.abt", 1, 1, ab_trace_cmd_model, {"partial", "output"}},
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

/* Fails with AB_USAGE for common words of other tools, and suggests our word. */
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
                       "trace export was removed: trace dump writes the events, trace info "
                       "--json - the curve of live memory; files of other tools are only imported");
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
    return ab_fail(err, AB_USAGE, "trace %s: unknown command; allowed are %s", shown, list);
}

static enum ab_status check_options(const struct word *word, const struct ab_options *o,
                                    struct ab_err *err)
{
    const struct {
        const char *name;
        bool is_given;
    } options[] = {
        {"events", o->filter.has_events},
        {"live", o->filter.has_live},
        {"partial", o->is_partial},
        {"digest", o->wants_digest},
        {"output", o->output != NULL},
        {"json", o->json != NULL},
        {"thread", o->filter.n_threads > 0},
        {"size", o->filter.has_sizes},
        {"time", o->filter.has_times},
        {"serial", o->is_serial},
        {"functions", o->keeps_functions},
        {"sites", o->sites.is_wanted},
        {"sort", o->sites.has_order},
        {"site", o->filter.n_sites > 0},
        {"scopes", o->wants_scopes},
        {"flame", o->sites.flame != NULL},
        {"folded", o->sites.folded != NULL},
        {"flame-by", o->sites.has_flame_by},
        {"html", o->outputs.sinks[AB_SINK_HTML] != NULL},
        {"verbose", o->is_verbose},
        {"scope", o->scopes_wish != AB_SCOPES_BEST},
    };
    for (size_t i = 0; i < AB_ARRAY_LEN(options); i++)
        if (options[i].is_given && !takes(word, options[i].name))
            return ab_fail(err, AB_USAGE,
                           "trace %s does not take --%s; see allocbench trace %s --help",
                           word->name, options[i].name, word->name);
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
        return ab_fail(err, AB_USAGE, "trace needs a command: allocbench trace info TRACE.abt");
    AB_TRY(find_word(o->args[0], &word, err));
    AB_TRY(check_options(word, o, err));
    AB_TRY(check_files(word, o, err));
    return word->run(o, exit_code, err);
}
