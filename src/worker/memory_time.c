/* SPDX-License-Identifier: MIT
 *
 * The work's own time in the memory pass. Advances the virtual clock (src/clock) to the times in
 * the tape; at a real pace, sleeps until then. At each time, waits until the allocator's own
 * threads have done their work, and writes the rows of the time line.
 */
#include "worker/memory_pass.h"

#include "base/bits.h"
#include "base/clock.h"
#include "clock/virtual_clock.h"

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SECOND_NS UINT64_C(1000000000)
#define SETTLE_NS SECOND_NS /* real time that the allocator's threads may take to fall asleep */
/* least virtual time between two wake-ups of the allocator's threads */
#define WAKE_GRAIN_NS UINT64_C(10000000)
void ab_memory_enter(struct ab_lane *lane)
{
    struct ab_memory_pass *m = lane->w->memory;
    struct ab_memory_time *t = &m->time;
    if (t->n == 0)
        return;
    t->lanes[lane->index] = (pid_t)syscall(SYS_gettid);
    if (m->report->pace != 0)
        return;
    struct ab_virtual_clock *clock = dlsym(RTLD_DEFAULT, AB_VIRTUAL_CLOCK_NAME);
    if (clock == NULL || clock->version != AB_VIRTUAL_CLOCK_VERSION)
        ab_worker_fail(lane->w, AB_FAILURE_SYSTEM, "the virtual clock was not loaded", NULL);
    clock->enter();
    ab_clock_ask_kernel();
    t->clock = clock;
}

static void begin(struct ab_memory_time *t)
{
    t->has_begun = true;
    t->begin_ns = t->clock != NULL ? __atomic_load_n(&t->clock->time_ns, __ATOMIC_ACQUIRE)
                                   : ab_clock_now_ns();
}

/* ---- waits in the kernel by a clock other than the virtual one ---- */

/* A system call that waits with a timeout. `argument` is the timeout's index, `kind` its form: a
 * pointer to a time, or milliseconds; ALWAYS = every call counts. */
struct timed_call {
    long number;
    const char *name;
    enum { SPAN, MS, ALWAYS } kind;
    int argument;
};
static const struct timed_call timed_calls[] = {
    {SYS_futex, "futex", SPAN, 3},
    {SYS_nanosleep, "nanosleep", ALWAYS, 0},
    {SYS_clock_nanosleep, "clock_nanosleep", ALWAYS, 0},
    {SYS_ppoll, "ppoll", SPAN, 2},
    {SYS_pselect6, "pselect", SPAN, 4},
    {SYS_epoll_pwait, "epoll_pwait", MS, 3},
    {SYS_epoll_pwait2, "epoll_pwait2", SPAN, 3},
    {SYS_timerfd_settime, "timerfd_settime", ALWAYS, 0},
    {SYS_timer_settime, "timer_settime", ALWAYS, 0},
    {SYS_setitimer, "setitimer", ALWAYS, 0},
    {SYS_rt_sigtimedwait, "sigtimedwait", SPAN, 2},
    {SYS_semtimedop, "semtimedop", SPAN, 3},
    {SYS_mq_timedsend, "mq_timedsend", SPAN, 4},
    {SYS_mq_timedreceive, "mq_timedreceive", SPAN, 4},
    {SYS_recvmmsg, "recvmmsg", SPAN, 4},
    {SYS_io_getevents, "io_getevents", SPAN, 4},
    {SYS_io_pgetevents, "io_pgetevents", SPAN, 4},
    {449, "futex_waitv", SPAN, 3},
#ifdef SYS_poll
    {SYS_poll, "poll", MS, 2},
    {SYS_select, "select", SPAN, 4},
    {SYS_epoll_wait, "epoll_wait", MS, 3},
    {SYS_alarm, "alarm", ALWAYS, 0},
#endif
};

static const struct timed_call *find_timed_call(long number)
{
    for (size_t i = 0; i < AB_ARRAY_LEN(timed_calls); i++)
        if (timed_calls[i].number == number)
            return &timed_calls[i];
    return NULL;
}

/* Reads the next number of a text like "202 0x5566 0x80 …"; a number without "0x" is decimal. */
static uint64_t read_word(const char **text)
{
    uint64_t value = 0;
    bool is_hex = (*text)[0] == '0' && (*text)[1] == 'x';
    for (*text += is_hex ? 2 : 0; **text != 0 && **text != ' ' && **text != '\n'; ++*text)
        value = value * (is_hex ? 16 : 10) +
                (uint64_t)(**text <= '9' ? **text - '0' : **text - 'a' + 10);
    *text += **text == ' ';
    return value;
}

/* Returns the system call in which a thread waits with a timeout, or NULL. `text` is the content of
 * /proc/PID/task/TID/syscall: "running", or a system call's number and arguments. */
static const struct timed_call *timed_wait(const char *text)
{
    const struct timed_call *call = text[0] >= '0' && text[0] <= '9'
                                        ? find_timed_call((long)read_word(&text))
                                        : NULL;
    uint64_t value = 0;
    for (int i = 0; call != NULL && i <= call->argument; i++)
        value = read_word(&text);
    return call == NULL || call->kind == ALWAYS                   ? call
           : value != 0 && (call->kind == SPAN || (int)value > 0) ? call
                                                                  : NULL;
}

/* ---- the allocator's own threads ---- */

static bool is_lane(const struct ab_memory_time *t, uint64_t thread)
{
    uint32_t i = 0;
    while (i < t->n_lanes && (uint64_t)t->lanes[i] != thread)
        i++;
    return i < t->n_lanes || thread == (uint64_t)getpid();
}

/* Reads a file of /proc/self/task/THREAD. Returns the number of bytes; 0 = cannot be read. */
static ssize_t read_task(int tasks_fd, const char *thread, const char *file, char *text, size_t cap)
{
    char path[32];
    size_t length = strlen(thread) < 16 ? strlen(thread) : 16;
    memcpy(path, thread, length);
    memcpy(path + length, file, strlen(file) + 1);
    int fd = (int)syscall(SYS_openat, tasks_fd, path, O_RDONLY | O_CLOEXEC, 0);
    ssize_t n = fd < 0 ? 0 : pread(fd, text, cap - 1, 0);
    if (fd >= 0)
        close(fd);
    text[n > 0 ? n : 0] = 0;
    return n > 0 ? n : 0;
}

/* True if the thread sleeps. Its stat line "7 (name) S …" shows the state by one letter after the
 * last parenthesis; the name may contain anything. */
static bool is_asleep(int tasks_fd, const char *thread)
{
    char text[64];
    ssize_t n = read_task(tasks_fd, thread, "/stat", text, sizeof text);
    while (n > 0 && text[n - 1] != ')')
        n--;
    return n <= 0 || text[n + 1] == 'S'; /* a thread whose file cannot be read has ended */
}

/* True if all threads of the allocator sleep; sets *n to their number. With `wants_calls`, also
 * notes the first thread that waits in the kernel by a clock other than the virtual one. */
static bool are_asleep(struct ab_memory_pass *m, uint32_t *n, bool wants_calls)
{
    struct ab_memory_time *t = &m->time;
    char call[192];
    const int tasks_fd = m->residency.tasks_fd;
    bool all = true;
    ssize_t bytes;
    *n = 0;
    lseek(tasks_fd, 0, SEEK_SET);
    while ((bytes = syscall(SYS_getdents64, tasks_fd, t->text, sizeof t->text)) > 0) {
        const struct dirent64 *d = (const struct dirent64 *)(const void *)t->text;
        for (const char *end = t->text + bytes; (const char *)d < end;
             d = (const void *)((const char *)d + d->d_reclen)) {
            uint64_t thread = 0;
            for (const char *s = d->d_name; *s >= '0' && *s <= '9'; s++)
                thread = thread * 10 + (uint64_t)(*s - '0');
            if (thread == 0 || is_lane(t, thread))
                continue;
            ++*n;
            all = all && is_asleep(tasks_fd, d->d_name);
            if (all && wants_calls &&
                read_task(tasks_fd, d->d_name, "/syscall", call, sizeof call) > 0 &&
                t->unmanaged == NULL && timed_wait(call) != NULL)
                t->unmanaged = timed_wait(call)->name;
        }
    }
    return all;
}

/* True if all threads of the allocator sleep at two looks. One look is not enough: another thread
 * may have woken a sleeping thread just after it was looked at, and fallen asleep itself. */
static bool have_settled(struct ab_memory_pass *m)
{
    const struct ab_memory_time *t = &m->time;
    uint32_t n;
    if (!are_asleep(m, &n, false))
        return false;
    if (n == 0)
        return true;
    return __atomic_load_n(&t->clock->n_short, __ATOMIC_ACQUIRE) == 0 && t->clock->wake() == 0 &&
           are_asleep(m, &n, true);
}

/* Waits until the allocator's threads have done the work that is due at this time. */
static void settle(struct ab_memory_pass *m)
{
    struct ab_memory_time *t = &m->time;
    enum { YIELDS = 20 };
    if (t->clock == NULL || t->is_unsettled)
        return;
    uint64_t begun = 0;
    for (uint32_t i = 0; !have_settled(m); i++) {
        uint64_t now = ab_clock_now_ns();
        begun = i == 0 ? now : begun;
        if (now - begun > SETTLE_NS) {
            t->is_unsettled = true;
            return;
        }
        if (i < YIELDS)
            syscall(SYS_sched_yield);
        else
            ab_clock_sleep_until(now + 20000);
    }
}

/* ---- rows ---- */

static void add_row(struct ab_memory_pass *m, uint32_t flags)
{
    settle(m);
    if (m->rows == NULL || m->report->n_rows >= m->cap_rows)
        return;
    struct ab_memory_row *row = &m->rows[m->report->n_rows++];
    struct ab_footprint_detail detail;
    uint64_t bytes = flags != 0 ? ab_memory_footprint_exact(m) : ab_memory_footprint(m);
    const struct ab_page_split split = ab_memory_split(m, bytes, flags != 0);
    *row = (struct ab_memory_row){
        .time_ns = m->time.now_ns,
        .position = m->clock,
        .phase = m->phase,
        .requested_bytes = m->book.requested_bytes,
        .footprint_bytes = bytes,
        .live_bytes = split.live,
        .internal_bytes = split.internal,
        .external_bytes = split.external,
        .lazyfree_bytes = AB_MEMORY_UNKNOWN,
        .flags = flags,
    };
    if (flags != 0 && ab_footprint_read_detail(&m->footprint, &detail))
        row->lazyfree_bytes = detail.lazyfree_bytes;
}

/* ---- the clock ---- */

static void advance(struct ab_memory_pass *m, uint64_t to_ns)
{
    struct ab_memory_time *t = &m->time;
    if (t->clock == NULL) {
        t->now_ns = to_ns;
        if (!m->report->is_scout)
            ab_clock_sleep_until(t->begin_ns + to_ns / m->report->pace);
        return;
    }
    const uint64_t end = t->begin_ns + to_ns;
    for (uint64_t due = t->clock->next(); due <= end && !t->is_unsettled; due = t->clock->next()) {
        uint64_t least = t->begin_ns + t->now_ns + WAKE_GRAIN_NS;
        uint64_t at = due > least ? due : least;
        at = at < end ? at : end;
        t->clock->set(at);
        t->now_ns = at - t->begin_ns;
        settle(m);
    }
    t->clock->set(end);
    t->now_ns = to_ns;
}

static uint64_t next_second(uint64_t ns)
{
    return (ns / SECOND_NS + 1) * SECOND_NS;
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Purges once in each period, even while nothing else calls the library. */
static void purge_if_due(struct ab_memory_pass *m)
{
    struct ab_memory_time *t = &m->time;
    if (t->purge_ns == 0 || t->now_ns < t->next_purge_ns)
        return;
    ab_introspect_purge(&m->introspect);
    t->next_purge_ns += t->purge_ns;
}

/* Advances the time to the next row that is due, but at most to the next second, to the next purge,
 * or to end_ns. Returns true if a row is due. */
static bool walk(struct ab_memory_pass *m, uint64_t end_ns)
{
    struct ab_memory_time *t = &m->time;
    uint64_t stop_ns = earlier(t->next_row_ns, next_second(t->now_ns));
    advance(m, earlier(end_ns, t->purge_ns != 0 ? earlier(stop_ns, t->next_purge_ns) : stop_ns));
    purge_if_due(m);
    if (t->now_ns < t->next_row_ns)
        return false;
    t->next_row_ns += m->report->spaced_ns;
    return true;
}

static void work_until(struct ab_memory_pass *m, uint64_t end_ns)
{
    while (m->time.now_ns < end_ns)
        if (walk(m, end_ns))
            add_row(m, 0);
}

void ab_memory_time_wait(struct ab_memory_pass *m, uint64_t until_ns)
{
    while (m->time.now_ns < until_ns)
        advance(m, earlier(until_ns, next_second(m->time.now_ns)));
    settle(m);
}

static void idle_until(struct ab_memory_pass *m, uint64_t end_ns)
{
    static const uint64_t after[] = {1, 10, 60};
    struct ab_memory_time *t = &m->time;
    const uint64_t begin_ns = t->now_ns;
    const bool has_room = t->n_idle++ < m->report->cap_idle;
    uint32_t k = has_room ? 0 : AB_ARRAY_LEN(after);
    if (has_room)
        add_row(m, AB_ROW_IDLE_BEGIN);
    while (t->now_ns < end_ns) {
        uint64_t mark = k < AB_ARRAY_LEN(after) ? begin_ns + after[k] * SECOND_NS : UINT64_MAX;
        bool is_due = walk(m, earlier(end_ns, mark));
        bool is_marked = t->now_ns == mark && t->now_ns < end_ns;
        k += t->now_ns == mark;
        if (is_marked || (is_due && (t->now_ns < end_ns || !has_room)))
            add_row(m, is_marked ? AB_ROW_IDLE : 0);
    }
    if (has_room)
        add_row(m, AB_ROW_IDLE_END);
}

/* ---- detecting which clock the library used ---- */

/* True if an instruction that reads the tick counter begins here. On x86-64, a few bytes later the
 * code must join the two halves of the counter, as compilers do. Without this test, two random
 * bytes would match. */
static bool is_tick(const unsigned char *code, size_t n)
{
#if defined(__x86_64__)
    static const unsigned char join[] = {0x48, 0xc1, 0xe2, 0x20}; /* shl $32, %rdx */
    enum { BEHIND = 16 };
    bool is_read = (code[0] == 0x0f && code[1] == 0x31) ||
                   (code[0] == 0x0f && code[1] == 0x01 && code[2] == 0xf9);
    for (size_t i = 2; is_read && i < BEHIND && i + sizeof join <= n; i++)
        if (memcmp(code + i, join, sizeof join) == 0)
            return true;
    return false;
#else
    uint32_t word;
    memcpy(&word, code, sizeof word);
    return n >= sizeof word && (word & ~31u) == 0xd53be040u; /* mrs x…, cntvct_el0 */
#endif
}

struct tick_search {
    uintptr_t function;
    bool is_found;
};

static bool has_tick(const unsigned char *code, size_t n)
{
    for (size_t i = 0; i + 4 <= n; i++)
        if (is_tick(code + i, n - i))
            return true;
    return false;
}

static bool holds(const struct dl_phdr_info *info, uintptr_t at)
{
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *ph = &info->dlpi_phdr[i];
        uintptr_t begin = info->dlpi_addr + ph->p_vaddr;
        if (ph->p_type == PT_LOAD && at >= begin && at < begin + ph->p_memsz)
            return true;
    }
    return false;
}

static int search_ticks(struct dl_phdr_info *info, size_t size, void *user)
{
    struct tick_search *search = user;
    (void)size;
    const bool is_ours = holds(info, (uintptr_t)search_ticks);
    const bool is_object = !is_ours && holds(info, search->function);
    for (int i = 0; is_object && i < info->dlpi_phnum && !search->is_found; i++) {
        const ElfW(Phdr) *ph = &info->dlpi_phdr[i];
        if (ph->p_type == PT_LOAD && (ph->p_flags & (PF_X | PF_R)) == (PF_X | PF_R))
            search->is_found = has_tick((const void *)(info->dlpi_addr + ph->p_vaddr),
                                        ph->p_filesz);
    }
    return is_object;
}

/* True if the library contains code that reads the tick counter. Not looked for in the C library's
 * malloc, which has none. */
static bool reads_ticks(const struct ab_memory_pass *m)
{
    struct tick_search search = {.function = (uintptr_t)m->time.function};
    if (m->time.function != NULL && !m->introspect.is_libc)
        dl_iterate_phdr(search_ticks, &search);
    return search.is_found;
}

/* True if the allocator is a library of its own: neither the C library's malloc nor compiled into
 * the worker. */
static bool is_foreign(const struct ab_memory_pass *m)
{
    Dl_info ours, theirs;
    return m->time.function != NULL && !m->introspect.is_libc &&
           dladdr((const void *)(uintptr_t)search_ticks, &ours) != 0 &&
           dladdr(m->time.function, &theirs) != 0 && ours.dli_fbase != theirs.dli_fbase;
}

static void say_real(struct ab_memory_report *r, const char *why)
{
    r->clock = AB_CLOCK_REAL;
    strncpy(r->clock_reason, why, sizeof r->clock_reason - 1);
}

static size_t append(char *out, size_t cap, size_t at, const char *text)
{
    size_t n = strlen(text) < cap - 1 - at ? strlen(text) : cap - 1 - at;
    memcpy(out + at, text, n);
    out[at + n] = 0;
    return at + n;
}

/* Reports that the library saw real time, because a thread waited in this system call with a
 * timeout of the kernel's clock. */
static void report_unmanaged(struct ab_memory_report *r, const char *name)
{
    const size_t cap = sizeof r->clock_reason;
    size_t at = append(r->clock_reason, cap, 0, "it waits in ");
    at = append(r->clock_reason, cap, at, name);
    append(r->clock_reason, cap, at, ", whose timeout is by the system's clock");
    r->clock = AB_CLOCK_REAL;
}

/* Returns the name of the first system call whose wait the virtual clock did not serve, or NULL. */
static const char *unmanaged_call(const struct ab_memory_time *t)
{
    uint32_t call = __atomic_load_n(&t->clock->unmanaged, __ATOMIC_ACQUIRE);
    const struct timed_call *of = call != 0 ? find_timed_call((long)call - 1) : NULL;
    return of != NULL ? of->name : call != 0 ? "a system call" : t->unmanaged;
}

static void tell_clock(struct ab_memory_pass *m)
{
    const struct ab_memory_time *t = &m->time;
    struct ab_memory_report *r = m->report;
    if (t->clock == NULL)
        say_real(r, "--pace");
    else if (t->is_unsettled)
        say_real(r, "a thread that it started was not asleep after 1 s");
    else if (unmanaged_call(t) != NULL)
        report_unmanaged(r, unmanaged_call(t));
    else if (__atomic_load_n(&t->clock->is_used, __ATOMIC_ACQUIRE) != 0)
        r->clock = AB_CLOCK_VIRTUAL;
    else if (reads_ticks(m))
        say_real(r, "it reads the processor's tick counter");
    else if (t->clock->is_filtered == 0 && is_foreign(m))
        say_real(r, "whether it asks the kernel for the time is not seen here (no seccomp filter)");
    else
        r->clock = AB_CLOCK_NONE;
}

/* ---- time before an op ---- */

void ab_memory_time_pass(struct ab_memory_pass *m, bool is_end)
{
    struct ab_memory_time *t = &m->time;
    if (t->n == 0)
        return;
    if (!t->has_begun)
        begin(t);
    for (; t->next < t->n; t->next++) {
        const struct ab_time_step *step = &t->steps[t->next];
        if (step->position > m->clock || step->phase > m->phase)
            break;
        if ((step->flags & AB_STEP_IDLE) != 0)
            idle_until(m, step->time_ns);
        else
            work_until(m, step->time_ns);
    }
    if (is_end)
        add_row(m, 0);
    if (is_end && m->phase + 1 == m->n_phases)
        tell_clock(m);
}
