/* SPDX-License-Identifier: MIT
 *
 * Looks on while a program runs, at each end of one of its processes and every 10 ms, and makes of
 * it numbers that are proven, or a reason why there are none.
 */
#include "program/program_run.h"

#include "base/bits.h"
#include "base/clock.h"
#include "core/grow.h"
#include "core/memory.h"
#include "core/status.h"
#include "core/text.h"
#include "core/units_show.h"
#include "program/environment.h"
#include "program/processes.h"
#include "runner/spawn.h"
#include "runner/supervise.h"

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
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

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

union message { /* room for one descriptor beside a byte */
    struct cmsghdr header;
    char room[CMSG_SPACE(sizeof(int))];
};

static bool send_descriptor(int to, int fd)
{
    union message control;
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

/* False: the child has ended before. *fd stays −1 where it had none to give. */
static bool receive_descriptor(int from, int *fd)
{
    union message control;
    char byte = 0;
    struct iovec data = {&byte, 1};
    struct msghdr m = {.msg_iov = &data,
                       .msg_iovlen = 1,
                       .msg_control = control.room,
                       .msg_controllen = sizeof control.room};
    ssize_t n;
    do
        n = recvmsg(from, &m, MSG_CMSG_CLOEXEC);
    while (n < 0 && errno == EINTR);
    struct cmsghdr *h = n == 1 ? CMSG_FIRSTHDR(&m) : NULL;
    if (h != NULL && h->cmsg_type == SCM_RIGHTS)
        memcpy(fd, CMSG_DATA(h), sizeof *fd);
    return n == 1;
}

static bool place_streams(const struct program_start *s)
{
    return dup2(s->stdin_fd, 0) == 0 && dup2(s->stdout_fd, 1) == 1 && dup2(s->stderr_fd, 2) == 2 &&
           close_range(3, ~0u, CLOSE_RANGE_CLOEXEC) == 0;
}

struct ab_exit {
    uint64_t id;
    pid_t thread; /* that ends its process; /proc/THREAD shows it */
};

/* The filter, and the two halves of a conversation with it. */

#if defined(__x86_64__)
#define ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCH AUDIT_ARCH_AARCH64
#endif

/* In a child, before its exec, with no_new_privs set: the listener, or −1 with errno where the
 * system has none or a sandbox around us listens already. */
static int exits_install(void)
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

/* The kernel's structures may be larger than ours. */
enum { ROOM = 512 };

/* The next process that is about to end; false: there is none. To be called when the listener is
 * readable. */
static bool exits_next(int listener, struct ab_exit *out)
{
    union {
        struct seccomp_notif notice;
        char room[ROOM];
    } in;
    memset(&in, 0, sizeof in);
    if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &in.notice) != 0)
        return false; /* killed meanwhile */
    out->id = in.notice.id;
    out->thread = (pid_t)in.notice.pid;
    return true;
}

static void exits_go_on(int listener, const struct ab_exit *ended)
{
    union {
        struct seccomp_notif_resp answer;
        char room[ROOM];
    } out;
    memset(&out, 0, sizeof out);
    out.answer.id = ended->id;
    out.answer.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
    ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &out.answer);
}

static _Noreturn void become_program(const struct program_start *s, pid_t parent, int link)
{
    char go;
    ab_spawn_detach(parent);
    ab_spawn_reset_signals();
    if (!place_streams(s))
        ab_spawn_give_up(link);
    int listener = s->is_watched ? exits_install() : -1;
    if (!send_descriptor(link, listener) || read(link, &go, 1) != 1)
        ab_spawn_give_up(link);
    execve(s->path, (char *const *)s->argv, s->envp);
    ab_spawn_give_up(link);
}

/* The child's errno, 0 = it has become the program. */
static int let_go(int link, struct ab_program_started *out)
{
    int why = 0;
    out->listener = -1;
    if (!receive_descriptor(link, &out->listener))
        return ECHILD;
    out->begin_ns = ab_clock_now_ns();
    if (write(link, "g", 1) != 1)
        return errno;
    why = ab_spawn_await_exec(link);
    return why;
}

/* AB_USAGE where the program cannot be executed. */
static enum ab_status program_start(const struct program_start *start,
                                    struct ab_program_started *out, struct ab_err *err)
{
    int link[2];
    char shown[512];
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
    return ab_fail_errno(err, AB_USAGE, "cannot run %s",
                         ab_text_printable(shown, sizeof shown, start->path));
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
    if (!exits_next(w->started.listener, &ended))
        return;
    look_at_end(w, ended.thread);
    if (ended.thread == w->started.pid)
        look_at_memory(w, ab_clock_now_ns());
    exits_go_on(w->started.listener, &ended);
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

static void halve(struct ab_course *c)
{
    for (uint32_t i = 0; i < c->n / 2; i++)
        c->points[i] = c->points[2 * i].bytes >= c->points[2 * i + 1].bytes ? c->points[2 * i]
                                                                            : c->points[2 * i + 1];
    c->n /= 2;
    c->stride *= 2;
}

void ab_course_add(struct ab_course *c, uint64_t ns, double bytes)
{
    if (c->stride == 0)
        c->stride = 1;
    if (c->n > 0 && c->n_looks < c->stride) {
        c->n_looks++;
    } else {
        if (c->n == AB_COURSE_POINTS)
            halve(c);
        c->n_looks = 1;
        c->points[c->n++].bytes = -1;
    }
    if (bytes > c->points[c->n - 1].bytes) {
        c->points[c->n - 1].ns = ns;
        c->points[c->n - 1].bytes = bytes;
    }
}

void ab_course_note(const struct ab_course *c, struct ab_session *s, uint32_t backend,
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
}
