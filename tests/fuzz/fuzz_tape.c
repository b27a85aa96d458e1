/* SPDX-License-Identifier: MIT
 *
 * libFuzzer entry: bytes as a program of pushes at the tape builder, with lanes, window, resets,
 * save points, awaits, phases and bursts, some of them not allowed. What is not allowed must be refused; what
 * was accepted must be in the tape, and safe to run (tape_model.h). tests/golden/tapes are such
 * programs, of random bytes.
 */
#include "fuzz/tape_model.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

struct program {
    const uint8_t *at, *end;
    bool has_bursts;
    struct ab_tape_builder *b;
    struct tape_model m;
    struct ab_err err;
};

void model_fail(const char *condition, const char *file, int line)
{
    fprintf(stderr, "%s:%d: does not hold: %s\n", file, line, condition);
    abort();
}

static uint8_t next_byte(struct program *p)
{
    return p->at < p->end ? *p->at++ : 0;
}

/* ---- the model's side of a push that was accepted ---- */

static struct model_request *note_request(struct tape_model *m, enum ab_op_kind kind, uint32_t slot)
{
    uint32_t index = m->n_requests++;
    struct model_request *r = &m->requests[index];
    struct model_phase *phase = &m->phases[m->n_phases - 1];
    *r = (struct model_request){.kind = (uint8_t)kind,
                                .lane = (uint8_t)m->lane,
                                .slot = slot,
                                .prev = MODEL_NONE,
                                .awaits = m->pending[m->lane]};
    m->kinds |= 1u << kind;
    phase->n_ops[kind] += kind != AB_OP_RESET;
    phase->end = m->n_requests;
    m->pending[m->lane] = MODEL_NONE;
    return r;
}

/* The request is the next use of its slot. */
static void note_use(struct tape_model *m, struct model_request *r)
{
    uint32_t *last = &m->slots[r->slot].last;
    r->prev = *last;
    if (*last != MODEL_NONE && m->requests[*last].lane != m->lane)
        m->phases[m->n_phases - 1].has_crossed = true;
    *last = (uint32_t)(r - m->requests);
}

/* Of small blocks that are written to apart, one for each 4 KiB of the lane's. */
static enum ab_touch touch_of(struct tape_model *m, const struct ab_request *a)
{
    uint64_t *unwritten = &m->unwritten[m->lane];
    if (a->touch != AB_TOUCH_APART || a->size == 0)
        return a->touch;
    *unwritten += a->size < 4096 ? a->size : 4096;
    if (*unwritten < 4096)
        return AB_TOUCH_NONE;
    *unwritten = 0;
    return AB_TOUCH_APART;
}

static void note_made(struct tape_model *m, uint32_t slot)
{
    m->slots[slot].made[m->lane] = m->marks[m->lane].last_made = ++m->n_made;
}

static void note_asked(struct tape_model *m, struct model_request *r, const struct ab_request *a)
{
    r->request = *a;
    if (a->may_fail)
        return;
    r->request.touch = touch_of(m, a);
    m->phases[m->n_phases - 1].n_touches += a->size > 0 && r->request.touch != AB_TOUCH_NONE;
    m->total_blocks++;
    m->total_bytes += a->size;
    m->largest_bytes = a->size > m->largest_bytes ? a->size : m->largest_bytes;
    m->largest_align = a->align > m->largest_align ? a->align : m->largest_align;
    m->live_bytes += a->size - m->slots[r->slot].size;
    m->slots[r->slot].size = a->size;
    m->peak_bytes = m->live_bytes > m->peak_bytes ? m->live_bytes : m->peak_bytes;
}

static void note_alloc(struct tape_model *m, uint32_t slot, const struct ab_request *a)
{
    enum ab_op_kind kind = a->align != 0  ? AB_OP_ALLOC_ALIGNED
                           : a->is_zeroed ? AB_OP_ALLOC_ZEROED
                                          : AB_OP_ALLOC;
    struct model_request *r = note_request(m, kind, slot);
    if (!a->may_fail) {
        note_use(m, r);
        m->slots[slot].is_live = true;
        m->slots[slot].born_lane = (uint8_t)m->lane;
        m->slots[slot].size = 0;
        memset(m->slots[slot].made, 0, sizeof m->slots[slot].made);
        note_made(m, slot);
        m->n_slots = slot >= m->n_slots ? slot + 1 : m->n_slots;
        m->live_blocks++;
        m->peak_blocks = m->live_blocks > m->peak_blocks ? m->live_blocks : m->peak_blocks;
    }
    note_asked(m, r, a);
}

static void note_resize(struct tape_model *m, uint32_t slot, const struct ab_request *a)
{
    struct model_request *r = note_request(m, AB_OP_RESIZE, slot);
    note_use(m, r);
    m->n_remote += m->slots[slot].born_lane != m->lane;
    note_made(m, slot);
    note_asked(m, r, a);
}

static void note_free(struct tape_model *m, uint32_t slot)
{
    note_use(m, note_request(m, AB_OP_FREE, slot));
    m->n_remote += m->slots[slot].born_lane != m->lane;
    m->slots[slot].is_live = false;
    m->live_blocks--;
    m->live_bytes -= m->slots[slot].size;
}

static void note_phase(struct tape_model *m)
{
    m->phases[m->n_phases++] = (struct model_phase){.begin = m->n_requests, .end = m->n_requests};
    m->lane = 0;
    memset(m->pending, 0xff, sizeof m->pending);
    for (uint32_t l = 0; l < MODEL_LANES; l++)
        m->marks[l].n = 0;
    for (uint32_t i = 0; i < MODEL_ALL_SLOTS; i++)
        m->slots[i].last = MODEL_NONE;
}

/* ---- pushes ---- */

static void begin_phase(struct program *p)
{
    char name[16];
    snprintf(name, sizeof name, "p%u", p->m.n_phases);
    REQUIRE(ab_tape_phase(p->b, name, true, &p->err) == AB_OK);
    note_phase(&p->m);
}

static void set_lane(struct program *p, uint32_t lane)
{
    REQUIRE(ab_tape_lane(p->b, lane, &p->err) == AB_OK);
    p->m.lane = lane;
    p->m.n_lanes = lane >= p->m.n_lanes ? lane + 1 : p->m.n_lanes;
}

static struct ab_request read_request(struct program *p)
{
    static const uint64_t sizes[] = {0, 1, 24, 4096, 4097, 100000, 1 << 27, UINT64_C(1) << 33};
    uint8_t how = next_byte(p);
    struct ab_request r = {.size = sizes[how & 7] + (how >> 3 & 1),
                           .touch = (enum ab_touch)((how >> 4) % (AB_TOUCH_APART + 1))};
    r.touch_bytes = r.touch == AB_TOUCH_FIRST ? 1u + how : 0;
    return r;
}

static void push_alloc(struct program *p, uint32_t slot, unsigned variant)
{
    struct ab_request r = read_request(p);
    r.is_zeroed = variant == 1;
    r.align = variant == 2 ? UINT64_C(1) << slot % 20 : 0;
    r.may_fail = variant == 3;
    enum ab_status status = ab_tape_alloc(p->b, slot, &r, &p->err);
    bool is_allowed = r.may_fail || !p->m.slots[slot].is_live;
    REQUIRE(status == (is_allowed ? AB_OK : AB_INPUT));
    if (status == AB_OK)
        note_alloc(&p->m, slot, &r);
}

static void push_resize(struct program *p, uint32_t slot, bool may_fail)
{
    struct ab_request r = read_request(p);
    r.size += r.size == 0;
    r.may_fail = may_fail;
    enum ab_status status = ab_tape_resize(p->b, slot, &r, &p->err);
    REQUIRE(status == (p->m.slots[slot].is_live ? AB_OK : AB_INPUT));
    if (status == AB_OK)
        note_resize(&p->m, slot, &r);
}

static void push_free(struct program *p, uint32_t slot)
{
    enum ab_status status = ab_tape_free(p->b, slot, &p->err);
    REQUIRE(status == (p->m.slots[slot].is_live ? AB_OK : AB_INPUT));
    if (status == AB_OK)
        note_free(&p->m, slot);
}

/* All that lives from slot `first` on. */
static void push_reset(struct program *p, uint32_t first)
{
    uint32_t slots[MODEL_ALL_SLOTS], n = 0;
    for (uint32_t i = first; i < MODEL_ALL_SLOTS; i++)
        if (p->m.slots[i].is_live)
            slots[n++] = i;
    bool is_bulk = n == p->m.live_blocks;
    REQUIRE(ab_tape_reset(p->b, slots, n, &p->err) == AB_OK);
    struct model_request *r = note_request(&p->m, AB_OP_RESET, n);
    r->is_bulk = is_bulk;
    p->m.phases[p->m.n_phases - 1].n_ops[AB_OP_RESET] += is_bulk;
    for (uint32_t i = 0; i < n; i++)
        note_free(&p->m, slots[i]);
}

static void push_mark(struct program *p)
{
    struct tape_model *m = &p->m;
    uint32_t *n = &m->marks[m->lane].n, kinds = m->kinds, depth;
    REQUIRE(ab_tape_mark(p->b, &depth, &p->err) == AB_OK);
    REQUIRE(depth == (*n < AB_SAVE_POINTS_MAX ? *n + 1 : 0));
    if (depth == 0)
        return;
    struct model_request *r = note_request(m, AB_OP_RESET, 0);
    r->is_mark = true;
    r->depth = depth;
    m->kinds = kinds; /* it is no op */
    m->marks[m->lane].open[(*n)++] = m->n_made;
}

/* What lives of what the lane has made since its last mark. */
static uint32_t find_younger(const struct tape_model *m, uint64_t mark, uint32_t *slots)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < MODEL_ALL_SLOTS; i++)
        if (m->slots[i].is_live && m->slots[i].made[m->lane] > mark)
            slots[n++] = i;
    return n;
}

/* The end of the last scope: frees all of its blocks, or some; or they were freed one by one. */
static void push_release(struct program *p, bool frees_all, bool frees_none)
{
    struct tape_model *m = &p->m;
    uint32_t slots[MODEL_ALL_SLOTS], depth = m->marks[m->lane].n;
    bool is_one;
    if (depth == 0)
        return;
    uint64_t mark = m->marks[m->lane].open[--m->marks[m->lane].n];
    uint32_t n_young = find_younger(m, mark, slots);
    uint32_t n = frees_none ? 0 : frees_all ? n_young : n_young / 2;
    bool is_bulk = n > 0 && n == m->live_blocks, is_used = m->marks[m->lane].last_made > mark;
    REQUIRE(ab_tape_release(p->b, depth, slots, n, &is_one, &p->err) == AB_OK);
    REQUIRE(!is_one || is_bulk || (n == n_young && is_used));
    REQUIRE(is_one || m->n_lanes > 1 || n < n_young || !is_used);
    ab_tape_forget_mark(p->b, depth);
    if (n == 0 && !is_one)
        return;
    struct model_request *r = note_request(m, AB_OP_RESET, n);
    r->is_bulk = is_bulk;
    r->depth = depth;
    r->is_dead = n == n_young;
    m->phases[m->n_phases - 1].n_ops[AB_OP_RESET] += is_one;
    for (uint32_t i = 0; i < n; i++)
        note_free(m, slots[i]);
}

static void push_await(struct program *p, uint32_t slot)
{
    struct tape_model *m = &p->m;
    enum ab_status status = ab_tape_await(p->b, slot, &p->err);
    REQUIRE(status == (m->slots[slot].is_live ? AB_OK : AB_INPUT));
    uint32_t last = m->slots[slot].last;
    if (status != AB_OK || last == MODEL_NONE || m->requests[last].lane == m->lane)
        return;
    m->phases[m->n_phases - 1].has_crossed = true;
    m->awaits[m->n_awaits] = (struct model_await){.of = last, .next = m->pending[m->lane]};
    m->pending[m->lane] = m->n_awaits++;
}

/* The lane is busy with itself: so that windows and frames pass. */
static void push_pastime(struct program *p, uint32_t n)
{
    const struct ab_request r = {.size = 16, .touch = AB_TOUCH_PAGE};
    uint32_t slot = MODEL_SLOTS + p->m.lane;
    for (uint32_t i = 0; i < n; i++)
        if (p->m.slots[slot].is_live) {
            REQUIRE(ab_tape_free(p->b, slot, &p->err) == AB_OK);
            note_free(&p->m, slot);
        } else {
            REQUIRE(ab_tape_alloc(p->b, slot, &r, &p->err) == AB_OK);
            note_alloc(&p->m, slot, &r);
        }
}

static void cut(struct program *p)
{
    struct tape_model *m = &p->m;
    const struct ab_tape *burst;
    enum ab_status status = ab_tape_cut(p->b, &burst, &p->err);
    REQUIRE(status == (m->n_requests > 0 ? AB_OK : AB_INPUT));
    if (status != AB_OK)
        return;
    model_check_tape(m, burst);
    m->n_requests = m->n_phases = m->n_awaits = 0;
    m->n_remote = 0;
    begin_phase(p);
}

static bool has_room(const struct tape_model *m)
{
    return m->n_requests + 2 * UINT8_MAX < MODEL_REQUESTS && m->n_awaits < MODEL_AWAITS;
}

static void push_next(struct program *p)
{
    uint8_t what = next_byte(p), slot = next_byte(p) % MODEL_SLOTS;
    set_lane(p, (what >> 4) % p->m.n_lanes);
    switch (what & 15) {
    case 0:
    case 1:
    case 2:
    case 3:
        push_alloc(p, slot, what & 3);
        break;
    case 4:
    case 5:
    case 6:
        push_free(p, slot);
        break;
    case 7:
    case 8:
        push_resize(p, slot, (what & 15) == 8);
        break;
    case 9: /* a trace, whose window always holds, has only those of scopes */
        if (!p->m.is_window_always)
            push_reset(p, slot % 2 == 0 ? 0 : slot);
        break;
    case 10: /* nobody waits for nothing */
        push_await(p, slot);
        push_pastime(p, 1);
        break;
    case 11:
        if (p->m.n_phases < MODEL_PHASES)
            begin_phase(p);
        break;
    case 12:
        if (p->has_bursts)
            cut(p);
        break;
    case 13:
        ab_tape_note_no_op_free(p->b);
        p->m.n_no_op_frees++;
        break;
    case 14:
        if (slot % 8 < 4)
            push_mark(p);
        else
            push_release(p, (slot & 1) == 0, (slot & 2) != 0);
        break;
    default:
        push_pastime(p, 1u + next_byte(p));
    }
}

static void begin(struct program *p)
{
    static const uint32_t windows[] = {AB_WINDOW_AUTO, 0, 1, 2, 3, 10, 64, 255, 4096,
                                       UINT32_MAX - 1};
    uint8_t how = next_byte(p);
    p->m.n_lanes = 1 + how % MODEL_LANES;
    p->m.is_window_always = (how & 8) != 0;
    p->has_bursts = (how & 16) != 0;
    p->m.window = windows[next_byte(p) % (sizeof windows / sizeof windows[0])];
    REQUIRE((p->b = ab_tape_begin()) != NULL);
    ab_tape_set_lanes(p->b, p->m.n_lanes);
    ab_tape_set_window(p->b, p->m.window, p->m.is_window_always);
    begin_phase(p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static struct program p;
    struct ab_tape tape;
    memset(&p.m, 0, offsetof(struct tape_model, requests));
    p.at = data;
    p.end = data + n;
    begin(&p);
    while (p.at < p.end && has_room(&p.m))
        push_next(&p);
    enum ab_status status = ab_tape_end(p.b, &tape, &p.err);
    REQUIRE(status == (p.m.n_requests > 0 ? AB_OK : AB_INPUT));
    if (status == AB_OK) {
        model_check_tape(&p.m, &tape);
        ab_tape_fini(&tape);
    }
    return 0;
}
