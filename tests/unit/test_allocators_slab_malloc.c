/* SPDX-License-Identifier: MIT
 *
 * The malloc of liballocbench-slab.so, called by its inner names beside the C library's.
 * tests: blocks.c heap.c large.c page_heap.c fail.c
 * tests: threads.c
 */
#include "allocators/slab_malloc/slab_malloc.h"

#include "allocators/slab/slab.h"

#include <errno.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static size_t units_used(void)
{
    size_t used, dirty;
    ab_page_heap_count(&used, &dirty);
    return used;
}

static size_t units_dirty(void)
{
    size_t used, dirty;
    ab_page_heap_count(&used, &dirty);
    return dirty;
}

static void *take(size_t size)
{
    unsigned char *p = ab_block_alloc(size);
    assert_non_null(p);
    assert_int_equal((uintptr_t)p % 16, 0);
    assert_true(ab_block_usable(p) >= size);
    memset(p, (int)(size % 251), size);
    return p;
}

static void look_and_free(void *p, size_t size)
{
    const unsigned char *bytes = p;
    for (size_t i = 0; i<size; i += size> 4096 ? 509 : 1)
        assert_int_equal(bytes[i], size % 251);
    ab_block_free(p);
}

static void the_classes_are_those_of_the_slab_and_waste_an_eighth(void **state)
{
    (void)state;
    static struct ab_slabs slabs;
    struct ab_slabs_options options = {.reserve_bytes = 1 << 20, .spacing = AB_SLAB_FINE};
    assert_int_equal(ab_slabs_init(&slabs, &options), 0);
    for (unsigned i = 1; i < slabs.n_classes; i++)
        assert_int_equal(slabs.classes[i].bytes, ab_size_class_bytes(i - 1));
    ab_slabs_fini(&slabs);
    for (size_t size = 1; size <= AB_CLASS_BYTES; size++) {
        unsigned class = ab_size_class_of(size);
        size_t bytes = ab_size_class_bytes(class);
        assert_true(bytes >= size && bytes - size < (size <= 128 ? 16 : size / 8 + 16));
        assert_true(class == 0 || ab_size_class_bytes(class - 1) < size);
    }
    assert_int_equal(ab_size_class_of(0), 0);
    assert_int_equal(ab_size_class_of(AB_CLASS_BYTES), AB_HEAP_CLASSES - 1);
}

static void blocks_of_all_sizes_keep_what_is_written(void **state)
{
    (void)state;
    enum { N = 780 };
    static void *blocks[N];
    size_t size = 0;
    for (int i = 0; i < N; i++, size += 1 + size / 64)
        blocks[i] = take(size);
    assert_true(size > 4 * AB_RUN_BYTES);
    size = 0;
    for (int i = 0; i < N; i++, size += 1 + size / 64)
        look_and_free(blocks[i], size);
}

static void alignments_up_to_a_gigabyte(void **state)
{
    (void)state;
    for (size_t align = 1; align <= (size_t)1 << 30; align *= 2)
        for (size_t size = 0; size < 600000; size = size * 3 + 1) {
            void *p = ab_block_alloc_aligned(align, size);
            assert_non_null(p);
            assert_int_equal((uintptr_t)p % align, 0);
            assert_true(ab_block_usable(p) >= size);
            memset(p, 1, size);
            ab_block_free(p);
        }
}

static void what_cannot_be_is_refused(void **state)
{
    (void)state;
    static const size_t sizes[] = {PTRDIFF_MAX, (size_t)PTRDIFF_MAX + 1, SIZE_MAX - 4096, SIZE_MAX};
    void *p = take(100);
    for (size_t i = 0; i < 4; i++) {
        errno = 0;
        assert_null(ab_block_alloc(sizes[i]));
        assert_int_equal(errno, ENOMEM);
        assert_null(ab_block_alloc_zeroed(sizes[i]));
        assert_null(ab_block_alloc_aligned(64, sizes[i]));
        assert_null(ab_block_alloc_aligned((size_t)1 << 62, sizes[i]));
        assert_null(ab_block_resize(p, sizes[i]));
    }
    assert_null(ab_block_alloc_aligned((size_t)1 << 63, 1));
    look_and_free(p, 100);
}

static void zeroed_blocks_are_zero_when_reused(void **state)
{
    (void)state;
    for (size_t size = 1; size < 3 * AB_RUN_BYTES; size = size * 2 + 7)
        for (int round = 0; round < 3; round++) {
            unsigned char *p = ab_block_alloc_zeroed(size);
            for (size_t i = 0; i < size; i++)
                assert_int_equal(p[i], 0);
            memset(p, 0xee, ab_block_usable(p));
            ab_block_free(p);
        }
}

static void resizes_keep_the_contents(void **state)
{
    (void)state;
    static const size_t sizes[] = {1,       20,      16,     900,    4000,    5000,
                                   70000,   200000,  250000, 150000, 1000000, 1200000,
                                   5000000, 2000000, 90000,  8};
    unsigned char *p = ab_block_alloc(1);
    p[0] = 0;
    size_t old = 1;
    for (size_t n = 0; n < sizeof sizes / sizeof sizes[0]; n++) {
        p = ab_block_resize(p, sizes[n]);
        assert_non_null(p);
        size_t kept = old < sizes[n] ? old : sizes[n];
        for (size_t i = 0; i < kept; i++)
            assert_int_equal(p[i], (unsigned char)(i * 7));
        for (size_t i = 0; i < sizes[n]; i++)
            p[i] = (unsigned char)(i * 7);
        old = sizes[n];
    }
    ab_block_free(p);
}

static void runs_grow_and_shrink_in_place(void **state)
{
    (void)state;
    char *first = ab_block_alloc(AB_RUN_BYTES);
    assert_ptr_equal(ab_block_resize(first, AB_RUN_BYTES / 2 - 1), first);
    assert_int_equal(ab_block_usable(first), AB_RUN_BYTES / 2);
    assert_ptr_equal(ab_block_resize(first, AB_RUN_BYTES - 9), first);
    ab_block_free(first);
}

static void empty_slabs_and_runs_go_back(void **state)
{
    (void)state;
    enum { N = 4000 };
    static void *blocks[N];
    ab_threads_trim();
    size_t before = units_used();
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < N; i++)
            blocks[i] = take((size_t)i * 37 % 20000);
        assert_true(units_used() > before + 400);
        for (int i = 0; i < N; i++)
            look_and_free(blocks[i * 7 % N], (size_t)(i * 7 % N) * 37 % 20000);
        ab_threads_trim();
        assert_int_equal(units_used(), before);
    }
}

static void free_pages_go_back_after_a_while_and_are_bounded(void **state)
{
    (void)state;
    static void *blocks[100];
    for (int i = 0; i < 100; i++)
        blocks[i] = take(AB_RUN_BYTES);
    for (int i = 0; i < 100; i++) {
        ab_block_free(blocks[i]);
        assert_true(units_dirty() <= 512 || units_dirty() <= units_used() / 2);
    }
    ab_block_free(take(AB_RUN_BYTES));
    ab_page_heap_purge(ab_clock_ms() - 1000, false); /* read before it was free */
    assert_true(units_dirty() > 0);
    ab_page_heap_purge(ab_clock_ms() + AB_DECAY_MS, false);
    assert_int_equal(units_dirty(), 0);
    unsigned char *p = ab_block_alloc_zeroed(AB_RUN_BYTES);
    for (size_t i = 0; i < AB_RUN_BYTES; i++)
        assert_int_equal(p[i], 0);
    ab_block_free(p);
}

static size_t regions(void)
{
    size_t n = 0;
    for (size_t i = 0; i < AB_N_REGIONS; i++)
        n += ab_region_map[i];
    return n;
}

static void free_neighbours_are_joined(void **state)
{
    (void)state;
    static void *blocks[900];
    for (int i = 0; i < 900; i++)
        assert_non_null(blocks[i] = ab_block_alloc(3 * AB_UNIT_BYTES - 1));
    size_t before = regions();
    for (int i = 0; i < 900; i++)
        ab_block_free(blocks[i * 7 % 900]);
    for (int i = 0; i < 140; i++)
        assert_non_null(blocks[i] = ab_block_alloc(AB_RUN_BYTES));
    assert_int_equal(regions(), before);
    for (int i = 0; i < 140; i++)
        ab_block_free(blocks[i]);
}

/* After 2^32 frees in a slab that never ran full. */
static void a_current_slab_stays_when_its_counter_ends(void **state)
{
    (void)state;
    char *first = take(48), *second = take(48);
    struct ab_span *slab = ab_span_of_unit(second);
    assert_ptr_equal(ab_own_heap->direct[3], slab);
    slab->left = 1;
    ab_block_free(second);
    assert_int_equal(slab->left, UINT32_MAX);
    assert_ptr_equal(ab_own_heap->direct[3], slab);
    ab_block_free(first);
}

/* The quotient where there is one. */
static void the_index_of_an_offset_is_exact(void **state)
{
    (void)state;
    for (unsigned class = 0; class < AB_HEAP_CLASSES; class ++) {
        void *p = take(ab_size_class_bytes(class));
        const struct ab_span *slab = ab_own_heap->current[class];
        assert_int_equal(slab->bytes, ab_size_class_bytes(class));
        for (uint32_t offset = 0; offset < AB_MEDIUM_UNITS * AB_UNIT_BYTES; offset++) {
            uint32_t index = ab_span_index(slab, offset);
            if (offset % slab->bytes == 0 ? index != offset / slab->bytes : index < 1 << 15)
                fail_msg("%u of %u is %u", offset, slab->bytes, index);
        }
        ab_block_free(p);
    }
}

/* ---- threads ---- */

enum { HANDED = 20000 };
static void *handed[HANDED];

static void *free_handed(void *arg)
{
    (void)arg;
    for (int i = 0; i < HANDED; i++)
        look_and_free(handed[i], (size_t)i % 900);
    return NULL;
}

static void *fill_handed(void *arg)
{
    (void)arg;
    for (int i = 0; i < HANDED; i++)
        handed[i] = take((size_t)i % 900);
    return NULL;
}

static void run_thread(void *(*work)(void *), void *arg)
{
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, work, arg), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
}

static void what_others_free_is_used_again(void **state)
{
    (void)state;
    size_t most = 0;
    for (int round = 0; round < 10; round++) {
        fill_handed(NULL);
        most = round == 0 ? units_used() : most;
        run_thread(free_handed, NULL);
    }
    assert_true(units_used() <= most + 100);
    ab_threads_trim();
}

static void blocks_of_an_ended_thread_go_back_when_they_are_freed(void **state)
{
    (void)state;
    size_t before = units_used();
    run_thread(fill_handed, NULL);
    assert_true(units_used() > before + 50);
    free_handed(NULL);
    assert_int_equal(units_used(), before);
}

static void *short_life(void *arg)
{
    void *kept = take((uintptr_t)arg % 3000);
    for (size_t i = 0; i < 200; i++)
        look_and_free(take(i * 13), i * 13);
    return kept;
}

#ifdef __SANITIZE_THREAD__
enum { SHORT_LIVES = 500 }; /* a thread is dear */
#else
enum { SHORT_LIVES = 2000 };
#endif

static void threads_that_come_and_go_need_no_more_memory(void **state)
{
    (void)state;
    size_t before = units_used();
    for (uintptr_t i = 0; i < SHORT_LIVES; i++) {
        pthread_t thread;
        void *kept;
        assert_int_equal(pthread_create(&thread, NULL, short_life, (void *)i), 0);
        assert_int_equal(pthread_join(thread, &kept), 0);
        look_and_free(kept, i % 3000);
        assert_true(units_used() <= before + 100);
    }
}

static _Atomic(void *) box[64];

static void *exchange(void *arg)
{
    uint64_t r = (uintptr_t)arg * 2 + 1;
    for (int i = 0; i < 20000; i++) {
        r = r * 6364136223846793005u + 1442695040888963407u;
        size_t size = 16 + (r >> 33) % 1500 * (r >> 60 == 0 ? 100 : 1);
        size_t *mine = ab_block_alloc(size);
        mine[0] = mine[1] = size;
        size_t *other = __atomic_exchange_n(&box[r >> 50 & 63], mine, __ATOMIC_ACQ_REL);
        if (other == NULL)
            continue;
        assert_int_equal(other[0], other[1]);
        ab_block_free(other);
    }
    return NULL;
}

static void threads_free_each_others_blocks(void **state)
{
    (void)state;
    pthread_t threads[4];
    for (uintptr_t round = 0; round < 5; round++) {
        for (uintptr_t i = 0; i < 4; i++)
            assert_int_equal(pthread_create(&threads[i], NULL, exchange, (void *)(round * 4 + i)),
                             0);
        for (int i = 0; i < 4; i++)
            pthread_join(threads[i], NULL);
    }
    for (int i = 0; i < 64; i++)
        ab_block_free(box[i]);
}

/* ThreadSanitizer ends a thread in the last round of destructors. */
#ifdef __SANITIZE_THREAD__
enum { LATE_ROUNDS = 2 };
#else
enum { LATE_ROUNDS = 4 };
#endif
static pthread_key_t late_key;

static void allocate_late(void *arg)
{
    if ((uintptr_t)arg < LATE_ROUNDS)
        pthread_setspecific(late_key, (char *)arg + 1);
    for (size_t size = 1; size < 3000; size += 100)
        look_and_free(take(size), size);
}

static void *ends_late(void *arg)
{
    (void)arg;
    look_and_free(take(10), 10);
    pthread_setspecific(late_key, (void *)1);
    return NULL;
}

static void a_thread_may_allocate_after_its_heap_is_gone(void **state)
{
    (void)state;
    pthread_key_create(&late_key, allocate_late);
    ab_threads_trim();
    size_t before = units_used();
    for (int i = 0; i < 200; i++)
        run_thread(ends_late, NULL);
    assert_true(units_used() <= before + 100);
    ab_threads_trim();
    assert_int_equal(units_used(), before);
    pthread_key_delete(late_key);
}

/* ---- processes ---- */

static int is_over;

static void *keep_busy(void *arg)
{
    (void)arg;
    while (!__atomic_load_n(&is_over, __ATOMIC_ACQUIRE))
        for (size_t i = 0; i < 100; i++) {
            look_and_free(take(i * 10), i * 10);
            ab_block_free(ab_block_alloc(AB_CLASS_BYTES + i * 4096)); /* takes the lock */
        }
    return NULL;
}

static void the_child_of_a_fork_allocates(void **state)
{
    (void)state;
    pthread_t threads[3];
    void *p = take(100);
    is_over = 0;
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, keep_busy, NULL);
    for (int i = 0; i < 30; i++) {
        int status;
        pid_t child = fork();
        if (child == 0) {
            alarm(20);
            for (size_t size = 1; size < 3 * AB_RUN_BYTES; size += 1 + size / 8)
                look_and_free(take(size), size);
            look_and_free(p, 100);
            _exit(0);
        }
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(status, 0);
    }
    __atomic_store_n(&is_over, 1, __ATOMIC_RELEASE);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    look_and_free(p, 100);
}

static int is_held;

static void *hold_locks(void *arg)
{
    (void)arg;
    ab_lock_take(&ab_threads_mutex);
    ab_lock_take(&ab_page_heap_mutex);
    ab_lock_take(&ab_large_mutex);
    __atomic_store_n(&is_held, 1, __ATOMIC_RELEASE);
    usleep(50000);
    ab_lock_release(&ab_large_mutex);
    ab_lock_release(&ab_page_heap_mutex);
    ab_lock_release(&ab_threads_mutex);
    return NULL;
}

static void a_fork_waits_for_who_holds_a_lock(void **state)
{
    (void)state;
    pthread_t thread;
    int status;
    pthread_create(&thread, NULL, hold_locks, NULL);
    while (!__atomic_load_n(&is_held, __ATOMIC_ACQUIRE))
        sched_yield();
    pid_t child = fork();
    if (child == 0) {
        alarm(10);
        ab_block_free(ab_block_alloc(AB_RUN_BYTES));
        ab_block_free(ab_block_alloc(4 * AB_RUN_BYTES));
#if !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
        /* TSan allows no new thread there; ASan's own locks may be held by the thread that ended. */
        run_thread(short_life, NULL);
#endif
        syscall(SYS_exit_group, 0); /* _exit would report the thread of the parent as a leak */
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    pthread_join(thread, NULL);
    assert_int_equal(status, 0);
}

int main(void)
{
    ab_fork_prepare();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_classes_are_those_of_the_slab_and_waste_an_eighth),
        cmocka_unit_test(blocks_of_all_sizes_keep_what_is_written),
        cmocka_unit_test(alignments_up_to_a_gigabyte),
        cmocka_unit_test(what_cannot_be_is_refused),
        cmocka_unit_test(zeroed_blocks_are_zero_when_reused),
        cmocka_unit_test(resizes_keep_the_contents),
        cmocka_unit_test(runs_grow_and_shrink_in_place),
        cmocka_unit_test(empty_slabs_and_runs_go_back),
        cmocka_unit_test(free_pages_go_back_after_a_while_and_are_bounded),
        cmocka_unit_test(free_neighbours_are_joined),
        cmocka_unit_test(a_current_slab_stays_when_its_counter_ends),
        cmocka_unit_test(the_index_of_an_offset_is_exact),
        cmocka_unit_test(what_others_free_is_used_again),
        cmocka_unit_test(blocks_of_an_ended_thread_go_back_when_they_are_freed),
        cmocka_unit_test(threads_that_come_and_go_need_no_more_memory),
        cmocka_unit_test(threads_free_each_others_blocks),
        cmocka_unit_test(a_thread_may_allocate_after_its_heap_is_gone),
        cmocka_unit_test(the_child_of_a_fork_allocates),
        cmocka_unit_test(a_fork_waits_for_who_holds_a_lock),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
