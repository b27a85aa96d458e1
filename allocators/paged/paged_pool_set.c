/* SPDX-License-Identifier: MIT
 *
 * Pools by name: a set of them, linked through the pools.
 */
#include "paged_pool.h"

#include <errno.h>
#include <string.h>

struct ab_paged_pool *ab_paged_pools_find(const struct ab_paged_pools *pools, const char *name)
{
    struct ab_paged_pool *pool = pools->first;
    while (pool != NULL && strcmp(pool->name, name) != 0)
        pool = pool->next;
    return pool;
}

int ab_paged_pools_add(struct ab_paged_pools *pools, struct ab_paged_pool *pool, const char *name,
                       size_t bytes)
{
    if (strlen(name) > AB_PAGED_NAME_MAX)
        return ENAMETOOLONG;
    if (ab_paged_pools_find(pools, name) != NULL)
        return EEXIST;
    int error = ab_paged_pool_init(pool, name, bytes);
    if (error != 0)
        return error;
    pool->next = pools->first;
    pools->first = pool;
    return 0;
}

void ab_paged_pools_fini(struct ab_paged_pools *pools)
{
    while (pools->first != NULL) {
        struct ab_paged_pool *pool = pools->first;
        pools->first = pool->next;
        ab_paged_pool_fini(pool);
    }
}
