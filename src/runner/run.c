/* SPDX-License-Identifier: MIT
 *
 * Runs one case: lays out the shared memory, writes the request, starts the worker, waits for its
 * end, and has it classified.
 */
#include "runner/run.h"

#include "base/bits.h"
#include "core/alloc.h"
#include "core/unfinished.h"
#include "runner/classify.h"
#include "runner/estimate.h"
#include "runner/quiet.h"
#include "runner/sampling.h"
#include "runner/supervise.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { CAPTURE_BYTES = 65536 };

/* Layout of the memfd that this process shares with the worker of a run. */
struct layout {
    /* offsets; 0 = none */
    size_t positions, ticks, classes, memory, rows, pins, slices, iterations, total;
    size_t cap_samples, cap_slices;
    uint32_t cap_memory_samples, cap_rows, cap_idle;
};

/* Returns the capacity for samples of the memory pass: at most four times AB_MEMORY_SAMPLES_LEAST
 * for each measured phase, or one for each of its ops if that is less, and two more. */
static uint32_t count_memory_samples(const struct ab_tape_map *tape)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < tape->image->n_phases; i++) {
        const struct ab_phase *phase = &tape->phases[i];
        uint32_t n_ops = phase->end - phase->begin, most = 4 * AB_MEMORY_SAMPLES_LEAST;
        n += phase->is_measured ? (n_ops < most ? n_ops : most) + 2 : 0;
    }
    return n;
}

/* Limits on the number of rows that the memory pass writes for work with times: equally spaced
 * rows, and rows of idle stretches. */
enum { ROWS_LEAST = 300, ROWS_MOST = 20000, IDLE_MOST = 8000 };
#define SECOND_NS UINT64_C(1000000000)

/* Returns the time between two equally spaced rows: a second or a fraction of it, or several
 * seconds if there would be too many rows. */
static uint64_t space_rows(uint64_t duration_ns)
{
    static const uint64_t ms[] = {1, 2, 5, 10, 20, 50, 100, 200, 500};
    size_t i = 0;
    if (duration_ns / SECOND_NS >= ROWS_MOST)
        return (duration_ns / SECOND_NS / ROWS_MOST + 1) * SECOND_NS;
    while (i < AB_ARRAY_LEN(ms) && ms[i] * ROWS_LEAST * (SECOND_NS / 1000) < duration_ns)
        i++;
    return i < AB_ARRAY_LEN(ms) ? ms[i] * (SECOND_NS / 1000) : SECOND_NS;
}

static void plan_rows(const struct ab_tape_map *tape, struct layout *l)
{
    const struct ab_tape_image *image = tape->image;
    const struct ab_time_step *steps = ab_tape_steps(image);
    if (image->n_steps == 0)
        return;
    for (uint32_t i = 0; i < image->n_steps && l->cap_idle < IDLE_MOST; i++)
        l->cap_idle += (steps[i].flags & AB_STEP_IDLE) != 0;
    l->cap_rows = (uint32_t)(image->duration_ns / space_rows(image->duration_ns)) +
                  l->cap_idle * AB_MEMORY_IDLE_ROWS + image->n_phases + 1;
    l->rows = ab_align_up(l->total, 64);
    l->total = l->rows + l->cap_rows * sizeof(struct ab_memory_row);
}

static bool has_renewals(const struct ab_tape_map *tape)
{
    uint32_t p = 0;
    while (p < tape->image->n_phases && tape->phases[p].renew == 0)
        p++;
    return p < tape->image->n_phases;
}

/* True if the run is divided into slices. Slices need a single lane, because reading the canary in
 * one lane would delay the others. */
static bool is_sliced(const struct ab_run_context *context, const struct ab_case *c,
                      enum ab_pass pass)
{
    return (pass == AB_PASS_THROUGHPUT || pass == AB_PASS_LATENCY) &&
           c->decorator == AB_DECORATOR_NONE && context->quiet != NULL &&
           context->tape->image->n_lanes == 1 && !context->is_strict &&
           context->tape->image->n_thread_ends == 0;
}

static uint32_t slice_ops(const struct ab_run_context *context)
{
    uint32_t least = context->tape->image->n_ops / AB_SLICES_MAX + 1;
    uint32_t ops = context->slice_ops != 0 ? context->slice_ops : AB_SLICE_OPS;
    return ops > least ? ops : least;
}

static struct layout plan_layout(const struct ab_run_context *context, const struct ab_case *c,
                                 enum ab_pass pass)
{
    struct layout l = {.cap_samples = pass == AB_PASS_LATENCY ? ab_sampling_capacity(context->tape)
                                                              : 0};
    l.positions = (sizeof(struct ab_run_page) + 63) & ~(size_t)63;
    l.ticks = l.positions + l.cap_samples * sizeof(uint32_t);
    l.classes = l.ticks + l.cap_samples * sizeof(uint32_t);
    l.total = l.classes + l.cap_samples;
    if (pass == AB_PASS_MEMORY) {
        l.memory = ab_align_up(l.total, 64);
        l.cap_memory_samples = count_memory_samples(context->tape);
        l.total = l.memory + sizeof(struct ab_memory_report) +
                  l.cap_memory_samples * sizeof(struct ab_memory_sample);
        plan_rows(context->tape, &l);
        if (context->owners != NULL && c->aging.occupancy <= 0) {
            l.pins = ab_align_up(l.total, 64);
            l.total = l.pins + sizeof(struct ab_pins_report);
        }
    }
    if (is_sliced(context, c, pass)) {
        l.cap_slices = context->tape->image->n_ops / slice_ops(context) +
                       (size_t)context->tape->image->n_bursts * context->tape->image->n_phases;
        l.slices = ab_align_up(l.total, 64);
        l.total = l.slices + l.cap_slices * sizeof(struct ab_slice);
    }
    if (pass == AB_PASS_TAIL && context->tape->image->n_iterations > 0) {
        l.iterations = ab_align_up(l.total, 64);
        l.total = l.iterations + context->tape->image->n_iterations * sizeof(struct ab_iteration);
    }
    return l;
}

/* Time of a call above which the worker asks the kernel whether the scheduler interrupted it.
 * Switching to another program and back takes longer than this. Compared with calls this long,
 * asking the kernel is cheap. */
#define LOOK_NS 5e3

static void fill_request(const struct ab_run_context *context, const struct ab_case *c,
                         enum ab_pass pass, struct ab_run_request *r)
{
    double ticks_per_ns = 1 / context->clock.ns_per_tick;
    r->pass = pass;
    r->boundary = c->boundary;
    r->source = c->source;
    r->is_strict = context->is_strict || pass == AB_PASS_MEMORY;
    r->n_cpus = context->n_cpus < AB_LANES_MAX ? context->n_cpus : AB_LANES_MAX;
    for (uint32_t i = 0; i < r->n_cpus; i++)
        r->cpus[i] = context->cpus[i];
    r->want_dev = c->dev;
    r->want_ino = c->ino;
    if (c->builtin != NULL)
        strncpy(r->builtin, c->builtin, sizeof r->builtin - 1);
    if (c->path != NULL)
        strncpy(r->path, c->path, sizeof r->path - 1);
    if (c->prefix != NULL)
        strncpy(r->prefix, c->prefix, sizeof r->prefix - 1);
    if (c->params != NULL)
        strncpy(r->params, c->params, sizeof r->params - 1);
    memcpy(r->values, c->values, sizeof r->values);
    bool is_null = c->placement != NULL ? ab_placement_has_null(c->placement)
                                        : c->builtin != NULL && strcmp(c->builtin, "null") == 0;
    r->keeps_threads = is_null && !has_renewals(context->tape);
    /* a null back end returns one block for all requests, so its checks would fail */
    r->verify_ops = is_null ? 0 : context->verify_ops != 0 ? context->verify_ops : AB_VERIFY_OPS;
    r->verify = context->verify;
    r->decorator = c->decorator;
    r->counter = context->counter;
    r->fault_n = c->fault_n;
    r->purge_ns = c->purge_ns;
    r->aging = c->aging;
    r->between = pass == AB_PASS_LATENCY ? context->between : 0;
    bool is_timed = pass == AB_PASS_LATENCY || pass == AB_PASS_TAIL;
    r->look_ticks = is_timed ? (uint64_t)(LOOK_NS * ticks_per_ns) : UINT64_MAX;
    r->tail_ticks = (uint64_t)(100 * ticks_per_ns);
    r->tail_1us_ticks = (uint64_t)(1e3 * ticks_per_ns);
    r->tail_10us_ticks = (uint64_t)(1e4 * ticks_per_ns);
    r->tail_100us_ticks = (uint64_t)(1e5 * ticks_per_ns);
}

/* Limits on the time that a run may wait for a quiet machine: absolute, and as a multiple of the
 * measured time. The latency pass waits less, because samples that it misses come again in the next
 * round. */
#define QUIET_WAIT_NS 2e9
enum { QUIET_WAIT_TIMES = 4, QUIET_WAIT_TIMES_LATENCY = 1 };

static void fill_slices(const struct ab_run_context *context, const struct layout *l,
                        struct ab_run_request *r)
{
    r->slices = (struct ab_slice_request){
        .offset = l->slices,
        .cap = (uint32_t)l->cap_slices,
        .ops = slice_ops(context),
        .quiet = context->quiet->level,
        .wait_max_ticks = (uint64_t)(QUIET_WAIT_NS / context->clock.ns_per_tick),
        .wait_times = r->pass == AB_PASS_LATENCY ? QUIET_WAIT_TIMES_LATENCY : QUIET_WAIT_TIMES,
    };
    if (r->n_cpus > 0)
        return;
    int cpu = ab_quiet_cpu(context->quiet);
    r->n_cpus = cpu >= 0;
    r->cpus[0] = cpu;
}

static void fill_memory(const struct ab_run_context *context, struct ab_memory_report *m)
{
    m->pace = context->pace;
    m->spaced_ns = space_rows(context->tape->image->duration_ns);
    m->drain_ns = context->drain_ns;
    m->is_scout = context->marks == NULL;
    memset(&m->marks, 0xff, sizeof m->marks); /* sets each position to AB_MEMORY_NEVER */
    if (context->marks != NULL)
        m->marks = *context->marks;
}

static void fill_pins(const struct ab_owners *owners, struct ab_pins_report *p)
{
    p->by = owners->fd > 0 ? AB_PINS_BY_FILE : AB_PINS_BY_SIZE;
    p->n_owners = owners->n;
    p->n_stacks = owners->n_stacks;
    p->map_at = owners->map_at;
    p->n_asked = owners->n_moments;
    for (uint32_t i = 0; i < owners->n_moments; i++)
        p->asked[i] = owners->moments[i].position;
}

/* Creates the memfd of the run, maps it and writes the request. Returns the memfd; -1 on
 * failure. */
static int prepare(const struct ab_run_context *context, const struct ab_case *c, enum ab_pass pass,
                   struct ab_outcome *out)
{
    struct layout l = plan_layout(context, c, pass);
    int fd = ab_memfd("allocbench-run", l.total);
    void *p = fd < 0 ? MAP_FAILED : mmap(NULL, l.total, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (p == MAP_FAILED) {
        if (fd >= 0)
            close(fd);
        return -1;
    }
    out->page = p;
    out->run_bytes = l.total;
    out->page->magic = AB_RUN_MAGIC;
    out->page->size = sizeof(struct ab_run_page);
    struct ab_run_request *r = &out->page->request;
    fill_request(context, c, pass, r);
    r->positions_offset = l.positions;
    r->ticks_offset = l.ticks;
    r->classes_offset = l.classes;
    r->memory_offset = l.memory;
    r->rows_offset = l.rows;
    r->cap_rows = l.cap_rows;
    r->pins_offset = l.pins;
    r->iterations_offset = l.iterations;
    r->run_bytes = l.total;
    if (l.cap_slices > 0)
        fill_slices(context, &l, r);
    if (l.memory != 0) {
        out->memory = (struct ab_memory_report *)((char *)p + l.memory);
        fill_memory(context, out->memory);
        out->memory->cap_samples = out->cap_memory_samples = l.cap_memory_samples;
        out->memory->cap_idle = l.cap_idle;
        out->rows = (const struct ab_memory_row *)(const void *)((char *)p + l.rows);
        out->cap_rows = l.cap_rows;
    }
    if (l.pins != 0) {
        struct ab_pins_report *pins = (struct ab_pins_report *)(void *)((char *)p + l.pins);
        fill_pins(context->owners, pins);
        out->pins = pins;
    }
    out->positions = (uint32_t *)((char *)p + l.positions);
    out->ticks = (uint32_t *)((char *)p + l.ticks);
    out->classes = (const uint8_t *)p + l.classes;
    out->cap_samples = (uint32_t)l.cap_samples;
    out->slices = (const struct ab_slice *)((char *)p + l.slices);
    out->cap_slices = (uint32_t)l.cap_slices;
    if (l.iterations != 0)
        out->iterations = (const struct ab_iteration *)(const void *)((char *)p + l.iterations);
    return fd;
}

static void note_quiet(struct ab_outcome *run, uint16_t limit)
{
    run->is_quiet = ab_sampling_quiet(run->slices, ab_outcome_slices(run), limit, run->n_samples);
}

static void draw_samples(const struct ab_run_context *context, struct ab_rng *rng,
                         struct ab_outcome *out)
{
    if (out->cap_samples == 0)
        return;
    out->kinds = ab_alloc(out->cap_samples);
    out->n_samples = ab_sampling_draw(context->tape, rng, out->positions, out->kinds,
                                      out->cap_samples);
    out->page->request.n_samples = out->n_samples;
}

static void read_capture(int fd, char *buf, size_t cap)
{
    ssize_t n = pread(fd, buf, cap - 1, 0);
    buf[n > 0 ? n : 0] = 0;
}

/* ---- counting of system calls ----
 *
 * Beside the thread that watches the worker, a second thread receives a notice from the kernel for
 * each system call. It counts the call in the phase that the run page names, and lets the call
 * continue. */

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
    case SYS_clock_gettime: /* the worker's own calls, about the end of a phase in another lane */
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

/* Receives and answers one notice. Returns false if no process is left that could make a system
 * call. */
static bool serve_one(struct ab_call_counts *c, int listener)
{
    struct ab_notice notice;
    if (!ab_notice_next(listener, &notice))
        return errno == EINTR || errno == ENOENT; /* ENOENT: the caller was killed meanwhile */
    count(c, notice.call);
    ab_notice_go_on(listener, &notice);
    return true;
}

/* Returns the listener that the worker sends; -1 = the worker ended without sending one, or could
 * not make it. */
static int receive_listener(struct ab_call_counts *c)
{
    int listener = -1;
    struct pollfd wait = {.fd = c->ends[0], .events = POLLIN};
    while (poll(&wait, 1, LOOK_MS) <= 0)
        if (__atomic_load_n(&c->is_over, __ATOMIC_ACQUIRE))
            return -1;
    ab_receive_descriptor(c->ends[0], &listener);
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

static enum ab_status calls_open(struct ab_call_counts *c, struct ab_err *err)
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

static enum ab_status calls_begin(struct ab_call_counts *c, const struct ab_run_report *report,
                                  struct ab_err *err)
{
    sigset_t all, before;
    c->report = report;
    close_end(&c->ends[1]); /* so that the channel closes when the worker closes its end */
    sigfillset(&all);
    /* blocked in the new thread, so that signals go to the thread that watches the worker */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    c->is_running = pthread_create(&c->thread, NULL, serve, c) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return c->is_running ? AB_OK
                         : ab_fail(err, AB_SYSTEM, "cannot count system calls: no thread for it");
}

static void calls_end(struct ab_call_counts *c)
{
    __atomic_store_n(&c->is_over, true, __ATOMIC_RELEASE);
    if (c->is_running)
        pthread_join(c->thread, NULL);
    c->is_running = false;
    close_end(&c->ends[0]);
    close_end(&c->ends[1]);
}

/* Starts the worker and waits for its end. */
static enum ab_status run_worker(const struct ab_run_context *context, struct ab_spawn *spawn,
                                 const struct ab_run_report *report, uint64_t timeout_ns,
                                 struct ab_ending *ending, struct ab_err *err)
{
    pid_t pid;
    struct ab_call_counts *calls = context->calls;
    enum ab_status status = calls != NULL ? calls_open(calls, err) : AB_OK;
    spawn->calls_fd = status == AB_OK && calls != NULL ? calls->ends[1] : 0;
    if (status == AB_OK && (status = ab_spawn(spawn, &pid, err)) == AB_OK) {
        if (calls != NULL && (status = calls_begin(calls, report, err)) != AB_OK)
            /* ends the worker at once, because it would wait for somebody who counts its calls */
            timeout_ns = 0;
        *ending = ab_supervise(pid, ab_clock_now_ns() + timeout_ns, context->memory_limit_bytes);
    }
    if (calls != NULL)
        calls_end(calls);
    return status;
}

/* True if the library reads the virtual clock instead of the real time. */
static bool is_virtual(const struct ab_run_context *context, enum ab_pass pass)
{
    return pass == AB_PASS_MEMORY && context->tape->image->n_steps > 0 && context->pace == 0;
}

/* Returns the time that work with times adds to the time limit: its duration in real time, or a
 * hundredth of it with the virtual clock; 0 = the work has no times. */
static uint64_t time_out_ns(const struct ab_run_context *context)
{
    const struct ab_tape_image *image = context->tape->image;
    if (image->n_steps == 0)
        return 0;
    return SECOND_NS + (context->pace != 0 ? image->duration_ns / context->pace * 11 / 10
                                           : image->duration_ns / 100);
}

/* Returns the time that aging the heap adds to the time limit. Aging writes to all its bytes, and 4
 * s are allowed for a GB. */
static uint64_t aging_out_ns(const struct ab_run_context *context, const struct ab_case *c)
{
    double bytes = c->aging.multiple * (double)context->tape->image->facts.live_peak_bytes;
    return 10 * SECOND_NS + (uint64_t)(4 * bytes);
}

/* Returns the time that the other code before each timed op adds to the time limit. Allows ten
 * times its usual time, because the machine may be busy. */
static uint64_t between_out_ns(const struct ab_run_context *context)
{
    return UINT64_C(10) * AB_BETWEEN_NS * context->between * ab_sampling_capacity(context->tape);
}

static struct ab_spawn plan_spawn(const struct ab_run_context *context, const struct ab_case *c,
                                  enum ab_pass pass)
{
    return (struct ab_spawn){
        .worker_path = context->worker_path,
        .tape_fd = context->tape->fd,
        /* of a placement, the one heap whose library is preloaded */
        .preload = c->source == AB_SOURCE_PRELOAD ? c->path : NULL,
        .clock = is_virtual(context, pass) ? context->clock_path : NULL,
        .is_thp_off = context->is_thp_off,
        .is_plugin = c->source == AB_SOURCE_PLUGIN || c->source == AB_SOURCE_PREFIX ||
                     (c->placement != NULL && ab_placement_loads(c->placement)),
        .env = c->env,
        .under = context->under,
        .placement_fd = c->placement != NULL ? c->placement->fd : 0,
        .owners_fd = pass == AB_PASS_MEMORY && context->owners != NULL ? context->owners->fd : 0,
        .is_layout_fixed = pass == AB_PASS_INSTRUCTIONS,
    };
}

enum ab_status ab_run_alone(const struct ab_run_context *context, const struct ab_case *c,
                            enum ab_pass pass, struct ab_err *err)
{
    struct ab_outcome made = {0};
    struct ab_spawn spawn = plan_spawn(context, c, pass);
    spawn.run_fd = prepare(context, c, pass, &made);
    if (spawn.run_fd < 0)
        return ab_fail_errno(err, AB_SYSTEM, "cannot map the run's memory");
    made.page->request.is_alone = 1;
    spawn.stdout_fd = STDOUT_FILENO;
    spawn.stderr_fd = STDERR_FILENO;
    enum ab_status status = ab_spawn_become(&spawn, err);
    close(spawn.run_fd);
    ab_outcome_fini(&made);
    return status;
}

enum ab_status ab_run(const struct ab_run_context *context, const struct ab_case *c,
                      enum ab_pass pass, struct ab_rng *rng, struct ab_outcome *out,
                      struct ab_err *err)
{
    if (ab_stop_signal != 0) /* a signal may have come between two runs */
        return ab_fail(err, AB_INTERRUPTED, "interrupted");
    struct ab_outcome made = {0};
    struct ab_ending ending;
    char stdout_text[512], stderr_text[512];
    enum ab_status status = AB_SYSTEM;
    uint64_t timeout_ns = context->timeout_ns != 0 ? context->timeout_ns
                                                   : ab_estimate_timeout_ns(context->tape);
    if (pass == AB_PASS_MEMORY)
        timeout_ns += context->drain_ns + time_out_ns(context);
    if (c->aging.occupancy > 0)
        timeout_ns += aging_out_ns(context, c);
    if (pass == AB_PASS_LATENCY && context->timeout_ns == 0)
        timeout_ns += between_out_ns(context);
    if (is_sliced(context, c, pass))
        /* waiting for other tenants does not count as the allocator's time */
        timeout_ns += (uint64_t)QUIET_WAIT_NS;
    int out_fd = ab_memfd("allocbench-stdout", CAPTURE_BYTES);
    int err_fd = ab_memfd("allocbench-stderr", CAPTURE_BYTES);
    int run_fd = prepare(context, c, pass, &made);
    if (out_fd < 0 || err_fd < 0 || run_fd < 0) {
        ab_fail_errno(err, AB_SYSTEM, "cannot map the run's memory");
        goto out;
    }
    draw_samples(context, rng, &made);
    struct ab_spawn spawn = plan_spawn(context, c, pass);
    spawn.run_fd = run_fd;
    spawn.stdout_fd = out_fd;
    spawn.stderr_fd = err_fd;
    status = run_worker(context, &spawn, &made.page->report, timeout_ns, &ending, err);
    if (status != AB_OK)
        goto out;
    read_capture(out_fd, stdout_text, sizeof stdout_text);
    read_capture(err_fd, stderr_text, sizeof stderr_text);
    struct ab_evidence evidence = {
        &ending,    &made.page->report,          context->tape,         stdout_text,    stderr_text,
        timeout_ns, context->memory_limit_bytes, pass == AB_PASS_CHECK, made.crash.call};
    made.wait_status = ending.wait_status;
    ab_crash_place(&made.page->report.crash, c->path, &made.crash);
    ab_crash_call(&made.page->report, made.crash.call, sizeof made.crash.call);
    status = ab_classify(&evidence, &made, err);
    if (status == AB_OK && made.status == AB_BACKEND_OK && pass == AB_PASS_LATENCY &&
        context->quiet != NULL)
        note_quiet(&made, ab_canary_limit(context->quiet->level));
out:
    if (run_fd >= 0)
        close(run_fd);
    if (out_fd >= 0)
        close(out_fd);
    if (err_fd >= 0)
        close(err_fd);
    if (status == AB_OK)
        *out = made;
    else
        ab_outcome_fini(&made);
    return status;
}

void ab_outcome_fini(struct ab_outcome *out)
{
    free(out->kinds);
    free(out->is_quiet);
    if (out->page != NULL)
        munmap(out->page, out->run_bytes);
    *out = (struct ab_outcome){0};
}

bool ab_run_missing(uint32_t used, uint32_t hooks, char *buf, size_t cap)
{
    uint32_t missing = used & ~(1u << AB_OP_RESET) & ~hooks;
    size_t n = 0;
    for (unsigned k = 0; k < AB_OP_KIND_COUNT; k++)
        if ((missing >> k & 1) != 0 && n < cap)
            n += (size_t)snprintf(buf + n, cap - n, "%s%s", n == 0 ? "cannot " : ", ",
                                  ab_op_kind_name((enum ab_op_kind)k));
    return missing != 0;
}

/* Returns the null case. For a decorated back end it is the null heap, because a decorator is
 * called as a heap, however its library is opened. */
struct ab_case ab_run_null_case(const struct ab_case *of)
{
    enum ab_boundary boundary = of->decorator != AB_DECORATOR_NONE ? AB_BOUNDARY_HEAP
                                                                   : of->boundary;
    return (struct ab_case){.source = boundary == AB_BOUNDARY_MALLOC ? AB_SOURCE_NULL
                                                                     : AB_SOURCE_BUILTIN,
                            .boundary = boundary,
                            .builtin = "null",
                            .placement = of->null_placement};
}
