/* SPDX-License-Identifier: MIT
 *
 * Threads and child processes. Interleavings come from the scheduler and from yields at random
 * points. So a pass is weak evidence, but a failure is proof.
 */
#include "worker/checks/checks.h"

#include "base/bits.h"
#include "base/clock.h"
#include "worker/crash/crash.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 4, OWN = 128, SHARED = 256, ROUNDS = 3, OPS = 6000 };

struct block {
    ab_ref ref;
    size_t size;
};

static struct party {
    struct ab_trial *t;
    struct ab_heap *heap; /* heap of this thread */
    struct ab_rng rng;
    uint32_t index;
    bool is_remote; /* True if other threads may free this thread's blocks. */
    struct block own[OWN];
} parties[THREADS];

static struct block shared[SHARED];
static int shared_lock[SHARED];
static int is_over; /* atomic */

static struct block exchange(uint64_t at, struct block with)
{
    while (__atomic_exchange_n(&shared_lock[at], 1, __ATOMIC_ACQUIRE) != 0)
        sched_yield();
    struct block was = shared[at];
    shared[at] = with;
    __atomic_store_n(&shared_lock[at], 0, __ATOMIC_RELEASE);
    return was;
}

static void drop(struct party *p, struct block *b)
{
    if (b->ref != 0)
        ab_checker_free(&p->t->checker, p->heap, b->ref, b->size);
    b->ref = 0;
}

static void step(struct party *p)
{
    struct block *b = &p->own[ab_rng_below(&p->rng, OWN)];
    uint64_t dice = ab_rng_below(&p->rng, 64);
    drop(p, b);
    b->size = 1 + ab_rng_below(&p->rng, dice < 4 ? 4096 : 256);
    struct ab_ask ask = {.call = AB_CALL_ALLOC, .size = b->size};
    b->ref = ab_checker_ask(&p->t->checker, p->heap, &ask);
    if (p->is_remote && dice < 32)
        *b = exchange(ab_rng_below(&p->rng, SHARED), *b);
    if (dice == 63)
        sched_yield();
}

/* Gives the thread a signal stack, before anything can fail on it. */
static void prepare_thread(struct party *p)
{
    static char stacks[THREADS][AB_FAULT_STACK_BYTES] __attribute__((aligned(16)));
    ab_fault_use_stack(stacks[p->index]);
}

static bool enter(struct party *p)
{
    const struct ab_backend *hooks = p->t->target->hooks;
    p->heap = p->t->target->heap;
    if (hooks == NULL || hooks->thread_enter == NULL)
        return true;
    ab_call_note_begin(AB_CALLED_THREAD_ENTER, p->index, 0, 0);
    bool is_in = hooks->thread_enter(p->heap, p->index, &p->heap) == 0;
    ab_call_note_end();
    return is_in;
}

static void leave(struct party *p)
{
    const struct ab_backend *hooks = p->t->target->hooks;
    if (hooks == NULL || hooks->thread_enter == NULL || hooks->thread_leave == NULL)
        return;
    ab_call_note_begin(AB_CALLED_THREAD_LEAVE, 0, 0, 0);
    hooks->thread_leave(p->heap);
    ab_call_note_end();
}

static void *thread_main(void *user)
{
    struct party *p = user;
    prepare_thread(p);
    if (!enter(p))
        ab_trial_fail_text(p->t, "thread_enter refused");
    for (uint32_t i = 0; i < OPS; i++)
        step(p);
    /* If only the thread may free its blocks, it frees them now. Otherwise they outlive the
     * thread. */
    for (uint32_t i = 0; !p->is_remote && i < OWN; i++)
        drop(p, &p->own[i]);
    leave(p);
    return NULL;
}

static void run_round(struct ab_trial *t, bool is_remote, uint32_t round)
{
    pthread_t threads[THREADS];
    for (uint32_t i = 0; i < THREADS; i++) {
        parties[i].t = t;
        parties[i].index = i;
        parties[i].is_remote = is_remote;
        ab_rng_init(&parties[i].rng, ab_rng_next(&t->rng), round);
        if (pthread_create(&threads[i], NULL, thread_main, &parties[i]) != 0)
            ab_trial_fail_text(t, "no thread could be started");
    }
    for (uint32_t i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    ab_checker_sweep(&t->checker);
}

static const char *why_no_threads(const struct ab_target *target)
{
    bool is_safe = ab_target_is_malloc(target) || (target->traits & AB_TRAIT_THREAD_SAFE) != 0 ||
                   target->hooks->thread_enter != NULL;
    return is_safe ? NULL : "single-threaded, by its own declaration";
}

void ab_check_threads(struct ab_trial *t)
{
    bool is_remote = ab_target_is_malloc(t->target) ||
                     (t->target->traits & AB_TRAIT_REMOTE_FREE) != 0;
    const char *why = why_no_threads(t->target);
    if (!ab_trial_needs(t, why == NULL, why))
        return;
    uint64_t before = ab_trial_live_bytes(t);
    t->checker.is_shared = true;
    for (uint32_t round = 0; round < ROUNDS; round++)
        run_round(t, is_remote, round);
    /* frees the blocks that remain, in the role of another thread */
    struct party *last = &parties[0];
    if (is_remote && !enter(last))
        ab_trial_fail_text(t, "thread_enter refused");
    for (uint32_t i = 0; is_remote && i < THREADS * OWN; i++)
        drop(last, &parties[i / OWN].own[i % OWN]);
    for (uint32_t i = 0; is_remote && i < SHARED; i++)
        drop(last, &shared[i]);
    t->report->work = t->checker.n_asked;
    if (ab_target_can_free(t->target) && ab_trial_live_bytes(t) != before)
        ab_trial_fail_text(t, "statistics: live bytes after all threads' blocks were freed");
}

/* ---- one thread allocates, another frees ---- */

enum { REMOTE_PAIRS = 50000, REMOTE_BYTES = 2048, RING = 64 };

static ab_ref ring[RING];
static uint32_t n_put, n_taken; /* atomic */

static void *free_what_comes(void *user)
{
    struct party *p = user;
    prepare_thread(p);
    if (!enter(p))
        ab_trial_fail_text(p->t, "thread_enter refused");
    for (uint32_t i = 0; i < REMOTE_PAIRS; i++) {
        while (__atomic_load_n(&n_put, __ATOMIC_ACQUIRE) == i)
            sched_yield();
        ab_target_free(p->t->target, p->heap, ring[i % RING], REMOTE_BYTES);
        __atomic_store_n(&n_taken, i + 1, __ATOMIC_RELEASE);
    }
    leave(p);
    return NULL;
}

static _Noreturn void end_remote(struct ab_trial *t, uint32_t n_asked)
{
    t->report->n_live = n_asked - __atomic_load_n(&n_taken, __ATOMIC_ACQUIRE);
    ab_trial_null(t, "memory freed by another thread is not reused: NULL within 64 MiB");
}

static void ask_what_goes(struct ab_trial *t, struct ab_heap *heap)
{
    const struct ab_ask ask = {.call = AB_CALL_ALLOC, .size = REMOTE_BYTES};
    for (uint32_t i = 0; i < REMOTE_PAIRS; i++, t->report->work++) {
        while (i - __atomic_load_n(&n_taken, __ATOMIC_ACQUIRE) >= RING)
            sched_yield();
        if ((ring[i % RING] = ab_target_ask(t->target, heap, &ask)) == 0)
            end_remote(t, i);
        __atomic_store_n(&n_put, i + 1, __ATOMIC_RELEASE);
    }
}

void ab_check_remote_reuse(struct ab_trial *t)
{
    pthread_t other;
    struct party *here = &parties[0], *there = &parties[1];
    const char *why = why_no_threads(t->target);
    bool is_remote = ab_target_is_malloc(t->target) ||
                     (t->target->traits & AB_TRAIT_REMOTE_FREE) != 0;
    if (why != NULL || !is_remote || !ab_target_can_free(t->target)) {
        ab_trial_skip(t, why != NULL ? why : "no cross-thread frees");
        return;
    }
    here->t = there->t = t;
    there->index = 1;
    t->checker.is_shared = true;
    if (!enter(here) || pthread_create(&other, NULL, free_what_comes, there) != 0)
        ab_trial_fail_text(t, "no thread could be started");
    if (!ab_trial_bound((uint64_t)64 << 20))
        ab_trial_skip(t, "the memory of a process cannot be limited here");
    ask_what_goes(t, here->heap);
    pthread_join(other, NULL);
    ab_trial_unbound();
}

/* ---- children ---- */

/* Uses malloc without the checker. In the child, the checker's lock may be held by a thread that
 * exists only in the parent. */
static void use_malloc(const struct ab_target *target, size_t salt)
{
    ab_ref blocks[32];
    for (size_t i = 0; i < AB_ARRAY_LEN(blocks); i++) {
        struct ab_ask ask = {.call = AB_CALL_ALLOC, .size = 16 + (i * 97 + salt * 31) % 2000};
        blocks[i] = ab_target_ask(target, NULL, &ask);
    }
    for (size_t i = 0; i < AB_ARRAY_LEN(blocks); i++)
        ab_target_free(target, NULL, blocks[i], 0);
}

static void *use_until_over(void *user)
{
    struct party *p = user;
    prepare_thread(p);
    for (size_t i = 0; __atomic_load_n(&is_over, __ATOMIC_RELAXED) == 0; i++)
        use_malloc(p->t->target, i);
    return NULL;
}

static void sleep_ms(long ms)
{
    ab_clock_sleep_until(ab_clock_now_ns() + (uint64_t)ms * 1000000);
}

/* Waits for the child. True if it exits normally with status 0 within two seconds. */
static bool ends_well(pid_t child)
{
    int status = 0;
    for (int ms = 0; ms < 2000; ms += ms < 20 ? 1 : 10) {
        pid_t ended = waitpid(child, &status, WNOHANG);
        if (ended != 0)
            return ended == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
        sleep_ms(ms < 20 ? 1 : 10);
    }
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
    return false;
}

static bool fork_and_use(const struct ab_target *target)
{
    pid_t child = fork();
    if (child == 0) {
        ab_call_note_child();
        use_malloc(target, 1);
        _exit(0);
    }
    return child > 0 && ends_well(child);
}

static int start_user(struct ab_trial *t, uint32_t i, pthread_t *out)
{
    parties[i].t = t;
    parties[i].index = i;
    return pthread_create(out, NULL, use_until_over, &parties[i]);
}

void ab_check_fork(struct ab_trial *t)
{
    enum { CHILDREN = 24 };
    pthread_t threads[2];
    if (!ab_trial_needs(t, ab_target_is_malloc(t->target), "not required of a heap after fork"))
        return;
    for (uint32_t i = 0; i < AB_ARRAY_LEN(threads); i++)
        if (start_user(t, i, &threads[i]) != 0)
            ab_trial_fail_text(t, "no thread could be started");
    for (uint32_t i = 0; i < CHILDREN; i++, t->report->work++) {
        use_malloc(t->target, i);
        sleep_ms(1); /* now the threads are somewhere in the middle of a call */
        if (!fork_and_use(t->target))
            ab_trial_fail_text(t, "the child of a multithreaded process hung or died in malloc");
    }
    __atomic_store_n(&is_over, 1, __ATOMIC_RELAXED);
    for (uint32_t i = 0; i < AB_ARRAY_LEN(threads); i++)
        pthread_join(threads[i], NULL);
}

/* ---- forks in signal handlers ----
 *
 * glibc and other C libraries support them, although no malloc has to. */

static const struct ab_target *handler_target;
static uint32_t n_forked, n_hung;

static void fork_in_handler(int signal)
{
    int kept = errno;
    (void)signal;
    n_forked++;
    n_hung += !fork_and_use(handler_target);
    errno = kept;
}

void ab_behavior_fork_in_handler(struct ab_trial *t)
{
    struct sigaction action = {.sa_handler = fork_in_handler}, old;
    if (!ab_trial_needs(t, ab_target_is_malloc(t->target), "not required of a heap after fork"))
        return;
    handler_target = t->target;
    sigaction(SIGALRM, &action, &old);
    struct itimerval often = {{0, 3000}, {0, 3000}}, never = {{0, 0}, {0, 0}};
    if (!ab_trial_needs(t, setitimer(ITIMER_REAL, &often, NULL) == 0, "no timer available"))
        return;
    for (size_t i = 0; n_forked < 30 && n_hung == 0; i++)
        use_malloc(t->target, i);
    setitimer(ITIMER_REAL, &never, NULL);
    sigaction(SIGALRM, &old, NULL);
    ab_trial_info(t, n_hung == 0 ? "works" : "hangs");
}
