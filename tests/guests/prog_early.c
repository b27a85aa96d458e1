/* SPDX-License-Identifier: MIT
 *
 * Allocates before every constructor of a library (.preinit_array), in a hundred constructors, in a
 * destructor, and between them in main: 1 + 100 allocs, 50 resizes, 101 frees, and a pair more at
 * the end, all of them of this program itself.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BLOCKS = 101 };
static char *kept[BLOCKS];
static int n_kept;

static void keep(void)
{
    size_t size = 3000 + (size_t)n_kept;
    kept[n_kept] = malloc(size);
    memset(kept[n_kept], n_kept, size);
    n_kept++;
}

static void first(int argc, char **argv, char **environment)
{
    (void)argc, (void)argv, (void)environment;
    keep();
}
__attribute__((section(".preinit_array"), used)) static void (*const preinit)(int, char **,
                                                                              char **) = first;

#define ONE(n) \
    static __attribute__((constructor(200 + n))) void early_##n(void) \
    { \
        keep(); \
    }
#define TEN(n) \
    ONE(n##0) \
    ONE(n##1) ONE(n##2) ONE(n##3) ONE(n##4) ONE(n##5) ONE(n##6) ONE(n##7) ONE(n##8) ONE(n##9)
TEN(1)
TEN(2)
TEN(3)
TEN(4)
TEN(5)
TEN(6)
TEN(7)
TEN(8)
TEN(9)
TEN(10)

static __attribute__((destructor)) void late(void)
{
    free(malloc(2999));
}

int main(void)
{
    if (n_kept != BLOCKS)
        return 9;
    for (int i = 0; i < BLOCKS; i++) {
        if (kept[i][0] != (char)i || kept[i][2999] != (char)i)
            return 9;
        if (i % 2 == 1)
            kept[i] = realloc(kept[i], 6000);
        free(kept[i]);
    }
    return 0;
}
