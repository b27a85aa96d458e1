/* SPDX-License-Identifier: MIT
 *
 * A queue consists of two rings: the lengths of the messages, and the slots of their blocks. Its
 * memory is proportional to the messages in it, not to the capacity that the workload gives.
 */
#include "workload/generate/queue.h"

#include "core/alloc.h"

#include <stdlib.h>

static void reserve(struct ab_ring *r, size_t more)
{
    size_t cap = r->cap < 16 ? 16 : r->cap;
    while (cap < r->n + more)
        cap *= 2;
    if (cap == r->cap)
        return;
    uint32_t *items = ab_alloc(cap * sizeof *items);
    for (size_t i = 0; i < r->n; i++)
        items[i] = r->items[(r->begin + i) & (r->cap - 1)];
    free(r->items);
    *r = (struct ab_ring){.items = items, .cap = cap, .n = r->n};
}

/* Returns item i of the ring. `begin` may be any number, even one that wrapped below 0, because
 * only its value modulo cap matters. */
static uint32_t *at(const struct ab_ring *r, size_t i)
{
    return &r->items[(r->begin + i) & (r->cap - 1)];
}

void ab_message_add(struct ab_message *m, uint32_t slot)
{
    AB_GROW(m->slots, m->cap, m->n);
    m->slots[m->n++] = slot;
}

void ab_queue_put(struct ab_queue *q, struct ab_message *m, bool to_front)
{
    size_t n = m->n - m->next;
    reserve(&q->lengths, 1);
    reserve(&q->blocks, n);
    if (to_front) {
        q->lengths.begin--;
        q->blocks.begin -= n;
    }
    *at(&q->lengths, to_front ? 0 : q->lengths.n) = (uint32_t)n;
    for (size_t i = 0; i < n; i++)
        *at(&q->blocks, to_front ? i : q->blocks.n + i) = m->slots[m->next + i];
    q->lengths.n++;
    q->blocks.n += n;
    m->next = m->n = 0;
}

void ab_queue_get(struct ab_queue *q, struct ab_message *m, bool from_back)
{
    uint32_t n = *at(&q->lengths, from_back ? q->lengths.n - 1 : 0);
    size_t first = from_back ? q->blocks.n - n : 0;
    m->next = m->n = 0;
    for (size_t i = 0; i < n; i++)
        ab_message_add(m, *at(&q->blocks, first + i));
    q->lengths.n--;
    q->blocks.n -= n;
    if (!from_back) {
        q->lengths.begin++;
        q->blocks.begin += n;
    }
}

void ab_line_join(struct ab_ring *line, uint32_t lane)
{
    reserve(line, 1);
    *at(line, line->n++) = lane;
}

bool ab_line_next(struct ab_ring *line, uint32_t *lane)
{
    if (line->n == 0)
        return false;
    *lane = *at(line, 0);
    line->begin++;
    line->n--;
    return true;
}

void ab_queue_fini(struct ab_queue *q)
{
    free(q->for_room.items);
    free(q->for_message.items);
    free(q->lengths.items);
    free(q->blocks.items);
    *q = (struct ab_queue){0};
}
