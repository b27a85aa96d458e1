/* SPDX-License-Identifier: MIT
 *
 * The handler of deadly signals. It may run in the middle of malloc, on an unknown thread, with a
 * damaged heap. So it uses no malloc and no stdio, takes no lock that it would have to wait for,
 * and writes the most certain facts first.
 */
#include "worker/crash/crash.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

enum { LINE_MAX_BYTES = 4352, WAIT_TURNS = 10000 };

static const int watched[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP, SIGSYS};
enum { N_WATCHED = sizeof watched / sizeof watched[0] };

static struct ab_crash_report *report;
static ab_fault_lookup *find_block;
static void *find_user;
static char first_stack[AB_FAULT_STACK_BYTES] __attribute__((aligned(16)));

void ab_fault_set_lookup(ab_fault_lookup *lookup, void *user)
{
    find_user = user;
    find_block = lookup;
}

void ab_fault_use_stack(void *memory)
{
    stack_t stack = {.ss_sp = memory, .ss_size = AB_FAULT_STACK_BYTES};
    sigaltstack(&stack, NULL);
}

/* ---- registers ---- */

static void note_registers(struct ab_crash_report *r, const ucontext_t *context)
{
#if defined(__x86_64__)
    enum { PAGE_FAULT = 14, IS_WRITE = 1 << 1, IS_FETCH = 1 << 4 };
    const greg_t *g = context->uc_mcontext.gregs;
    r->pc = (uint64_t)g[REG_RIP];
    r->sp = (uint64_t)g[REG_RSP];
    if (g[REG_TRAPNO] == PAGE_FAULT && (r->signal == SIGSEGV || r->signal == SIGBUS))
        r->access = (g[REG_ERR] & IS_FETCH) != 0   ? AB_FAULT_FETCH
                    : (g[REG_ERR] & IS_WRITE) != 0 ? AB_FAULT_WRITE
                                                   : AB_FAULT_READ;
#elif defined(__aarch64__)
    r->pc = context->uc_mcontext.pc;
    r->sp = context->uc_mcontext.sp;
    r->access = r->pc == r->address ? AB_FAULT_FETCH : AB_FAULT_ACCESS;
#else
    (void)r, (void)context;
#endif
}

/* ---- mappings ---- */

struct mapping {
    uint64_t begin, end;
    bool is_readable, is_code;
};

static const char *read_hex(const char *s, uint64_t *out)
{
    uint64_t n = 0;
    for (;; s++) {
        unsigned digit = *s >= '0' && *s <= '9'   ? (unsigned)(*s - '0')
                         : *s >= 'a' && *s <= 'f' ? (unsigned)(*s - 'a' + 10)
                                                  : 16;
        if (digit == 16)
            break;
        n = n << 4 | digit;
    }
    *out = n;
    return s;
}

/* Parses a line of /proc/self/maps: "7f0012340000-7f0012350000 r-xp …". */
static bool read_mapping(const char *line, struct mapping *m)
{
    const char *s = read_hex(line, &m->begin);
    if (*s != '-')
        return false;
    s = read_hex(s + 1, &m->end);
    m->is_readable = s[0] == ' ' && s[1] == 'r';
    m->is_code = s[0] == ' ' && s[1] != 0 && s[2] != 0 && s[3] == 'x';
    return s[0] == ' ';
}

static bool holds(const struct mapping *m, uint64_t address)
{
    return address >= m->begin && address < m->end;
}

static void keep_line(struct ab_crash_report *r, const char *line, size_t n, uint64_t *stack_end)
{
    struct mapping m;
    if (!read_mapping(line, &m))
        return;
    if (m.end <= r->address)
        r->below_end = m.end;
    else if (m.begin > r->address && r->above_begin == 0)
        r->above_begin = m.begin;
    /* the guard page below a thread's stack does not count, because it is not readable */
    if (holds(&m, r->sp) && m.is_readable)
        *stack_end = m.end;
    if ((m.is_code || holds(&m, r->address) || holds(&m, r->sp)) &&
        r->maps_bytes + n + 2 < sizeof r->maps) {
        memcpy(r->maps + r->maps_bytes, line, n);
        r->maps[r->maps_bytes + n] = '\n';
        r->maps_bytes += (uint32_t)n + 1;
    }
}

/* Copies lines of /proc/self/maps into the report (keep_line). Returns the end of the mapping that
 * holds the stack pointer; 0 = no readable mapping holds it. */
static uint64_t note_maps(struct ab_crash_report *r)
{
    static char line[LINE_MAX_BYTES], chunk[4096];
    size_t used = 0;
    uint64_t stack_end = 0;
    int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    for (ssize_t n; fd >= 0 && (n = read(fd, chunk, sizeof chunk)) > 0;)
        for (ssize_t i = 0; i < n; i++) {
            if (chunk[i] != '\n') {
                if (used + 1 < sizeof line)
                    line[used++] = chunk[i];
                continue;
            }
            line[used] = 0;
            keep_line(r, line, used, &stack_end);
            used = 0;
        }
    if (fd >= 0)
        close(fd);
    return stack_end;
}

static void note_stack(struct ab_crash_report *r, uint64_t end)
{
    uint64_t at = (r->sp + 7) & ~UINT64_C(7);
    for (; r->n_stack < AB_CRASH_STACK && at + 8 <= end; at += 8)
        r->stack[r->n_stack++] = *(const volatile uint64_t *)at;
}

/* ---- the signal ---- */

static void record(struct ab_crash_report *r, const siginfo_t *info, const ucontext_t *context)
{
    bool has_address = info->si_code > 0 && info->si_signo != SIGABRT;
    r->signal = info->si_signo;
    r->code = info->si_code;
    r->pid = (int32_t)getpid();
    r->address = has_address ? (uint64_t)info->si_addr : 0;
    r->note = ab_call_note_index();
    note_registers(r, context);
    if (find_block != NULL && has_address && !find_block(find_user, r->address, &r->block))
        r->block = (struct ab_near_block){.near = AB_NEAR_NOTHING};
    note_stack(r, note_maps(r));
}

/* True if returning from the handler raises the signal again, because an instruction raised it. Any
 * other signal must be sent again. */
static bool comes_again(const siginfo_t *info)
{
    return info->si_code > 0 && info->si_signo != SIGTRAP && info->si_signo != SIGSYS;
}

static void on_signal(int signal, siginfo_t *info, void *context)
{
    struct sigaction deadly = {.sa_handler = SIG_DFL};
    int kept = errno;
    if (__atomic_exchange_n(&report->is_taken, 1, __ATOMIC_ACQ_REL) == 0) {
        record(report, info, context);
        __atomic_store_n(&report->is_whole, 1, __ATOMIC_RELEASE);
    }
    for (int i = 0; i < WAIT_TURNS && __atomic_load_n(&report->is_whole, __ATOMIC_ACQUIRE) == 0;
         i++)
        /* another thread is still writing its report; if this thread died now, it would cut the
         * report off */
        sched_yield();
    sigaction(signal, &deadly, NULL);
    if (!comes_again(info))
        syscall(SYS_tgkill, getpid(), (pid_t)syscall(SYS_gettid), signal);
    errno = kept;
}

void ab_fault_watch(struct ab_crash_report *to)
{
    struct sigaction ours = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_ONSTACK}, old;
    report = to;
    ab_fault_use_stack(first_stack);
    for (unsigned i = 0; i < N_WATCHED; i++)
        if (sigaction(watched[i], NULL, &old) == 0 && old.sa_handler == SIG_DFL)
            sigaction(watched[i], &ours, NULL);
}

/* ---- notes: one for each thread, in memory that outlives the process ---- */

static struct ab_call_log *call_log;
static __thread struct ab_call_note *own;
/* True if the thread has asked for a note; it may have got none, because all may be taken */
static __thread int has_asked;

void ab_call_note_open(struct ab_call_log *to)
{
    call_log = to;
}

static struct ab_call_note *note(void)
{
    if (call_log == NULL || has_asked)
        return own;
    has_asked = 1;
    uint32_t i = __atomic_fetch_add(&call_log->n_threads, 1, __ATOMIC_RELAXED);
    own = i < AB_CALL_NOTES - 1 ? &call_log->notes[i] : NULL;
    return own;
}

static void write_note(struct ab_call_note *n, const struct ab_call_note *what)
{
    volatile uint32_t *is_inside = &n->is_inside;
    *is_inside = 0;
    n->called = what->called;
    n->number = what->number;
    for (unsigned i = 0; i < AB_CALL_ARGS; i++)
        n->args[i] = what->args[i];
    __atomic_signal_fence(__ATOMIC_RELEASE);
    *is_inside = what->is_inside;
}

void ab_call_note_begin(enum ab_called called, uint64_t first, uint64_t second, uint64_t third)
{
    struct ab_call_note *n = note();
    if (n == NULL)
        return;
    uint64_t number = __atomic_add_fetch(&call_log->n_calls, 1, __ATOMIC_RELAXED);
    write_note(n, &(struct ab_call_note){called, 1, number, {first, second, third}});
}

void ab_call_note_end(void)
{
    if (own != NULL)
        *(volatile uint32_t *)&own->is_inside = 0;
}

struct ab_call_note ab_call_note_ask(enum ab_called called, uint64_t ref)
{
    struct ab_call_note *n = note(), before = {0};
    if (n == NULL)
        return before;
    before = *n;
    write_note(n, &(struct ab_call_note){called, 1, before.number, {ref}});
    return before;
}

void ab_call_note_answered(const struct ab_call_note *before)
{
    if (own != NULL)
        write_note(own, before);
}

uint32_t ab_call_note_index(void)
{
    return own == NULL ? 0 : 1 + (uint32_t)(own - call_log->notes);
}

void ab_call_note_fail(void)
{
    if (call_log != NULL)
        call_log->failed = ab_call_note_index();
}

void ab_call_note_child(void)
{
    has_asked = 1;
    own = call_log == NULL ? NULL : &call_log->notes[AB_CALL_NOTES - 1];
}
