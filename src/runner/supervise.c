/* SPDX-License-Identifier: MIT
 *
 * Waits for a worker with a deadline and a memory limit, and ends the worker and everything that it
 * started. Distinguishes signals that the worker sends from those that the user sends.
 */
#include "runner/supervise.h"

#include "base/bits.h"
#include "base/clock.h"
#include "core/alloc.h"
#include "core/system_file.h"
#include "core/text.h"
#include "core/unfinished.h"
#include "wire/run_page.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { POLL_MS = 50, GRACE_MS = 300, STOP_MS = 200, REAP_TRIES = 2000 };

/* pid of the worker; signal that the worker or one of its children sent to this process */
static volatile sig_atomic_t current_worker, worker_signal;

/* True if the signal comes from the worker or from a process that it started, which is in the
 * worker's group. */
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
    if (is_own) { /* a signal from a back end that tries to end this process is only noted */
        worker_signal = signal;
        return;
    }
    if (ab_stop_signal != 0) {
        ab_unfinished_remove();
        /* the user insists, so ends at once; the kernel then kills the workers */
        _exit(128 + signal);
    }
    ab_stop_signal = signal;
}

void ab_supervise_expect(pid_t worker)
{
    worker_signal = 0;
    current_worker = worker;
}

static uint64_t resident_bytes(pid_t pid)
{
    char path[64], text[128];
    AB_FIT(path, "/proc/%d/statm", (int)pid);
    unsigned long long size = 0, resident = 0, shared = 0;
    ab_system_file_read(path, text, sizeof text);
    if (sscanf(text, "%llu %llu %llu", &size, &resident, &shared) != 3 || shared > resident)
        return 0;
    /* without shared pages, which are those of our mappings */
    return (resident - shared) * (uint64_t)sysconf(_SC_PAGESIZE);
}

static uint64_t oom_kills(void)
{
    static char text[65536];
    ab_system_file_read("/proc/vmstat", text, sizeof text);
    const char *line = strstr(text, "\noom_kill ");
    return line == NULL ? 0 : strtoull(line + 10, NULL, 10);
}

/* Waits up to `ms` milliseconds for the worker's end, without reaping it. Returns true if the
 * worker has ended. On a kernel without pidfd (pidfd = −1) it waits for the full time. */
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
        watch->on_wake(watch->user);
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

/* Children that existed before the first worker, for example of a shell that replaced itself by
 * this program. They are left alone. */
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

static bool is_child(pid_t pid)
{
    struct ab_process_stat stat;
    return ab_process_stat_of(pid, &stat) && stat.parent == getpid();
}

/* Calls visit for every child of this process that was not inherited. Returns their number. Reads
 * /proc, because /proc/…/children is optional in kernels. */
static unsigned each_child(void (*visit)(pid_t))
{
    unsigned n = 0;
    DIR *proc = opendir("/proc");
    if (proc == NULL)
        return 0;
    for (struct dirent *e; (e = readdir(proc)) != NULL;) {
        pid_t pid = (pid_t)strtol(e->d_name, NULL, 10);
        if (pid <= 0 || ab_supervise_is_inherited(pid) || !is_child(pid))
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

/* Kills and reaps everything that the worker left: processes of its group, and orphans outside of
 * the group. The children of a killed orphan become ours, so this repeats until there are none.
 * Returns the number of reaped processes. */
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
        if (old.sa_handler != SIG_IGN) /* nohup and `trap '' INT` ignore signals on purpose */
            sigaction(signals[i], &action, NULL);
    }
    ab_memory_at_end(end_with_us);
    each_child(remember_child);
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
}

static bool is_over(struct ab_ending *ending, pid_t worker, uint64_t deadline_ns, uint64_t limit)
{
    if (ab_stop_signal != 0) {
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

/* Returns the milliseconds until the deadline, rounded up, or until the clock has to be read again
 * if that is sooner. */
static int poll_ms(uint64_t deadline_ns)
{
    uint64_t now = ab_clock_now_ns(), left = deadline_ns > now ? deadline_ns - now : 0;
    return left < POLL_MS * UINT64_C(1000000) ? (int)((left + 999999) / 1000000) : POLL_MS;
}

/* True if this process was asked to stop as well. Whoever stops a service or a job sends a signal
 * to each of its processes in turn. The worker may get the signal first, and is not to blame if
 * ours follows. */
static bool was_stopped_with_us(int wait_status)
{
    int by = WIFSIGNALED(wait_status) ? WTERMSIG(wait_status) : 0;
    if (by != SIGINT && by != SIGTERM && by != SIGHUP)
        return false;
    uint64_t until = ab_clock_now_ns() + STOP_MS * UINT64_C(1000000);
    while (ab_stop_signal == 0 && worker_signal == 0 && ab_clock_now_ns() < until)
        poll(NULL, 0, 10);
    return ab_stop_signal != 0;
}

static uint64_t extend(uint64_t deadline_ns, const struct ab_watch *watch)
{
    return watch != NULL && deadline_ns < UINT64_MAX ? deadline_ns + *watch->held_ns : deadline_ns;
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
    while (!wait_gone(worker, pidfd, poll_ms(extend(deadline_ns, watch)), watch)) {
        if (is_over(&ending, worker, extend(deadline_ns, watch), memory_limit_bytes)) {
            end_worker(worker, pidfd, watch, &ending);
            break;
        }
    }
    ending.gone_ns = ab_clock_now_ns();
    close(pidfd);
    while (wait4(worker, &ending.wait_status, 0, &usage) < 0 && errno == EINTR)
        ;
    ending.usage = usage;
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

/* ---- fork and exec; between them only calls that are safe after a fork with threads ---- */

enum {
    FD_LIBRARY = 5,
    FD_CALLS = AB_WORKER_FD_CALLS,
    FD_PLACEMENT = AB_WORKER_FD_PLACEMENT,
    FD_OWNERS = AB_WORKER_FD_OWNERS,
    FD_CLOCK,
    FD_COUNT,
    FD_SAFE = 64
};
enum { ARGUMENTS_MAX = 14 }; /* maximum number of arguments of the program that runs the worker */
enum { DESCRIPTORS_LEAST = FD_SAFE + 2 * FD_COUNT };

static void write_text(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    ssize_t ignored = write(fd, text, strlen(text));
    (void)ignored;
    close(fd);
}

void ab_spawn_detach(pid_t parent)
{
    struct rlimit no_core = {0, 0};
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(1);
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    setrlimit(RLIMIT_CORE, &no_core);
    write_text("/proc/self/oom_score_adj", "800");
}

/* Resets all signals. A ^C that came before the child left its parent's group is pending in both.
 * Only the parent must act on it, and ignoring a signal discards a pending one. */
void ab_spawn_reset_signals(void)
{
    sigset_t none;
    sigemptyset(&none);
    for (int s = 1; s < NSIG; s++) {
        signal(s, SIG_IGN);
        signal(s, SIG_DFL);
    }
    sigprocmask(SIG_SETMASK, &none, NULL);
}

void ab_spawn_give_up(int error_pipe)
{
    int error = errno;
    ssize_t ignored = write(error_pipe, &error, sizeof error);
    (void)ignored;
    _exit(1);
}

int ab_spawn_await_exec(int listen)
{
    int error = 0;
    ssize_t n;
    do
        n = read(listen, &error, sizeof error);
    while (n < 0 && errno == EINTR);
    return n == (ssize_t)sizeof error ? error : 0;
}

bool ab_spawn_needs_alias(const char *path)
{
    return strpbrk(path, " :,;\t\n\"'$") != NULL;
}

/* Writes the variable LD_PRELOAD. The loader splits it at spaces and colons and expands '$', so a
 * path with any of these is replaced by /proc/self/fd/N. */
static void preload_text(const struct ab_spawn *s, char *buf, size_t cap)
{
    const struct {
        const char *path;
        int fd;
    } libraries[] = {{s->clock, FD_CLOCK}, {s->preload, FD_LIBRARY}};
    size_t n = (size_t)snprintf(buf, cap, "LD_PRELOAD=");
    for (size_t i = 0; i < AB_ARRAY_LEN(libraries) && n < cap; i++) {
        const char *path = libraries[i].path, *colon = buf[n - 1] == '=' ? "" : ":";
        if (path != NULL && ab_spawn_needs_alias(path))
            n += (size_t)snprintf(buf + n, cap - n, "%s/proc/self/fd/%d", colon, libraries[i].fd);
        else if (path != NULL)
            n += (size_t)snprintf(buf + n, cap - n, "%s%s", colon, path);
    }
}

/* Opens a path that needs an alias (ab_spawn_needs_alias); -1 = it needs none, or cannot be
 * opened. */
static int open_alias(const char *path)
{
    return path != NULL && ab_spawn_needs_alias(path) ? open(path, O_RDONLY | O_CLOEXEC) : -1;
}

static int move_high(int fd)
{
    return fcntl(fd, F_DUPFD_CLOEXEC, FD_SAFE);
}

/* Gives the descriptors the numbers that the worker expects. Moves all past FD_SAFE first, so that
 * no dup2 overwrites one that must still be moved. */
static bool place_descriptors(const struct ab_spawn *s)
{
    int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    int from[FD_COUNT] = {null, s->stdout_fd, s->stderr_fd, s->tape_fd, s->run_fd,
                          -1,   -1,           -1,           -1,         -1};
    if (s->placement_fd > 0)
        from[FD_PLACEMENT] = s->placement_fd;
    if (s->owners_fd > 0)
        from[FD_OWNERS] = s->owners_fd;
    if (s->calls_fd > 0)
        from[FD_CALLS] = s->calls_fd;
    from[FD_LIBRARY] = open_alias(s->preload);
    from[FD_CLOCK] = open_alias(s->clock);
    for (int i = 0; i < FD_COUNT; i++)
        if (from[i] >= 0 && (from[i] = move_high(from[i])) < 0)
            return false;
    if (close_range(FD_LIBRARY, ~0u, CLOSE_RANGE_CLOEXEC) != 0)
        return false;
    for (int i = 0; i < FD_COUNT; i++)
        /* unlike its original, a descriptor made by dup2 stays open in the worker */
        if (from[i] >= 0 && dup2(from[i], i) < 0)
            return false;
    return true;
}

/* Returns the path of the program to start: the worker, or the program that runs it. Fills the
 * program's arguments. */
static const char *name_program(const struct ab_spawn *s, char **argv)
{
    size_t n = 0;
    for (; s->under != NULL && s->under[n] != NULL && n < ARGUMENTS_MAX; n++)
        argv[n] = (char *)s->under[n];
    argv[n] = (char *)(n > 0 ? s->worker_path : AB_WORKER_NAME);
    argv[n + 1] = NULL;
    return n > 0 ? argv[0] : s->worker_path;
}

static _Noreturn void become_worker(const struct ab_spawn *s, char **envp, pid_t parent,
                                    int error_pipe)
{
    char *argv[ARGUMENTS_MAX + 2];
    const char *program = name_program(s, argv);
    ab_spawn_detach(parent);
    if (s->is_layout_fixed)
        personality(ADDR_NO_RANDOMIZE);
    if (s->is_thp_off)
        prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
    ab_spawn_reset_signals();
    if (place_descriptors(s))
        execve(program, argv, envp);
    ab_spawn_give_up(error_pipe);
}

enum { ENV_MAX = 16 };
struct environment {
    char preload[2 * PATH_MAX + 32], tunables[512], *list[ENV_MAX + 1];
    int n;
};

/* Adds a variable to the environment. It replaces an earlier variable of the same name, because a
 * user may want another PATH than ours. */
static void add_variable(struct environment *e, const char *text)
{
    int i = 0;
    size_t name = strcspn(text, "=") + 1;
    while (i < e->n && strncmp(e->list[i], text, name) != 0)
        i++;
    if (i < ENV_MAX)
        e->list[i] = (char *)text;
    e->n += i == e->n && i < ENV_MAX;
    e->list[e->n] = NULL;
}

/* Combines glibc's tunables that the user sets and that dlopen needs in one variable. */
static void add_tunables(struct environment *e, const char *users, bool is_plugin)
{
    const char *name = "GLIBC_TUNABLES=", *tls = "glibc.rtld.optional_static_tls=32768";
    if (users != NULL)
        AB_FIT(e->tunables, "%s%s%s", users, is_plugin ? ":" : "", is_plugin ? tls : "");
    else if (is_plugin)
        AB_FIT(e->tunables, "%s%s", name, tls);
    if (e->tunables[0] != 0)
        add_variable(e, e->tunables);
}

static void build_environment(const struct ab_spawn *spawn, struct environment *e)
{
    const char *tunables = NULL;
    *e = (struct environment){.n = 0};
    add_variable(e, "PATH=/usr/local/bin:/usr/bin:/bin");
    add_variable(e, "LC_ALL=C");
    if (spawn->preload != NULL || spawn->clock != NULL) {
        preload_text(spawn, e->preload, sizeof e->preload);
        add_variable(e, e->preload);
    }
    for (const char *const *v = spawn->env; v != NULL && *v != NULL; v++) {
        if (strncmp(*v, "GLIBC_TUNABLES=", 15) == 0)
            tunables = *v;
        else
            add_variable(e, *v);
    }
    add_tunables(e, tunables, spawn->is_plugin);
}

/* Checks before the start that the limit on open files is high enough for a worker. Otherwise the
 * worker could only fail, and its back end would be blamed. */
static enum ab_status check_limits(struct ab_err *err)
{
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur < DESCRIPTORS_LEAST)
        return ab_fail(err, AB_SYSTEM,
                       "cannot start a worker: the limit on open files (ulimit -n) "
                       "is %llu, at least %d are needed",
                       (unsigned long long)files.rlim_cur, DESCRIPTORS_LEAST);
    return AB_OK;
}

enum ab_status ab_spawn(const struct ab_spawn *spawn, pid_t *out, struct ab_err *err)
{
    AB_TRY(check_limits(err));
    struct environment environment;
    build_environment(spawn, &environment);
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return ab_fail_errno(err, AB_SYSTEM, "cannot start a worker: pipe");
    pid_t parent = getpid();
    /* Blocks signals because the child shares our memory and our group until it becomes a worker. A
     * ^C would run our handler in both processes, and count twice. */
    sigset_t all, before;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before);
    pid_t pid = vfork(); /* copying our page tables would take longer than many runs */
    if (pid == 0)
        become_worker(spawn, environment.list, parent, move_high(ends[1]));
    ab_supervise_expect(pid > 0 ? pid : 0);
    sigprocmask(SIG_SETMASK, &before, NULL);
    close(ends[1]);
    if (pid < 0) {
        close(ends[0]);
        return ab_fail_errno(err, AB_SYSTEM, "cannot start a worker: fork");
    }
    /* parent and child do this, because either may be the first to need the group */
    setpgid(pid, pid);
    int error = ab_spawn_await_exec(ends[0]);
    close(ends[0]);
    if (error != 0) {
        waitpid(pid, NULL, 0);
        return ab_fail(err, AB_SYSTEM, "cannot start %s: %s", spawn->worker_path, strerror(error));
    }
    *out = pid;
    return AB_OK;
}

enum ab_status ab_spawn_become(const struct ab_spawn *spawn, struct ab_err *err)
{
    struct environment environment;
    char *argv[ARGUMENTS_MAX + 2];
    const char *program = name_program(spawn, argv);
    build_environment(spawn, &environment);
    if (place_descriptors(spawn))
        execve(program, argv, environment.list);
    return ab_fail_errno(err, AB_SYSTEM, "cannot start %s", spawn->worker_path);
}

/* ---- descriptors and notices (seccomp_unotify(2)) that a child sends ---- */

bool ab_receive_descriptor(int from, int *fd)
{
    union {
        struct cmsghdr header;
        char room[CMSG_SPACE(sizeof(int))];
    } control;
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
    if (h != NULL && h->cmsg_type == SCM_RIGHTS && h->cmsg_len == CMSG_LEN(sizeof *fd))
        memcpy(fd, CMSG_DATA(h), sizeof *fd);
    return n == 1;
}

/* The kernel's structures may be larger than ours. */
enum { NOTICE_ROOM = 512 };

/* Definitions from newer headers than those of the build. */
#define SET_FLAGS SECCOMP_IOW(4, __u64)
#define SYNC_WAKE_UP UINT64_C(1)

void ab_notice_take_turns(int listener)
{
    ioctl(listener, SET_FLAGS, SYNC_WAKE_UP);
}

bool ab_notice_next(int listener, struct ab_notice *out)
{
    union {
        struct seccomp_notif notice;
        char room[NOTICE_ROOM];
    } in;
    memset(&in, 0, sizeof in);
    if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &in.notice) != 0)
        return false;
    *out = (struct ab_notice){in.notice.id, (pid_t)in.notice.pid, in.notice.data.nr,
                              in.notice.data.args[0]};
    return true;
}

void ab_notice_go_on(int listener, const struct ab_notice *notice)
{
    union {
        struct seccomp_notif_resp answer;
        char room[NOTICE_ROOM];
    } out;
    memset(&out, 0, sizeof out);
    out.answer.id = notice->id;
    out.answer.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
    ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &out.answer);
}

enum ab_status ab_companion_path(const char *name, char *out, size_t cap, struct ab_err *err)
{
    static const char *const places[] = {"", "../libexec/allocbench/", "../lib/allocbench/"};
    char self[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    if (n <= 0)
        return ab_fail_errno(err, AB_SYSTEM, "cannot read /proc/self/exe");
    self[n] = 0;
    *strrchr(self, '/') = 0;
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        int used = snprintf(out, cap, "%s/%s%s", self, places[i], name);
        if (used > 0 && (size_t)used < cap && access(out, R_OK) == 0)
            return AB_OK;
    }
    return ab_fail(err, AB_SYSTEM, "%s is missing in the folder of %s/allocbench", name, self);
}
