/* SPDX-License-Identifier: MIT
 *
 * What the arenas cost when their headers are inlined, beside glibc in the same process: warm,
 * untouched blocks of 8 to 256 bytes, then all of them dead by one reset (glibc: freed in random
 * order). Allocation in CPU time, the end in wall time, whose clock is cheap enough for one reset.
 * Medians of interleaved rounds; read the ratios.
 *   usage: inline_arena [BLOCKS [ROUNDS]]
 */
#include "allocators/arena/arena.h"
#include "allocators/paged/paged_arena.h"
#include "base/clock.h"
#include "base/rng.h"

#include <limits.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>

enum { BLOCKS_MAX = 1000000, ROUNDS_MAX = 99 };
enum { GLIBC, ARENA, PAGED, N_ROWS };

static const char *const names[N_ROWS] = {"glibc", "arena", "paged"};
static size_t n_blocks = 100000, n_rounds = 25;
static uint16_t sizes[BLOCKS_MAX];
static uint32_t order[BLOCKS_MAX];
static void *blocks[BLOCKS_MAX];
static double alloc_ns[N_ROWS][ROUNDS_MAX], end_ns[N_ROWS][ROUNDS_MAX];

/* alloc_ is an expression of `size`, end_ a statement that ends all blocks. */
#define ROUND(row, round, alloc_, end_) \
    do { \
        uint64_t begun = ab_clock_thread_cpu_ns(); \
        for (size_t i = 0; i < n_blocks; i++) { \
            size_t size = sizes[i]; \
            blocks[i] = (alloc_); \
            __asm__ volatile("" : : "r"(blocks[i]) : "memory"); \
        } \
        alloc_ns[row][round] = (double)(ab_clock_thread_cpu_ns() - begun) / (double)n_blocks; \
        uint64_t filled = ab_clock_now_ns(); \
        end_; \
        end_ns[row][round] = (double)(ab_clock_now_ns() - filled); \
    } while (0)

static void free_all(void)
{
    for (size_t i = 0; i < n_blocks; i++)
        free(blocks[order[i]]);
}

static void draw(void)
{
    struct ab_rng rng;
    ab_rng_init(&rng, 1, 1);
    for (uint32_t i = 0; i < n_blocks; i++) {
        sizes[i] = (uint16_t)(8 + ab_rng_below(&rng, 249));
        uint32_t k = (uint32_t)ab_rng_below(&rng, i + 1);
        order[i] = order[k];
        order[k] = i;
    }
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values)
{
    qsort(values, n_rounds, sizeof *values, compare);
    return values[n_rounds / 2];
}

int main(int argc, char **argv)
{
    struct ab_arena arena;
    struct ab_paged_pool pool;
    struct ab_paged_arena paged;
    n_blocks = argc > 1 ? strtoul(argv[1], NULL, 10) : n_blocks;
    n_rounds = argc > 2 ? strtoul(argv[2], NULL, 10) : n_rounds;
    if (n_blocks - 1 >= BLOCKS_MAX || n_rounds - 1 >= ROUNDS_MAX ||
        ab_arena_init(&arena, &(struct ab_arena_options){.reserve_bytes = 1 << 30}) != 0 ||
        ab_paged_pool_init(&pool, "bench", 1 << 30) != 0 ||
        ab_paged_arena_init(&paged, &pool, 1 << 20, 0) != 0)
        return 2;
    mallopt(M_TRIM_THRESHOLD, INT_MAX); /* else it returns its pages at each end, and is cold */
    draw();
    for (int pass = 0; pass < 2; pass++) /* the first one warms up */
        for (size_t r = 0; r < n_rounds; r++) {
            ROUND(GLIBC, r, malloc(size), free_all());
            ROUND(ARENA, r, ab_arena_alloc(&arena, size), ab_arena_reset(&arena));
            ROUND(PAGED, r, ab_paged_arena_alloc(&paged, size), ab_paged_arena_clear(&paged));
        }
    double alloc_base = median(alloc_ns[GLIBC]), end_base = median(end_ns[GLIBC]);
    for (int row = 0; row < N_ROWS; row++) {
        double a = median(alloc_ns[row]), e = median(end_ns[row]);
        printf("%-6s alloc %6.2f ns %6.1fx   all dead in %10.0f ns %9.0fx\n", names[row], a,
               alloc_base / a, e, end_base / e);
    }
    ab_paged_arena_fini(&paged);
    ab_paged_pool_fini(&pool);
    ab_arena_fini(&arena);
    return 0;
}
