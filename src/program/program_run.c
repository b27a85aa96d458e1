/* SPDX-License-Identifier: MIT
 *
 * Runs a program and watches it: every 10 ms, and when one of its processes is about to end. The
 * result is either a set of numbers with a proof of the allocator, or a reason why there are
 * none.
 */
#include "base/bits.h"
#include "base/clock.h"
#include "core/alloc.h"
#include "core/status.h"
#include "core/system_file.h"
#include "core/text.h"
#include "core/units_show.h"
#include "inside/inside.h"
#include "program/processes.h"
#include "program/program.h"
#include "program/server.h"
#include "program/unasked.h"
#include "runner/supervise.h"

#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <xxhash.h>

enum { LOOK_NS = 10000000, LOOK_MS = 10 };
enum { FD_EXITS, FD_STDOUT, FD_STDERR, FD_BESIDE, N_FDS = FD_BESIDE + AB_SERVER_FDS };
_Static_assert(N_FDS <= (int)AB_WATCH_FDS_MAX, "all are watched");
/* after this time, most programs have read the input that they read at their start */
#define FIRST_WAIT_NS UINT64_C(5000000000)
#define WAIT_NS UINT64_C(5000000000)
/* a program that uses less than this share of a CPU waits; an idle server's timers use less */
#define WAIT_SHARE 0.02
/* Longest time that a dynamic linker takes to load the libraries; under callgrind it takes
 * longer. */
#define START_NS UINT64_C(200000000)
#define START_COUNTED_NS (100 * START_NS)

struct closed {    /* a library that processes of the program close */
    uint64_t name; /* hashed */
    uint32_t n;    /* number of times that a process was about to close it */
};

struct watched {
    const struct ab_program_case *c;
    struct ab_proof_cache *cache;
    struct ab_program_output out, errors;
    struct ab_processes processes;
    struct pollfd fds[N_FDS];
    struct ab_program_started started;
    /* time that processes waited for us: at their end, or before they close a library */
    uint64_t held_ns;
    uint64_t held_beside_ns; /* part of held_ns during which other processes of the program ran */
    /* open schedstat file of this thread, from which its time without a CPU is read; -1 = not
     * open */
    int schedstat;
    uint64_t slept_ns;   /* when this thread last went to sleep */
    double own_delay_ns; /* time without a CPU of this thread until slept_ns */
    double ended_cpu_ns; /* CPU time of processes that have ended by themselves */
    double own_peak_bytes;
    struct ab_run_delays run_delays; /* delays of processes that have ended by themselves */
    bool is_end_seen;                /* True if the end of the first process was seen */
    struct ab_memory_curve curve;
    /* run of a server; server.asked NULL = the program ends by itself */
    struct ab_server_run server;
    uint64_t rest_ns;
    const struct ab_program *waiting; /* program whose `waits` may still be called; NULL = none */
    /* wait_ns: when it was last checked whether the program waits; wait_busy_ns: its busy time
     * then */
    uint64_t wait_ns;
    double wait_busy_ns;
    double loaded_bytes, rested_bytes, mean_bytes; /* servers only; NaN = unknown */
    bool is_root_proven, is_trial;
    char passes[AB_PASSES_BYTES];
    struct closed *closed; /* libraries that were closed in a trial run */
    size_t n_closed, cap_closed;
    /* sentence about the first process that another allocator serves; "" = none */
    char doubt[1024];
};

/* Reads a value such as "VmHWM:  1234 kB". */
static uint64_t status_value(const char *text, const char *key)
{
    const char *line = strstr(text, key);
    return line == NULL ? 0 : strtoull(line + strlen(key), NULL, 10);
}

static void doubt(struct watched *w, const char *why)
{
    if (w->doubt[0] == 0)
        AB_COPY(w->doubt, why);
}

static void look_at_memory(struct watched *w, uint64_t now)
{
    ab_processes_update(&w->processes, now);
    ab_guardian_list(&w->processes);
    bool is_there = w->processes.bytes > 0; /* ended processes have no resident memory */
    if (is_there && now > w->started.begin_ns)
        ab_memory_curve_add(&w->curve, now - w->started.begin_ns, w->processes.bytes);
}

/* Returns the CPU time of a process and of the children that it has waited for. */
static double cpu_ns_of(pid_t pid)
{
    struct ab_process_stat stat;
    struct timespec own = {0, 0};
    clockid_t clock;
    if (clock_getcpuclockid(pid, &clock) == 0)
        clock_gettime(clock, &own);
    if (!ab_process_stat_of(pid, &stat))
        return 0;
    return (double)own.tv_sec * 1e9 + (double)own.tv_nsec +
           (double)stat.children_ticks * 1e9 / (double)sysconf(_SC_CLK_TCK);
}

static void keep_maps(const char *folder, pid_t pid)
{
    char path[PATH_MAX], buf[1 << 16];
    AB_FIT(path, "/proc/%d/maps", (int)pid);
    int from = open(path, O_RDONLY | O_CLOEXEC);
    AB_FIT(path, "%s/maps.%d", folder, (int)pid);
    int to = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    ssize_t n = 0;
    while (from >= 0 && to >= 0 && (n = read(from, buf, sizeof buf)) > 0)
        if (write(to, buf, (size_t)n) != n)
            break;
    if (from >= 0)
        close(from);
    if (to >= 0)
        close(to);
}

static void look_for_passes(struct watched *w, pid_t pid)
{
    if (w->is_trial && w->c->unasked == NULL)
        ab_proof_passes(w->cache, pid, &w->c->wanted, w->passes);
}

/* Looks for libraries that bypass the allocator while the process runs. It may close such a
 * library, or end unseen. Looks at its samples 1, 2, 4, 8 …, because such a look is expensive. */
static void look_now_and_then(struct watched *w, struct ab_process *p)
{
    p->n_looks++;
    if ((p->n_looks & (p->n_looks - 1)) == 0)
        look_for_passes(w, p->pid);
}

/* Reads the name of a library that a process closes from its memory. The handle that dlclose
 * receives is the address of the library's link_map. Writes "" if the memory cannot be read. */
static void read_library_name(pid_t thread, uint64_t handle, char name[PATH_MAX])
{
    char path[64];
    uint64_t at;
    AB_FIT(path, "/proc/%d/mem", (int)thread);
    int memory = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = 0;
    if (memory >= 0 && pread(memory, &at, sizeof at,
                             (off_t)(handle + offsetof(struct link_map, l_name))) == sizeof at)
        n = pread(memory, name, PATH_MAX - 1, (off_t)at);
    name[n > 0 ? n : 0] = 0;
    if (memory >= 0)
        close(memory);
}

/* Handles a process that is about to close a library: looks for libraries that bypass the
 * allocator. Does so at the 1st, 2nd, 4th, 8th … close of each library, because the library may
 * have made more calls since. Returns the thread that closes it. */
static pid_t look_at_close(struct watched *w, const struct ab_notice *notice)
{
    char text[PATH_MAX];
    read_library_name(notice->thread, notice->first, text);
    uint64_t name = XXH3_64bits(text, strlen(text));
    size_t i = 0;
    while (i < w->n_closed && w->closed[i].name != name)
        i++;
    if (i == w->n_closed) {
        AB_GROW(w->closed, w->cap_closed, w->n_closed);
        w->closed[w->n_closed++] = (struct closed){.name = name};
    }
    uint32_t n = ++w->closed[i].n;
    if ((n & (n - 1)) == 0)
        look_for_passes(w, notice->thread);
    return notice->thread;
}

/* Handles a process that is about to end: reads its peak memory and its times, and proves its
 * allocator. All its mappings still exist. Returns its process id. */
static pid_t look_at_end(struct watched *w, pid_t thread)
{
    char path[64], text[4096], why[700];
    AB_FIT(path, "/proc/%d/status", (int)thread);
    ab_system_file_read(path, text, sizeof text);
    pid_t pid = (pid_t)status_value(text, "\nTgid:");
    w->own_peak_bytes = fmax(w->own_peak_bytes, (double)status_value(text, "\nVmHWM:") * 1024);
    if (ab_run_delays_add(&w->run_delays, pid))
        w->ended_cpu_ns += cpu_ns_of(pid);
    if (w->c->maps_folder != NULL)
        keep_maps(w->c->maps_folder, pid);
    if (w->c->unasked != NULL)
        ab_unasked_look(w->c->unasked, pid, true);
    w->is_end_seen = w->is_end_seen || pid == w->started.pid;
    enum ab_proof_answer proof = ab_proof_check(w->cache, thread, &w->c->wanted, why, sizeof why);
    struct ab_process *p = ab_processes_find(&w->processes, pid);
    if (proof == AB_PROOF_NO)
        doubt(w, why);
    if (proof == AB_PROOF_YES && pid == w->started.pid)
        w->is_root_proven = true;
    if (proof == AB_PROOF_YES && p != NULL)
        p->is_proven = true;
    look_for_passes(w, pid);
    return pid;
}

/* Returns the ns that a thread has waited for a CPU, from its open schedstat; 0 if the system
 * does not say. */
static double thread_delay_ns(int schedstat)
{
    char text[128] = "";
    unsigned long long cpu_ns, delay_ns = 0;
    if (schedstat < 0 || pread(schedstat, text, sizeof text - 1, 0) <= 0 ||
        sscanf(text, "%llu %llu", &cpu_ns, &delay_ns) != 2)
        return 0;
    return (double)delay_ns;
}

/* Returns the ns that this thread waited for a CPU after a process at its end woke it. Returns 0 if
 * something else (output, the end of our sleep) may have woken it first, because the wait is then
 * not known. */
static double late_ns(const struct watched *w, uint64_t now)
{
    for (unsigned i = 0; i < N_FDS; i++)
        if (i != FD_EXITS && w->fds[i].revents != 0)
            return 0;
    return now - w->slept_ns < LOOK_NS ? thread_delay_ns(w->schedstat) - w->own_delay_ns : 0;
}

static void answer_notice(struct watched *w)
{
    struct ab_notice notice;
    const uint64_t begun = ab_clock_now_ns() - (uint64_t)fmax(late_ns(w, ab_clock_now_ns()), 0);
    if (!ab_notice_next(w->started.listener, &notice))
        return;
    const bool is_end = notice.call == SYS_exit_group;
    const pid_t pid = is_end ? look_at_end(w, notice.thread) : look_at_close(w, &notice);
    const bool is_alone = pid == w->started.pid ||
                          ab_processes_wait_for(&w->processes, pid, w->started.pid);
    if (is_end && notice.thread == w->started.pid)
        look_at_memory(w, ab_clock_now_ns());
    ab_notice_go_on(w->started.listener, &notice);
    const uint64_t held_ns = ab_clock_now_ns() - begun;
    w->held_ns += held_ns;
    w->held_beside_ns += is_alone ? 0 : held_ns;
}

/* Checks the running processes, because a signal may end them without a look at their end. A
 * process that has just started has loaded nothing yet, so that doubts count only after a while. */
static void look_at_processes(struct watched *w, uint64_t now)
{
    char why[700];
    uint64_t start_ns = w->c->maps_folder != NULL ? START_COUNTED_NS : START_NS;
    for (size_t i = 0; i < w->processes.n; i++) {
        struct ab_process *p = &w->processes.items[i];
        look_now_and_then(w, p);
        if (w->c->unasked != NULL)
            ab_unasked_look(w->c->unasked, p->pid, false);
        if (p->is_proven)
            continue;
        enum ab_proof_answer proof = ab_proof_check(w->cache, p->pid, &w->c->wanted, why,
                                                    sizeof why);
        p->is_proven = proof == AB_PROOF_YES;
        if (p->is_proven && p->pid == w->started.pid)
            w->is_root_proven = true;
        if (proof == AB_PROOF_NO && now - p->first_ns > start_ns)
            doubt(w, why);
    }
}

/* Does what look_at_end does for a server that is about to be sent its end signal. Proves each
 * process again, because it may have called exec since the last proof. */
static void look_before_end(struct watched *w, uint64_t now)
{
    char path[64], text[4096], why[700];
    for (size_t i = 0; i < w->processes.n; i++) {
        struct ab_process *p = &w->processes.items[i];
        bool is_root = p->pid == w->started.pid;
        AB_FIT(path, "/proc/%d/status", (int)p->pid);
        ab_system_file_read(path, text, sizeof text);
        w->own_peak_bytes = fmax(w->own_peak_bytes, (double)status_value(text, "\nVmHWM:") * 1024);
        ab_run_delays_add(&w->run_delays, p->pid);
        w->is_end_seen = w->is_end_seen || is_root;
        p->is_proven = ab_proof_check(w->cache, p->pid, &w->c->wanted, why, sizeof why) ==
                       AB_PROOF_YES;
        look_for_passes(w, p->pid);
        if (is_root)
            w->is_root_proven = p->is_proven;
        if (!p->is_proven && (is_root || now - p->first_ns > START_NS))
            doubt(w, why);
    }
}

/* Restarts the mean of the resident memory at the last sample. */
static void begin_mean(struct ab_processes *t)
{
    t->first_ns = t->last_ns;
    t->byte_ns = 0;
    t->n_looks = t->n_looks > 0;
}

static void attend_server(struct watched *w)
{
    enum ab_server_event event = ab_server_step(&w->server, w->rest_ns, &w->fds[FD_BESIDE]);
    w->processes.others = w->server.beside;
    if (event == AB_SERVER_NOTHING)
        return;
    look_at_memory(w, ab_clock_now_ns());
    if (event == AB_SERVER_ANSWERS)
        begin_mean(&w->processes);
    else if (event == AB_SERVER_LOAD_IS_DONE)
        w->loaded_bytes = w->processes.bytes;
    if (event != AB_SERVER_IS_DONE)
        return;
    w->rested_bytes = w->rest_ns > 0 ? w->processes.bytes : (double)NAN;
    w->mean_bytes = ab_processes_mean_bytes(&w->processes, w->processes.last_ns);
    look_before_end(w, w->processes.last_ns);
    ab_server_end(&w->server);
}

/* Returns the time that all processes, living and ended, had a CPU or could have used one. The sum
 * never falls. */
static double busy_ns_of_all(const struct watched *w)
{
    double ns = w->ended_cpu_ns + (isfinite(w->run_delays.ns) ? w->run_delays.ns : 0);
    for (size_t i = 0; i < w->processes.n; i++) {
        double delay_ns = ab_run_delay_ns(w->processes.items[i].pid);
        ns += cpu_ns_of(w->processes.items[i].pid) + (isfinite(delay_ns) ? delay_ns : 0);
    }
    return ns;
}

/* Calls `waits` if the program seems to wait for something, as a server does that was started
 * without --server. A program does not wait if it computes, waits for a CPU, or is held by us. */
static void look_for_waits(struct watched *w, uint64_t now)
{
    const uint64_t own_ns = now - w->held_ns;
    if (w->waiting == NULL || own_ns - w->started.begin_ns < FIRST_WAIT_NS ||
        own_ns - w->wait_ns < WAIT_NS)
        return;
    double busy_ns = busy_ns_of_all(w), begun_ns = (double)w->wait_ns;
    bool is_waiting = w->wait_ns > 0 &&
                      busy_ns - w->wait_busy_ns < WAIT_SHARE * ((double)own_ns - begun_ns);
    w->wait_ns = own_ns;
    w->wait_busy_ns = busy_ns;
    if (!is_waiting)
        return;
    w->waiting->waits(w->waiting->user);
    w->waiting = NULL;
}

static void look(struct watched *w)
{
    if ((w->fds[FD_EXITS].revents & POLLIN) != 0)
        answer_notice(w);
    if (w->fds[FD_STDOUT].revents != 0)
        ab_program_output_take(&w->out);
    if (w->fds[FD_STDERR].revents != 0)
        ab_program_output_take(&w->errors);
    w->fds[FD_STDOUT].fd = w->out.read_fd;
    w->fds[FD_STDERR].fd = w->errors.read_fd;
    if (w->server.asked != NULL)
        attend_server(w);
    uint64_t now = ab_clock_now_ns();
    if (w->processes.n_looks > 0 && now - w->processes.last_ns < LOOK_NS)
        return;
    look_at_memory(w, now);
    look_at_processes(w, now);
    look_for_waits(w, now);
}

static void check_program(void *user)
{
    struct watched *w = user;
    look(w);
    w->slept_ns = ab_clock_now_ns();
    w->own_delay_ns = thread_delay_ns(w->schedstat);
}

/* ---- judging the outcome ---- */

static void set_status(struct ab_program_outcome *o, enum ab_backend_status status, const char *why,
                       const struct watched *w)
{
    char says[AB_OUTPUT_TAIL * 4];
    o->status = status;
    ab_program_output_says(&w->errors, says, sizeof says);
    AB_FIT(o->reason, "%s%s%s", why,
           says[0] == 0              ? ""
           : w->server.asked != NULL ? "; the last words of the server: "
                                     : "; its last words: ",
           says);
}

static void judge(const struct watched *w, const struct ab_ending *e, const struct ab_program *p,
                  struct ab_program_outcome *o)
{
    char why[800] = "";
    int status = e->wait_status;
    enum ab_backend_status of_server = w->server.asked != NULL
                                           ? ab_server_judge(&w->server, status, why, sizeof why)
                                           : AB_BACKEND_OK;
    if (e->end == AB_END_DEADLINE) {
        AB_FIT(why, "ran longer than --timeout %s and was stopped%s",
               AB_TIME((double)p->timeout_ns), e->ignored_term ? "; it ignored SIGTERM" : "");
        set_status(o, AB_BACKEND_TIMEOUT, why, w);
    } else if (of_server != AB_BACKEND_OK) {
        set_status(o, e->oom_killed ? AB_BACKEND_OOM : of_server, why, w);
    } else if (w->server.asked == NULL && WIFSIGNALED(status)) {
        AB_FIT(why, "the program was ended by signal %d (%s)", WTERMSIG(status),
               strsignal(WTERMSIG(status)));
        set_status(o, e->oom_killed ? AB_BACKEND_OOM : AB_BACKEND_CRASHED, why, w);
    } else if (w->server.asked == NULL && WEXITSTATUS(status) != 0) {
        AB_FIT(why, "the program failed: exit status %d", WEXITSTATUS(status));
        set_status(o, AB_BACKEND_FAILED_CHECK, why, w);
    } else if (w->doubt[0] != 0) {
        o->status = AB_BACKEND_WRONG_LIBRARY;
        AB_COPY(o->reason, w->doubt);
    } else if (!w->is_root_proven) {
        o->status = AB_BACKEND_WRONG_LIBRARY;
        AB_FIT(o->reason,
               "not proven: the program ended before it could be seen which allocator it had "
               "loaded%s",
               w->started.listener < 0 ? " (this system does not let us stop it at its end)" : "");
    }
}

static double seconds_ns(struct timeval t)
{
    return (double)t.tv_sec * 1e9 + (double)t.tv_usec * 1e3;
}

/* Sets the usage of the program: `to` minus `from`, which are the usages of all children that were
 * waited for. */
static void subtract_usage(const struct rusage *from, const struct rusage *to,
                           struct ab_program_outcome *o)
{
    o->user_ns = seconds_ns(to->ru_utime) - seconds_ns(from->ru_utime);
    o->system_ns = seconds_ns(to->ru_stime) - seconds_ns(from->ru_stime);
    o->faults_minor = (uint64_t)(to->ru_minflt - from->ru_minflt);
    o->faults_major = (uint64_t)(to->ru_majflt - from->ru_majflt);
    o->switches_voluntary = (uint64_t)(to->ru_nvcsw - from->ru_nvcsw);
    o->switches_involuntary = (uint64_t)(to->ru_nivcsw - from->ru_nivcsw);
}

/* Returns the peak memory of the program. ru_maxrss includes the child before its exec, when it was
 * a copy of us, so ru_maxrss counts only if it is above our own peak. */
static double peak_of(const struct watched *w, const struct ab_ending *e)
{
    char text[4096];
    ab_system_file_read("/proc/self/status", text, sizeof text);
    double peak = fmax(w->own_peak_bytes, w->processes.peak_bytes);
    if (e->maxrss_bytes > status_value(text, "\nVmHWM:") * 1024)
        peak = fmax(peak, (double)e->maxrss_bytes);
    return w->processes.is_blind || !(peak > 0) ? (double)NAN : peak;
}

/* Replaces numbers of the program by those of a server: wall_ns is the time of the load, and CPU
 * times are those of the server without the load. */
static void take_server(const struct watched *w, const struct ab_ending *e,
                        struct ab_program_outcome *o)
{
    const struct ab_server_run *run = &w->server;
    const struct rusage none = {.ru_minflt = 0};
    subtract_usage(&none, &e->usage, o);
    o->wall_ns = run->load_ns;
    o->proof_ns = o->proof_beside_ns = NAN;
    o->ready_ns = run->ready_ns;
    o->loaded_bytes = w->loaded_bytes;
    o->rested_bytes = w->rested_bytes;
    o->resident_mean_bytes = w->mean_bytes;
    memcpy(o->named, run->values, sizeof o->named);
    if (run->is_beside_running) /* the processes left over belong to the load */
        o->n_left = 0;
}

static enum ab_status supervise(struct watched *w, const struct ab_program *program,
                                const struct rusage *before, struct ab_program_outcome *o,
                                struct ab_err *err)
{
    struct rusage after;
    struct ab_watch watch = {w->fds, N_FDS, LOOK_MS, &w->held_ns, check_program, w};
    uint64_t deadline = program->timeout_ns == 0 ? UINT64_MAX
                                                 : w->started.begin_ns + program->timeout_ns;
    w->fds[FD_EXITS] = (struct pollfd){.fd = w->started.listener, .events = POLLIN};
    w->fds[FD_STDOUT] = (struct pollfd){.fd = w->out.read_fd, .events = POLLIN};
    w->fds[FD_STDERR] = (struct pollfd){.fd = w->errors.read_fd, .events = POLLIN};
    for (unsigned i = FD_BESIDE; i < N_FDS; i++)
        w->fds[i].fd = -1;
    if (program->is_trial && program->server == NULL && program->waits != NULL)
        w->waiting = program;
    ab_server_started(&w->server, w->started.pid, w->started.begin_ns);
    check_program(w);
    struct ab_ending e = ab_supervise_watched(w->started.pid, deadline, &watch);
    ab_guardian_forget(w->started.pid);
    ab_guardian_list(NULL);
    getrusage(RUSAGE_CHILDREN, &after);
    o->output = ab_program_output_finish(&w->out);
    ab_program_output_finish(&w->errors);
    if (e.end == AB_END_INTERRUPTED)
        return ab_fail(err, AB_INTERRUPTED, "interrupted");
    o->n_left = e.n_left;
    memcpy(o->passes, w->passes, sizeof o->passes);
    o->proof_beside_ns = (double)w->held_beside_ns;
    o->proof_ns = (double)(w->held_ns - w->held_beside_ns);
    o->wall_ns = (double)(e.gone_ns - w->started.begin_ns) - o->proof_ns;
    subtract_usage(before, &after, o);
    o->run_delay_ns = w->is_end_seen ? w->run_delays.ns : (double)NAN;
    o->resident_mean_bytes = ab_processes_mean_bytes(&w->processes, w->processes.last_ns);
    o->resident_peak_bytes = peak_of(w, &e);
    if (!w->processes.is_blind)
        o->curve = w->curve;
    if (w->server.asked != NULL)
        take_server(w, &e, o);
    judge(w, &e, program, o);
    return AB_OK;
}

static enum ab_status open_stdin(const struct ab_program *p, int *fd, struct ab_err *err)
{
    const char *path = p->stdin_path != NULL ? p->stdin_path : "/dev/null";
    *fd = open(path, O_RDONLY | O_CLOEXEC);
    return *fd >= 0 ? AB_OK : ab_fail_errno(err, AB_INPUT, "cannot read %s", AB_SHOWN(512, path));
}

/* Finds the library that notifies us, in a trial, when a library is about to be closed. Returns
 * NULL if no allocator is preloaded that another library could bypass, or if the library cannot be
 * used. */
static const char *find_closes(const struct watched *w, char path[PATH_MAX])
{
    return w->is_trial && w->c->unasked == NULL && ab_proof_has_preload(&w->c->wanted) &&
                   ab_companion_path(AB_CLOSES_NAME, path, PATH_MAX, NULL) == AB_OK &&
                   !ab_spawn_needs_alias(path)
               ? path
               : NULL;
}

/* Builds the environment. Preloads the interposer, the library that makes the aged heap, the
 * allocator and `closes`, in this order. Adds the variables that tell these libraries where their
 * memory is, and the settings. */
static char **environment_of(const struct ab_program_case *c, const char *closes)
{
    const struct ab_proof_wanted *w = &c->wanted;
    const char *const preloaded[] = {w->in_front != NULL ? w->in_front->path : NULL,
                                     c->aging_memory != NULL ? c->aging_library : NULL,
                                     w->is_own ? NULL : w->path, w->is_own ? NULL : w->after,
                                     closes};
    const char *const memories[] = {c->inside_memory, c->aging_memory,
                                    c->unasked != NULL ? c->unasked->path : NULL};
    const char *settings[64] = {NULL};
    struct ab_text preload = {0};
    size_t n = 0;
    for (size_t i = 0; i < AB_ARRAY_LEN(preloaded); i++)
        if (preloaded[i] != NULL)
            ab_text_addf(&preload, "%s%s", preload.n > 0 ? ":" : "", preloaded[i]);
    for (size_t i = 0; i < AB_ARRAY_LEN(memories); i++)
        if (memories[i] != NULL)
            settings[n++] = memories[i];
    for (size_t i = 0; c->env != NULL && c->env[i] != NULL && n + 1 < AB_ARRAY_LEN(settings); i++)
        settings[n++] = c->env[i];
    char **envp = ab_environment_build(preload.s, settings);
    ab_text_fini(&preload);
    return envp;
}

static enum ab_status start(struct watched *w, const struct ab_program *program, int stdin_fd,
                            struct ab_err *err)
{
    char closes[PATH_MAX];
    char **envp = environment_of(w->c, find_closes(w, closes));
    struct ab_program_start s = {.path = program->path,
                                 .argv = program->argv,
                                 .envp = envp,
                                 .stdin_fd = stdin_fd,
                                 .stdout_fd = w->out.write_fd,
                                 .stderr_fd = w->errors.write_fd,
                                 .is_watched = true,
                                 .shows_closes = w->is_trial};
    enum ab_status status = ab_program_start(&s, &w->started, err);
    ab_environment_free(envp);
    ab_program_output_started(&w->out);
    ab_program_output_started(&w->errors);
    return status;
}

enum ab_status ab_program_run(const struct ab_program *program, const struct ab_program_case *c,
                              struct ab_proof_cache *cache, struct ab_program_outcome *out,
                              struct ab_err *err)
{
    struct ab_program_outcome o = {
        .status = AB_BACKEND_OK, .ready_ns = NAN, .loaded_bytes = NAN, .rested_bytes = NAN};
    struct watched w = {.c = c,
                        .cache = cache,
                        .is_trial = program->is_trial,
                        .started.listener = -1,
                        .schedstat = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC),
                        .loaded_bytes = NAN,
                        .rested_bytes = NAN,
                        .mean_bytes = NAN};
    struct rusage before;
    int stdin_fd = -1;
    w.out.read_fd = w.out.write_fd = w.errors.read_fd = w.errors.write_fd = -1;
    enum ab_status status = open_stdin(program, &stdin_fd, err);
    if (status == AB_OK)
        status = ab_program_output_open(&w.out, true, err);
    if (status == AB_OK)
        status = ab_program_output_open(&w.errors, false, err);
    if (status == AB_OK && program->server != NULL) {
        w.rest_ns = program->is_trial ? 0 : program->server->rest_ns;
        status = ab_server_begin(program->server, &w.server, err);
    }
    getrusage(RUSAGE_CHILDREN, &before);
    if (status == AB_OK && (status = start(&w, program, stdin_fd, err)) == AB_OK)
        status = supervise(&w, program, &before, &o, err);
    if (w.started.listener >= 0)
        close(w.started.listener);
    if (w.schedstat >= 0)
        close(w.schedstat);
    if (stdin_fd >= 0)
        close(stdin_fd);
    ab_program_output_fini(&w.out);
    ab_program_output_fini(&w.errors);
    free(w.processes.items);
    free(w.run_delays.ends);
    free(w.closed);
    ab_server_run_fini(&w.server);
    if (status == AB_OK)
        *out = o;
    return status;
}
