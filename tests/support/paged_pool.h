/* SPDX-License-Identifier: MIT
 *
 * A pool for the paged arena, opened for a test and looked at when all in it is freed.
 */
#ifndef AB_TESTS_SUPPORT_PAGED_POOL_H
#define AB_TESTS_SUPPORT_PAGED_POOL_H

#include "allocators/paged/paged_pool.h"
#include "support/cmocka.h"

enum { HEADER = 16 }; /* of a block */

static inline void open_pool(struct ab_paged_pool *pool, size_t bytes)
{
    assert_int_equal(ab_paged_pool_init(pool, "test", bytes), 0);
}

/* One free block that is the whole region: what must be left when all is freed. */
static inline void expect_empty(struct ab_paged_pool *pool)
{
    assert_int_equal(pool->live_blocks, 0);
    assert_int_equal(pool->live_bytes, 0);
    void *all = ab_paged_pool_alloc(pool, ab_paged_pool_size(pool) - HEADER - AB_MARK_GAP, 0);
    assert_ptr_equal(all, pool->base + HEADER);
    assert_true(ab_paged_pool_free(pool, all));
}

#endif
