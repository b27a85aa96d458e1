/* SPDX-License-Identifier: MIT
 *
 * The pre-flight: the first ops of the tape with every block filled and read back, so that no
 * broken allocator is ever timed. Finds NULL, misalignment, overlap (as changed contents), lost
 * prefixes and dirty zeroed memory. Large blocks are filled at both ends only: this runs before
 * each timing and must stay short.
 */
#include "worker/verify.h"

#include "core/bits.h"
#include "worker/lanes.h"

#include <string.h>

enum { EDGE_BYTES = 8192, SEQ_SHIFT = 48 };

struct verify {
    struct ab_worker *w;
    struct ab_lane *lane; /* one for all: nothing is timed here */
    struct ab_heap_face *f;
};

static _Noreturn void fail(struct verify *v, enum ab_failure failure, const char *what)
{
    char op[24];
    ab_worker_fail(v->w, failure, what, " (op ", ab_worker_number(op, v->lane->op), ")", NULL);
}

static unsigned char *address(struct verify *v, uintptr_t ref)
{
    void *p = v->f->resolve == NULL ? (void *)ref : v->f->resolve(v->f->heap, ref);
    if (p == NULL)
        fail(v, AB_FAILURE_CHECK, "a live block resolves to NULL");
    return p;
}

/* Byte i of the block that was filled under `seq`. */
static unsigned char pattern(uint64_t seq, size_t i)
{
    return (unsigned char)((seq * 0x9e3779b1u + i) * 0x85ebca6bu >> 24);
}

static void fill(unsigned char *p, size_t size, uint64_t seq)
{
    size_t edge = size < 2 * EDGE_BYTES ? size : EDGE_BYTES;
    for (size_t i = 0; i < edge; i++)
        p[i] = pattern(seq, i);
    for (size_t i = edge < size ? size - EDGE_BYTES : size; i < size; i++)
        p[i] = pattern(seq, i);
}

/* The first `size` of `filled` bytes, as far as they were written. */
static bool is_intact(const unsigned char *p, size_t size, size_t filled, uint64_t seq)
{
    bool is_whole = filled < 2 * EDGE_BYTES;
    size_t edge = is_whole || size < EDGE_BYTES ? size : EDGE_BYTES;
    for (size_t i = 0; i < edge; i++)
        if (p[i] != pattern(seq, i))
            return false;
    for (size_t i = is_whole ? size : filled - EDGE_BYTES; i < size; i++)
        if (p[i] != pattern(seq, i))
            return false;
    return true;
}

static bool is_zero(const unsigned char *p, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (p[i] != 0)
            return false;
    return true;
}

static void check_alignment(struct verify *v, const void *p, size_t size, size_t align)
{
    size_t natural = size >= 16 ? 16 : size == 0 ? 1 : (size_t)1 << ab_log2(size);
    if (((uintptr_t)p & (natural - 1)) != 0)
        fail(v, AB_FAILURE_CHECK, "a block is not aligned for its size");
    if (align != 0 && ((uintptr_t)p & (align - 1)) != 0)
        fail(v, AB_FAILURE_CHECK, "an aligned block is not aligned as asked");
}

static void adopt(struct verify *v, struct ab_slot *slot, uintptr_t ref, size_t size)
{
    uint64_t seq = v->lane->op & 0xffff;
    slot->ref = ref;
    slot->size_seq = size | seq << SEQ_SHIFT;
    if (size > 0 && ref != 0)
        fill(address(v, ref), size, seq);
}

static void check_block(struct verify *v, struct ab_slot *slot, uintptr_t ref, size_t size)
{
    size_t filled = AB_SLOT_SIZE(slot);
    if (size > 0 && !is_intact(address(v, ref), size, filled, slot->size_seq >> SEQ_SHIFT))
        fail(v, AB_FAILURE_CHECK, "the contents of a live block changed");
    if (v->f->usable_size != NULL && size == filled && size > 0 &&
        v->f->usable_size(v->f->heap, ref) < size)
        fail(v, AB_FAILURE_CHECK, "usable_size is less than what was asked for");
}

static uintptr_t request(struct verify *v, const struct ab_wide *op)
{
    struct ab_heap_face *f = v->f;
    switch (op->code & 7) {
    case AB_CODE_ALLOC_ZEROED:
        return f->alloc_zeroed != NULL ? f->alloc_zeroed(f->heap, op->size) : 0;
    case AB_CODE_ALLOC_ALIGNED:
        return f->alloc_aligned != NULL ? f->alloc_aligned(f->heap, op->align, op->size) : 0;
    default:
        return f->alloc(f->heap, op->size);
    }
}

static bool is_served(const struct ab_heap_face *f, unsigned code)
{
    return !((code & 7) == AB_CODE_ALLOC_ZEROED && f->alloc_zeroed == NULL) &&
           !((code & 7) == AB_CODE_ALLOC_ALIGNED && f->alloc_aligned == NULL);
}

static void verify_alloc(struct verify *v, struct ab_slot *slot, const struct ab_wide *op)
{
    uintptr_t ref = request(v, op);
    if ((op->flags & AB_WIDE_MAY_FAIL) != 0) {
        if (ref != 0)
            v->f->free(v->f->heap, ref, op->size);
        return;
    }
    if (ref == 0 && op->size > 0 && is_served(v->f, op->code)) {
        ab_worker_note_null(v->lane, op->size);
        fail(v, AB_FAILURE_NULL, "an allocation returned NULL");
    }
    if (ref != 0 && op->size > 0) {
        unsigned char *p = address(v, ref);
        bool is_aligned_op = (op->code & 7) == AB_CODE_ALLOC_ALIGNED;
        check_alignment(v, p, op->size, is_aligned_op ? op->align : 0);
        if ((op->code & 7) == AB_CODE_ALLOC_ZEROED && !is_zero(p, op->size))
            fail(v, AB_FAILURE_CHECK, "a zeroed block is not zero");
    }
    adopt(v, slot, ref, op->size);
}

/* The handle of a block that is no more. Back ends that free nothing before a reset may keep it. */
static void check_stale(struct verify *v, uintptr_t ref)
{
    bool frees = (v->w->block->report.traits & AB_TRAIT_NO_FREE) == 0;
    if (v->f->resolve != NULL && frees && ref != 0 && v->f->resolve(v->f->heap, ref) != NULL)
        fail(v, AB_FAILURE_CHECK, "the handle of a freed block still resolves");
}

static void verify_resize(struct verify *v, struct ab_slot *slot, const struct ab_wide *op)
{
    size_t old_size = AB_SLOT_SIZE(slot);
    if (v->f->resize == NULL || slot->ref == 0)
        return;
    check_block(v, slot, slot->ref, old_size);
    uintptr_t ref = v->f->resize(v->f->heap, slot->ref, old_size, op->size);
    if (ref == 0 && (op->flags & AB_WIDE_MAY_FAIL) != 0)
        return;
    if (ref == 0) {
        ab_worker_note_null(v->lane, op->size);
        fail(v, AB_FAILURE_NULL, "a resize returned NULL");
    }
    if (ref != slot->ref)
        check_stale(v, slot->ref);
    check_alignment(v, address(v, ref), op->size, 0);
    check_block(v, slot, ref, old_size < op->size ? old_size : op->size);
    adopt(v, slot, ref, op->size);
}

static void verify_access(struct verify *v, struct ab_slot *slot)
{
    if (slot->ref != 0)
        check_block(v, slot, slot->ref, AB_SLOT_SIZE(slot));
}

static void verify_free(struct verify *v, struct ab_slot *slot)
{
    verify_access(v, slot);
    v->f->free(v->f->heap, slot->ref, AB_SLOT_SIZE(slot));
    check_stale(v, slot->ref);
    slot->ref = 0;
}

static void verify_op(struct verify *v, uint64_t word)
{
    struct ab_slot *slot = &v->w->slots[AB_OP_SLOT(word)];
    uint32_t operand = AB_OP_SIZE(word);
    struct ab_wide op = {.size = operand, .code = (uint16_t)AB_OP_CODE(word)};
    if (op.code == AB_CODE_WIDE)
        op = v->w->wide[operand];
    else if ((op.code & 7) == AB_CODE_ALLOC_ALIGNED) {
        op.size = AB_ALIGNED_SIZE(operand);
        op.align = UINT64_C(1) << AB_ALIGNED_LOG2(operand);
    }
    switch (ab_worker_op_kind(v->w, word)) {
    case AB_OP_FREE:
        verify_free(v, slot);
        break;
    case AB_OP_RESIZE:
        verify_resize(v, slot, &op);
        break;
    case AB_OP_ACCESS:
        verify_access(v, slot);
        break;
    case AB_OP_ALLOC:
    case AB_OP_ALLOC_ZEROED:
    case AB_OP_ALLOC_ALIGNED:
        verify_alloc(v, slot, &op);
        break;
    }
}

static bool verify_range(struct verify *v, uint32_t begin, uint32_t end, uint32_t *left)
{
    for (uint32_t i = begin; i < end; i++, (*left)--) {
        if (*left == 0)
            return false;
        *v->lane->progress = i;
        v->lane->op = i;
        verify_op(v, v->w->ops[i]);
    }
    return true;
}

void ab_pass_verify(struct ab_worker *w, struct ab_heap_face *face)
{
    struct verify v = {w, &w->lanes[0], face};
    uint32_t left = w->block->request.verify_ops;
    bool goes_on = true;
    for (uint32_t p = 0; p < w->image->n_phases && goes_on; p++) {
        struct ab_order order;
        uint32_t begin, end;
        ab_order_begin(&order, w, p);
        while (goes_on && ab_order_next(&order, &begin, &end))
            goes_on = verify_range(&v, begin, end, &left);
    }
    for (uint32_t i = 0; i < w->image->n_slots; i++)
        if (w->slots[i].ref != 0)
            check_block(&v, &w->slots[i], w->slots[i].ref, AB_SLOT_SIZE(&w->slots[i]));
}
