/* SPDX-License-Identifier: MIT
 *
 * Fork + exec with a word in between: the child makes itself ready, hands over the listener, and
 * waits for the start, so that what this takes is in no time.
 */
#include "base/bits.h"
#include "base/clock.h"
#include "core/status.h"
#include "core/text.h"
#include "program/program.h"
#include "runner/supervise.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

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

static bool place_streams(const struct ab_program_start *s)
{
    return dup2(s->stdin_fd, 0) == 0 && dup2(s->stdout_fd, 1) == 1 && dup2(s->stderr_fd, 2) == 2 &&
           close_range(3, ~0u, CLOSE_RANGE_CLOEXEC) == 0;
}

/* The filter: a process that is about to end waits for an answer, and where it is wanted one that is about
 * to close a library: it says so by unmapping nothing. */

#if defined(__x86_64__)
#define ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCH AUDIT_ARCH_AARCH64
#endif

/* In a child, before its exec, with no_new_privs set: the listener, or −1 with errno where the
 * system has none or a sandbox around us listens already. */
static int install_filter(bool shows_closes)
{
    /* Of a process of another architecture everything is allowed: it cannot load our libraries. */
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
    /* SPEC_ALLOW: older kernels would slow the program's branches down. */
    return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
                        SECCOMP_FILTER_FLAG_NEW_LISTENER | SECCOMP_FILTER_FLAG_SPEC_ALLOW,
                        &program);
}

static _Noreturn void become_program(const struct ab_program_start *s, pid_t parent, int link)
{
    char go;
    ab_spawn_detach(parent);
    ab_spawn_reset_signals();
    if (!place_streams(s))
        ab_spawn_give_up(link);
    int listener = s->is_watched ? install_filter(s->shows_closes) : -1;
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
