/* SPDX-License-Identifier: MIT
 *
 * The ELF reader against real files, and against files that were cut and bent. It must never
 * read out of bounds (AddressSanitizer would tell) and never hang.
 */
#include "core/elf.h"

#include "guests.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static const char *const names[] = {"malloc",         "free",          "calloc",
                                    "posix_memalign", "ab_backend_v1", "no_such_symbol"};
enum { N_NAMES = 6, MALLOC = 1, FREE = 2, CALLOC = 4, POSIX_MEMALIGN = 8, BACKEND = 16 };

static struct ab_elf read_guest(const char *file)
{
    struct ab_elf elf;
    struct ab_err err;
    char path[4096];
    if (ab_elf_read(guest_path(path, file), names, N_NAMES, &elf, &err) != AB_OK)
        fail_msg("%s %s", path, err.text);
    return elf;
}

/* A file in memory: its bytes, and a path to it. */
struct image {
    unsigned char *bytes;
    size_t size;
    int fd;
    char path[64];
};

static void image_put(struct image *im, size_t size)
{
    assert_int_equal(ftruncate(im->fd, 0), 0);
    assert_int_equal(pwrite(im->fd, im->bytes, size, 0), (ssize_t)size);
}

static struct image image_of_file(const char *path)
{
    struct image im;
    struct stat st;
    int fd = open(path, O_RDONLY);
    if (fd < 0)
        skip();
    assert_int_equal(fstat(fd, &st), 0);
    im.size = (size_t)st.st_size;
    im.bytes = malloc(im.size);
    assert_int_equal(read(fd, im.bytes, im.size), st.st_size);
    close(fd);
    im.fd = memfd_create("image", 0);
    snprintf(im.path, sizeof im.path, "/proc/self/fd/%d", im.fd);
    image_put(&im, im.size);
    return im;
}

static struct image image_of(const char *file)
{
    char path[4096];
    return image_of_file(guest_path(path, file));
}

static void image_free(struct image *im)
{
    free(im->bytes);
    close(im->fd);
}

static enum ab_status read_image(const struct image *im, struct ab_elf *elf, struct ab_err *err)
{
    return ab_elf_read(im->path, names, N_NAMES, elf, err);
}

static void a_whole_malloc_library_defines_its_functions(void **state)
{
    (void)state;
    struct ab_elf elf = read_guest("libplug_malloc.so");
    assert_int_equal(elf.defined, MALLOC | FREE | CALLOC | POSIX_MEMALIGN);
    assert_true(elf.is_dynamic);
    assert_false(elf.is_executable);
    assert_string_equal(elf.interp, "");
    assert_true(elf.ino != 0);
    assert_true(elf.build_id[0] == 0 || strlen(elf.build_id) == 40);
}

static void undefined_and_hidden_symbols_do_not_count(void **state)
{
    (void)state;
    assert_int_equal(read_guest("libplug_symbol.so").defined, 0);
    assert_int_equal(read_guest("libplug_partial.so").defined, MALLOC | FREE | CALLOC);
    assert_int_equal(read_guest("libplug_good.so").defined, BACKEND);
}

/* The C library of this process: a large file with everything in it. */
static struct image image_of_libc(void)
{
    Dl_info info;
    assert_true(dladdr(dlsym(RTLD_DEFAULT, "gnu_get_libc_version"), &info) != 0);
    return image_of_file(info.dli_fname);
}

static void the_c_library_is_found_to_define_malloc(void **state)
{
    (void)state;
    struct image im = image_of_libc();
    struct ab_elf elf;
    assert_int_equal(read_image(&im, &elf, NULL), AB_OK);
    assert_string_equal(elf.soname, "libc.so.6");
    assert_int_equal(elf.defined, MALLOC | FREE | CALLOC | POSIX_MEMALIGN);
    image_free(&im);
}

static Elf64_Phdr *find_segment(const struct image *im, uint32_t type)
{
    Elf64_Ehdr *h = (Elf64_Ehdr *)im->bytes;
    Elf64_Phdr *p = (Elf64_Phdr *)(im->bytes + h->e_phoff);
    for (size_t i = 0; i < h->e_phnum; i++)
        if (p[i].p_type == type)
            return &p[i];
    return NULL;
}

/* glibc has both tables: without the newer one the older is used. It lists undefined symbols. */
static void the_old_hash_table_serves_when_there_is_no_other(void **state)
{
    (void)state;
    struct image im = image_of_libc();
    Elf64_Phdr *segment = find_segment(&im, PT_DYNAMIC);
    bool has_old = false;
    for (Elf64_Dyn *d = (Elf64_Dyn *)(im.bytes + segment->p_offset); d->d_tag != DT_NULL; d++) {
        has_old = has_old || d->d_tag == DT_HASH;
        if (d->d_tag == DT_GNU_HASH)
            d->d_tag = 0x6fffff00;
    }
    if (!has_old)
        skip();
    image_put(&im, im.size);
    static const char *const wanted[] = {"malloc", "__tls_get_addr", "no_such_symbol"};
    struct ab_elf elf;
    assert_int_equal(ab_elf_read(im.path, wanted, 3, &elf, NULL), AB_OK);
    assert_int_equal(elf.defined, 1);
    image_free(&im);
}

static void build_ids_are_read_unless_they_are_too_long(void **state)
{
    (void)state;
    static const char gnu[] = "\4\0\0\0\24\0\0\0\3\0\0\0GNU";
    struct image im = image_of_libc();
    struct ab_elf elf;
    assert_int_equal(read_image(&im, &elf, NULL), AB_OK);
    unsigned char *note = memmem(im.bytes, im.size, gnu, sizeof gnu);
    if (note == NULL)
        skip();
    assert_int_equal(strlen(elf.build_id), 40);
    assert_int_equal(strspn(elf.build_id, "0123456789abcdef"), 40);
    static const unsigned char lengths[] = {21, 32, 64, 255};
    for (size_t i = 0; i < sizeof lengths; i++)
        for (size_t k = 4; k < 8; k += 3) {
            note[k] = lengths[i];
            image_put(&im, im.size);
            struct ab_elf bent;
            if (read_image(&im, &bent, NULL) == AB_OK)
                assert_string_equal(bent.build_id, "");
            note[k] = (unsigned char)gnu[k];
        }
    image_free(&im);
}

static void a_program_is_told_from_a_library(void **state)
{
    (void)state;
    struct ab_elf elf;
    struct ab_err err;
    assert_int_equal(ab_elf_read("/proc/self/exe", names, N_NAMES, &elf, &err), AB_OK);
    assert_true(elf.is_executable);
    assert_true(elf.is_dynamic);
    assert_non_null(strstr(elf.interp, "/ld-linux"));
}

static void expect_failure(const char *path, const char *part)
{
    struct ab_elf elf = {.ino = 12345};
    struct ab_err err;
    assert_int_equal(ab_elf_read(path, names, N_NAMES, &elf, &err), AB_INPUT);
    if (strstr(err.text, part) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", err.text, part);
    assert_int_equal(elf.ino, 12345);
}

static void what_is_no_library_is_named(void **state)
{
    (void)state;
    expect_failure("/no/such/file", "does not exist");
    expect_failure("/tmp", "is a directory");
    expect_failure("/dev/null", "a device");
    expect_failure("/etc/passwd", "is not an ELF file but text");
}

static void files_for_other_machines_are_named(void **state)
{
    (void)state;
    struct image im = image_of("libplug_good.so");
    Elf64_Ehdr *h = (Elf64_Ehdr *)im.bytes, original = *h;
    h->e_machine = EM_RISCV;
    image_put(&im, im.size);
    expect_failure(im.path, "is built for RISC-V");
    h->e_machine = 4711;
    image_put(&im, im.size);
    expect_failure(im.path, "is built for machine 4711");
    *h = original;
    h->e_ident[EI_CLASS] = ELFCLASS32;
    image_put(&im, im.size);
    expect_failure(im.path, "32-bit");
    h->e_machine = EM_386;
    image_put(&im, im.size);
    expect_failure(im.path, "is built for i386");
    *h = original;
    h->e_ident[EI_DATA] = h->e_ident[EI_DATA] == ELFDATA2LSB ? ELFDATA2MSB : ELFDATA2LSB;
    image_put(&im, im.size);
    expect_failure(im.path, "byte order");
    *h = original;
    h->e_type = ET_REL;
    image_put(&im, im.size);
    expect_failure(im.path, "an object file");
    image_put(&im, 0);
    expect_failure(im.path, "is empty");
    image_free(&im);
}

static void no_truncated_file_is_taken_for_whole(void **state)
{
    (void)state;
    struct image im = image_of("libplug_malloc.so");
    Elf64_Ehdr h;
    memcpy(&h, im.bytes, sizeof h);
    size_t loaded = 0;
    for (size_t i = 0; i < h.e_phnum; i++) {
        Elf64_Phdr p;
        memcpy(&p, im.bytes + h.e_phoff + i * sizeof p, sizeof p);
        if (p.p_type == PT_LOAD && p.p_offset + p.p_filesz > loaded)
            loaded = p.p_offset + p.p_filesz;
    }
    for (size_t size = 4; size < loaded; size += size < 4096 ? 1 : 97) {
        image_put(&im, size);
        expect_failure(im.path, "is truncated");
    }
    struct ab_elf elf;
    image_put(&im, loaded); /* section headers are not needed */
    assert_int_equal(read_image(&im, &elf, NULL), AB_OK);
    assert_int_equal(elf.defined, MALLOC | FREE | CALLOC | POSIX_MEMALIGN);
    image_free(&im);
}

/* Where the structures lie that are read: headers, dynamic section, hash and symbol tables. */
static void bent_files_are_read_or_refused_but_never_overrun(void **state)
{
    (void)state;
    static const unsigned char values[] = {0x00, 0xff, 0x7f, 0x80};
    struct image im = image_of("libplug_malloc.so");
    unsigned n_refused = 0, n_read = 0;
    for (size_t at = 0; at < im.size; at += at < 2048 ? 1 : 5)
        for (size_t v = 0; v < (at < 1024 ? 4u : 1u); v++) {
            struct ab_elf elf;
            struct ab_err err = {0};
            unsigned char flipped = at < 1024 ? values[v] : im.bytes[at] ^ 0xff;
            assert_int_equal(pwrite(im.fd, &flipped, 1, (off_t)at), 1);
            if (read_image(&im, &elf, &err) == AB_OK) {
                n_read++;
            } else {
                assert_true(err.text[0] != 0);
                n_refused++;
            }
            assert_int_equal(pwrite(im.fd, &im.bytes[at], 1, (off_t)at), 1);
        }
    assert_true(n_refused > 50);
    assert_true(n_read > 50);
    image_free(&im);
}

/* Tables that point at themselves or far away. */
static void hostile_tables_end(void **state)
{
    (void)state;
    struct image im = image_of("libplug_malloc.so");
    Elf64_Ehdr *h = (Elf64_Ehdr *)im.bytes;
    Elf64_Phdr *p = (Elf64_Phdr *)(im.bytes + h->e_phoff);
    static const uint64_t values[] = {0, 1, 8, 0xfff, UINT64_MAX, UINT64_MAX - 7, 1ull << 63};
    for (size_t i = 0; i < h->e_phnum; i++) {
        if (p[i].p_type != PT_DYNAMIC)
            continue;
        Elf64_Dyn *d = (Elf64_Dyn *)(im.bytes + p[i].p_offset);
        for (; d->d_tag != DT_NULL; d++)
            for (size_t v = 0; v < sizeof values / sizeof values[0]; v++) {
                struct ab_elf elf;
                uint64_t original = d->d_un.d_val;
                d->d_un.d_val = values[v];
                image_put(&im, im.size);
                read_image(&im, &elf, NULL);
                d->d_un.d_val = original;
            }
    }
    memset(im.bytes + sizeof *h + h->e_phnum * sizeof *p, 0, 4096);
    image_put(&im, im.size);
    struct ab_elf elf = {0};
    if (read_image(&im, &elf, NULL) == AB_OK)
        assert_int_equal(elf.defined, 0);
    image_free(&im);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_whole_malloc_library_defines_its_functions),
        cmocka_unit_test(undefined_and_hidden_symbols_do_not_count),
        cmocka_unit_test(the_c_library_is_found_to_define_malloc),
        cmocka_unit_test(the_old_hash_table_serves_when_there_is_no_other),
        cmocka_unit_test(build_ids_are_read_unless_they_are_too_long),
        cmocka_unit_test(a_program_is_told_from_a_library),
        cmocka_unit_test(what_is_no_library_is_named),
        cmocka_unit_test(files_for_other_machines_are_named),
        cmocka_unit_test(no_truncated_file_is_taken_for_whole),
        cmocka_unit_test(bent_files_are_read_or_refused_but_never_overrun),
        cmocka_unit_test(hostile_tables_end),
    };
    return cmocka_run_group_tests_name("elf", tests, NULL, NULL);
}
