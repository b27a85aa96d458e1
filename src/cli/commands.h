/* SPDX-License-Identifier: MIT
 *
 * One function a command. *exit_code matters on AB_OK only; else the error's own code counts.
 */
#ifndef AB_CLI_COMMANDS_H
#define AB_CLI_COMMANDS_H

#include "cli/options.h"

enum ab_status ab_cmd_run(const struct ab_options *o, int *exit_code, struct ab_err *err);
enum ab_status ab_cmd_replay(const struct ab_options *o, int *exit_code, struct ab_err *err);
enum ab_status ab_cmd_report(const struct ab_options *o, int *exit_code, struct ab_err *err);
enum ab_status ab_cmd_record(const struct ab_options *o, int *exit_code, struct ab_err *err);
enum ab_status ab_cmd_trace(const struct ab_options *o, int *exit_code, struct ab_err *err);
enum ab_status ab_cmd_check(const struct ab_options *o, int *exit_code, struct ab_err *err);
enum ab_status ab_cmd_list(const struct ab_options *o, int *exit_code, struct ab_err *err);

enum ab_status ab_cmd_verify(const struct ab_options *o, int *exit_code, struct ab_err *err);

/* argv[0], …, quoted for a shell; malloc'ed. Set once by main. */
extern char *ab_command_line;

#endif
