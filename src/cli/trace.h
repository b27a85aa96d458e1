/* SPDX-License-Identifier: MIT
 *
 * The commands of `allocbench trace`, and what they share: the pass over a file with its progress
 * line, and what `trace info` knows of a file.
 */
#ifndef AB_CLI_TRACE_H
#define AB_CLI_TRACE_H

#include "app/options.h"
#include "cli/progress.h"
#include "report/json.h"
#include "report/output.h"
#include "report/table/style.h"
#include "symbols/site_match.h"
#include "trace_tools/scopes.h"
#include "trace_tools/site_stats.h"
#include "trace_tools/trace_stats.h"

#include <stdio.h>

struct ab_trace_watch { /* a pass that is being watched on a terminal */
    struct ab_progress_line line;
    const char *path;
};

/* Fills `walk` from the options (--partial, --events) and makes it report its progress; end takes
 * the line off the terminal again. */
void ab_trace_watch_begin(struct ab_trace_watch *w, const struct ab_options *o, const char *path,
                          struct ab_walk *walk);
void ab_trace_watch_end(struct ab_trace_watch *w);

/* Opens a file that replaces none of those that are read: o->args from `first` on. On failure there
 * is nothing to end. */
enum ab_status ab_trace_open_file(const struct ab_options *o, size_t first, const char *path,
                                  struct ab_output *out, struct ab_err *err);

struct ab_trace_scopes { /* begins as {0} */
    struct ab_scopes scopes;
    struct ab_scope_stats stats;
    double median_calls;
    uint64_t time_us;         /* of the whole trace; 0 = not known */
    enum ab_scopes_wish wish; /* set before they are gathered, as the next */
    bool wants_each;          /* set before they are gathered */
    struct ab_trace_scope {   /* what its allocations and resizes ask for */
        uint64_t allocs, bytes;
    } * each; /* scopes.n of them, if so */
};

enum ab_status ab_trace_cmd_info(const struct ab_options *o, int *exit_code, struct ab_err *err);
/* The same text of one file, for people who do not have it. */
enum ab_status ab_trace_print_info(FILE *to, const struct ab_options *o, const char *path,
                                   struct ab_err *err);
enum ab_status ab_trace_cmd_model(const struct ab_options *o, int *exit_code, struct ab_err *err);

/* The commands of trace; NULL past the end. */
const char *ab_trace_command_name(size_t i);
/* False also where `trace` has no such command; options that all take are not named by any. */
bool ab_trace_command_takes(const char *name, const char *option);

struct ab_trace_facts { /* what `trace info` knows of one file */
    const char *path;
    struct ab_trace_info info;
    struct ab_survey survey;
    bool wants_sites, wants_scopes;
    struct ab_site_table site_table; /* {0} = not asked for */
    struct ab_site_stats sites;
    struct ab_mark_table marks, requests;
    struct ab_trace_scopes scopes;
    char digest[65];                /* "" = not asked for */
    struct ab_overview_maker *look; /* NULL = no page is asked for */
    char why_no_scopes[300];        /* for the page; "" = they were looked for */
};

/* The first o->n_sites call sites, with names of functions where there are any. */
void ab_trace_print_sites(FILE *to, const struct ab_trace_facts *f, const struct ab_options *o);
json_t *ab_trace_sites_json(const struct ab_trace_facts *f, const struct ab_options *o);

struct ab_trace_site_row {
    uint32_t site;
    uint64_t key;
};
/* All sites that have what is asked for, the most first; free it. */
struct ab_trace_site_row *ab_trace_sort_sites(const struct ab_trace_facts *f,
                                              enum ab_site_order order, size_t *n);
/* The innermost frames of a site as printable texts, "new in parse  parse.cc:12"; how many. */
enum { AB_TRACE_SITE_FRAMES = 4, AB_TRACE_FRAME_BYTES = 256 };
size_t ab_trace_site_frames(struct ab_site_names *names, uint32_t site,
                            char out[AB_TRACE_SITE_FRAMES][AB_TRACE_FRAME_BYTES]);

/* `trace info --html FILE`: what is known of a trace, as a page. Once: f->look is at its end then.
 * Commits *out. */
enum ab_status ab_trace_page_write(const struct ab_trace_facts *f, const struct ab_options *o,
                                   struct ab_output *out, struct ab_err *err);

#endif
