/* SPDX-License-Identifier: MIT
 *
 * What configs/scratch.yaml describes, written by hand: a function with scratch blocks calls another
 * with its own. Once on glibc, the newest block freed first, once on an arena with a save point in each
 * of the two. Prints how many ns a block the arena saves, in CPU time without that of the same calls of
 * functions that do nothing, as the median of interleaved rounds; and how many KiB its blocks take at
 * most, in whole pages. (A ratio would be by what the arena takes, which is hardly more than nothing.)
 *   usage: nested_scratch [ROUNDS]
 */
#include "allocators/arena/arena.h"
#include "base/clock.h"
#include "base/rng.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { CALLS = 200, OUTER = 400, INNER = 600, ALL = OUTER + INNER, PAGE = 4096, ROUNDS_MAX = 99 };

static uint16_t sizes[CALLS][ALL];
static void *blocks[ALL];
static size_t arena_most;

static void draw(void)
{
    const double two_pi = 6.283185307179586;
    struct ab_rng rng;
    ab_rng_init(&rng, 3, 1);
    for (size_t i = 0; i < (size_t)CALLS * ALL; i++) {
        double u = (double)(1 + ab_rng_below(&rng, 1 << 30)) / (1 << 30);
        double v = (double)ab_rng_below(&rng, 1 << 30) / (1 << 30);
        double size = 64 * exp(0.9 * sqrt(-2 * log(u)) * cos(two_pi * v));
        sizes[i / ALL][i % ALL] = (uint16_t)fmin(fmax(size, 8), 2048);
    }
}

static void *alloc_glibc(struct ab_arena *arena, size_t size)
{
    (void)arena;
    return malloc(size);
}

static void *alloc_arena(struct ab_arena *arena, size_t size)
{
    return ab_arena_alloc(arena, size);
}

static void *alloc_none(struct ab_arena *arena, size_t size)
{
    (void)arena, (void)size;
    return sizes;
}

static void free_none(void *block)
{
    (void)block;
}

/* Called as a back end is, through a pointer that the compiler does not know. */
static struct {
    void *(*volatile alloc)(struct ab_arena *arena, size_t size);
    void (*volatile free)(void *block); /* NULL: it goes back to a save point */
} way;

static void take(struct ab_arena *arena, const uint16_t *size, int begin, int end)
{
    for (int i = begin; i < end; i++) {
        blocks[i] = way.alloc(arena, size[i]);
        *(volatile uint64_t *)blocks[i] = 0;
    }
}

static void give_back(int begin, int end)
{
    while (end-- > begin)
        way.free(blocks[end]);
}

static void inner(struct ab_arena *arena, const uint16_t *size)
{
    AB_ARENA_SCOPED(arena);
    take(arena, size, OUTER, ALL);
    arena_most = ab_arena_used(arena) > arena_most ? ab_arena_used(arena) : arena_most;
    if (way.free != NULL)
        give_back(OUTER, ALL);
}

static void outer(struct ab_arena *arena, const uint16_t *size)
{
    AB_ARENA_SCOPED(arena);
    take(arena, size, 0, OUTER);
    inner(arena, size);
    if (way.free != NULL)
        give_back(0, OUTER);
}

static double cpu_ns(struct ab_arena *arena, void *(*alloc)(struct ab_arena *, size_t),
                     void (*free_one)(void *))
{
    uint64_t begin = ab_clock_thread_cpu_ns();
    way.alloc = alloc;
    way.free = free_one;
    for (int call = 0; call < CALLS; call++)
        outer(arena, sizes[call]);
    return (double)(ab_clock_thread_cpu_ns() - begin);
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
    struct ab_arena arena;
    double saved[ROUNDS_MAX];
    size_t n_rounds = argc > 1 ? strtoul(argv[1], NULL, 10) : 25;
    if (n_rounds - 1 >= ROUNDS_MAX ||
        ab_arena_init(&arena, &(struct ab_arena_options){.reserve_bytes = 1 << 24}) != 0)
        return 2;
    draw();
    for (size_t r = 0; r < n_rounds; r++) {
        double no_free = cpu_ns(&arena, alloc_none, NULL);
        double nothing = cpu_ns(&arena, alloc_none, free_none);
        double glibc = cpu_ns(&arena, alloc_glibc, free);
        double scopes = cpu_ns(&arena, alloc_arena, NULL);
        saved[r] = ((glibc - nothing) - (scopes - no_free)) / (CALLS * ALL);
    }
    qsort(saved, n_rounds, sizeof saved[0], compare);
    printf("%.2f %zu\n", saved[n_rounds / 2], (arena_most + PAGE - 1) / PAGE * PAGE / 1024);
    ab_arena_fini(&arena);
    return 0;
}
