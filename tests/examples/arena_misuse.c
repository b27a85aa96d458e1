/* SPDX-License-Identifier: MIT
 *
 * One mistake with the arena, by name; `none` makes none. For AddressSanitizer and Valgrind to
 * report.
 */
#include "allocators/arena/arena.h"

static char buffer[8192];

int main(int argc, char **argv)
{
    const char *mistake = argc > 1 ? argv[1] : "none";
    struct ab_arena a;
    struct ab_arena_options options = {.reserve_bytes = 1 << 20};
    if (strcmp(mistake, "buffer") == 0)
        ab_arena_init_buffer(&a, buffer + 3, sizeof buffer - 3);
    else if (ab_arena_init(&a, &options) != 0)
        return 1;
    volatile char *old = ab_arena_alloc(&a, 100), *young = NULL;
    old[99] = 1;
    AB_ARENA_SCOPE(&a)
    {
        young = ab_arena_alloc(&a, 64);
        young[63] = 1;
        if (strcmp(mistake, "overflow") == 0)
            young[64] = 1;
    }
    if (strcmp(mistake, "scope") == 0)
        return young[0] + 1;
    if (strcmp(mistake, "shrink") == 0) {
        ab_arena_resize(&a, (void *)old, 100, 10);
        old[10] = 1;
    }
    if (strcmp(mistake, "moved") == 0) {
        ab_arena_alloc(&a, 1);
        ab_arena_resize(&a, (void *)old, 100, 5000);
        old[0] = 1;
    }
    if (strcmp(mistake, "closed") == 0) {
        struct ab_arena copy = a;
        ab_arena_fini(&a);
        ab_arena_reset(&a);
        a = copy;
    }
    ab_arena_reset(&a);
    if (strcmp(mistake, "reset") == 0 || strcmp(mistake, "buffer") == 0)
        old[0] = 2;
    char *again = ab_arena_alloc_zeroed(&a, 1000);
    int sum = 0;
    for (int i = 0; i < 1000; i++)
        sum += again[i];
    ab_arena_fini(&a);
    return sum != 0;
}
