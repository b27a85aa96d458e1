/* SPDX-License-Identifier: MIT
 *
 * Requests to the use cases that measure. cli/requests.c fills them from a command line. A use case
 * that needs another use case makes a new request for it.
 */
#ifndef AB_APP_REQUEST_H
#define AB_APP_REQUEST_H

#include "app/request_parts.h"

/* Receives the session after the last round. If a request has such a function, there are no outputs
 * and no gates. */
typedef enum ab_status ab_take_session(void *user, const struct ab_session *session,
                                       struct ab_err *err);

struct ab_measured;
struct ab_verify_session;

struct ab_measure_request {
    struct ab_talk talk;
    struct ab_command_line command;
    /* the workload or trace, or the files of a suite; for `exec` the program and its arguments */
    const char **args;
    size_t n_args;
    struct ab_backends_wanted backends;
    struct ab_maps_wanted maps;
    struct ab_settings_wanted settings;
    struct ab_stop_rules rules;
    struct ab_passes_wanted passes;
    struct ab_run_conditions conditions;
    struct ab_replay_wanted replay;
    enum ab_scopes_wish scopes_wish; /* --scope */
    struct ab_verdicts_wanted verdicts;
    struct ab_outputs_wanted outputs;
    struct ab_store_wanted store;
    struct ab_resume_wanted resume;
    bool is_trial; /* True to check everything and measure nothing */
    /* True to skip the workload's gates and claims, because they may name rows that this request
     * does not measure. */
    bool ignores_gates;
    ab_take_session *take; /* receives the session; NULL = the session is stored and shown */
    /* Shows the results after all files are written (app/say.h); NULL = not shown. */
    void (*show)(void *user, const struct ab_measured *m);
    void *user;           /* argument of `take` and `show` */
    uint64_t most_events; /* number of events of a trace to replay; 0 = all */
};

struct ab_exec_request {
    struct ab_measure_request measure;
    struct ab_program_wanted program;
    struct ab_server_wanted server;
};

struct ab_verification_request {
    struct ab_talk talk;
    const char **args; /* back ends, and at most one workload or trace */
    size_t n_args;
    const char *backend_path; /* --backend-path; NULL = none */
    struct ab_settings_wanted settings;
    struct ab_checks_wanted checks;
    struct ab_store_wanted store;
    uint64_t mem_limit_bytes; /* 0 = default */
    uint64_t timeout_ns;      /* limit of one check; 0 = from the estimate */
    bool writes_json;         /* True if the verdicts are written as JSON (--json) */
    enum ab_status (*show)(void *user, const struct ab_verify_session *session, struct ab_err *err);
    void *user; /* argument of `show` */
};

#endif
