/* SPDX-License-Identifier: MIT
 *
 * What pool and slab cost when their headers are inlined, beside glibc in the same process: blocks
 * of 8 to 256 bytes allocated in order and freed in random order (warm, untouched), and churn
 * (random replacement, the first bytes written). Medians of interleaved rounds; read the ratios.
 *
 * The rows by hand show what is left to gain. A free of the pool writes the count of its free bytes
 * besides the link and the head, by which it finds that it ran empty: "list and count". An alloc of the
 * slab looks up the class of the size, and then what that has: "bump in classes", which frees nothing.
 *   usage: inline_pool_slab [BLOCKS [ROUNDS]]
 */
#include "allocators/common/pages.h"
#include "allocators/pool/pool.h"
#include "allocators/slab/slab.h"
#include "base/clock.h"
#include "base/rng.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCKS_MAX = 1000000, ROUNDS_MAX = 99, LARGEST = 256 };
enum { ALLOC, FREE, CHURN, N_KINDS };
enum { GLIBC, POOL, LIST, LIST_COUNT, SLAB, SLAB_FINE, CLASSES, N_ROWS };

static const char *const row_names[N_ROWS] = {
    "glibc", "pool", "list", "list and count", "slab", "slab:classes=fine", "bump in classes"};

static size_t n_blocks = 100000, n_rounds = 15;
static uint32_t order[BLOCKS_MAX], victims[8 * BLOCKS_MAX];
static uint16_t sizes[BLOCKS_MAX], next_sizes[8 * BLOCKS_MAX];
static void *blocks[BLOCKS_MAX];
static double ns[N_ROWS][N_KINDS][ROUNDS_MAX];

static struct ab_pool pool;
static struct ab_slabs slab, fine;

static void keep_block(void *p)
{
    __asm__ volatile("" : : "r"(p));
}

/* ---- by hand ---- */

static struct by_hand {
    void *free;
    char *next;
    size_t free_bytes;
    char *class_next[8];
    uint8_t class_of[LARGEST / 8 + 1];
} by_hand;
static char *hand_memory; /* as much as any row takes */

static void hand_begin(void)
{
    by_hand.free = NULL;
    by_hand.next = hand_memory;
    for (unsigned k = 0; k < 6; k++)
        by_hand.class_next[k] = hand_memory + k * BLOCKS_MAX * pool.stride;
    for (unsigned i = 0; i <= LARGEST / 8; i++)
        while ((8u << by_hand.class_of[i]) < 8 * i)
            by_hand.class_of[i]++;
}

static inline void *hand_alloc(void)
{
    void *p = by_hand.free;
    if (p != NULL) {
        by_hand.free = *(void **)p;
        return p;
    }
    p = by_hand.next;
    by_hand.next += pool.stride;
    return p;
}

static inline void hand_free(void *p)
{
    *(void **)p = by_hand.free;
    by_hand.free = p;
}

static inline void *hand_class_alloc(size_t size)
{
    unsigned k = by_hand.class_of[(size + 7) >> 3];
    void *p = by_hand.class_next[k];
    by_hand.class_next[k] += 8u << k;
    return p;
}

/* One measured round of a row; alloc_ and free_ are expressions of `size` and `p`. */
#define DEFINE_ROUND(NAME, ALLOC_, FREE_) \
    static void NAME##_bulk(double *alloc_ns, double *free_ns) \
    { \
        hand_begin(); \
        uint64_t begun = ab_clock_now_ns(); \
        for (size_t i = 0; i < n_blocks; i++) { \
            size_t size = sizes[i]; \
            (void)size; \
            blocks[i] = ALLOC_; \
            keep_block(blocks[i]); \
        } \
        uint64_t filled = ab_clock_now_ns(); \
        for (size_t i = 0; i < n_blocks; i++) { \
            void *p = blocks[order[i]]; \
            FREE_; \
            keep_block(p); \
        } \
        uint64_t ended = ab_clock_now_ns(); \
        *alloc_ns = (double)(filled - begun) / (double)n_blocks; \
        *free_ns = (double)(ended - filled) / (double)n_blocks; \
    } \
    static __attribute__((unused)) void NAME##_churn(double *pair_ns) \
    { \
        hand_begin(); \
        for (size_t i = 0; i < n_blocks; i++) { \
            size_t size = sizes[i]; \
            (void)size; \
            blocks[i] = ALLOC_; \
            memset(blocks[i], 1, size); \
        } \
        uint64_t begun = 0; \
        for (size_t i = 0; i < 8 * n_blocks; i++) { \
            if (i == 4 * n_blocks) /* steady from here on */ \
                begun = ab_clock_now_ns(); \
            size_t size = next_sizes[i]; \
            (void)size; \
            void *p = blocks[victims[i]]; \
            FREE_; \
            p = ALLOC_; \
            *(uint64_t *)p = i; \
            blocks[victims[i]] = p; \
        } \
        *pair_ns = (double)(ab_clock_now_ns() - begun) / (double)(4 * n_blocks); \
        for (size_t i = 0; i < n_blocks; i++) { \
            void *p = blocks[i]; \
            (void)p; \
            FREE_; \
        } \
    }

DEFINE_ROUND(glibc, malloc(size), free(p))
DEFINE_ROUND(pool, ab_pool_alloc(&pool, size), ab_pool_free(&pool, p))
DEFINE_ROUND(slab, ab_slabs_alloc(&slab, size), ab_slabs_free(&slab, p))
DEFINE_ROUND(fine, ab_slabs_alloc(&fine, size), ab_slabs_free(&fine, p))
DEFINE_ROUND(list, hand_alloc(), hand_free(p))
DEFINE_ROUND(count, (by_hand.free_bytes -= by_hand.free != NULL ? LARGEST : 0, hand_alloc()),
             (hand_free(p), by_hand.free_bytes += LARGEST))
DEFINE_ROUND(classes, hand_class_alloc(size), (void)0)

static void draw(void)
{
    struct ab_rng rng;
    ab_rng_init(&rng, 1, 1);
    for (uint32_t i = 0; i < n_blocks; i++) {
        uint32_t k = (uint32_t)ab_rng_below(&rng, i + 1);
        order[i] = order[k];
        order[k] = i;
        sizes[i] = (uint16_t)(8 + ab_rng_below(&rng, LARGEST - 7));
    }
    for (size_t i = 0; i < 8 * n_blocks; i++) {
        victims[i] = (uint32_t)ab_rng_below(&rng, n_blocks);
        next_sizes[i] = (uint16_t)(8 + ab_rng_below(&rng, LARGEST - 7));
    }
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(int row, int kind)
{
    qsort(ns[row][kind], n_rounds, sizeof(double), compare);
    return ns[row][kind][n_rounds / 2];
}

int main(int argc, char **argv)
{
    static void (*const bulk[N_ROWS])(double *, double *) = {
        glibc_bulk, pool_bulk, list_bulk, count_bulk, slab_bulk, fine_bulk, classes_bulk};
    static void (*const churn[N_ROWS])(double *) = {
        glibc_churn, pool_churn, list_churn, count_churn, slab_churn, fine_churn, NULL};
    static const struct ab_slabs_options pow2_options = {.keep_max = 4096},
                                         fine_options = {.keep_max = 4096, .spacing = AB_SLAB_FINE};
    n_blocks = argc > 1 ? strtoul(argv[1], NULL, 10) : n_blocks;
    n_rounds = argc > 2 ? strtoul(argv[2], NULL, 10) : n_rounds;
    if (n_blocks == 0 || n_blocks > BLOCKS_MAX || n_rounds == 0 || n_rounds > ROUNDS_MAX)
        return 2;
    draw();
    if (ab_pool_init(&pool, &(struct ab_pool_options){.slot_bytes = LARGEST, .grows = true}) != 0 ||
        ab_slabs_init(&slab, &pow2_options) != 0 || ab_slabs_init(&fine, &fine_options) != 0)
        return 1;
    hand_memory = ab_pages_map(6 * BLOCKS_MAX * pool.stride, 0);
    if (hand_memory == NULL)
        return 1;
    for (size_t i = 0; i < n_rounds * N_ROWS; i++) /* churn comes last: it leaves disorder */
        for (int warm = 0; warm < 2; warm++)       /* the second one counts */
            bulk[i % N_ROWS](&ns[i % N_ROWS][ALLOC][i / N_ROWS], &ns[i % N_ROWS][FREE][i / N_ROWS]);
    for (size_t i = 0; i < n_rounds * N_ROWS; i++)
        if (churn[i % N_ROWS] != NULL)
            churn[i % N_ROWS](&ns[i % N_ROWS][CHURN][i / N_ROWS]);
    printf("%-20s %18s %18s %22s\n", "ns (glibc / it)", "alloc", "free", "churn pair (it / glibc)");
    for (int row = 0; row < N_ROWS; row++)
        printf("%-20s %9.2f %7.1fx %9.2f %7.1fx %13.2f %7.2fx\n", row_names[row],
               median(row, ALLOC), median(GLIBC, ALLOC) / median(row, ALLOC), median(row, FREE),
               median(GLIBC, FREE) / median(row, FREE), median(row, CHURN),
               median(row, CHURN) / median(GLIBC, CHURN));
    return 0;
}
