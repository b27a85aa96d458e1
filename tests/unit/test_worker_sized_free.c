/* SPDX-License-Identifier: MIT */
#include "support/cmocka.h"
#include "worker/worker.h"

#include <string.h>

static struct { /* the last call */
    const char *function;
    void *block;
    size_t first, second;
} seen;

static void note(const char *function, void *block, size_t first, size_t second)
{
    seen.function = function;
    seen.block = block;
    seen.first = first;
    seen.second = second;
}

static void plain(void *p)
{
    note("free", p, 0, 0);
}

static void two(void *p, size_t size)
{
    note("two", p, size, 0);
}

static void flags(void *p, size_t size, int n)
{
    note("flags", p, size, (size_t)n);
}

static void three(void *p, size_t a, size_t b)
{
    note("three", p, a, b);
}

static const struct own {
    const char *name;
    void *function;
} * own;

static void *find(struct ab_worker *w, const char *name)
{
    (void)w;
    for (const struct own *o = own; o->name != NULL; o++)
        if (strcmp(o->name, name) == 0)
            return o->function;
    return NULL;
}

static char block[64];

static struct ab_malloc_calls face_of(const struct own *functions, uint64_t n_sized,
                                      const char *prefix, const char *said)
{
    static struct ab_run_page page;
    struct ab_tape_image image = {.n_sized_frees = n_sized};
    struct ab_worker w = {.image = &image, .page = &page};
    struct ab_malloc_calls face = {.free = plain};
    own = functions;
    memset(&page, 0, sizeof page);
    strcpy(page.request.prefix, prefix);
    ab_worker_find_sized_free(&w, &face, find);
    assert_string_equal(page.report.sized_free, said);
    return face;
}

static void expect(const struct ab_malloc_calls *face, unsigned log2, const char *function,
                   size_t first, size_t second)
{
    ab_malloc_free_sized(face, block, 40, log2);
    assert_string_equal(seen.function, function);
    assert_ptr_equal(seen.block, block);
    assert_int_equal(seen.first, first);
    assert_int_equal(seen.second, second);
}

#define OWN(name, function) \
    { \
        name, (void *)(uintptr_t)(function) \
    }

static void each_family_gets_what_it_takes(void **state)
{
    (void)state;
    const struct own none[] = {OWN(NULL, 0)};
    const struct own c23[] = {OWN("free_sized", two), OWN("free_aligned_sized", three),
                              OWN("sdallocx", flags), OWN(NULL, 0)};
    const struct own je[] = {OWN("sdallocx", flags), OWN("_ZdlPvm", two), OWN(NULL, 0)};
    const struct own mi[] = {OWN("mi_free_size", two), OWN("mi_free_size_aligned", three),
                             OWN(NULL, 0)};
    const struct own tc[] = {OWN("tc_free_sized", two), OWN("_ZdlPvm", two), OWN(NULL, 0)};
    const struct own cpp[] = {OWN("_ZdlPvm", two), OWN("_ZdlPvmSt11align_val_t", three),
                              OWN(NULL, 0)};
    const struct own prefixed[] = {OWN("free_size", two), OWN("free_size_aligned", three),
                                   OWN(NULL, 0)};
    struct ab_malloc_calls face = face_of(none, 1, "", "free");
    expect(&face, 0, "free", 0, 0);
    expect(&face, 6, "free", 0, 0);
    face = face_of(c23, 1, "", "free_sized");
    expect(&face, 0, "two", 40, 0);
    expect(&face, 6, "three", 64, 40);
    face = face_of(je, 1, "", "sdallocx");
    expect(&face, 0, "flags", 40, 0);
    expect(&face, 6, "flags", 40, 6);
    face = face_of(mi, 1, "", "mi_free_size");
    expect(&face, 6, "three", 40, 64);
    face = face_of(tc, 1, "", "tc_free_sized");
    expect(&face, 0, "two", 40, 0);
    expect(&face, 6, "free", 0, 0);
    face = face_of(cpp, 1, "", "operator delete(void*, size_t)");
    expect(&face, 12, "three", 40, 4096);
    face = face_of(prefixed, 1, "mi_", "mi_free_size");
    expect(&face, 0, "two", 40, 0);
}

static void work_without_sized_frees_asks_for_no_function(void **state)
{
    (void)state;
    const struct own je[] = {OWN("sdallocx", flags), OWN(NULL, 0)};
    struct ab_malloc_calls face = face_of(je, 0, "", "");
    expect(&face, 0, "free", 0, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_family_gets_what_it_takes),
        cmocka_unit_test(work_without_sized_frees_asks_for_no_function),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
