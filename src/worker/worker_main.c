/* SPDX-License-Identifier: MIT
 *
 * allocbench-worker: one process that makes one run. Only allocbench starts it, with the tape on
 * descriptor 3 and the run page on descriptor 4. All results go into the run page.
 */
#include "allocators/null/null.h"
#include "worker/aged_heap.h"
#include "worker/checks/target.h"
#include "worker/counts.h"
#include "worker/crash/crash.h"
#include "worker/inline_backend.h"
#include "worker/lanes.h"
#include "worker/memory.h"
#include "worker/placed.h"
#include "worker/preflight.h"
#include "worker/residency.h"
#include "worker/worker.h"

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static struct ab_worker worker;

static void set_state(enum ab_worker_state state)
{
    *(volatile uint32_t *)&worker.page->report.state = state;
}

static bool is_proof(uint32_t pass, uint32_t decorator)
{
    return pass == AB_PASS_CHECK || pass == AB_PASS_VERIFY || decorator != AB_DECORATOR_NONE;
}

/* Maps the run page. If that fails, the parent learns only the exit status 2, because the page is
 * the only way to report. */
static void map_block(void)
{
    off_t bytes = lseek(AB_WORKER_FD_RUN, 0, SEEK_END);
    if (bytes < (off_t)sizeof(struct ab_run_page))
        _exit(2);
    void *p = mmap(NULL, (size_t)bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE,
                   AB_WORKER_FD_RUN, 0);
    if (p == MAP_FAILED)
        _exit(2);
    worker.page = p;
    if (worker.page->magic != AB_RUN_MAGIC || worker.page->size != sizeof(struct ab_run_page))
        _exit(2);
    const struct ab_run_request *request = &worker.page->request;
    worker.positions = (const uint32_t *)((char *)p + request->positions_offset);
    worker.ticks = (uint32_t *)((char *)p + request->ticks_offset);
    worker.classes = (uint8_t *)p + request->classes_offset;
    size_t cap_samples = (request->classes_offset - request->ticks_offset) / sizeof(uint32_t);
    memset(worker.ticks, 0, cap_samples * sizeof worker.ticks[0]);
    memset(worker.classes, 0, cap_samples);
    if (request->iterations_offset != 0)
        worker.iteration_reports = (void *)((char *)p + request->iterations_offset);
}

/* Starts reporting deadly signals. If nothing is timed, also starts noting each call. */
static void watch_end(void)
{
    const struct ab_run_request *request = &worker.page->request;
    ab_fault_watch(&worker.page->report.crash);
    if (is_proof(request->pass, request->decorator))
        ab_call_note_open(&worker.page->report.calls);
}

/* Checks that no library changed the process while it was loaded: its descriptors and limits. The
 * values are taken before the libraries' constructors run. They are taken only if nothing is timed,
 * which suffices because the pre-flight runs before any measurement. */

static const struct limit {
    int resource;
    const char *name;
} limits[] = {
    {RLIMIT_NOFILE, "open files (RLIMIT_NOFILE)"},
    {RLIMIT_AS, "the address space (RLIMIT_AS)"},
    {RLIMIT_DATA, "data (RLIMIT_DATA)"},
    {RLIMIT_STACK, "the stack (RLIMIT_STACK)"},
    {RLIMIT_FSIZE, "the size of files (RLIMIT_FSIZE)"},
    {RLIMIT_CPU, "CPU time (RLIMIT_CPU)"},
};

static struct {
    bool is_taken;
    struct stat tape, run;
    rlim_t limits[AB_ARRAY_LEN(limits)];
} before_load;

static rlim_t limit_of(int resource)
{
    struct rlimit limit = {.rlim_cur = RLIM_INFINITY};
    getrlimit((__rlimit_resource_t)resource, &limit);
    return limit.rlim_cur;
}

static void take_before_load(void)
{
    for (size_t i = 0; i < AB_ARRAY_LEN(limits); i++)
        before_load.limits[i] = limit_of(limits[i].resource);
    before_load.is_taken = fstat(AB_WORKER_FD_TAPE, &before_load.tape) == 0 &&
                           fstat(AB_WORKER_FD_RUN, &before_load.run) == 0;
}

static bool is_same_file(int fd, const struct stat *before)
{
    struct stat now;
    return fstat(fd, &now) == 0 && now.st_dev == before->st_dev && now.st_ino == before->st_ino;
}

static void check_load(void)
{
    if (!before_load.is_taken)
        return;
    for (size_t i = 0; i < AB_ARRAY_LEN(limits); i++)
        if (limit_of(limits[i].resource) < before_load.limits[i])
            ab_worker_fail(&worker, AB_FAILURE_CHECK, "it lowered the limit of the process on ",
                           limits[i].name, " while it was loaded", NULL);
    if (!is_same_file(AB_WORKER_FD_TAPE, &before_load.tape) ||
        !is_same_file(AB_WORKER_FD_RUN, &before_load.run))
        ab_worker_fail(&worker, AB_FAILURE_CHECK,
                       "it closed descriptors of the process while it was loaded", NULL);
}

/* Runs before the constructors of all libraries, so that a crash in one of them is reported. Does
 * nothing in passes that measure, because their start must be like that of any program. */
static void watch_constructors(void)
{
    /* the first fields of struct ab_run_page, which as a whole is too large for a small stack */
    struct {
        uint32_t magic, size;
        struct ab_run_request request;
    } head;
    _Static_assert(offsetof(struct ab_run_page, request) == 2 * sizeof(uint32_t), "no gap");
    if (pread(AB_WORKER_FD_RUN, &head, sizeof head, 0) != (ssize_t)sizeof head ||
        head.magic != AB_RUN_MAGIC || !is_proof(head.request.pass, head.request.decorator))
        return;
    map_block();
    watch_end();
    take_before_load();
}
static void (*const early)(void)
    __attribute__((section(".preinit_array"), used)) = watch_constructors;

static void map_tape(void)
{
    off_t bytes = lseek(AB_WORKER_FD_TAPE, 0, SEEK_END);
    const struct ab_tape_image *p = mmap(NULL, (size_t)bytes, PROT_READ, MAP_SHARED,
                                         AB_WORKER_FD_TAPE, 0);
    if (p == MAP_FAILED && bytes < 0 && worker.page->request.source != AB_SOURCE_NULL)
        ab_worker_fail(&worker, AB_FAILURE_CHECK,
                       "it closed descriptors of the process while it was loaded", NULL);
    if (p == MAP_FAILED)
        ab_worker_fail(&worker, AB_FAILURE_SYSTEM, "cannot map the tape", NULL);
    worker.image = p;
    if (p->magic != AB_TAPE_IMAGE_MAGIC || p->size != sizeof(struct ab_tape_image))
        ab_worker_fail(&worker, AB_FAILURE_SYSTEM, "the tape was made by another build", NULL);
    /* makes the ops resident, so that no first touch of them is in a phase */
    if (worker.iteration_reports != NULL)
        memset(worker.iteration_reports, 0, p->n_iterations * sizeof *worker.iteration_reports);
    for (uint64_t at = p->phases_offset; at < p->total_bytes;
         at += 4096) /* the tables at the beginning of bursts */
        (void)((const volatile char *)p)[at];
    if (!ab_worker_enter_burst(&worker, 0))
        ab_worker_fail(&worker, AB_FAILURE_SYSTEM, "cannot read the tape", NULL);
}

static void map_slots(void)
{
    size_t bytes = ((size_t)worker.image->n_slots + 1) * sizeof(struct ab_slot);
    worker.slots = ab_worker_map(&worker, bytes, "slots");
}

/* Closes the descriptors of the mapped files, which are not needed from here on. Some allocators
 * close descriptors that they do not own; they must not close one that the harness needs. */
static void drop_descriptors(void)
{
    close(AB_WORKER_FD_TAPE);
    close(AB_WORKER_FD_RUN);
    if (worker.placement != NULL)
        close(AB_WORKER_FD_PLACEMENT);
}

/* Fails the run, because fault+ returned NULL for an op that needs a block. */
static void refuse_fault(const struct ab_lane *lane)
{
    char op[24], index[24], n[24];
    uint64_t fault_n = worker.page->request.fault_n;
    bool has_lanes = worker.image->n_lanes > 1;
    ab_worker_fail(&worker, AB_FAILURE_NULL, ab_worker_fault(), " returned NULL (op ",
                   ab_worker_number(op, lane->first_null_op), has_lanes ? ", lane " : "",
                   has_lanes ? ab_worker_number(index, lane->index) : "", "): allocation #",
                   ab_worker_number(n, fault_n), ", injected by fault+", NULL);
}

static void refuse_null(const struct ab_lane *lane)
{
    char op[24], size[24];
    if (lane->first_null_op == UINT32_MAX)
        return;
    if (lane->is_null_of_fault)
        refuse_fault(lane);
    ab_worker_fail(&worker, AB_FAILURE_NULL, "a request for ",
                   ab_worker_number(size, lane->first_null_size),
                   " bytes returned NULL (at or after op ",
                   ab_worker_number(op, lane->first_null_op), ")", NULL);
}

static void tell_end(void)
{
    static const char *const ends[] = {
        "ended, and proved nothing", "passed",
        "skipped: ", "informational: ", "contradicts the claim of the back end: "};
    const struct ab_verify_report *r = &worker.page->report.verify;
    struct ab_words words = {.n = 0};
    bool is_check = worker.page->request.pass == AB_PASS_CHECK;
    ab_words_add(&words, "the check ");
    ab_words_add(&words, is_check && r->answer < AB_ARRAY_LEN(ends) ? ends[r->answer] : "passed");
    if (is_check)
        ab_words_add(&words, r->text);
    ab_worker_print(&worker, words.text);
}

static void finish(void)
{
    for (uint32_t i = 0; i < worker.image->n_lanes; i++)
        refuse_null(&worker.lanes[i]);
    set_state(AB_WORKER_DONE);
    tell_end();
    /* skips destructors: all results are in, and a library could hang or print in its
     * destructors */
    _exit(0);
}

static void report_granularity(void)
{
    const struct ab_run_request *request = &worker.page->request;
    unsigned pass = request->pass;
    /* With several lanes, only the position of lane 0 is exact, but another lane may be the one
     * that crashed. */
    bool is_noted_singly = request->decorator != AB_DECORATOR_NONE && worker.image->n_lanes == 1;
    worker.page->report.op_granularity = pass == AB_PASS_TAIL || pass == AB_PASS_VERIFY ||
                                                 pass == AB_PASS_MEMORY || pass == AB_PASS_CHECK ||
                                                 is_noted_singly
                                             ? 1
                                             : AB_PROGRESS_OPS;
}

/* Runs the pre-flight or a check, or any pass of a back end wrapped by a decorator. Returns false
 * if the request asks for none of these. */
static bool run_proof(const struct ab_target *target)
{
    const struct ab_run_request *request = &worker.page->request;
    struct ab_heap_face decorated;
    if (request->pass == AB_PASS_CHECK)
        ab_pass_check(&worker, target);
    else if (request->pass == AB_PASS_VERIFY) {
        ab_pass_verify(&worker, target);
        ab_pass_probe(&worker, target);
    } else if (request->decorator == AB_DECORATOR_NONE)
        return false;
    else {
        ab_worker_decorate(&worker, target, &decorated);
        ab_lanes_run(&worker, ab_pass_handle, &decorated, true);
    }
    return true;
}

/* Reports the memory that the library took before the work, which is in no footprint. The parent
 * compares it with that of a process without the library. */
static void report_start(void)
{
    struct ab_footprint f;
    struct ab_footprint_detail start;
    ab_footprint_open(&f);
    if (ab_footprint_read_detail(&f, &start)) {
        worker.page->report.start_file_bytes = start.file_bytes;
        worker.page->report.start_private_bytes = start.private_bytes;
    }
    ab_footprint_close(&f);
}

static void run_malloc(struct ab_run_request *request)
{
    /* static, because the lanes use it until the drain is over */
    static struct ab_malloc_calls face;
    face = (struct ab_malloc_calls){
        .malloc = null_malloc,
        .free = null_free,
        .realloc = null_realloc,
        .calloc = null_calloc,
        .memalign = null_aligned_alloc,
        .usable_size = null_malloc_usable_size,
        .aligned_alloc = null_aligned_alloc,
    };
    *(void **)&face.free_sized = (void *)null_free; /* null_free ignores the size */
    uint32_t hooks = ~(1u << AB_OP_RESET);
    if (request->pass == AB_PASS_VERIFY || request->source == AB_SOURCE_NULL)
        report_start();
    if (request->source == AB_SOURCE_NULL) {
        if (null_malloc_init(worker.image->facts.largest_bytes) != 0)
            ab_worker_fail(&worker, AB_FAILURE_SYSTEM, "cannot map the null block", NULL);
    } else if (request->source == AB_SOURCE_PREFIX) {
        hooks = ab_worker_open_prefix(&worker, &face);
    } else {
        ab_worker_identify_malloc(&worker, &face);
    }
    worker.page->report.hooks = hooks;
    set_state(AB_WORKER_IDENTIFIED);
    map_slots();
    ab_aged_heap_open(&worker);
    ab_memory_open(&worker);
    ab_memory_set_malloc(&worker, (const void *)face.malloc);
    ab_counts_open(&worker);
    ab_lanes_open(&worker);
    ab_purges_open(&worker, (const void *)face.malloc);
    drop_descriptors();
    set_state(AB_WORKER_RUNNING);
    struct ab_target target;
    ab_target_of_malloc(&face, &target);
    if (!run_proof(&target))
        ab_lanes_run(&worker, ab_pass_malloc, &face, false);
}

static void choose_inlined(const struct ab_run_request *request)
{
    if (request->boundary != AB_BOUNDARY_INLINE && request->boundary != AB_BOUNDARY_CURSOR)
        return;
    worker.inlined = ab_inline_find(request->builtin, request->boundary);
    if (worker.inlined == NULL)
        ab_worker_fail(&worker, AB_FAILURE_LIBRARY, "not compiled into the worker", NULL);
    ab_inline_need_one_lane(&worker);
}

static void run_heap(struct ab_run_request *request)
{
    static struct ab_heap_face face; /* static for the same reason as in run_malloc */
    choose_inlined(request);
    if (request->boundary == AB_BOUNDARY_PLACED)
        ab_placed_map(&worker);
    map_slots();
    ab_aged_heap_open(&worker);
    ab_memory_open(&worker);
    ab_counts_open(&worker);
    ab_lanes_open(&worker);
    if (worker.placement != NULL)
        ab_placed_open(&worker, &face);
    else
        ab_worker_open_heap(&worker, &face);
    check_load(); /* checks again, because a plug-in is loaded now */
    set_state(AB_WORKER_OPENED);
    drop_descriptors();
    set_state(AB_WORKER_RUNNING);
    struct ab_target target;
    ab_target_of_heap(&face, &target);
    if (request->pass == AB_PASS_VERIFY && (face.thread_enter != NULL || worker.inlined != NULL)) {
        ab_worker_enter_heap(&worker.lanes[0], &face);
        target.heap = worker.lanes[0].own_face.heap;
    }
    if (request->pass == AB_PASS_VERIFY && worker.inlined != NULL)
        ab_target_of_loop(&worker.lanes[0], &target);
    ab_lane_pass *called = worker.placement != NULL ? ab_placed_pass(&worker)
                           : face.resolve != NULL   ? ab_pass_handle
                                                    : ab_pass_heap;
    if (!run_proof(&target))
        ab_lanes_run(&worker, worker.inlined != NULL ? worker.inlined->pass : called, &face, true);
}

/* Prints the settings of the malloc of this process, without running any work. */
static _Noreturn void tell_settings(void)
{
    struct ab_introspect in;
    ab_introspect_malloc(&in, dlsym(RTLD_DEFAULT, "malloc"));
    ab_introspect_settings(&in);
    set_state(AB_WORKER_DONE);
    _exit(0);
}

int main(void)
{
    if (worker.page == NULL) {
        map_block();
        watch_end();
    }
    set_state(AB_WORKER_STARTED);
    check_load();
    if (worker.page->request.pass == AB_PASS_SETTINGS)
        tell_settings();
    map_tape();
    report_granularity();
    struct ab_run_request *request = &worker.page->request;
    if (request->boundary == AB_BOUNDARY_MALLOC)
        run_malloc(request);
    else
        run_heap(request);
    ab_memory_drain(&worker);
    finish();
}
