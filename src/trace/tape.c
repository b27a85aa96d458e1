/* SPDX-License-Identifier: MIT
 *
 * The tape builder. Lives in the parent and may use malloc; what it makes is copied into a sealed
 * mapping before any worker sees it.
 */
#include "trace/tape.h"

#include "core/bits.h"

#include <sha2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct live_block {
    uint64_t size;
    bool is_live;
};

struct ab_tape_builder {
    struct ab_tape tape;
    size_t cap_ops, cap_wide, cap_phases;
    struct live_block *live;
    size_t cap_live;
    uint64_t n_requests;
    uint64_t live_blocks, live_bytes;
};

struct ab_tape_builder *ab_tape_begin(void)
{
    return calloc(1, sizeof(struct ab_tape_builder));
}

void ab_tape_fini(struct ab_tape *tape)
{
    free(tape->ops);
    free(tape->wide);
    free(tape->phases);
    *tape = (struct ab_tape){0};
}

void ab_tape_abandon(struct ab_tape_builder *b)
{
    if (b == NULL)
        return;
    ab_tape_fini(&b->tape);
    free(b->live);
    free(b);
}

/* Makes room for one more element; false when out of memory. */
static bool grow(void **items, size_t *cap, size_t n, size_t item_bytes)
{
    if (n < *cap)
        return true;
    size_t wanted = *cap < 512 ? 1024 : *cap * 2;
    void *grown = realloc(*items, wanted * item_bytes);
    if (grown == NULL)
        return false;
    *items = grown;
    *cap = wanted;
    return true;
}

static enum ab_status no_memory(struct ab_err *err)
{
    return ab_fail(err, AB_SYSTEM, "out of memory while building the tape");
}

static struct ab_phase *current_phase(struct ab_tape_builder *b)
{
    return b->tape.n_phases == 0 ? NULL : &b->tape.phases[b->tape.n_phases - 1];
}

enum ab_status ab_tape_phase(struct ab_tape_builder *b, const char *name, bool is_measured,
                             struct ab_err *err)
{
    if (strlen(name) > AB_PHASE_NAME_MAX)
        return ab_fail(err, AB_CONFIG, "phase name longer than %d characters", AB_PHASE_NAME_MAX);
    if (!grow((void **)&b->tape.phases, &b->cap_phases, b->tape.n_phases, sizeof(struct ab_phase)))
        return no_memory(err);
    struct ab_phase *phase = &b->tape.phases[b->tape.n_phases++];
    *phase = (struct ab_phase){.is_measured = is_measured,
                               .begin = b->tape.n_ops,
                               .end = b->tape.n_ops};
    strcpy(phase->name, name);
    return AB_OK;
}

static enum ab_status push_op(struct ab_tape_builder *b, uint64_t op, struct ab_err *err)
{
    if (b->tape.n_ops >= AB_TAPE_MAX_OPS)
        return ab_fail(err, AB_SYSTEM, "more than %u ops in one tape", AB_TAPE_MAX_OPS);
    if (!grow((void **)&b->tape.ops, &b->cap_ops, (size_t)b->tape.n_ops + AB_TAPE_PAD,
              sizeof(uint64_t)))
        return no_memory(err);
    b->tape.ops[b->tape.n_ops++] = op;
    current_phase(b)->end = b->tape.n_ops;
    return AB_OK;
}

static enum ab_status push_wide(struct ab_tape_builder *b, const struct ab_wide *wide,
                                struct ab_err *err)
{
    if (!grow((void **)&b->tape.wide, &b->cap_wide, b->tape.n_wide, sizeof *wide))
        return no_memory(err);
    enum ab_status status =
        push_op(b, AB_OP_MAKE(AB_CODE_WIDE, wide->slot, b->tape.n_wide), err);
    if (status == AB_OK)
        b->tape.wide[b->tape.n_wide++] = *wide;
    return status;
}

/* The slot's entry, grown into being; NULL when out of memory. */
static struct live_block *live_entry(struct ab_tape_builder *b, uint32_t slot)
{
    if (slot >= b->cap_live) {
        size_t cap = b->cap_live < 1024 ? 1024 : b->cap_live;
        while (cap <= slot)
            cap *= 2;
        struct live_block *grown = realloc(b->live, cap * sizeof *grown);
        if (grown == NULL)
            return NULL;
        memset(grown + b->cap_live, 0, (cap - b->cap_live) * sizeof *grown);
        b->live = grown;
        b->cap_live = cap;
    }
    return &b->live[slot];
}

static enum ab_status check_phase(const struct ab_tape_builder *b, struct ab_err *err)
{
    return b->tape.n_phases > 0 ? AB_OK : ab_fail(err, AB_CONFIG, "an op before the first phase");
}

static enum ab_status check_slot(struct ab_tape_builder *b, uint32_t slot, bool must_live,
                                 struct live_block **entry, struct ab_err *err)
{
    enum ab_status status = check_phase(b, err);
    if (status != AB_OK)
        return status;
    if (slot > AB_SLOT_MAX)
        return ab_fail(err, AB_INPUT, "more than %u blocks live at once", AB_SLOT_MAX);
    struct live_block *found = live_entry(b, slot);
    if (found == NULL)
        return no_memory(err);
    if (found->is_live != must_live)
        return ab_fail(err, AB_INPUT, "op %u: slot %u is %s", b->tape.n_ops, slot,
                       must_live ? "not live" : "live already");
    *entry = found;
    return AB_OK;
}

static uint64_t touched_pages(const struct ab_request *r)
{
    if (r->size == 0 || r->touch == AB_TOUCH_NONE)
        return 0;
    if (r->touch == AB_TOUCH_FIRST || r->touch == AB_TOUCH_ENDS)
        return 1;
    return (r->size - 1) / 4096 + 1;
}

/* Is the touch part of the op's own code? */
static bool is_fused(unsigned code, const struct ab_request *r)
{
    return r->touch == AB_TOUCH_PAGE && r->size > 0 && !r->may_fail &&
           (code == AB_CODE_RESIZE || r->size <= AB_FUSED_TOUCH_MAX);
}

/* Pushes the op in its short form where it fits, else through the side table. */
static enum ab_status push_request(struct ab_tape_builder *b, unsigned code, uint32_t slot,
                                   const struct ab_request *r, struct ab_err *err)
{
    unsigned full = is_fused(code, r) ? code | AB_CODE_TOUCHED : code;
    bool fits = r->size <= UINT32_MAX && !r->may_fail;
    uint32_t operand = (uint32_t)r->size;
    if (code == AB_CODE_ALLOC_ALIGNED) {
        fits = fits && r->size < 1u << 27;
        operand = AB_ALIGNED_MAKE(r->size, ab_log2(r->align));
    }
    if (fits)
        return push_op(b, AB_OP_MAKE(full, slot, operand), err);
    struct ab_wide wide = {.size = r->size,
                           .align = r->align,
                           .slot = slot,
                           .code = (uint16_t)full,
                           .flags = r->may_fail ? AB_WIDE_MAY_FAIL : 0};
    return push_wide(b, &wide, err);
}

static enum ab_status push_touch(struct ab_tape_builder *b, unsigned code, uint32_t slot,
                                 const struct ab_request *r, struct ab_err *err)
{
    if (r->size == 0 || r->may_fail || r->touch == AB_TOUCH_NONE)
        return AB_OK;
    struct ab_phase *phase = current_phase(b);
    phase->n_touches++;
    phase->touched_pages += touched_pages(r);
    if (is_fused(code, r))
        return AB_OK;
    return push_op(b, AB_OP_MAKE(AB_CODE_TOUCH, slot, AB_TOUCH_MAKE(r->touch, r->touch_bytes)),
                   err);
}

static void note_request(struct ab_tape_builder *b, enum ab_op_kind kind,
                         const struct ab_request *r)
{
    struct ab_facts *f = &b->tape.facts;
    f->kinds |= 1u << kind;
    current_phase(b)->n_ops[kind]++;
    b->n_requests++;
    if (kind == AB_OP_FREE || r->may_fail)
        return;
    f->total_blocks++;
    if (__builtin_add_overflow(f->total_bytes, r->size, &f->total_bytes))
        f->total_bytes = UINT64_MAX;
    if (r->size > f->largest_bytes)
        f->largest_bytes = r->size;
    if (r->align > f->largest_align)
        f->largest_align = r->align;
}

static void note_live(struct ab_tape_builder *b, int64_t blocks, uint64_t old_size,
                      uint64_t new_size)
{
    struct ab_facts *f = &b->tape.facts;
    b->live_blocks += (uint64_t)blocks;
    b->live_bytes += new_size - old_size;
    if (b->live_blocks > f->live_peak_blocks)
        f->live_peak_blocks = b->live_blocks;
    if (b->live_bytes > f->live_peak_bytes)
        f->live_peak_bytes = b->live_bytes;
}

enum ab_status ab_tape_alloc(struct ab_tape_builder *b, uint32_t slot,
                             const struct ab_request *r, struct ab_err *err)
{
    struct live_block *entry = NULL;
    if (r->may_fail)
        slot = 0; /* no block comes to life: the slot is only a place in the word */
    enum ab_status status = r->may_fail ? check_phase(b, err)
                                        : check_slot(b, slot, false, &entry, err);
    if (status != AB_OK)
        return status;
    unsigned code = r->align != 0 ? AB_CODE_ALLOC_ALIGNED
                  : r->is_zeroed  ? AB_CODE_ALLOC_ZEROED
                                  : AB_CODE_ALLOC;
    if ((status = push_request(b, code, slot, r, err)) != AB_OK ||
        (status = push_touch(b, code, slot, r, err)) != AB_OK)
        return status;
    note_request(b, (enum ab_op_kind)ab_op_code_kind(code), r);
    if (!r->may_fail) {
        *entry = (struct live_block){r->size, true};
        note_live(b, 1, 0, r->size);
        if (slot >= b->tape.n_slots)
            b->tape.n_slots = slot + 1;
    }
    return AB_OK;
}

enum ab_status ab_tape_resize(struct ab_tape_builder *b, uint32_t slot,
                              const struct ab_request *r, struct ab_err *err)
{
    struct live_block *entry = NULL;
    enum ab_status status = check_slot(b, slot, true, &entry, err);
    if (status != AB_OK)
        return status;
    if (r->size == 0)
        return ab_fail(err, AB_CONFIG, "a resize to size 0; free the block instead");
    if ((status = push_request(b, AB_CODE_RESIZE, slot, r, err)) != AB_OK ||
        (status = push_touch(b, AB_CODE_RESIZE, slot, r, err)) != AB_OK)
        return status;
    note_request(b, AB_OP_RESIZE, r);
    if (!r->may_fail) {
        note_live(b, 0, entry->size, r->size);
        entry->size = r->size;
    }
    return AB_OK;
}

enum ab_status ab_tape_free(struct ab_tape_builder *b, uint32_t slot, struct ab_err *err)
{
    struct live_block *entry = NULL;
    enum ab_status status = check_slot(b, slot, true, &entry, err);
    if (status != AB_OK)
        return status;
    if ((status = push_op(b, AB_OP_MAKE(AB_CODE_FREE, slot, 0), err)) != AB_OK)
        return status;
    note_request(b, AB_OP_FREE, &(struct ab_request){0});
    note_live(b, -1, entry->size, 0);
    entry->is_live = false;
    return AB_OK;
}

bool ab_tape_is_live(const struct ab_tape_builder *b, uint32_t slot, uint64_t *size)
{
    if (slot >= b->cap_live || !b->live[slot].is_live)
        return false;
    if (size != NULL)
        *size = b->live[slot].size;
    return true;
}

void ab_tape_note_no_op_free(struct ab_tape_builder *b)
{
    b->tape.no_op_frees++;
}

uint64_t ab_tape_count(const struct ab_tape_builder *b)
{
    return b->n_requests;
}

uint64_t ab_tape_allocated_bytes(const struct ab_tape_builder *b)
{
    return b->tape.facts.total_bytes;
}

uint64_t ab_tape_live_bytes(const struct ab_tape_builder *b)
{
    return b->live_bytes;
}

/* Field by field, so that no padding and no change of a struct moves the digest. */
static void digest(struct ab_tape *tape)
{
    SHA2_CTX sha;
    SHA256Init(&sha);
    for (uint32_t i = 0; i < tape->n_phases; i++) {
        const struct ab_phase *p = &tape->phases[i];
        uint32_t head[3] = {p->begin, p->end, p->is_measured};
        SHA256Update(&sha, (const uint8_t *)p->name, strlen(p->name) + 1);
        SHA256Update(&sha, (const uint8_t *)head, sizeof head);
    }
    SHA256Update(&sha, (const uint8_t *)tape->ops, (size_t)tape->n_ops * sizeof tape->ops[0]);
    for (uint32_t i = 0; i < tape->n_wide; i++) {
        const struct ab_wide *w = &tape->wide[i];
        uint64_t fields[5] = {w->size, w->align, w->slot, w->code, w->flags};
        SHA256Update(&sha, (const uint8_t *)fields, sizeof fields);
    }
    uint8_t sum[SHA256_DIGEST_LENGTH];
    SHA256Final(sum, &sha);
    for (size_t i = 0; i < sizeof sum; i++)
        snprintf(tape->sha256 + 2 * i, 3, "%02x", sum[i]);
}

enum ab_status ab_tape_end(struct ab_tape_builder *b, struct ab_tape *out, struct ab_err *err)
{
    enum ab_status status = AB_OK;
    if (b->tape.n_ops == 0) {
        status = ab_fail(err, AB_INPUT, "there is not a single op in it");
        goto out;
    }
    for (unsigned i = 0; i < AB_TAPE_PAD; i++)
        b->tape.ops[b->tape.n_ops + i] = 0; /* room: push_op kept it */
    b->tape.facts.lanes = 1;
    b->tape.live_end_blocks = b->live_blocks;
    b->tape.live_end_bytes = b->live_bytes;
    digest(&b->tape);
    *out = b->tape;
    b->tape = (struct ab_tape){0};
out:
    ab_tape_abandon(b);
    return status;
}
