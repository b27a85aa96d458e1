/* SPDX-License-Identifier: MIT
 *
 * Starts the threads of the lanes, takes them through phases and bursts together, lets them wait
 * for each other, and adds up their reports.
 */
#include "worker/lanes.h"

#include "base/clock.h"
#include "worker/placed.h"
#include "worker/wait.h"

#include <linux/futex.h>
#include <sched.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Pauses for which a lane spins at a barrier before it sleeps: fewer if lanes share CPUs. Every
 * SPINS_A_YIELD pauses it yields its CPU. */
enum { SPINS_SHARED = 64, SPINS_OWN = 20000, SPINS_A_YIELD = 128 };

static struct {
    /* atomic: lanes that have arrived at the barrier, and barriers so far */
    uint32_t arrived, generation;
    int64_t live, live_peak; /* atomic: live blocks now, and the most in this phase */
    ab_lane_pass *pass;
    struct ab_heap_face *heap; /* NULL = malloc boundary */
    pthread_t threads[AB_LANES_MAX];
    pthread_attr_t heirs; /* attributes of threads that take over a lane */
    /* atomic: lane 0 has finished, in a thread other than the process's first one */
    uint32_t is_over;
    uint32_t is_warm; /* atomic */
} meeting;

static void barrier(const struct ab_worker *w)
{
    uint32_t generation = __atomic_load_n(&meeting.generation, __ATOMIC_ACQUIRE), n = 0;
    if (__atomic_add_fetch(&meeting.arrived, 1, __ATOMIC_ACQ_REL) == w->image->n_lanes) {
        __atomic_store_n(&meeting.arrived, 0, __ATOMIC_RELAXED);
        __atomic_store_n(&meeting.generation, generation + 1, __ATOMIC_RELEASE);
        if (w->image->n_lanes > 1)
            syscall(SYS_futex, &meeting.generation, FUTEX_WAKE_PRIVATE, AB_LANES_MAX, NULL, NULL,
                    AB_CALL_OF_OURS);
        return;
    }
    while (__atomic_load_n(&meeting.generation, __ATOMIC_ACQUIRE) == generation) {
        if (n >= (w->image->n_lanes > w->n_cpus ? SPINS_SHARED : SPINS_OWN)) {
            syscall(SYS_futex, &meeting.generation, FUTEX_WAIT_PRIVATE, generation, NULL, NULL,
                    AB_CALL_OF_OURS);
            continue;
        }
        ab_cpu_pause();
        if (++n % SPINS_A_YIELD == 0)
            syscall(SYS_sched_yield, 0, 0, 0, 0, 0, AB_CALL_OF_OURS);
    }
}

/* ---- threads ---- */

static void pin(struct ab_lane *lane)
{
    const struct ab_run_request *r = &lane->w->page->request;
    cpu_set_t set;
    if (r->n_cpus == 0)
        return;
    CPU_ZERO(&set);
    CPU_SET((unsigned)r->cpus[lane->index % r->n_cpus], &set);
    if (sched_setaffinity(0, sizeof set, &set) != 0)
        ab_worker_fail(lane->w, AB_FAILURE_SYSTEM, "cannot run on the CPU asked for", NULL);
}

/* ---- threads that take over a lane ---- */

/* The C library keeps the stack of an ended thread, and memory that it allocated for the thread,
 * and gives both to the next thread. It keeps up to 40 MiB. While a lane's thread starts the next
 * one, the lane has two stacks. So threads are started and ended before anything is measured: one
 * for each of the other lanes, and three for lane 0, whose first stack may be the process's. Later
 * threads then request nothing from the allocator under test. */
enum { HEIR_STACK_BYTES = 144 << 10, HEIR_WARM_BYTES = 12 << 10 };

static void *thread_heir(void *user);

static bool is_handed_over(const struct ab_lane *lane)
{
    return lane->handover != NULL && lane->handover->is_due;
}

static void hand_over(struct ab_handover *h)
{
    h->next++;
    ab_phase_meter_pause(&h->meter, true);
    h->ended_tick = ab_tick_end();
}

static void take_over(struct ab_lane *lane)
{
    struct ab_handover *h = lane->handover;
    struct ab_phase_report *report = &lane->reports[h->phase];
    ab_phase_meter_pause(&h->meter, false);
    uint64_t ticks = ab_tick_begin() - h->ended_tick;
    report->n_thread_ends++;
    report->thread_end_ticks += ticks;
    if (lane->w->phases[h->phase].renew == 0)
        ab_apart_leave_out(lane, report, ticks);
}

/* Leaves the lane to a new thread; the calling thread is about to end. The new thread joins it,
 * unless it is the process's first thread, which does not end. */
static void leave_to_heir(struct ab_lane *lane, bool is_first_of_all)
{
    lane->handover->before = pthread_self();
    lane->handover->has_before = !is_first_of_all;
    if (pthread_create(&meeting.threads[lane->index], &meeting.heirs, thread_heir, lane) != 0)
        ab_worker_fail(lane->w, AB_FAILURE_SYSTEM, "cannot start a thread that takes over a lane",
                       NULL);
}

/* Runs the pass in the lane. Returns false if another thread goes on with the lane. In the memory
 * pass, the lane's last thread does not leave the heap, because the heap is drained afterwards. */
static bool run_pass(struct ab_lane *lane, bool is_first_of_all)
{
    meeting.pass(lane);
    bool goes_on = is_handed_over(lane);
    if (goes_on)
        hand_over(lane->handover);
    if (meeting.heap != NULL && (goes_on || lane->w->memory == NULL))
        ab_worker_leave_heap(lane);
    if (goes_on)
        leave_to_heir(lane, is_first_of_all);
    return !goes_on;
}

/* Ends a lane whose last thread is not the process's first one. For lane 0, wakes the process's
 * first thread, which waits for it. */
static void end_lane(const struct ab_lane *lane)
{
    if (lane->index != 0) {
        barrier(lane->w); /* all reports are complete */
        return;
    }
    __atomic_store_n(&meeting.is_over, 1, __ATOMIC_RELEASE);
    syscall(SYS_futex, &meeting.is_over, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, AB_CALL_OF_OURS);
}

/* Runs a thread that takes over a lane. First joins the previous thread, so that the allocator has
 * finished with it before the first op. The new thread runs on the same CPUs as its creator. */
static void *thread_heir(void *user)
{
    struct ab_lane *lane = user;
    if (lane->handover->has_before)
        pthread_join(lane->handover->before, NULL);
    if (lane->w->memory != NULL)
        ab_memory_enter(lane);
    ab_memory_change_thread(lane->w, &lane->handover->stack);
    if (meeting.heap != NULL)
        ab_worker_enter_heap(lane, meeting.heap);
    take_over(lane);
    if (run_pass(lane, false))
        end_lane(lane);
    return NULL;
}

static void await_lane_0(void)
{
    while (__atomic_load_n(&meeting.is_over, __ATOMIC_ACQUIRE) == 0)
        syscall(SYS_futex, &meeting.is_over, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, AB_CALL_OF_OURS);
    pthread_join(meeting.threads[0], NULL);
}

static void *warm_stack(void *user)
{
    /* part of an ended thread's stack that the C library keeps */
    volatile char stack[HEIR_WARM_BYTES];
    (void)user;
    for (size_t i = 0; i < sizeof stack; i += 4096)
        stack[i] = 0;
    while (__atomic_load_n(&meeting.is_warm, __ATOMIC_ACQUIRE) == 0)
        syscall(SYS_futex, &meeting.is_warm, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, AB_CALL_OF_OURS);
    return NULL;
}

static void warm_stacks(struct ab_worker *w)
{
    pthread_t threads[AB_LANES_MAX + 2];
    uint32_t n = w->image->n_lanes + 2;
    for (uint32_t i = 0; i < n; i++)
        if (pthread_create(&threads[i], &meeting.heirs, warm_stack, NULL) != 0)
            ab_worker_fail(w, AB_FAILURE_SYSTEM, "cannot start a thread that takes over a lane",
                           NULL);
    __atomic_store_n(&meeting.is_warm, 1, __ATOMIC_RELEASE);
    syscall(SYS_futex, &meeting.is_warm, FUTEX_WAKE_PRIVATE, (int)n, NULL, NULL, AB_CALL_OF_OURS);
    for (uint32_t i = 0; i < n; i++)
        pthread_join(threads[i], NULL);
}

/* Prepares the lanes for ends of threads, in passes that measure time or memory. In other passes
 * the lanes keep their threads. */
static void map_handovers(struct ab_worker *w)
{
    uint32_t pass = w->page->request.pass;
    bool is_one = pass == AB_PASS_THROUGHPUT || pass == AB_PASS_LATENCY || pass == AB_PASS_TAIL ||
                  pass == AB_PASS_MEMORY;
    if (w->image->n_thread_ends == 0 || w->page->request.keeps_threads != 0 || !is_one)
        return;
    pthread_attr_init(&meeting.heirs);
    pthread_attr_setstacksize(&meeting.heirs, HEIR_STACK_BYTES);
    for (uint32_t i = 0; i < w->image->n_lanes; i++)
        w->lanes[i].handover = ab_worker_map(w, sizeof(struct ab_handover), "what threads leave");
}

static bool run_lane(struct ab_lane *lane, bool is_first_of_all)
{
    if (meeting.heap != NULL)
        ab_worker_enter_heap(lane, meeting.heap);
    if (lane->w->memory != NULL)
        ab_memory_enter(lane);
    barrier(lane->w); /* no lane begins before all lanes are here */
    return run_pass(lane, is_first_of_all);
}

/* Runs lane 0 in a thread of its own, if the tape ends the first thread of that lane. The process's
 * first thread cannot end. */
static void *thread_first(void *user)
{
    struct ab_lane *lane = user;
    pin(lane);
    if (run_lane(lane, false))
        end_lane(lane);
    return NULL;
}

static void *thread_main(void *user)
{
    struct ab_lane *lane = user;
    pin(lane);
    ab_memory_touch_stack(lane->w);
    barrier(lane->w); /* all threads have started */
    barrier(lane->w); /* ab_lanes_run has set the pass */
    if (run_lane(lane, false))
        end_lane(lane);
    return NULL;
}

/* Returns the number of CPUs that the lanes share. */
static unsigned count_cpus(const struct ab_run_request *r)
{
    cpu_set_t set;
    if (r->n_cpus > 0)
        return r->n_cpus;
    return sched_getaffinity(0, sizeof set, &set) == 0 ? (unsigned)CPU_COUNT(&set) : 1;
}

static void init_lane(struct ab_worker *w, uint32_t index, struct ab_phase_report *reports)
{
    struct ab_run_report *report = &w->page->report;
    w->lanes[index] = (struct ab_lane){
        .w = w,
        .ops = w->ops,
        .wide = w->wide,
        .slots = w->slots,
        .progress = index == 0 ? &report->op : &report->lane_ops[index],
        .index = index,
        .chunk_ops = w->page->request.decorator == AB_DECORATOR_NONE &&
                             w->page->request.pass != AB_PASS_TAIL
                         ? AB_PROGRESS_OPS
                         : 1,
        .is_strict = w->page->request.is_strict != 0,
        .is_counting = w->image->n_lanes > 1 && w->page->request.pass == AB_PASS_TAIL,
        .first_null_op = UINT32_MAX,
        .reports = reports == NULL ? report->phases : reports + (size_t)index * w->image->n_phases,
    };
}

/* Maps memory for the entries of walks (block_walk.h). In the throughput pass, a walk is read as a
 * whole. In the memory pass, where lanes take turns, the blocks of a walk are only counted. */
static void map_walks(struct ab_worker *w)
{
    const struct ab_run_request *r = &w->page->request;
    bool is_timed = r->pass == AB_PASS_THROUGHPUT && r->decorator == AB_DECORATOR_NONE;
    uint32_t n = is_timed ? w->image->n_lanes : r->pass == AB_PASS_MEMORY ? 1 : 0;
    size_t bytes = (size_t)w->image->longest_walk * sizeof(uint64_t);
    for (uint32_t i = 0; i < n && bytes > 0; i++)
        w->lanes[i].walk = ab_worker_map(w, bytes, "addresses of a walk");
}

/* True if the only lane writes its reports into the run page; otherwise the lanes' reports must be
 * added up. */
static bool is_alone(const struct ab_worker *w)
{
    return w->image->n_lanes == 1 && w->image->n_bursts == 1;
}

void ab_lanes_open(struct ab_worker *w)
{
    uint32_t n = w->image->n_lanes;
    size_t n_reports = is_alone(w) ? 0 : (size_t)n * w->image->n_phases;
    struct ab_phase_report *reports = NULL;
    w->lanes = ab_worker_map(w, n * sizeof w->lanes[0], "lanes");
    if (n_reports > 0)
        reports = ab_worker_map(w, n_reports * sizeof reports[0], "lanes");
    meeting.live = meeting.live_peak = 0;
    meeting.is_over = meeting.is_warm = 0;
    w->page->report.n_cpus = w->n_cpus = count_cpus(&w->page->request);
    for (uint32_t i = 0; i < n; i++)
        init_lane(w, i, reports);
    map_walks(w);
    map_handovers(w);
    bool is_renewed = w->lanes[0].handover != NULL;
    pin(&w->lanes[0]);
    ab_memory_touch_stack(w);
    if (w->page->request.pass == AB_PASS_VERIFY || w->page->request.pass == AB_PASS_CHECK)
        return;
    for (uint32_t i = 1; i < n; i++)
        if (pthread_create(&meeting.threads[i], is_renewed ? &meeting.heirs : NULL, thread_main,
                           &w->lanes[i]) != 0)
            ab_worker_fail(w, AB_FAILURE_SYSTEM, "cannot start a thread for each lane", NULL);
    if (is_renewed)
        warm_stacks(w);
    barrier(w);
}

/* ---- reports ---- */

static void add_tail(struct ab_tail *sum, const struct ab_tail *tail)
{
    sum->n += tail->n;
    sum->n_slow += tail->n_slow;
    sum->n_1us += tail->n_1us;
    sum->n_10us += tail->n_10us;
    sum->n_100us += tail->n_100us;
    if (tail->max_ticks > sum->max_ticks)
        sum->max_ticks = tail->max_ticks;
    sum->n_scheduler += tail->n_scheduler;
    if (tail->scheduler_max_ticks > sum->scheduler_max_ticks)
        sum->scheduler_max_ticks = tail->scheduler_max_ticks;
    sum->n_least_1us += tail->n_least_1us;
    sum->n_least_10us += tail->n_least_10us;
    sum->n_least_100us += tail->n_least_100us;
    if (tail->max_least_ns > sum->max_least_ns)
        sum->max_least_ns = tail->max_least_ns;
    for (uint32_t i = 0; i < tail->n_worst; i++)
        ab_tail_keep(sum, &tail->worst[i]);
}

static void add_report(struct ab_phase_report *sum, const struct ab_phase_report *lane)
{
    sum->lane_ticks += lane->lane_ticks;
    sum->wait_ticks += lane->wait_ticks;
    sum->awake_ticks += lane->awake_ticks;
    sum->asleep_cpu_ns += lane->asleep_cpu_ns;
    sum->is_crowded |= lane->is_crowded;
    sum->thread_cpu_ns += lane->thread_cpu_ns;
    sum->outside_ticks += lane->outside_ticks;
    sum->canary_ticks += lane->canary_ticks;
    sum->outside_cpu_ns += lane->outside_cpu_ns;
    sum->faults_minor += lane->faults_minor;
    sum->faults_major += lane->faults_major;
    sum->switches_involuntary += lane->switches_involuntary;
    sum->n_thread_ends += lane->n_thread_ends;
    sum->thread_end_ticks += lane->thread_end_ticks;
    sum->n_trims += lane->n_trims;
    sum->n_trims_done += lane->n_trims_done;
    for (unsigned k = 0; k < AB_OP_KIND_COUNT; k++)
        add_tail(&sum->tail[k], &lane->tail[k]);
}

/* Adds the wall time of a phase in this burst, from the first lane's begin to the last lane's end.
 * Also adds path_ticks, the part of it that is not measured. If each lane's unmeasured time is
 * taken off, a different lane may be the last. */
static void add_wall(struct ab_worker *w, uint32_t p, struct ab_phase_report *sum)
{
    uint64_t begin = UINT64_MAX, end = 0, own_end = 0;
    for (uint32_t i = 0; i < w->image->n_lanes; i++) {
        const struct ab_phase_report *lane = &w->lanes[i].reports[p];
        if (lane->end_tick == 0)
            continue;
        begin = lane->begin_tick < begin ? lane->begin_tick : begin;
        end = lane->end_tick > end ? lane->end_tick : end;
        uint64_t own = lane->end_tick - lane->path_ticks;
        own_end = own > own_end ? own : own_end;
    }
    if (end == 0)
        return;
    sum->wall_ticks += end - begin;
    sum->path_ticks += end - own_end;
    sum->begin_tick = sum->begin_tick == 0 ? begin : sum->begin_tick;
    sum->end_tick = end;
}

static void add_reports(struct ab_worker *w)
{
    for (uint32_t p = 0; p < w->image->n_phases; p++) {
        struct ab_phase_report *sum = &w->page->report.phases[p];
        const struct ab_phase_report *first = &w->lanes[0].reports[p];
        sum->process_cpu_ns += first->process_cpu_ns;
        if (first->live_peak_blocks > sum->live_peak_blocks)
            sum->live_peak_blocks = first->live_peak_blocks;
        add_wall(w, p, sum);
        for (uint32_t i = 0; i < w->image->n_lanes; i++) {
            struct ab_phase_report *lane = &w->lanes[i].reports[p];
            if (lane->end_tick != 0)
                add_report(sum, lane);
            memset(lane, 0, sizeof *lane);
        }
    }
}

/* ---- bursts ---- */

bool ab_lanes_next_burst(struct ab_lane *lane)
{
    struct ab_worker *w = lane->w;
    if (w->image->n_bursts == 1)
        return false;
    /* Lane 0 changes the burst only after the barrier. */
    uint32_t next = w->burst + 1;
    bool goes_on = next < w->image->n_bursts && !ab_lanes_have_failed(w);
    barrier(w);
    if (lane->index == 0 && goes_on) {
        add_reports(w);
        ab_memory_leave_burst(w);
        if (!ab_worker_enter_burst(w, next))
            ab_worker_fail(w, AB_FAILURE_SYSTEM, "cannot read the tape", NULL);
        ab_memory_enter_burst(w);
        if (w->placement != NULL)
            ab_placed_enter_burst(w, next - 1, next);
        *(volatile uint32_t *)&w->page->report.burst = next;
    }
    if (goes_on)
        barrier(w);
    return goes_on;
}

/* Runs lane 0. Returns false if another thread goes on with the lane and must be waited for. */
static bool run_lane_0(struct ab_worker *w)
{
    struct ab_lane *lane = &w->lanes[0];
    if (lane->handover == NULL || w->image->has_first_ended == 0)
        return run_lane(lane, true);
    if (pthread_create(&meeting.threads[0], &meeting.heirs, thread_first, lane) != 0)
        ab_worker_fail(w, AB_FAILURE_SYSTEM, "cannot start a thread for each lane", NULL);
    return false;
}

void ab_lanes_run(struct ab_worker *w, ab_lane_pass *pass, void *face, bool is_heap)
{
    meeting.pass = pass;
    meeting.heap = is_heap ? face : NULL;
    for (uint32_t i = 0; i < w->image->n_lanes; i++)
        w->lanes[i].face = face;
    barrier(w);
    if (!run_lane_0(w))
        await_lane_0();
    barrier(w);
    for (uint32_t i = 1; i < w->image->n_lanes; i++)
        pthread_join(meeting.threads[i], NULL);
    if (!is_alone(w))
        add_reports(w);
}

/* ---- called from a pass ---- */

/* True if the first turn of the phase belongs to the lane. */
static bool is_first_turn(const struct ab_lane *lane, uint32_t phase)
{
    const struct ab_phase *p = &lane->w->phases[phase];
    return p->turns_begin < p->turns_end && lane->w->turns[p->turns_begin].lane == lane->index;
}

/* Counts the lanes that need a CPU. A lane with at most 5 % of an equal share of the ops, such as a
 * main thread that waits for the others, does not count. */
static uint32_t count_busy(const struct ab_worker *w, uint32_t phase)
{
    uint32_t n_lanes = w->image->n_lanes, n = 0;
    const uint32_t *begin = &w->lane_begin[phase * n_lanes];
    uint64_t all = begin[n_lanes] - begin[0];
    for (uint32_t i = 0; i < n_lanes; i++)
        n += (uint64_t)(begin[i + 1] - begin[i]) * n_lanes * 20 > all;
    return n;
}

/* Returns the group of lanes that the lane's first op in the phase names. Returns AB_GROUP_ALL if
 * the op names none, because the window then binds the lane to all others. */
static uint32_t group_of(const struct ab_lane *lane, uint32_t phase)
{
    const struct ab_worker *w = lane->w;
    const uint32_t *begin = &w->lane_begin[phase * w->image->n_lanes + lane->index];
    uint64_t op = begin[0] < begin[1] ? w->ops[begin[0]] : 0;
    bool is_said = AB_OP_CODE(op) == AB_CODE_WAIT && AB_OP_SLOT(op) == AB_SLOT_GROUP;
    return is_said ? AB_OP_SIZE(op) : AB_GROUP_ALL;
}

/* Lists the other lanes that the window binds this lane to, once for each phase. Finding them at
 * each frame would fetch a cache line from each lane. */
static void find_bound(struct ab_lane *lane, uint32_t phase)
{
    struct ab_lane *lanes = lane->w->lanes;
    uint32_t group = group_of(lane, phase);
    lane->n_bound = 0;
    for (uint32_t i = 0; i < lane->w->image->n_lanes; i++) {
        uint32_t other = group_of(&lanes[i], phase);
        if (i != lane->index && (other == group || other == AB_GROUP_ALL))
            lane->bound[lane->n_bound++] = (uint8_t)i;
    }
}

/* Finds the places in the phase at which threads of this lane end. */
static void begin_handovers(struct ab_lane *lane, uint32_t phase)
{
    const struct ab_worker *w = lane->w;
    struct ab_handover *h = lane->handover;
    h->phase = phase;
    h->next = h->last = 0;
    if (ab_tape_burst(w->image, w->burst)->thread_ends.n == 0)
        return;
    const uint32_t *begin = &w->thread_end_begin[phase * w->image->n_lanes + lane->index];
    h->next = begin[0];
    h->last = begin[1];
}

void ab_lane_begin_phase(struct ab_lane *lane, uint32_t phase)
{
    struct ab_worker *w = lane->w;
    if (lane->handover != NULL)
        begin_handovers(lane, phase);
    if (lane->index == 0) {
        *(volatile uint32_t *)&w->page->report.phase = phase;
        __atomic_store_n(&meeting.live_peak, meeting.live, __ATOMIC_RELAXED);
    }
    lane->wait_ticks = lane->awake_ticks = lane->asleep_cpu_ns = 0;
    find_bound(lane, phase);
    lane->is_crowded = count_busy(w, phase) > w->n_cpus;
    ab_gauge_reset(&lane->published, 0);
    ab_gauge_reset(&lane->frame, 0);
    ab_gauge_reset(&lane->turn, is_first_turn(lane, phase) ? w->phases[phase].turns_begin + 1 : 0);
    __atomic_add_fetch(&w->n_awake, 1, __ATOMIC_RELAXED);
    barrier(w);
}

void ab_lane_end_phase(struct ab_lane *lane, uint32_t phase)
{
    struct ab_phase_report *report = &lane->reports[phase];
    report->wait_ticks = lane->wait_ticks;
    report->awake_ticks = lane->awake_ticks;
    report->asleep_cpu_ns = lane->asleep_cpu_ns;
    report->is_crowded = lane->is_crowded;
    report->n_trims += lane->n_trims;
    report->n_trims_done += lane->w->trim != NULL ? lane->n_trims : 0;
    lane->n_trims = 0;
    ab_gauge_set(lane, &lane->published, UINT32_MAX - 1);
    ab_gauge_set(lane, &lane->frame, UINT32_MAX - 1);
    ab_wait_wake_all(lane);
    __atomic_sub_fetch(&lane->w->n_awake, 1, __ATOMIC_RELAXED);
    barrier(lane->w);
    if (lane->index == 0)
        lane->reports[phase].live_peak_blocks = (uint64_t)meeting.live_peak;
}

/* Waits until the other lane's `gauge` is at least `count`. */
static void await(struct ab_lane *lane, const struct ab_lane *other, struct ab_gauge *gauge,
                  uint32_t count)
{
    if (ab_gauge_read(gauge) >= count)
        return;
    uint64_t waited = lane->wait_ticks;
    ab_wait_for(lane, gauge, count);
    ab_apart_waited(lane, other, lane->wait_ticks - waited);
}

/* Enters a frame, a stretch of the global order: waits until every bound lane is at most one frame
 * behind. First sets this lane's gauge, because others may wait for it. */
static void enter_frame(struct ab_lane *lane, uint32_t frame)
{
    ab_gauge_set(lane, &lane->frame, frame);
    for (uint32_t i = 0; i < lane->n_bound; i++) {
        struct ab_lane *other = &lane->w->lanes[lane->bound[i]];
        await(lane, other, &other->frame, frame - 1);
    }
}

void ab_lane_await(struct ab_lane *lane, uint32_t slot, uint32_t operand)
{
    if (lane->is_strict) /* in strict order, the turns already guarantee what the WAIT asks for */
        return;
    else if (slot == AB_SLOT_FRAME)
        enter_frame(lane, operand);
    /* AB_SLOT_GROUP only names the lane's group, which find_bound() took at the beginning of the
     * phase: there is nothing to wait for */
    else if (slot != AB_SLOT_GROUP) {
        struct ab_lane *other = &lane->w->lanes[AB_LANE_OF_SLOT(slot)];
        await(lane, other, &other->published, operand);
    }
}

void ab_lane_count_live(int kind, uint32_t n_spared)
{
    if (kind == AB_OP_FREE || n_spared > 0) {
        __atomic_sub_fetch(&meeting.live, kind == AB_OP_FREE ? 1 : n_spared, __ATOMIC_RELAXED);
    } else if (kind >= 0 && kind < AB_OP_RESIZE) {
        int64_t live = __atomic_add_fetch(&meeting.live, 1, __ATOMIC_RELAXED);
        int64_t peak = __atomic_load_n(&meeting.live_peak, __ATOMIC_RELAXED);
        while (live > peak && !__atomic_compare_exchange_n(&meeting.live_peak, &peak, live, true,
                                                           __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
        }
    }
}

/* Waits until the turn is given to this lane. `lane->turn` holds the turn number plus one; 0 means
 * no turn yet. */
void ab_lane_take_turn(struct ab_lane *lane, uint32_t turn)
{
    if (lane->w->image->n_lanes > 1 && ab_gauge_read(&lane->turn) < turn + 1)
        ab_wait_for(lane, &lane->turn, turn + 1);
}

void ab_lane_end_turn(struct ab_lane *lane, uint32_t phase, uint32_t turn)
{
    struct ab_worker *w = lane->w;
    if (w->image->n_lanes == 1 || turn + 1 >= w->phases[phase].turns_end)
        return;
    struct ab_lane *next = &w->lanes[w->turns[turn + 1].lane];
    ab_apart_hand_over(lane, next);
    ab_gauge_set_last(lane, &next->turn, turn + 2);
}

bool ab_lanes_have_failed(const struct ab_worker *w)
{
    for (uint32_t i = 0; i < w->image->n_lanes; i++)
        if (w->lanes[i].first_null_op != UINT32_MAX)
            return true;
    return false;
}

bool ab_lane_is_in_rows(const struct ab_lane *lane, uint32_t begin, uint32_t end)
{
    enum { LOOKED_AT = 4096 };
    uint32_t n = end - begin < LOOKED_AT ? end - begin : LOOKED_AT, n_followed = 0;
    for (uint32_t i = begin; i + 1 < begin + n; i++) {
        unsigned code = AB_OP_CODE(lane->ops[i]);
        bool is_plain = code == AB_CODE_ALLOC || code == (AB_CODE_ALLOC | AB_CODE_TOUCHED);
        n_followed += is_plain && AB_OP_CODE(lane->ops[i + 1]) == code;
    }
    return n_followed > n / 2;
}

/* The global order of a phase, made from the turns of the tape. A turn counts requests, but the
 * tape also holds WAITs and PUBLISHes. So a stretch of ops includes the WAITs and PUBLISHes ahead
 * of its requests, and the PUBLISH after its last request. */

void ab_order_begin(struct ab_order *order, const struct ab_worker *w, uint32_t phase)
{
    order->w = w;
    order->phase = phase;
    order->lane = 0;
    order->next = order->turn = w->phases[phase].turns_begin;
    for (uint32_t i = 0; i < w->image->n_lanes; i++)
        order->at[i] = w->lane_begin[phase * w->image->n_lanes + i];
}

static uint32_t stretch_end(const struct ab_worker *w, uint32_t i, uint32_t n)
{
    while (n > 0)
        n -= !ab_op_is_guard(w->ops[i++]);
    while (i < ab_tape_burst(w->image, w->burst)->n_ops && AB_OP_CODE(w->ops[i]) == AB_CODE_PUBLISH)
        i++;
    return i;
}

bool ab_order_next(struct ab_order *order, uint32_t *begin, uint32_t *end)
{
    const struct ab_worker *w = order->w;
    const struct ab_phase *phase = &w->phases[order->phase];
    /* a tape of one lane has no turns: its whole phase is one stretch */
    if (w->image->n_lanes == 1) {
        *begin = order->at[0];
        *end = order->at[0] = w->lane_begin[order->phase + 1];
        return *begin < *end;
    }
    if (order->next == phase->turns_end)
        return false;
    const struct ab_turn *turn = &w->turns[order->next];
    order->turn = order->next++;
    order->lane = turn->lane;
    *begin = order->at[turn->lane];
    *end = order->at[turn->lane] = stretch_end(w, *begin, turn->n);
    return true;
}
