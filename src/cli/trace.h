/* SPDX-License-Identifier: MIT
 *
 * Commands of `allocbench trace` and their common parts: the pass over a file with its progress
 * line, and the facts that `trace info` shows.
 */
#ifndef AB_CLI_TRACE_H
#define AB_CLI_TRACE_H

#include "app/options.h"
#include "cli/progress.h"
#include "core/output.h"
#include "document/json.h"
#include "report/table/style.h"
#include "symbols/site_match.h"
#include "trace_tools/scopes.h"
#include "trace_tools/site_stats.h"
#include "trace_tools/trace_stats.h"

#include <stdio.h>

struct ab_trace_watch { /* progress of a pass on a terminal */
    struct ab_progress_line line;
    const char *path;
};

/* Sets `walk` from the options (--partial, --events) and makes it report progress.
 * ab_trace_watch_end() removes the progress line. */
void ab_trace_watch_begin(struct ab_trace_watch *w, const struct ab_options *o, const char *path,
                          struct ab_walk *walk);
void ab_trace_watch_end(struct ab_trace_watch *w);

/* Opens a file for writing, unless it is one of the inputs: o->args from `first` on. After a
 * failure there is nothing to release. */
enum ab_status ab_trace_open_file(const struct ab_options *o, size_t first, const char *path,
                                  struct ab_output *out, struct ab_err *err);

struct ab_trace_scopes { /* begins as {0} */
    struct ab_scopes scopes;
    struct ab_scope_stats stats;
    double median_calls;
    uint64_t time_us;         /* duration of the trace; 0 = unknown */
    enum ab_scopes_wish wish; /* set by the caller, as is the next */
    bool wants_each;          /* True to fill `each` */
    struct ab_trace_scope {   /* requests within one scope */
        uint64_t allocs, bytes;
    } * each; /* scopes.n of them, if wants_each */
};

enum ab_status ab_trace_cmd_info(const struct ab_options *o, int *exit_code, struct ab_err *err);
/* Prints the text of `trace info` for one file. */
enum ab_status ab_trace_print_info(FILE *to, const struct ab_options *o, const char *path,
                                   struct ab_err *err);
enum ab_status ab_trace_cmd_model(const struct ab_options *o, int *exit_code, struct ab_err *err);

/* Returns the name of the i-th command of trace; NULL past the end. */
const char *ab_trace_command_name(size_t i);
/* True if the command of trace takes the option. False if there is no such command, and for options
 * that all commands take. */
bool ab_trace_command_takes(const char *name, const char *option);

struct ab_trace_facts { /* facts about one file */
    const char *path;
    struct ab_trace_info info;
    struct ab_survey survey;
    bool wants_sites, wants_scopes;
    struct ab_site_table site_table; /* {0} = not requested */
    struct ab_site_stats sites;
    struct ab_mark_table marks, requests;
    struct ab_trace_scopes scopes;
    char digest[65];                /* "" = not requested */
    struct ab_overview_maker *look; /* NULL = no page requested */
    char why_no_scopes[300];        /* for the page; "" = scopes were searched for */
};

/* Prints the first o->n_sites call sites, with function names if known. */
void ab_trace_print_sites(FILE *to, const struct ab_trace_facts *f, const struct ab_options *o);
json_t *ab_trace_sites_json(const struct ab_trace_facts *f, const struct ab_options *o);

struct ab_trace_site_row {
    uint32_t site;
    uint64_t key;
};
/* Returns the sites with a nonzero key, the largest first; the caller frees them. */
struct ab_trace_site_row *ab_trace_sort_sites(const struct ab_trace_facts *f,
                                              enum ab_site_order order, size_t *n);
/* Writes the innermost frames of a site as printable texts, "new in parse  parse.cc:12". Returns
 * their number. */
enum { AB_TRACE_SITE_FRAMES = 4, AB_TRACE_FRAME_BYTES = 256 };
size_t ab_trace_site_frames(struct ab_site_names *names, uint32_t site,
                            char out[AB_TRACE_SITE_FRAMES][AB_TRACE_FRAME_BYTES]);

/* Writes the page of `trace info --html FILE` and commits *out. Call it once, because it uses up
 * f->look. */
enum ab_status ab_trace_page_write(const struct ab_trace_facts *f, const struct ab_options *o,
                                   struct ab_output *out, struct ab_err *err);

#endif
