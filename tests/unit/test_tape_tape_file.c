/* SPDX-License-Identifier: MIT
 *
 * A tape file of several bursts: each where the head says, in a file that nobody can write to.
 * tests: tape_file.c
 */
#include "support/cmocka.h"
#include "support/tape.h"
#include "tape/tape_file.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { N = 3 };

static struct ab_tape tapes[N];
static struct ab_err err;

static void open_map(bool is_held, struct ab_tape_map *map)
{
    struct ab_tape_file file;
    assert_int_equal(ab_tape_file_begin(is_held, &file, &err), AB_OK);
    for (unsigned i = 0; i < N; i++) {
        test_tape_churn(100 * (i + 1), 1000 * (i + 1), &tapes[i]);
        assert_int_equal(ab_tape_file_add(&file, &tapes[i], &err), AB_OK);
    }
    assert_int_equal(ab_tape_file_end(&file, &tapes[N - 1], map, &err), AB_OK);
}

static void close_map(struct ab_tape_map *map)
{
    ab_tape_map_close(map);
    for (unsigned i = 0; i < N; i++)
        ab_tape_fini(&tapes[i]);
}

static void bursts_lie_behind_each_other_and_each_is_its_tape(void **state)
{
    (void)state;
    for (int is_held = 0; is_held < 2; is_held++) {
        struct ab_tape_map map;
        uint32_t first = 0;
        open_map(is_held, &map);
        assert_int_equal(map.image->n_bursts, N);
        for (unsigned i = 0; i < N; i++) {
            struct ab_tape_part part = ab_tape_part(map.image, i);
            const struct ab_burst *burst = ab_tape_burst(map.image, i);
            assert_int_equal(part.n_ops, tapes[i].n_ops);
            assert_int_equal(part.first, first);
            assert_memory_equal(part.ops, tapes[i].ops, (part.n_ops + AB_TAPE_PAD) * 8ull);
            assert_string_equal(part.phases[1].name, "churn");
            assert_int_equal(part.phases[1].begin, tapes[i].phases[1].begin);
            assert_int_equal(ab_tape_map_find(&map, first), i);
            assert_int_equal(ab_tape_map_find(&map, first + part.n_ops - 1), i);
            assert_int_equal(test_tape_op(&map, first).kind, AB_OP_ALLOC);
            assert_int_equal(burst->offset % 4096, 0);
            assert_true(burst->offset + map.image->most_bytes <= map.image->total_bytes);
            first += part.n_ops;
        }
        assert_int_equal(map.image->n_ops, first);
        close_map(&map);
    }
}

static void no_one_can_write_to_either_kind(void **state)
{
    (void)state;
    for (int is_held = 0; is_held < 2; is_held++) {
        struct ab_tape_map map;
        struct stat st;
        open_map(is_held, &map);
        assert_int_equal(fstat(map.fd, &st), 0);
        assert_int_equal(st.st_nlink, 0);
        assert_int_equal(st.st_size, map.image->total_bytes);
        assert_true(pwrite(map.fd, "x", 1, 0) < 0);
        assert_true(ftruncate(map.fd, 10) < 0);
        assert_true(mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, map.fd, 0) == MAP_FAILED);
        close_map(&map);
    }
}

static void a_place_that_does_not_exist_is_passed_over(void **state)
{
    (void)state;
    const char *folder;
    setenv("TMPDIR", "/no/such/folder", 1);
    int fd = ab_unnamed_file(&folder);
    assert_true(fd >= 0);
    assert_string_equal(folder, "/var/tmp");
    close(fd);
    unsetenv("TMPDIR");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bursts_lie_behind_each_other_and_each_is_its_tape),
        cmocka_unit_test(no_one_can_write_to_either_kind),
        cmocka_unit_test(a_place_that_does_not_exist_is_passed_over),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
