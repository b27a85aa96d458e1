/* SPDX-License-Identifier: MIT
 *
 * One mistake with the arena, by name; `none` makes none. For AddressSanitizer, Valgrind and the
 * checked build to report.
 */
#include "allocators/arena/arena.h"

#include <stdlib.h>

static char buffer[8192];
static struct ab_arena a, other;
static const char *mistake;

static bool is(const char *name)
{
    return strcmp(mistake, name) == 0;
}

/* What the checked build alone sees: nothing of it leaves mapped memory. */
static void misuse_blocks(void)
{
    char *low = ab_arena_alloc(&a, 100), *top = ab_arena_alloc(&a, 40);
    char *foreign = ab_arena_alloc(&other, 40);
    if (is("write-before"))
        top[-1] = 1;
    if (is("write-after"))
        low[100] = 1;
    if (is("wrong-size"))
        top = ab_arena_resize(&a, top, 41, 400);
    if (is("foreign"))
        top = ab_arena_resize(&a, foreign, 40, 400);
    if (is("inner"))
        top = ab_arena_resize(&a, low + 16, 84, 400);
    if (is("twice-moved")) {
        ab_arena_resize(&a, low, 100, 5000);
        ab_arena_resize(&a, low, 100, 5000);
    }
    for (size_t size = 40; size-- > 30;) /* within what its 16 bytes allow, and beyond */
        top = ab_arena_resize(&a, top, size + 1, size);
    top = ab_arena_resize(&a, top, 30, 40);
    if (is("damaged-resize")) {
        top[40] = 1;
        ab_arena_resize(&a, top, 40, 400);
    }
    ab_arena_reset(&a);
    if (is("write-dead")) {
        low[50] = 1;
        ab_arena_alloc(&a, 200);
    }
    ab_arena_reset(&other);
}

static void misuse_marks(void)
{
    ab_arena_alloc(&a, 100);
    struct ab_arena_mark mark = ab_arena_save(&a), made_up = {3, 0, 0};
    ab_arena_alloc(&a, 100);
    ab_arena_restore(&a, mark);
    ab_arena_restore(&a, mark);
    if (is("stale-mark")) {
        ab_arena_reset(&a);
        ab_arena_alloc(&a, 1000);
        ab_arena_restore(&a, mark);
    }
    if (is("stale-mark-ahead")) {
        ab_arena_reset(&a);
        ab_arena_restore(&a, mark);
    }
    if (is("foreign-mark")) {
        ab_arena_alloc(&other, 1000);
        ab_arena_restore(&other, mark);
    }
    if (is("made-up-mark"))
        ab_arena_restore(&a, made_up);
    if (is("odd-mark")) {
        mark.position++;
        ab_arena_restore(&a, mark);
    }
    ab_arena_reset(&a);
    mark = ab_arena_save(&a); /* of an empty arena */
    ab_arena_alloc(&a, 100);
    ab_arena_restore(&a, mark);
    ab_arena_alloc(&a, 100);
    if (is("stale-empty-mark")) {
        ab_arena_reset(&a);
        ab_arena_alloc(&a, 100);
        ab_arena_alloc(&a, 100);
    }
    ab_arena_restore(&a, mark);
}

/* Blocks that move into a further region when they grow, from the top and from below. */
static void misuse_blocks_of_regions(void)
{
    struct ab_arena_options options = {.reserve_bytes = 1 << 16, .chain_bytes = 1 << 16};
    struct ab_arena chained;
    if (ab_arena_init(&chained, &options) != 0)
        exit(1);
    char *low = ab_arena_alloc(&chained, 100), *top = ab_arena_alloc(&chained, 40000), *old = low;
    struct ab_arena_mark mark = ab_arena_save(&chained);
    top = ab_arena_resize(&chained, top, 40000, 50000);
    low = ab_arena_resize(&chained, low, 100, 70000);
    low = ab_arena_resize(&chained, low, 70000, 200000);
    top = ab_arena_resize(&chained, top, 50000, 300000);
    low[199999] = top[299999] = 1;
    if (is("moved-on"))
        old[50] = 1;
    ab_arena_restore(&chained, mark);
    ab_arena_alloc_zeroed(&chained, 30000);
    ab_arena_fini(&chained);
}

int main(int argc, char **argv)
{
    struct ab_arena_options options = {.reserve_bytes = 1 << 20};
    mistake = argc > 1 ? argv[1] : "none";
    if (ab_arena_init(&other, &options) != 0)
        return 1;
    if (is("buffer"))
        ab_arena_init_buffer(&a, buffer + 3, sizeof buffer - 3);
    else if (ab_arena_init(&a, &options) != 0)
        return 1;
    misuse_blocks();
    misuse_marks();
    misuse_blocks_of_regions();
    struct ab_arena *none = NULL;
    if (is("null"))
        ab_arena_alloc(none, 100);
    volatile char *old = ab_arena_alloc(&a, 100), *young = NULL;
    old[99] = 1;
    {
        AB_ARENA_SCOPED(&a);
        young = ab_arena_alloc(&a, 64);
        young[63] = 1;
        if (is("overflow"))
            young[64] = 1;
    }
    if (is("scope"))
        return young[0] + 1;
    if (is("shrink")) {
        ab_arena_resize(&a, (void *)old, 100, 10);
        old[10] = 1;
    }
    if (is("moved")) {
        ab_arena_alloc(&a, 1);
        ab_arena_resize(&a, (void *)old, 100, 5000);
        old[0] = 1;
    }
    if (is("closed")) {
        struct ab_arena copy = a;
        ab_arena_fini(&a);
        ab_arena_reset(&a);
        a = copy;
    }
    ab_arena_reset(&a);
    if (is("reset") || is("buffer"))
        old[0] = 2;
    char *again = ab_arena_alloc_zeroed(&a, 1000);
    int sum = 0;
    for (int i = 0; i < 1000; i++)
        sum += again[i];
    if (is("write-after-at-the-end"))
        again[1000] = 1;
    ab_arena_fini(&a);
    ab_arena_fini(&other);
    return sum != 0;
}
