/* SPDX-License-Identifier: MIT
 *
 * Takes the one file of a command from its arguments, and loads a workload.
 */
#ifndef AB_APP_ONE_FILE_H
#define AB_APP_ONE_FILE_H

#include "app/options.h"
#include "report/output.h"
#include "workload/workload.h"

/* The command's one argument; else AB_USAGE that says what is missing or too much. */
enum ab_status ab_one_file(const struct ab_options *o, const char *what, const char *command,
                           const char **out, struct ab_err *err);

/* Loads a workload with --set and --seed; has its errors said. */
enum ab_status ab_load_workload(const struct ab_options *o, const char *path,
                                struct ab_workload **out, struct ab_err *err);

/* Makes its tape, saying how far it is. */
enum ab_status ab_compile_workload(const struct ab_options *o, const char *path,
                                   struct ab_workload *workload, struct ab_tape *out,
                                   struct ab_err *err);

/* AB_USAGE when `out`, to be written to `path`, would replace what is read: one of o->args from
 * `first` on, rules of --map @FILE, or what --baseline, --trace and --stdin name. */
enum ab_status ab_spare_inputs(const struct ab_options *o, size_t first,
                               const struct ab_output *out, const char *path, struct ab_err *err);

#endif
