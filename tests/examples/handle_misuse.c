/* SPDX-License-Identifier: MIT
 *
 * One mistake with an address that a handle gave, for the tools that shall find it:
 *     handle_misuse none|removed|flushed|overflow|foreign
 */
#include "allocators/handle/handle.h"

#include <stdio.h>
#include <string.h>

static int *value_of(struct ab_handle_arena *arena, struct ab_handle *handle)
{
    return ab_handle_insert_zeroed(arena, handle) == 0 ? ab_handle_get_mut(arena, *handle) : NULL;
}

int main(int argc, char **argv)
{
    const char *mistake = argc > 1 ? argv[1] : "none";
    struct ab_handle_options options = {.value_bytes = 4 * sizeof(int), .capacity = 10};
    struct ab_handle_arena arena, other;
    struct ab_handle first, second, elsewhere;
    if (ab_handle_arena_init(&arena, &options) != 0 || ab_handle_arena_init(&other, &options) != 0)
        return 2;
    volatile int *a = value_of(&arena, &first), *b = value_of(&arena, &second);
    if (a == NULL || b == NULL || value_of(&other, &elsewhere) == NULL)
        return 2;
    a[3] = b[3] = 1;
    if (strcmp(mistake, "removed") == 0) {
        ab_handle_remove(&arena, first);
        a[0] = 1;
    } else if (strcmp(mistake, "flushed") == 0) {
        ab_handle_flush(&arena);
        b[0] = 1;
    } else if (strcmp(mistake, "overflow") == 0) {
        a[4] = 1;
    } else if (strcmp(mistake, "foreign") == 0) {
        puts(ab_handle_get(&arena, elsewhere) == NULL ? "refused" : "taken");
    }
    ab_handle_remove(&arena, second); /* its slot is the next one, with what it held */
    b = value_of(&arena, &second);
    int is_zero = b[3] == 0;
    ab_handle_arena_fini(&arena);
    ab_handle_arena_fini(&other);
    puts(is_zero ? "in order" : "not zero");
    return 0;
}
