/* SPDX-License-Identifier: MIT
 *
 * Canaries and poison around the blocks of pool and slab (debug=on). Each mistake is made in a
 * process of its own, which must end with a word on it.
 */
#include "allocators/common/checked.h"

#include "allocators/builtin.h"
#include "allocators/common/marks.h"
#include "support/heap_model.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <cmocka.h>

static const struct ab_facts facts = {.largest_bytes = 300,
                                      .largest_align = 64,
                                      .lanes = 1,
                                      .live_peak_blocks = 100,
                                      .total_blocks = 1000};

struct made {
    const struct ab_backend *b;
    struct ab_heap *heap;
    unsigned char *first, *second; /* of 100 and 41 bytes */
};

static struct made make(const char *backend, const char *params)
{
    struct made m = {.b = heap_model_variant(ab_builtin_find(backend), params)};
    m.heap = heap_model_open(m.b, params, &facts);
    m.first = (unsigned char *)m.b->alloc(m.heap, 100);
    m.second = (unsigned char *)m.b->alloc(m.heap, 41);
    return m;
}

static void give(const struct made *m, const void *block)
{
    m->b->free(m->heap, (ab_ref)block, 1);
}

/* ---- mistakes ---- */

static void none(struct made *m)
{
    memset(m->first, 1, 100);
    give(m, m->first);
    give(m, NULL);
}

static void one_byte_behind(struct made *m)
{
    m->second[41] = 0;
    give(m, m->second);
}

static void one_byte_before(struct made *m)
{
    m->first[-1] ^= 1;
    give(m, m->first);
}

static void zeroes_before(struct made *m)
{
    memset(m->first - 16, 0, 16);
    give(m, m->first);
}

static void a_word_far_before(struct made *m)
{
    memset(m->first - 60, 1, 4);
    give(m, m->first);
}

static void sixteen_bytes_behind(struct made *m)
{
    m->second[41 + 15] = 0;
    give(m, m->second);
}

static void twice(struct made *m)
{
    give(m, m->second);
    give(m, m->second);
}

static void twice_with_others_between(struct made *m)
{
    give(m, m->first);
    give(m, m->second);
    give(m, m->first);
}

static void of_the_stack(struct made *m)
{
    _Alignas(64) unsigned char bytes[256] = {0};
    give(m, bytes + 128);
}

static void from_within(struct made *m)
{
    give(m, m->first + 32);
}

static void of_nowhere(struct made *m)
{
    give(m, (const void *)(uintptr_t)0x123456780);
}

static void of_another_heap(struct made *m)
{
    struct made other = make(m->b->name, "debug=on");
    give(m, other.first);
}

static void behind_when_resized(struct made *m)
{
    m->first[100] = 7;
    m->b->resize(m->heap, (ab_ref)m->first, 100, 200);
}

/* The new block would be the freed one's memory, canaries and all. */
static void freed_when_resized(struct made *m)
{
    give(m, m->second);
    m->b->resize(m->heap, (ab_ref)m->second, 41, 42);
}

static void foreign_when_resized(struct made *m)
{
    _Alignas(64) unsigned char bytes[256] = {0};
    m->b->resize(m->heap, (ab_ref)(bytes + 128), 10, 20);
}

static void nowhere_when_resized(struct made *m)
{
    m->b->resize(m->heap, (ab_ref)0x123456780, 10, 20);
}

/* Nothing is taken or moved for a block that cannot be trusted, even where nothing is left. */
static void damaged_when_resized_too_far(struct made *m)
{
    m->first[100] = 7;
    m->b->resize(m->heap, (ab_ref)m->first, 100, SIZE_MAX);
}

static void behind_an_aligned_one(struct made *m)
{
    unsigned char *block = (unsigned char *)m->b->alloc_aligned(m->heap, 64, 64);
    block[64] = 7;
    give(m, block);
}

static const struct {
    const char *name;
    void (*make)(struct made *);
    const char *said; /* NULL: nothing is wrong */
    bool reads_freed; /* which AddressSanitizer reports before we do */
} mistakes[] = {
    {"none", none, NULL, false},
    {"one_byte_behind", one_byte_behind, "overflow past its end", false},
    {"one_byte_before", one_byte_before, "corrupted before its start", false},
    {"zeroes_before", zeroes_before, "corrupted before its start", false},
    {"a_word_far_before", a_word_far_before, "corrupted before its start", false},
    {"sixteen_bytes_behind", sixteen_bytes_behind, "overflow past its end, at byte 56", false},
    {"twice", twice, "freed already", true},
    {"twice_with_others_between", twice_with_others_between, "freed already", true},
    {"of_the_stack", of_the_stack, "not from this heap", false},
    {"from_within", from_within, "not from this heap", false},
    {"of_nowhere", of_nowhere, "not from this heap", false},
    {"of_another_heap", of_another_heap, "not from this heap", false},
    {"behind_when_resized", behind_when_resized, "overflow past its end", false},
    {"freed_when_resized", freed_when_resized, "freed already", true},
    {"foreign_when_resized", foreign_when_resized, "not from this heap", false},
    {"nowhere_when_resized", nowhere_when_resized, "not from this heap", false},
    {"damaged_when_resized_too_far", damaged_when_resized_too_far, "overflow past its end", false},
    {"behind_an_aligned_one", behind_an_aligned_one, "overflow past its end", false},
};

static void run_child(const char *backend, const char *params, size_t mistake, int fd)
{
    struct rlimit no_core = {0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
    dup2(fd, 2);
    struct made m = make(backend, params);
    mistakes[mistake].make(&m);
    m.b->close(m.heap);
    _exit(0);
}

static void check_mistake(const char *backend, const char *params, size_t mistake)
{
    char said[4096] = "";
    int pipes[2], status;
    assert_int_equal(pipe(pipes), 0);
    pid_t child = fork();
    if (child == 0)
        run_child(backend, params, mistake, pipes[1]);
    close(pipes[1]);
    size_t n = 0;
    for (ssize_t got; (got = read(pipes[0], said + n, sizeof said - 1 - n)) > 0;)
        n += (size_t)got;
    close(pipes[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    if (mistakes[mistake].said == NULL) {
        assert_string_equal(said, "");
        assert_int_equal(status, 0);
    } else if (AB_MARKS && mistakes[mistake].reads_freed) {
        assert_int_not_equal(status, 0);
    } else {
        if (strstr(said, mistakes[mistake].said) == NULL)
            fail_msg("%s:%s %s: said \"%s\"", backend, params, mistakes[mistake].name, said);
        assert_memory_equal(said, backend, 4);
        assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    }
}

static void every_mistake_is_named_where_it_is_made(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        {"pool", "debug=on"},
        {"slab", "debug=on"},
        {"pool", "debug=on:threads=lockfree"},
        {"pool", "debug=on:threads=local"},
        {"slab", "debug=on:threads=sharded:classes=fine"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        for (size_t k = 0; k < sizeof mistakes / sizeof mistakes[0]; k++)
            check_mistake(rows[i][0], rows[i][1], k);
}

static void new_blocks_are_full_of_poison_and_zeroed_ones_of_zero(void **state)
{
    (void)state;
    static const char *const backends[] = {"pool", "slab"};
    for (int i = 0; i < 2; i++) {
        struct made m = make(backends[i], "debug=on");
        for (int k = 0; k < 100; k++)
            assert_int_equal(m.first[k], 0xCD);
        memset(m.first, 1, 100);
        give(&m, m.first);
        if (!AB_MARKS)
            assert_int_equal(*(volatile unsigned char *)&m.first[99], 0xDD);
        ab_ref zeroed = m.b->alloc_zeroed(m.heap, 100);
        for (int k = 0; k < 100; k++)
            assert_int_equal(((unsigned char *)zeroed)[k], 0);
        m.b->close(m.heap);
    }
}

static void usable_is_what_was_asked_for(void **state)
{
    (void)state;
    static const char *const backends[] = {"pool", "slab"};
    for (int i = 0; i < 2; i++) {
        struct made m = make(backends[i], "debug=on");
        assert_int_equal(m.b->usable_size(m.heap, (ab_ref)m.second), 41);
        ab_ref moved = m.b->resize(m.heap, (ab_ref)m.second, 41, 300);
        assert_int_equal(m.b->usable_size(m.heap, moved), 300);
        assert_int_equal(m.b->resize(m.heap, moved, 300, SIZE_MAX), 0);
        assert_int_equal(m.b->resize(m.heap, moved, 300, SIZE_MAX - 20), 0);
        assert_int_equal(m.b->alloc(m.heap, SIZE_MAX - 7), 0);
        give(&m, (void *)moved);
        m.b->close(m.heap);
    }
}

static void guards_lie_where_they_are_said_to(void **state)
{
    (void)state;
    _Alignas(64) unsigned char raw[256];
    uint64_t front, back[2];
    assert_int_equal(ab_checked_bytes(0, 20), 100);
    assert_int_equal(ab_checked_bytes(128, 20), 164);
    assert_int_equal(ab_checked_bytes(0, SIZE_MAX - 3), SIZE_MAX);
    unsigned char *block = ab_checked_wrap(AB_GUARD_ID, raw, 128, 20, 16);
    assert_ptr_equal(block, raw + 128);
    assert_ptr_equal(ab_checked_raw(block), raw);
    assert_int_equal(ab_checked_size(block), 20);
    memcpy(&front, block - 8, 8);
    memcpy(back, block + 20, 16);
    assert_true(front == 0xDEADBEEFCAFEBABE);
    assert_true(back[0] == 0xFEEDFACEDEADC0DE && back[1] == back[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_mistake_is_named_where_it_is_made),
        cmocka_unit_test(new_blocks_are_full_of_poison_and_zeroed_ones_of_zero),
        cmocka_unit_test(usable_is_what_was_asked_for),
        cmocka_unit_test(guards_lie_where_they_are_said_to),
    };
    return cmocka_run_group_tests_name("checked", tests, NULL, NULL);
}
