/* SPDX-License-Identifier: MIT
 *
 * A program that does not end by itself: it is waited for until it answers, a load is run against
 * it, it rests, and it is asked to end. What the load prints has the numbers of the run.
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

/* How it is seen that a server answers: a connection that is made (and closed), or a shell command
 * that succeeds. */
struct ab_server_ready {
    const char *text;    /* as it was given; borrowed */
    const char *command; /* of the shell; NULL: one of these addresses takes a connection */
    struct ab_server_address {
        struct sockaddr_storage to;
        socklen_t n;
    } addresses[AB_SERVER_ADDRESSES];
    unsigned n_addresses;
};

/* "tcp:PORT" of this machine, "tcp:HOST:PORT", "unix:PATH", "cmd:COMMAND"; AB_USAGE: it is none. */
enum ab_status ab_server_read_ready(const char *text, struct ab_server_ready *out,
                                    struct ab_err *err);

struct ab_server_metric { /* a number that the load prints */
    const char *text;     /* as it was given; borrowed */
    const struct ab_field *field;
    const char *pattern; /* its first subexpression is the number; borrowed */
};

/* "NAME=REGEX", "NAME+=REGEX" where higher is better; AB_USAGE: it is none. */
enum ab_status ab_server_read_metric(const char *text, struct ab_server_metric *out,
                                     struct ab_err *err);

struct ab_server { /* what is done with it */
    struct ab_server_ready ready;
    const char *load; /* a command of the shell; borrowed */
    struct ab_server_metric *metrics;
    size_t n_metrics;
    uint64_t ready_timeout_ns, rest_ns;
    int end_signal;
};

void ab_server_fini(struct ab_server *server);

enum ab_server_stage {
    AB_SERVER_STARTS,
    AB_SERVER_IS_LOADED,
    AB_SERVER_RESTS,
    AB_SERVER_IS_ENDED, /* it has been asked to */
};

enum ab_server_event {
    AB_SERVER_NOTHING,
    AB_SERVER_ANSWERS, /* and the load has begun */
    AB_SERVER_LOAD_IS_DONE,
    AB_SERVER_IS_DONE, /* with the rest, or something failed: to be followed by ab_server_end */
};

enum { AB_SERVER_FDS = 3 };

struct ab_server_run { /* begins by ab_server_begin */
    const struct ab_server *asked;
    enum ab_server_stage stage;
    pid_t server;
    pid_t beside; /* the shell that runs beside it, or was the last to; leads a group of its own */
    bool is_beside_running;
    int beside_fd; /* its pidfd; −1 = none */
    int printed_fd;
    struct ab_text printed; /* by the load */
    struct ab_program_output errors;
    uint64_t begin_ns, since_ns, next_ns; /* of the server, of the stage; when to try again */
    double ready_ns, load_ns;             /* NaN = not known */
    double values[AB_NAMED_MAX];          /* by the slot of the field; NaN = not known */
    bool was_killed;
    char failure[700]; /* "" = nothing has failed */
    enum ab_server_stage failed_in;
};

/* AB_SYSTEM where something answers already. */
enum ab_status ab_server_begin(const struct ab_server *asked, struct ab_server_run *run,
                               struct ab_err *err);
/* The server has been started. */
void ab_server_started(struct ab_server_run *run, pid_t server, uint64_t begin_ns);
/* Goes on as far as it goes without waiting. `rest_ns` of 0: without a rest; `fds`: AB_SERVER_FDS, what
 * wakes it up. */
enum ab_server_event ab_server_step(struct ab_server_run *run, uint64_t rest_ns,
                                    struct pollfd *fds);
/* Asks it to end. */
void ab_server_end(struct ab_server_run *run);
/* What became of it by how it ended, OK or a status and why. */
enum ab_backend_status ab_server_judge(const struct ab_server_run *run, int wait_status, char *why,
                                       size_t cap);
void ab_server_run_fini(struct ab_server_run *run);

#endif
