/* SPDX-License-Identifier: MIT
 *
 * Options of a command line. Only commands know these options. Use cases get requests, which
 * cli/requests.c fills. cli/option_table.c says which option sets which member. Strings are
 * borrowed from the command line.
 */
#ifndef AB_CLI_OPTIONS_H
#define AB_CLI_OPTIONS_H

#include "app/request_parts.h"

enum ab_color { AB_COLOR_AUTO, AB_COLOR_ALWAYS, AB_COLOR_NEVER };

struct ab_options {
    struct ab_talk talk;
    struct ab_command_line command;
    const char **args; /* arguments; for `exec` and `record` the program and its arguments */
    size_t n_args;
    bool is_group; /* True if an argument named a group of files, even if the group has only one */
    struct ab_backends_wanted backends;
    const char **sweeps; /* values of --sweep, which may be lists separated by commas */
    size_t n_sweeps;
    struct ab_maps_wanted maps;
    struct ab_settings_wanted settings;
    struct ab_stop_rules rules;
    struct ab_passes_wanted passes;
    struct ab_run_conditions conditions;
    struct ab_replay_wanted replay;
    struct ab_verdicts_wanted verdicts;
    struct ab_outputs_wanted outputs;
    struct ab_store_wanted store;
    struct ab_resume_wanted resume;
    struct ab_program_wanted program;
    struct ab_server_wanted server;
    struct ab_checks_wanted checks;
    struct ab_recording_wanted recording;
    struct ab_trace_filter filter;
    struct ab_sites_wanted sites;
    enum ab_scopes_wish scopes_wish; /* --scope */
    bool wants_scopes;               /* trace info --scopes */
    bool is_serial;                  /* trace merge: True to append traces, not to interleave
                                        them */
    bool keeps_functions;            /* trace share: True to keep call sites, as function names */
    /* --partial of trace and merge: True to accept incomplete input */
    bool is_partial;
    bool wants_digest;  /* trace */
    const char *json;   /* --json: file of the document; NULL = not given */
    const char *output; /* -o; NULL = not given */
    const char *code;   /* advise: file for the C code; NULL = none */
    uint64_t budget_ns; /* advise: time limit of one scope; 0 = none */
    bool is_verbose, is_ascii, wants_help, wants_help_all;
    bool is_strict_doctor; /* doctor: True to exit with 1 on a warning */
    enum ab_color color;
    const char **given; /* names of the options that were given */
    size_t n_given;
};

#endif
