/* SPDX-License-Identifier: MIT
 *
 * Writes one stream of events per thread, without locks, malloc or shared counters. One instruction
 * takes the place of an event, so that a signal handler in the middle of an event gets another
 * place. Two halves are written in turn: the handler may fill one and continue in the other while
 * the interrupted event is still in the first. A half is packed when its buffer is needed again.
 * The file is written when no more packed halves fit into memory.
 *
 * Events of different threads are ordered by their stamps. Only events of a process with several
 * threads have stamps of their own, because reading the clock costs more than everything else. The
 * tick counter is read before an event that frees a block, and after one that gives out a block. If
 * the counters of CPUs differ, the converter repairs and counts the wrong orders.
 *
 * Everything about a process is reached through one page that is wiped in a forked child
 * (MADV_WIPEONFORK), so that the child never writes to its parent's streams. A child of vfork
 * shares the memory and the thread of its parent, and records as its parent.
 */
#include "record/preload/preload_spool.h"

#include "record/preload/preload_sites.h"
#include "record/preload/preload_written.h"
#include "record/preload/spool_codec.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static struct ab_spool_process not_recorded = {.has_stopped = true};
/* alone: the C library's variable, which is 1 while the process has one thread; `never` is always
 * 0 */
static const char never, *alone = &never;
static uint32_t command; /* id of the process that `record` started */
static bool takes_children;

struct ab_spool_process *ab_process = &not_recorded;
const char *ab_is_alone = &never;
__thread struct ab_spool_tail *ab_own_tail;

/* The fork in progress in this thread, which becomes the only thread of the child. */
static __thread struct fork_point {
    uint32_t pid, generation, number; /* 0 = none */
} fork_point __attribute__((tls_model("initial-exec")));

/* Stops recording in this process. Only the first reason counts; `record` may have set one
 * before. */
static void stop(enum ab_spool_stop why)
{
    struct ab_spool_image *image = ab_process->image;
    uint32_t running = AB_SPOOL_RUNNING;
    uint32_t error = (uint32_t)errno;
    if (__atomic_compare_exchange_n(&image->stop, &running, (uint32_t)why, false, __ATOMIC_SEQ_CST,
                                    __ATOMIC_RELAXED))
        image->stop_errno = error;
}

/* True if `record` has stopped the recording of all processes. */
static bool is_over(void)
{
    uint32_t why = __atomic_load_n(&ab_control->stop, __ATOMIC_SEQ_CST);
    if (why != AB_SPOOL_RUNNING && ab_process->image != NULL)
        stop((enum ab_spool_stop)why);
    return why != AB_SPOOL_RUNNING;
}

static struct ab_file_id file_of(int32_t slot)
{
    return (struct ab_file_id){ab_process->image->pid, ab_process->generation, slot};
}

/* ---- the two halves of a stream, which are written in turn ---- */

/* Packs a half into the pack area, after the chunks that are already in it. Returns false if there
 * is no room. */
static bool pack_half(struct ab_spool_tail *tail, unsigned half)
{
    uint64_t left = AB_SPOOL_PACK_BYTES - tail->pack_bytes;
    struct ab_spool_chunk *chunk = (struct ab_spool_chunk *)((char *)tail + AB_SPOOL_PACK +
                                                             tail->pack_bytes);
    if (left < sizeof *chunk)
        return false;
    size_t words = ab_half_pack(ab_half_events(tail, half), AB_SPOOL_HALF_EVENTS,
                                (uint64_t *)(chunk + 1), (left - sizeof *chunk) / 8);
    if (words == 0)
        return false;
    chunk->number = tail->half_number[half] - 1;
    chunk->bytes = words * 8;
    __atomic_store_n(&tail->pack_bytes, tail->pack_bytes + sizeof *chunk + words * 8,
                     __ATOMIC_RELEASE);
    return true;
}

static enum ab_spool_stop save_half(struct ab_spool_tail *tail, unsigned half, struct ab_file_id id)
{
    if (pack_half(tail, half))
        return AB_SPOOL_RUNNING;
    enum ab_spool_stop why = ab_files_save(id, tail);
    if (why == AB_SPOOL_RUNNING)
        pack_half(tail, half); /* cannot fail: a half always fits into an empty pack area */
    return why;
}

/* Clears the kinds of all events, because kind 0 marks an event that was never written. */
static void empty_half(struct ab_spool_event *events)
{
    for (struct ab_spool_event *e = events; e < events + AB_SPOOL_HALF_EVENTS; e += 4)
        e[0].stamp_kind = e[1].stamp_kind = e[2].stamp_kind = e[3].stamp_kind = 0;
}

/* Makes the buffer of half `number` ready for new events: saves the half that is in it, then
 * empties it. Called with all signals blocked. */
static enum ab_spool_stop turn_half(struct ab_spool_tail *tail, uint64_t number,
                                    struct ab_file_id id)
{
    unsigned half = number % 2;
    if (tail->half_number[half] == number + 1)
        return AB_SPOOL_RUNNING; /* a signal handler has done it already */
    if (tail->half_number[half] != 0) {
        enum ab_spool_stop why = save_half(tail, half, id);
        if (why != AB_SPOOL_RUNNING)
            return why;
    }
    /* From here on the file has the events of the half only in a chunk, because the thread can be
     * killed while it empties the half. */
    __atomic_store_n(&tail->half_number[half], 0, __ATOMIC_SEQ_CST);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    empty_half(ab_half_events(tail, half));
    __atomic_store_n(&tail->half_number[half], number + 1, __ATOMIC_RELEASE);
    return AB_SPOOL_RUNNING;
}

/* Adds the calls in a half that just became full to the count of all processes. */
static void count_half(struct ab_spool_tail *tail)
{
    uint64_t n_asides = tail->n_asides;
    int64_t n_calls = AB_SPOOL_HALF_EVENTS - (int64_t)(n_asides - tail->n_asides_counted);
    tail->n_asides_counted = n_asides;
    int64_t n = __atomic_add_fetch(&ab_control->n_events, n_calls, __ATOMIC_RELAXED);
    uint32_t running = AB_SPOOL_RUNNING;
    if (ab_control->most_events != 0 && n >= (int64_t)ab_control->most_events)
        __atomic_compare_exchange_n(&ab_control->stop, &running, AB_SPOOL_ENOUGH, false,
                                    __ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
}

static bool is_recording(void)
{
    return ab_process->image != NULL && !is_over() &&
           __atomic_load_n(&ab_process->image->stop, __ATOMIC_SEQ_CST) == 0;
}

static bool turn_halves(struct ab_spool_tail *tail, uint64_t number)
{
    /* False if the previous half is the parent's, or if a signal handler has counted it already. */
    if (number > 0 && tail->half_number[(number - 1) % 2] == number &&
        tail->half_number[number % 2] < number)
        count_half(tail);
    if (!is_recording())
        return false;
    enum ab_spool_stop why = turn_half(tail, number, file_of((int32_t)tail->slot));
    if (why != AB_SPOOL_RUNNING)
        stop(why);
    return why == AB_SPOOL_RUNNING;
}

/* Returns the place for an event whose half may be gone. After the event took its place, a signal
 * handler may have noted so many events that the half was reused, and a reused buffer never gets an
 * old half again. The event then gets a new place after the handler's events, which cannot depend
 * on it. */
static uint64_t place_of_late(struct ab_spool_tail *tail, uint64_t place)
{
    uint64_t number = place / AB_SPOOL_HALF_EVENTS;
    if (tail->half_number[number % 2] <= number + 1)
        return place;
    tail->n_moved++;
    ab_spool_take_place(&tail->n_asides);
    return ab_spool_take_place(&tail->n_events);
}

/* Adds the time spent on a full half. Limits outliers, because a much longer time means that the
 * thread was interrupted. */
static void count_turn(struct ab_spool_tail *tail, uint64_t ticks)
{
    enum { LONGER = 32 };
    if (tail->least_turn_ticks == 0 || ticks < tail->least_turn_ticks)
        tail->least_turn_ticks = ticks;
    uint64_t most = LONGER * tail->least_turn_ticks;
    tail->turn_ticks += ticks < most ? ticks : most;
}

AB_HIDDEN __attribute__((noinline)) void ab_spool_put_in_next_half(struct ab_spool_tail *tail,
                                                                   uint64_t place,
                                                                   uint64_t stamp_kind,
                                                                   uint64_t address, uint64_t size)
{
    int saved = errno;
    uint64_t all = ~UINT64_C(0), old; /* a signal set of the kernel */
    uint64_t begin = ab_stamp_now();
    syscall(SYS_rt_sigprocmask, SIG_BLOCK, &all, &old, sizeof old);
    __atomic_store_n(&tail->is_turning, 1,
                     __ATOMIC_SEQ_CST); /* set before we look: see ab_relay_stop */
    place = place_of_late(tail, place);
    if (turn_halves(tail, place / AB_SPOOL_HALF_EVENTS))
        ab_spool_fill(tail, place, stamp_kind, address, size);
    __atomic_store_n(&tail->is_turning, 0, __ATOMIC_RELEASE);
    uint64_t end = ab_stamp_now();
    count_turn(tail, end - begin);
    tail->last_stamp = end;
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &old, NULL, sizeof old);
    errno = saved;
}

/* Notes an event without a stamp. Does nothing in a child that a signal handler forked while the
 * parent was noting an event. */
static void put_unstamped(struct ab_spool_tail *tail, enum ab_spool_kind kind, uint64_t address,
                          uint64_t size)
{
    if (ab_process->image == NULL)
        return;
    ab_spool_take_place(&tail->n_asides);
    ab_spool_put(tail, 0, kind, address, size);
}

/* ---- threads ---- */

static bool is_dead(uint32_t thread)
{
    return syscall(SYS_tgkill, ab_process->image->pid, thread, 0) != 0 && errno == ESRCH;
}

/* Takes over the slot of a dead thread and returns its stream; NULL if none was found. Looks at a
 * few slots each time, because with many living threads a full search would make each new thread
 * slow. */
static struct ab_spool_tail *recycle(uint32_t self)
{
    enum { LOOKED_AT = 16 };
    struct ab_spool_process *p = ab_process;
    uint32_t n = __atomic_load_n(&p->image->n_slots, __ATOMIC_ACQUIRE);
    for (uint32_t i = 0; i < LOOKED_AT && i < n; i++) {
        uint32_t at = __atomic_fetch_add(&p->next_recycled, 1, __ATOMIC_RELAXED) % n;
        struct ab_spool_tail *tail = __atomic_load_n(&p->tails[at], __ATOMIC_ACQUIRE);
        if (tail == NULL)
            continue; /* another thread is making it */
        uint32_t owner = __atomic_load_n(&tail->owner, __ATOMIC_ACQUIRE);
        /* A slot whose owner has our id belonged to an earlier thread with the same id. */
        if ((owner == self || is_dead(owner)) &&
            __atomic_compare_exchange_n(&tail->owner, &owner, self, false, __ATOMIC_ACQ_REL,
                                        __ATOMIC_RELAXED))
            return tail;
    }
    return NULL;
}

static struct ab_spool_tail *make_tail(uint32_t self)
{
    struct ab_spool_process *p = ab_process;
    uint32_t slot = __atomic_fetch_add(&p->image->n_slots, 1, __ATOMIC_ACQ_REL);
    enum ab_spool_stop why = AB_SPOOL_NO_SLOT;
    struct ab_spool_tail *tail = NULL;
    if (slot < AB_SPOOL_SLOTS_MAX)
        tail = ab_files_make(file_of((int32_t)slot), AB_SPOOL_DATA, &why);
    if (tail == NULL) {
        stop(why);
        return NULL;
    }
    if (slot > 0)
        __atomic_store_n(&ab_is_alone, &never, __ATOMIC_RELAXED);
    tail->slot = slot;
    tail->owner = self;
    tail->magic = AB_SPOOL_MAGIC;
    __atomic_store_n(&p->tails[slot], tail, __ATOMIC_RELEASE);
    return tail;
}

/* Key of thread-specific data. Its value in a thread with a stream is the number of the current
 * round of destructors. -1 = no key could be had whose value needs no malloc. */
static int64_t end_key = -1;

/* Notes the end of a thread. Waits for the last round of destructors, because destructors of other
 * keys may run later and free memory. A forked child without calls has no stream to end. */
static void end_thread(void *user)
{
    uintptr_t round = (uintptr_t)user;
    const struct ab_spool_image *image = ab_process->image;
    if (round < PTHREAD_DESTRUCTOR_ITERATIONS)
        pthread_setspecific((pthread_key_t)end_key, (void *)(round + 1));
    else if (ab_own_tail != NULL && image != NULL && image->pid == ab_process_id())
        ab_spool_note_beside(AB_SPOOL_ASIDE, AB_SPOOL_ASIDE_MAKE(AB_SPOOL_EXIT, 0), 0);
}

/* Creates the key by which ends of threads are noticed. The values of the first keys are stored in
 * each thread. A later key would need malloc: it is deleted, and ends of threads are not
 * noticed. */
AB_HIDDEN void ab_spool_watch_threads(void)
{
    enum { WITHOUT_MALLOC = 32 };
    pthread_key_t key;
    if (pthread_key_create(&key, end_thread) != 0)
        return;
    if (key < WITHOUT_MALLOC)
        end_key = key;
    else
        pthread_key_delete(key);
}

static bool start_image(const struct fork_point *from);

/* Measures the cost of noting events in this stream while its page is warm. Returns the best of a
 * few rounds in ticks, because slower ones were interrupted. */
static uint32_t try_events(struct ab_spool_tail *tail, bool has_stamp)
{
    uint64_t best = UINT32_MAX;
    for (int round = 0; round < 4; round++) {
        uint64_t begin = ab_stamp_now();
        for (int i = 0; i < AB_SPOOL_TRIALS; i++) {
            if (has_stamp)
                ab_stamp_now();
            ab_spool_put(tail, 0, AB_SPOOL_TRIAL, 0, 0);
        }
        uint64_t ticks = ab_stamp_now() - begin;
        best = ticks < best ? ticks : best;
    }
    return (uint32_t)best;
}

/* Finds or makes the stream of the calling thread. Returns NULL if nothing is recorded. */
static struct ab_spool_tail *enter_thread(void)
{
    if (ab_process->image == NULL) { /* a forked child must not use the parent's stream */
        ab_own_tail = NULL;
        ab_process->has_stopped = !takes_children;
        struct fork_point from = fork_point;
        fork_point.number = 0;
        if (from.number == 0)
            from = (struct fork_point){.pid = (uint32_t)syscall(SYS_getppid)};
        if (ab_process->has_stopped || !start_image(&from))
            return NULL;
    }
    if (ab_process->has_stopped || ab_process->image->stop != AB_SPOOL_RUNNING)
        return NULL;
    if (ab_own_tail != NULL)
        return ab_own_tail;
    if (ab_process->image->pid != ab_process_id())
        /* a child of vfork, of a thread that never allocated: a stream made now would be the
         * parent's, with a thread id that the kernel soon gives to another thread */
        return NULL;
    uint32_t self = ab_thread_id();
    struct ab_spool_tail *tail = recycle(self);
    if (tail == NULL)
        tail = make_tail(self);
    if (tail == NULL)
        return NULL;
    uint64_t n_before = tail->n_events;
    if (ab_process->sites != NULL)
        ab_sites_begin(&ab_process->sites[tail->slot], self, &ab_own_tail, put_unstamped);
    ab_spool_put(tail, ab_stamp_now(), AB_SPOOL_BIRTH, self, 0);
    tail->last_stamp = ab_stamp_now();
    if (ab_process->image->trial_ticks == 0) {
        ab_process->image->bare_ticks = try_events(tail, false);
        ab_process->image->trial_ticks = try_events(tail, true);
    }
    tail->n_asides += tail->n_events - n_before;
    if (end_key >= 0)
        pthread_setspecific((pthread_key_t)end_key, (void *)1);
    ab_own_tail = tail;
    return tail;
}

static __attribute__((noinline)) struct ab_spool_tail *find_tail(void)
{
    int saved = errno;
    uint64_t all = ~UINT64_C(0), old;
    syscall(SYS_rt_sigprocmask, SIG_BLOCK, &all, &old, sizeof old);
    struct ab_spool_tail *tail = enter_thread();
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &old, NULL, sizeof old);
    errno = saved;
    return tail;
}

AB_HIDDEN struct ab_spool_tail *ab_spool_find_tail(void)
{
    const struct ab_spool_image *image = ab_process->image;
    uint32_t why = image != NULL ? __atomic_load_n(&image->stop, __ATOMIC_RELAXED) : 0;
    if (ab_process->has_stopped || why != AB_SPOOL_RUNNING)
        return NULL;
    return find_tail();
}

/* ---- the process ---- */

/* Returns the CPU time of all threads of the process, including ended ones. */
static uint64_t cpu_now_ns(void)
{
    struct timespec t = {0};
    syscall(SYS_clock_gettime, CLOCK_PROCESS_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static bool start_image(const struct fork_point *from)
{
    struct ab_spool_process *p = ab_process;
    p->has_stopped = true; /* stays set until the image is complete */
    p->next_recycled = 0;
    p->n_forks = 0;
    __atomic_store_n(&ab_is_alone, alone, __ATOMIC_RELAXED);
    if (p->tails == NULL)
        p->tails = ab_files_map_private(AB_SPOOL_SLOTS_MAX * sizeof p->tails[0]);
    p->sites = ab_sites_can(ab_control->site_depth)
                   ? ab_files_map_private(AB_SPOOL_SLOTS_MAX * sizeof p->sites[0])
                   : NULL;
    if (is_over())
        return false;
    enum ab_spool_stop why = AB_SPOOL_NO_MEMORY;
    struct ab_spool_image *image = p->tails != NULL ? ab_program_make_image(&p->generation, &why)
                                                    : NULL;
    if (image == NULL) {
        if (why != AB_SPOOL_FULL &&
            why != AB_SPOOL_SHARE) /* with these two the recording is over: its limit was reached */
            ab_exec_note(ab_process_id(), ab_program_name(), why);
        return false;
    }
    image->pid = ab_process_id();
    image->parent = from->pid;
    image->parent_generation = from->generation;
    image->fork_number = from->number;
    image->command = command;
    image->generation = p->generation;
    if (p->generation > 0) /* for the first program, the CPU time of its start counts too */
        image->cpu_begin_ns = cpu_now_ns();
    image->takes_children = takes_children;
    image->has_sites = p->sites != NULL;
    image->lacks_sites = ab_control->site_depth != 0 && p->sites == NULL;
    ab_program_note(image);
    image->magic = AB_SPOOL_MAGIC;
    p->image = image;
    p->has_stopped = false;
    return !is_over(); /* `record` may have ended the recording before it could see this image */
}

AB_HIDDEN void ab_spool_begin(void)
{
    const char *where = ab_environment(AB_SPOOL_ENV_FOLDER);
    const char *pid = ab_environment(AB_SPOOL_ENV_PID);
    size_t bytes = (sizeof(struct ab_spool_process) + AB_SPOOL_PAGE - 1) &
                   ~(size_t)(AB_SPOOL_PAGE - 1);
    if (where == NULL || pid == NULL)
        return;
    command = ab_program_read_command(pid, &takes_children);
    if (command == 0 || (!takes_children && command != ab_process_id()))
        return; /* a child of the command, and children are not recorded */
    struct ab_spool_process *p = ab_files_map_private(bytes);
    if (p == NULL || !ab_files_start(where) || syscall(SYS_madvise, p, bytes, MADV_WIPEONFORK) != 0)
        return; /* Linux before 4.14: a forked child would write to its parent's streams */
    const char *word = dlsym(RTLD_DEFAULT, "__libc_single_threaded");
    alone = word != NULL && !ab_control->has_time ? word : &never;
    ab_process = p;
    ab_program_find();
    ab_exec_noted = takes_children ? AB_EXEC_OF_ALL : (int64_t)command;
    ab_exec_forget_start();
    start_image(&(struct fork_point){0});
}

/* Returns the generation that the next program of process `pid` will have; 0 for a child of vfork,
 * which has no image of its own. */
AB_HIDDEN uint32_t ab_exec_next_generation(uint32_t pid)
{
    const struct ab_spool_process *p = ab_process;
    return p->image != NULL && p->image->pid == pid ? p->generation + 1 : 0;
}

/* Notes the written pages of blocks at the end of the process. Does nothing in a child of vfork,
 * whose end is not that of the process. */
AB_HIDDEN void ab_spool_end_blocks(void)
{
    if (ab_spool_is_own())
        ab_written_end_all();
}

AB_HIDDEN void ab_spool_end(void)
{
    struct ab_spool_process *p = ab_process;
    bool is_own = ab_spool_is_own();
    if (is_own) /* taken before work that only the recording needs */
        p->image->cpu_ns = cpu_now_ns() - p->image->cpu_begin_ns;
    ab_spool_end_blocks();
    if (!is_own)
        return;
    p->image->own_bytes = __atomic_load_n(&ab_files_private_bytes, __ATOMIC_RELAXED);
    p->image->has_exited = 1;
    ab_files_look(file_of(-1), true);
}

/* ---- forks ---- */

AB_HIDDEN void ab_spool_fork_begin(void)
{
    struct ab_spool_tail *tail = takes_children ? ab_spool_tail_of_thread() : NULL;
    struct ab_spool_process *p = ab_process;
    fork_point.number = 0;
    if (tail == NULL)
        return;
    fork_point = (struct fork_point){p->image->pid, p->generation,
                                     __atomic_add_fetch(&p->n_forks, 1, __ATOMIC_RELAXED)};
    ab_spool_take_place(&tail->n_asides);
    ab_spool_put(tail, ab_spool_stamp(tail), AB_SPOOL_FORK, fork_point.number, 0);
}

AB_HIDDEN void ab_spool_fork_end(void)
{
    fork_point.number = 0;
}

/* Detaches a child that a signal handler forked while the parent was noting an event. If the child
 * continues that event, it already holds the parent's stream. */
AB_HIDDEN void ab_spool_fork_child(void)
{
    int saved = errno;
    if (ab_own_tail != NULL && ab_process->image == NULL)
        ab_files_part_with(ab_own_tail, AB_SPOOL_DATA);
    errno = saved;
}

/* ---- events ---- */

/* Notes an allocation, and before it the call stack. If a child is forked in between, it uses its
 * own stream for the rest. */
AB_HIDDEN void ab_spool_note_given(enum ab_spool_kind kind, const void *address, size_t size,
                                   struct ab_here here)
{
    struct ab_spool_tail *tail = ab_spool_tail_of_thread();
    struct ab_sites **sites = ab_process->sites;
    if (tail != NULL && sites != NULL && sites[tail->slot] != NULL) {
        ab_sites_note(sites[tail->slot], tail, here);
        tail = ab_process->image != NULL ? tail : ab_spool_tail_of_thread();
    }
    if (tail != NULL)
        ab_spool_put(tail, ab_spool_stamp(tail), kind, (uint64_t)(uintptr_t)address, size);
}

/* Returns the log2 of an alignment. Rounds an alignment that is not a power of two up, as libraries
 * that accept it do. */
static unsigned log2_up(size_t align)
{
    return align <= 1 ? 0 : 64 - (unsigned)__builtin_clzll((unsigned long long)align - 1);
}

AB_HIDDEN void ab_spool_note_aligned(const void *address, size_t size, size_t align,
                                     struct ab_here here)
{
    unsigned log2 = log2_up(align);
    uint64_t both = (uint64_t)(uintptr_t)address | (uint64_t)(log2 < 63 ? log2 : 63) << 58;
    ab_spool_note_given(AB_SPOOL_ALIGNED, (const void *)(uintptr_t)both, size, here);
}

/* True if the block was noted since place `before` of the stream. Searches only events that are
 * still in the halves. */
static bool is_given_since(struct ab_spool_tail *tail, uint64_t before, const void *address)
{
    enum { MOST = 2 * AB_SPOOL_HALF_EVENTS };
    uint64_t n = tail->n_events;
    for (uint64_t i = n > before + MOST ? n - MOST : before; i < n; i++) {
        const struct ab_spool_event *e = &ab_half_events(tail, 0)[i % MOST];
        enum ab_spool_kind kind = AB_SPOOL_KIND(e);
        if ((kind == AB_SPOOL_ALLOC || kind == AB_SPOOL_ZEROED || kind == AB_SPOOL_ALIGNED ||
             kind == AB_SPOOL_RESIZE_END) &&
            AB_SPOOL_ADDRESS(e) == (uint64_t)(uintptr_t)address)
            return true;
    }
    return false;
}

AB_HIDDEN void ab_spool_note_new(struct ab_spool_point before, const void *address, size_t size,
                                 size_t align, struct ab_here here)
{
    struct ab_spool_tail *tail = ab_spool_tail_of_thread();
    if (tail == NULL || (tail == before.tail && is_given_since(tail, before.n_events, address)))
        return;
    if (align == 0)
        ab_spool_note_given(AB_SPOOL_ALLOC, address, size, here);
    else
        ab_spool_note_aligned(address, size, align, here);
}

/* Notes an event that is not a call. It always gets a stamp of its own, so that the time is known
 * and later events may reuse the stamp. */
AB_HIDDEN void ab_spool_note_beside(enum ab_spool_kind kind, uint64_t address, uint64_t size)
{
    int saved = errno;
    struct ab_spool_tail *tail = ab_spool_tail_of_thread();
    if (tail != NULL) {
        uint64_t stamp = ab_stamp_now();
        ab_spool_take_place(&tail->n_asides);
        ab_spool_put(tail, stamp, kind, address, size);
        if (ab_process->image != NULL)
            tail->last_stamp = stamp;
    }
    errno = saved;
}

AB_HIDDEN void ab_spool_note_usable_size(void)
{
    struct ab_spool_process *p = ab_process;
    if (p->image != NULL)
        __atomic_fetch_add(&p->image->n_usable_size, 1, __ATOMIC_RELAXED);
}
