/* SPDX-License-Identifier: MIT
 *
 * A thread beside the one that watches the worker: takes what the kernel reports, counts it for the
 * phase that the run page names, and lets the call go on.
 */
#include "runner/system_calls.h"

#include <errno.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { LOOK_MS = 20 };

enum ab_call_kind ab_call_kind_of(int number)
{
    switch (number) {
#define X(name, kind) \
    case SYS_##name: \
        return AB_CALL_##kind;
        X(mmap, mmap)
        X(munmap, munmap)
        X(mremap, mremap)
        X(brk, brk)
        X(madvise, madvise)
        X(futex, futex)
#undef X
    case SYS_clock_gettime: /* of ours, about the end of a phase in another lane */
    case SYS_getrusage:
        return AB_CALL_KIND_COUNT;
    default:
        return AB_CALL_other;
    }
}

static void count(struct ab_call_counts *c, int number)
{
    enum ab_call_kind kind = ab_call_kind_of(number);
    uint32_t phase = c->report->phase;
    if (__atomic_load_n(&c->report->inside, __ATOMIC_SEQ_CST) > 0 && phase < AB_PHASES_MAX &&
        kind < AB_CALL_KIND_COUNT)
        c->n[phase][kind]++;
}

/* False: no process is left that could call. */
static bool serve_one(struct ab_call_counts *c, int listener)
{
    struct seccomp_notif told;
    memset(&told, 0, sizeof told);
    if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &told) != 0)
        return errno == EINTR || errno == ENOENT; /* it was killed meanwhile */
    count(c, told.data.nr);
    struct seccomp_notif_resp answer = {.id = told.id, .flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE};
    ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &answer);
    return true;
}

/* -1: the worker has gone without one, or failed to make it. */
static int receive_listener(struct ab_call_counts *c)
{
    char byte;
    int listener = -1;
    _Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof listener)];
    struct iovec data = {&byte, 1};
    struct msghdr message = {.msg_iov = &data,
                             .msg_iovlen = 1,
                             .msg_control = control,
                             .msg_controllen = sizeof control};
    struct pollfd wait = {.fd = c->ends[0], .events = POLLIN};
    while (poll(&wait, 1, LOOK_MS) <= 0)
        if (__atomic_load_n(&c->is_over, __ATOMIC_ACQUIRE))
            return -1;
    if (recvmsg(c->ends[0], &message, MSG_CMSG_CLOEXEC) != 1)
        return -1;
    const struct cmsghdr *head = CMSG_FIRSTHDR(&message);
    if (head != NULL && head->cmsg_type == SCM_RIGHTS &&
        head->cmsg_len == CMSG_LEN(sizeof listener))
        memcpy(&listener, CMSG_DATA(head), sizeof listener);
    return listener;
}

static void *serve(void *user)
{
    struct ab_call_counts *c = user;
    int listener = receive_listener(c);
    c->has_listener = listener >= 0;
    struct pollfd wait = {.fd = listener, .events = POLLIN};
    while (listener >= 0 && !__atomic_load_n(&c->is_over, __ATOMIC_ACQUIRE)) {
        if (poll(&wait, 1, LOOK_MS) <= 0)
            continue;
        if ((wait.revents & POLLIN) == 0 || !serve_one(c, listener))
            break;
    }
    if (listener >= 0)
        close(listener);
    return NULL;
}

enum ab_status ab_call_counts_open(struct ab_call_counts *c, struct ab_err *err)
{
    return socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, c->ends) == 0
               ? AB_OK
               : ab_fail_errno(err, AB_SYSTEM, "cannot count system calls: socketpair");
}

static void close_end(int *end)
{
    if (*end > 0)
        close(*end);
    *end = 0;
}

enum ab_status ab_call_counts_begin(struct ab_call_counts *c, const struct ab_run_report *report,
                                    struct ab_err *err)
{
    sigset_t all, before;
    c->report = report;
    close_end(&c->ends[1]); /* so that the worker's end is the end of it */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* signals are for the thread that watches */
    c->is_running = pthread_create(&c->thread, NULL, serve, c) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return c->is_running ? AB_OK
                         : ab_fail(err, AB_SYSTEM, "cannot count system calls: no thread for it");
}

void ab_call_counts_end(struct ab_call_counts *c)
{
    __atomic_store_n(&c->is_over, true, __ATOMIC_RELEASE);
    if (c->is_running)
        pthread_join(c->thread, NULL);
    c->is_running = false;
    close_end(&c->ends[0]);
    close_end(&c->ends[1]);
}
