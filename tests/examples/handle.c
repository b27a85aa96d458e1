/* SPDX-License-Identifier: MIT
 *
 * The handle arena by its public header alone: a target that dies while somebody aims at it.
 *     cc -I. -o handle tests/examples/handle.c allocators/handle/handle.c \
 *         allocators/common/pages.c
 */
#include "allocators/handle/handle.h"

#include <stdio.h>

struct ship {
    int hull;
};

int main(void)
{
    struct ab_handle_arena ships;
    struct ab_handle_options options = {.value_bytes = sizeof(struct ship), .capacity = 2};
    struct ab_handle target, other, third, at = {0, 0};
    if (ab_handle_arena_init(&ships, &options) != 0 || ab_handle_insert(&ships, &target) != 0)
        return 1;
    *(struct ship *)ab_handle_get_mut(&ships, target) = (struct ship){.hull = 100};
    ab_handle_remove(&ships, target);
    if (ab_handle_insert(&ships, &other) != 0) /* takes the slot of the first */
        return 1;
    *(struct ship *)ab_handle_get_mut(&ships, other) = (struct ship){.hull = 70};
    puts(ab_handle_get(&ships, target) == NULL ? "target is gone" : "hit the wrong ship");
    if (ab_handle_insert(&ships, &third) != 0)
        return 1;
    ab_handle_remove(&ships, third);
    while (ab_handle_next(&ships, &at))
        printf("hull %d\n", ((const struct ship *)ab_handle_get(&ships, at))->hull);
    if (ab_handle_insert(&ships, &third) != 0)
        return 1;
    puts(ab_handle_insert(&ships, &third) == ENOSPC ? "both berths taken" : "no limit");
    ab_handle_flush(&ships);
    puts(ab_handle_get(&ships, other) == NULL ? "all gone" : "one left");
    ab_handle_arena_fini(&ships);
}
