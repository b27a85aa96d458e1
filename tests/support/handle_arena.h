/* SPDX-License-Identifier: MIT
 *
 * Handle arenas that are made, filled and found full, with what must hold each time.
 */
#ifndef AB_TESTS_SUPPORT_HANDLE_ARENA_H
#define AB_TESTS_SUPPORT_HANDLE_ARENA_H

#include "allocators/handle/handle.h"
#include "support/cmocka.h"

#include <errno.h>

static inline struct ab_handle_arena make(size_t value_bytes, uint64_t capacity,
                                          uint32_t version_max)
{
    struct ab_handle_arena a;
    struct ab_handle_options options = {.value_bytes = value_bytes,
                                        .capacity = capacity,
                                        .version_max = version_max,
                                        .version_base = AB_HANDLE_BASE_ZERO};
    assert_int_equal(ab_handle_arena_init(&a, &options), 0);
    return a;
}

static inline struct ab_handle insert(struct ab_handle_arena *a)
{
    struct ab_handle made;
    assert_int_equal(ab_handle_insert(a, &made), 0);
    assert_non_null(ab_handle_get(a, made));
    return made;
}

static inline void expect_full(struct ab_handle_arena *a)
{
    struct ab_handle made = {77, 77};
    assert_int_equal(ab_handle_insert(a, &made), ENOSPC);
    assert_int_equal(ab_handle_insert_zeroed(a, &made), ENOSPC);
    assert_true(made.index == 77 && made.version == 77);
}

#endif
