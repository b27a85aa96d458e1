/* SPDX-License-Identifier: MIT
 *
 * Commands of `allocbench trace` and their common parts: reading a file with a progress line, and
 * the facts that `trace info` shows.
 */
#ifndef AB_CLI_TRACE_H
#define AB_CLI_TRACE_H

#include "app/trace/trace_facts.h"
#include "cli/options.h"
#include "cli/progress.h"
#include "core/output.h"
#include "document/json.h"
#include "report/table/style.h"

#include <stdio.h>

/* Returns how to read a trace as the options say (--partial, --events), with a progress line.
 * `files` must live as long as the result is used. */
struct ab_trace_pass ab_trace_pass_of(const struct ab_options *o, const char *path,
                                      struct ab_progress_files *files);

enum ab_status ab_trace_cmd_info(const struct ab_options *o, int *exit_code, struct ab_err *err);
/* Prints the verbose text of `trace info` for one file, with its digest and, if wanted, its call
 * sites. */
enum ab_status ab_trace_print_info(FILE *to, const char *path, bool wants_sites,
                                   struct ab_err *err);

/* Returns the name of the i-th subcommand of trace; NULL past the end. */
const char *ab_trace_command_name(size_t i);
/* True if the subcommand of trace takes the option. False if there is no such subcommand, and for
 * options that all subcommands take. */
bool ab_trace_command_takes(const char *name, const char *option);

/* Prints the first call sites, as many as wanted, with the names of their functions if known. */
void ab_trace_print_sites(FILE *to, const struct ab_trace_facts *f,
                          const struct ab_sites_wanted *wanted);
json_t *ab_trace_sites_json(const struct ab_trace_facts *f, const struct ab_sites_wanted *wanted);

/* Writes the page of `trace info --html FILE` and commits *out. Call it once, because it uses up
 * f->look. */
enum ab_status ab_trace_page_write(const struct ab_trace_facts *f,
                                   const struct ab_sites_wanted *wanted, struct ab_output *out,
                                   struct ab_err *err);

#endif
