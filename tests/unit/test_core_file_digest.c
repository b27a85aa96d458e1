/* SPDX-License-Identifier: MIT
 *
 * The digest is the one of the whole file, as sha256sum gives it, whatever pieces it is read in.
 */
#include "core/file_digest.h"

#include "base/rng.h"
#include "support/cmocka.h"

#include <sha2.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void assert_same(const uint8_t *bytes, size_t n)
{
    char path[] = "/tmp/allocbench-digest-XXXXXX", expected[65], got[65];
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, n), n);
    close(fd);
    SHA256Data(bytes, n, expected);
    assert_true(ab_file_digest(path, got));
    assert_string_equal(got, expected);
    unlink(path);
}

static void every_length_has_the_digest_of_the_whole(void **state)
{
    (void)state;
    enum { MOST = 3 << 16 };
    struct ab_rng rng;
    uint8_t *bytes = malloc(MOST);
    ab_rng_init(&rng, 1, 1);
    for (size_t i = 0; i < MOST; i++)
        bytes[i] = (uint8_t)ab_rng_below(&rng, 256);
    for (size_t n = 0; n <= 260; n++)
        assert_same(bytes, n);
    for (size_t k = 1; k <= 2; k++)
        for (size_t d = 0; d <= 130; d += 13)
            assert_same(bytes, (k << 16) - 65 + d);
    assert_same(bytes, MOST);
    free(bytes);
}

static void a_known_digest(void **state)
{
    (void)state;
    char path[] = "/tmp/allocbench-digest-XXXXXX", got[65];
    int fd = mkstemp(path);
    assert_int_equal(write(fd, "abc", 3), 3);
    close(fd);
    assert_true(ab_file_digest(path, got));
    assert_string_equal(got, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    unlink(path);
}

static void what_cannot_be_read_has_none(void **state)
{
    (void)state;
    char got[65];
    assert_false(ab_file_digest("/nonexistent/file", got));
    assert_false(ab_file_digest("/", got));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_length_has_the_digest_of_the_whole),
        cmocka_unit_test(a_known_digest),
        cmocka_unit_test(what_cannot_be_read_has_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
