/* SPDX-License-Identifier: MIT
 *
 * The filter, and the two halves of a conversation with it.
 */
#include "program/exits.h"

#include "base/bits.h"

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#define ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCH AUDIT_ARCH_AARCH64
#endif

int ab_exits_install(void)
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

bool ab_exits_next(int listener, struct ab_exit *out)
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

void ab_exits_go_on(int listener, const struct ab_exit *ended)
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
