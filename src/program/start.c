/* SPDX-License-Identifier: MIT
 *
 * Starts programs by fork and exec. Between the two, the child prepares itself, hands over the
 * seccomp listener and waits for a go, so that the preparation is not measured. Also contains
 * the guardian, a process that ends the program when allocbench is killed.
 */
#include "base/bits.h"
#include "base/clock.h"
#include "core/status.h"
#include "core/system_file.h"
#include "core/text.h"
#include "program/processes.h"
#include "program/program.h"
#include "runner/supervise.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* ---- the guardian ----
 *
 * The guardian is a process that waits for the end of a pipe. When allocbench is killed, even by
 * SIGKILL, the guardian ends the processes of the measured program. It is neither their parent nor
 * an ancestor, so that the program does not notice it. */

enum { GROUPS = 8, LISTED = 4096, MARKS = 32768, PASSES_MOST = 1000, QUIET_PASSES = 2 };

/* Memory that both processes share. allocbench writes it, and the guardian reads it when allocbench
 * is gone. */
struct known {
    pid_t groups[GROUPS]; /* process groups of started programs; 0 = unused */
    uint32_t n;
    pid_t listed[LISTED]; /* processes of the program at the last sample */
    uint64_t looked_ns;   /* CLOCK_BOOTTIME of that sample */
    uint64_t began_ns;    /* CLOCK_BOOTTIME of the guardian's start */
    pid_t parent;         /* allocbench */
};

static struct known *known;

struct found {
    pid_t pid;
    struct ab_process_stat stat;
    uint64_t start_ns; /* start time of the process, in ns since boot */
};

static pid_t marks[MARKS]; /* ids of the processes that were found and stopped */
static size_t n_marks;

static uint64_t boot_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_BOOTTIME, &t);
    return (uint64_t)t.tv_sec * UINT64_C(1000000000) + (uint64_t)t.tv_nsec;
}

static bool read_process(const char *name, struct found *out)
{
    out->pid = (pid_t)strtol(name, NULL, 10);
    if (out->pid <= 1 || !ab_process_stat_of(out->pid, &out->stat))
        return false;
    out->start_ns = (uint64_t)((double)out->stat.start_ticks * 1e9 / (double)sysconf(_SC_CLK_TCK));
    return true;
}

static bool is_marked(pid_t pid)
{
    for (size_t i = 0; i < n_marks; i++)
        if (marks[i] == pid)
            return true;
    return false;
}

/* True if allocbench listed the process. A process that began after that sample has the same number
 * as a listed one, but is another process. */
static bool is_listed(const struct found *s)
{
    for (uint32_t i = 0; i < known->n && i < LISTED; i++)
        if (known->listed[i] == s->pid)
            return s->start_ns <= known->looked_ns;
    return false;
}

/* Returns the oom_score_adj that marks processes of this allocbench, because programs inherit it
 * and rarely change it. */
static long score_of_ours(pid_t parent)
{
    return 801 + parent % 99;
}

static void set_score(pid_t parent)
{
    char text[16];
    int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    size_t n = (size_t)snprintf(text, sizeof text, "%ld", score_of_ours(parent));
    if (fd < 0)
        return;
    ssize_t ignored = write(fd, text, n);
    (void)ignored;
    close(fd);
}

/* True if the process is an orphan that was too young to be listed. Such a process has our
 * oom_score_adj and either allocbench or the guardian's own parent as its parent. */
static bool is_young_orphan(const struct found *s)
{
    char path[64], text[32];
    if (s->start_ns < known->began_ns ||
        (s->stat.parent != known->parent && s->stat.parent != getppid()))
        return false;
    AB_FIT(path, "/proc/%d/oom_score_adj", (int)s->pid);
    return ab_system_file_read(path, text, sizeof text) > 0 &&
           strtol(text, NULL, 10) == score_of_ours(known->parent);
}

static bool is_in_group(const struct found *s)
{
    for (size_t i = 0; i < GROUPS; i++)
        if (known->groups[i] > 0 && known->groups[i] == s->stat.group)
            return true;
    return false;
}

/* Stops all processes of the program that were not found before, so that they cannot start others.
 * Returns the number of these processes. */
static size_t stop_more(void)
{
    size_t before = n_marks;
    DIR *proc = opendir("/proc");
    for (struct dirent *e; proc != NULL && (e = readdir(proc)) != NULL;) {
        struct found s;
        if (e->d_name[0] < '1' || e->d_name[0] > '9' || n_marks == MARKS ||
            !read_process(e->d_name, &s) || s.stat.state == 'Z' || s.pid == getpid() ||
            is_marked(s.pid) ||
            !(is_in_group(&s) || is_listed(&s) || is_marked(s.stat.parent) || is_young_orphan(&s)))
            continue;
        marks[n_marks++] = s.pid;
        kill(s.pid, SIGSTOP);
    }
    if (proc != NULL)
        closedir(proc);
    return n_marks - before;
}

static void end_all(void)
{
    int n_quiet = 0;
    for (int i = 0; i < PASSES_MOST && n_quiet < QUIET_PASSES; i++)
        n_quiet = stop_more() == 0 ? n_quiet + 1 : 0;
    for (size_t i = 0; i < n_marks; i++)
        kill(marks[i], SIGKILL);
}

/* Runs the guardian. It keeps only the pipe open, whose other end closes when allocbench ends. */
static _Noreturn void guard(int end)
{
    char byte;
    setpgid(0, 0); /* ^C must not end the guardian */
    for (int s = 1; s < NSIG; s++)
        signal(s, SIG_IGN);
    prctl(PR_SET_NAME, "allocbench-end");
    dup2(end, 0);
    close_range(1, ~0u, 0);
    while (read(0, &byte, 1) < 0 && errno == EINTR)
        ;
    end_all();
    _exit(0);
}

void ab_guardian_begin(void)
{
    int ends[2];
    if (known != NULL || pipe2(ends, O_CLOEXEC) != 0)
        return;
    void *page = mmap(NULL, sizeof *known, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
                      0);
    known = page != MAP_FAILED ? page : NULL;
    if (known != NULL) {
        known->parent = getpid();
        /* 10 ms earlier, because start times of processes are known to a tick only */
        known->began_ns = boot_ns() - UINT64_C(10000000);
    }
    pid_t pid = known != NULL ? fork() : -1;
    if (pid == 0)
        guard(ends[0]);
    close(ends[0]);
    if (pid > 0)
        return; /* ends[1] stays open until allocbench ends */
    close(ends[1]);
    if (known != NULL)
        munmap(known, sizeof *known);
    known = NULL;
}

void ab_guardian_add(pid_t group)
{
    for (size_t i = 0; known != NULL && i < GROUPS; i++)
        if (known->groups[i] == 0) {
            known->groups[i] = group;
            return;
        }
}

void ab_guardian_forget(pid_t group)
{
    for (size_t i = 0; known != NULL && i < GROUPS; i++)
        if (known->groups[i] == group)
            known->groups[i] = 0;
}

void ab_guardian_list(const struct ab_processes *processes)
{
    if (known == NULL)
        return;
    uint32_t n = 0;
    known->looked_ns = boot_ns();
    for (size_t i = 0; processes != NULL && i < processes->n && n < LISTED; i++)
        known->listed[n++] = processes->items[i].pid;
    known->n = n;
}

/* ---- the start ---- */

static bool send_descriptor(int to, int fd)
{
    union { /* room for one descriptor */
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

static bool place_streams(const struct ab_program_start *s)
{
    return dup2(s->stdin_fd, 0) == 0 && dup2(s->stdout_fd, 1) == 1 && dup2(s->stderr_fd, 2) == 2 &&
           close_range(3, ~0u, CLOSE_RANGE_CLOEXEC) == 0;
}

/* ---- the seccomp filter ----
 *
 * A process that is about to end waits for our answer. With shows_closes, a process that is about
 * to close a library waits too; src/inside/closes.c signals this by a munmap of 0 bytes. */

#if defined(__x86_64__)
#define ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCH AUDIT_ARCH_AARCH64
#endif

/* Installs the filter in a child before its exec, with no_new_privs set. Returns the listener.
 * Returns −1 with errno if the system has no listeners, or if a sandbox around us already has
 * one. */
static int install_filter(bool shows_closes)
{
    /* System calls of another architecture are allowed, because such a process cannot load our
     * libraries. */
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCH, 0, 8),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 5, shows_closes ? 0 : 6),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_munmap, 0, 5),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[1])),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[1]) + 4),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {.len = AB_ARRAY_LEN(code), .filter = code};
    /* Without SPEC_ALLOW, older kernels would slow down the branches of the program. */
    return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
                        SECCOMP_FILTER_FLAG_NEW_LISTENER | SECCOMP_FILTER_FLAG_SPEC_ALLOW,
                        &program);
}

static _Noreturn void become_program(const struct ab_program_start *s, pid_t parent, int link)
{
    char go;
    ab_spawn_detach(parent);
    if (known != NULL)
        set_score(parent);
    ab_spawn_reset_signals();
    if (!place_streams(s))
        ab_spawn_give_up(link);
    int listener = s->is_watched ? install_filter(s->shows_closes) : -1;
    if (!send_descriptor(link, listener) || read(link, &go, 1) != 1)
        ab_spawn_give_up(link);
    execve(s->path, (char *const *)s->argv, s->envp);
    ab_spawn_give_up(link);
}

/* Lets the child call exec. Returns 0 if it has become the program, otherwise its errno. */
static int let_go(int link, struct ab_program_started *out)
{
    out->listener = -1;
    if (!ab_receive_descriptor(link, &out->listener))
        return ECHILD;
    if (out->listener >= 0)
        ab_notice_take_turns(out->listener);
    out->begin_ns = ab_clock_now_ns();
    if (write(link, "g", 1) != 1)
        return errno;
    return ab_spawn_await_exec(link);
}

enum ab_status ab_program_start(const struct ab_program_start *start,
                                struct ab_program_started *out, struct ab_err *err)
{
    int link[2];
    struct ab_program_started started;
    pid_t parent = getpid();
    sigset_t all, before;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, link) != 0)
        return ab_fail_errno(err, AB_SYSTEM, "cannot start the program");
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before); /* our handlers must not run in the child */
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
    ab_guardian_add(started.pid);
    int why = let_go(link[0], &started);
    close(link[0]);
    if (why == 0) {
        *out = started;
        return AB_OK;
    }
    /* not SIGTERM, because the child would wait for an answer at its end */
    kill(started.pid, SIGKILL);
    waitpid(started.pid, NULL, 0);
    ab_guardian_forget(started.pid);
    if (started.listener >= 0)
        close(started.listener);
    errno = why;
    return ab_fail_errno(err, AB_USAGE, "cannot run %s", AB_SHOWN(512, start->path));
}

enum ab_status ab_program_start_shell(const char *command, int out_fd, int errors_fd, pid_t *out,
                                      struct ab_err *err)
{
    const char *argv[] = {"sh", "-c", command, NULL};
    struct ab_program_started started;
    int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    struct ab_program_start s = {.path = "/bin/sh",
                                 .argv = argv,
                                 .envp = environ,
                                 .stdin_fd = null,
                                 .stdout_fd = out_fd,
                                 .stderr_fd = errors_fd};
    enum ab_status status = null < 0 ? ab_fail_errno(err, AB_SYSTEM, "cannot open /dev/null")
                                     : ab_program_start(&s, &started, err);
    if (null >= 0)
        close(null);
    if (status == AB_OK)
        *out = started.pid;
    return status;
}

enum ab_status ab_program_prepare(const char *command, int fd, uint64_t timeout_ns,
                                  struct ab_err *err)
{
    pid_t shell;
    AB_TRY(ab_program_start_shell(command, fd, fd, &shell, err));
    struct ab_ending e = ab_supervise(
        shell, timeout_ns == 0 ? UINT64_MAX : ab_clock_now_ns() + timeout_ns, UINT64_MAX);
    ab_guardian_forget(shell);
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
