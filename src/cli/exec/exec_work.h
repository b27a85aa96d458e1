/* SPDX-License-Identifier: MIT
 *
 * States in a result what `exec` runs: two results are of the same work when command, arguments
 * and input are the same. That the program itself is another one may be what is measured, so it is
 * told and not part of the work.
 */
#ifndef AB_CLI_EXEC_EXEC_WORK_H
#define AB_CLI_EXEC_EXEC_WORK_H

#include "cli/options/options.h"
#include "program/program_session.h"

enum { AB_EXEC_SETTINGS_MAX = 6 };

struct ab_exec_work {
    char program[4096], name[128];
    char program_sha256[65], work_sha256[65];
    const char *settings[AB_EXEC_SETTINGS_MAX + 1]; /* malloc'ed, ends with NULL */
    size_t n_settings;
};

/* `program` is set. AB_INPUT where --stdin cannot be read. */
enum ab_status ab_exec_work_describe(const struct ab_options *o, struct ab_exec_work *work,
                                     struct ab_err *err);
/* Adds what it printed. */
void ab_exec_work_note(struct ab_exec_work *work, const struct ab_program_summary *summary,
                       bool is_output_free);
void ab_exec_work_fini(struct ab_exec_work *work);

#endif
