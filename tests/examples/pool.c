/* SPDX-License-Identifier: MIT
 *
 * The pool by its public header alone: particles that come and go.
 *     cc -I. -o pool tests/examples/pool.c allocators/pool/pool.c allocators/common/pages.c
 */
#include "allocators/pool/pool.h"

#include <stdio.h>

struct particle {
    float x, y, dx, dy;
    struct particle *next;
};

int main(void)
{
    struct ab_pool pool;
    struct ab_pool_options options = {.slot_bytes = sizeof(struct particle), .n_slots = 10000};
    if (ab_pool_init(&pool, &options) != 0)
        return 1;
    struct particle *all = NULL, *p;
    while ((p = ab_pool_alloc(&pool, sizeof *p)) != NULL) { /* NULL: all 10,000 are used */
        *p = (struct particle){.dx = 1, .next = all};
        all = p;
    }
    printf("%zu particles\n", ab_pool_live(&pool));
    for (struct particle *next; all != NULL; all = next) {
        next = all->next;
        ab_pool_free(&pool, all);
    }
    printf("%zu left\n", ab_pool_live(&pool));
    ab_pool_fini(&pool);
    return 0;
}
