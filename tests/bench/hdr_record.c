/* SPDX-License-Identifier: MIT
 *
 * Prices ab_hdr_record for scripts/bench-hdr:
 *   hdr_record record|empty N   N rounds of a loop that records, or does all else; callgrind
 *                               counts the instructions of both
 *   hdr_record ns               prints nanoseconds a record, the least of several rounds
 * Values are those of an allocator: 20 to 83 ns, one in 64 up to 65 us.
 */
#include "result/hdr.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { VALUES = 4096, ROUNDS = 20, ROUND_RECORDS = 1 << 20 };

static struct ab_hdr hdr;
static uint32_t values[VALUES];

static void make_values(void)
{
    uint32_t x = 1;
    for (unsigned i = 0; i < VALUES; i++) {
        x = x * 1664525u + 1013904223u;
        values[i] = x >> 26 == 0 ? x >> 6 & 0xffff : 20 + (x >> 10 & 63);
    }
}

/* The asm hides the value, so that both loops load it and neither can be computed beforehand. */
static __attribute__((noinline)) void loop_record(uint64_t n)
{
    for (uint64_t i = 0; i < n; i++) {
        uint64_t v = values[i % VALUES];
        __asm__ volatile("" : "+r"(v) : : "memory");
        ab_hdr_record(&hdr, v);
    }
}

static __attribute__((noinline)) void loop_empty(uint64_t n)
{
    for (uint64_t i = 0; i < n; i++) {
        uint64_t v = values[i % VALUES];
        __asm__ volatile("" : "+r"(v) : : "memory");
    }
}

static double ns_of(void (*loop)(uint64_t))
{
    double least = 1e9;
    for (int i = 0; i < ROUNDS; i++) {
        struct timespec a, b;
        clock_gettime(CLOCK_MONOTONIC, &a);
        loop(ROUND_RECORDS);
        clock_gettime(CLOCK_MONOTONIC, &b);
        double ns = (double)(b.tv_sec - a.tv_sec) * 1e9 + (double)(b.tv_nsec - a.tv_nsec);
        least = ns / ROUND_RECORDS < least ? ns / ROUND_RECORDS : least;
    }
    return least;
}

int main(int argc, char **argv)
{
    make_values();
    ab_hdr_init(&hdr);
    if (argc == 2 && strcmp(argv[1], "ns") == 0)
        printf("%.2f\n", ns_of(loop_record) - ns_of(loop_empty));
    else if (argc == 3 && strcmp(argv[1], "record") == 0)
        loop_record(strtoull(argv[2], NULL, 10));
    else if (argc == 3 && strcmp(argv[1], "empty") == 0)
        loop_empty(strtoull(argv[2], NULL, 10));
    else
        return 2;
    return 0;
}
