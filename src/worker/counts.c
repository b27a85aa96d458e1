/* SPDX-License-Identifier: MIT
 *
 * Marks the beginning and the end of measured phases for callgrind, for the processor's counter, or
 * for the parent that is notified of system calls.
 */
#include "worker/counts.h"

#include "wire/run_page.h"
#include "worker/worker.h"

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/perf_event.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

/* ---- valgrind ---- */

/* Client requests to valgrind, if the worker runs in it. A request is an instruction sequence that
 * valgrind promises never to change (its header valgrind.h). Outside of valgrind the sequence does
 * nothing. */

enum {
    VALGRIND_IS_THERE = 0x1001,
    CALLGRIND_TOGGLE = 0x43540002, /* "CT" */
    /* the argument is a text, the reason; counting then restarts from 0 */
    CALLGRIND_WRITE = 0x43540003,
};

/* Makes a client request. Returns valgrind's answer; 0 outside of valgrind. */
static uint64_t ask_valgrind(uint64_t what, const void *argument)
{
    volatile uint64_t words[6] = {what, (uint64_t)(uintptr_t)argument, 0, 0, 0, 0};
#if defined(__x86_64__)
    uint64_t answer = 0;
    __asm__ volatile("rolq $3, %%rdi; rolq $13, %%rdi; rolq $61, %%rdi; rolq $51, %%rdi\n\t"
                     "xchgq %%rbx, %%rbx"
                     : "+d"(answer)
                     : "a"(&words[0])
                     : "cc", "memory");
    return answer;
#elif defined(__aarch64__)
    register uint64_t answer __asm__("x3") = 0;
    register volatile uint64_t *from __asm__("x4") = words;
    __asm__ volatile("ror x12, x12, #3; ror x12, x12, #13; ror x12, x12, #51; ror x12, x12, #61\n\t"
                     "orr x10, x10, x10"
                     : "+r"(answer)
                     : "r"(from)
                     : "cc", "memory");
    return answer;
#else
#error "valgrind requests: x86-64 and aarch64"
#endif
}

/* ---- system calls ---- */

/* The kernel notifies the parent of each system call before the call is made, and the parent lets
 * it go on (seccomp_unotify(2); no privilege is needed). The harness's own system calls during a
 * phase carry the mark AB_CALL_OF_OURS and are not notified. */

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
    /* Both supported machines are little-endian: half 0 is the low one. */
    struct sock_filter rules[] = {
        LOAD(arch),
        UNLESS_EQUAL_SKIP(MACHINE, 3),
        LOAD_HALF(args[5], 0),
        IF_EQUAL_SKIP(AB_CALL_OF_OURS, 1),
        RETURN(SECCOMP_RET_USER_NOTIF),
        RETURN(SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof rules / sizeof rules[0], rules};
    /* Filters also the threads that the allocator has started already. If that is impossible,
     * filters only this thread and threads that it starts later. */
    long fd = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
                      SECCOMP_FILTER_FLAG_NEW_LISTENER | SECCOMP_FILTER_FLAG_TSYNC |
                          SECCOMP_FILTER_FLAG_TSYNC_ESRCH,
                      &program);
    if (fd < 0)
        fd = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER,
                     &program);
    return (int)fd;
}

/* Sends the filter's descriptor to the parent. The system call carries the mark, because the parent
 * cannot answer notifications before it has the descriptor. */
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

/* Lets the parent be notified of every later system call of this process, except those with the
 * mark. Returns false if the system does not allow it. */
static bool tell_calls(void)
{
    int listener = install();
    if (listener < 0 || !send_listener(listener))
        return false;
    close(listener);
    close(AB_WORKER_FD_CALLS);
    return true;
}

/* ---- the phases ---- */

bool ab_counts_are_on;

static struct {
    struct ab_worker *w;
    int fd; /* descriptor of the processor's counter */
} counts;

static bool is_measured(void)
{
    return counts.w->phases[counts.w->page->report.phase].is_measured;
}

static unsigned pass(void)
{
    return counts.w->page->request.pass;
}

static bool is_of_callgrind(void)
{
    return counts.w->page->request.counter == AB_COUNTER_CALLGRIND;
}

static void open_instructions(struct ab_worker *w)
{
    if (w->image->n_lanes != 1)
        ab_worker_fail(w, AB_FAILURE_SYSTEM, "instructions are counted of one thread", NULL);
    if (is_of_callgrind() && ask_valgrind(VALGRIND_IS_THERE, NULL) == 0)
        ab_worker_fail(w, AB_FAILURE_SYSTEM, "not in callgrind", NULL);
    if (!is_of_callgrind() && (counts.fd = ab_cpu_counter_open()) < 0)
        ab_worker_fail(w, AB_FAILURE_SYSTEM, "the processor's counter cannot be read", NULL);
}

void ab_counts_open(struct ab_worker *w)
{
    counts.w = w;
    if (pass() == AB_PASS_INSTRUCTIONS)
        open_instructions(w);
    else if (pass() != AB_PASS_SYSTEM_CALLS)
        return;
    else if (!tell_calls())
        ab_worker_fail(w, AB_FAILURE_SYSTEM, "system calls cannot be watched (seccomp)", NULL);
    ab_counts_are_on = true;
}

void ab_counts_begin(void)
{
    if (!is_measured())
        return;
    if (pass() == AB_PASS_SYSTEM_CALLS)
        __atomic_add_fetch(&counts.w->page->report.inside, 1, __ATOMIC_SEQ_CST);
    else if (is_of_callgrind())
        ask_valgrind(CALLGRIND_TOGGLE, NULL);
    else
        ab_cpu_counter_start(counts.fd);
}

/* Makes callgrind write its count to a file, with "phase N" as the reason. */
static void write_count(void)
{
    char number[24], text[32] = "phase ";
    const char *digits = ab_worker_number(number, counts.w->page->report.phase);
    for (unsigned i = 0; digits[i] != 0; i++)
        text[6 + i] = digits[i];
    ask_valgrind(CALLGRIND_WRITE, text);
}

void ab_counts_end(struct ab_phase_report *out)
{
    if (!is_measured())
        return;
    if (pass() == AB_PASS_SYSTEM_CALLS) {
        __atomic_sub_fetch(&counts.w->page->report.inside, 1, __ATOMIC_SEQ_CST);
    } else if (is_of_callgrind()) {
        ask_valgrind(CALLGRIND_TOGGLE, NULL);
        write_count();
    } else {
        out->instructions = ab_cpu_counter_stop(counts.fd);
    }
}

/* The format in which a perf_event_open(2) counter is read. */

struct reading { /* times are those for which the counter was enabled and running */
    uint64_t value, enabled, running;
};

int ab_cpu_counter_open_as(uint32_t type, uint64_t config)
{
    struct perf_event_attr attr;
    memset(&attr, 0, sizeof attr);
    attr.size = sizeof attr;
    attr.type = type;
    attr.config = config;
    attr.disabled = 1;
    attr.pinned = 1; /* counts all the time or not at all, so that counts are never scaled up */
    attr.exclude_kernel = 1;
    attr.exclude_hv = 1;
    attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
    return (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

int ab_cpu_counter_open(void)
{
    return ab_cpu_counter_open_as(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS);
}

void ab_cpu_counter_start(int fd)
{
    ioctl(fd, PERF_EVENT_IOC_RESET, 0);
    ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
}

uint64_t ab_cpu_counter_stop(int fd)
{
    struct reading r;
    ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
    ssize_t n = read(fd, &r, sizeof r);
    return n == (ssize_t)sizeof r && r.running > 0 && r.running == r.enabled ? r.value
                                                                             : AB_NOT_COUNTED;
}
