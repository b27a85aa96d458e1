/* SPDX-License-Identifier: MIT
 *
 * Has the kernel tell the parent of each system call before it is made (seccomp_unotify(2), no
 * privilege needed) and let it go on. Calls of ours during a phase carry a mark and are not told.
 */
#include "worker/counts/counts.h"

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#define MACHINE AUDIT_ARCH_X86_64
#else
#define MACHINE AUDIT_ARCH_AARCH64
#endif

#define LOAD(member) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, member))
#define LOAD_HALF(member, half) \
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, member) + 4 * (half))
#define RETURN(what) BPF_STMT(BPF_RET | BPF_K, (what))
#define UNLESS_EQUAL_SKIP(value, n) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (value), 0, (n))
#define IF_EQUAL_SKIP(value, n) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (value), (n), 0)

static int install(void)
{
    /* Both our machines are little-endian: half 0 is the low one. */
    struct sock_filter rules[] = {
        LOAD(arch),
        UNLESS_EQUAL_SKIP(MACHINE, 3),
        LOAD_HALF(args[5], 0),
        IF_EQUAL_SKIP(AB_CALL_OF_OURS, 1),
        RETURN(SECCOMP_RET_USER_NOTIF),
        RETURN(SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof rules / sizeof rules[0], rules};
    /* With what the allocator has started already; else for what is started from here on. */
    long fd = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
                      SECCOMP_FILTER_FLAG_NEW_LISTENER | SECCOMP_FILTER_FLAG_TSYNC |
                          SECCOMP_FILTER_FLAG_TSYNC_ESRCH,
                      &program);
    if (fd < 0)
        fd = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER,
                     &program);
    return (int)fd;
}

/* Marked as ours: the parent does not listen before it has the descriptor. */
static bool send_listener(int listener)
{
    char byte = 0;
    _Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof listener)];
    struct iovec data = {&byte, 1};
    struct msghdr message = {.msg_iov = &data,
                             .msg_iovlen = 1,
                             .msg_control = control,
                             .msg_controllen = sizeof control};
    memset(control, 0, sizeof control);
    struct cmsghdr *head = CMSG_FIRSTHDR(&message);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(sizeof listener);
    memcpy(CMSG_DATA(head), &listener, sizeof listener);
    return syscall(SYS_sendmsg, AB_WORKER_FD_CALLS, &message, 0, 0, 0, AB_CALL_OF_OURS) == 1;
}

bool ab_counts_tell_calls(void)
{
    int listener = install();
    if (listener < 0 || !send_listener(listener))
        return false;
    close(listener);
    close(AB_WORKER_FD_CALLS);
    return true;
}
