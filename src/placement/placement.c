/* SPDX-License-Identifier: MIT
 *
 * Writes a placement to a file that workers map, burst by burst during the walk over the tape.
 * Writes the heap of each op to another file for the parent.
 */
#include "placement/placement.h"

#include "base/bits.h"
#include "base/save_points.h"
#include "core/alloc.h"

#include <sha2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct lane_stretches { /* stretches of a lane in a burst's part of the file; owned */
    uint8_t *choices;
    size_t n_choices, cap_choices;
    uint16_t *resets;
    size_t n_resets, cap_resets;
    struct ab_save_points *saves; /* save points of the lane, owned; NULL until it takes one */
};

struct
    heap_lives { /* lives of a heap in a burst: frees between two moments when it is empty; owned */
    uint32_t *frees;
    size_t n, cap;
    uint64_t since; /* number of frees since the heap was last empty */
    bool is_unsure; /* True if the number of frees depends on refused requests */
};

struct block_of_slot { /* the block in a slot */
    uint64_t size;
    uint32_t lane;
    uint32_t born_save; /* save points that `lane` had taken at its birth (ab_save_born()) */
    uint8_t heap, origin;
};

struct walk { /* begins as {0} */
    /* The next fields are about the burst walked last. */
    struct lane_stretches *lanes; /* stretches of each lane of the tape; owned */
    struct heap_lives lives[AB_PLACEMENT_HEAPS_MAX];
    uint8_t *heap_of; /* heap of each op of the burst, as heap_of in struct ab_placement; owned */
    /* The next fields are sums over all bursts so far. */
    struct ab_placement_heap heaps[AB_PLACEMENT_HEAPS_MAX];
    /* number of requests that each rule decided */
    uint64_t n_requests[AB_PLACEMENT_RULES_MAX];
    struct ab_placement_use (*uses)[AB_PLACEMENT_HEAPS_MAX]; /* as in struct ab_placement; owned */
    /* The next fields are the state of the walk. */
    const struct ab_placement_plan *plan;
    const struct ab_tape_image *image;
    uint8_t *const *groups;
    struct ab_tape_part tape;
    struct block_of_slot *blocks; /* the block in each slot; owned */
    uint64_t live_blocks[AB_PLACEMENT_HEAPS_MAX], live_bytes[AB_PLACEMENT_HEAPS_MAX];
    uint8_t shown[AB_PLACEMENT_HEAPS_MAX]; /* as in struct ab_placement */
    struct ab_placement_use *use;          /* use of each heap in the current phase */
    bool is_user[AB_PLACEMENT_HEAPS_MAX][AB_LANES_MAX];
    bool may_reset; /* True if only one lane works in the current phase */
    size_t n_born;  /* allocations so far, including refused ones */
};

/* Returns the length of a heap's name without the "#1" or "#2" of alternating heaps. */

int ab_placement_shown_name(const char *name)
{
    size_t n = strlen(name);
    bool is_twin = n > 2 && name[n - 2] == '#' && (name[n - 1] == '1' || name[n - 1] == '2');
    return (int)(is_twin ? n - 2 : n);
}

static uint32_t first_of_name(const struct ab_placement_heap *heaps, uint32_t h)
{
    int n = ab_placement_shown_name(heaps[h].name);
    uint32_t first = 0;
    while (ab_placement_shown_name(heaps[first].name) != n ||
           strncmp(heaps[first].name, heaps[h].name, (size_t)n) != 0)
        first++;
    return first;
}

uint32_t ab_placement_shown(const struct ab_placement_heap *heaps, uint32_t h)
{
    uint32_t first = first_of_name(heaps, h), rank = 0;
    for (uint32_t i = 0; i < first; i++)
        rank += first_of_name(heaps, i) == i;
    return rank;
}

/* True if the rule matches the request with the values x and the origin. A resize has the origin of
 * its block's birth. */
static bool fits(const struct ab_placement_rule *rule, const uint64_t x[AB_PLACEMENT_RANGES],
                 uint8_t origin)
{
    for (unsigned r = 0; r < AB_PLACEMENT_RANGES; r++)
        if (rule->ranges[r].is_asked &&
            (x[r] < rule->ranges[r].least || x[r] > rule->ranges[r].most))
            return false;
    return (!rule->asks_scope || (origin & AB_ORIGIN_SCOPED) != 0) &&
           (!rule->asks_site || (rule->classes >> (origin & AB_ORIGIN_CLASS) & 1) != 0);
}

static uint8_t choose(struct walk *w, uint32_t lane, const struct ab_op_view *op, uint8_t origin)
{
    const struct ab_placement_rule *rule = w->plan->rules, *last = rule + w->plan->n_rules - 1;
    const uint64_t x[AB_PLACEMENT_RANGES] = {
        [AB_PLACEMENT_GROUP] = w->groups != NULL ? w->groups[lane][w->lanes[lane].n_choices] : 0,
        [AB_PLACEMENT_SIZE] = op->size,
        [AB_PLACEMENT_LANE] = lane,
    };
    while (rule < last && !fits(rule, x, origin))
        rule++;
    w->n_requests[rule - w->plan->rules] += (op->flags & AB_WIDE_MAY_FAIL) == 0;
    return (uint8_t)((origin & AB_ORIGIN_ODD) != 0 ? rule->odd_heap : rule->heap);
}

static void note_call(struct walk *w, const uint64_t *word, int kind, uint8_t heap)
{
    w->heap_of[word - w->tape.ops] = heap;
    if (heap != AB_PLACEMENT_NO_HEAP)
        w->use[heap].n_calls[kind]++;
}

static void note_user(struct walk *w, uint32_t heap, uint32_t lane)
{
    w->heaps[heap].n_lanes += !w->is_user[heap][lane];
    w->is_user[heap][lane] = true;
}

/* Adds a request to the facts of the heap that serves it. */
static void note_request(struct ab_facts *f, const struct ab_op_view *op)
{
    if ((op->flags & AB_WIDE_MAY_FAIL) != 0)
        return;
    f->total_blocks++;
    if (__builtin_add_overflow(f->total_bytes, op->size, &f->total_bytes))
        f->total_bytes = UINT64_MAX;
    if (op->size > f->largest_bytes)
        f->largest_bytes = op->size;
    if (op->align > f->largest_align)
        f->largest_align = op->align;
}

/* Updates the live peak of all heaps of one name. */
static void note_peak(struct walk *w, uint32_t shown)
{
    struct ab_placement_use *use = &w->use[shown];
    uint64_t blocks = 0, bytes = 0;
    for (uint32_t h = 0; h < w->plan->n_heaps; h++)
        if (w->shown[h] == shown) {
            blocks += w->live_blocks[h];
            bytes += w->live_bytes[h];
        }
    if (blocks > use->live_peak_blocks)
        use->live_peak_blocks = blocks;
    if (bytes > use->live_peak_bytes)
        use->live_peak_bytes = bytes;
}

/* Sets the number of save points that are older than the block, after the lane allocates or resizes
 * it. Blocks of other lanes keep theirs. */
static void note_born(struct walk *w, struct block_of_slot *block, uint32_t lane)
{
    struct ab_save_points *saves = w->lanes[lane].saves;
    uint32_t born = saves != NULL ? ab_save_born(saves, block->heap) : 0;
    if (block->lane == lane)
        block->born_save = born;
}

static void note_gone(struct walk *w, const struct block_of_slot *block, uint32_t lane)
{
    struct ab_save_points *saves = w->lanes[lane].saves;
    if (saves != NULL && block->lane == lane)
        ab_save_gone(saves, block->born_save, block->heap);
}

static void put_block(struct walk *w, const struct ab_op_view *op, struct block_of_slot block,
                      uint32_t lane)
{
    uint8_t heap = block.heap;
    struct ab_facts *f = &w->heaps[heap].facts;
    note_born(w, &block, lane);
    w->blocks[op->slot] = block;
    w->live_bytes[heap] += op->size;
    if (++w->live_blocks[heap] > f->live_peak_blocks)
        f->live_peak_blocks = w->live_blocks[heap];
    if (w->live_bytes[heap] > f->live_peak_bytes)
        f->live_peak_bytes = w->live_bytes[heap];
    note_peak(w, w->shown[heap]);
}

/* True if, as far as is known, the worker can tell from the frees alone when the heap is empty, and
 * no other lane has blocks in it. */
static bool may_renew(const struct walk *w, uint32_t heap)
{
    const struct ab_placement_heap *h = &w->heaps[heap];
    return h->renews != 0 && h->n_lanes <= 1 && h->n_remote == 0 && !w->lives[heap].is_unsure;
}

/* Counts a free in a heap that is renewed when empty. */
static void note_free(struct heap_lives *lives, bool is_empty)
{
    if (++lives->since >= AB_PLACEMENT_NEVER)
        lives->is_unsure = true;
    if (!is_empty)
        return;
    AB_GROW(lives->frees, lives->cap, lives->n);
    lives->frees[lives->n++] = (uint32_t)lives->since;
    lives->since = 0;
}

static void forget_heap(struct ab_save_points *saves, uint32_t heap)
{
    for (uint32_t i = 0; saves != NULL && i < saves->n; i++)
        saves->open[i].gone |= 1u << heap;
}

static void drop_block(struct walk *w, const struct block_of_slot *block, uint32_t lane)
{
    struct ab_placement_heap *heap = &w->heaps[block->heap];
    heap->facts.kinds |= 1u << AB_OP_FREE;
    heap->n_remote += block->lane != lane;
    note_gone(w, block, lane);
    note_user(w, block->heap, lane);
    w->live_bytes[block->heap] -= block->size;
    bool is_empty = --w->live_blocks[block->heap] == 0;
    heap->n_lives += is_empty;
    if (is_empty && heap->renews != 0)
        forget_heap(w->lanes[lane].saves, block->heap);
    if (may_renew(w, block->heap))
        note_free(&w->lives[block->heap], is_empty);
}

/* Notes a resize, which is an op of the new heap. If the block comes from another heap, it is an
 * allocation in the new heap and a free in the old one. */
static void resize(struct walk *w, const struct ab_op_view *op, uint8_t heap, uint32_t lane)
{
    struct block_of_slot old = w->blocks[op->slot];
    struct ab_facts *f = &w->heaps[heap].facts;
    f->kinds |= 1u << (heap == old.heap ? AB_OP_RESIZE : AB_OP_ALLOC);
    if (old.size == 0) /* the block may be NULL; then nothing is resized or freed */
        w->lives[heap].is_unsure = true;
    if ((op->flags & AB_WIDE_MAY_FAIL) != 0) { /* a heap that can serve the request has the block
                                                  then */
        w->lives[heap].is_unsure = w->lives[old.heap].is_unsure = true;
        return;
    }
    if (heap == old.heap) {
        w->heaps[heap].n_remote += old.lane != lane;
        w->live_blocks[heap]--;
        w->live_bytes[heap] -= old.size;
        note_gone(w, &old, lane);
        old.size = op->size;
        put_block(w, op, old, lane);
        return;
    }
    put_block(w, op, (struct block_of_slot){op->size, lane, 0, heap, old.origin}, lane);
    drop_block(w, &old, lane);
}

static void request(struct walk *w, const struct ab_op_view *op, const uint64_t *word,
                    uint32_t lane)
{
    struct lane_stretches *to = &w->lanes[lane];
    bool is_resize = op->kind == AB_OP_RESIZE, is_refused = (op->flags & AB_WIDE_MAY_FAIL) != 0;
    size_t born = w->n_born;
    w->n_born += !is_resize;
    uint8_t origin = is_resize                   ? w->blocks[op->slot].origin
                     : born < w->plan->n_origins ? w->plan->origins[born]
                                                 : 0;
    uint8_t heap = choose(w, lane, op, origin);
    AB_GROW(to->choices, to->cap_choices, to->n_choices);
    to->choices[to->n_choices++] = heap;
    note_user(w, heap, lane);
    note_call(w, word, op->kind, w->shown[heap]);
    note_request(&w->heaps[heap].facts, op);
    if (is_resize) {
        resize(w, op, heap, lane);
        return;
    }
    w->heaps[heap].facts.kinds |= 1u << op->kind;
    if (is_refused) /* a heap that served the request frees the block immediately */
        w->lives[heap].is_unsure = true;
    else
        put_block(w, op, (struct block_of_slot){op->size, lane, 0, heap, origin}, lane);
}

/* Counts, per heap, the blocks that the n frees after `op` free. Returns false if another op is
 * among them. */
static bool count_dying(const struct walk *w, const uint64_t *op, uint32_t n,
                        uint64_t dying[AB_PLACEMENT_HEAPS_MAX])
{
    for (uint32_t i = 1; i <= n; i++) {
        if (AB_OP_CODE(op[i]) != AB_CODE_FREE)
            return false;
        dying[w->blocks[AB_OP_SLOT(op[i])].heap]++;
    }
    return true;
}

/* Counts, per heap, those blocks of the op that the lane allocated after the save point. */
static void count_younger(const struct walk *w, const uint64_t *op,
                          const struct ab_save_point *save, uint32_t lane,
                          uint64_t younger[AB_PLACEMENT_HEAPS_MAX])
{
    for (uint32_t i = 1; i <= AB_OP_SIZE(*op); i++) {
        const struct block_of_slot *block = &w->blocks[AB_OP_SLOT(op[i])];
        younger[block->heap] += block->lane == lane && block->born_save >= save->id;
    }
}

/* Sets masks[0] to the heaps that the frees after the op empty. Sets masks[1] to those in which
 * everything younger than the save point dies (`save` NULL = none). Both are 0 unless they cover
 * all heaps that the frees reach. If the op has no frees, masks[1] has the heaps whose younger
 * blocks are all dead. It excludes heaps that were renewed meanwhile, which lost the save point. */
static void find_masks(const struct walk *w, const uint64_t *op, uint32_t lane,
                       const struct ab_save_point *save, uint16_t masks[2])
{
    uint64_t dying[AB_PLACEMENT_HEAPS_MAX] = {0}, younger[AB_PLACEMENT_HEAPS_MAX] = {0};
    masks[0] = masks[1] = 0;
    if (!count_dying(w, op, AB_OP_SIZE(*op), dying))
        return;
    if (save != NULL)
        count_younger(w, op, save, lane, younger);
    for (uint32_t h = 0; h < w->plan->n_heaps; h++) {
        bool is_emptied = dying[h] == w->live_blocks[h];
        bool is_released = save != NULL && dying[h] == younger[h] && dying[h] == save->n_live[h];
        if (dying[h] == 0) {
            if (save != NULL && AB_OP_SIZE(*op) == 0 && save->n_live[h] == 0)
                masks[1] |= (uint16_t)(save->used & ~save->gone & 1u << h);
            continue;
        }
        if (!is_emptied && !is_released) {
            masks[0] = masks[1] = 0;
            return;
        }
        masks[!is_emptied] |= (uint16_t)(1u << h);
    }
}

static void add_mask(struct lane_stretches *to, uint16_t mask)
{
    AB_GROW(to->resets, to->cap_resets, to->n_resets);
    to->resets[to->n_resets++] = mask;
}

/* Ends open scopes from `least_depth` on. Scopes that ended without frees are still open when an
 * outer one ends or another begins. */
static void end_scopes(struct ab_save_points *saves, uint32_t least_depth)
{
    while (saves->n > 0 && saves->open[saves->n - 1].depth >= least_depth)
        ab_save_end(saves, saves->open[saves->n - 1].depth);
}

static void note_mark(struct lane_stretches *to, uint32_t depth)
{
    if (to->saves == NULL)
        to->saves = ab_alloc_zeroed(1, sizeof *to->saves);
    struct ab_save_points *saves = to->saves;
    end_scopes(saves, depth);
    struct ab_save_point *save = ab_save_begin(saves, to->n_resets);
    if (save != NULL)
        save->depth = depth;
    add_mask(to, 0);
}

static void note_reset(struct walk *w, const uint64_t *op, uint32_t lane)
{
    struct lane_stretches *to = &w->lanes[lane];
    uint32_t depth = AB_RESET_DEPTH(AB_OP_SLOT(*op));
    uint16_t masks[2] = {0, 0};
    if (ab_op_is_mark(*op)) {
        note_mark(to, depth);
        return;
    }
    if (AB_OP_SIZE(*op) == 0 && depth == 0)
        return;
    struct ab_save_point *save = NULL;
    if (depth != 0) {
        end_scopes(to->saves, depth + 1);
        save = ab_save_last(to->saves, depth);
    }
    if (w->may_reset)
        find_masks(w, op, lane, save, masks);
    if (save != NULL)
        to->resets[save->at] |= masks[1];
    add_mask(to, masks[0]);
    if (depth != 0)
        add_mask(to, masks[1]);
}

/* Returns the single heap of the n blocks freed after the op; AB_PLACEMENT_NO_HEAP if there are
 * several. */
static uint8_t heap_of_reset(const struct walk *w, const uint64_t *op, uint32_t n)
{
    uint8_t heap = w->plan->n_heaps == 1 ? w->shown[0] : AB_PLACEMENT_NO_HEAP; /* even if n is 0 */
    for (uint32_t i = 1; i <= n; i++) {
        if (AB_OP_CODE(op[i]) != AB_CODE_FREE) /* the free waits for another lane, so it is not
                                                  in bulk */
            return AB_PLACEMENT_NO_HEAP;
        uint8_t h = w->shown[w->blocks[AB_OP_SLOT(op[i])].heap];
        if (i > 1 && h != heap)
            return AB_PLACEMENT_NO_HEAP;
        heap = h;
    }
    return heap;
}

static void walk_op(struct walk *w, const uint64_t *word, uint32_t lane)
{
    struct ab_op_view op = ab_op_decode(*word, w->tape.wide);
    if (ab_op_is_mark(*word)) {
        note_reset(w, word, lane);
        return;
    }
    switch (op.kind) {
    case AB_OP_ALLOC:
    case AB_OP_ALLOC_ZEROED:
    case AB_OP_ALLOC_ALIGNED:
    case AB_OP_RESIZE:
        request(w, &op, word, lane);
        break;
    case AB_OP_FREE:
        note_call(w, word, op.kind, w->shown[w->blocks[op.slot].heap]);
        drop_block(w, &w->blocks[op.slot], lane);
        break;
    case AB_OP_ACCESS:
        note_call(w, word, op.kind, w->shown[w->blocks[op.slot].heap]);
        w->heaps[w->blocks[op.slot].heap].facts.kinds |= 1u << AB_OP_ACCESS;
        break;
    case AB_OP_RESET:
        note_call(w, word, op.kind, heap_of_reset(w, word, (uint32_t)op.size));
        note_reset(w, word, lane);
        break;
    default:
        break;
    }
}

static void walk_phase(struct walk *w, uint32_t index)
{
    const struct ab_phase *phase = &w->tape.phases[index];
    const uint32_t *begin = &w->tape.lane_begin[(size_t)index * w->image->n_lanes];
    uint32_t at[AB_LANES_MAX], n_busy = 0;
    w->use = w->uses[index];
    for (uint32_t h = 0; h < w->plan->n_heaps; h++)
        note_peak(w, w->shown[h]); /* blocks left by the previous phase */
    for (uint32_t l = 0; l < w->image->n_lanes; l++) {
        at[l] = begin[l];
        n_busy += begin[l + 1] > begin[l];
        if (w->lanes[l].saves != NULL)
            w->lanes[l].saves->n = 0; /* scopes end with their phase */
    }
    w->may_reset = n_busy < 2;
    if (w->image->n_lanes == 1)
        while (at[0] < begin[1])
            walk_op(w, &w->tape.ops[at[0]++], 0);
    for (uint32_t t = phase->turns_begin; t < phase->turns_end; t++) {
        const struct ab_turn *turn = &w->tape.turns[t];
        for (uint32_t n = turn->n; n > 0; at[turn->lane]++) {
            n -= !ab_op_is_guard(w->tape.ops[at[turn->lane]]);
            walk_op(w, &w->tape.ops[at[turn->lane]], turn->lane);
        }
    }
}

static void name_heaps(struct walk *w)
{
    for (uint32_t h = 0; h < w->plan->n_heaps; h++) {
        w->heaps[h] = w->plan->heaps[h];
        w->heaps[h].facts.lanes = w->image->n_lanes;
        w->shown[h] = (uint8_t)ab_placement_shown(w->plan->heaps, h);
    }
}

static uint32_t most_ops(const struct ab_tape_image *image)
{
    uint32_t most = 0;
    for (uint32_t b = 0; b < image->n_bursts; b++)
        if (ab_tape_burst(image, b)->n_ops > most)
            most = ab_tape_burst(image, b)->n_ops;
    return most;
}

/* Begins a walk. It borrows `plan`, `tape` and `groups` (which only a tape of one burst has). Call
 * free_walk() in any case. */
static void begin_walk(struct walk *w, const struct ab_placement_plan *plan,
                       const struct ab_tape_image *tape, uint8_t *const *groups)
{
    w->plan = plan;
    w->image = tape;
    w->groups = groups;
    w->blocks = ab_alloc_zeroed(tape->n_slots + 1u, sizeof w->blocks[0]);
    w->lanes = ab_alloc_zeroed(tape->n_lanes, sizeof w->lanes[0]);
    w->uses = ab_alloc_zeroed(tape->n_phases + 1u, sizeof w->uses[0]);
    w->heap_of = ab_alloc(most_ops(tape) + 1u);
    name_heaps(w);
}

static void end_lives(struct heap_lives *lives)
{
    AB_GROW(lives->frees, lives->cap, lives->n);
    lives->frees[lives->n] = AB_PLACEMENT_NEVER;
}

/* Walks one burst; bursts come in their order. The last life of a heap that may be renewed is
 * AB_PLACEMENT_NEVER. */
static void walk_burst(struct walk *w, uint32_t burst)
{
    w->tape = ab_tape_part(w->image, burst);
    memset(w->heap_of, AB_PLACEMENT_NO_HEAP, w->tape.n_ops);
    for (uint32_t l = 0; l < w->image->n_lanes; l++)
        w->lanes[l].n_choices = w->lanes[l].n_resets = 0;
    for (uint32_t h = 0; h < w->plan->n_heaps; h++)
        w->lives[h].n = w->lives[h].since = 0;
    for (uint32_t p = 0; p < w->image->n_phases; p++)
        walk_phase(w, p);
    for (uint32_t h = 0; h < w->plan->n_heaps; h++)
        if (w->heaps[h].renews != 0)
            end_lives(&w->lives[h]);
}

/* Opens the heap for one lane if only one uses it, because a program with a heap for one thread
 * takes no lock either. */
static void narrow(struct ab_placement_heap *h)
{
    h->narrows = h->narrows != 0 && h->n_lanes <= 1 && h->n_remote == 0;
    if (h->narrows != 0)
        h->facts.lanes = 1;
}

/* Ends the walk after the last burst and decides which heaps are renewed. Fails with AB_INPUT if
 * the origins belong to other work. */
static enum ab_status end_walk(struct walk *w, struct ab_err *err)
{
    for (uint32_t h = 0; h < w->plan->n_heaps; h++) {
        if (w->heaps[h].n_lives == 0 || !may_renew(w, h))
            w->heaps[h].renews = 0;
        narrow(&w->heaps[h]);
    }
    bool is_all = w->n_born == w->plan->n_origins;
    if (w->plan->origins != NULL && !is_all &&
        (!w->plan->is_part || w->n_born > w->plan->n_origins))
        return ab_fail(err, AB_INPUT, "the file has changed since it was read");
    return AB_OK;
}

static void free_walk(struct walk *w)
{
    for (uint32_t l = 0; w->lanes != NULL && l < w->image->n_lanes; l++) {
        free(w->lanes[l].choices);
        free(w->lanes[l].resets);
        free(w->lanes[l].saves);
    }
    free(w->lanes);
    for (uint32_t h = 0; h < AB_PLACEMENT_HEAPS_MAX; h++)
        free(w->lives[h].frees);
    free(w->heap_of);
    free(w->uses);
    free(w->blocks);
    *w = (struct walk){0};
}

enum { PAGE = 4096, ROW = 64, DIGESTED = 16 << 20 };

struct making {
    struct walk walk;
    struct ab_placement_image image;
    struct ab_shared_file file, heap_of;
    uint64_t *parts;   /* owned */
    uint64_t *offsets; /* offsets of a part's stretches; owned */
};

/* Returns the layout of the image; the parts follow it. */
static struct ab_placement_image plan_image(uint32_t n_heaps, const struct ab_tape_image *tape,
                                            uint64_t *end)
{
    struct ab_placement_image image = {.magic = AB_PLACEMENT_MAGIC,
                                       .size = sizeof image,
                                       .n_heaps = n_heaps,
                                       .n_lanes = tape->n_lanes,
                                       .n_bursts = tape->n_bursts};
    image.heaps_offset = ab_align_up(sizeof image, ROW);
    image.parts_offset = ab_align_up(
        image.heaps_offset + n_heaps * sizeof(struct ab_placement_heap), ROW);
    *end = image.parts_offset + tape->n_bursts * sizeof(uint64_t);
    return image;
}

static enum ab_status begin(struct making *m, const struct ab_placement_plan *plan,
                            const struct ab_tape_map *tape, uint8_t *const *groups,
                            struct ab_err *err)
{
    bool is_held = tape->image->n_bursts == 1;
    uint64_t end;
    m->image = plan_image(plan->n_heaps, tape->image, &end);
    m->parts = ab_alloc_zeroed(tape->image->n_bursts, sizeof m->parts[0]);
    m->offsets = ab_alloc_zeroed(ab_placement_part_offsets(&m->image), sizeof m->offsets[0]);
    begin_walk(&m->walk, plan, tape->image, groups);
    AB_TRY(ab_shared_file_begin(is_held, "the placement", end, &m->file, err));
    return ab_shared_file_begin(is_held, "the placement", 0, &m->heap_of, err);
}

static enum ab_status add_stretches(struct making *m, uint32_t n_lanes, struct ab_err *err)
{
    uint64_t *offset = m->offsets;
    for (uint32_t l = 0; l < n_lanes; l++) {
        const struct lane_stretches *lane = &m->walk.lanes[l];
        AB_TRY(ab_shared_file_append(&m->file, lane->choices, lane->n_choices, ROW, offset++, err));
    }
    for (uint32_t l = 0; l < n_lanes; l++) {
        const struct lane_stretches *lane = &m->walk.lanes[l];
        AB_TRY(ab_shared_file_append(&m->file, lane->resets,
                                     lane->n_resets * sizeof lane->resets[0], ROW, offset++, err));
    }
    for (uint32_t h = 0; h < m->image.n_heaps; h++) {
        const struct heap_lives *lives = &m->walk.lives[h];
        size_t n = m->walk.heaps[h].renews != 0 ? lives->n + 1 : 0;
        AB_TRY(ab_shared_file_append(&m->file, lives->frees, n * sizeof lives->frees[0], ROW,
                                     offset++, err));
    }
    return AB_OK;
}

static enum ab_status add_burst(struct making *m, const struct ab_tape_image *tape, uint32_t burst,
                                struct ab_err *err)
{
    size_t n = ab_placement_part_offsets(&m->image) * sizeof m->offsets[0];
    uint64_t at = m->parts[burst] = ab_align_up(m->file.end, PAGE), heap_of_at;
    walk_burst(&m->walk, burst);
    m->file.end = at + n;
    AB_TRY(add_stretches(m, tape->n_lanes, err));
    AB_TRY(ab_shared_file_write(&m->file, at, m->offsets, n, err));
    if (m->file.end - at > m->image.most_bytes)
        m->image.most_bytes = ab_align_up(m->file.end - at, PAGE);
    AB_TRY(ab_shared_file_append(&m->heap_of, m->walk.heap_of, m->walk.tape.n_ops, 1, &heap_of_at,
                                 err));
    ab_shared_file_push(&m->file, at);
    ab_shared_file_push(&m->heap_of, heap_of_at);
    ab_tape_burst_forget(tape, burst);
    return AB_OK;
}

static enum ab_status protect(struct ab_shared_file *file, struct ab_placement_image *image,
                              struct ab_placement *out, struct ab_err *err)
{
    const void *p;
    AB_TRY(ab_shared_file_write(file, 0, image, sizeof *image, err));
    AB_TRY(ab_shared_file_protect(file, image->total_bytes, err));
    AB_TRY(ab_shared_file_map(file, image->total_bytes, &out->fd, &p, err));
    out->image = p;
    return AB_OK;
}

/* Maps heap_of, which only the parent reads. */
static enum ab_status map_heap_of(struct making *m, struct ab_placement *out, struct ab_err *err)
{
    uint64_t n = m->heap_of.end > 0 ? m->heap_of.end : 1; /* a mapping cannot be empty */
    const void *p;
    int fd;
    AB_TRY(ab_shared_file_protect(&m->heap_of, n, err));
    AB_TRY(ab_shared_file_map(&m->heap_of, n, &fd, &p, err));
    close(fd);
    out->heap_of = p;
    out->n_bytes = n;
    return AB_OK;
}

/* Copies the fields that a null heap shares, and clears all others. */
static void fill_null(const struct ab_placement_heap *heap, struct ab_placement_heap *null)
{
    memset(null, 0, sizeof *null);
    null->source = AB_SOURCE_BUILTIN;
    null->n_lanes = heap->n_lanes;
    null->n_remote = heap->n_remote;
    strcpy(null->name, "null");
    strcpy(null->builtin, "null");
    null->facts = heap->facts;
    null->renews = heap->renews;
    null->inlined = heap->inlined;
    null->n_lives = heap->n_lives;
}

/* Digests the parts that a null placement uses, one stretch at a time. */
static void digest(const struct ab_placement_image *of, char sha256[65])
{
    struct ab_placement_image image = *of;
    const uint8_t *file = (const uint8_t *)of;
    SHA2_CTX sha;
    SHA256Init(&sha);
    image.is_null = 1;
    SHA256Update(&sha, (const uint8_t *)&image, sizeof image);
    for (uint32_t h = 0; h < of->n_heaps; h++) {
        struct ab_placement_heap heap;
        fill_null(ab_placement_heap_at(of, h), &heap);
        SHA256Update(&sha, (const uint8_t *)&heap, sizeof heap);
    }
    for (uint64_t at = of->parts_offset, next; at < of->total_bytes; at = next) {
        next = ab_align_up(at + 1, DIGESTED);
        next = next < of->total_bytes ? next : of->total_bytes;
        SHA256Update(&sha, file + at, next - at);
        if (of->n_bursts > 1)
            madvise((void *)(file + (at & ~(uint64_t)(PAGE - 1))), next - at, MADV_DONTNEED);
    }
    SHA256End(&sha, sha256);
}

static enum ab_status end(struct making *m, struct ab_placement *out, struct ab_err *err)
{
    struct ab_placement_image *image = &m->image;
    AB_TRY(end_walk(&m->walk, err));
    AB_TRY(ab_shared_file_write(&m->file, image->heaps_offset, m->walk.heaps,
                                image->n_heaps * sizeof m->walk.heaps[0], err));
    AB_TRY(ab_shared_file_write(&m->file, image->parts_offset, m->parts,
                                image->n_bursts * sizeof m->parts[0], err));
    image->total_bytes = m->parts[image->n_bursts - 1] + image->most_bytes;
    AB_TRY(protect(&m->file, image, out, err));
    AB_TRY(map_heap_of(m, out, err));
    digest(out->image, out->sha256);
    memcpy(out->n_requests, m->walk.n_requests, sizeof out->n_requests);
    out->uses = m->walk.uses;
    m->walk.uses = NULL;
    return AB_OK;
}

enum ab_status ab_placement_make(const struct ab_placement_plan *plan,
                                 const struct ab_tape_map *tape, uint8_t *const *groups,
                                 struct ab_placement *out, struct ab_err *err)
{
    struct making *m = ab_alloc_zeroed(1, sizeof *m);
    *out = (struct ab_placement){0};
    enum ab_status status = begin(m, plan, tape, groups, err);
    for (uint32_t b = 0; b < tape->image->n_bursts && status == AB_OK; b++)
        status = add_burst(m, tape->image, b, err);
    if (status == AB_OK)
        status = end(m, out, err);
    if (status != AB_OK)
        ab_placement_close(out);
    free_walk(&m->walk);
    ab_shared_file_abandon(&m->file);
    ab_shared_file_abandon(&m->heap_of);
    free(m->parts);
    free(m->offsets);
    free(m);
    return status;
}

/* Copies the parts one by one, so that only one is in memory at a time. */
static enum ab_status copy_parts(const struct ab_placement *of, struct ab_shared_file *file,
                                 struct ab_err *err)
{
    const struct ab_placement_image *image = of->image;
    const char *from = (const char *)image;
    uint64_t at = image->parts_offset, end = at + image->n_bursts * sizeof(uint64_t);
    AB_TRY(ab_shared_file_write(file, at, from + at, end - at, err));
    for (uint32_t b = 0; b < image->n_bursts; b++) {
        at = ab_placement_part(image, b);
        end = b + 1 < image->n_bursts ? ab_placement_part(image, b + 1) : image->total_bytes;
        AB_TRY(ab_shared_file_write(file, at, from + at, end - at, err));
        if (image->n_bursts > 1)
            madvise((char *)image + at, end - at, MADV_DONTNEED);
    }
    return AB_OK;
}

static enum ab_status copy_as_null(const struct ab_placement *of, struct ab_shared_file *file,
                                   struct ab_placement *out, struct ab_err *err)
{
    struct ab_placement_image image = *of->image;
    image.is_null = 1;
    AB_TRY(copy_parts(of, file, err));
    for (uint32_t h = 0; h < image.n_heaps; h++) {
        struct ab_placement_heap heap;
        fill_null(ab_placement_heap_at(of->image, h), &heap);
        AB_TRY(ab_shared_file_write(file, image.heaps_offset + h * sizeof heap, &heap, sizeof heap,
                                    err));
    }
    return protect(file, &image, out, err);
}

enum ab_status ab_placement_make_null(const struct ab_placement *of, struct ab_placement *out,
                                      struct ab_err *err)
{
    struct ab_shared_file file = {0};
    *out = (struct ab_placement){0};
    AB_TRY(ab_shared_file_begin(of->image->n_bursts == 1, "the placement", of->image->total_bytes,
                                &file, err));
    enum ab_status status = copy_as_null(of, &file, out, err);
    ab_shared_file_abandon(&file);
    return status;
}

void ab_placement_forget(const struct ab_placement *placement)
{
    if (placement->image->n_bursts > 1 && placement->heap_of != NULL)
        madvise((void *)placement->heap_of, placement->n_bytes, MADV_DONTNEED);
}

void ab_placement_close(struct ab_placement *placement)
{
    if (placement->image == NULL)
        return;
    munmap((void *)placement->image, placement->image->total_bytes);
    close(placement->fd);
    if (placement->heap_of != NULL)
        munmap((void *)placement->heap_of, placement->n_bytes);
    free(placement->uses);
    *placement = (struct ab_placement){0};
}

bool ab_placement_has_null(const struct ab_placement *placement)
{
    for (uint32_t h = 0; h < placement->image->n_heaps; h++)
        if (strcmp(ab_placement_heap_at(placement->image, h)->builtin, "null") == 0)
            return true;
    return false;
}

bool ab_placement_loads(const struct ab_placement *placement)
{
    for (uint32_t h = 0; h < placement->image->n_heaps; h++) {
        uint32_t source = ab_placement_heap_at(placement->image, h)->source;
        if (source == AB_SOURCE_PLUGIN || source == AB_SOURCE_PREFIX)
            return true;
    }
    return false;
}
