/* SPDX-License-Identifier: MIT
 *
 * Waits for a worker with a deadline and a bound on its memory, ends it and everything that it
 * started, and tells signals of a worker from those of the user.
 */
#include "runner/supervise.h"

#include "base/clock.h"
#include "core/leftover.h"
#include "core/memory.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { POLL_MS = 50, GRACE_MS = 300, STOP_MS = 200, REAP_TRIES = 2000 };

static volatile sig_atomic_t stop_signal;
static volatile sig_atomic_t current_worker, worker_signal; /* its pid; what it sent us */

/* One of ours, or one that it started: both are in its group. */
static bool is_of_worker(const siginfo_t *info)
{
    return info != NULL && info->si_code <= 0 && current_worker != 0 &&
           (info->si_pid == current_worker || getpgid(info->si_pid) == current_worker);
}

static void on_signal(int signal, siginfo_t *info, void *context)
{
    int saved = errno;
    (void)context;
    bool is_own = is_of_worker(info);
    errno = saved;
    if (is_own) { /* a back end that wants to end us ends itself with that alone */
        worker_signal = signal;
        return;
    }
    if (stop_signal != 0) {
        ab_leftovers_remove();
        _exit(128 + signal); /* the second one means it; workers die with us */
    }
    stop_signal = signal;
}

void ab_supervise_expect(pid_t worker)
{
    worker_signal = 0;
    current_worker = worker;
}

int ab_supervise_signal(void)
{
    return stop_signal;
}

/* Reads at most cap − 1 bytes of a small file; "" when it cannot. */
static const char *read_small(const char *path, char *buf, size_t cap)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? 0 : read(fd, buf, cap - 1);
    if (fd >= 0)
        close(fd);
    buf[n > 0 ? n : 0] = 0;
    return buf;
}

static uint64_t resident_bytes(pid_t pid)
{
    char path[64], text[128];
    snprintf(path, sizeof path, "/proc/%d/statm", (int)pid);
    unsigned long long size = 0, resident = 0, shared = 0;
    if (sscanf(read_small(path, text, sizeof text), "%llu %llu %llu", &size, &resident, &shared) !=
            3 ||
        shared > resident)
        return 0;
    return (resident - shared) * (uint64_t)sysconf(_SC_PAGESIZE); /* our mappings are shared */
}

static uint64_t oom_kills(void)
{
    static char text[65536];
    const char *line = strstr(read_small("/proc/vmstat", text, sizeof text), "\noom_kill ");
    return line == NULL ? 0 : strtoull(line + 10, NULL, 10);
}

/* Waits up to `ms` for the worker's end, without reaping it: true once it is gone. A kernel without
 * pidfd (fd −1) only makes the wait last its full time. */
static bool wait_gone(pid_t worker, int pidfd, int ms, const struct ab_watch *watch)
{
    struct pollfd p[AB_WATCH_FDS_MAX + 1] = {{.fd = pidfd, .events = POLLIN}};
    siginfo_t info = {0};
    unsigned n = watch == NULL ? 0 : watch->n_fds;
    for (unsigned i = 0; i < n; i++)
        p[i + 1] = watch->fds[i];
    int ready = poll(p, n + 1, watch != NULL && watch->period_ms < ms ? watch->period_ms : ms);
    for (unsigned i = 0; i < n; i++)
        watch->fds[i].revents = ready > 0 ? p[i + 1].revents : 0;
    if (watch != NULL)
        watch->look(watch->user);
    return waitid(P_PID, (id_t)worker, &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
           info.si_pid == worker;
}

static void end_worker(pid_t worker, int pidfd, const struct ab_watch *watch,
                       struct ab_ending *ending)
{
    kill(-worker, SIGTERM);
    kill(-worker, SIGCONT);
    uint64_t until = ab_clock_now_ns() + GRACE_MS * UINT64_C(1000000);
    while (ab_clock_now_ns() < until)
        if (wait_gone(worker, pidfd, 20, watch))
            return;
    ending->ignored_term = true;
    kill(-worker, SIGKILL);
    kill(worker, SIGKILL);
    while (!wait_gone(worker, pidfd, 1000, watch))
        kill(worker, SIGKILL);
}

/* Children we had before the first worker (a shell that exec'd us): none of our business. */
enum { INHERITED_MAX = 256 };
static pid_t inherited[INHERITED_MAX];
static unsigned n_inherited;

bool ab_supervise_is_inherited(pid_t pid)
{
    for (unsigned i = 0; i < n_inherited; i++)
        if (inherited[i] == pid)
            return true;
    return false;
}

static bool is_child(const char *pid_text)
{
    char path[300], text[512], state = 0;
    int parent = 0;
    snprintf(path, sizeof path, "/proc/%s/stat", pid_text);
    const char *paren = strrchr(read_small(path, text, sizeof text), ')');
    return paren != NULL && sscanf(paren + 1, " %c %d", &state, &parent) == 2 &&
           parent == (int)getpid();
}

/* Calls visit for every child of this process that was not inherited; returns how many. Reads
 * /proc, because /proc/…/children is optional in kernels. */
static unsigned each_child(void (*visit)(pid_t))
{
    unsigned n = 0;
    DIR *proc = opendir("/proc");
    if (proc == NULL)
        return 0;
    for (struct dirent *e; (e = readdir(proc)) != NULL;) {
        pid_t pid = (pid_t)strtol(e->d_name, NULL, 10);
        if (pid <= 0 || ab_supervise_is_inherited(pid) || !is_child(e->d_name))
            continue;
        n++;
        visit(pid);
    }
    closedir(proc);
    return n;
}

static void kill_child(pid_t pid)
{
    kill(pid, SIGKILL);
}

static void remember_child(pid_t pid)
{
    if (n_inherited < INHERITED_MAX)
        inherited[n_inherited++] = pid;
}

/* Everything the worker left: its group, and orphans that left the group. Killing an orphan makes
 * its own children ours, so this repeats until there are none. */
static unsigned reap_left(pid_t worker)
{
    unsigned n = 0;
    kill(-worker, SIGKILL);
    for (int i = 0; i < REAP_TRIES; i++) {
        pid_t pid;
        while ((pid = waitpid(-1, NULL, WNOHANG)) > 0)
            n += !ab_supervise_is_inherited(pid);
        if (pid < 0 && errno == ECHILD)
            break;
        if (each_child(kill_child) == 0)
            break;
        usleep(1000);
    }
    return n;
}

static void end_with_us(void)
{
    if (current_worker > 0)
        kill(-current_worker, SIGKILL);
}

void ab_supervise_begin(void)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO};
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++) {
        struct sigaction old;
        sigaction(signals[i], NULL, &old);
        if (old.sa_handler != SIG_IGN) /* nohup and `trap '' INT` mean it */
            sigaction(signals[i], &action, NULL);
    }
    ab_memory_at_end(end_with_us);
    each_child(remember_child);
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
}

static bool is_over(struct ab_ending *ending, pid_t worker, uint64_t deadline_ns, uint64_t limit)
{
    if (stop_signal != 0) {
        ending->end = AB_END_INTERRUPTED;
        return true;
    }
    if (ab_clock_now_ns() >= deadline_ns) {
        ending->end = AB_END_DEADLINE;
        return true;
    }
    ending->rss_bytes = limit < UINT64_MAX ? resident_bytes(worker) : 0;
    if (ending->rss_bytes > limit) {
        ending->end = AB_END_MEMORY;
        return true;
    }
    return false;
}

/* Until the next look at the clock: no later than the deadline, rounded up. */
static int poll_ms(uint64_t deadline_ns)
{
    uint64_t now = ab_clock_now_ns(), left = deadline_ns > now ? deadline_ns - now : 0;
    return left < POLL_MS * UINT64_C(1000000) ? (int)((left + 999999) / 1000000) : POLL_MS;
}

/* Who stops a service or a job signals each of its processes in turn. A worker that was ended so may
 * be the first to get it, and is not to blame if ours follows. */
static bool was_stopped_with_us(int wait_status)
{
    int by = WIFSIGNALED(wait_status) ? WTERMSIG(wait_status) : 0;
    if (by != SIGINT && by != SIGTERM && by != SIGHUP)
        return false;
    uint64_t until = ab_clock_now_ns() + STOP_MS * UINT64_C(1000000);
    while (stop_signal == 0 && worker_signal == 0 && ab_clock_now_ns() < until)
        poll(NULL, 0, 10);
    return stop_signal != 0;
}

static struct ab_ending supervise(pid_t worker, uint64_t deadline_ns, uint64_t memory_limit_bytes,
                                  const struct ab_watch *watch)
{
    struct ab_ending ending = {.end = AB_END_ITSELF};
    struct rusage usage = {.ru_maxrss = 0};
    uint64_t kills = oom_kills();
    if (current_worker != worker)
        ab_supervise_expect(worker);
    int pidfd = (int)syscall(SYS_pidfd_open, worker, 0);
    while (!wait_gone(worker, pidfd, poll_ms(deadline_ns), watch)) {
        if (is_over(&ending, worker, deadline_ns, memory_limit_bytes)) {
            end_worker(worker, pidfd, watch, &ending);
            break;
        }
    }
    ending.gone_ns = ab_clock_now_ns();
    close(pidfd);
    while (wait4(worker, &ending.wait_status, 0, &usage) < 0 && errno == EINTR)
        ;
    ending.maxrss_bytes = (uint64_t)usage.ru_maxrss << 10;
    if (ending.end == AB_END_ITSELF && was_stopped_with_us(ending.wait_status))
        ending.end = AB_END_INTERRUPTED;
    ending.n_left = reap_left(worker);
    current_worker = 0;
    ending.sent_signal = worker_signal;
    ending.oom_killed = oom_kills() > kills;
    return ending;
}

struct ab_ending ab_supervise(pid_t worker, uint64_t deadline_ns, uint64_t memory_limit_bytes)
{
    return supervise(worker, deadline_ns, memory_limit_bytes, NULL);
}

struct ab_ending ab_supervise_watched(pid_t worker, uint64_t deadline_ns,
                                      const struct ab_watch *watch)
{
    return supervise(worker, deadline_ns, UINT64_MAX, watch);
}
