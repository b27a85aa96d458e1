/* SPDX-License-Identifier: MIT
 *
 * The tape builder. It runs in the parent and may use malloc. Its tape is copied into a sealed
 * mapping before any worker sees it.
 */
#include "tape/tape.h"

#include "base/bits.h"
#include "core/alloc.h"
#include "tape/layout.h"

#include <sha2.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

/* Returns the number of writes of a touch once a page. */
static inline uint64_t ab_touch_pages_of(uint64_t size)
{
    return size > 0 ? (size - 1) / 4096 + 1 : 0;
}

static inline __attribute__((always_inline)) uint64_t ab_touch_count_pages(
    const struct ab_request *r)
{
    if (r->size == 0 || r->touch == AB_TOUCH_NONE)
        return 0;
    if (r->touch == AB_TOUCH_FIRST || r->touch == AB_TOUCH_ENDS)
        return 1;
    if (AB_UNLIKELY(r->touch == AB_TOUCH_LEADING))
        return r->touch_bytes & AB_LEADING_MOST;
    return ab_touch_pages_of(r->size);
}

/* True if the touch is part of the op's own code. */
static inline __attribute__((always_inline)) bool ab_touch_is_fused(unsigned code,
                                                                    const struct ab_request *r)
{
    return r->touch == AB_TOUCH_PAGE && r->size > 0 && !r->may_fail &&
           (code == AB_CODE_RESIZE || r->size <= AB_FUSED_TOUCH_MAX);
}

/* True if the block is not touched because of AB_TOUCH_APART. Stopping the clock costs more than
 * the call for a small block, so one touch is enough for blocks that share a page. */
static inline __attribute__((always_inline)) bool ab_touch_is_passed_over(
    struct ab_tape_builder *b, const struct ab_request *r)
{
    if (r->touch != AB_TOUCH_APART)
        return false;
    b->to->unwritten_bytes += r->size < AB_APART_BYTES ? r->size : AB_APART_BYTES;
    if (b->to->unwritten_bytes < AB_APART_BYTES)
        return true;
    b->to->unwritten_bytes = 0;
    return false;
}

/* Inlines everything that each op goes through, because it runs for each call of traces with
 * hundreds of millions of calls. */
#define EACH_OP static inline __attribute__((always_inline))

struct ab_tape_builder *ab_tape_begin(void)
{
    struct ab_tape_builder *b = ab_alloc_zeroed(1, sizeof *b);
    b->lanes = ab_alloc_zeroed(AB_LANES_MAX, sizeof b->lanes[0]);
    b->n_lanes = 1;
    b->to = &b->lanes[0];
    b->window = AB_WINDOW_AUTO;
    return b;
}

void ab_tape_fini(struct ab_tape *tape)
{
    free(tape->ops);
    free(tape->wide);
    free(tape->phases);
    free(tape->lane_begin);
    free(tape->turns);
    free(tape->iterations.at);
    free(tape->iterations.begin);
    free(tape->thread_ends.at);
    free(tape->thread_ends.begin);
    free(tape->steps);
    for (uint32_t l = 0; tape->groups != NULL && l < tape->facts.lanes; l++)
        free(tape->groups[l]);
    free(tape->groups);
    free(tape->group_order);
    *tape = (struct ab_tape){0};
}

void ab_tape_abandon(struct ab_tape_builder *b)
{
    if (b == NULL)
        return;
    ab_tape_fini(&b->tape);
    for (uint32_t l = 0; l < AB_LANES_MAX; l++) {
        free(b->lanes[l].ops);
        free(b->lanes[l].crests);
        free(b->lanes[l].groups);
        for (unsigned kind = 0; kind < AB_PLACE_KINDS; kind++)
            free(b->lanes[l].places[kind].items);
        free(b->lanes[l].saves);
    }
    free(b->lanes);
    free(b->starts);
    free(b->peaks);
    free(b->edges);
    free(b->awaited);
    free(b->slots);
    free(b);
}

EACH_OP uint64_t weigh(uint64_t blocks, uint64_t bytes)
{
    return bytes + blocks * AB_BLOCK_WEIGHT;
}

/* Records the position of each lane at the beginning of phase `index`. */
static void note_starts(struct ab_tape_builder *b, uint32_t index)
{
    size_t wanted = ((size_t)index + 1) * AB_LANES_MAX;
    AB_GROW(b->starts, b->cap_starts, wanted - 1);
    AB_GROW(b->peaks, b->cap_peaks, index);
    b->peaks[index] = weigh(b->live_blocks, b->live_bytes);
    for (uint32_t l = 0; l < AB_LANES_MAX; l++) {
        b->starts[(size_t)index * AB_LANES_MAX + l] = (uint32_t)b->lanes[l].n;
        ab_tape_end_crest(&b->lanes[l]);
        if (b->lanes[l].saves != NULL)
            b->lanes[l].saves->n = 0;
    }
    if (b->awaited != NULL)
        memset(b->awaited, 0, sizeof(uint32_t) * AB_LANES_MAX * AB_LANES_MAX);
}

enum ab_status ab_tape_time(struct ab_tape_builder *b, uint64_t time_ns, unsigned flags,
                            struct ab_err *err)
{
    return ab_tape_time_at(b, ab_tape_pushed(b), time_ns, flags, err);
}

/* Takes back the arrays of the burst that was cut off, for the next burst. */
static void tape_take_back(struct ab_tape_builder *b)
{
    struct ab_tape *tape = &b->tape;
    if (b->n_lanes == 1) {
        b->lanes[0].ops = tape->ops;
        b->lanes[0].cap = b->cap_ops;
        tape->ops = NULL;
        b->cap_ops = 0;
    }
    for (uint32_t l = 0; l < b->n_lanes; l++) {
        struct ab_lane_ops *lane = &b->lanes[l];
        lane->n = lane->n_crests = lane->crest_begin = 0;
        for (unsigned kind = 0; kind < AB_PLACE_KINDS; kind++)
            lane->places[kind].n = lane->places[kind].next = 0;
        lane->begin_level = lane->most = lane->level;
        lane->pushed_at = 0;
    }
    b->phases_before += tape->n_phases;
    tape->n_ops = tape->n_wide = tape->n_phases = tape->n_turns = 0;
    tape->n_edges = tape->n_remote = 0;
    tape->iterations.n = tape->thread_ends.n = tape->n_steps = 0;
    b->is_time_work = false;
    b->n_edges = 0;
    b->n_pushed = 0;
    b->is_cut = false;
}

enum ab_status ab_tape_phase(struct ab_tape_builder *b, const char *name, bool is_measured,
                             struct ab_err *err)
{
    if (b->is_cut)
        tape_take_back(b);
    else if (b->phase != NULL)
        /* the phase before ends at this time */
        AB_TRY(ab_tape_time(b, b->tape.duration_ns, 0, err));
    b->phase = NULL; /* invalid until this phase has begun, because the array may move */
    if (strlen(name) > AB_PHASE_NAME_MAX)
        return ab_fail(err, AB_CONFIG, "phase name longer than %d characters", AB_PHASE_NAME_MAX);
    AB_GROW(b->tape.phases, b->cap_phases, b->tape.n_phases);
    note_starts(b, b->tape.n_phases);
    struct ab_phase *phase = &b->tape.phases[b->tape.n_phases++];
    *phase = (struct ab_phase){
        .is_measured = is_measured, .turns_begin = b->tape.n_turns, .turns_end = b->tape.n_turns};
    strcpy(phase->name, name);
    b->phase = phase;
    b->lane = 0;
    b->to = &b->lanes[0];
    return AB_OK;
}

enum ab_status ab_tape_lane(struct ab_tape_builder *b, uint32_t lane, struct ab_err *err)
{
    if (lane >= AB_LANES_MAX)
        return ab_fail(err, AB_INPUT, "lane %u; at most %d lanes are possible", lane, AB_LANES_MAX);
    b->lane = lane;
    b->to = &b->lanes[lane];
    if (lane >= b->n_lanes)
        b->n_lanes = lane + 1;
    return AB_OK;
}

EACH_OP void note_turn(struct ab_tape_builder *b)
{
    struct ab_phase *phase = b->phase;
    struct ab_turn *last = phase->turns_end > phase->turns_begin
                               ? &b->tape.turns[phase->turns_end - 1]
                               : NULL;
    if (last != NULL && last->lane == b->lane) {
        last->n++;
        return;
    }
    AB_GROW(b->tape.turns, b->cap_turns, b->tape.n_turns);
    b->tape.turns[b->tape.n_turns++] = (struct ab_turn){b->lane, 1};
    phase->turns_end = b->tape.n_turns;
}

/* Ends the lane's crest if it is long enough, or if the lane paused, so that its level during the
 * pause is known. */
EACH_OP void note_crest(struct ab_tape_builder *b, struct ab_lane_ops *lane)
{
    size_t most = b->n_lanes == 1 ? AB_CREST_OPS_ALONE : AB_CREST_OPS;
    bool is_over = lane->n - lane->crest_begin >= most ||
                   b->n_pushed - lane->pushed_at > AB_CREST_GAP;
    lane->pushed_at = b->n_pushed;
    if (is_over)
        ab_tape_end_crest(lane);
}

EACH_OP enum ab_status push_op(struct ab_tape_builder *b, uint64_t op, struct ab_err *err)
{
    struct ab_lane_ops *lane = b->to;
    if (b->n_pushed >= AB_TAPE_MAX_OPS)
        return ab_fail(err, AB_SYSTEM, "more than %u ops in one tape", AB_TAPE_MAX_OPS);
    AB_GROW(lane->ops, lane->cap, lane->n + AB_TAPE_PAD);
    note_turn(b);
    note_crest(b, lane);
    lane->ops[lane->n++] = op;
    b->n_pushed++;
    return AB_OK;
}

static __attribute__((noinline)) enum ab_status push_wide(struct ab_tape_builder *b,
                                                          const struct ab_wide *wide,
                                                          struct ab_err *err)
{
    AB_GROW(b->tape.wide, b->cap_wide, b->tape.n_wide);
    AB_TRY(push_op(b, AB_OP_MAKE(AB_CODE_WIDE, wide->slot, b->tape.n_wide), err));
    b->tape.wide[b->tape.n_wide++] = *wide;
    return AB_OK;
}

/* Number of ops by which a wait may exceed its need, if they come before it in the global order as
 * well. One wait then covers a batch of blocks that was handed over. */
enum { WAIT_BATCH = 64 };

/* Adds an edge from the slot's last use to the current lane's next op, if another lane used it in
 * this phase and no edge covers it yet. */
static void note_wait(struct ab_tape_builder *b, const struct ab_block_state *slot)
{
    uint32_t phase = b->tape.n_phases;
    if (slot->last_phase != b->phases_before + phase || slot->last_lane == b->lane)
        return;
    const size_t square = (size_t)AB_LANES_MAX * AB_LANES_MAX;
    if (b->awaited == NULL)
        b->awaited = ab_alloc_zeroed(square, sizeof(uint32_t));
    uint32_t *awaited = &b->awaited[(size_t)b->lane * AB_LANES_MAX + slot->last_lane];
    if (slot->last_op < *awaited)
        return;
    AB_GROW(b->edges, b->cap_edges, b->n_edges);
    uint32_t pushed = (uint32_t)b->lanes[slot->last_lane].n, wanted = slot->last_op + WAIT_BATCH;
    *awaited = wanted < pushed ? wanted : pushed;
    b->edges[b->n_edges++] = (struct ab_edge){.phase = phase - 1,
                                              .to_lane = (uint8_t)b->lane,
                                              .from_lane = slot->last_lane,
                                              .to = (uint32_t)b->to->n,
                                              .from = *awaited - 1};
}

/* Records that the current lane's next op uses the slot. Adds an edge if another lane used it last
 * in this phase. */
EACH_OP void note_use(struct ab_tape_builder *b, struct ab_block_state *slot)
{
    uint32_t phase = b->phases_before + b->tape.n_phases;
    if (slot->last_phase == phase && slot->last_lane != b->lane)
        note_wait(b, slot);
    slot->last_phase = phase;
    slot->last_lane = (uint8_t)b->lane;
    slot->last_op = (uint32_t)b->to->n;
}

/* Records the group of an allocation or resize that is being pushed. */
static void note_group(struct ab_tape_builder *b)
{
    struct ab_lane_ops *lane = b->to;
    AB_GROW(lane->groups, lane->cap_groups, lane->n_groups);
    lane->groups[lane->n_groups++] = b->group;
    AB_GROW(b->tape.group_order, b->cap_group_order, b->tape.n_group_order);
    b->tape.group_order[b->tape.n_group_order++] = b->group;
}

/* Returns the slot's entry; grows the array if necessary. */
EACH_OP struct ab_block_state *slot_entry(struct ab_tape_builder *b, uint32_t slot)
{
    AB_GROW_ZEROED(b->slots, b->cap_slots, slot);
    return &b->slots[slot];
}

EACH_OP enum ab_status check_phase(const struct ab_tape_builder *b, struct ab_err *err)
{
    return b->phase != NULL ? AB_OK : ab_fail(err, AB_CONFIG, "an op before the first phase");
}

EACH_OP enum ab_status check_slot(struct ab_tape_builder *b, uint32_t slot, bool must_live,
                                  struct ab_block_state **entry, struct ab_err *err)
{
    AB_TRY(check_phase(b, err));
    if (slot >= AB_SLOT_MAX)
        return ab_fail(err, AB_INPUT, "more than %u live blocks", AB_SLOT_MAX);
    struct ab_block_state *found = slot_entry(b, slot);
    if (found->is_live != must_live)
        return ab_fail(err, AB_INPUT, "op %llu: slot %u is %s", (unsigned long long)b->n_pushed,
                       slot, must_live ? "not live" : "live already");
    note_use(b, found);
    *entry = found;
    return AB_OK;
}

/* Records the last op as the current lane's last use of the slot. */
EACH_OP void note_used(struct ab_tape_builder *b, struct ab_block_state *slot)
{
    slot->last_op = (uint32_t)b->to->n - 1;
}

/* Pushes the op in its short form if it fits, else through the side table. */
EACH_OP enum ab_status push_request(struct ab_tape_builder *b, unsigned code, uint32_t slot,
                                    const struct ab_request *r, struct ab_err *err)
{
    unsigned full = ab_touch_is_fused(code, r) ? code | AB_CODE_TOUCHED : code;
    bool fits = r->size <= UINT32_MAX && !r->may_fail;
    uint32_t operand = (uint32_t)r->size;
    if (b->has_groups)
        note_group(b);
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

static __attribute__((noinline)) enum ab_status push_touch_op(struct ab_tape_builder *b,
                                                              uint32_t slot,
                                                              const struct ab_request *r,
                                                              struct ab_err *err)
{
    uint32_t operand = r->touch == AB_TOUCH_LEADING ? AB_LEADING_MAKE(r->touch_bytes)
                                                    : AB_TOUCH_MAKE(r->touch, r->touch_bytes);
    return push_op(b, AB_OP_MAKE(AB_CODE_TOUCH, slot, operand), err);
}

void ab_request_touch_leading(struct ab_request *r, uint64_t n_pages)
{
    bool is_apart = r->touch == AB_TOUCH_APART;
    if (n_pages >= ab_touch_pages_of(r->size))
        return;
    if (n_pages > AB_LEADING_MOST)
        n_pages = AB_LEADING_MOST; /* 256 GiB of a block */
    r->touch = n_pages > 0 ? AB_TOUCH_LEADING : AB_TOUCH_NONE;
    r->touch_bytes = (uint32_t)n_pages | (is_apart ? AB_LEADING_APART : 0);
}

void ab_request_touch_share(struct ab_request *r)
{
    uint64_t bytes = (uint64_t)((__uint128_t)r->size * r->touch_bytes / AB_TOUCH_WHOLE);
    uint64_t pages = ab_touch_pages_of(bytes);
    r->touch = AB_TOUCH_PAGE;
    r->touch_bytes = 0;
    ab_request_touch_leading(r, pages > 0 ? pages : 1);
}

EACH_OP enum ab_status push_touch(struct ab_tape_builder *b, unsigned code, uint32_t slot,
                                  const struct ab_request *r, struct ab_err *err)
{
    if (r->size == 0 || r->may_fail || r->touch == AB_TOUCH_NONE || ab_touch_is_passed_over(b, r))
        return AB_OK;
    struct ab_phase *phase = b->phase;
    phase->n_touches++;
    phase->touched_pages += ab_touch_count_pages(r);
    return ab_touch_is_fused(code, r) ? AB_OK : push_touch_op(b, slot, r, err);
}

EACH_OP void note_kind(struct ab_tape_builder *b, enum ab_op_kind kind)
{
    b->tape.facts.kinds |= 1u << kind;
    b->phase->n_ops[kind]++;
    b->n_requests++;
}

EACH_OP void note_request(struct ab_tape_builder *b, enum ab_op_kind kind,
                          const struct ab_request *r)
{
    struct ab_facts *f = &b->tape.facts;
    note_kind(b, kind);
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

/* Records which of the lane's save points are older than the block. */
EACH_OP void note_born(struct ab_tape_builder *b, struct ab_block_state *slot)
{
    uint32_t born = AB_UNLIKELY(b->to->saves != NULL) ? ab_save_born(b->to->saves, 0) : 0;
    if (slot->born_lane == b->lane)
        slot->born_save = born;
}

EACH_OP void note_gone(struct ab_tape_builder *b, const struct ab_block_state *slot)
{
    if (AB_UNLIKELY(b->to->saves != NULL) && slot->born_lane == b->lane)
        ab_save_gone(b->to->saves, slot->born_save, 0);
}

EACH_OP void note_live(struct ab_tape_builder *b, int64_t blocks, uint64_t old_size,
                       uint64_t new_size)
{
    struct ab_facts *f = &b->tape.facts;
    struct ab_lane_ops *lane = b->to;
    uint64_t *peak = &b->peaks[b->tape.n_phases - 1];
    b->live_blocks += (uint64_t)blocks;
    b->live_bytes += new_size - old_size;
    lane->level += (int64_t)(new_size - old_size) + blocks * AB_BLOCK_WEIGHT;
    if (lane->level > lane->most)
        lane->most = lane->level;
    if (weigh(b->live_blocks, b->live_bytes) > *peak)
        *peak = weigh(b->live_blocks, b->live_bytes);
    if (b->live_blocks > f->live_peak_blocks)
        f->live_peak_blocks = b->live_blocks;
    if (b->live_bytes > f->live_peak_bytes)
        f->live_peak_bytes = b->live_bytes;
}

enum ab_status ab_tape_alloc(struct ab_tape_builder *b, uint32_t slot, const struct ab_request *r,
                             struct ab_err *err)
{
    struct ab_block_state *entry = NULL;
    if (r->may_fail)
        slot = 0; /* no block becomes live; the slot only fills its bits */
    AB_TRY(r->may_fail ? check_phase(b, err) : check_slot(b, slot, false, &entry, err));
    unsigned code = r->align != 0  ? AB_CODE_ALLOC_ALIGNED
                    : r->is_zeroed ? AB_CODE_ALLOC_ZEROED
                                   : AB_CODE_ALLOC;
    AB_TRY(push_request(b, code, slot, r, err));
    AB_TRY(push_touch(b, code, slot, r, err));
    note_request(b, (enum ab_op_kind)ab_op_code_kind(code), r);
    if (!r->may_fail) {
        entry->size = r->size;
        entry->is_live = true;
        entry->is_resized = false;
        entry->align_log2 = r->align != 0 ? (uint8_t)ab_log2(r->align) : 0;
        entry->born_lane = (uint8_t)b->lane;
        note_born(b, entry);
        note_used(b, entry);
        note_live(b, 1, 0, r->size);
        if (slot >= b->tape.n_slots)
            b->tape.n_slots = slot + 1;
    }
    return AB_OK;
}

enum ab_status ab_tape_resize(struct ab_tape_builder *b, uint32_t slot, const struct ab_request *r,
                              struct ab_err *err)
{
    struct ab_block_state *entry = NULL;
    AB_TRY(check_slot(b, slot, true, &entry, err));
    if (r->size == 0)
        return ab_fail(err, AB_CONFIG, "a resize to size 0; free the block instead");
    AB_TRY(push_request(b, AB_CODE_RESIZE, slot, r, err));
    AB_TRY(push_touch(b, AB_CODE_RESIZE, slot, r, err));
    note_request(b, AB_OP_RESIZE, r);
    note_gone(b, entry);
    note_born(b, entry); /* the resized block may have moved, so it is as young as a new one */
    note_used(b, entry);
    b->tape.n_remote += entry->born_lane != b->lane;
    if (!r->may_fail) {
        note_live(b, 0, entry->size, r->size);
        entry->size = r->size;
        entry->is_resized = true;
    }
    return AB_OK;
}

EACH_OP enum ab_status push_free(struct ab_tape_builder *b, struct ab_block_state *entry,
                                 uint64_t op, struct ab_err *err)
{
    AB_TRY(push_op(b, op, err));
    note_request(b, AB_OP_FREE, &(struct ab_request){0});
    note_live(b, -1, entry->size, 0);
    note_gone(b, entry);
    note_used(b, entry);
    b->tape.n_remote += entry->born_lane != b->lane;
    entry->is_live = false;
    return AB_OK;
}

enum ab_status ab_tape_free(struct ab_tape_builder *b, uint32_t slot, struct ab_err *err)
{
    struct ab_block_state *entry = NULL;
    AB_TRY(check_slot(b, slot, true, &entry, err));
    return push_free(b, entry, AB_OP_MAKE(AB_CODE_FREE, slot, 0), err);
}

enum ab_status ab_tape_free_sized(struct ab_tape_builder *b, uint32_t slot, struct ab_err *err)
{
    struct ab_block_state *entry = NULL;
    AB_TRY(check_slot(b, slot, true, &entry, err));
    unsigned code = entry->is_resized ? AB_CODE_FREE : AB_CODE_FREE_SIZED;
    b->tape.n_sized_frees += !entry->is_resized;
    uint32_t operand = entry->is_resized ? 0 : entry->align_log2;
    return push_free(b, entry, AB_OP_MAKE(code, slot, operand), err);
}

enum ab_status ab_tape_trim(struct ab_tape_builder *b, uint64_t bytes, struct ab_err *err)
{
    uint64_t pages = ab_touch_pages_of(bytes);
    uint32_t operand = AB_TRIM_MAKE(pages < AB_TRIM_MOST ? pages : AB_TRIM_MOST);
    AB_TRY(check_phase(b, err));
    AB_TRY(push_op(b, AB_OP_MAKE(AB_CODE_TOUCH, 0, operand), err));
    b->tape.n_trims++;
    return AB_OK;
}

enum ab_status ab_tape_access(struct ab_tape_builder *b, uint32_t slot, enum ab_access how,
                              struct ab_err *err)
{
    struct ab_block_state *entry = NULL;
    AB_TRY(check_slot(b, slot, true, &entry, err));
    if (entry->size == 0)
        return ab_fail(err, AB_INPUT, "an access to a block of size 0");
    AB_TRY(push_op(b, AB_OP_MAKE(AB_CODE_ACCESS, slot, how), err));
    note_kind(b, AB_OP_ACCESS);
    b->phase->n_touches += how == AB_ACCESS_WRITE;
    b->phase->touched_pages += how == AB_ACCESS_WRITE;
    return AB_OK;
}

/* Checks that the block can be part of a walk. Adds its wait before the walk, not in the middle. */
static enum ab_status check_walked(struct ab_tape_builder *b, uint32_t slot,
                                   enum ab_walk_order order, struct ab_err *err)
{
    uint64_t size = 0;
    if (!ab_tape_is_live(b, slot, &size))
        return ab_fail(err, AB_INPUT, "slot %u is not live", slot);
    if (size > AB_WALK_BYTES_MAX)
        return ab_fail(err, AB_INPUT, "a walk takes blocks of up to %u bytes, one has %llu",
                       AB_WALK_BYTES_MAX, (unsigned long long)size);
    if (order == AB_WALK_LINKED && size < sizeof(uint64_t))
        return ab_fail(err, AB_INPUT, "a linked walk needs blocks of 8 bytes or more, one has %llu",
                       (unsigned long long)size);
    note_wait(b, &b->slots[slot]);
    return AB_OK;
}

enum ab_status ab_tape_walk(struct ab_tape_builder *b, const uint32_t *slots, uint32_t n,
                            enum ab_walk_order order, struct ab_err *err)
{
    struct ab_block_state *first = NULL;
    if (n > AB_WALK_BLOCKS_MAX)
        return ab_fail(err, AB_INPUT, "a walk over %u blocks, at most %u are possible", n,
                       AB_WALK_BLOCKS_MAX);
    AB_TRY(check_phase(b, err));
    for (uint32_t i = 0; i < n; i++)
        AB_TRY(check_walked(b, slots[i], order, err));
    AB_TRY(check_slot(b, slots[0], true, &first, err));
    AB_TRY(push_op(b, AB_OP_MAKE(AB_CODE_TOUCH, slots[0], AB_WALK_MAKE(order, n)), err));
    for (uint32_t i = 0; i < n; i++)
        AB_TRY(ab_tape_access(b, slots[i], AB_ACCESS_READ, err));
    if (n > b->tape.longest_walk)
        b->tape.longest_walk = n;
    return AB_OK;
}

/* Ends a stretch between bulk resets, or at the end of the tape. */
static void note_stretch(struct ab_tape_builder *b)
{
    uint64_t begin = b->lost_resets ? 0 : b->reset_at_bytes, end = b->tape.facts.total_bytes;
    if (end - begin > b->tape.stretch_bytes)
        b->tape.stretch_bytes = end - begin;
}

/* Pushes a reset. `flags` are the permitted alternatives to a bulk reset, which is possible if
 * nothing else is live. */
static enum ab_status push_reset(struct ab_tape_builder *b, uint32_t flags, const uint32_t *slots,
                                 uint32_t n, struct ab_err *err)
{
    bool is_bulk = n == b->live_blocks && (n > 0 || (flags & AB_RESET_RELEASE) == 0);
    flags |= is_bulk ? 0 : AB_RESET_OTHERS;
    AB_TRY(check_phase(b, err));
    AB_TRY(push_op(b, AB_OP_MAKE(AB_CODE_RESET, flags, n), err));
    b->tape.facts.kinds |= 1u << AB_OP_RESET;
    b->phase->n_ops[AB_OP_RESET] += is_bulk || (flags & AB_RESET_RELEASE) != 0;
    if (is_bulk) {
        note_stretch(b);
        b->reset_at_bytes = b->tape.facts.total_bytes;
    }
    for (uint32_t i = 0; i < n; i++)
        AB_TRY(ab_tape_free(b, slots[i], err));
    return AB_OK;
}

enum ab_status ab_tape_reset(struct ab_tape_builder *b, const uint32_t *slots, uint32_t n,
                             struct ab_err *err)
{
    return push_reset(b, 0, slots, n, err);
}

enum ab_status ab_tape_mark(struct ab_tape_builder *b, uint32_t *depth, struct ab_err *err)
{
    struct ab_lane_ops *lane = b->to;
    *depth = 0;
    AB_TRY(check_phase(b, err));
    if (lane->saves == NULL)
        lane->saves = ab_alloc_zeroed(1, sizeof *lane->saves);
    struct ab_save_point *save = ab_save_begin(lane->saves, lane->n);
    if (save == NULL)
        return AB_OK;
    save->bytes = b->tape.facts.total_bytes - b->reset_at_bytes;
    *depth = save->depth;
    uint32_t how = AB_RESET_MAKE(AB_RESET_OTHERS | AB_RESET_MARK, save->depth);
    return push_op(b, AB_OP_MAKE(AB_CODE_RESET, how, 0), err);
}

bool ab_tape_is_younger(const struct ab_tape_builder *b, uint32_t depth, uint32_t slot)
{
    const struct ab_save_point *save = b->to->saves != NULL ? ab_save_last(b->to->saves, depth)
                                                            : NULL;
    const struct ab_block_state *block = &b->slots[slot];
    return save != NULL && ab_tape_is_live(b, slot, NULL) && block->born_lane == b->lane &&
           block->born_save >= save->id;
}

void ab_tape_forget_mark(struct ab_tape_builder *b, uint32_t depth)
{
    if (b->to->saves != NULL)
        ab_save_end(b->to->saves, depth);
}

/* True if these are all blocks that are younger than the last save point. */
static bool is_all_since(const struct ab_tape_builder *b, uint32_t depth, const uint32_t *slots,
                         uint32_t n)
{
    const struct ab_save_point *save = ab_save_last(b->to->saves, depth);
    bool is_all = save != NULL && save->n_live[0] == n;
    for (uint32_t i = 0; i < n && is_all; i++)
        is_all = ab_tape_is_younger(b, depth, slots[i]);
    return is_all;
}

/* Records a release: the stretch continues from its length at the save point. */
static void note_release(struct ab_tape_builder *b, const struct ab_save_point *save)
{
    uint64_t at = b->tape.facts.total_bytes - save->bytes;
    b->to->ops[save->at] |= (uint64_t)AB_RESET_RELEASE << 4;
    if (b->n_lanes > 1)
        return;
    note_stretch(b);
    b->reset_at_bytes = at > b->reset_at_bytes ? at : b->reset_at_bytes;
}

enum ab_status ab_tape_release(struct ab_tape_builder *b, uint32_t depth, const uint32_t *slots,
                               uint32_t n, bool *is_one, struct ab_err *err)
{
    bool is_bulk = n == b->live_blocks && n > 0, has_mark = depth != 0;
    bool is_all = has_mark && is_all_since(b, depth, slots, n);
    *is_one = is_bulk || (is_all && (n > 0 || ab_save_last(b->to->saves, depth)->used != 0));
    if (n == 0 && !*is_one)
        return AB_OK;
    if (!has_mark)
        return ab_tape_reset(b, slots, n, err);
    uint32_t flags = AB_RESET_MAKE(0, depth);
    if (is_all) {
        if (!is_bulk || b->n_lanes > 1) { /* with one lane a bulk reset needs no save point */
            note_release(b, ab_save_last(b->to->saves, depth));
            flags |= AB_RESET_RELEASE;
        }
    }
    return push_reset(b, flags, slots, n, err);
}

enum ab_status ab_tape_await(struct ab_tape_builder *b, uint32_t slot, struct ab_err *err)
{
    if (!ab_tape_is_live(b, slot, NULL))
        return ab_fail(err, AB_INPUT, "slot %u is not live", slot);
    note_wait(b, &b->slots[slot]);
    return AB_OK;
}

void ab_tape_note_no_op_free(struct ab_tape_builder *b)
{
    b->tape.no_op_frees++;
}

void ab_tape_set_window(struct ab_tape_builder *b, uint32_t window, bool always)
{
    b->window = window;
    b->is_window_always = always;
}

void ab_tape_group(struct ab_tape_builder *b, uint32_t group)
{
    b->has_groups = b->has_groups || b->n_pushed == 0;
    b->group = (uint8_t)group;
}

void ab_tape_set_lanes(struct ab_tape_builder *b, uint32_t n_lanes)
{
    if (n_lanes > b->n_lanes && n_lanes <= AB_LANES_MAX)
        b->n_lanes = n_lanes;
}

/* ---- digest of a tape: SHA-256 over sums of its parts ---- */

static uint32_t lane_start(const struct ab_tape_builder *b, uint32_t phase, uint32_t lane)
{
    return phase < b->tape.n_phases ? b->starts[(size_t)phase * AB_LANES_MAX + lane]
                                    : (uint32_t)b->lanes[lane].n;
}

/* Adds long data as its 128-bit XXH3, because SHA-256 of every op would take longer than making the
 * tape. */
static void digest_long(SHA2_CTX *sha, const void *p, size_t bytes)
{
    XXH128_canonical_t sum;
    XXH128_canonicalFromHash(&sum, XXH3_128bits(p, bytes));
    SHA256Update(sha, sum.digest, sizeof sum.digest);
}

static void digest_lanes(SHA2_CTX *sha, const struct ab_tape_builder *b)
{
    SHA256Update(sha, (const uint8_t *)&b->n_lanes, sizeof b->n_lanes);
    for (uint32_t p = 0; p <= b->tape.n_phases; p++)
        for (uint32_t l = 0; l < b->n_lanes; l++) {
            uint32_t start = lane_start(b, p, l);
            SHA256Update(sha, (const uint8_t *)&start, sizeof start);
        }
    digest_long(sha, b->tape.turns, b->tape.n_turns * sizeof b->tape.turns[0]);
}

/* Adds the ends of threads; adds nothing for work whose threads do not end. */
static void digest_thread_ends(SHA2_CTX *sha, const struct ab_tape_builder *b)
{
    for (uint32_t l = 0; l < b->n_lanes; l++)
        for (size_t i = 0; i < b->lanes[l].places[AB_PLACE_THREAD_END].n; i++) {
            const struct ab_lane_place *end = &b->lanes[l].places[AB_PLACE_THREAD_END].items[i];
            const uint32_t fields[4] = {end->phase, l, end->op, b->tape.phases[end->phase].renew};
            SHA256Update(sha, (const uint8_t *)fields, sizeof fields);
        }
}

static void digest_times(SHA2_CTX *sha, const struct ab_tape_builder *b)
{
    for (uint32_t i = 0; i < b->tape.n_steps && b->is_time_work; i++) {
        const struct ab_time_step *s = &b->tape.steps[i];
        const uint64_t fields[4] = {s->position, s->flags, s->phase, s->time_ns};
        SHA256Update(sha, (const uint8_t *)fields, sizeof fields);
    }
}

/* Computes tape.digest. Works field by field, so that neither padding nor a change of a struct
 * affects the digest. Runs before the lanes are laid out, so that the window does not affect it
 * either. */
static void tape_take_digest(struct ab_tape_builder *b)
{
    struct ab_tape *tape = &b->tape;
    SHA2_CTX sha;
    SHA256Init(&sha);
    uint32_t begin = 0;
    for (uint32_t i = 0; i < tape->n_phases; i++) {
        const struct ab_phase *p = &tape->phases[i];
        uint32_t head[3] = {begin, begin, p->is_measured};
        for (uint32_t l = 0; l < b->n_lanes; l++)
            head[1] += lane_start(b, i + 1, l) - lane_start(b, i, l);
        begin = head[1];
        SHA256Update(&sha, (const uint8_t *)p->name, strlen(p->name) + 1);
        SHA256Update(&sha, (const uint8_t *)head, sizeof head);
    }
    for (uint32_t l = 0; l < b->n_lanes; l++)
        digest_long(&sha, b->lanes[l].ops, b->lanes[l].n * sizeof(uint64_t));
    for (uint32_t i = 0; i < tape->n_wide; i++) {
        const struct ab_wide *w = &tape->wide[i];
        uint64_t fields[5] = {w->size, w->align, w->slot, w->code, w->flags};
        SHA256Update(&sha, (const uint8_t *)fields, sizeof fields);
    }
    if (b->n_lanes > 1)
        digest_lanes(&sha, b);
    digest_thread_ends(&sha, b);
    digest_times(&sha, b);
    SHA256End(&sha, tape->sha256);
}

/* Moves the lanes' groups to the tape. */
static void keep_groups(struct ab_tape_builder *b)
{
    if (!b->has_groups)
        return;
    b->tape.groups = ab_alloc_zeroed(b->n_lanes, sizeof b->tape.groups[0]);
    for (uint32_t l = 0; l < b->n_lanes; l++) {
        b->tape.groups[l] = b->lanes[l].groups;
        b->lanes[l].groups = NULL;
    }
}

static enum ab_status finish(struct ab_tape_builder *b, struct ab_err *err)
{
    if (b->n_pushed == 0)
        return ab_fail(err, AB_INPUT, "it contains no ops");
    b->tape.facts.lanes = b->n_lanes;
    b->tape.live_end_blocks = b->live_blocks;
    b->tape.live_end_bytes = b->live_bytes;
    AB_TRY(ab_tape_time(b, b->tape.duration_ns, 0, err));
    tape_take_digest(b);
    enum ab_status status = ab_tape_lay_down(b, err);
    note_stretch(b); /* after laying out, which may forbid resets */
    return status;
}

enum ab_status ab_tape_cut(struct ab_tape_builder *b, const struct ab_tape **out,
                           struct ab_err *err)
{
    AB_TRY(finish(b, err));
    b->is_cut = true;
    *out = &b->tape;
    return AB_OK;
}

enum ab_status ab_tape_end(struct ab_tape_builder *b, struct ab_tape *out, struct ab_err *err)
{
    enum ab_status status = finish(b, err);
    if (status == AB_OK) {
        keep_groups(b);
        *out = b->tape;
        b->tape = (struct ab_tape){0};
    }
    ab_tape_abandon(b);
    return status;
}

/* Combines digests: a single burst keeps its own; several are hashed together. */
static void add_digest(struct ab_tape *total, const struct ab_tape *burst)
{
    char both[2 * SHA256_DIGEST_STRING_LENGTH];
    if (total->sha256[0] == 0) {
        strcpy(total->sha256, burst->sha256);
        return;
    }
    strcpy(both, total->sha256);
    strcat(both, burst->sha256);
    SHA256Data((const uint8_t *)both, strlen(both), total->sha256);
}

static void add_phase(struct ab_phase *phase, const struct ab_phase *more, uint32_t n_before)
{
    bool has_some = phase->begin < phase->end, adds_some = more->begin < more->end;
    for (unsigned k = 0; k < AB_OP_KIND_COUNT; k++)
        phase->n_ops[k] += more->n_ops[k];
    phase->n_touches += more->n_touches;
    phase->touched_pages += more->touched_pages;
    phase->n_iterations += more->n_iterations;
    phase->n_thread_ends += more->n_thread_ends;
    /* for a phase without ops: the position where its ops would be */
    if (adds_some || (!has_some && more->begin > 0))
        phase->end = n_before + more->end;
    if (!has_some)
        phase->begin = phase->end - (more->end - more->begin);
}

void ab_tape_total_add(struct ab_tape *total, const struct ab_tape *burst)
{
    add_digest(total, burst);
    for (uint32_t i = 0; i < burst->n_phases; i++)
        add_phase(&total->phases[i], &burst->phases[i], total->n_ops);
    total->n_ops += burst->n_ops;
    total->n_edges += burst->n_edges;
    total->n_remote += burst->n_remote;
    total->facts = burst->facts;
    total->stretch_bytes = burst->stretch_bytes;
    total->n_sized_frees = burst->n_sized_frees;
    total->n_trims = burst->n_trims;
    total->longest_walk = burst->longest_walk;
    total->n_slots = burst->n_slots;
    if (burst->window != 0 && (total->window == 0 || burst->window < total->window))
        total->window = burst->window;
    total->live_end_blocks = burst->live_end_blocks;
    total->live_end_bytes = burst->live_end_bytes;
    total->no_op_frees = burst->no_op_frees;
    total->duration_ns = burst->duration_ns;
    total->idle_ns = burst->idle_ns;
    total->n_idle = burst->n_idle;
}

/* ---- queries while a tape is built ---- */

void ab_tape_prefetch(const struct ab_tape_builder *b, uint32_t slot)
{
    if (slot < b->cap_slots)
        __builtin_prefetch(&b->slots[slot], 1);
}

bool ab_tape_is_live(const struct ab_tape_builder *b, uint32_t slot, uint64_t *size)
{
    if (slot >= b->cap_slots || !b->slots[slot].is_live)
        return false;
    if (size != NULL)
        *size = b->slots[slot].size;
    return true;
}

uint64_t ab_tape_ops(const struct ab_tape *tape)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < tape->n_phases; i++)
        n += ab_phase_ops(&tape->phases[i]);
    return n;
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

uint64_t ab_tape_live_blocks(const struct ab_tape_builder *b)
{
    return b->live_blocks;
}

uint64_t ab_tape_bytes(const struct ab_tape_builder *b)
{
    return b->n_pushed * sizeof(uint64_t) + b->tape.n_wide * sizeof(struct ab_wide) +
           (b->n_lanes > 1 ? b->tape.n_turns * sizeof(struct ab_turn) : 0);
}
