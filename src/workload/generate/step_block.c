/* SPDX-License-Identifier: MIT
 *
 * Ops on one block.
 */
#include "workload/generate/step_block.h"

#include "core/memory.h"
#include "workload/generate/pick.h"

#include <stdio.h>
#include <stdlib.h>

#define LIVE_BYTES_MAX (UINT64_C(1) << 62)

enum ab_status ab_block_push_failed(struct ab_generator *g)
{
    char text[300];
    snprintf(text, sizeof text, "%.299s", g->err->text);
    return ab_generate_fail(g, g->lane->verb->place, "%s", text);
}

enum ab_status ab_block_no_op(struct ab_generator *g)
{
    ab_tape_note_no_op_free(g->tape);
    return ab_generate_idle(g, g->lane->verb->place, 1);
}

static enum ab_status draw_request(struct ab_generator *g, struct ab_request *request)
{
    const struct ab_verb *v = g->lane->verb;
    uint64_t size = ab_dist_draw(&g->w->dists, v->dist, g->lane->turns, &g->lane->sizes);
    if (ab_tape_live_bytes(g->tape) + size > LIVE_BYTES_MAX)
        return ab_generate_fail(g, v->place, "more than 4 EiB live");
    if (g->w->wants_groups)
        ab_tape_group(g->tape, v->set);
    *request = (struct ab_request){
        .size = size, .align = v->align, .touch = v->touch, .touch_bytes = v->touch_bytes};
    return AB_OK;
}

static enum ab_status push_alloc(struct ab_generator *g, uint32_t slot)
{
    struct ab_request request;
    AB_TRY(draw_request(g, &request));
    return ab_tape_alloc(g->tape, slot, &request, g->err) == AB_OK ? AB_OK
                                                                   : ab_block_push_failed(g);
}

enum ab_status ab_block_alloc_pooled(struct ab_generator *g, uint32_t *slot)
{
    ab_slot_pool_take(&g->pool, g->tape_lane, ab_tape_count(g->tape), slot);
    return push_alloc(g, *slot);
}

enum ab_status ab_block_free_pooled(struct ab_generator *g, uint32_t slot)
{
    if (ab_tape_free(g->tape, slot, g->err) != AB_OK)
        return ab_block_push_failed(g);
    ab_slot_pool_give(&g->pool, g->tape_lane, ab_tape_count(g->tape), slot);
    return AB_OK;
}

enum ab_status ab_block_alloc_at(struct ab_generator *g, struct ab_instance *s, uint32_t position)
{
    AB_TRY(s->slots != NULL ? ab_block_alloc_pooled(g, &s->slots[position])
                            : push_alloc(g, s->base + position));
    ab_live_set_add(&s->live, position);
    return AB_OK;
}

enum ab_status ab_block_free_at(struct ab_generator *g, struct ab_instance *s, uint32_t position)
{
    enum ab_status status = AB_OK;
    if (!ab_live_set_has(&s->live, position))
        return ab_block_no_op(g);
    if (s->slots != NULL)
        status = ab_block_free_pooled(g, s->slots[position]);
    else if (ab_tape_free(g->tape, s->base + position, g->err) != AB_OK)
        status = ab_block_push_failed(g);
    if (status == AB_OK)
        ab_live_set_remove(&s->live, position);
    return status;
}

enum ab_status ab_block_resize_at(struct ab_generator *g, struct ab_instance *s, uint32_t position)
{
    struct ab_request request;
    if (!ab_live_set_has(&s->live, position))
        return ab_block_no_op(g);
    enum ab_status status = draw_request(g, &request);
    if (status == AB_OK &&
        ab_tape_resize(g->tape, ab_instance_slot(s, position), &request, g->err) != AB_OK)
        status = ab_block_push_failed(g);
    return status;
}

enum ab_status ab_block_access_at(struct ab_generator *g, struct ab_instance *s, uint32_t position)
{
    uint64_t size = 0;
    if (!ab_live_set_has(&s->live, position))
        return ab_block_no_op(g);
    uint32_t slot = ab_instance_slot(s, position);
    if (!ab_tape_is_live(g->tape, slot, &size) || size == 0)
        return ab_block_no_op(g);
    return ab_tape_access(g->tape, slot, g->lane->verb->mode, g->err) == AB_OK
               ? AB_OK
               : ab_block_push_failed(g);
}

enum ab_status ab_block_exchange_new(struct ab_generator *g, struct ab_instance *s,
                                     uint32_t position)
{
    uint32_t slot, old = s->slots[position];
    enum ab_status status = ab_block_alloc_pooled(g, &slot);
    if (status == AB_OK && ab_live_set_has(&s->live, position)) {
        status = ab_block_free_pooled(g, old);
        ab_live_set_remove(&s->live, position);
    }
    s->slots[position] = slot;
    ab_live_set_add(&s->live, position);
    return status;
}

enum ab_status ab_block_exchange_with(struct ab_generator *g, struct ab_instance *s,
                                      uint32_t position)
{
    const struct ab_verb *v = g->lane->verb;
    struct ab_instance *other = ab_instance_of(g, v->other, g->lane->index);
    uint32_t there = ab_pick_position(g, v, v->other, v->with_pick);
    if (there == AB_NO_POSITION)
        return ab_block_no_op(g);
    bool is_here = ab_live_set_has(&s->live, position);
    bool is_there = ab_live_set_has(&other->live, there);
    uint32_t here_slot = s->slots[position], there_slot = other->slots[there];
    if (!is_here && !is_there)
        return ab_block_no_op(g);
    if (is_here)
        ab_live_set_remove(&s->live, position);
    if (is_there)
        ab_live_set_remove(&other->live, there);
    if (is_there)
        ab_live_set_add(&s->live, position);
    if (is_here)
        ab_live_set_add(&other->live, there);
    s->slots[position] = there_slot;
    other->slots[there] = here_slot;
    return ab_generate_idle(g, v->place, 1);
}

enum ab_status ab_block_make_room(struct ab_generator *g, struct ab_instance *s)
{
    uint32_t n = s->live.n < 16 ? 16 : s->live.n * 2;
    if (s->live.n_live < s->live.n)
        return AB_OK;
    if (n > AB_MAX_POSITIONS)
        return ab_generate_fail(g, g->lane->verb->place, "more than %u blocks in one set",
                                s->live.n);
    s->slots = ab_realloc(s->slots, n, sizeof s->slots[0]);
    g->n_grown += n - s->live.n;
    ab_live_set_grow(&s->live, n);
    return AB_OK;
}

enum ab_status ab_block_no_room(struct ab_generator *g, uint32_t set, const struct ab_instance *s)
{
    return ab_generate_fail(g, g->lane->verb->place, "full: all %u positions of '%s' are occupied",
                            s->live.n, g->w->sets[set].name);
}

enum ab_status ab_block_occupied(struct ab_generator *g, const char *what, uint32_t set,
                                 uint32_t position)
{
    return ab_generate_fail(g, g->lane->verb->place,
                            "%s at position %u of '%s', which is "
                            "occupied; 'at: empty' takes empty ones%s",
                            what, position, g->w->sets[set].name,
                            what[0] == 'a' ? ", 'replace' frees first" : "");
}
