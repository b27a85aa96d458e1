/* SPDX-License-Identifier: MIT
 *
 * A program whose pages are pinned by one function: of each 50 blocks it allocates one, of a size within
 * those of the others, and keeps it; of the others one in 200 stays, or with "alone" none, and they go in
 * the order in which they came. usage: prog_pins SEED [alone]
 */
#include <stdio.h>
#include <stdlib.h>

enum { GROUPS = 3000, OTHERS = 49, KEPT = 200 };

static void *volatile pinned[GROUPS];
static void *others[GROUPS * OTHERS];
static unsigned long long state;

static unsigned draw(unsigned n)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(state >> 33) % n;
}

static __attribute__((noinline)) void *keep_header(void)
{
    void *p = malloc(64);
    __asm__ volatile("" ::: "memory");
    return p;
}

#define OTHER(name, least) \
    static __attribute__((noinline)) void *name(void) \
    { \
        void *p = malloc((least) + draw(64)); \
        __asm__ volatile("" ::: "memory"); \
        return p; \
    }
OTHER(take_key, 16)
OTHER(take_value, 48)
OTHER(take_node, 32)
OTHER(take_text, 64)

int main(int argc, char **argv)
{
    static void *(*const take[])(void) = {take_key, take_value, take_node, take_text};
    state = argc > 1 ? strtoull(argv[1], NULL, 10) * 7919 + 1 : 1;
    for (unsigned g = 0; g < GROUPS; g++) {
        unsigned place = draw(OTHERS + 1);
        for (unsigned i = 0; i < OTHERS; i++) {
            if (i == place)
                pinned[g] = keep_header();
            others[g * OTHERS + i] = take[draw(4)]();
        }
        if (pinned[g] == NULL)
            pinned[g] = keep_header();
    }
    for (unsigned i = argc > 2 ? 0 : GROUPS * OTHERS - 1; i > 0; i--) {
        unsigned k = draw(i + 1);
        void *p = others[i];
        others[i] = others[k];
        others[k] = p;
    }
    for (unsigned i = argc > 2 ? 0 : GROUPS * OTHERS / KEPT; i < GROUPS * OTHERS; i++)
        free(others[i]);
    printf("%u pinned\n", GROUPS);
    return 0;
}
