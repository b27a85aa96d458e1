/* SPDX-License-Identifier: MIT
 *
 * Entities of a game by handle. A missile keeps the handle of its target. When it looks the target
 * up, it finds out that the target is gone, even if another ship has the slot by then. Nobody has
 * to tell the holders of a handle that its value is gone.
 *     cc -I. -o entity_table allocators/examples/entity_table.c allocators/handle/handle.c \
 *        allocators/common/checked.c allocators/common/pages.c
 */
#include "allocators/handle/handle.h"

#include <stdio.h>

enum { SHIPS = 16, MISSILES = 4 };

struct ship {
    int number, hull;
};

AB_HANDLE_DEFINE(ship, struct ship)

struct missile {
    struct ship_handle target; /* the compiler refuses a handle of any other type */
    int seconds;               /* seconds until it hits its target */
};

static int n_launched;

static struct ship_handle launch(struct ship_arena *ships)
{
    struct ship_handle handle = {{0, 0}}; /* a handle of zeroes is stale in every arena */
    struct ship *ship = ship_insert(ships, &handle);
    if (ship == NULL)
        return handle;
    ship->number = n_launched++;
    ship->hull = 100;
    return handle;
}

static void hit(struct ship_arena *ships, const struct missile *m, int number)
{
    struct ship *target = ship_get_mut(ships, m->target);
    if (target == NULL) {
        printf("missile %d: its target is gone\n", number);
        return;
    }
    target->hull -= 60;
    printf("missile %d: ship %d has hull %d\n", number, target->number, target->hull);
    if (target->hull <= 0)
        ship_remove(ships, m->target);
}

int main(void)
{
    struct ship_arena ships;
    struct missile missiles[MISSILES];
    struct ship_handle at = {{0, 0}};
    if (ship_arena_init(&ships, SHIPS) != 0)
        return 1;
    struct ship_handle first = launch(&ships), second = launch(&ships);
    for (int i = 0; i < MISSILES; i++) {
        missiles[i].target = i == 1 ? second : first;
        missiles[i].seconds = i;
    }
    for (int second_now = 0; second_now < MISSILES; second_now++) {
        for (int i = 0; i < MISSILES; i++)
            if (missiles[i].seconds == second_now)
                hit(&ships, &missiles[i], i);
        if (second_now == 2) /* the new ship takes the slot of the one that was shot */
            launch(&ships);
    }
    while (ship_next(&ships, &at)) {
        const struct ship *s = ship_get(&ships, at);
        printf("ship %d lives, hull %d\n", s->number, s->hull);
    }
    /* without this flush, the checked build would list the ships that still live */
    ab_handle_flush(&ships.any);
    ship_arena_fini(&ships);
    return 0;
}
