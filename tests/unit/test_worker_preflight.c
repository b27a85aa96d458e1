/* SPDX-License-Identifier: MIT
 *
 * The pre-flight must be able to fail: a sound allocator spoiled in one way at a time, each in a
 * process of its own, because a failed run ends there.
 * tests: preflight.c
 */
#include "support/cmocka.h"
#include "support/tape.h"
#include "support/worker.h"
#include "worker/preflight.h"

#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum spoil {
    NOTHING,
    MISALIGNED,
    OVERLAP,
    SHORT_PREFIX,
    DIRTY,
    NO_BLOCK,
    BAD_ALIGN,
    USABLE,
    STALE_FREE,
    STALE_RESIZE,
    LOST
};

static enum spoil spoil;
static unsigned n_calls;
static ab_ref last;

static ab_ref spoiled_alloc(struct ab_heap *heap, size_t size)
{
    (void)heap;
    n_calls++;
    if (spoil == NO_BLOCK && n_calls == 300)
        return 0;
    if (spoil == OVERLAP && n_calls == 300)
        return last;
    last = (ab_ref)malloc(size + 16) + (spoil == MISALIGNED && n_calls == 300 ? 8 : 0);
    return last;
}

static void spoiled_free(struct ab_heap *heap, ab_ref ref, size_t size)
{
    (void)heap;
    (void)ref;
    (void)size; /* the process is short-lived; nothing is given back, so contents stay */
}

static ab_ref spoiled_resize(struct ab_heap *heap, ab_ref ref, size_t old_size, size_t size)
{
    (void)heap;
    char *p = malloc(size + 16);
    size_t kept = old_size < size ? old_size : size;
    memset(p, 0x5a, size);
    memcpy(p, (void *)ref, kept - (spoil == SHORT_PREFIX && kept > 0));
    return (ab_ref)p;
}

static ab_ref spoiled_zeroed(struct ab_heap *heap, size_t size)
{
    (void)heap;
    char *p = calloc(1, size + 16);
    if (spoil == DIRTY)
        p[size - 1] = 1;
    return (ab_ref)p;
}

static ab_ref spoiled_aligned(struct ab_heap *heap, size_t align, size_t size)
{
    (void)heap;
    return (ab_ref)memalign(align, size + align) + (spoil == BAD_ALIGN ? align / 2 : 0);
}

static size_t spoiled_usable(struct ab_heap *heap, ab_ref ref)
{
    (void)heap;
    (void)ref;
    return spoil == USABLE ? 8 : SIZE_MAX;
}

/* ---- the same with handles: their blocks, and what became of them ---- */

static struct {
    char *block;
    bool is_live;
} table[4096];
static unsigned n_handles;

static ab_ref handle_of(ab_ref block)
{
    table[++n_handles].block = (char *)block;
    table[n_handles].is_live = true;
    return n_handles;
}

static ab_ref handle_alloc(struct ab_heap *heap, size_t size)
{
    return handle_of(spoiled_alloc(heap, size));
}

static void handle_free(struct ab_heap *heap, ab_ref ref, size_t size)
{
    (void)heap;
    (void)size;
    table[ref].is_live = spoil == STALE_FREE;
}

static ab_ref handle_resize(struct ab_heap *heap, ab_ref ref, size_t old_size, size_t size)
{
    table[ref].is_live = spoil == STALE_RESIZE;
    return handle_of(spoiled_resize(heap, (ab_ref)table[ref].block, old_size, size));
}

static void *handle_resolve(struct ab_heap *heap, ab_ref ref)
{
    (void)heap;
    return table[ref].is_live && !(spoil == LOST && n_calls == 300) ? table[ref].block : NULL;
}

static const struct ab_heap_face handles = {
    .alloc = handle_alloc, .free = handle_free, .resize = handle_resize, .resolve = handle_resolve};

static void make_tape(struct ab_tape_map *map, struct ab_tape *tape)
{
    struct ab_tape_builder *b = ab_tape_begin();
    struct ab_err err;
    ab_tape_phase(b, "p", true, &err);
    for (uint32_t i = 0; i < 600; i++) {
        struct ab_request r = {
            .size = 32 + i % 64, .is_zeroed = i % 7 == 0, .align = i % 11 == 1 ? 64 : 0};
        assert_int_equal(ab_tape_alloc(b, i, &r, &err), AB_OK);
    }
    for (uint32_t i = 1; i < 600; i += 3)
        assert_int_equal(ab_tape_access(b, i, AB_ACCESS_WRITE, &err), AB_OK);
    for (uint32_t i = 0; i < 600; i += 3) {
        struct ab_request r = {.size = 16 + i % 200};
        assert_int_equal(ab_tape_resize(b, i, &r, &err), AB_OK);
    }
    for (uint32_t i = 0; i < 600; i++)
        assert_int_equal(ab_tape_free(b, i, &err), AB_OK);
    assert_int_equal(ab_tape_end(b, tape, &err), AB_OK);
    assert_int_equal(ab_tape_map_open(tape, map, &err), AB_OK);
}

static const struct ab_heap_face addresses = {.alloc = spoiled_alloc,
                                              .free = spoiled_free,
                                              .resize = spoiled_resize,
                                              .alloc_zeroed = spoiled_zeroed,
                                              .alloc_aligned = spoiled_aligned,
                                              .usable_size = spoiled_usable};

/* Runs the pre-flight in a child; its report stays in shared memory. */
static struct ab_run_report run(enum spoil how, const struct ab_heap_face *with,
                                const struct ab_tape_map *map)
{
    struct ab_run_page *block = mmap(NULL, sizeof *block, PROT_READ | PROT_WRITE,
                                     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    struct ab_heap_face face = *with;
    block->request.verify_ops = UINT32_MAX;
    pid_t pid = fork();
    if (pid == 0) {
        struct ab_worker w = {.page = block};
        test_worker_open(&w, map);
        spoil = how;
        struct ab_backend hooks;
        struct ab_target target = test_target_of_face(&face, &hooks);
        ab_pass_verify(&w, &target);
        ab_pass_probe(&w, &target);
        block->report.state = AB_WORKER_DONE;
        _exit(0);
    }
    waitpid(pid, NULL, 0);
    struct ab_run_report report = block->report;
    munmap(block, sizeof *block);
    return report;
}

struct fault {
    enum spoil spoil;
    enum ab_failure failure;
    const char *says;
};

/* The sound one passes, each fault is found. */
static void expect_faults(const struct ab_heap_face *face, const struct fault *faults, size_t n)
{
    struct ab_tape tape;
    struct ab_tape_map map;
    make_tape(&map, &tape);
    struct ab_run_report sound = run(NOTHING, face, &map);
    if (sound.state != AB_WORKER_DONE)
        fail_msg("%s", sound.reason);
    for (size_t i = 0; i < n; i++) {
        struct ab_run_report report = run(faults[i].spoil, face, &map);
        assert_int_equal(report.state, AB_WORKER_FAILED);
        assert_int_equal(report.failure, faults[i].failure);
        if (strstr(report.reason, faults[i].says) == NULL)
            fail_msg("\"%s\" lacks \"%s\"", report.reason, faults[i].says);
    }
    ab_tape_map_close(&map);
    ab_tape_fini(&tape);
}

static void each_fault_is_found_and_named(void **state)
{
    (void)state;
    static const struct fault faults[] = {
        {MISALIGNED, AB_FAILURE_CHECK, "not aligned to 16 (op "},
        {OVERLAP, AB_FAILURE_CHECK, "inside a live block: alloc("},
        {SHORT_PREFIX, AB_FAILURE_CHECK, "did not preserve byte"},
        {DIRTY, AB_FAILURE_CHECK, "zeroed block is not zero"},
        {NO_BLOCK, AB_FAILURE_NULL, "returned NULL"},
        {BAD_ALIGN, AB_FAILURE_CHECK, "not aligned to 64 (op "},
        {USABLE, AB_FAILURE_CHECK, "usable_size is less"},
    };
    expect_faults(&addresses, faults, sizeof faults / sizeof faults[0]);
}

static void stale_handles_that_resolve_and_live_ones_that_do_not_are_found(void **state)
{
    (void)state;
    static const struct fault faults[] = {
        {STALE_FREE, AB_FAILURE_CHECK, "the handle of a freed block still resolves"},
        {STALE_RESIZE, AB_FAILURE_CHECK, "the handle of a freed block still resolves"},
        {LOST, AB_FAILURE_CHECK, "a live block resolves to NULL"},
        {SHORT_PREFIX, AB_FAILURE_CHECK, "did not preserve byte"},
    };
    expect_faults(&handles, faults, sizeof faults / sizeof faults[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_fault_is_found_and_named),
        cmocka_unit_test(stale_handles_that_resolve_and_live_ones_that_do_not_are_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
