/* SPDX-License-Identifier: MIT
 *
 * The decorators checked+NAME and fault+NAME. They implement the interface of a heap (struct
 * ab_heap_face) and forward its calls to another heap. The loops of the passes run unchanged. Their
 * writes to blocks go to memory of the harness (`resolve`), because the blocks hold the checker's
 * pattern.
 */
#include "worker/checks/checker.h"
#include "worker/crash/crash.h"
#include "worker/preflight.h"
#include "worker/worker.h"

#include <sys/mman.h>

/* The heap pointer that the loops pass. There is one view for each lane, so that lanes keep heaps
 * of their own. */
static struct view {
    struct ab_heap *inner;
} views[AB_LANES_MAX];

static struct ab_checker checker;
static struct ab_target target;
static struct ab_worker *worker;
static char *touched;
static uint64_t n_calls;      /* atomic: allocation calls so far, counted for fault+ */
static struct ab_words fault; /* text of the call that fault+ let fail; written once */

static struct ab_heap *inner_of(struct ab_heap *heap)
{
    return ((struct view *)(void *)heap)->inner;
}

static __attribute__((noreturn)) void fail(void *user, const char *text)
{
    char op[24];
    (void)user;
    if (worker->image->n_lanes > 1) /* it is not known here which lane's call fails */
        ab_worker_fail(worker, AB_FAILURE_CHECK, text, NULL);
    uint32_t at = worker->first + worker->lanes[0].op;
    ab_worker_fail(worker, AB_FAILURE_CHECK, text, " (op ", ab_worker_number(op, at), ")", NULL);
}

const char *ab_worker_fault(void)
{
    return fault.n > 0 ? fault.text : NULL;
}

static bool is_faulty(void)
{
    const struct ab_run_request *r = &worker->page->request;
    bool is = r->decorator == AB_DECORATOR_FAULT &&
              __atomic_add_fetch(&n_calls, 1, __ATOMIC_RELAXED) == r->fault_n;
    ab_worker_note_fault(is);
    return is;
}

static bool is_checked(void)
{
    return worker->page->request.decorator == AB_DECORATOR_CHECKED;
}

static ab_ref ask(struct ab_heap *heap, const struct ab_ask *what)
{
    if (is_faulty()) {
        ab_words_ask(&fault, &target, what);
        return 0;
    }
    return is_checked() ? ab_checker_ask(&checker, inner_of(heap), what)
                        : ab_target_ask(&target, inner_of(heap), what);
}

static ab_ref decorated_alloc(struct ab_heap *heap, size_t size)
{
    return ask(heap, &(struct ab_ask){AB_CALL_ALLOC, 0, size});
}

static ab_ref decorated_zeroed(struct ab_heap *heap, size_t size)
{
    return ask(heap, &(struct ab_ask){AB_CALL_ZEROED, 0, size});
}

static ab_ref decorated_aligned(struct ab_heap *heap, size_t align, size_t size)
{
    return ask(heap, &(struct ab_ask){AB_CALL_ALIGNED, align, size});
}

static void decorated_free(struct ab_heap *heap, ab_ref ref, size_t size)
{
    if (is_checked())
        ab_checker_free(&checker, inner_of(heap), ref, size);
    else
        ab_target_free(&target, inner_of(heap), ref, size);
}

static void decorated_free_sized(struct ab_heap *heap, ab_ref ref, size_t size, unsigned log2)
{
    struct ab_sized sized = {size, log2};
    if (is_checked())
        ab_checker_free_sized(&checker, inner_of(heap), ref, &sized);
    else
        ab_target_free_sized(&target, inner_of(heap), ref, &sized);
}

static ab_ref decorated_resize(struct ab_heap *heap, ab_ref ref, size_t old_size, size_t new_size)
{
    const size_t sizes[2] = {old_size, new_size};
    if (is_faulty()) {
        ab_words_resize(&fault, &target, sizes);
        return 0;
    }
    if (!is_checked() || (old_size == 0 && !ab_target_is_malloc(&target)))
        return ab_target_resize(&target, inner_of(heap), ref, sizes);
    return ab_checker_resize(&checker, inner_of(heap), ref, sizes);
}

static void decorated_reset(struct ab_heap *heap)
{
    if (is_checked()) {
        ab_checker_sweep(&checker);
        ab_checker_forget(&checker);
    }
    ab_target_reset(&target, inner_of(heap));
}

static void *decorated_resolve(struct ab_heap *heap, ab_ref ref)
{
    (void)heap;
    return ref != 0 ? touched : NULL;
}

static size_t decorated_usable(struct ab_heap *heap, ab_ref ref)
{
    return ab_target_usable(&target, inner_of(heap), ref);
}

static int decorated_enter(struct ab_heap *heap, uint32_t lane, struct ab_heap **out)
{
    struct ab_heap *inner = inner_of(heap);
    int error = target.hooks != NULL && target.hooks->thread_enter != NULL
                    ? target.hooks->thread_enter(inner, lane, &inner)
                    : 0;
    if (error != 0)
        return error;
    views[lane].inner = inner;
    *out = (struct ab_heap *)(void *)&views[lane];
    return 0;
}

/* Maps memory for the tape's writes, as large as the largest block. Only pages that are written
 * become resident. */
static void map_touched(struct ab_worker *w)
{
    size_t bytes = w->image->facts.largest_bytes + 4096;
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE,
                   -1, 0);
    if (p == MAP_FAILED)
        ab_worker_fail(w, AB_FAILURE_SYSTEM, "cannot map the memory for touches", NULL);
    touched = p;
}

void ab_worker_decorate(struct ab_worker *w, const struct ab_target *inner,
                        struct ab_heap_face *out)
{
    worker = w;
    target = *inner;
    if (!ab_checker_open(&checker, &target))
        ab_worker_fail(w, AB_FAILURE_SYSTEM, "cannot map the record of live blocks", NULL);
    checker.fail = fail;
    if (is_checked())
        ab_fault_set_lookup(ab_worker_locate, &checker);
    /* the checker does not judge NULLs, because the passes know which requests may fail */
    checker.is_null_failure = false;
    map_touched(w);
    views[0].inner = target.heap;
    bool has_reset = target.hooks != NULL && target.hooks->reset != NULL;
    bool has_heaps = target.hooks != NULL && target.hooks->thread_enter != NULL;
    *out = (struct ab_heap_face){
        .heap = (struct ab_heap *)(void *)&views[0],
        .alloc = decorated_alloc,
        .free = decorated_free,
        .free_sized = decorated_free_sized,
        .resize = ab_target_can_resize(&target) ? decorated_resize : NULL,
        .alloc_zeroed = ab_target_has(&target, AB_CALL_ZEROED) ? decorated_zeroed : NULL,
        .alloc_aligned = ab_target_has(&target, AB_CALL_ALIGNED) ? decorated_aligned : NULL,
        .reset = has_reset ? decorated_reset : NULL,
        .resolve = decorated_resolve,
        .usable_size = decorated_usable,
        .thread_enter = has_heaps ? decorated_enter : NULL,
    };
}
