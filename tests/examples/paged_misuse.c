/* SPDX-License-Identifier: MIT
 *
 * One mistake with a pool or an arena over it, by name; `none` makes none. For AddressSanitizer
 * and Valgrind to report.
 */
#include "allocators/paged/paged_arena.h"

static bool is(const char *mistake, const char *name)
{
    return strcmp(mistake, name) == 0;
}

static int misuse_pool(struct ab_paged_pool *pool, const char *mistake)
{
    volatile char *block = ab_paged_pool_alloc(pool, 100, 0);
    void *behind = ab_paged_pool_alloc(pool, 100, 0);
    block[99] = 1;
    if (is(mistake, "pool-overflow"))
        block[100] = 1;
    ab_paged_pool_free(pool, (void *)block);
    if (is(mistake, "pool-freed"))
        block[0] = 1;
    ab_paged_pool_free(pool, behind);
    return 0;
}

/* A vector that outgrows its page, which goes back; then its new page, within the pool. */
static int misuse_vector(struct ab_paged_arena *a, const char *mistake)
{
    volatile char *old = ab_paged_arena_alloc(a, 8000);
    void *fence = ab_paged_pool_alloc(a->pool, 3000, 0); /* behind the page */
    volatile char *moved = ab_paged_arena_resize(a, (void *)old, 8000, 20000, 0);
    volatile char *grown = ab_paged_arena_resize(a, (void *)moved, 20000, 60001, 0);
    ab_paged_pool_free(a->pool, fence);
    grown[0] = grown[60000] = 1;
    if (is(mistake, "outgrown"))
        old[0] = 1;
    if (is(mistake, "vector-overflow"))
        grown[60001] = 1;
    ab_paged_arena_resize(a, (void *)grown, 60001, 1001, 0);
    grown[1000] = 1;
    if (is(mistake, "shrunk"))
        grown[30000] = 1;
    return old == moved || grown != moved;
}

/* What the checked build alone sees. */
static int misuse_checked(struct ab_paged_pool *pool, const char *mistake)
{
    struct ab_paged_arena a, other;
    if (ab_paged_arena_init(&a, pool, 4096, 0) != 0 ||
        ab_paged_arena_init(&other, pool, 4096, 0) != 0)
        return 1;
    char *foreign = ab_paged_arena_alloc(&other, 100);
    char *low = ab_paged_arena_alloc(&a, 100);
    struct ab_paged_mark mark = ab_paged_arena_save(&a), made_up = {3, 0, 0};
    char *top = ab_paged_arena_alloc_tagged(&a, 40, 1);
    if (is(mistake, "write-before"))
        low[-1] = 1;
    if (is(mistake, "write-after"))
        top[40] = 1;
    if (is(mistake, "wrong-size"))
        ab_paged_arena_resize(&a, low, 101, 400, 0);
    if (is(mistake, "foreign"))
        ab_paged_arena_resize(&a, foreign, 100, 400, 0);
    if (is(mistake, "twice-moved")) {
        ab_paged_arena_resize(&a, low, 100, 3000, 0);
        ab_paged_arena_resize(&a, low, 100, 3000, 0);
    }
    ab_paged_arena_restore(&a, mark);
    ab_paged_arena_restore(&a, mark);
    if (is(mistake, "foreign-mark"))
        ab_paged_arena_restore(&other, mark);
    if (is(mistake, "made-up-mark"))
        ab_paged_arena_restore(&a, made_up);
    ab_paged_arena_clear(&a);
    if (is(mistake, "stale-mark")) {
        ab_paged_arena_alloc(&a, 3000);
        ab_paged_arena_restore(&a, mark);
    }
    mark = ab_paged_arena_save(&a); /* of an empty arena */
    ab_paged_arena_alloc(&a, 100);
    ab_paged_arena_restore(&a, mark);
    if (is(mistake, "stale-empty-mark")) {
        ab_paged_arena_clear(&a);
        ab_paged_arena_alloc(&a, 100);
        ab_paged_arena_restore(&a, mark);
    }
    struct ab_paged_arena *none = NULL;
    if (is(mistake, "null"))
        ab_paged_arena_alloc(none, 100);
    if (is(mistake, "write-dead")) {
        low[50] = 1;
        ab_paged_arena_alloc(&a, 300);
    }
    ab_paged_arena_fini(&a);
    ab_paged_arena_fini(&other);
    return 0;
}

int main(int argc, char **argv)
{
    const char *mistake = argc > 1 ? argv[1] : "none";
    struct ab_paged_pool pool;
    struct ab_paged_arena a;
    if (ab_paged_pool_init(&pool, "pool", 1 << 20) != 0 || misuse_pool(&pool, mistake) != 0 ||
        misuse_checked(&pool, mistake) != 0 || ab_paged_arena_init(&a, &pool, 4096, 0) != 0)
        return 1;
    if (misuse_vector(&a, mistake) != 0)
        return 1;
    volatile char *low = ab_paged_arena_alloc(&a, 100), *top = ab_paged_arena_alloc(&a, 64);
    low[99] = top[63] = 1;
    if (is(mistake, "overflow"))
        top[64] = 1;
    ab_paged_arena_pop(&a, (void *)top, 64, 0);
    if (is(mistake, "popped"))
        top[0] = 1;
    for (int i = 0; i < 20; i++) /* several blocks of the pool */
        top = ab_paged_arena_alloc(&a, 1000);
    if (is(mistake, "header")) /* of the arena's block: only its magic number tells */
        memset((void *)a.top, 0, sizeof *a.top);
    ab_paged_arena_resize(&a, (void *)low, 100, 3000, 0);
    if (is(mistake, "moved"))
        low[0] = 1;
    struct ab_paged_mark mark = ab_paged_arena_save(&a);
    volatile char *young = ab_paged_arena_alloc(&a, 10);
    ab_paged_arena_restore(&a, mark);
    if (is(mistake, "restored"))
        young[0] = 1;
    ab_paged_arena_clear(&a);
    if (is(mistake, "cleared"))
        low[0] = 1;
    if (is(mistake, "returned")) /* its block went back to the pool */
        top[0] = 1;
    ab_paged_arena_fini(&a);
    ab_paged_pool_fini(&pool);
    return 0;
}
