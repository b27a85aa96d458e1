/* SPDX-License-Identifier: MIT
 *
 * fork + exec with a word in between: the child makes itself ready, hands over the listener, and
 * waits for the start, so that what this takes is in no time.
 */
#include "program/start.h"

#include "base/clock.h"
#include "core/text.h"
#include "program/exits.h"
#include "runner/spawn.h"
#include "runner/supervise.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

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

static bool place_streams(const struct ab_program_start *s)
{
    return dup2(s->stdin_fd, 0) == 0 && dup2(s->stdout_fd, 1) == 1 && dup2(s->stderr_fd, 2) == 2 &&
           close_range(3, ~0u, CLOSE_RANGE_CLOEXEC) == 0;
}

static _Noreturn void become_program(const struct ab_program_start *s, pid_t parent, int link)
{
    char go;
    ab_spawn_detach(parent);
    ab_spawn_reset_signals();
    if (!place_streams(s))
        ab_spawn_give_up(link);
    int listener = s->is_watched ? ab_exits_install() : -1;
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

enum ab_status ab_program_start(const struct ab_program_start *start,
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
