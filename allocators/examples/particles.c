/* SPDX-License-Identifier: MIT
 *
 * A particle system. The particles are slots of a pool. An array points to the live ones; when a
 * particle dies, the last pointer takes its place (swap and pop). Creating and removing a particle
 * are O(1), without a search and without fragmentation.
 *     cc -I. -o particles allocators/examples/particles.c allocators/pool/pool.c \
 *        allocators/arena/arena.c allocators/common/checked.c allocators/common/pages.c
 */
#include "allocators/arena/arena_array.h"
#include "allocators/pool/pool.h"

#include <stdio.h>

enum { MOST = 10000, STEPS = 300, EMITTED = 100 };

struct particle {
    float x, y, dx, dy;
    int steps_left;
};

struct system {
    struct ab_pool pool;
    struct ab_arena arena; /* memory of the array `live` */
    AB_ARRAY(struct particle *) live;
    unsigned draws, n_emitted, n_refused;
};

static unsigned draw(struct system *s)
{
    s->draws = s->draws * 1664525u + 1013904223u;
    return s->draws >> 16;
}

static void emit(struct system *s)
{
    struct particle *p = (struct particle *)ab_pool_alloc(&s->pool, sizeof *p);
    if (p == NULL || !AB_ARRAY_PUSH(&s->arena, &s->live, p)) {
        s->n_refused++; /* the budget is used up; nobody notices one particle less */
        if (p != NULL)
            ab_pool_free(&s->pool, p);
        return;
    }
    s->n_emitted++;
    p->x = p->y = 0;
    p->dx = (float)(draw(s) % 100) - 50;
    p->dy = (float)(draw(s) % 100);
    p->steps_left = 10 + (int)(draw(s) % 200);
}

static void update(struct system *s)
{
    for (size_t i = 0; i < s->live.n;) {
        struct particle *p = s->live.at[i];
        p->x += p->dx;
        p->y += p->dy;
        if (--p->steps_left > 0) {
            i++;
            continue;
        }
        ab_pool_free(&s->pool, p);
        AB_ARRAY_SWAP_POP(&s->live, i); /* i stays, because another particle is now at this index */
    }
}

int main(void)
{
    static struct system s;
    struct ab_pool_options slots = {0};
    struct ab_arena_options addresses = {0};
    slots.slot_bytes = sizeof(struct particle);
    slots.n_slots = MOST; /* also the limit, because `grows` is not set */
    addresses.reserve_bytes = (size_t)1 << 20;
    if (ab_pool_init(&s.pool, &slots) != 0 || ab_arena_init(&s.arena, &addresses) != 0)
        return 1;
    for (int step = 0; step < STEPS; step++) {
        for (int i = 0; i < EMITTED; i++)
            emit(&s);
        update(&s);
    }
    printf("%u emitted, %u refused\n", s.n_emitted, s.n_refused);
    printf("live in the array %zu, in the pool %zu\n", s.live.n, ab_pool_live(&s.pool));
    for (; s.live.n > 0; AB_ARRAY_SWAP_POP(&s.live, 0))
        ab_pool_free(&s.pool, s.live.at[0]);
    printf("at the end %zu\n", ab_pool_live(&s.pool));
    ab_arena_fini(&s.arena);
    ab_pool_fini(&s.pool);
    return 0;
}
