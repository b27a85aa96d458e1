/* SPDX-License-Identifier: MIT
 *
 * Entities of a game by handle: a missile keeps the handle of its target, and finds out when it
 * looks that the target is gone, though another ship has its slot by then. There is no need to notify the
 * holders of a reference that it has ended.
 *     cc -I. -o entity_table allocators/examples/entity_table.c allocators/handle/handle.c \
 *        allocators/common/guard.c allocators/common/pages.c
 */
#include "allocators/handle/handle.h"

#include <stdio.h>

enum { SHIPS = 16, MISSILES = 4 };

struct ship {
    int number, hull;
};

struct missile {
    struct ab_handle target;
    int seconds; /* until it is there */
};

static int n_launched;

static struct ab_handle launch(struct ab_handle_arena *ships)
{
    struct ab_handle ship = {0, 0}; /* a handle of zeroes is stale in every arena */
    if (ab_handle_insert(ships, &ship) != 0)
        return ship;
    struct ship *s = (struct ship *)ab_handle_get_mut(ships, ship);
    s->number = n_launched++;
    s->hull = 100;
    return ship;
}

static void hit(struct ab_handle_arena *ships, const struct missile *m, int number)
{
    struct ship *target = (struct ship *)ab_handle_get_mut(ships, m->target);
    if (target == NULL) {
        printf("missile %d: its target is gone\n", number);
        return;
    }
    target->hull -= 60;
    printf("missile %d: ship %d has hull %d\n", number, target->number, target->hull);
    if (target->hull <= 0)
        ab_handle_remove(ships, m->target);
}

int main(void)
{
    struct ab_handle_arena ships;
    struct ab_handle_options options = {0};
    struct missile missiles[MISSILES];
    struct ab_handle at = {0, 0};
    options.value_bytes = sizeof(struct ship);
    options.capacity = SHIPS;
    if (ab_handle_arena_init(&ships, &options) != 0)
        return 1;
    struct ab_handle first = launch(&ships), second = launch(&ships);
    for (int i = 0; i < MISSILES; i++) {
        missiles[i].target = i == 1 ? second : first;
        missiles[i].seconds = i;
    }
    for (int second_now = 0; second_now < MISSILES; second_now++) {
        for (int i = 0; i < MISSILES; i++)
            if (missiles[i].seconds == second_now)
                hit(&ships, &missiles[i], i);
        if (second_now == 2) /* takes the slot of the one that was shot */
            launch(&ships);
    }
    while (ab_handle_next(&ships, &at)) {
        const struct ship *s = (const struct ship *)ab_handle_get(&ships, at);
        printf("ship %d lives, hull %d\n", s->number, s->hull);
    }
    ab_handle_flush(&ships); /* on purpose: else the checked build lists what still lives */
    ab_handle_arena_fini(&ships);
    return 0;
}
