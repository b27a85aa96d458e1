/* SPDX-License-Identifier: MIT
 *
 * The work's own time in the memory pass: brings the virtual clock (src/clock) or, at a real pace, the
 * thread itself to where the tape says that it is, waits for what the allocator's own threads do then,
 * and writes the rows.
 */
#include "worker/memory_pass.h"

#include "base/bits.h"
#include "base/clock.h"
#include "clock/served_clock.h"

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SECOND_NS UINT64_C(1000000000)
#define SETTLE_NS SECOND_NS /* of real time: so long the allocator's threads may take */
#define WAKE_GRAIN_NS UINT64_C(10000000) /* they are woken no more often than that */
void ab_memory_enter(struct ab_lane *lane)
{
    struct ab_memory_pass *m = lane->w->memory;
    struct ab_memory_time *t = &m->time;
    if (t->n > 0) {
        t->lanes[lane->index] = (pid_t)syscall(SYS_gettid);
        struct ab_served_clock *clock = m->report->pace != 0
                                            ? NULL
                                            : dlsym(RTLD_DEFAULT, AB_SERVED_CLOCK_NAME);
        if (m->report->pace == 0 && (clock == NULL || clock->version != AB_SERVED_CLOCK_VERSION))
            ab_worker_fail(lane->w, AB_FAILURE_SYSTEM, "the virtual clock was not loaded", NULL);
        if (clock != NULL)
            clock->enter();
        t->clock = clock;
    }
}

static void begin(struct ab_memory_time *t)
{
    t->has_begun = true;
    t->begin_ns = t->clock != NULL ? __atomic_load_n(&t->clock->time_ns, __ATOMIC_ACQUIRE)
                                   : ab_clock_now_ns();
}

/* ---- the allocator's own threads ---- */

static bool is_lane(const struct ab_memory_time *t, uint64_t thread)
{
    uint32_t i = 0;
    while (i < t->n_lanes && (uint64_t)t->lanes[i] != thread)
        i++;
    return i < t->n_lanes || thread == (uint64_t)getpid();
}

/* "7 (name) S …": the name may hold anything, a state is one letter. */
static bool is_asleep(int tasks_fd, const char *thread)
{
    char path[32], text[64];
    size_t length = strlen(thread) < 16 ? strlen(thread) : 16;
    memcpy(path, thread, length);
    memcpy(path + length, "/stat", 6);
    int fd = (int)syscall(SYS_openat, tasks_fd, path, O_RDONLY | O_CLOEXEC, 0);
    ssize_t n = fd < 0 ? 0 : pread(fd, text, sizeof text - 1, 0);
    if (fd >= 0)
        close(fd);
    while (n > 0 && text[n - 1] != ')')
        n--;
    return n <= 0 || text[n + 1] == 'S'; /* one that cannot be read has ended */
}

/* In one look at them; how many there are to *n. */
static bool are_asleep(struct ab_memory_pass *m, uint32_t *n)
{
    struct ab_memory_time *t = &m->time;
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
        }
    }
    return all;
}

/* One that was asleep may have been woken by another before that fell asleep: so twice. */
static bool have_settled(struct ab_memory_pass *m)
{
    const struct ab_memory_time *t = &m->time;
    uint32_t n;
    if (!are_asleep(m, &n))
        return false;
    if (n == 0)
        return true;
    return __atomic_load_n(&t->clock->n_short, __ATOMIC_ACQUIRE) == 0 && t->clock->wake() == 0 &&
           are_asleep(m, &n);
}

/* What they have to do at this time is done. */
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

/* The library is told to give memory back at each period, also while nothing else calls it. */
static void purge_if_due(struct ab_memory_pass *m)
{
    struct ab_memory_time *t = &m->time;
    if (t->purge_ns == 0 || t->now_ns < t->next_purge_ns)
        return;
    ab_introspect_purge(&m->introspect);
    t->next_purge_ns += t->purge_ns;
}

/* As far as the next row that is due, the end, or (idle) the next second. True: there is a row. */
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
    const bool is_told = t->n_idle++ < m->report->cap_idle;
    uint32_t k = is_told ? 0 : AB_ARRAY_LEN(after);
    if (is_told)
        add_row(m, AB_ROW_IDLE_BEGIN);
    while (t->now_ns < end_ns) {
        uint64_t mark = k < AB_ARRAY_LEN(after) ? begin_ns + after[k] * SECOND_NS : UINT64_MAX;
        bool is_due = walk(m, earlier(end_ns, mark));
        bool is_marked = t->now_ns == mark && t->now_ns < end_ns;
        k += t->now_ns == mark;
        if (is_marked || (is_due && (t->now_ns < end_ns || !is_told)))
            add_row(m, is_marked ? AB_ROW_IDLE : 0);
    }
    if (is_told)
        add_row(m, AB_ROW_IDLE_END);
}

/* ---- whose time it was ---- */

/* Does a tick counter's reading begin here? As compilers write it, with what joins its two halves a
 * few bytes behind: two bytes alone may be anything. */
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

/* The C library's own malloc, and what is compiled into the worker, read none. */
static bool reads_ticks(const struct ab_memory_pass *m)
{
    struct tick_search search = {.function = (uintptr_t)m->time.function};
    if (m->time.function != NULL && !m->introspect.is_libc)
        dl_iterate_phdr(search_ticks, &search);
    return search.is_found;
}

static void say_real(struct ab_memory_report *r, const char *why)
{
    r->clock = AB_CLOCK_REAL;
    strncpy(r->clock_reason, why, sizeof r->clock_reason - 1);
}

static void tell_clock(struct ab_memory_pass *m)
{
    const struct ab_memory_time *t = &m->time;
    struct ab_memory_report *r = m->report;
    if (t->clock == NULL)
        say_real(r, "--pace");
    else if (t->is_unsettled)
        say_real(r, "a thread that it started was not asleep after 1 s");
    else if (__atomic_load_n(&t->clock->is_used, __ATOMIC_ACQUIRE) != 0)
        r->clock = AB_CLOCK_VIRTUAL;
    else if (reads_ticks(m))
        say_real(r, "it reads the processor's tick counter");
    else
        r->clock = AB_CLOCK_NONE;
}

/* ---- what passes before an op ---- */

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
