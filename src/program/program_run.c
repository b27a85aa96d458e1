/* SPDX-License-Identifier: MIT
 *
 * Looks on while a program runs, at each end of one of its processes and every 10 ms, and makes of
 * it numbers that are proven, or a reason why there are none.
 */
#include "program/program_run.h"

#include "base/clock.h"
#include "core/text.h"
#include "core/units_show.h"
#include "program/environment.h"
#include "program/exits.h"
#include "program/proc.h"
#include "program/processes.h"
#include "program/run_delay.h"
#include "program/start.h"
#include "runner/supervise.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LOOK_NS = 10000000, LOOK_MS = 10 };
enum { FD_EXITS, FD_STDOUT, FD_STDERR, N_FDS };
#define START_NS UINT64_C(200000000) /* a dynamic linker takes no longer to load a library */

struct watched {
    const struct ab_program_case *c;
    struct ab_proof_cache *cache;
    struct ab_program_output out, errors;
    struct ab_processes processes;
    struct pollfd fds[N_FDS];
    struct ab_program_started started;
    uint64_t held_ns; /* that the program waited for us at its end */
    double own_peak_bytes;
    struct ab_run_delays run_delays; /* of the processes that have ended by themselves */
    bool is_end_seen;                /* of the first one */
    struct ab_course course;
    bool is_root_proven;
    char doubt[1024]; /* about the first process that is not served as it should; "" = none */
};

/* "VmHWM:     1234 kB" and the like. */
static uint64_t status_value(const char *text, const char *key)
{
    const char *line = strstr(text, key);
    return line == NULL ? 0 : strtoull(line + strlen(key), NULL, 10);
}

static void doubt(struct watched *w, const char *why)
{
    if (w->doubt[0] == 0)
        snprintf(w->doubt, sizeof w->doubt, "%s", why);
}

static void look_at_memory(struct watched *w, uint64_t now)
{
    ab_processes_look(&w->processes, now);
    bool is_there = w->processes.bytes > 0; /* nothing is resident of what has ended */
    if (is_there && now > w->started.begin_ns)
        ab_course_add(&w->course, now - w->started.begin_ns, w->processes.bytes);
}

/* A process is about to end: all it has used is still mapped, and its peak is complete. */
static void look_at_end(struct watched *w, pid_t thread)
{
    char path[64], text[4096], why[700];
    snprintf(path, sizeof path, "/proc/%d/status", (int)thread);
    ab_proc_read(path, text, sizeof text);
    pid_t pid = (pid_t)status_value(text, "\nTgid:");
    w->own_peak_bytes = fmax(w->own_peak_bytes, (double)status_value(text, "\nVmHWM:") * 1024);
    ab_run_delays_add(&w->run_delays, pid);
    w->is_end_seen = w->is_end_seen || pid == w->started.pid;
    enum ab_proof_answer proof = ab_proof_look(w->cache, thread, &w->c->wanted, why, sizeof why);
    struct ab_process *p = ab_processes_find(&w->processes, pid);
    if (proof == AB_PROOF_NO)
        doubt(w, why);
    if (proof == AB_PROOF_YES && pid == w->started.pid)
        w->is_root_proven = true;
    if (proof == AB_PROOF_YES && p != NULL)
        p->is_proven = true;
}

static void answer_end(struct watched *w)
{
    struct ab_exit ended;
    uint64_t begun = ab_clock_now_ns();
    if (!ab_exits_next(w->started.listener, &ended))
        return;
    look_at_end(w, ended.thread);
    if (ended.thread == w->started.pid)
        look_at_memory(w, ab_clock_now_ns());
    ab_exits_go_on(w->started.listener, &ended);
    if (ended.thread == w->started.pid)
        w->held_ns += ab_clock_now_ns() - begun;
}

/* Processes that may be ended by a signal are proven while they run. One that has just been started
 * has loaded nothing yet; that it never will shows after a while. */
static void look_at_processes(struct watched *w, uint64_t now)
{
    char why[700];
    for (size_t i = 0; i < w->processes.n; i++) {
        struct ab_process *p = &w->processes.items[i];
        if (p->is_proven)
            continue;
        enum ab_proof_answer proof = ab_proof_look(w->cache, p->pid, &w->c->wanted, why,
                                                   sizeof why);
        p->is_proven = proof == AB_PROOF_YES;
        if (p->is_proven && p->pid == w->started.pid)
            w->is_root_proven = true;
        if (proof == AB_PROOF_NO && now - p->first_ns > START_NS)
            doubt(w, why);
    }
}

static void look(void *user)
{
    struct watched *w = user;
    if ((w->fds[FD_EXITS].revents & POLLIN) != 0)
        answer_end(w);
    if (w->fds[FD_STDOUT].revents != 0)
        ab_program_output_take(&w->out);
    if (w->fds[FD_STDERR].revents != 0)
        ab_program_output_take(&w->errors);
    w->fds[FD_STDOUT].fd = w->out.read_fd;
    w->fds[FD_STDERR].fd = w->errors.read_fd;
    uint64_t now = ab_clock_now_ns();
    if (w->processes.n_looks > 0 && now - w->processes.last_ns < LOOK_NS)
        return;
    look_at_memory(w, now);
    look_at_processes(w, now);
}

/* ---- what became of it ---- */

static void say_status(struct ab_program_outcome *o, enum ab_backend_status status, const char *why,
                       const struct watched *w)
{
    char says[AB_OUTPUT_TAIL * 4];
    o->status = status;
    ab_program_output_says(&w->errors, says, sizeof says);
    snprintf(o->reason, sizeof o->reason, "%s%s%.500s", why,
             says[0] != 0 ? "; its last words: " : "", says);
}

static void judge(const struct watched *w, const struct ab_ending *e, const struct ab_program *p,
                  struct ab_program_outcome *o)
{
    char why[200], limit[32];
    int status = e->wait_status;
    if (e->end == AB_END_DEADLINE) {
        snprintf(why, sizeof why, "ran longer than --timeout %s and was stopped%s",
                 ab_units_time(limit, sizeof limit, (double)p->timeout_ns),
                 e->ignored_term ? "; it ignored SIGTERM" : "");
        say_status(o, AB_BACKEND_TIMEOUT, why, w);
    } else if (WIFSIGNALED(status)) {
        snprintf(why, sizeof why, "the program was ended by signal %d (%s)", WTERMSIG(status),
                 strsignal(WTERMSIG(status)));
        say_status(o, e->oom_killed ? AB_BACKEND_OOM : AB_BACKEND_CRASHED, why, w);
    } else if (WEXITSTATUS(status) != 0) {
        snprintf(why, sizeof why, "the program failed: exit status %d", WEXITSTATUS(status));
        say_status(o, AB_BACKEND_FAILED_CHECK, why, w);
    } else if (w->doubt[0] != 0) {
        o->status = AB_BACKEND_WRONG_LIBRARY;
        snprintf(o->reason, sizeof o->reason, "%s", w->doubt);
    } else if (!w->is_root_proven) {
        o->status = AB_BACKEND_WRONG_LIBRARY;
        snprintf(o->reason, sizeof o->reason,
                 "not proven: the program ended before it could be seen which allocator it had "
                 "loaded%s",
                 w->started.listener < 0 ? " (this system does not let us stop it at its end)"
                                         : "");
    }
}

static double seconds_ns(struct timeval t)
{
    return (double)t.tv_sec * 1e9 + (double)t.tv_usec * 1e3;
}

/* What all processes took that were waited for between the two, by whomever. */
static void subtract_usage(const struct rusage *from, const struct rusage *to,
                           struct ab_program_outcome *o)
{
    o->user_ns = seconds_ns(to->ru_utime) - seconds_ns(from->ru_utime);
    o->system_ns = seconds_ns(to->ru_stime) - seconds_ns(from->ru_stime);
    o->faults_minor = (uint64_t)(to->ru_minflt - from->ru_minflt);
    o->faults_major = (uint64_t)(to->ru_majflt - from->ru_majflt);
    o->switches_voluntary = (uint64_t)(to->ru_nvcsw - from->ru_nvcsw);
    o->switches_involuntary = (uint64_t)(to->ru_nivcsw - from->ru_nivcsw);
}

/* ru_maxrss counts what the child was before its exec, too: a copy of us. Only above that it is the
 * program's. */
static double peak_of(const struct watched *w, const struct ab_ending *e)
{
    char text[4096];
    ab_proc_read("/proc/self/status", text, sizeof text);
    double peak = fmax(w->own_peak_bytes, w->processes.peak_bytes);
    if (e->maxrss_bytes > status_value(text, "\nVmHWM:") * 1024)
        peak = fmax(peak, (double)e->maxrss_bytes);
    return w->processes.is_blind || !(peak > 0) ? (double)NAN : peak;
}

static enum ab_status supervise(struct watched *w, const struct ab_program *program,
                                const struct rusage *before, struct ab_program_outcome *o,
                                struct ab_err *err)
{
    struct rusage after;
    struct ab_watch watch = {w->fds, N_FDS, LOOK_MS, look, w};
    uint64_t deadline = program->timeout_ns == 0 ? UINT64_MAX
                                                 : w->started.begin_ns + program->timeout_ns;
    w->fds[FD_EXITS] = (struct pollfd){.fd = w->started.listener, .events = POLLIN};
    w->fds[FD_STDOUT] = (struct pollfd){.fd = w->out.read_fd, .events = POLLIN};
    w->fds[FD_STDERR] = (struct pollfd){.fd = w->errors.read_fd, .events = POLLIN};
    look(w);
    struct ab_ending e = ab_supervise_watched(w->started.pid, deadline, &watch);
    getrusage(RUSAGE_CHILDREN, &after);
    o->output = ab_program_output_finish(&w->out);
    ab_program_output_finish(&w->errors);
    if (e.end == AB_END_INTERRUPTED)
        return ab_fail(err, AB_INTERRUPTED, "interrupted");
    o->n_left = e.n_left;
    o->wall_ns = (double)(e.gone_ns - w->started.begin_ns - w->held_ns);
    subtract_usage(before, &after, o);
    o->run_delay_ns = w->is_end_seen ? w->run_delays.ns : (double)NAN;
    o->resident_mean_bytes = ab_processes_mean_bytes(&w->processes, w->processes.last_ns);
    o->resident_peak_bytes = peak_of(w, &e);
    if (!w->processes.is_blind)
        o->course = w->course;
    judge(w, &e, program, o);
    return AB_OK;
}

static enum ab_status open_stdin(const struct ab_program *p, int *fd, struct ab_err *err)
{
    char shown[512];
    const char *path = p->stdin_path != NULL ? p->stdin_path : "/dev/null";
    *fd = open(path, O_RDONLY | O_CLOEXEC);
    return *fd >= 0 ? AB_OK
                    : ab_fail_errno(err, AB_INPUT, "cannot read %s",
                                    ab_text_printable(shown, sizeof shown, path));
}

static enum ab_status start(struct watched *w, const struct ab_program *program, int stdin_fd,
                            struct ab_err *err)
{
    char **envp = ab_environment_build(w->c->wanted.path, w->c->env);
    if (envp == NULL)
        return ab_fail(err, AB_SYSTEM, "out of memory");
    struct ab_program_start s = {.path = program->path,
                                 .argv = program->argv,
                                 .envp = envp,
                                 .stdin_fd = stdin_fd,
                                 .stdout_fd = w->out.write_fd,
                                 .stderr_fd = w->errors.write_fd,
                                 .is_watched = true};
    enum ab_status status = ab_program_start(&s, &w->started, err);
    ab_environment_free(envp);
    ab_program_output_started(&w->out);
    ab_program_output_started(&w->errors);
    return status;
}

enum ab_status ab_program_run(const struct ab_program *program, const struct ab_program_case *c,
                              struct ab_proof_cache *cache, struct ab_program_outcome *out,
                              struct ab_err *err)
{
    struct ab_program_outcome o = {.status = AB_BACKEND_OK};
    struct watched w = {.c = c, .cache = cache, .started.listener = -1};
    struct rusage before;
    int stdin_fd = -1;
    w.out.read_fd = w.out.write_fd = w.errors.read_fd = w.errors.write_fd = -1;
    enum ab_status status = open_stdin(program, &stdin_fd, err);
    if (status == AB_OK)
        status = ab_program_output_open(&w.out, true, err);
    if (status == AB_OK)
        status = ab_program_output_open(&w.errors, false, err);
    getrusage(RUSAGE_CHILDREN, &before);
    if (status == AB_OK && (status = start(&w, program, stdin_fd, err)) == AB_OK)
        status = supervise(&w, program, &before, &o, err);
    if (w.started.listener >= 0)
        close(w.started.listener);
    if (stdin_fd >= 0)
        close(stdin_fd);
    ab_program_output_fini(&w.out);
    ab_program_output_fini(&w.errors);
    ab_processes_fini(&w.processes);
    ab_run_delays_fini(&w.run_delays);
    if (status == AB_OK)
        *out = o;
    return status;
}

enum ab_status ab_program_prepare(const char *command, int fd, uint64_t timeout_ns,
                                  struct ab_err *err)
{
    const char *argv[] = {"sh", "-c", command, NULL};
    struct ab_program_started started;
    int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    struct ab_program_start s = {.path = "/bin/sh",
                                 .argv = argv,
                                 .envp = environ,
                                 .stdin_fd = null,
                                 .stdout_fd = fd,
                                 .stderr_fd = fd};
    enum ab_status status = null < 0 ? ab_fail_errno(err, AB_SYSTEM, "cannot open /dev/null")
                                     : ab_program_start(&s, &started, err);
    if (null >= 0)
        close(null);
    if (status != AB_OK)
        return status;
    struct ab_ending e = ab_supervise(
        started.pid, timeout_ns == 0 ? UINT64_MAX : started.begin_ns + timeout_ns, UINT64_MAX);
    if (e.end == AB_END_INTERRUPTED)
        return ab_fail(err, AB_INTERRUPTED, "interrupted");
    if (e.end == AB_END_DEADLINE)
        return ab_fail(err, AB_SYSTEM, "--prepare ran longer than --timeout");
    if (WIFSIGNALED(e.wait_status))
        return ab_fail(err, AB_SYSTEM, "--prepare was ended by signal %d", WTERMSIG(e.wait_status));
    if (WEXITSTATUS(e.wait_status) != 0)
        return ab_fail(err, AB_SYSTEM, "--prepare failed: exit status %d",
                       WEXITSTATUS(e.wait_status));
    return AB_OK;
}
