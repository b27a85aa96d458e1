/* SPDX-License-Identifier: MIT
 *
 * The buffer of the program's data: each lane has its own, as large as asked for, and the walk goes
 * through all of it before it begins anew.
 */
#include "support/cmocka.h"
#include "worker/passes/cache_walk.h"

#include <stdlib.h>
#include <sys/mman.h>

static struct ab_tape_image image;
static struct ab_lane lanes[2];
static struct ab_worker w;

static void begin(uint64_t bytes)
{
    image = (struct ab_tape_image){.n_lanes = 2, .cache_bytes = bytes};
    w = (struct ab_worker){.image = &image, .lanes = lanes};
    for (uint32_t i = 0; i < 2; i++)
        lanes[i] = (struct ab_lane){.w = &w, .index = i};
    ab_cache_open(&w);
}

static void end(void)
{
    for (uint32_t i = 0; i < 2; i++)
        if (lanes[i].cache != NULL)
            munmap((void *)lanes[i].cache, image.cache_bytes);
}

static void without_one_nothing_is_mapped_or_read(void **state)
{
    (void)state;
    begin(0);
    assert_null(lanes[0].cache);
    ab_cache_walk(&lanes[0], 1000);
    assert_int_equal(lanes[0].cache_at, 0);
}

static void the_walk_goes_round_and_each_lane_has_its_own(void **state)
{
    (void)state;
    begin(65536);
    assert_non_null(lanes[0].cache);
    assert_ptr_not_equal(lanes[0].cache, lanes[1].cache);
    ab_cache_walk(&lanes[0], 1023);
    assert_int_equal(lanes[0].cache_at, 65536 - 64);
    ab_cache_walk(&lanes[0], 1);
    assert_int_equal(lanes[0].cache_at, 0);
    ab_cache_walk(&lanes[0], 1024 + 3);
    assert_int_equal(lanes[0].cache_at, 3 * 64);
    assert_int_equal(lanes[1].cache_at, 0);
    end();
}

/* Pages that are read and nothing else are those that can be read: protect the rest. */
static void only_what_is_asked_for_is_read(void **state)
{
    (void)state;
    begin(16384);
    assert_int_equal(mprotect((char *)lanes[1].cache + 4096, 16384 - 4096, PROT_NONE), 0);
    ab_cache_walk(&lanes[1], 64); /* one page: would crash beyond it */
    assert_int_equal(lanes[1].cache_at, 4096);
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_one_nothing_is_mapped_or_read),
        cmocka_unit_test(the_walk_goes_round_and_each_lane_has_its_own),
        cmocka_unit_test(only_what_is_asked_for_is_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
