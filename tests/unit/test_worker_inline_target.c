/* SPDX-License-Identifier: MIT
 *
 * The pre-flight of a compiled-in back end must see what is compiled in: here the functions in the
 * loop are spoiled, one way at a time, while those that could be called are sound.
 */
#include "support/cmocka.h"
#include "support/tape.h"
#include "support/worker.h"
#include "worker/inline_backend.h"
#include "worker/preflight.h"

#include <malloc.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum spoil { NOTHING, MISALIGNED, OVERLAP, NO_BLOCK, SCRIBBLE };

static enum spoil spoil;
static unsigned n_inlined, n_freed, n_called;
static uintptr_t last;

static inline uintptr_t inlined_alloc(size_t size)
{
    bool is_due = ++n_inlined == 300;
    if (spoil == NO_BLOCK && is_due)
        return 0;
    if (spoil == OVERLAP && is_due)
        return last;
    last = (uintptr_t)malloc(size + 16) + (spoil == MISALIGNED && is_due ? 8 : 0);
    return last;
}

static inline void inlined_free(uintptr_t ref)
{
    n_freed++;
    if (spoil == SCRIBBLE && n_freed == 100 && ref != last)
        memset((void *)last, 0x5a, 8);
}

#define FACE struct ab_heap_face
#define FN(name) name##_inline_test
#define OBJECT(f) ((f)->object)
#define CALL_ALLOC(f, n) ((void)(f), inlined_alloc(n))
#define CALL_FREE(f, ref, n) ((void)(f), (void)(n), inlined_free(ref))
#include "worker/heap_calls.h"
#define ADDRESS(f, ref) ((void)(f), (void *)(ref))
static ab_lane_step ab_step_inline_test;
static ab_lane_pass ab_pass_inline_test;
#include "worker/pass_body.h"

static ab_ref called_alloc(struct ab_heap *heap, size_t size)
{
    (void)heap;
    n_called++;
    return (ab_ref)malloc(size + 16);
}

static void called_free(struct ab_heap *heap, ab_ref ref, size_t size)
{
    (void)heap;
    (void)ref;
    (void)size;
    n_called++;
}

static ab_ref called_aligned(struct ab_heap *heap, size_t align, size_t size)
{
    (void)heap;
    return (ab_ref)memalign(align, size + 16);
}

static ab_ref called_zeroed(struct ab_heap *heap, size_t size)
{
    (void)heap;
    return (ab_ref)calloc(1, size + 16);
}

/* None that is larger than asked for can be had. */
static ab_ref called_resize(struct ab_heap *heap, ab_ref ref, size_t old_size, size_t size)
{
    (void)heap;
    return size <= old_size ? ref : (ab_ref)memcpy(malloc(size + 16), (void *)ref, old_size);
}

static void *itself(struct ab_heap *heap)
{
    return heap;
}

static const struct ab_heap_face calls = {.alloc = called_alloc,
                                          .free = called_free,
                                          .alloc_aligned = called_aligned,
                                          .alloc_zeroed = called_zeroed,
                                          .resize = called_resize};

/* Every kind of op, narrow and wide. */
static void make_tape(struct ab_tape_map *map, struct ab_tape *tape)
{
    struct ab_tape_builder *b = ab_tape_begin();
    struct ab_err err;
    ab_tape_phase(b, "p", true, &err);
    for (uint32_t i = 0; i < 500; i++) {
        struct ab_request r = {.size = 64 + i % 64,
                               .is_zeroed = i % 7 == 2,
                               .align = i % 11 == 3 ? 64 : 0,
                               .touch = AB_TOUCH_PAGE};
        assert_int_equal(ab_tape_alloc(b, i, &r, &err), AB_OK);
    }
    struct ab_request wide = {.size = (1 << 27) + 5, .align = 64};
    assert_int_equal(ab_tape_alloc(b, 500, &wide, &err), AB_OK);
    for (uint32_t i = 0; i < 500; i += 3)
        assert_int_equal(ab_tape_resize(b, i, &(struct ab_request){.size = 32 + i % 200}, &err),
                         AB_OK);
    for (uint32_t i = 0; i < 501; i++)
        assert_int_equal(ab_tape_free(b, i, &err), AB_OK);
    assert_int_equal(ab_tape_end(b, tape, &err), AB_OK);
    assert_int_equal(ab_tape_map_open(tape, map, &err), AB_OK);
}

static void prove(struct ab_run_page *block, const struct ab_tape_map *map)
{
    static const struct ab_inline loop = {"test", AB_BOUNDARY_INLINE, ab_pass_inline_test,
                                          ab_step_inline_test, itself};
    struct ab_worker w = {.page = block, .inlined = &loop};
    struct ab_heap_face face = calls;
    struct ab_backend hooks;
    struct ab_target target = test_target_of_face(&face, &hooks);
    face.heap = target.heap = (struct ab_heap *)(void *)&w;
    test_worker_open(&w, map);
    ab_worker_enter_heap(&w.lanes[0], &face);
    ab_target_of_loop(&w.lanes[0], &target);
    ab_pass_verify(&w, &target);
    ab_pass_probe(&w, &target);
    block->report.state = AB_WORKER_DONE;
    block->report.op = n_called;
    block->report.phase = n_inlined;
    _exit(0);
}

/* In a child; its report stays in shared memory. */
static struct ab_run_report run(enum spoil how, const struct ab_tape_map *map)
{
    struct ab_run_page *block = mmap(NULL, sizeof *block, PROT_READ | PROT_WRITE,
                                     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    block->request.verify_ops = UINT32_MAX;
    spoil = how;
    pid_t pid = fork();
    if (pid == 0)
        prove(block, map);
    waitpid(pid, NULL, 0);
    struct ab_run_report report = block->report;
    munmap(block, sizeof *block);
    return report;
}

static void what_is_compiled_in_is_proven_and_nothing_else_is_called(void **state)
{
    (void)state;
    struct ab_tape tape;
    struct ab_tape_map map;
    make_tape(&map, &tape);
    struct ab_run_report report = run(NOTHING, &map);
    if (report.state != AB_WORKER_DONE)
        fail_msg("%s", report.reason);
    assert_int_equal(report.op, 0);
    assert_in_range(report.phase, 370, 500); /* the others are zeroed or aligned */
    ab_tape_map_close(&map);
    ab_tape_fini(&tape);
}

static void what_is_wrong_in_the_loop_alone_is_found(void **state)
{
    (void)state;
    static const struct {
        enum spoil spoil;
        enum ab_failure failure;
        const char *says;
    } table[] = {
        {MISALIGNED, AB_FAILURE_CHECK, "not aligned to 16 (op "},
        {OVERLAP, AB_FAILURE_CHECK, "inside a live block: alloc("},
        {NO_BLOCK, AB_FAILURE_NULL, "returned NULL (op "},
        {SCRIBBLE, AB_FAILURE_CHECK, "the contents of a live block changed"},
    };
    struct ab_tape tape;
    struct ab_tape_map map;
    make_tape(&map, &tape);
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        struct ab_run_report report = run(table[i].spoil, &map);
        assert_int_equal(report.state, AB_WORKER_FAILED);
        assert_int_equal(report.failure, table[i].failure);
        if (strstr(report.reason, table[i].says) == NULL)
            fail_msg("\"%s\" lacks \"%s\"", report.reason, table[i].says);
    }
    ab_tape_map_close(&map);
    ab_tape_fini(&tape);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_compiled_in_is_proven_and_nothing_else_is_called),
        cmocka_unit_test(what_is_wrong_in_the_loop_alone_is_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
