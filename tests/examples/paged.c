/* SPDX-License-Identifier: MIT
 *
 * Pools with budgets and names, an arena over one of them, and what lives in it by the names of tags:
 * by the public headers alone.
 *     cc -I. -o paged tests/examples/paged.c allocators/paged/paged_pool.c \
 *        allocators/paged/paged_arena.c allocators/paged/paged_report.c \
 *        allocators/common/pages.c
 */
#include "allocators/paged/paged_arena.h"
#include "allocators/paged/paged_report.h"

#include <stdio.h>

enum { TAG_NONE };

struct vertex {
    _Alignas(32) float at[8];
};

static void print(const char *line, size_t n, void *to)
{
    fwrite(line, 1, n, to);
}

int main(void)
{
    struct ab_paged_pools pools = {0};
    struct ab_paged_pool level, editor;
    struct ab_paged_arena arena;
    if (ab_paged_pools_add(&pools, &level, "level", 1 << 20) != 0 ||
        ab_paged_pools_add(&pools, &editor, "editor", 1 << 20) != 0 ||
        ab_paged_arena_init(&arena, ab_paged_pools_find(&pools, "level"), 16 << 10, 0) != 0)
        return 1;
    unsigned mesh = ab_paged_arena_tag(&arena, "mesh"), sound = ab_paged_arena_tag(&arena, "sound");
    for (int i = 0; i < 75; i++)
        AB_PAGED_ARRAY(&arena, struct vertex, 30, mesh);
    for (int i = 0; i < 25; i++)
        ab_paged_arena_alloc_tagged(&arena, 1000, sound);
    ab_paged_arena_report(&arena, print, stdout);

    char *text = ab_paged_arena_alloc(&arena, 8);
    char *grown = ab_paged_arena_resize(&arena, strcpy(text, "vector"), 8, 80, TAG_NONE);
    printf("%s %s\n", grown, grown == text ? "grew in place" : "moved");
    printf("popped: %s\n", ab_paged_arena_pop(&arena, grown, 80, TAG_NONE) ? "yes" : "no");
    printf("beyond the budget: %p\n", ab_paged_arena_alloc(&arena, 2 << 20));
    ab_paged_arena_clear(&arena);
    printf("after a clear %zu page\n", arena.n_pages);
    ab_paged_arena_fini(&arena);
    ab_paged_pools_fini(&pools);
}
