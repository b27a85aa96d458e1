/* SPDX-License-Identifier: MIT
 *
 * Every allocator through the interface of ab_allocator.h: what a data structure may rely on
 * whatever is behind it. What each does beyond that is in its own test.
 */
#include "allocators/ab_allocator_hooks.h"
#include "allocators/ab_allocator_libc.h"
#include "allocators/ab_allocator_text.h"
#include "allocators/arena/arena_allocator.h"
#include "allocators/arena/arena_shared.h"
#include "allocators/paged/paged_arena.h"
#include "allocators/paged/paged_locked.h"
#include "allocators/pool/pool_lockfree.h"
#include "allocators/pool/pool_shared.h"
#include "allocators/slab/slab_shared.h"
#include "base/bits.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { MIB = 1024 * 1024, LINE = 64, N = 40 };

struct line { /* over-aligned */
    _Alignas(LINE) char bytes[3];
};

struct triple {
    double x, y, z;
};

static struct all {
    struct ab_arena arena;
    struct ab_arena_client client;
    struct ab_pool pool;
    struct ab_pool_lockfree lockfree;
    struct ab_slabs slabs, fine;
    struct ab_paged_pool paged_pool, arena_pool;
    struct ab_paged_arena paged;
    struct ab_paged_locked locked;
    struct ab_arena_shared *arena_shared;
    struct ab_pool_shared *pool_shared;
    struct ab_slab_shared *slab_shared;
    struct ab_allocator allocators[12];
} all;

static int open_all(void **state)
{
    (void)state;
    int errors =
        ab_arena_init(&all.arena, &(struct ab_arena_options){.reserve_bytes = 16 * MIB}) |
        ab_pool_init(&all.pool, &(struct ab_pool_options){.slot_bytes = 4096, .grows = true}) |
        ab_pool_lockfree_init(&all.lockfree, &(struct ab_pool_lockfree_options){.slot_bytes = 4096,
                                                                                .n_slots = 1000}) |
        ab_slabs_init(&all.slabs, &(struct ab_slabs_options){.reserve_bytes = 16 * MIB}) |
        ab_slabs_init(&all.fine, &(struct ab_slabs_options){.reserve_bytes = 16 * MIB,
                                                            .spacing = AB_SLAB_FINE}) |
        ab_paged_pool_init(&all.paged_pool, "blocks", 16 * MIB) |
        ab_paged_pool_init(&all.arena_pool, "pages", 16 * MIB);
    errors |= ab_paged_arena_init(&all.paged, &all.arena_pool, 0, 0);
    all.client.arena = &all.arena;
    all.allocators[0] = ab_libc_allocator();
    all.allocators[1] = ab_arena_allocator(&all.client);
    all.allocators[2] = ab_pool_allocator(&all.pool);
    all.allocators[3] = ab_pool_lockfree_allocator(&all.lockfree);
    all.allocators[4] = ab_slab_allocator(&all.slabs);
    all.allocators[5] = ab_slab_allocator(&all.fine);
    all.allocators[6] = ab_paged_pool_allocator(&all.paged_pool);
    all.allocators[7] = ab_paged_allocator(&all.paged);
    return errors;
}

static int open_shared(void **state)
{
    int errors = open_all(state) | ab_paged_locked_init(&all.locked, "locked", 16 * MIB);
    all.arena_shared = ab_arena_shared_open(&(struct ab_arena_shared_options){
        .arena.reserve_bytes = 16 * MIB, .threads.mode = AB_SHARDS_LOCAL});
    all.pool_shared = ab_pool_shared_open(&(struct ab_pool_shared_options){
        .pool = {.slot_bytes = 4096, .grows = true}, .threads.mode = AB_SHARDS_LOCAL});
    all.slab_shared = ab_slab_shared_open(
        &(struct ab_slab_shared_options){.threads.mode = AB_SHARDS_LOCAL});
    if (all.arena_shared == NULL || all.pool_shared == NULL || all.slab_shared == NULL)
        return 1;
    all.allocators[8] = ab_paged_locked_allocator(&all.locked);
    all.allocators[9] = ab_arena_shared_allocator(all.arena_shared);
    all.allocators[10] = ab_pool_shared_allocator(all.pool_shared);
    all.allocators[11] = ab_slab_shared_allocator(all.slab_shared);
    return errors;
}

static int close_all(void **state)
{
    (void)state;
    ab_paged_locked_fini(&all.locked);
    ab_arena_shared_close(all.arena_shared);
    ab_pool_shared_close(all.pool_shared);
    ab_slab_shared_close(all.slab_shared);
    ab_arena_fini(&all.arena);
    ab_pool_fini(&all.pool);
    ab_pool_lockfree_fini(&all.lockfree);
    ab_slabs_fini(&all.slabs);
    ab_slabs_fini(&all.fine);
    ab_paged_arena_fini(&all.paged);
    ab_paged_pool_fini(&all.paged_pool);
    ab_paged_pool_fini(&all.arena_pool);
    return 0;
}

#define FOR_EACH_ALLOCATOR(a) \
    for (const struct ab_allocator *a = all.allocators; \
         a < all.allocators + AB_ARRAY_LEN(all.allocators); a++)

static void nothing_is_NULL_and_NULL_is_nothing(void **state)
{
    (void)state;
    FOR_EACH_ALLOCATOR(a)
    {
        assert_null(a->alloc(0, a->context));
        a->free(100, NULL, a->context);
        assert_null(AB_NEW_ARRAY(struct triple, 0, a));
        AB_DELETE(struct triple, NULL, a);
        AB_DELETE(struct line, NULL, a);
    }
}

static void every_size_is_aligned_to_two_pointers(void **state)
{
    (void)state;
    static const size_t sizes[] = {1, 7, 8, 9, 16, 17, 24, 31, 100, 1000, 4000};
    FOR_EACH_ALLOCATOR(a)
    for (size_t i = 0; i < AB_ARRAY_LEN(sizes); i++) {
        char *first = a->alloc(sizes[i], a->context), *second = a->alloc(sizes[i], a->context);
        assert_non_null(first);
        assert_non_null(second);
        assert_int_equal(((uintptr_t)first | (uintptr_t)second) % AB_ALLOCATOR_ALIGN, 0);
        memset(first, 1, sizes[i]);
        memset(second, 2, sizes[i]);
        assert_int_equal(first[sizes[i] - 1], 1);
        a->free(sizes[i], second, a->context);
        a->free(sizes[i], first, a->context);
    }
}

static void a_typed_block_is_aligned_as_its_type(void **state)
{
    (void)state;
    FOR_EACH_ALLOCATOR(a)
    {
        struct line *lines[N];
        for (unsigned i = 0; i < N; i++) {
            lines[i] = AB_NEW(struct line, a);
            assert_non_null(lines[i]);
            assert_int_equal((uintptr_t)lines[i] % LINE, 0);
            memset(lines[i], (int)i, sizeof *lines[i]);
        }
        struct line *array = AB_NEW_ARRAY(struct line, 20, a);
        assert_non_null(array);
        assert_int_equal((uintptr_t)array % LINE, 0);
        memset(array, 77, 20 * sizeof *array);
        for (unsigned i = N; i-- > 0;) {
            for (size_t k = 0; k < sizeof *lines[i]; k++)
                assert_int_equal(((const char *)lines[i])[k], i);
            AB_DELETE(struct line, lines[i], a);
        }
        AB_DELETE_ARRAY(struct line, 20, array, a);
    }
}

static void too_many_are_NULL(void **state)
{
    (void)state;
    FOR_EACH_ALLOCATOR(a)
    {
        volatile size_t most = SIZE_MAX; /* or the compiler warns about it */
        assert_null(AB_NEW_ARRAY(struct triple, most / 2, a));
        assert_null(AB_NEW_ARRAY(struct line, most / LINE + 1, a));
        assert_null(AB_NEW_ARRAY(struct line, most / LINE, a)); /* no room to align it */
        if (a->alloc != ab_libc_client_alloc)
            assert_null(AB_NEW_ARRAY(char, most / 4, a));
    }
}

/* What goes back is served again, but in the arenas. */
static void blocks_go_back(void **state)
{
    (void)state;
    FOR_EACH_ALLOCATOR(a)
    {
        struct triple *first = AB_NEW(struct triple, a);
        AB_DELETE(struct triple, first, a);
        struct triple *again = AB_NEW(struct triple, a);
        if (a->alloc != ab_libc_client_alloc && a->alloc != ab_arena_client_alloc &&
            a->alloc != ab_arena_shared_client_alloc)
            assert_ptr_equal(first, again);
        AB_DELETE(struct triple, again, a);
    }
    assert_int_equal(ab_pool_live(&all.pool), 0);
    assert_int_equal(ab_pool_lockfree_live(&all.lockfree), 0);
    assert_int_equal(ab_slabs_live(&all.slabs), 0);
    assert_int_equal(ab_slabs_live(&all.fine), 0);
    assert_int_equal(all.paged_pool.live_blocks, 0);
}

static void fill(char *block, size_t size)
{
    for (size_t i = 0; i < size; i++)
        block[i] = (char)(i * 7 + 1);
}

static void expect_filled(const char *block, size_t size)
{
    assert_non_null(block);
    for (size_t i = 0; i < size; i++)
        assert_int_equal(block[i], (char)(i * 7 + 1));
}

/* A heap that can resize nothing, as any that was written before there was a resize. */
static struct ab_allocator copying(const struct ab_allocator *a)
{
    struct ab_allocator copying = {.alloc = a->alloc, .free = a->free, .context = a->context};
    return copying;
}

static void a_block_keeps_its_bytes_when_it_is_resized(void **state)
{
    (void)state;
    static const size_t sizes[] = {1, 17, 100, 3000, 4000, 3000, 16, 8, 1};
    FOR_EACH_ALLOCATOR(own)
    for (unsigned form = 0; form < 4; form++) {
        const struct ab_allocator copies = copying(own), *a = form & 1 ? &copies : own;
        size_t align = form & 2 ? LINE : 1, size = 1;
        char *block = ab_allocator_resize(a, NULL, 0, size, align);
        for (size_t i = 0; i < AB_ARRAY_LEN(sizes); size = sizes[i++]) {
            fill(block, size);
            block = ab_allocator_resize(a, block, size, sizes[i], align);
            expect_filled(block, sizes[i] < size ? sizes[i] : size);
            assert_int_equal((uintptr_t)block % align, 0);
            memset(block, 0, sizes[i]); /* all of it may be used */
        }
        assert_null(ab_allocator_resize(a, block, size, 0, align));
        assert_null(ab_allocator_resize(a, NULL, 0, 0, align));
    }
}

static void a_block_that_cannot_be_resized_stays(void **state)
{
    (void)state;
    FOR_EACH_ALLOCATOR(a)
    {
        char *block = ab_allocator_resize(a, NULL, 0, 100, 1);
        volatile size_t most = SIZE_MAX;
        fill(block, 100);
        if (a->alloc != ab_libc_client_alloc) /* AddressSanitizer ends the process */
            assert_null(ab_allocator_resize(a, block, 100, most / 4, 1));
        expect_filled(block, 100);
        ab_allocator_delete(a, block, 100, 1);
    }
}

/* What is in place where it can be: the block is where it was, and no second one was needed. */
static void heaps_resize_in_place_where_they_can(void **state)
{
    (void)state;
    FOR_EACH_ALLOCATOR(a)
    {
        bool is_never = a->alloc == ab_pool_lockfree_client_alloc ||
                        a->alloc == ab_libc_client_alloc || AB_CHECKS;
        char *block = ab_allocator_resize(a, NULL, 0, 200, 1);
        char *resized = ab_allocator_resize(a, block, 200, 208, 1);
        assert_true(is_never || resized == block);
        ab_allocator_delete(a, resized, 208, 1);
    }
}

static void strings_are_on_every_allocator(void **state)
{
    (void)state;
    static const char *const parts[] = {"a", "", "ccc"};
    FOR_EACH_ALLOCATOR(a)
    {
        char *hello = ab_strdup(a, "hello"), *number = ab_asprintf(a, "%*d|%s", 300, 7, hello);
        assert_string_equal(number + 299, "7|hello");
        ab_strfree(a, number);
        char *he = ab_strndup(a, hello, 2), *joined = ab_strjoin(a, parts, 3, ", ");
        assert_string_equal(he, "he");
        assert_string_equal(joined, "a, , ccc");
        ab_strfree(a, joined);
        ab_strfree(a, he);
        ab_strfree(a, hello);
        ab_strfree(a, NULL);
        struct ab_string text = ab_string_from(a);
        for (int i = 0; i < 100; i++)
            ab_string_printf(&text, "%02d,", i);
        char *numbers = ab_string_end(&text);
        assert_int_equal(strlen(numbers), 300);
        assert_string_equal(numbers + 294, "98,99,");
        ab_strfree(a, numbers);
    }
    assert_int_equal(ab_slabs_live(&all.slabs) + ab_pool_live(&all.pool), 0);
    assert_int_equal(ab_pool_lockfree_live(&all.lockfree) + all.paged_pool.live_blocks, 0);
}

/* The slot is too small for the text, which grew in it: nothing stays behind. */
static void a_string_that_is_not_whole_goes_back(void **state)
{
    (void)state;
    struct ab_allocator a = ab_pool_allocator(&all.pool), copies = copying(&a);
    for (unsigned i = 0; i < 2; i++) {
        struct ab_string text = ab_string_from(i == 0 ? &a : &copies);
        while (!text.is_broken)
            ab_string_add(&text, "more ");
        assert_true(ab_pool_live(&all.pool) > 0);
        assert_null(ab_string_end(&text));
        assert_int_equal(ab_pool_live(&all.pool), 0);
        ab_string_printf(&text, "%d", 1);
        assert_null(ab_string_end(&text));
    }
}

static void a_file_is_read_to_its_end(void **state)
{
    (void)state;
    static const size_t sizes[] = {0, 1, 3500};
    char bytes[3500];
    fill(bytes, sizeof bytes);
    for (size_t i = 0; i < AB_ARRAY_LEN(sizes); i++) {
        char path[] = "/tmp/ab_read_fileXXXXXX";
        int fd = mkstemp(path);
        assert_int_equal(write(fd, bytes, sizes[i]), sizes[i]);
        close(fd);
        FOR_EACH_ALLOCATOR(a)
        {
            size_t n = 77;
            char *contents = ab_read_file(a, path, &n);
            assert_int_equal(n, sizes[i]);
            expect_filled(contents, n);
            assert_int_equal(contents[n], 0);
            AB_DELETE_ARRAY(char, n + 1, contents, a);
        }
        unlink(path);
    }
    assert_int_equal(ab_slabs_live(&all.slabs) + ab_pool_live(&all.pool), 0);
}

static void a_file_that_cannot_be_read_says_why(void **state)
{
    (void)state;
    struct ab_allocator libc = ab_libc_allocator(), pool = ab_pool_allocator(&all.pool);
    size_t n;
    assert_null(ab_read_file(&libc, "/nonexistent/file", &n));
    assert_int_equal(errno, ENOENT);
    assert_null(ab_read_file(&libc, "/", &n));
    assert_int_equal(errno, EISDIR);
    assert_null(ab_read_file(&pool, "/proc/self/exe", &n)); /* larger than a slot */
    assert_int_equal(errno, ENOMEM);
    char *status = ab_read_file(&libc, "/proc/self/status", &n); /* its size is not known before */
    assert_int_equal(strlen(status), n);
    AB_DELETE_ARRAY(char, n + 1, status, &libc);
    assert_int_equal(ab_pool_live(&all.pool), 0);
}

/* As a library calls them that knows only void * and sizes. */
static void hooks_without_sizes_work_on_every_allocator(void **state)
{
    (void)state;
    FOR_EACH_ALLOCATOR(a)
    {
        void *hooked = (void *)(uintptr_t)a;
        char *first = ab_hook_malloc(100, hooked), *nothing = ab_hook_malloc(0, hooked);
        fill(first, 100);
        assert_non_null(nothing);
        char *grown = ab_hook_realloc(first, 3000, hooked);
        expect_filled(grown, 100);
        assert_int_equal((uintptr_t)grown % AB_ALLOCATOR_ALIGN, 0);
        fill(grown, 3000);
        volatile size_t most = SIZE_MAX;
        assert_null(ab_hook_realloc(grown, most, hooked));
        assert_null(ab_hook_malloc(most - 7, hooked));
        grown = ab_hook_realloc(grown, 50, hooked);
        expect_filled(grown, 50);
        ab_hook_free(nothing, hooked);
        ab_hook_free(grown, hooked);
        ab_hook_free(NULL, hooked);
        char *table = ab_hook_lua(hooked, NULL, 5, 40); /* 5: the kind of object */
        fill(table, 40);
        table = ab_hook_lua(hooked, table, 40, 80);
        expect_filled(table, 40);
        assert_null(ab_hook_lua(hooked, table, 80, 0));
        assert_null(ab_hook_lua(hooked, NULL, 0, 0));
    }
    assert_int_equal(ab_slabs_live(&all.slabs) + ab_pool_live(&all.pool), 0);
    assert_int_equal(ab_pool_lockfree_live(&all.lockfree) + all.paged_pool.live_blocks, 0);
}

static void a_pool_with_smaller_alignment_serves_none(void **state)
{
    (void)state;
    struct ab_pool pool;
    assert_int_equal(AB_POOL_INIT(&pool, char[24], 10, false), 0);
    struct ab_allocator a = ab_pool_allocator(&pool);
    assert_true(AB_MARKS || AB_CHECKS || a.alloc(8, a.context) == NULL);
    ab_pool_fini(&pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_NULL_and_NULL_is_nothing),
        cmocka_unit_test(every_size_is_aligned_to_two_pointers),
        cmocka_unit_test(a_typed_block_is_aligned_as_its_type),
        cmocka_unit_test(too_many_are_NULL),
        cmocka_unit_test(blocks_go_back),
        cmocka_unit_test(a_block_keeps_its_bytes_when_it_is_resized),
        cmocka_unit_test(a_block_that_cannot_be_resized_stays),
        cmocka_unit_test(heaps_resize_in_place_where_they_can),
        cmocka_unit_test(strings_are_on_every_allocator),
        cmocka_unit_test(a_string_that_is_not_whole_goes_back),
        cmocka_unit_test(a_file_is_read_to_its_end),
        cmocka_unit_test(a_file_that_cannot_be_read_says_why),
        cmocka_unit_test(hooks_without_sizes_work_on_every_allocator),
        cmocka_unit_test(a_pool_with_smaller_alignment_serves_none),
    };
    return cmocka_run_group_tests(tests, open_shared, close_all);
}
