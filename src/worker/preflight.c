/* SPDX-License-Identifier: MIT
 *
 * The pre-flight: proves the allocator before anything is timed, so that no broken allocator is
 * timed unnoticed. Runs the first ops of the tape through the checker. Then requests every
 * combination of kind, alignment and size class that the whole tape has. Large blocks are filled at
 * both ends only, because this runs before each timing and must stay short. A malloc's defect that
 * this work does not meet is reported as a caveat.
 */
#include "worker/preflight.h"

#include "base/bits.h"
#include "worker/checks/checker.h"
#include "worker/checks/checks.h"
#include "worker/crash/crash.h"
#include "worker/lanes.h"
#include "worker/placed.h"

#include <string.h>

enum { EDGE_BYTES = 8192, ALIGN_LOGS = 64, SAMPLES = 4 };

struct verify {
    struct ab_worker *w;
    struct ab_lane *lane; /* one lane stands for all, because nothing is timed here */
    const struct ab_target *t;
    /* copies of `t`, one for each lane of a placement: each lane has its own stream of choices */
    struct ab_target placed;
    struct ab_checker checker;
    uint64_t marks[AB_SAVE_POINTS_MAX + 1]; /* save points by depth */
    bool is_behind;                         /* True once the ops of the tape are done. */
};

static struct verify preflight;

static __attribute__((noreturn)) void fail(void *user, const char *what)
{
    struct verify *v = user;
    char op[24];
    if (v->is_behind)
        ab_worker_fail(v->w, AB_FAILURE_CHECK, what, NULL);
    ab_worker_fail(v->w, AB_FAILURE_CHECK, what, " (op ", ab_worker_number(op, v->lane->op), ")",
                   NULL);
}

static _Noreturn void fail_null(struct verify *v, const struct ab_words *call, size_t size)
{
    char op[24];
    ab_worker_note_null(v->lane, size);
    v->w->page->report.verify.n_live = v->checker.shadow.n_live;
    ab_worker_fail(v->w, AB_FAILURE_NULL, call->text, " returned NULL (op ",
                   ab_worker_number(op, v->lane->op), ")", NULL);
}

static struct ab_ask ask_of(const struct ab_op_view *op)
{
    enum ab_call call = op->kind == AB_OP_ALLOC_ZEROED    ? AB_CALL_ZEROED
                        : op->kind == AB_OP_ALLOC_ALIGNED ? AB_CALL_ALIGNED
                                                          : AB_CALL_ALLOC;
    return (struct ab_ask){call, op->align, op->size};
}

static void verify_alloc(struct verify *v, struct ab_slot *slot, const struct ab_op_view *op)
{
    struct ab_ask ask = ask_of(op);
    struct ab_words call = {.n = 0};
    ab_ref ref = 0;
    bool is_served = ab_target_has(v->t, ask.call);
    if ((op->flags & AB_WIDE_MAY_FAIL) != 0) {
        if (is_served && (ref = ab_target_ask(v->t, v->t->heap, &ask)) != 0)
            ab_target_free(v->t, v->t->heap, ref, ask.size);
        return;
    }
    if (is_served && (ref = ab_checker_ask(&v->checker, v->t->heap, &ask)) == 0 && ask.size > 0) {
        ab_words_ask(&call, v->t, &ask);
        fail_null(v, &call, ask.size);
    }
    slot->ref = ref;
    slot->size_seq = ask.size;
}

/* Resizes a block of 0 bytes. There are no contents to keep, and the checker does not track a
 * heap's blocks of 0 bytes. */
static ab_ref resize_nothing(struct verify *v, struct ab_slot *slot, size_t size)
{
    struct ab_ask ask = {.call = AB_CALL_ALLOC, .size = size};
    ab_checker_free(&v->checker, v->t->heap, slot->ref, 0);
    return ab_checker_ask(&v->checker, v->t->heap, &ask);
}

static void verify_resize(struct verify *v, struct ab_slot *slot, const struct ab_op_view *op)
{
    const size_t sizes[2] = {AB_SLOT_SIZE(slot), op->size};
    struct ab_words call = {.n = 0};
    if (!ab_target_can_resize(v->t))
        return;
    if (slot->ref == 0) { /* the block has 0 bytes and is NULL */
        if (v->w->placement != NULL)
            ab_placed_skip(v->t->heap);
        return;
    }
    ab_ref ref = sizes[0] == 0 ? resize_nothing(v, slot, op->size)
                               : ab_checker_resize(&v->checker, v->t->heap, slot->ref, sizes);
    if (ref == 0 && (op->flags & AB_WIDE_MAY_FAIL) != 0)
        return;
    if (ref == 0) {
        ab_words_resize(&call, v->t, sizes);
        fail_null(v, &call, op->size);
    }
    slot->ref = ref;
    slot->size_seq = op->size;
}

static void verify_free(struct verify *v, struct ab_slot *slot)
{
    ab_checker_free(&v->checker, v->t->heap, slot->ref, AB_SLOT_SIZE(slot));
    slot->ref = 0;
}

static void verify_free_sized(struct verify *v, struct ab_slot *slot, const struct ab_op_view *op)
{
    struct ab_sized sized = {AB_SLOT_SIZE(slot), (unsigned)op->size};
    ab_checker_free_sized(&v->checker, v->t->heap, slot->ref, &sized);
    slot->ref = 0;
}

static void verify_op(struct verify *v, uint64_t word)
{
    struct ab_op_view op = ab_op_decode(word, v->w->wide);
    struct ab_slot *slot = &v->w->slots[op.slot];
    switch (op.kind) {
    case AB_OP_FREE:
        if (AB_OP_CODE(word) == AB_CODE_FREE_SIZED)
            verify_free_sized(v, slot, &op);
        else
            verify_free(v, slot);
        break;
    case AB_OP_RESIZE:
        verify_resize(v, slot, &op);
        break;
    case AB_OP_ACCESS:
        if (slot->ref != 0)
            ab_checker_read(&v->checker, v->t->heap, slot->ref, AB_SLOT_SIZE(slot));
        break;
    case AB_OP_ALLOC:
    case AB_OP_ALLOC_ZEROED:
    case AB_OP_ALLOC_ALIGNED:
        verify_alloc(v, slot, &op);
        break;
    }
}

/* Begins or ends a scope with save points, as the timed passes do; blocks from before the scope
 * must be unchanged afterwards. Returns the number of frees after the op that the release replaces;
 * 0 = they are carried out one by one, as always with several heaps. */
static uint32_t verify_scope(struct verify *v, const uint64_t *op)
{
    uint32_t how = AB_OP_SLOT(*op), depth = AB_RESET_DEPTH(how), n = AB_OP_SIZE(*op);
    if ((how & AB_RESET_RELEASE) == 0 || (how & AB_RESET_CROWDED) != 0 || v->w->placement != NULL ||
        !ab_target_has_marks(v->t))
        return 0;
    if ((how & AB_RESET_MARK) != 0) {
        v->marks[depth] = ab_target_mark(v->t, v->t->heap);
        return 0;
    }
    for (uint32_t i = 1; i <= n; i++) {
        struct ab_slot *slot = &v->w->slots[AB_OP_SLOT(op[i])];
        ab_checker_drop(&v->checker, v->t->heap, slot->ref, AB_SLOT_SIZE(slot));
        slot->ref = 0;
    }
    ab_target_release(v->t, v->t->heap, v->marks[depth]);
    return n;
}

static bool verify_range(struct verify *v, uint32_t begin, uint32_t end, uint32_t *left)
{
    for (uint32_t i = begin; i < end; i++) {
        uint64_t op = v->w->ops[i];
        uint32_t n = (uint32_t)ab_op_is_counted(op), n_spared = 0;
        if (*left == 0)
            return false;
        *v->lane->progress = i;
        v->lane->op = i;
        verify_op(v, op);
        if (ab_op_is_trim(op) && v->w->trim != NULL)
            v->w->trim((size_t)AB_TRIM_PAGES(AB_OP_SIZE(op)) * 4096);
        if (AB_OP_CODE(op) == AB_CODE_RESET)
            n_spared = verify_scope(v, &v->w->ops[i]);
        i += n_spared;
        n += n_spared;
        *left -= n < *left ? n : *left;
    }
    return true;
}

static void verify_ops(struct verify *v)
{
    struct ab_worker *w = v->w;
    uint32_t left = w->page->request.verify_ops;
    bool goes_on = true;
    for (uint32_t p = 0; p < w->image->n_phases && goes_on; p++) {
        struct ab_order order;
        uint32_t begin, end;
        ab_order_begin(&order, w, p);
        while (goes_on && ab_order_next(&order, &begin, &end)) {
            if (w->placement != NULL)
                v->placed.heap = ab_placed_view(w, order.lane);
            goes_on = verify_range(v, begin, end, &left);
        }
    }
    ab_checker_sweep(&v->checker);
    w->page->report.verify.work = w->page->request.verify_ops - left;
}

/* ---- requests of the tape, each once ---- */

/* For each kind and alignment: a bit for each size class that the tape asks for, and an exact size
 * of each. */
static uint64_t is_asked[3][ALIGN_LOGS];
static uint64_t asked_size[3][ALIGN_LOGS][AB_ARRAY_LEN(is_asked[0])];

static bool note_asked(const struct ab_ask *ask)
{
    unsigned align = ask->align == 0 ? 0 : ab_log2(ask->align);
    unsigned class = ab_size_class_log2(ask->size);
    uint64_t bit = UINT64_C(1) << (class & 63);
    bool is_new = (is_asked[ask->call][align] & bit) == 0;
    is_asked[ask->call][align] |= bit;
    if (is_new)
        asked_size[ask->call][align][class & 63] = ask->size;
    return is_new;
}

static void survey(const struct verify *v)
{
    /* only the first burst is looked at; it stands for all */
    const struct ab_tape_image *image = v->w->image;
    uint32_t n_ops = ab_tape_burst(image, 0)->n_ops;
    for (uint32_t i = 0; i < n_ops; i++) {
        struct ab_op_view op = ab_op_decode(v->w->ops[i], v->w->wide);
        if (op.kind < 0 || op.kind > AB_OP_ALLOC_ALIGNED)
            continue;
        struct ab_ask ask = ask_of(&op);
        if ((op.flags & AB_WIDE_MAY_FAIL) == 0 && ask.size > 0 && ab_target_has(v->t, ask.call))
            note_asked(&ask);
    }
}

/* Requests a few blocks of one kind, alignment and size at once. A NULL ends this without an error,
 * because the tape's blocks may nearly fill the heap. */
static void probe(struct verify *v, const struct ab_ask *ask)
{
    ab_ref refs[SAMPLES];
    uint64_t most = v->w->image->facts.live_peak_blocks;
    unsigned n = 0;
    while (n < SAMPLES && n < most && (n + 1) * ask->size <= v->w->image->facts.live_peak_bytes &&
           (refs[n] = ab_checker_ask(&v->checker, v->t->heap, ask)) != 0)
        n++;
    while (n > 0)
        ab_checker_free(&v->checker, v->t->heap, refs[--n], ask->size);
}

static void probe_asked(struct verify *v)
{
    survey(v);
    for (unsigned call = 0; call < 3; call++)
        for (unsigned align = 0; align < ALIGN_LOGS; align++)
            for (uint64_t bits = is_asked[call][align]; bits != 0; bits &= bits - 1) {
                unsigned class = (unsigned)__builtin_ctzll(bits);
                size_t size = asked_size[call][align][class];
                struct ab_ask ask = {(enum ab_call)call,
                                     call == AB_CALL_ALIGNED ? (size_t)1 << align : 0, size};
                probe(v, &ask);
            }
}

/* ---- requests that the tape does not make ---- */

static bool is_misaligned(const struct verify *v, const struct ab_ask *ask)
{
    ab_ref refs[SAMPLES];
    bool is_bad = false;
    for (unsigned i = 0; i < SAMPLES; i++) {
        refs[i] = ab_target_ask(v->t, v->t->heap, ask);
        is_bad = is_bad || (refs[i] & (ask->align - 1)) != 0;
    }
    for (unsigned i = 0; i < SAMPLES; i++)
        if (refs[i] != 0)
            ab_target_free(v->t, v->t->heap, refs[i], ask->size);
    return is_bad;
}

static void note_caveat(struct verify *v, const struct ab_ask *ask)
{
    struct ab_words w = {.n = 0};
    char *caveat = v->w->page->report.caveat;
    ab_words_ask(&w, v->t, ask);
    ab_words_pair(&w, " returns blocks that are not aligned to ", ask->align);
    ab_words_add(&w, "; this workload requests none of these");
    w.text[sizeof v->w->page->report.caveat - 1] = 0;
    memcpy(caveat, w.text, sizeof v->w->page->report.caveat);
}

/* Tests alignments that the tape does not use. Only for a malloc, because a heap was opened for
 * this work and no other. */
static void probe_beyond(struct verify *v)
{
    for (enum ab_call call = AB_CALL_ALIGNED; call < AB_CALL_COUNT; call++)
        for (size_t align = 16; align <= 4096 && ab_target_has(v->t, call); align *= 2)
            for (size_t size = align; size <= 4 * align; size *= 2) {
                struct ab_ask ask = {call, align, size};
                if (!is_misaligned(v, &ask))
                    continue;
                note_caveat(v, &ask);
                return;
            }
}

static void free_all(struct verify *v)
{
    for (uint32_t i = 0; i < v->w->image->n_slots; i++)
        if (v->w->slots[i].ref != 0)
            verify_free(v, &v->w->slots[i]);
}

void ab_pass_verify(struct ab_worker *w, const struct ab_target *target)
{
    preflight = (struct verify){.w = w, .lane = &w->lanes[0], .t = target, .placed = *target};
    if (w->placement != NULL)
        preflight.t = &preflight.placed;
    if (!ab_checker_open(&preflight.checker, target))
        ab_worker_fail(w, AB_FAILURE_SYSTEM, "cannot map the record of live blocks", NULL);
    preflight.checker.fail = fail;
    preflight.checker.user = &preflight;
    ab_fault_set_lookup(ab_worker_locate, &preflight.checker);
    preflight.checker.edge_bytes = EDGE_BYTES;
    preflight.checker.is_null_failure = false;
    if (w->placement !=
        NULL) /* references of a placement are addresses, which are not tested for being stale */
        preflight.checker.proves &= ~(unsigned)AB_PROVE_STALE;
    verify_ops(&preflight);
}

void ab_pass_probe(struct ab_worker *w, const struct ab_target *target)
{
    /* Not for a placement: there the op chooses the heap, and here there is no op. */
    if (w->page->request.verify_ops == 0 || w->placement != NULL || !ab_target_can_free(target))
        return;
    free_all(&preflight);
    preflight.is_behind = true;
    probe_asked(&preflight);
    if (ab_target_is_malloc(target))
        probe_beyond(&preflight);
}

/* ---- one check of `verify` ----
 *
 * A check runs in a worker of its own, so that damage affects nothing else. */

/* Begin and end of the program's own memory; the linker defines these names. */
extern char __executable_start[], end[];

enum { STACK_BYTES = 65536 };

static __attribute__((noreturn)) void fail_check(void *user, const char *text)
{
    ab_worker_fail(user, AB_FAILURE_CHECK, text, NULL);
}

static struct ab_trial trial;

static __attribute__((noreturn)) void fail_check_null(void *user, const char *text)
{
    ab_trial_prove_full(&trial);
    ab_worker_fail(user, AB_FAILURE_NULL, text, NULL);
}

bool ab_worker_locate(void *checker, uint64_t address, struct ab_near_block *out)
{
    return ab_checker_locate(checker, (uintptr_t)address, out);
}

static const struct ab_backend *backend;

static bool reopen(void *user, struct ab_heap **out)
{
    struct ab_worker *w = user;
    struct ab_open_args args = {
        .size = sizeof args, .facts = ab_worker_facts(w), .values = w->page->request.values};
    ab_call_note_begin(AB_CALLED_OPEN, 0, 0, 0);
    bool is_open = backend->open(&args, out) == 0;
    ab_call_note_end();
    return is_open;
}

void ab_pass_check(struct ab_worker *w, const struct ab_target *target)
{
    const struct ab_verify_request *request = &w->page->request.verify;
    struct ab_checker *c = &trial.checker;
    char *here = __builtin_frame_address(0);
    trial = (struct ab_trial){
        .target = target, .report = &w->page->report.verify, .reopen = reopen};
    if (!ab_checker_open(c, target))
        ab_worker_fail(w, AB_FAILURE_SYSTEM, "cannot map the record of live blocks", NULL);
    c->fail = fail_check;
    c->fail_null = fail_check_null;
    c->user = w;
    backend = target->hooks;
    ab_fault_set_lookup(ab_worker_locate, c);
    ab_checker_forbid(c, __executable_start, (size_t)(end - __executable_start));
    ab_checker_forbid(c, here - STACK_BYTES, 2 * STACK_BYTES);
    ab_checker_forbid(c, w->page, w->page->request.run_bytes);
    ab_rng_init(&trial.rng, request->seed, request->check);
    ab_check_run(&ab_checks[request->check], &trial);
}

/* ---- targets of the checks, made from the functions that the worker has opened ---- */

void ab_target_of_malloc(const struct ab_malloc_calls *calls, struct ab_target *out)
{
    *out = (struct ab_target){
        .calls = *calls,
        .traits = AB_TRAIT_THREAD_SAFE | AB_TRAIT_REMOTE_FREE,
    };
}

void ab_target_of_heap(const struct ab_heap_face *face, struct ab_target *out)
{
    *out = (struct ab_target){
        .hooks = face->backend, .heap = face->heap, .traits = face->backend->traits};
}
