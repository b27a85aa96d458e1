/* SPDX-License-Identifier: MIT
 *
 * How blocks of an arena end, and what grows: scopes, save points, clean-ups, further regions, who
 * is asked when memory is exhausted, blocks that lie close.
 */
#include "allocators/arena/arena.h"

#include "base/rng.h"
#include "support/small_pages.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

enum { KIB = 1024, MIB = 1024 * 1024 };

static struct ab_arena make(size_t reserve, size_t chain)
{
    struct ab_arena a;
    struct ab_arena_options options = {.reserve_bytes = reserve, .chain_bytes = chain};
    assert_int_equal(ab_arena_init(&a, &options), 0);
    return a;
}

static bool is_mapped(const void *p)
{
    unsigned char resident;
    return mincore((void *)((uintptr_t)p & ~(uintptr_t)4095), 1, &resident) == 0;
}

/* ---- scopes ---- */

static size_t returns_from_a_scope(struct ab_arena *a)
{
    AB_ARENA_SCOPED(a);
    ab_arena_alloc(a, 100);
    return ab_arena_used(a);
}

static void a_scope_ends_however_it_is_left(void **state)
{
    (void)state;
    struct ab_arena a = make(MIB, 0);
    ab_arena_alloc(&a, 1);
    int rounds = 0;
    for (int i = 0; i < 5; i++) {
        AB_ARENA_SCOPED(&a);
        ab_arena_alloc(&a, 1000);
        assert_int_equal(ab_arena_used(&a), 16 + 1008);
        rounds++;
        if (i == 1)
            continue;
        if (i == 3)
            break; /* of the loop, as it reads */
    }
    assert_int_equal(rounds, 4);
    assert_int_equal(ab_arena_used(&a), 16);
    assert_int_equal(returns_from_a_scope(&a), 16 + 112);
    assert_int_equal(ab_arena_used(&a), 16);
    {
        AB_ARENA_SCOPED(&a);
        ab_arena_alloc(&a, 1000);
        goto out;
    }
out:
    assert_int_equal(ab_arena_used(&a), 16);
    ab_arena_fini(&a);
}

static void scopes_nest_and_several_fit_in_one_block(void **state)
{
    (void)state;
    struct ab_arena a = make(MIB, 0), b = make(MIB, 0);
    {
        AB_ARENA_SCOPED(&a);
        AB_ARENA_SCOPED(&b);
        ab_arena_alloc(&a, 10);
        ab_arena_alloc(&b, 10);
        {
            AB_ARENA_SCOPED(&a);
            ab_arena_alloc(&a, 10);
        }
        assert_int_equal(ab_arena_used(&a), 16);
    }
    assert_int_equal(ab_arena_used(&a) + ab_arena_used(&b), 0);
    ab_arena_fini(&a);
    ab_arena_fini(&b);
}

static jmp_buf way_out;

static void leaves_by_longjmp(struct ab_arena *a)
{
    AB_ARENA_SCOPED(a);
    ab_arena_alloc(a, 100);
    longjmp(way_out, 1);
}

static void longjmp_leaves_what_was_allocated_until_an_older_save_point(void **state)
{
    (void)state;
    struct ab_arena a = make(MIB, 0);
    struct ab_arena_mark before = ab_arena_save(&a);
    if (setjmp(way_out) == 0)
        leaves_by_longjmp(&a);
    assert_int_equal(ab_arena_used(&a), 112);
    ab_arena_restore(&a, before);
    assert_int_equal(ab_arena_used(&a), 0);
    ab_arena_fini(&a);
}

/* ---- clean-ups ---- */

static char told[64];

static void tell(void *context)
{
    strncat(told, context, sizeof told - strlen(told) - 1);
}

static void clean_ups_run_the_last_one_left_first(void **state)
{
    (void)state;
    struct ab_arena a = make(MIB, 0);
    told[0] = 0;
    assert_true(ab_arena_defer(&a, tell, "a"));
    assert_true(ab_arena_defer(&a, tell, "b"));
    struct ab_arena_mark mark = ab_arena_save(&a);
    assert_true(ab_arena_defer(&a, tell, "c"));
    assert_true(ab_arena_defer(&a, tell, "d"));
    ab_arena_restore(&a, mark);
    assert_string_equal(told, "dc");
    ab_arena_restore(&a, mark);
    assert_string_equal(told, "dc");
    ab_arena_reset(&a);
    assert_string_equal(told, "dcba");
    ab_arena_reset(&a);
    assert_string_equal(told, "dcba");
    assert_true(ab_arena_defer(&a, tell, "e"));
    ab_arena_fini(&a);
    assert_string_equal(told, "dcbae");
}

static void clean_ups_run_across_regions(void **state)
{
    (void)state;
    struct ab_arena a = make(4 * KIB, 4 * KIB);
    told[0] = 0;
    assert_true(ab_arena_defer(&a, tell, "a"));
    assert_non_null(ab_arena_alloc(&a, 100 * KIB));
    struct ab_arena_mark mark = ab_arena_save(&a);
    assert_true(ab_arena_defer(&a, tell, "b"));
    assert_non_null(ab_arena_alloc(&a, 500 * KIB));
    assert_true(ab_arena_defer(&a, tell, "c"));
    ab_arena_restore(&a, mark);
    assert_string_equal(told, "cb");
    ab_arena_reset(&a);
    assert_string_equal(told, "cba");
    assert_int_equal(ab_arena_used(&a), 0);
    ab_arena_fini(&a);
}

static void reset_it(void *arena)
{
    ab_arena_reset(arena);
}

/* The place of the save point is beyond what there is of the arena then. */
static void a_clean_up_that_goes_back_further_has_the_last_word(void **state)
{
    (void)state;
    struct ab_arena a;
    struct ab_arena_options options = {.reserve_bytes = 1 << 16, .chain_bytes = 1 << 16};
    assert_int_equal(ab_arena_init(&a, &options), 0);
    for (int i = 0; i < 3; i++)
        assert_non_null(ab_arena_alloc(&a, 60000));
    struct ab_arena_mark mark = ab_arena_save(&a);
    assert_true(ab_arena_defer(&a, reset_it, &a));
    ab_arena_restore(&a, mark);
    assert_int_equal(ab_arena_used(&a), 0);
    char *block = ab_arena_alloc(&a, 100);
    assert_ptr_equal(block, a.base);
    memset(block, 1, 100);
    ab_arena_fini(&a);
}

/* ---- further regions ---- */

static void an_arena_goes_on_in_further_regions(void **state)
{
    (void)state;
    struct ab_arena a = make(16 * KIB, 16 * KIB);
    unsigned char *blocks[200];
    for (int i = 0; i < 200; i++) {
        blocks[i] = ab_arena_alloc(&a, 5000);
        assert_non_null(blocks[i]);
        memset(blocks[i], i, 5000);
    }
    assert_true(ab_arena_used(&a) >= 200 * 5000);
    assert_true(ab_arena_committed(&a) >= ab_arena_used(&a));
    for (int i = 0; i < 200; i++)
        assert_true(blocks[i][0] == i && blocks[i][4999] == i);
    assert_true(a.n_os_calls < 30); /* each region is as large as all before it */
    ab_arena_fini(&a);
    assert_false(is_mapped(blocks[199]));
    assert_false(is_mapped(blocks[0]));
}

static void a_reset_goes_back_to_the_first_region_and_keeps_the_largest(void **state)
{
    (void)state;
    struct ab_arena a = make(16 * KIB, 16 * KIB);
    const char *first = ab_arena_alloc(&a, 100);
    for (int frame = 0; frame < 10; frame++) {
        uint64_t calls = a.n_os_calls;
        for (int i = 0; i < 100; i++)
            assert_non_null(ab_arena_alloc(&a, 5000));
        ab_arena_reset(&a);
        assert_int_equal(ab_arena_used(&a), 0);
        assert_ptr_equal(ab_arena_alloc(&a, 100), first);
        if (frame >= 6) /* the spare region holds a whole frame by then */
            assert_int_equal(a.n_os_calls, calls);
    }
    ab_arena_release(&a);
    assert_null(a.spare);
    ab_arena_fini(&a);
}

static void save_points_reach_across_regions(void **state)
{
    (void)state;
    struct ab_arena a = make(16 * KIB, 16 * KIB);
    ab_arena_alloc(&a, 10 * KIB);
    struct ab_arena_mark low = ab_arena_save(&a);
    char *kept = ab_arena_alloc(&a, 50 * KIB);
    memset(kept, 7, 50 * KIB);
    struct ab_arena_mark high = ab_arena_save(&a);
    size_t used = ab_arena_used(&a);
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 20; k++)
            memset(ab_arena_alloc(&a, 40 * KIB), 1, 40 * KIB);
        ab_arena_restore(&a, high);
        assert_int_equal(ab_arena_used(&a), used);
    }
    assert_true(kept[0] == 7 && kept[50 * KIB - 1] == 7);
    ab_arena_restore(&a, low);
    assert_int_equal(ab_arena_used(&a), 10 * KIB);
    ab_arena_restore(&a, high); /* ahead: nothing */
    assert_int_equal(ab_arena_used(&a), 10 * KIB);
    ab_arena_fini(&a);
}

static void zeroed_blocks_are_zero_in_a_region_that_was_used_before(void **state)
{
    (void)state;
    struct ab_arena a = make(16 * KIB, 16 * KIB);
    for (int i = 0; i < 4; i++) {
        memset(ab_arena_alloc(&a, 300 * KIB), 0xEE, 300 * KIB);
        ab_arena_reset(&a);
        const unsigned char *z = ab_arena_alloc_zeroed(&a, 200 * KIB);
        for (int k = 0; k < 200 * KIB; k++)
            assert_int_equal(z[k], 0);
        ab_arena_reset(&a);
    }
    ab_arena_fini(&a);
}

static void a_buffer_comes_first_and_regions_after_it(void **state)
{
    (void)state;
    char buffer[1000];
    struct ab_arena a;
    ab_arena_init_buffer(&a, buffer, sizeof buffer);
    ab_arena_chain(&a, 64 * KIB);
    char *p = ab_arena_alloc(&a, 500);
    assert_true(p >= buffer && p < buffer + sizeof buffer);
    char *q = ab_arena_alloc(&a, 5000);
    assert_true(q < buffer || q >= buffer + sizeof buffer);
    assert_int_equal(p == ab_arena_resize(&a, p, 500, 100), 1);
    char *grown = ab_arena_resize(&a, memset(q, 3, 5000), 5000, MIB);
    assert_true(grown[0] == 3 && grown[4999] == 3);
    ab_arena_reset(&a);
    assert_ptr_equal(ab_arena_alloc(&a, 10), p);
    ab_arena_fini(&a);
}

static void absurd_sizes_take_no_region(void **state)
{
    (void)state;
    struct ab_arena a = make(16 * KIB, 16 * KIB);
    static const size_t sizes[] = {SIZE_MAX, SIZE_MAX - 15, SIZE_MAX / 2, PTRDIFF_MAX};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        assert_null(ab_arena_alloc(&a, sizes[i]));
        assert_null(ab_arena_alloc_aligned(&a, (size_t)1 << 63, sizes[i]));
    }
    assert_null(ab_arena_alloc_aligned(&a, (size_t)1 << 62, 1));
    assert_int_equal(ab_arena_used(&a), 0);
    assert_null(a.below);
    assert_int_equal((uintptr_t)ab_arena_alloc_aligned(&a, 64 * KIB, 10) % (64 * KIB), 0);
    ab_arena_fini(&a);
}

/* ---- memory of its own, and exhausted ---- */

static void an_arena_lies_in_its_own_memory(void **state)
{
    (void)state;
    struct ab_arena_options options = {.reserve_bytes = MIB, .chain_bytes = MIB};
    struct ab_arena *a = ab_arena_open(&options);
    assert_non_null(a);
    assert_int_equal(ab_arena_used(a), 0);
    told[0] = 0;
    assert_true(ab_arena_defer(a, tell, "x"));
    for (int i = 0; i < 100; i++)
        memset(ab_arena_alloc(a, 50 * KIB), 1, 50 * KIB);
    ab_arena_reset(a);
    ab_arena_purge(a);
    ab_arena_trim(a, 0);
    memset(ab_arena_alloc(a, 50 * KIB), 1, 50 * KIB);
    ab_arena_release(a);
    assert_true(is_mapped(a));
    ab_arena_close(a);
    assert_false(is_mapped(a));
    assert_string_equal(told, "x");
    ab_arena_close(NULL);
    options.reserve_bytes = SIZE_MAX;
    errno = 0;
    assert_null(ab_arena_open(&options));
    assert_int_equal(errno, ENOMEM);
}

struct asked {
    int n;
    size_t size;
    struct ab_arena_mark mark;
};

static bool make_memory(struct ab_arena *arena, size_t size, void *context)
{
    struct asked *asked = context;
    asked->n++;
    asked->size = size;
    if (asked->n > 1)
        return false;
    ab_arena_restore(arena, asked->mark); /* a cache that can be dropped */
    return true;
}

static void the_callback_is_asked_when_memory_is_exhausted(void **state)
{
    (void)state;
    struct ab_arena a = make(MIB, 0);
    struct asked asked = {0};
    ab_arena_alloc(&a, 100 * KIB);
    asked.mark = ab_arena_save(&a);
    ab_arena_on_exhausted(&a, make_memory, &asked);
    ab_arena_alloc(&a, 800 * KIB);
    assert_int_equal(asked.n, 0);
    assert_non_null(ab_arena_alloc(&a, 500 * KIB));
    assert_int_equal(asked.n, 1);
    assert_int_equal(asked.size, 500 * KIB);
    assert_null(ab_arena_alloc(&a, 600 * KIB));
    assert_int_equal(asked.n, 2);
    ab_arena_on_exhausted(&a, NULL, NULL);
    assert_null(ab_arena_alloc(&a, 600 * KIB));
    assert_int_equal(asked.n, 2);
    ab_arena_fini(&a);
}

/* ---- blocks that lie close ---- */

#if defined(__SANITIZE_ADDRESS__)
enum { IS_CLOSE = 0 }; /* each has 16 bytes for the sanitizer */
#else
enum { IS_CLOSE = 1 };
#endif

static void blocks_of_small_alignment_lie_close(void **state)
{
    (void)state;
    struct ab_arena a = make(MIB, 0);
    float *f[8];
    for (int i = 0; i < 8; i++)
        f[i] = AB_ARENA_NEW(&a, float);
    for (int i = 1; i < 8 && IS_CLOSE; i++)
        assert_ptr_equal(f[i], f[0] + i);
    if (IS_CLOSE)
        assert_int_equal(ab_arena_used(&a), 32);
    char *c = ab_arena_alloc_aligned(&a, 1, 3);
    double *d = AB_ARENA_NEW(&a, double);
    assert_int_equal((uintptr_t)d % 8, 0);
    if (IS_CLOSE) {
        assert_ptr_equal(c, f[7] + 1);
        assert_int_equal((char *)d - c, 8);
    }
    void *whole = ab_arena_alloc(&a, 1), *small = ab_arena_alloc_aligned(&a, 2, 2);
    assert_int_equal((uintptr_t)whole % 16, 0);
    assert_true((char *)small >= (char *)whole + 16 && (char *)whole > (char *)d);
    struct {
        _Alignas(64) char line[64];
    } *line = ab_arena_alloc_aligned(&a, 64, 64);
    assert_int_equal((uintptr_t)line % 64, 0);
    ab_arena_fini(&a);
}

static void blocks_that_lie_close_never_overlap(void **state)
{
    (void)state;
    enum { N = 3000 };
    static struct {
        unsigned char *p;
        size_t size;
    } blocks[N];
    struct ab_arena a = make(16 * MIB, 0);
    uint32_t x = 7;
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < N; i++) {
            x = x * 1664525u + 1013904223u;
            size_t align = (size_t)1 << (x >> 8 & 7), size = (x >> 16) % 50;
            blocks[i].p = ab_arena_alloc_aligned(&a, align, size);
            blocks[i].size = size;
            assert_non_null(blocks[i].p);
            assert_int_equal((uintptr_t)blocks[i].p % align, 0);
            memset(blocks[i].p, i & 255, size);
            int old = (int)((x >> 4) % (uint32_t)(i + 1)); /* also the youngest, often */
            old = (x & 3) == 0 ? i : old;
            size_t wanted = (x >> 11) % 70,
                   kept = wanted < blocks[old].size ? wanted : blocks[old].size;
            blocks[old].p = ab_arena_resize_aligned(&a, 1, blocks[old].p, blocks[old].size, wanted);
            blocks[old].size = wanted;
            for (size_t k = 0; k < kept; k++)
                assert_int_equal(blocks[old].p[k], old & 255);
            memset(blocks[old].p, old & 255, wanted);
        }
        for (int i = 0; i < N; i++)
            for (size_t k = 0; k < blocks[i].size; k++)
                assert_int_equal(blocks[i].p[k], i & 255);
        ab_arena_reset(&a);
    }
    ab_arena_fini(&a);
}

static void a_save_point_between_close_blocks_is_exact(void **state)
{
    (void)state;
    struct ab_arena a = make(MIB, 0);
    char *first = ab_arena_alloc_aligned(&a, 1, 5);
    memset(first, 1, 5);
    struct ab_arena_mark mark = ab_arena_save(&a);
    char *second = memset(ab_arena_alloc_aligned(&a, 1, 5), 2, 5);
    ab_arena_alloc(&a, 100);
    ab_arena_restore(&a, mark);
    char *again = ab_arena_alloc_array_zeroed(&a, 1, 5, 1);
    assert_ptr_equal(again, second);
    assert_int_equal(again[0] | again[4], 0);
    assert_int_equal(first[4], 1);
    ab_arena_reset(&a);
    assert_ptr_equal(ab_arena_alloc(&a, 1), first);
    ab_arena_fini(&a);
}

/* The second block stays as it was, whatever becomes of the first. */
static void assert_grows_alone(struct ab_arena *a, void *first, uint64_t *second)
{
    *second = 0x1234567890ABCDEF;
    char *grown = ab_arena_resize(a, first, 8, 64);
    assert_non_null(grown);
    memset(grown, 0xEE, 64);
    assert_true(*second == 0x1234567890ABCDEF);
}

static void a_close_block_never_grows_over_a_live_one(void **state)
{
    (void)state;
    struct ab_arena a = make(4 * KIB, MIB);
    for (int way = 0; way < 3; way++) {
        uint64_t *first = AB_ARENA_NEW(&a, uint64_t);
        uint64_t *second = AB_ARENA_ARRAY(&a, uint64_t, way == 2 ? 3 : 1);
        struct ab_arena_mark mark = ab_arena_save(&a);
        if (way == 0)
            ab_arena_alloc(&a, 100); /* dies at once */
        else if (way == 1)
            ab_arena_alloc(&a, 8 * KIB); /* in a further region */
        if (way != 2)
            ab_arena_restore(&a, mark);
        else
            assert_ptr_equal(ab_arena_resize(&a, second, 24, 8), second);
        assert_grows_alone(&a, first, second);
        ab_arena_reset(&a);
    }
    ab_arena_fini(&a);
}

static void a_close_block_grows_to_the_end_of_a_buffer(void **state)
{
    (void)state;
    _Alignas(16) char buffer[64];
    struct ab_arena a;
    ab_arena_init_buffer(&a, buffer, sizeof buffer);
    if (!AB_MARKS && !AB_CHECKS) { /* else no block lies close to another */
        AB_ARENA_NEW(&a, uint64_t);
        uint64_t *second = AB_ARENA_NEW(&a, uint64_t);
        assert_null(ab_arena_resize(&a, second, 8, 57));
        assert_ptr_equal(ab_arena_resize(&a, second, 8, 56), second);
        assert_int_equal(ab_arena_used(&a), 64);
        assert_int_equal(a.n_os_calls, 0);
    }
    ab_arena_fini(&a);
}

static void zeroed_arrays_of_any_alignment_are_zero(void **state)
{
    (void)state;
    struct ab_arena a = make(MIB, 0);
    memset(ab_arena_alloc(&a, 10 * KIB), 0xEE, 10 * KIB);
    ab_arena_reset(&a);
    for (size_t align = 1; align <= 4096; align *= 2) {
        const unsigned char *p = ab_arena_alloc_array_zeroed(&a, align, 77, 3);
        assert_int_equal((uintptr_t)p % align, 0);
        for (int i = 0; i < 77 * 3; i++)
            assert_int_equal(p[i], 0);
    }
    const int *numbers = AB_ARENA_ARRAY_ZEROED(&a, int, 100);
    assert_int_equal(numbers[99] + *AB_ARENA_NEW_ZEROED(&a, int), 0);
    assert_null(AB_ARENA_ARRAY_ZEROED(&a, int, SIZE_MAX / 2));
    ab_arena_fini(&a);
}

static char *text_in(const struct ab_arena_scope *scope)
{
    char *text = ab_arena_scope_alloc(scope, 100);
    assert_non_null(text);
    return strcpy(text, "text");
}

static void a_scope_with_a_name_allocates_by_itself(void **state)
{
    (void)state;
    char buffer[4096];
    struct ab_arena a;
    ab_arena_init_buffer(&a, buffer, sizeof buffer);
    size_t used = ab_arena_used(&a);
    {
        AB_ARENA_SCOPE(outer, &a);
        assert_string_equal(text_in(&outer), "text");
        size_t used_outer = ab_arena_used(&a);
        {
            AB_ARENA_SCOPE(inner, &a);
            text_in(&inner);
            assert_true(ab_arena_used(&a) > used_outer);
        }
        assert_int_equal(ab_arena_used(&a), used_outer);
        assert_true(used_outer > used);
    }
    assert_int_equal(ab_arena_used(&a), used);
    ab_arena_fini(&a);
}

/* ---- scopes within scopes, over all that an arena can be in the middle of ---- */

static unsigned n_cleaned;

static void clean(void *context)
{
    (void)context;
    n_cleaned++;
}

static void allocate_something(struct ab_arena *a, struct ab_rng *rng, unsigned *n_left)
{
    size_t size = ab_rng_below(rng, 10) == 0 ? ab_rng_below(rng, 40 * KIB) : ab_rng_below(rng, 200);
    uint64_t kind = ab_rng_below(rng, 8);
    void *block = NULL;
    if (kind < 3)
        block = ab_arena_alloc(a, size);
    else if (kind < 5)
        block = ab_arena_alloc_packed(a, (size_t)1 << ab_rng_below(rng, 6), size);
    else if (kind == 5)
        block = ab_arena_resize(a, ab_arena_alloc(a, size), size, size * 2);
    else if (kind == 6)
        block = ab_arena_alloc_zeroed(a, size);
    else
        *n_left += ab_arena_defer(a, clean, NULL);
    if (kind == 6 && block != NULL)
        for (size_t i = 0; i < size; i++)
            assert_int_equal(((char *)block)[i], 0);
    if (block != NULL)
        memset(block, 0xa5, size);
}

/* After a scope the arena is where it was, to the byte; what was left to it is done. True: a reset came
 * in between. */
static bool nest(struct ab_arena *a, struct ab_rng *rng, unsigned depth, bool may_reset)
{
    size_t before = ab_arena_save(a).position;
    unsigned n_left = 0, n_before = n_cleaned;
    bool is_reset = false;
    {
        AB_ARENA_SCOPED(a);
        for (uint64_t i = ab_rng_below(rng, 6); i > 0; i--)
            allocate_something(a, rng, &n_left);
        for (uint64_t i = ab_rng_below(rng, 4); depth < 5 && i > 0; i--)
            is_reset |= nest(a, rng, depth + 1, may_reset);
        allocate_something(a, rng, &n_left);
        if (may_reset && ab_rng_below(rng, 40) == 0) {
            ab_arena_reset(a);
            is_reset = true;
        }
    }
    assert_true(is_reset || ab_arena_save(a).position == before);
    assert_true(is_reset || n_cleaned >= n_before + n_left);
    assert_true(ab_arena_used(a) <= ab_arena_committed(a));
    return is_reset;
}

static void a_scope_leaves_the_arena_where_it_was(void **state)
{
    (void)state;
    static char buffer[20 * KIB];
    static const struct ab_arena_options table[] = {
        {.reserve_bytes = 64 * MIB},
        {.reserve_bytes = 64 * MIB, .keep_bytes = 16 * KIB},
        {.reserve_bytes = 64 * KIB, .chain_bytes = 32 * KIB},
        {.reserve_bytes = 16 * KIB, .chain_bytes = 16 * KIB, .keep_bytes = 4 * KIB},
        {.reserve_bytes = 0}};
    for (size_t i = 0; i <= sizeof table / sizeof table[0]; i++) {
        bool is_buffer = i == sizeof table / sizeof table[0];
        struct ab_arena a;
        struct ab_rng rng;
        ab_rng_init(&rng, 5, (uint32_t)i);
        if (is_buffer)
            ab_arena_init_buffer(&a, buffer + 3, sizeof buffer - 3);
        else
            assert_int_equal(ab_arena_init(&a, &table[i]), 0);
        for (unsigned round = 0; round < 300; round++) {
            unsigned n_left = 0;
            nest(&a, &rng, 0, !AB_CHECKS && round % 3 == 0); /* checks report a stale scope */
            allocate_something(&a, &rng, &n_left);
            if (round % 10 == 9)
                ab_arena_reset(&a);
        }
        ab_arena_fini(&a);
    }
}

/* Strings in a scope leave no trace: the next scope ends by an assignment again. */
static void a_scope_with_close_blocks_leaves_none(void **state)
{
    (void)state;
    struct ab_arena a = make(MIB, 0);
    assert_non_null(ab_arena_alloc(&a, 100));
    char *floor = a.floor;
    {
        AB_ARENA_SCOPED(&a);
        assert_non_null(ab_arena_alloc_packed(&a, 1, 5));
        assert_non_null(ab_arena_alloc_packed(&a, 1, 5));
    }
    assert_ptr_equal(a.floor, floor);
    char *last = ab_arena_alloc_packed(&a, 1, 5);
    {
        AB_ARENA_SCOPED(&a);
        assert_non_null(ab_arena_alloc_packed(&a, 1, 100));
    }
    assert_ptr_equal(ab_arena_resize_aligned(&a, 1, last, 5, 500), last); /* still the last one */
    ab_arena_fini(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_scope_ends_however_it_is_left),
        cmocka_unit_test(scopes_nest_and_several_fit_in_one_block),
        cmocka_unit_test(longjmp_leaves_what_was_allocated_until_an_older_save_point),
        cmocka_unit_test(clean_ups_run_the_last_one_left_first),
        cmocka_unit_test(clean_ups_run_across_regions),
        cmocka_unit_test(a_clean_up_that_goes_back_further_has_the_last_word),
        cmocka_unit_test(an_arena_goes_on_in_further_regions),
        cmocka_unit_test(a_reset_goes_back_to_the_first_region_and_keeps_the_largest),
        cmocka_unit_test(save_points_reach_across_regions),
        cmocka_unit_test(zeroed_blocks_are_zero_in_a_region_that_was_used_before),
        cmocka_unit_test(a_buffer_comes_first_and_regions_after_it),
        cmocka_unit_test(absurd_sizes_take_no_region),
        cmocka_unit_test(an_arena_lies_in_its_own_memory),
        cmocka_unit_test(the_callback_is_asked_when_memory_is_exhausted),
        cmocka_unit_test(blocks_of_small_alignment_lie_close),
        cmocka_unit_test(blocks_that_lie_close_never_overlap),
        cmocka_unit_test(a_save_point_between_close_blocks_is_exact),
        cmocka_unit_test(a_close_block_never_grows_over_a_live_one),
        cmocka_unit_test(a_close_block_grows_to_the_end_of_a_buffer),
        cmocka_unit_test(zeroed_arrays_of_any_alignment_are_zero),
        cmocka_unit_test(a_scope_with_a_name_allocates_by_itself),
        cmocka_unit_test(a_scope_leaves_the_arena_where_it_was),
        cmocka_unit_test(a_scope_with_close_blocks_leaves_none),
    };
    test_with_small_pages();
    return cmocka_run_group_tests_name("arena ends", tests, NULL, NULL);
}
