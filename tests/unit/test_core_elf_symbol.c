/* SPDX-License-Identifier: MIT
 *
 * Symbols of this very program, by where its own mappings have them; and files that are none.
 */
#include "core/elf.h"
#include "support/cmocka.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

__attribute__((noinline)) static int wanted_function(int n)
{
    __asm__ volatile("" : "+r"(n));
    return n + 1;
}

/* Where an address lies in its file; the path to buf[4096]. */
static uint64_t offset_of(uintptr_t address, char *path)
{
    char line[4352];
    uint64_t begin, end, offset, found = 0;
    FILE *maps = fopen("/proc/self/maps", "r");
    assert_non_null(maps);
    while (fgets(line, sizeof line, maps) != NULL) {
        int at = 0;
        if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %" SCNx64 " %*s %*s %n", &begin, &end,
                   &offset, &at) < 3 ||
            address < begin || address >= end)
            continue;
        line[strcspn(line, "\n")] = 0;
        snprintf(path, 4096, "%s", line + at);
        found = address - begin + offset;
    }
    fclose(maps);
    return found;
}

static void an_address_in_a_function_has_its_name(void **state)
{
    (void)state;
    char path[4096];
    struct ab_elf_place place;
    assert_int_equal(wanted_function(1), 2);
    uint64_t at = offset_of((uintptr_t)wanted_function, path);
    assert_true(ab_elf_find_place(path, at + 2, &place));
    assert_string_equal(place.function, "wanted_function");
    assert_int_equal(place.offset, 2);
    assert_true(place.address > 2);
}

static void functions_of_the_c_library_are_known_without_its_symtab(void **state)
{
    (void)state;
    char path[4096];
    struct ab_elf_place place;
    uint64_t at = offset_of((uintptr_t)&qsort, path);
    assert_true(ab_elf_find_place(path, at, &place));
    assert_true(place.offset == 0 && place.function[0] != 0);
}

static void what_lies_in_no_segment_is_nowhere(void **state)
{
    (void)state;
    struct ab_elf_place place = {.offset = 7};
    assert_false(ab_elf_find_place("/proc/self/exe", UINT64_MAX - 1, &place));
    assert_false(ab_elf_find_place("/no/such/file", 0, &place));
    assert_false(ab_elf_find_place("/", 0, &place));
    assert_false(ab_elf_find_place("/dev/null", 0, &place));
    assert_int_equal(place.offset, 7);
}

/* Cut anywhere, and with bytes changed: never a crash, never beyond the end. */
static void broken_files_are_survived(void **state)
{
    (void)state;
    char name[] = "/tmp/elf_symbol.XXXXXX", path[4096];
    static unsigned char bytes[1 << 20];
    struct ab_elf_place place;
    uint64_t at = offset_of((uintptr_t)wanted_function, path);
    FILE *self = fopen("/proc/self/exe", "rb");
    assert_non_null(self);
    size_t n = fread(bytes, 1, sizeof bytes, self);
    fclose(self);
    int fd = mkstemp(name);
    assert_true(fd >= 0);
    unsigned char head[64];
    memcpy(head, bytes, sizeof head);
    for (size_t i = 0; i < 64; i++) {
        bytes[i] ^= 0xff;
        assert_int_equal(pwrite(fd, bytes, n, 0), (ssize_t)n);
        ab_elf_find_place(name, at, &place);
        bytes[i] = head[i];
    }
    for (size_t cut = n; cut > 0; cut /= 2) {
        assert_int_equal(ftruncate(fd, (off_t)cut), 0);
        ab_elf_find_place(name, at, &place);
    }
    close(fd);
    unlink(name);
}

static void bytes_before_a_place_are_read_or_refused(void **state)
{
    (void)state;
    unsigned char b[4];
    assert_true(ab_elf_read_before("/proc/self/exe", 4, b, 4));
    assert_memory_equal(b, "\177ELF", 4);
    assert_false(ab_elf_read_before("/proc/self/exe", 3, b, 4));
    assert_false(ab_elf_read_before("/no/such/file", 4, b, 4));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_address_in_a_function_has_its_name),
        cmocka_unit_test(functions_of_the_c_library_are_known_without_its_symtab),
        cmocka_unit_test(what_lies_in_no_segment_is_nowhere),
        cmocka_unit_test(broken_files_are_survived),
        cmocka_unit_test(bytes_before_a_place_are_read_or_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
