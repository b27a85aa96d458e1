/* SPDX-License-Identifier: MIT
 *
 * Writes traces: opens the output, reads the input, and commits the output if nothing failed.
 */
#include "app/trace/trace_making.h"

#include "core/text.h"
#include "symbols/site_match.h"

#include <string.h>

struct making { /* a trace being written */
    struct ab_output out;
    const struct ab_new_trace *request;
    struct ab_walk walk; /* how the first input is read */
};

/* Opens a file for writing, unless it is one of the inputs. After a failure there is nothing to
 * release. */
static enum ab_status open_file(const struct ab_new_trace *t, const char *path,
                                struct ab_output *out, struct ab_err *err)
{
    AB_TRY(ab_output_open(path, out, err));
    enum ab_status status = ab_output_spare(out, path, t->inputs, t->n, err);
    if (status != AB_OK)
        ab_output_abandon(out);
    return status;
}

static enum ab_status cut(struct making *m, union ab_new_trace_report *report, struct ab_err *err)
{
    bool keeps_live = !m->request->keep->is_dropping_live;
    return ab_trace_cut(&m->walk, keeps_live, m->out.to, &report->cut, err);
}

static enum ab_status merge(struct making *m, union ab_new_trace_report *report, struct ab_err *err)
{
    const struct ab_merge_request r = {.paths = m->request->inputs,
                                       .n = m->request->n,
                                       .is_serial = m->request->is_serial,
                                       .is_partial = m->walk.is_partial,
                                       .to = m->out.to,
                                       .progress = m->walk.progress,
                                       .user = m->walk.progress_user};
    return ab_trace_merge(&r, &report->merge, err);
}

static enum ab_status import(struct making *m, union ab_new_trace_report *report,
                             struct ab_err *err)
{
    const struct ab_import r = {.format = m->request->format,
                                .path = m->walk.path,
                                .is_partial = m->walk.is_partial,
                                .to = m->out.to,
                                .progress = m->walk.progress,
                                .user = m->walk.progress_user};
    return ab_import(&r, &report->import, err);
}

/* ---- filter ---- */

struct sites { /* call sites to keep */
    const struct ab_trace_filter *keep;
    /* made at the first stack, because the table of sites is not read before */
    struct ab_site_matcher *matcher;
    uint64_t met; /* bit i: pattern i matched an allocation */
};

static bool has_site(void *user, const struct ab_site_table *table, uint32_t stack)
{
    struct sites *s = user;
    if (s->matcher == NULL) {
        s->matcher = ab_site_matcher_open(table, NULL, NULL);
        /* cannot fail, because check_patterns() has checked the patterns */
        for (size_t i = 0; i < s->keep->n_sites; i++)
            ab_site_matcher_add(s->matcher, s->keep->sites[i], NULL);
    }
    uint64_t mask = ab_site_matcher_mask(s->matcher, stack);
    s->met |= mask;
    return mask != 0;
}

/* Fails if a pattern matched no allocation, because the pattern is probably misspelled. */
static enum ab_status check_sites(const struct sites *s, struct ab_err *err)
{
    for (size_t i = 0; i < s->keep->n_sites; i++)
        if ((s->met >> i & 1) == 0)
            return ab_fail(err, AB_USAGE,
                           "--site: '%s' fits no allocation of the trace; `allocbench trace info "
                           "--sites` shows them",
                           AB_SHOWN(300, s->keep->sites[i]));
    return AB_OK;
}

/* Checks the patterns before the trace is read, so that a bad pattern is reported before other
 * errors. */
static enum ab_status check_patterns(const struct ab_trace_filter *keep, struct ab_err *err)
{
    if (keep->n_sites > AB_SITE_PATTERNS_MAX)
        return ab_fail(err, AB_USAGE, "--site: more than %d patterns", AB_SITE_PATTERNS_MAX);
    for (size_t i = 0; i < keep->n_sites; i++)
        if (ab_site_pattern_check(keep->sites[i], err) != AB_OK)
            return ab_err_context(err, "--site: ");
    return AB_OK;
}

/* Rounds a time up to whole us, the unit of times in a trace. Rounding up keeps events before the
 * end B of a range A..B. */
static uint64_t tick_of(uint64_t ns)
{
    return ns == UINT64_MAX ? UINT64_MAX : (ns + 999) / 1000;
}

static enum ab_status filter(struct making *m, union ab_new_trace_report *report,
                             struct ab_err *err)
{
    const struct ab_trace_filter *keep = m->request->keep;
    struct sites sites = {.keep = keep};
    struct ab_filter f = {.threads = keep->threads,
                          .n_threads = keep->n_threads,
                          .sizes = keep->has_sizes ? keep->sizes : AB_EXTENT_ALL,
                          .events = AB_EXTENT_ALL,
                          .has_times = keep->has_times,
                          .has_site = keep->n_sites > 0 ? has_site : NULL,
                          .site_user = &sites};
    if (keep->has_events)
        f.events = (struct ab_extent){keep->first_event, keep->end_event};
    if (keep->has_times)
        f.times_us = (struct ab_extent){tick_of(keep->times.first), tick_of(keep->times.end)};
    enum ab_status status = ab_trace_filter(&m->walk, &f, m->out.to, &report->filter, err);
    if (status == AB_OK)
        status = check_sites(&sites, err);
    ab_site_matcher_close(sites.matcher);
    return status;
}

/* ---- share ---- */

struct sharing {
    const struct ab_sharing *request;
    struct ab_site_names names; /* names of functions, for --functions */
    bool has_names;
    char digest[65]; /* digest of the original's calls */
};

/* Creates a frame that shows only its function and the number of the frame in the table. Its build
 * id matches no file, so that no program with the function's name is mistaken for its module. */
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

/* Reads the written trace back, and checks that its calls have the same digest as the original's
 * calls. */
static enum ab_status prove(const struct sharing *s, const char *path, struct ab_err *err)
{
    char digest[65];
    struct ab_walk walk = {.path = path, .digest = digest};
    AB_TRY(ab_trace_check(&walk, NULL, err));
    if (strcmp(digest, s->digest) != 0)
        return ab_fail(err, AB_SYSTEM, "the calls that were written are not those of the trace");
    return AB_OK;
}

static enum ab_status write_both(struct sharing *s, struct making *m, FILE *text,
                                 struct ab_filter_report *report, struct ab_err *err)
{
    char path[64];
    bool keeps_functions = s->request->keeps_functions;
    struct ab_filter anonymous = {.sizes = AB_EXTENT_ALL,
                                  .events = AB_EXTENT_ALL,
                                  .is_anonymous = true,
                                  .know_site = keeps_functions ? know_functions : NULL,
                                  .site_user = s};
    m->walk.digest = s->digest;
    AB_TRY(ab_trace_filter(&m->walk, &anonymous, m->out.to, report, err));
    if (keeps_functions && !report->before.has_sites)
        return ab_fail(err, AB_USAGE, "%s: --functions: has no call sites; record with --sites",
                       m->walk.path);
    if (fflush(m->out.to) != 0)
        return ab_fail_errno(err, AB_SYSTEM, "cannot write %s", AB_SHOWN(600, m->request->output));
    /* the file is read through its descriptor, because it has no name yet */
    AB_FIT(path, "/proc/self/fd/%d", fileno(m->out.to));
    AB_TRY(prove(s, path, err));
    return s->request->describe(s->request->user, path, text, err);
}

static enum ab_status share(struct making *m, union ab_new_trace_report *report, struct ab_err *err)
{
    struct sharing s = {.request = &m->request->sharing};
    struct ab_output text = {0};
    AB_TRY(open_file(m->request, s.request->text_path, &text, err));
    enum ab_status status = write_both(&s, m, text.to, &report->filter, err);
    if (status == AB_OK)
        status = ab_output_commit(&text, err);
    ab_output_abandon(&text);
    ab_site_names_fini(&s.names);
    return status;
}

enum ab_status ab_new_trace_write(const struct ab_new_trace *t, union ab_new_trace_report *report,
                                  struct ab_err *err)
{
    static enum ab_status (*const writers[])(struct making * m, union ab_new_trace_report * report,
                                             struct ab_err * err) = {
        [AB_NEW_TRACE_CUT] = cut,     [AB_NEW_TRACE_FILTER] = filter,
        [AB_NEW_TRACE_MERGE] = merge, [AB_NEW_TRACE_IMPORT] = import,
        [AB_NEW_TRACE_SHARE] = share,
    };
    struct making m = {.request = t};
    if (t->kind == AB_NEW_TRACE_FILTER)
        AB_TRY(check_patterns(t->keep, err));
    AB_TRY(open_file(t, t->output, &m.out, err));
    ab_trace_pass_begin(&t->pass, &m.walk);
    enum ab_status status = writers[t->kind](&m, report, err);
    ab_file_progress_end(&t->pass.progress);
    if (status == AB_OK)
        status = ab_output_commit(&m.out, err);
    ab_output_abandon(&m.out);
    return status;
}
