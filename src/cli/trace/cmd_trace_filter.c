/* SPDX-License-Identifier: MIT
 *
 * `trace filter` and `trace anonymize`: a trace with less in it, and what is left out.
 */
#include "cli/trace/cmd_trace.h"
#include "core/text.h"
#include "symbols/site_match.h"
#include "trace_tools/rewrite/filter.h"

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
    AB_TRY(ab_trace_open_output(o, word, 1, &out, err));
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
