/* SPDX-License-Identifier: MIT
 *
 * Looks on while a program runs, at each end of one of its processes and every 10 ms, and makes of
 * it numbers that are proven, or a reason why there are none.
 */
#include "base/bits.h"
#include "base/clock.h"
#include "core/grow.h"
#include "core/memory.h"
#include "core/status.h"
#include "core/system_file.h"
#include "core/text.h"
#include "core/units_show.h"
#include "program/program.h"
#include "runner/supervise.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <math.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>
#include <xxhash.h>

enum { LOOK_NS = 10000000, LOOK_MS = 10 };
enum { FD_EXITS, FD_STDOUT, FD_STDERR, N_FDS };
#define START_NS UINT64_C(200000000) /* a dynamic linker takes no longer to load a library */

struct program_start {
    const char *path;
    const char *const *argv;
    char *const *envp;
    int stdin_fd, stdout_fd, stderr_fd;
    bool is_watched; /* its processes stop at their end, program/program_run.c */
};

struct ab_program_started {
    pid_t pid;
    int listener;      /* −1 = not watched, or the system cannot */
    uint64_t begin_ns; /* ab_clock_now_ns */
};

static enum ab_status program_start(const struct program_start *start,
                                    struct ab_program_started *out, struct ab_err *err);

/* fork + exec with a word in between: the child makes itself ready, hands over the listener, and
 * waits for the start, so that what this takes is in no time. */

static bool send_descriptor(int to, int fd)
{
    union { /* room for one descriptor beside a byte */
        struct cmsghdr header;
        char room[CMSG_SPACE(sizeof(int))];
    } control;
    char byte = fd >= 0;
    struct iovec data = {&byte, 1};
    struct msghdr m = {.msg_iov = &data, .msg_iovlen = 1};
    memset(&control, 0, sizeof control);
    if (fd >= 0) {
        m.msg_control = control.room;
        m.msg_controllen = sizeof control.room;
        struct cmsghdr *h = CMSG_FIRSTHDR(&m);
        h->cmsg_level = SOL_SOCKET;
        h->cmsg_type = SCM_RIGHTS;
        h->cmsg_len = CMSG_LEN(sizeof fd);
        memcpy(CMSG_DATA(h), &fd, sizeof fd);
    }
    return sendmsg(to, &m, MSG_NOSIGNAL) == 1;
}

static bool place_streams(const struct program_start *s)
{
    return dup2(s->stdin_fd, 0) == 0 && dup2(s->stdout_fd, 1) == 1 && dup2(s->stderr_fd, 2) == 2 &&
           close_range(3, ~0u, CLOSE_RANGE_CLOEXEC) == 0;
}

/* The filter: a process that is about to end waits for an answer. */

#if defined(__x86_64__)
#define ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCH AUDIT_ARCH_AARCH64
#endif

/* In a child, before its exec, with no_new_privs set: the listener, or −1 with errno where the
 * system has none or a sandbox around us listens already. */
static int install_filter(void)
{
    /* Of a process of another architecture everything is allowed: it cannot load our libraries. */
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCH, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {.len = AB_ARRAY_LEN(code), .filter = code};
    /* SPEC_ALLOW: older kernels would slow the program's branches down. */
    return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
                        SECCOMP_FILTER_FLAG_NEW_LISTENER | SECCOMP_FILTER_FLAG_SPEC_ALLOW,
                        &program);
}

static _Noreturn void become_program(const struct program_start *s, pid_t parent, int link)
{
    char go;
    ab_spawn_detach(parent);
    ab_spawn_reset_signals();
    if (!place_streams(s))
        ab_spawn_give_up(link);
    int listener = s->is_watched ? install_filter() : -1;
    if (!send_descriptor(link, listener) || read(link, &go, 1) != 1)
        ab_spawn_give_up(link);
    execve(s->path, (char *const *)s->argv, s->envp);
    ab_spawn_give_up(link);
}

/* The child's errno, 0 = it has become the program. */
static int let_go(int link, struct ab_program_started *out)
{
    out->listener = -1;
    if (!ab_receive_descriptor(link, &out->listener))
        return ECHILD;
    out->begin_ns = ab_clock_now_ns();
    if (write(link, "g", 1) != 1)
        return errno;
    return ab_spawn_await_exec(link);
}

/* AB_USAGE where the program cannot be executed. */
static enum ab_status program_start(const struct program_start *start,
                                    struct ab_program_started *out, struct ab_err *err)
{
    int link[2];
    struct ab_program_started started;
    pid_t parent = getpid();
    sigset_t all, before;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, link) != 0)
        return ab_fail_errno(err, AB_SYSTEM, "cannot start the program");
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before); /* our handlers are not the child's */
    started.pid = fork();
    if (started.pid == 0)
        become_program(start, parent, link[1]);
    ab_supervise_expect(started.pid > 0 ? started.pid : 0);
    sigprocmask(SIG_SETMASK, &before, NULL);
    close(link[1]);
    if (started.pid < 0) {
        close(link[0]);
        return ab_fail_errno(err, AB_SYSTEM, "cannot start the program: fork");
    }
    setpgid(started.pid, started.pid);
    int why = let_go(link[0], &started);
    close(link[0]);
    if (why == 0) {
        *out = started;
        return AB_OK;
    }
    kill(started.pid, SIGKILL); /* its end would wait for an answer */
    waitpid(started.pid, NULL, 0);
    if (started.listener >= 0)
        close(started.listener);
    errno = why;
    return ab_fail_errno(err, AB_USAGE, "cannot run %s", AB_SHOWN(512, start->path));
}

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
    struct ab_memory_curve curve;
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
    ab_processes_update(&w->processes, now);
    bool is_there = w->processes.bytes > 0; /* nothing is resident of what has ended */
    if (is_there && now > w->started.begin_ns)
        ab_memory_curve_add(&w->curve, now - w->started.begin_ns, w->processes.bytes);
}

/* A process is about to end: all it has used is still mapped, and its peak is complete. */
static void look_at_end(struct watched *w, pid_t thread)
{
    char path[64], text[4096], why[700];
    snprintf(path, sizeof path, "/proc/%d/status", (int)thread);
    ab_system_file_read(path, text, sizeof text);
    pid_t pid = (pid_t)status_value(text, "\nTgid:");
    w->own_peak_bytes = fmax(w->own_peak_bytes, (double)status_value(text, "\nVmHWM:") * 1024);
    ab_run_delays_add(&w->run_delays, pid);
    w->is_end_seen = w->is_end_seen || pid == w->started.pid;
    enum ab_proof_answer proof = ab_proof_check(w->cache, thread, &w->c->wanted, why, sizeof why);
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
    struct ab_notice ended;
    uint64_t begun = ab_clock_now_ns();
    if (!ab_notice_next(w->started.listener, &ended))
        return;
    look_at_end(w, ended.thread);
    if (ended.thread == w->started.pid)
        look_at_memory(w, ab_clock_now_ns());
    ab_notice_go_on(w->started.listener, &ended);
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
        enum ab_proof_answer proof = ab_proof_check(w->cache, p->pid, &w->c->wanted, why,
                                                    sizeof why);
        p->is_proven = proof == AB_PROOF_YES;
        if (p->is_proven && p->pid == w->started.pid)
            w->is_root_proven = true;
        if (proof == AB_PROOF_NO && now - p->first_ns > START_NS)
            doubt(w, why);
    }
}

static void check_program(void *user)
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

static void set_status(struct ab_program_outcome *o, enum ab_backend_status status, const char *why,
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
    char why[200];
    int status = e->wait_status;
    if (e->end == AB_END_DEADLINE) {
        snprintf(why, sizeof why, "ran longer than --timeout %s and was stopped%s",
                 AB_TIME((double)p->timeout_ns), e->ignored_term ? "; it ignored SIGTERM" : "");
        set_status(o, AB_BACKEND_TIMEOUT, why, w);
    } else if (WIFSIGNALED(status)) {
        snprintf(why, sizeof why, "the program was ended by signal %d (%s)", WTERMSIG(status),
                 strsignal(WTERMSIG(status)));
        set_status(o, e->oom_killed ? AB_BACKEND_OOM : AB_BACKEND_CRASHED, why, w);
    } else if (WEXITSTATUS(status) != 0) {
        snprintf(why, sizeof why, "the program failed: exit status %d", WEXITSTATUS(status));
        set_status(o, AB_BACKEND_FAILED_CHECK, why, w);
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
    ab_system_file_read("/proc/self/status", text, sizeof text);
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
    struct ab_watch watch = {w->fds, N_FDS, LOOK_MS, check_program, w};
    uint64_t deadline = program->timeout_ns == 0 ? UINT64_MAX
                                                 : w->started.begin_ns + program->timeout_ns;
    w->fds[FD_EXITS] = (struct pollfd){.fd = w->started.listener, .events = POLLIN};
    w->fds[FD_STDOUT] = (struct pollfd){.fd = w->out.read_fd, .events = POLLIN};
    w->fds[FD_STDERR] = (struct pollfd){.fd = w->errors.read_fd, .events = POLLIN};
    check_program(w);
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
        o->curve = w->curve;
    judge(w, &e, program, o);
    return AB_OK;
}

static enum ab_status open_stdin(const struct ab_program *p, int *fd, struct ab_err *err)
{
    const char *path = p->stdin_path != NULL ? p->stdin_path : "/dev/null";
    *fd = open(path, O_RDONLY | O_CLOEXEC);
    return *fd >= 0 ? AB_OK : ab_fail_errno(err, AB_INPUT, "cannot read %s", AB_SHOWN(512, path));
}

/* With the interposer in front of the allocator, and where it counts beside the settings. */
static char **environment_of(const struct ab_program_case *c)
{
    const char *settings[64] = {c->inside_memory};
    const struct ab_proof_wanted *in_front = c->wanted.in_front;
    struct ab_text preload = {0};
    if (in_front == NULL)
        return ab_environment_build(c->wanted.path, c->env);
    for (size_t i = 0; c->env != NULL && c->env[i] != NULL && i + 2 < AB_ARRAY_LEN(settings); i++)
        settings[i + 1] = c->env[i];
    ab_text_addf(&preload, "%s%s%s", in_front->path, c->wanted.path != NULL ? ":" : "",
                 c->wanted.path != NULL ? c->wanted.path : "");
    char **envp = ab_environment_build(preload.s, settings);
    ab_text_fini(&preload);
    return envp;
}

static enum ab_status start(struct watched *w, const struct ab_program *program, int stdin_fd,
                            struct ab_err *err)
{
    char **envp = environment_of(w->c);
    struct program_start s = {.path = program->path,
                              .argv = program->argv,
                              .envp = envp,
                              .stdin_fd = stdin_fd,
                              .stdout_fd = w->out.write_fd,
                              .stderr_fd = w->errors.write_fd,
                              .is_watched = true};
    enum ab_status status = program_start(&s, &w->started, err);
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
    struct program_start s = {.path = "/bin/sh",
                              .argv = argv,
                              .envp = environ,
                              .stdin_fd = null,
                              .stdout_fd = fd,
                              .stderr_fd = fd};
    enum ab_status status = null < 0 ? ab_fail_errno(err, AB_SYSTEM, "cannot open /dev/null")
                                     : program_start(&s, &started, err);
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

/* Joins neighbours as points run out. */

static void halve(struct ab_memory_curve *c)
{
    for (uint32_t i = 0; i < c->n / 2; i++)
        c->points[i] = c->points[2 * i].bytes >= c->points[2 * i + 1].bytes ? c->points[2 * i]
                                                                            : c->points[2 * i + 1];
    c->n /= 2;
    c->stride *= 2;
}

void ab_memory_curve_add(struct ab_memory_curve *c, uint64_t ns, double bytes)
{
    if (c->stride == 0)
        c->stride = 1;
    if (c->n > 0 && c->n_looks < c->stride) {
        c->n_looks++;
    } else {
        if (c->n == AB_CURVE_POINTS)
            halve(c);
        c->n_looks = 1;
        c->points[c->n++].bytes = -1;
    }
    if (bytes > c->points[c->n - 1].bytes) {
        c->points[c->n - 1].ns = ns;
        c->points[c->n - 1].bytes = bytes;
    }
}

/* A program of less time has nothing to say of hours. */
#define OVER_TIME_LEAST_NS UINT64_C(10000000000)

static void note_over_time(const struct ab_memory_curve *c, struct ab_session *s, uint32_t backend,
                           uint32_t round)
{
    if (c->points[c->n - 1].ns < OVER_TIME_LEAST_NS)
        return;
    for (uint32_t i = 0; i < c->n; i++) {
        AB_GROW(s->over_time, s->cap_over_time, s->n_over_time);
        s->over_time[s->n_over_time++] = (struct ab_over_time){.backend = backend,
                                                               .round = round,
                                                               .phase = AB_PROGRAM_PHASE,
                                                               .time_ns = c->points[i].ns,
                                                               .position = AB_NO_POSITION,
                                                               .live_bytes = NAN,
                                                               .resident_bytes = c->points[i].bytes,
                                                               .external_bytes = NAN,
                                                               .retained_bytes = NAN,
                                                               .lazyfree_bytes = NAN};
    }
}

void ab_memory_curve_note(const struct ab_memory_curve *c, struct ab_session *s, uint32_t backend,
                          uint32_t round)
{
    if (c->n == 0)
        return;
    struct ab_timeline line = {.backend = backend, .round = round, .n = c->n};
    line.points = ab_alloc_zeroed(c->n, sizeof line.points[0]);
    AB_GROW(s->timelines, s->cap_timelines, s->n_timelines);
    for (uint32_t i = 0; i < c->n; i++)
        line.points[i] = (struct ab_timeline_point){
            .position = (uint32_t)(c->points[i].ns / 1000000),
            .requested_bytes = NAN,
            .usable_bytes = NAN,
            .footprint_bytes = c->points[i].bytes,
            .external_bytes = NAN};
    s->timelines[s->n_timelines++] = line;
    note_over_time(c, s, backend, round);
}

/* Copies the environment; the last of two variables of one name counts. */

/* Takes `text`. */
static void put(char **list, size_t *n, char *text)
{
    size_t name = strcspn(text, "=") + 1;
    for (size_t i = 0; i < *n; i++)
        if (strncmp(list[i], text, name) == 0) {
            free(list[i]);
            list[i] = text;
            return;
        }
    list[(*n)++] = text;
}

static char *preload_text(const char *preload)
{
    const char *users = getenv("LD_PRELOAD");
    bool has_more = users != NULL && users[0] != 0;
    struct ab_text t = {0};
    ab_text_addf(&t, "LD_PRELOAD=%s%s%s", preload, has_more ? ":" : "", has_more ? users : "");
    return t.s;
}

char **ab_environment_build(const char *preload, const char *const *settings)
{
    size_t n = 0, n_own = 0, n_settings = 0;
    while (environ[n_own] != NULL)
        n_own++;
    while (settings != NULL && settings[n_settings] != NULL)
        n_settings++;
    char **list = ab_alloc_zeroed(n_own + n_settings + 2, sizeof list[0]);
    for (size_t i = 0; i < n_own; i++)
        put(list, &n, ab_strdup(environ[i]));
    if (preload != NULL)
        put(list, &n, preload_text(preload));
    for (size_t i = 0; i < n_settings; i++)
        put(list, &n, ab_strdup(settings[i]));
    return list;
}

void ab_environment_free(char **list)
{
    for (size_t i = 0; list[i] != NULL; i++)
        free(list[i]);
    free(list);
}

/* Lists children only when the system has started a process since: a look at a program of one
 * process is one small read. */

enum { LOOKS_LEAST = 5 };

struct ab_process *ab_processes_find(struct ab_processes *t, pid_t pid)
{
    for (size_t i = 0; i < t->n; i++)
        if (t->items[i].pid == pid)
            return &t->items[i];
    return NULL;
}

static void add(struct ab_processes *t, pid_t pid, uint64_t now_ns)
{
    if (ab_processes_find(t, pid) != NULL)
        return;
    AB_GROW(t->items, t->cap, t->n);
    t->items[t->n++] = (struct ab_process){.pid = pid, .first_ns = now_ns};
}

/* Those that one thread has started: "1234 1240 ". */
static void add_children(struct ab_processes *t, const char *task, uint64_t now_ns)
{
    char path[PATH_MAX], text[1 << 16];
    snprintf(path, sizeof path, "%s/children", task);
    if (ab_system_file_read(path, text, sizeof text) == 0)
        t->is_blind = t->is_blind || access(path, F_OK) != 0;
    char *s = text, *end;
    for (long pid; (pid = strtol(s, &end, 10)) > 0 && end != s; s = end)
        if (!ab_supervise_is_inherited((pid_t)pid))
            add(t, (pid_t)pid, now_ns);
}

static void list_children(struct ab_processes *t, pid_t parent, uint64_t now_ns)
{
    char path[64], task[sizeof path + NAME_MAX + 2];
    snprintf(path, sizeof path, "/proc/%d/task", (int)parent);
    DIR *tasks = opendir(path);
    for (struct dirent *e; tasks != NULL && (e = readdir(tasks)) != NULL;)
        if (e->d_name[0] != '.') {
            snprintf(task, sizeof task, "%s/%s", path, e->d_name);
            add_children(t, task, now_ns);
        }
    if (tasks != NULL)
        closedir(tasks);
}

/* "0.00 0.01 0.05 1/123 4567": the last. 0 = not known. */
static uint64_t newest_pid(void)
{
    char text[128];
    size_t n = ab_system_file_read("/proc/loadavg", text, sizeof text);
    const char *blank = n > 0 ? strrchr(text, ' ') : NULL;
    return blank != NULL ? strtoull(blank, NULL, 10) : 0;
}

static void list(struct ab_processes *t, uint64_t now_ns)
{
    uint64_t newest = newest_pid();
    if (newest != 0 && newest == t->last_pid)
        return;
    t->last_pid = newest;
    t->is_blind = false;
    list_children(t, getpid(), now_ns);
    for (size_t i = 0; i < t->n; i++) { /* grows behind i */
        bool was_blind = t->is_blind;
        list_children(t, t->items[i].pid, now_ns);
        t->is_blind = was_blind; /* one that has just ended shows nothing */
    }
}

/* False: it is gone. A process that has ended and was not waited for has none. */
static bool add_resident(pid_t pid, double *bytes)
{
    char path[64], text[128];
    unsigned long long size, resident;
    snprintf(path, sizeof path, "/proc/%d/statm", (int)pid);
    if (ab_system_file_read(path, text, sizeof text) == 0 ||
        sscanf(text, "%llu %llu", &size, &resident) != 2)
        return false;
    *bytes += (double)resident * (double)sysconf(_SC_PAGESIZE);
    return true;
}

void ab_processes_update(struct ab_processes *t, uint64_t now_ns)
{
    double bytes = 0;
    size_t kept = 0;
    list(t, now_ns);
    for (size_t i = 0; i < t->n; i++)
        if (add_resident(t->items[i].pid, &bytes))
            t->items[kept++] = t->items[i];
    t->n = kept;
    if (t->n_looks == 0)
        t->first_ns = now_ns;
    else
        t->byte_ns += t->bytes * (double)(now_ns - t->last_ns);
    t->n_looks++;
    t->last_ns = now_ns;
    t->bytes = bytes;
    t->peak_bytes = fmax(t->peak_bytes, bytes);
}

double ab_processes_mean_bytes(const struct ab_processes *t, uint64_t end_ns)
{
    if (t->n_looks < LOOKS_LEAST || t->is_blind || end_ns <= t->first_ns)
        return NAN;
    double rest = end_ns > t->last_ns ? t->bytes * (double)(end_ns - t->last_ns) : 0;
    return (t->byte_ns + rest) / (double)(end_ns - t->first_ns);
}

void ab_processes_fini(struct ab_processes *t)
{
    free(t->items);
    *t = (struct ab_processes){0};
}

/* Adds up over the threads of a process. Where the kernel does not count, the file is not there or
 * all of it is 0. */

static double delay_of_thread(const char *task)
{
    char path[PATH_MAX], text[128];
    unsigned long long cpu_ns, delay_ns, n_slices;
    snprintf(path, sizeof path, "%s/schedstat", task);
    if (ab_system_file_read(path, text, sizeof text) == 0 ||
        sscanf(text, "%llu %llu %llu", &cpu_ns, &delay_ns, &n_slices) != 3 || n_slices == 0)
        return NAN;
    return (double)delay_ns;
}

double ab_run_delay_ns(pid_t pid)
{
    char path[64], task[sizeof path + NAME_MAX + 2];
    double ns = 0;
    unsigned n = 0;
    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    DIR *tasks = opendir(path);
    for (struct dirent *e; tasks != NULL && (e = readdir(tasks)) != NULL;)
        if (e->d_name[0] != '.') {
            snprintf(task, sizeof task, "%s/%s", path, e->d_name);
            ns += delay_of_thread(task);
            n++;
        }
    if (tasks != NULL)
        closedir(tasks);
    return n > 0 ? ns : (double)NAN;
}

/* The 22nd field of /proc/PID/stat; the second, a name, may have anything in it. 0 = not known. */
static uint64_t start_of(pid_t pid)
{
    char path[64], text[1024];
    unsigned long long start = 0;
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    ab_system_file_read(path, text, sizeof text);
    const char *rest = strrchr(text, ')');
    if (rest == NULL || sscanf(rest + 1,
                               " %*c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s "
                               "%*s %*s %*s %llu",
                               &start) != 1)
        return 0;
    return start;
}

/* A process is remembered no longer than it is there: only so long can one of its threads come. */
static bool is_known(struct ab_run_delays *d, pid_t pid, uint64_t start)
{
    bool found = false;
    size_t kept = 0;
    for (size_t i = 0; i < d->n; i++) {
        struct ab_run_delay_end end = d->ends[i];
        bool is_same = end.pid == pid;
        found = found || (is_same && end.start == start);
        if (is_same ? end.start == start : kill(end.pid, 0) == 0 || errno != ESRCH)
            d->ends[kept++] = end;
    }
    d->n = kept;
    return found;
}

void ab_run_delays_add(struct ab_run_delays *d, pid_t pid)
{
    uint64_t start = start_of(pid);
    if (is_known(d, pid, start))
        return;
    AB_GROW(d->ends, d->cap, d->n);
    d->ends[d->n++] = (struct ab_run_delay_end){pid, start};
    d->ns += ab_run_delay_ns(pid);
}

void ab_run_delays_fini(struct ab_run_delays *d)
{
    free(d->ends);
    *d = (struct ab_run_delays){0};
}

/* Reads pipes without blocking and never keeps more than one buffer of what comes. */

enum { PIPE_BYTES = 1 << 20, BUFFER_BYTES = 1 << 16, READS_AT_ONCE = 64 };

enum ab_status ab_program_output_open(struct ab_program_output *o, bool is_hashed,
                                      struct ab_err *err)
{
    int ends[2];
    *o = (struct ab_program_output){.read_fd = -1, .write_fd = -1};
    if (pipe2(ends, O_CLOEXEC) != 0)
        return ab_fail_errno(err, AB_SYSTEM, "cannot start the program: pipe");
    o->read_fd = ends[0];
    o->write_fd = ends[1];
    fcntl(o->read_fd, F_SETFL, O_NONBLOCK);
    fcntl(o->read_fd, F_SETPIPE_SZ, PIPE_BYTES); /* it need not wait for us so often */
    if (!is_hashed)
        return AB_OK;
    o->hash = XXH3_createState();
    if (o->hash == NULL)
        return ab_fail(err, AB_SYSTEM, "out of memory");
    XXH3_128bits_reset(o->hash);
    return AB_OK;
}

void ab_program_output_started(struct ab_program_output *o)
{
    close(o->write_fd);
    o->write_fd = -1;
}

static void keep_tail(struct ab_program_output *o, const char *bytes, size_t n)
{
    const size_t most = AB_OUTPUT_TAIL;
    if (n > most) {
        bytes += n - most;
        n = most;
    }
    size_t kept = o->n_tail + n > most ? most - n : o->n_tail;
    memmove(o->tail, o->tail + o->n_tail - kept, kept);
    memcpy(o->tail + kept, bytes, n);
    o->n_tail = kept + n;
    o->tail[o->n_tail] = 0;
}

void ab_program_output_take(struct ab_program_output *o)
{
    static char buffer[BUFFER_BYTES];
    for (int i = 0; i < READS_AT_ONCE && o->read_fd >= 0; i++) {
        ssize_t n = read(o->read_fd, buffer, sizeof buffer);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return;
        if (n == 0) {
            close(o->read_fd);
            o->read_fd = -1;
            return;
        }
        o->bytes += (uint64_t)n;
        if (o->hash != NULL)
            XXH3_128bits_update(o->hash, buffer, (size_t)n);
        else
            keep_tail(o, buffer, (size_t)n);
    }
}

struct ab_output_digest ab_program_output_finish(struct ab_program_output *o)
{
    uint64_t before;
    do {
        before = o->bytes;
        ab_program_output_take(o);
    } while (o->bytes > before);
    struct ab_output_digest d = {.bytes = o->bytes};
    if (o->hash != NULL) {
        XXH128_hash_t h = XXH3_128bits_digest(o->hash);
        d.high = h.high64;
        d.low = h.low64;
    }
    return d;
}

const char *ab_program_output_says(const struct ab_program_output *o, char *buf, size_t cap)
{
    char line[AB_OUTPUT_TAIL + 1];
    memcpy(line, o->tail, sizeof line);
    for (size_t n = o->n_tail; n > 0 && (line[n - 1] == '\n' || line[n - 1] == '\r'); n--)
        line[n - 1] = 0;
    const char *last = strrchr(line, '\n');
    return ab_text_printable(buf, cap, last != NULL ? last + 1 : line);
}

void ab_program_output_fini(struct ab_program_output *o)
{
    if (o->read_fd >= 0)
        close(o->read_fd);
    if (o->write_fd >= 0)
        close(o->write_fd);
    XXH3_freeState(o->hash);
    o->read_fd = o->write_fd = -1;
    o->hash = NULL;
}
