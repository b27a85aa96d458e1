/* SPDX-License-Identifier: MIT
 *
 * The stages of a run of a server. Called each time that something may have happened, and never
 * waits, because the measured program is watched all the time.
 */
#include "program/server.h"

#include "base/bits.h"
#include "base/clock.h"
#include "base/nearest.h"
#include "core/alloc.h"
#include "core/system_file.h"
#include "core/text.h"
#include "core/unfinished.h"
#include "core/units_show.h"
#include "runner/supervise.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <regex.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define TRY_EVERY_NS UINT64_C(5000000)
/* time between two tests of readiness; longer for a shell command, which costs more than a
 * connection */
#define RUN_EVERY_NS UINT64_C(50000000)
#define END_MOST_NS UINT64_C(30000000000)
enum { CONNECT_MS = 50, PRINTED_MOST = 16 << 20, SHOWN = 300 };

/* ---- tests of readiness ---- */

static bool connects(const struct ab_server_address *address)
{
    int fd = socket(address->to.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    int error = 0;
    socklen_t n = sizeof error;
    if (fd < 0)
        return false;
    bool is_there = connect(fd, (const struct sockaddr *)&address->to, address->n) == 0;
    struct pollfd p = {.fd = fd, .events = POLLOUT};
    if (!is_there && errno == EINPROGRESS && poll(&p, 1, CONNECT_MS) == 1)
        is_there = getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &n) == 0 && error == 0;
    close(fd);
    return is_there;
}

static bool answers(const struct ab_server_ready *ready)
{
    for (unsigned i = 0; i < ready->n_addresses; i++)
        if (connects(&ready->addresses[i]))
            return true;
    return false;
}

/* ---- regular expressions, matched in a child process ---- */

/* Limits of the child. regcomp and regexec have none, and some expressions would take hours and all
 * memory. The kernel ends a process that exceeds these limits. */
enum { PATTERN_CPU_S = 5 };
#define PATTERN_BYTES (UINT64_C(512) << 20)

struct match {
    int error;       /* error code of regcomp or regexec; 0 = none */
    size_t n_groups; /* number of subexpressions */
    regmatch_t at[2];
};

static void limit_pattern(void)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    char buf[AB_SYSTEM_FILE_BYTES];
    const char *statm = ab_system_file("", "/proc/self/statm", buf);
    unsigned long long pages;
    for (size_t i = 0; i < AB_ARRAY_LEN(signals); i++)
        signal(signals[i], SIG_DFL);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    setrlimit(RLIMIT_CPU, &(struct rlimit){PATTERN_CPU_S, PATTERN_CPU_S});
    if (statm == NULL || sscanf(statm, "%llu", &pages) != 1)
        return;
    rlim_t most = pages * (rlim_t)sysconf(_SC_PAGESIZE) + PATTERN_BYTES;
    struct rlimit old;
    if (getrlimit(RLIMIT_AS, &old) == 0 && old.rlim_max > most)
        setrlimit(RLIMIT_AS, &(struct rlimit){most, most});
}

/* Compiles the pattern and matches it against `text`; NULL = only compiles. */
static void match_here(const char *pattern, const char *text, struct match *out)
{
    regex_t compiled;
    out->error = regcomp(&compiled, pattern, REG_EXTENDED | REG_NEWLINE);
    if (out->error != 0)
        return;
    out->n_groups = compiled.re_nsub;
    if (text != NULL)
        out->error = regexec(&compiled, text, 2, out->at, 0);
}

/* Waits for the child's answer. Returns false if the child was killed before it answered. */
static bool await_match(pid_t pid, int fd, struct match *out)
{
    struct pollfd wake = {.fd = fd, .events = POLLIN};
    int wait_status;
    while (poll(&wake, 1, 100) <= 0)
        if (ab_stop_signal != 0)
            kill(pid, SIGKILL);
    bool is_there = read(fd, out, sizeof *out) == sizeof *out;
    while (waitpid(pid, &wait_status, 0) < 0 && errno == EINTR)
        ;
    return is_there;
}

/* Matches a pattern against a text in a child process. Returns AB_USAGE if the pattern is invalid
 * or takes too much time or memory; `why` receives the reason. */
static enum ab_status match(const char *pattern, const char *text, struct match *out, char *why,
                            size_t cap)
{
    int ends[2];
    struct match m = {.error = REG_ESPACE};
    if (pipe2(ends, O_CLOEXEC) != 0) {
        snprintf(why, cap, "cannot be looked for: pipe: %s", strerror(errno));
        return AB_SYSTEM;
    }
    pid_t pid = fork();
    if (pid == 0) {
        limit_pattern();
        match_here(pattern, text, &m);
        _exit(write(ends[1], &m, sizeof m) == sizeof m ? 0 : 1);
    }
    int error = errno;
    close(ends[1]);
    bool is_there = pid > 0 && await_match(pid, ends[0], &m);
    close(ends[0]);
    *out = m;
    if (pid < 0) {
        snprintf(why, cap, "cannot be looked for: fork: %s", strerror(error));
        return AB_SYSTEM;
    }
    if (!is_there || m.error == REG_ESPACE)
        snprintf(why, cap,
                 "the regular expression takes more than %d s of CPU time or %d MiB to be %s; use "
                 "smaller bounds, and no \\1",
                 PATTERN_CPU_S, (int)(PATTERN_BYTES >> 20), text != NULL ? "found" : "read");
    else if (m.error != 0 && m.error != REG_NOMATCH)
        regerror(m.error, NULL, why, cap);
    else
        return AB_OK;
    return AB_USAGE;
}

enum ab_status ab_server_check_pattern(const char *pattern, size_t *n_groups, char *why, size_t cap)
{
    struct match compiled;
    enum ab_status status = match(pattern, NULL, &compiled, why, cap);
    *n_groups = compiled.n_groups;
    return status;
}

/* ---- commands beside the server ---- */

static void fail_run(struct ab_server_run *run, const char *why)
{
    if (run->failure[0] != 0)
        return;
    run->failed_in = run->stage;
    AB_COPY(run->failure, why);
}

/* Starts a shell command whose output goes to the two descriptors. Afterwards, ab_supervise_expect
 * is called for the server again, which is the supervised process. */
static void start_beside(struct ab_server_run *run, const char *command, int out_fd, int errors_fd)
{
    struct ab_err err;
    if (ab_program_start_shell(command, out_fd, errors_fd, &run->beside, &err) != AB_OK) {
        fail_run(run, err.text);
        return;
    }
    ab_supervise_expect(run->server);
    run->is_beside_running = true;
    run->beside_fd = (int)syscall(SYS_pidfd_open, run->beside, 0);
}

/* True if the command has ended. Then reaps it, and kills the rest of its process group. */
static bool has_ended(struct ab_server_run *run, int *wait_status)
{
    siginfo_t info = {0};
    bool is_ours = waitid(P_PID, (id_t)run->beside, &info, WEXITED | WNOHANG | WNOWAIT) == 0;
    if (is_ours && info.si_pid != run->beside)
        return false;
    if (is_ours)
        kill(-run->beside, SIGKILL);
    if (!is_ours || waitpid(run->beside, wait_status, 0) != run->beside)
        *wait_status = -1;
    ab_guardian_forget(run->beside);
    run->is_beside_running = false;
    if (run->beside_fd >= 0)
        close(run->beside_fd);
    run->beside_fd = -1;
    return true;
}

/* ---- the stages ---- */

enum ab_status ab_server_begin(const struct ab_server *asked, struct ab_server_run *run,
                               struct ab_err *err)
{
    *run = (struct ab_server_run){.asked = asked,
                                  .beside_fd = -1,
                                  .printed_fd = -1,
                                  .errors = {.read_fd = -1, .write_fd = -1},
                                  .ready_ns = NAN,
                                  .load_ns = NAN};
    for (size_t i = 0; i < AB_NAMED_MAX; i++)
        run->values[i] = NAN;
    bool is_there = answers(&asked->ready);
    if (asked->ready.command != NULL) {
        int null = open("/dev/null", O_RDWR | O_CLOEXEC);
        struct ab_err why;
        is_there = null >= 0 && ab_program_prepare(asked->ready.command, null,
                                                   asked->ready_timeout_ns, &why) == AB_OK;
        if (null >= 0)
            close(null);
        if (ab_stop_signal != 0)
            return ab_fail(err, AB_INTERRUPTED, "interrupted");
    }
    if (is_there)
        return ab_fail(err, AB_SYSTEM,
                       "--ready '%s' succeeds before the server is started: something else answers "
                       "there",
                       AB_SHOWN(SHOWN, asked->ready.text));
    return AB_OK;
}

void ab_server_started(struct ab_server_run *run, pid_t server, uint64_t begin_ns)
{
    run->server = server;
    run->begin_ns = run->since_ns = begin_ns;
}

static void go_to(struct ab_server_run *run, enum ab_server_stage stage)
{
    run->stage = stage;
    run->since_ns = ab_clock_now_ns();
}

static void start_load(struct ab_server_run *run)
{
    struct ab_err err;
    int ends[2];
    go_to(run, AB_SERVER_IS_LOADED);
    if (ab_program_output_open(&run->errors, false, &err) != AB_OK) {
        fail_run(run, err.text);
        return;
    }
    if (pipe2(ends, O_CLOEXEC) != 0) {
        fail_run(run, "cannot start the load: pipe");
        return;
    }
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    run->printed_fd = ends[0];
    start_beside(run, run->asked->load, ends[1], run->errors.write_fd);
    close(ends[1]);
    ab_program_output_started(&run->errors);
}

/* True if the server answers at the moment. */
static bool is_ready(struct ab_server_run *run, uint64_t now)
{
    const struct ab_server_ready *ready = &run->asked->ready;
    int status = -1;
    if (run->is_beside_running) {
        if (!has_ended(run, &status))
            return false;
        run->next_ns = now + RUN_EVERY_NS;
        return status == 0;
    }
    if (now < run->next_ns)
        return false;
    run->next_ns = now + TRY_EVERY_NS;
    if (ready->command == NULL)
        return answers(ready);
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    start_beside(run, ready->command, null, null);
    close(null);
    return false;
}

static enum ab_server_event await_ready(struct ab_server_run *run)
{
    uint64_t now = ab_clock_now_ns();
    char why[SHOWN + 200];
    if (is_ready(run, now)) {
        run->ready_ns = (double)(ab_clock_now_ns() - run->begin_ns);
        start_load(run);
        return AB_SERVER_ANSWERS;
    }
    if (now - run->since_ns < run->asked->ready_timeout_ns)
        return AB_SERVER_NOTHING;
    AB_FIT(why, "not ready after %s (--ready-timeout): --ready '%s' does not succeed",
           AB_TIME((double)run->asked->ready_timeout_ns), AB_SHOWN(SHOWN, run->asked->ready.text));
    fail_run(run, why);
    return AB_SERVER_NOTHING;
}

/* Adds the output of the load. Replaces NUL bytes by blanks, because a regular expression ends
 * at a NUL. */
static void add_printed(struct ab_server_run *run, char *buf, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (buf[i] == 0)
            buf[i] = ' ';
    buf[n] = 0;
    if (run->printed.n < PRINTED_MOST)
        ab_text_add(&run->printed, buf);
    else
        fail_run(run, "the load printed more than 16 MiB: send to a file what no --metric reads");
}

static void take_printed(struct ab_server_run *run)
{
    char buf[4096 + 1];
    ssize_t n = -1;
    while (run->printed_fd >= 0 && (n = read(run->printed_fd, buf, sizeof buf - 1)) > 0)
        add_printed(run, buf, (size_t)n);
    if (n == 0) {
        close(run->printed_fd);
        run->printed_fd = -1;
    }
    ab_program_output_take(&run->errors);
}

/* Finds the number of a metric in the output of the load. Returns NULL, or the end of a sentence
 * that says what is wrong. */
static const char *find_number(const struct ab_server_metric *m, const char *printed, char *shown,
                               size_t cap, double *out)
{
    char number[64], *end;
    struct match found;
    const regmatch_t *at = found.at;
    if (match(m->pattern, printed, &found, shown, cap) != AB_OK)
        return shown;
    if (found.error == REG_NOMATCH)
        return "matches nothing in what the load printed";
    if (at[1].rm_so < 0)
        return "matches, but not what is in ( )";
    size_t n = (size_t)(at[1].rm_eo - at[1].rm_so);
    AB_FIT(number, "%.*s", (int)(n < sizeof number ? n : sizeof number - 1), printed + at[1].rm_so);
    *out = strtod(number, &end);
    if (number[0] != 0 && *end == 0 && n < sizeof number && isfinite(*out) && *out >= 0)
        return NULL;
    char quoted[80];
    snprintf(shown, cap, "matches '%s', which is not a number of 0 or more",
             ab_text_printable(quoted, sizeof quoted, number));
    return shown;
}

static void read_metrics(struct ab_server_run *run)
{
    char shown[200], why[SHOWN + 300];
    const char *printed = run->printed.s != NULL ? run->printed.s : "";
    for (size_t i = 0; i < run->asked->n_metrics; i++) {
        const struct ab_server_metric *m = &run->asked->metrics[i];
        double value;
        const char *wrong = find_number(m, printed, shown, sizeof shown, &value);
        if (wrong == NULL) {
            run->values[ab_named_slot(m->field)] = value;
            continue;
        }
        AB_FIT(why, "--metric '%s' %s (%zu bytes)", AB_SHOWN(SHOWN, m->text), wrong,
               run->printed.n);
        fail_run(run, why);
        return;
    }
}

/* Returns why the load failed; NULL = it succeeded. */
static const char *load_failure(struct ab_server_run *run, int wait_status, char *why, size_t cap)
{
    char says[AB_OUTPUT_TAIL * 4], how[100];
    if (wait_status == 0)
        return NULL;
    if (WIFSIGNALED(wait_status))
        AB_FIT(how, "it was ended by signal %d (%s)", WTERMSIG(wait_status),
               strsignal(WTERMSIG(wait_status)));
    else
        AB_FIT(how, "exit status %d", WEXITSTATUS(wait_status));
    ab_program_output_says(&run->errors, says, sizeof says);
    snprintf(why, cap, "the load failed: %s%s%.400s", how, says[0] != 0 ? "; its last words: " : "",
             says);
    return why;
}

static enum ab_server_event await_load(struct ab_server_run *run)
{
    char why[600];
    int status;
    take_printed(run);
    if (!run->is_beside_running || !has_ended(run, &status))
        return AB_SERVER_NOTHING;
    run->load_ns = (double)(ab_clock_now_ns() - run->since_ns);
    take_printed(run); /* reads output that arrived before the load ended */
    const char *failed = load_failure(run, status, why, sizeof why);
    if (failed != NULL)
        fail_run(run, failed);
    else
        read_metrics(run);
    go_to(run, AB_SERVER_RESTS);
    return AB_SERVER_LOAD_IS_DONE;
}

static void await_end(struct ab_server_run *run)
{
    if (run->was_killed || ab_clock_now_ns() - run->since_ns < END_MOST_NS)
        return;
    run->was_killed = true;
    kill(run->server, SIGKILL);
}

static enum ab_server_event go_on(struct ab_server_run *run, uint64_t rest_ns)
{
    enum ab_server_event event = AB_SERVER_NOTHING;
    switch (run->stage) {
    case AB_SERVER_STARTS:
        event = await_ready(run);
        break;
    case AB_SERVER_IS_LOADED:
        event = await_load(run);
        break;
    case AB_SERVER_RESTS:
        if (ab_clock_now_ns() - run->since_ns >= rest_ns)
            event = AB_SERVER_IS_DONE;
        break;
    case AB_SERVER_IS_ENDED:
        await_end(run);
        return AB_SERVER_NOTHING;
    }
    return run->failure[0] != 0 ? AB_SERVER_IS_DONE : event;
}

enum ab_server_event ab_server_step(struct ab_server_run *run, uint64_t rest_ns, struct pollfd *fds)
{
    enum ab_server_event event = go_on(run, rest_ns);
    bool is_loaded = run->stage == AB_SERVER_IS_LOADED;
    const int wake[AB_SERVER_FDS] = {run->stage <= AB_SERVER_IS_LOADED ? run->beside_fd : -1,
                                     is_loaded ? run->printed_fd : -1,
                                     is_loaded ? run->errors.read_fd : -1};
    for (unsigned i = 0; i < AB_SERVER_FDS; i++)
        fds[i] = (struct pollfd){.fd = wake[i], .events = POLLIN};
    return event;
}

void ab_server_end(struct ab_server_run *run)
{
    go_to(run, AB_SERVER_IS_ENDED);
    kill(run->server, run->asked->end_signal);
}

/* ---- judging the outcome ---- */

static const char *const stages[] = {
    [AB_SERVER_STARTS] = "before it was ready",
    [AB_SERVER_IS_LOADED] = "under the load",
    [AB_SERVER_RESTS] = "in its rest",
    [AB_SERVER_IS_ENDED] = "when it was asked to end",
};

/* True if the server ended as requested: by the end signal, with status 0, or with status 128 +
 * signal. */
static bool is_asked_for(const struct ab_server_run *run, int wait_status)
{
    int signal = run->asked->end_signal;
    return run->stage == AB_SERVER_IS_ENDED &&
           (wait_status == 0 || (WIFSIGNALED(wait_status) && WTERMSIG(wait_status) == signal) ||
            (WIFEXITED(wait_status) && WEXITSTATUS(wait_status) == 128 + signal));
}

enum ab_backend_status ab_server_judge(const struct ab_server_run *run, int wait_status, char *why,
                                       size_t cap)
{
    /* If the load failed, the stage in which it failed counts. The load often ends before the
     * server's end is seen. */
    const char *when = stages[run->failure[0] != 0 ? run->failed_in : run->stage];
    char ended[60] = "";
    bool is_crash = WIFSIGNALED(wait_status) && !is_asked_for(run, wait_status);
    if (WIFEXITED(wait_status) && !is_asked_for(run, wait_status))
        AB_FIT(ended, "; the server ended with exit status %d", WEXITSTATUS(wait_status));
    if (run->was_killed)
        snprintf(why, cap, "the server did not end within %s of signal %d (%s)",
                 AB_TIME((double)END_MOST_NS), run->asked->end_signal,
                 strsignal(run->asked->end_signal));
    else if (is_crash)
        snprintf(why, cap, "the server was ended by signal %d (%s) %s", WTERMSIG(wait_status),
                 strsignal(WTERMSIG(wait_status)), when);
    else if (run->failure[0] != 0)
        snprintf(why, cap, "%s%s", run->failure, ended);
    else if (!is_asked_for(run, wait_status))
        snprintf(why, cap, "the server ended %s: exit status %d%s", when, WEXITSTATUS(wait_status),
                 wait_status == 0 ? " (it must not go into the background)" : "");
    else
        return AB_BACKEND_OK;
    return is_crash && !run->was_killed ? AB_BACKEND_CRASHED : AB_BACKEND_FAILED_CHECK;
}

void ab_server_run_fini(struct ab_server_run *run)
{
    int status;
    if (run->asked == NULL)
        return;
    if (run->is_beside_running) {
        kill(-run->beside, SIGKILL);
        has_ended(run, &status);
    }
    if (run->beside_fd >= 0)
        close(run->beside_fd);
    if (run->printed_fd >= 0)
        close(run->printed_fd);
    ab_program_output_fini(&run->errors);
    ab_text_fini(&run->printed);
}
