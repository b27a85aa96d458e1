/* SPDX-License-Identifier: MIT */
/* usage: glibc_simple TOTAL FORM — see configs/classics/glibc-simple.yaml (FORM 0) and
 * glibc-simple-upstream.yaml (FORM: bytes of a block). */
#include "faithful.h"

static unsigned long total, form;
static void *blocks[1600];
static const unsigned counts[] = {25, 100, 400, 1600}, sizes[] = {16, 32, 64};

static void written(unsigned n, unsigned bytes)
{
    for (unsigned i = 0; i < n; i++)
        memset(blocks[i] = need(malloc(bytes)), (int)i, bytes);
    for (unsigned i = 0; i < n / 2; i++)
        free(blocks[i]);
    for (unsigned i = n; i > n / 2; i--)
        free(blocks[i - 1]);
}

static void plain(unsigned n, size_t bytes)
{
    for (unsigned i = 0; i < n; i++)
        blocks[i] = need(malloc(bytes));
    for (unsigned i = 0; i < n; i++)
        free(blocks[i]);
}

static void *all_counts(void *argument)
{
    unsigned bytes = *(const unsigned *)argument;
    for (unsigned c = 0; c < 4; c++)
        for (unsigned long i = 0; i < total / counts[c]; i++)
            if (form == 0)
                written(counts[c], bytes);
            else
                plain(counts[c], form);
    return NULL;
}

int main(int argc, char **argv)
{
    total = argument(argc, argv, 1);
    form = argument(argc, argv, 2);
    unsigned n_sizes = form == 0 ? 3 : 1;
    memset(blocks, 1, sizeof blocks);
    begin();
    start_clock();
    for (unsigned s = 0; s < n_sizes; s++) {
        void *size = (void *)(uintptr_t)&sizes[s];
        all_counts(size);
        pthread_join(start_thread(all_counts, size), NULL);
        all_counts(size);
    }
    stop_clock();
    uint64_t blocks_each = 0;
    for (unsigned c = 0; c < 4; c++)
        blocks_each += total / counts[c] * counts[c];
    return report(2 * 3 * n_sizes * blocks_each);
}
