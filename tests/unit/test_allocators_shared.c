/* SPDX-License-Identifier: MIT
 *
 * Heaps for several threads as a program uses them: each mode of pool, slab and arena and the locked
 * paged pool, threads that come and go, blocks that outlive them, and fork. Under ThreadSanitizer
 * too (tests/tsan-tests). The same code as a back end: test_allocators_shards.c.
 * tests: arena_shared.c arena_shared_own.c pool_shared.c pool_shared_own.c
 * tests: slab_shared.c shards_queue.c slab_shared_own.c shards_thread.c
 */
#include "allocators/arena/arena_shared.h"
#include "allocators/paged/paged_locked.h"
#include "allocators/pool/pool_shared.h"
#include "allocators/slab/slab_shared.h"
#include "base/rng.h"
#include "support/cmocka.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(__SANITIZE_THREAD__)
enum { IS_TSAN = 1 };
#else
enum { IS_TSAN = 0 };
#endif

enum { N_THREADS = 6, N_OPS = 20000, N_MAILBOXES = 32, N_OWN = 100, SLOT = 200, LARGEST = 9000 };
#define KIB ((size_t)1 << 10)
#define MIB ((size_t)1 << 20)

static struct ab_pool_shared *open_pool(enum ab_shards_mode mode, uint32_t n)
{
    struct ab_pool_shared_options options = {
        .pool = {.slot_bytes = SLOT, .grows = true, .range_bytes = 64 * MIB},
        .threads = {.mode = mode, .n = n}};
    struct ab_pool_shared *pool = ab_pool_shared_open(&options);
    assert_non_null(pool);
    return pool;
}

static struct ab_slab_shared *open_slab(enum ab_shards_mode mode, uint32_t n)
{
    struct ab_slab_shared_options options = {
        .slabs = {.reserve_bytes = 256 * MIB, .keep_max = 64, .spare_max_bytes = MIB},
        .threads = {.mode = mode, .n = n}};
    struct ab_slab_shared *slab = ab_slab_shared_open(&options);
    assert_non_null(slab);
    return slab;
}

/* ---- threads that free each other's blocks, through the interface of ab_allocator.h ---- */

struct parcel {
    unsigned char *block;
    size_t size;
};

struct crew {
    struct ab_allocator allocator;
    size_t largest;
    pthread_mutex_t mutex;
    struct parcel mail[N_MAILBOXES];
    unsigned n_bad, n_begun;
};

static void renew(struct crew *c, struct ab_rng *rng, struct parcel *p)
{
    unsigned char mark = (unsigned char)p->size;
    if (p->block != NULL && (p->block[0] != mark || p->block[p->size - 1] != mark))
        __atomic_add_fetch(&c->n_bad, 1, __ATOMIC_RELAXED);
    c->allocator.free(p->size, p->block, c->allocator.context);
    p->size = 1 + ab_rng_below(rng, c->largest);
    p->block = c->allocator.alloc(p->size, c->allocator.context);
    if (p->block != NULL)
        memset(p->block, (unsigned char)p->size, p->size);
    else
        __atomic_add_fetch(&c->n_bad, 1, __ATOMIC_RELAXED);
}

static void *work(void *arg)
{
    struct crew *c = arg;
    static __thread struct parcel own[N_OWN];
    struct ab_rng rng;
    ab_rng_init(&rng, 7, __atomic_fetch_add(&c->n_begun, 1, __ATOMIC_RELAXED));
    for (int i = 0; i < N_OPS; i++) {
        struct parcel *p = &own[ab_rng_below(&rng, N_OWN)];
        struct parcel *mail = &c->mail[ab_rng_below(&rng, N_MAILBOXES)];
        renew(c, &rng, p);
        if (ab_rng_below(&rng, 2) == 0)
            continue;
        pthread_mutex_lock(&c->mutex);
        struct parcel swapped = *mail;
        *mail = *p;
        pthread_mutex_unlock(&c->mutex);
        *p = swapped;
    }
    for (int i = 0; i < N_OWN; i++)
        c->allocator.free(own[i].size, own[i].block, c->allocator.context);
    return NULL;
}

static void run_crew(struct ab_allocator allocator, size_t largest)
{
    struct crew c = {.allocator = allocator, .largest = largest};
    pthread_t threads[N_THREADS];
    pthread_mutex_init(&c.mutex, NULL);
    for (int i = 0; i < N_THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, work, &c), 0);
    for (int i = 0; i < N_THREADS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    for (int i = 0; i < N_MAILBOXES; i++)
        allocator.free(c.mail[i].size, c.mail[i].block, allocator.context);
    assert_int_equal(c.n_bad, 0);
    pthread_mutex_destroy(&c.mutex);
}

/* local with 3: some threads share the first heap. */
static const struct mode {
    enum ab_shards_mode mode;
    uint32_t n;
} modes[] = {{AB_SHARDS_MUTEX, 0},
             {AB_SHARDS_LOCAL, 0},
             {AB_SHARDS_LOCAL, 3},
             {AB_SHARDS_SHARDED, 0},
             {AB_SHARDS_SHARDED, 2}};
enum { N_MODES = sizeof modes / sizeof modes[0] };

static void pool_threads_free_each_others_blocks_in_every_mode(void **state)
{
    (void)state;
    for (int i = 0; i < N_MODES; i++) {
        struct ab_pool_shared *pool = open_pool(modes[i].mode, modes[i].n);
        run_crew(ab_pool_shared_allocator(pool), SLOT);
        assert_int_equal(ab_pool_shared_sum(pool).live, 0);
        ab_pool_shared_purge(pool);
        assert_true(ab_pool_shared_sum(pool).used <= N_THREADS * 64 * KIB);
        ab_pool_shared_close(pool);
    }
}

static void slab_threads_free_each_others_blocks_in_every_mode(void **state)
{
    (void)state;
    for (int i = 0; i < N_MODES; i++) {
        struct ab_slab_shared *slab = open_slab(modes[i].mode, modes[i].n);
        run_crew(ab_slab_shared_allocator(slab), LARGEST);
        assert_int_equal(ab_slab_shared_sum(slab).live, 0);
        ab_slab_shared_purge(slab);
        assert_true(ab_slab_shared_sum(slab).committed <= 2 * MIB);
        ab_slab_shared_close(slab);
    }
}

static void paged_pool_and_arenas_serve_several_threads(void **state)
{
    (void)state;
    struct ab_paged_locked paged;
    assert_int_equal(ab_paged_locked_init(&paged, "shared", 64 * MIB), 0);
    run_crew(ab_paged_locked_allocator(&paged), LARGEST);
    assert_int_equal(paged.pool.live_blocks, 0);
    ab_paged_locked_fini(&paged);
    for (int i = 0; i < N_MODES; i++) {
        struct ab_arena_shared_options options = {
            .arena = {.reserve_bytes = 1024 * MIB},
            .threads = {.mode = modes[i].mode, .n = modes[i].n}};
        struct ab_arena_shared *arena = ab_arena_shared_open(&options);
        assert_non_null(arena);
        run_crew(ab_arena_shared_allocator(arena), 300);
        assert_true(ab_arena_shared_sum(arena).used >= N_THREADS * N_OPS * 100);
        ab_arena_shared_reset(arena);
        assert_int_equal(ab_arena_shared_sum(arena).used, 0);
        ab_arena_shared_close(arena);
    }
}

/* ---- threads that come and go ---- */

struct visit {
    struct ab_pool_shared *pool;
    struct ab_slab_shared *slab;
    void *slots[400], *blocks[400]; /* the first half of each is left alive */
    struct ab_pool_shared *had;
};

static void *visit(void *arg)
{
    struct visit *v = arg;
    struct ab_pool_shared *pool = ab_pool_shared_own(v->pool);
    struct ab_slab_shared *slab = ab_slab_shared_own(v->slab);
    for (size_t i = 0; i < 400; i++) {
        v->slots[i] = ab_pool_shared_alloc(pool, SLOT);
        v->blocks[i] = ab_slab_shared_alloc(slab, 16 + i * 13);
        memset(v->slots[i], 1, SLOT);
        memset(v->blocks[i], 2, 16 + i * 13);
    }
    for (size_t i = 200; i < 400; i++) {
        ab_pool_shared_free(pool, v->slots[i]);
        ab_slab_shared_free(slab, v->blocks[i]);
    }
    v->had = pool;
    return NULL;
}

static void visit_and_clear_up(struct visit *visits, int n)
{
    pthread_t threads[4];
    for (int i = 0; i < n; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, visit, &visits[i]), 0);
    for (int i = 0; i < n; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    for (int i = 0; i < n; i++)
        for (int k = 0; k < 200; k++) {
            assert_int_equal(((char *)visits[i].blocks[k])[15], 2);
            ab_pool_shared_free(visits[i].pool, visits[i].slots[k]);
            ab_slab_shared_free(visits[i].slab, visits[i].blocks[k]);
        }
}

/* What they leave alive dies after them, in heaps that no thread has. */
static void a_thousand_threads_need_no_more_than_those_at_a_time(void **state)
{
    (void)state;
    struct ab_pool_shared *pool = open_pool(AB_SHARDS_LOCAL, 0);
    struct ab_slab_shared *slab = open_slab(AB_SHARDS_LOCAL, 0);
    struct visit visits[4];
    const size_t heaps = 5, bytes = 8 * MIB; /* more than twice what a thread takes */
    for (int i = 0; i < 4; i++)
        visits[i] = (struct visit){.pool = pool, .slab = slab};
    for (int round = 0; round < 250; round++)
        visit_and_clear_up(visits, 4);
    assert_int_equal(ab_pool_shared_sum(pool).live, 0);
    assert_int_equal(ab_slab_shared_sum(slab).live, 0);
    assert_true(ab_pool_shared_sum(pool).n_heaps <= heaps);
    assert_true(ab_slab_shared_sum(slab).n_heaps <= heaps);
    assert_true(ab_pool_shared_sum(pool).used <= heaps * MIB / 2);
    assert_true(ab_slab_shared_sum(slab).committed <= heaps * bytes);
    ab_pool_shared_close(pool);
    ab_slab_shared_close(slab);
}

static void the_next_thread_goes_on_with_the_heap_of_one_that_ended(void **state)
{
    (void)state;
    struct visit v = {open_pool(AB_SHARDS_LOCAL, 4), open_slab(AB_SHARDS_LOCAL, 4), {0}, {0}, NULL};
    visit_and_clear_up(&v, 1);
    struct ab_pool_shared *had = v.had;
    assert_ptr_not_equal(had, v.pool);
    assert_null(had->shard.remote); /* who freed last put it in order */
    assert_int_equal(ab_pool_live(&had->pool), 0);
    visit_and_clear_up(&v, 1);
    assert_ptr_equal(v.had, had);
    struct ab_pool_shared *own = ab_pool_shared_own(v.pool);
    assert_ptr_equal(own, had);
    assert_ptr_equal(ab_pool_shared_own(v.pool), own);
    visit_and_clear_up(&v, 1);
    assert_ptr_not_equal(v.had, own);
    ab_pool_shared_close(v.pool);
    ab_slab_shared_close(v.slab);
}

/* What a thread's own destructors ask for, before and after it has left its heap. */
static pthread_key_t late_key;
static struct ab_pool_shared *late_pool;
static unsigned n_late;

static void be_late(void *block)
{
    struct ab_allocator allocator = ab_pool_shared_allocator(late_pool);
    if (block != &late_pool)
        allocator.free(SLOT, block, allocator.context);
    void *more = allocator.alloc(SLOT, allocator.context);
    memset(more, 3, SLOT);
    allocator.free(SLOT, more, allocator.context);
    n_late++;
    static __thread unsigned n_mine; /* ThreadSanitizer itself ends with the last round */
    if (!IS_TSAN || n_mine++ < 2)
        pthread_setspecific(late_key, &late_pool); /* as often as the system calls it */
}

static void *end_late(void *arg)
{
    (void)arg;
    pthread_setspecific(late_key, ab_pool_shared_alloc(ab_pool_shared_own(late_pool), SLOT));
    return NULL;
}

static void who_is_late_is_served_and_no_heap_is_lost(void **state)
{
    (void)state;
    pthread_t thread;
    late_pool = open_pool(AB_SHARDS_LOCAL, 4);
    assert_ptr_not_equal(ab_pool_shared_own(late_pool), late_pool);
    assert_int_equal(pthread_key_create(&late_key, be_late), 0); /* after that of the pool */
    for (int i = 0; i < 100; i++) {
        assert_int_equal(pthread_create(&thread, NULL, end_late, NULL), 0);
        assert_int_equal(pthread_join(thread, NULL), 0);
    }
    assert_true(n_late >= 200);
    assert_int_equal(ab_pool_shared_sum(late_pool).live, 0);
    assert_int_equal(ab_pool_shared_sum(late_pool).n_heaps, 3);
    pthread_key_delete(late_key);
    ab_pool_shared_close(late_pool);
}

static void *live_on(void *arg)
{
    struct visit *v = arg;
    pthread_barrier_t *barrier = v->slots[0];
    void *block = ab_pool_shared_alloc(ab_pool_shared_own(v->pool), SLOT);
    memset(block, 1, SLOT);
    pthread_barrier_wait(barrier);
    pthread_barrier_wait(barrier);
    return NULL;
}

static void a_thread_may_end_after_the_group_was_closed(void **state)
{
    (void)state;
    pthread_t thread;
    pthread_barrier_t barrier;
    struct visit v = {.pool = open_pool(AB_SHARDS_LOCAL, 4), .slots = {&barrier}};
    pthread_barrier_init(&barrier, NULL, 2);
    assert_int_equal(pthread_create(&thread, NULL, live_on, &v), 0);
    pthread_barrier_wait(&barrier);
    ab_pool_shared_close(v.pool);
    pthread_barrier_wait(&barrier);
    assert_int_equal(pthread_join(thread, NULL), 0);
    pthread_barrier_destroy(&barrier);
    ab_pool_shared_close(NULL);
    ab_slab_shared_close(NULL);
    ab_arena_shared_close(NULL);
}

/* ---- by number, and what is refused ---- */

static void a_number_has_the_same_heap_and_there_are_no_more_than_asked_for(void **state)
{
    (void)state;
    struct ab_slab_shared *slab = open_slab(AB_SHARDS_LOCAL, 2);
    struct ab_slab_shared *a = ab_slab_shared_enter(slab, 0), *b = ab_slab_shared_enter(slab, 1);
    assert_true(a != NULL && b != NULL && a != b && a != slab && b != slab);
    assert_ptr_equal(ab_slab_shared_enter(slab, 0), a);
    errno = 0;
    assert_null(ab_slab_shared_enter(slab, 2));
    assert_int_equal(errno, EINVAL);
    assert_ptr_equal(ab_slab_shared_own(slab),
                     slab); /* all have a thread: the first for the rest */
    ab_slab_shared_leave(b);
    assert_ptr_equal(ab_slab_shared_enter(slab, 1), b);
    ab_slab_shared_close(slab);
    struct ab_slab_shared *one = open_slab(AB_SHARDS_ONE, 0);
    assert_ptr_equal(ab_slab_shared_own(one), one);
    assert_ptr_equal(ab_slab_shared_enter(one, 7), one);
    ab_slab_shared_close(one);
}

static void what_cannot_be_is_refused(void **state)
{
    (void)state;
    struct ab_pool_shared_options pool = {.pool = {.slot_bytes = 16, .align = 48}};
    errno = 0;
    assert_null(ab_pool_shared_open(&pool));
    assert_int_equal(errno, EINVAL);
    struct ab_slab_shared_options slab = {.threads = {AB_SHARDS_LOCAL, AB_SHARDS_MAX, false}};
    errno = 0;
    assert_null(ab_slab_shared_open(&slab));
    assert_int_equal(errno, EINVAL);
    struct ab_arena_shared_options arena = {.arena = {.reserve_bytes = SIZE_MAX / 2}};
    errno = 0;
    assert_null(ab_arena_shared_open(&arena));
    assert_int_equal(errno, ENOMEM);
    struct ab_pool_shared *own = open_pool(AB_SHARDS_LOCAL, 1);
    assert_null(ab_pool_shared_alloc(own, SLOT + 100));
    assert_null(ab_pool_shared_alloc(ab_pool_shared_own(own), SLOT + 100));
    assert_null(ab_pool_shared_alloc_aligned(own, 64, 8));
    ab_pool_shared_free(own, NULL);
    ab_pool_shared_free(ab_pool_shared_own(own), NULL);
    assert_false(ab_pool_shared_owns(own, &pool));
    ab_pool_shared_close(own);
}

static void special_requests_are_served_in_every_mode(void **state)
{
    (void)state;
    for (int i = 0; i < N_MODES; i++) {
        struct ab_slab_shared *slab = open_slab(modes[i].mode, modes[i].n);
        struct ab_slab_shared *own = ab_slab_shared_own(slab);
        char *zeroed = ab_slab_shared_alloc_zeroed(own, 5000);
        char *aligned = ab_slab_shared_alloc_aligned(own, 1024, 100);
        assert_int_equal((uintptr_t)aligned % 1024, 0);
        assert_true(zeroed[0] == 0 && zeroed[4999] == 0);
        memset(zeroed, 9, 5000);
        zeroed = ab_slab_shared_resize(slab, zeroed, 5000, 50); /* by another heap, in some modes */
        assert_true(zeroed[0] == 9 && zeroed[49] == 9);
        assert_true(ab_slab_shared_usable(own, zeroed) >= 50);
        assert_true(ab_slab_shared_owns(own, aligned));
        ab_slab_shared_free(slab, aligned);
        ab_slab_shared_free(own, zeroed);
        ab_slab_shared_free(own, NULL);
        assert_int_equal(ab_slab_shared_sum(slab).live, 0);
        void *large = ab_slab_shared_alloc(own, MIB);
        assert_non_null(large);
        ab_slab_shared_reset(slab);
        assert_int_equal(ab_slab_shared_sum(slab).live, 0);
        ab_slab_shared_close(slab);
    }
}

static void a_save_point_is_of_the_threads_own_arena(void **state)
{
    (void)state;
    struct ab_arena_shared_options options = {.arena = {.reserve_bytes = 16 * MIB},
                                              .threads = {.mode = AB_SHARDS_LOCAL}};
    struct ab_arena_shared *arena = ab_arena_shared_open(&options);
    struct ab_arena_shared *own = ab_arena_shared_own(arena);
    char *first = ab_arena_shared_alloc_zeroed(own, 100);
    assert_non_null(ab_arena_shared_alloc(arena, 64));
    struct ab_arena_mark mark = ab_arena_shared_save(own);
    char *second = ab_arena_shared_alloc_aligned(own, 256, 1000);
    assert_int_equal((uintptr_t)second % 256, 0);
    assert_non_null(second = ab_arena_shared_resize(own, second, 1000, 100000));
    ab_arena_shared_restore(own, mark);
    assert_int_equal(ab_arena_shared_sum(arena).used, 112 + 64);
    assert_int_equal(first[99], 0);
    ab_arena_shared_purge(arena);
    ab_arena_shared_close(arena);
}

/* ---- fork ---- */

static struct ab_pool_shared *forked_pool;
static struct ab_slab_shared *forked_slab;
static bool is_over;

static void before(void)
{
    ab_pool_shared_before_fork(forked_pool);
    ab_slab_shared_before_fork(forked_slab);
}

static void after(bool is_child)
{
    ab_slab_shared_after_fork(forked_slab, is_child);
    ab_pool_shared_after_fork(forked_pool, is_child);
}

static void *keep_busy(void *arg)
{
    (void)arg;
    struct ab_pool_shared *pool = ab_pool_shared_own(forked_pool);
    struct ab_slab_shared *slab = ab_slab_shared_own(forked_slab);
    while (!__atomic_load_n(&is_over, __ATOMIC_RELAXED)) {
        void *own = ab_pool_shared_alloc(pool, SLOT), *any = ab_pool_shared_alloc(forked_pool, 8);
        void *large = ab_slab_shared_alloc(slab, 20000);
        void *other = ab_slab_shared_alloc(forked_slab, 100);
        ab_pool_shared_free(forked_pool, own);
        ab_pool_shared_free(pool, any);
        ab_slab_shared_free(forked_slab, large);
        ab_slab_shared_free(slab, other);
    }
    return NULL;
}

/* In the child; the heaps of the others are not there, all else is. */
static int work_after_fork(void *theirs)
{
    struct visit v = {forked_pool, forked_slab, {0}, {0}, NULL};
    ab_slab_shared_free(forked_slab, theirs);
    for (int i = 0; i < 5; i++) {
        pthread_t thread;
        visit(&v);
        for (int k = 0; k < 200; k++) {
            ab_pool_shared_free(forked_pool, v.slots[k]);
            ab_slab_shared_free(forked_slab, v.blocks[k]);
        }
        if (pthread_create(&thread, NULL, visit, &v) != 0 || pthread_join(thread, NULL) != 0)
            return 1;
    }
    return 0;
}

static void a_child_goes_on_whatever_the_others_were_doing(void **state)
{
    (void)state;
    if (IS_TSAN)
        skip(); /* no threads in the child of a fork from several */
    pthread_t threads[2];
    is_over = false;
    forked_pool = open_pool(AB_SHARDS_LOCAL, 8);
    forked_slab = open_slab(AB_SHARDS_LOCAL, 8);
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, keep_busy, NULL), 0);
    struct ab_slab_shared *own = ab_slab_shared_own(forked_slab);
    for (int i = 0; i < 60; i++) {
        void *block = ab_slab_shared_alloc(own, 64);
        int status = -1;
        before();
        pid_t child = fork();
        after(child == 0);
        if (child == 0) {
            alarm(60);
            _exit(work_after_fork(block));
        }
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(status, 0);
        ab_slab_shared_free(own, block);
    }
    __atomic_store_n(&is_over, true, __ATOMIC_RELAXED);
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    assert_int_equal(ab_slab_shared_sum(forked_slab).live, 0);
    ab_pool_shared_close(forked_pool);
    ab_slab_shared_close(forked_slab);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pool_threads_free_each_others_blocks_in_every_mode),
        cmocka_unit_test(slab_threads_free_each_others_blocks_in_every_mode),
        cmocka_unit_test(paged_pool_and_arenas_serve_several_threads),
        cmocka_unit_test(a_thousand_threads_need_no_more_than_those_at_a_time),
        cmocka_unit_test(the_next_thread_goes_on_with_the_heap_of_one_that_ended),
        cmocka_unit_test(who_is_late_is_served_and_no_heap_is_lost),
        cmocka_unit_test(a_thread_may_end_after_the_group_was_closed),
        cmocka_unit_test(a_number_has_the_same_heap_and_there_are_no_more_than_asked_for),
        cmocka_unit_test(what_cannot_be_is_refused),
        cmocka_unit_test(special_requests_are_served_in_every_mode),
        cmocka_unit_test(a_save_point_is_of_the_threads_own_arena),
        cmocka_unit_test(a_child_goes_on_whatever_the_others_were_doing),
    };
    return cmocka_run_group_tests_name("shared", tests, NULL, NULL);
}
