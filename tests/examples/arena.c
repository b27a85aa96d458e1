/* SPDX-License-Identifier: MIT
 *
 * The arena by its public header alone: a frame's memory, a scope in it, a vector that grows.
 *     cc -I. -o arena tests/examples/arena.c allocators/arena/arena.c allocators/common/pages.c
 */
#include "allocators/arena/arena_allocator.h"

#include <stdio.h>

struct hit {
    float x, y;
};

int main(void)
{
    struct ab_arena frame;
    struct ab_arena_options options = {.reserve_bytes = 64 << 20};
    if (ab_arena_init(&frame, &options) != 0)
        return 1;
    struct hit *hits = AB_ARENA_ARRAY(&frame, struct hit, 100);
    hits[99] = (struct hit){1, 2};
    {
        AB_ARENA_SCOPED(&frame);
        int *numbers = NULL;
        for (size_t n = 0; n < 1000; n++) {
            numbers = n == 0 ? AB_ARENA_NEW(&frame, int)
                             : ab_arena_resize(&frame, numbers, n * 4, (n + 1) * 4);
            numbers[n] = (int)n;
        }
        printf("inside %zu, last %d\n", ab_arena_used(&frame), numbers[999]);
    }
    printf("behind %zu\n", ab_arena_used(&frame));

    struct ab_arena_client client = {.arena = &frame};
    struct ab_allocator allocator = ab_arena_allocator(&client);
    char *name = AB_NEW_ARRAY(char, 5, &allocator);
    printf("%s for %zu bytes\n", strcpy(name, "hits"), client.requested_bytes);
    ab_arena_client_free_all(&client);
    printf("after a reset %zu, committed %s\n", ab_arena_used(&frame),
           ab_arena_committed(&frame) > 0 ? "still" : "no more");
    ab_arena_fini(&frame);
}
