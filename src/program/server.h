/* SPDX-License-Identifier: MIT
 *
 * Measures a program that does not end by itself (--server). allocbench waits until the server
 * answers, runs a load against it, lets it rest, and asks it to end. The load prints the metrics
 * of the run.
 */
#ifndef AB_PROGRAM_SERVER_H
#define AB_PROGRAM_SERVER_H

#include "core/status.h"
#include "core/text.h"
#include "program/program.h"
#include "result/result_fields.h"

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>

enum { AB_SERVER_ADDRESSES = 4 };

/* Test that a server is ready: a connection that succeeds (and is closed), or a shell command
 * that succeeds. */
struct ab_server_ready {
    const char *text;    /* the option's text; borrowed */
    const char *command; /* shell command; NULL = one of `addresses` must accept a connection */
    struct ab_server_address {
        struct sockaddr_storage to;
        socklen_t n;
    } addresses[AB_SERVER_ADDRESSES];
    unsigned n_addresses;
};

struct ab_server_metric { /* a number that the load prints */
    const char *text;     /* the option's text; borrowed */
    const struct ab_field *field;
    const char *pattern; /* its first subexpression is the number; borrowed */
};

/* Compiles the pattern of a metric, and sets *n_groups to its number of subexpressions. Returns
 * AB_USAGE if it is invalid or takes too much, with the reason in `why`. */
enum ab_status ab_server_check_pattern(const char *pattern, size_t *n_groups, char *why,
                                       size_t cap);

struct ab_server { /* plan for a run of a server; the same in all runs */
    struct ab_server_ready ready;
    const char *load;                 /* shell command; borrowed */
    struct ab_server_metric *metrics; /* owned by the caller */
    size_t n_metrics;
    uint64_t ready_timeout_ns, rest_ns;
    int end_signal;
};

enum ab_server_stage {
    AB_SERVER_STARTS,
    AB_SERVER_IS_LOADED,
    AB_SERVER_RESTS,
    AB_SERVER_IS_ENDED, /* the end signal has been sent */
};

enum ab_server_event {
    AB_SERVER_NOTHING,
    AB_SERVER_ANSWERS, /* the server is ready, and the load has begun */
    AB_SERVER_LOAD_IS_DONE,
    /* the rest is over, or there was a failure; the caller must call ab_server_end next */
    AB_SERVER_IS_DONE,
};

enum { AB_SERVER_FDS = 3 };

struct ab_server_run { /* initialized by ab_server_begin */
    const struct ab_server *asked;
    enum ab_server_stage stage;
    pid_t server;
    /* last shell command beside the server (--ready or the load), which leads its own process
     * group */
    pid_t beside;
    bool is_beside_running;
    int beside_fd; /* pidfd of `beside`; −1 = none */
    int printed_fd;
    struct ab_text printed; /* output of the load */
    struct ab_program_output errors;
    /* begin_ns: start of the server; since_ns: start of the stage; next_ns: time of the next
     * --ready test */
    uint64_t begin_ns, since_ns, next_ns;
    double ready_ns, load_ns;    /* NaN = not known */
    double values[AB_NAMED_MAX]; /* indexed by the slot of the field; NaN = not known */
    bool was_killed;
    char failure[700]; /* "" = no failure */
    enum ab_server_stage failed_in;
};

/* Prepares a run. Returns AB_SYSTEM if something already answers at the address. */
enum ab_status ab_server_begin(const struct ab_server *asked, struct ab_server_run *run,
                               struct ab_err *err);
/* Call this when the server has been started. */
void ab_server_started(struct ab_server_run *run, pid_t server, uint64_t begin_ns);
/* Continues a run as far as possible without waiting. rest_ns is the length of the rest after the
 * load; 0 = no rest. Fills `fds` (AB_SERVER_FDS entries) with the descriptors to poll before the
 * next call. */
enum ab_server_event ab_server_step(struct ab_server_run *run, uint64_t rest_ns,
                                    struct pollfd *fds);
/* Asks the server to end. */
void ab_server_end(struct ab_server_run *run);
/* Judges how the server ended: OK, or a status and the reason in `why`. */
enum ab_backend_status ab_server_judge(const struct ab_server_run *run, int wait_status, char *why,
                                       size_t cap);
void ab_server_run_fini(struct ab_server_run *run);

#endif
