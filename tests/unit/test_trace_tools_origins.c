/* SPDX-License-Identifier: MIT
 *
 * Allocations of known sites and lives, small enough to be followed on paper: class, scope, parity.
 */
#include "trace_tools/origins.h"

#include "support/cmocka.h"
#include "support/trace.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct ab_err err;
static unsigned n_asked;

static char *write_trace(const struct ab_event *calls, size_t n, uint32_t n_sites)
{
    struct ab_site_table t = {0};
    struct ab_trace_writer *w;
    char *path = test_trace_file(NULL, 0);
    FILE *to = fopen(path, "wb");
    for (uint64_t i = 0; i < n_sites; i++) {
        struct ab_site_frame frame = {i, 0};
        assert_int_not_equal(ab_site_know_stack(&t, &frame, 1, AB_SITE_DEPTH), 0);
    }
    struct ab_trace_writer_options options = {.program = "known", .sites = &t};
    assert_int_equal(ab_trace_writer_open_with(to, &options, &w, &err), AB_OK);
    for (size_t i = 0; i < n; i++) {
        uint64_t number;
        if (ab_trace_write(w, &calls[i], &number, &err) != AB_OK)
            fail_msg("%s", err.text);
    }
    assert_int_equal(ab_trace_writer_close(w, NULL, &err), AB_OK);
    fclose(to);
    ab_site_table_fini(&t);
    return path;
}

/* Stacks are one frame each, whose address is the number less one: pattern 0 fits even addresses,
 * pattern 1 those from 2 on. */
static uint64_t match(void *user, const struct ab_site_table *table, uint32_t stack)
{
    uint64_t address = ab_site_frame(table, stack, 0)->address;
    (void)user;
    n_asked++;
    return (address % 2 == 0 ? 1u : 0u) | (address >= 2 ? 2u : 0u);
}

static uint64_t each_its_own(void *user, const struct ab_site_table *table, uint32_t stack)
{
    (void)user;
    return ab_site_frame(table, stack, 0)->address + 1;
}

static enum ab_status find(char *path, const struct ab_scopes *scopes,
                           uint64_t (*how)(void *, const struct ab_site_table *, uint32_t),
                           struct ab_origins *out)
{
    struct ab_site_table sites = {0};
    const struct ab_origins_wish wish = {.path = path, .scopes = scopes, .match = how};
    n_asked = 0;
    enum ab_status status = ab_origins_find(&wish, &sites, out, &err);
    ab_site_table_fini(&sites);
    unlink(path);
    free(path);
    return status;
}

/* A block counts as scoped from its birth, through resizes; the end of a scope is ahead of the call
 * that it names. */
static void scopes_and_sites_of_each_allocation(void **state)
{
    (void)state;
    static const struct ab_event calls[] = {
        {.kind = AB_EVENT_ALLOC, .size = 8, .site = 1},               /* 0: scoped */
        {.kind = AB_EVENT_ALLOC, .size = 8, .site = 2},               /* 1: dies with call 4 */
        {.kind = AB_EVENT_RESIZE, .size = 90, .block = 0, .site = 4}, /* no allocation */
        {.kind = AB_EVENT_FREE, .block = 0},                          /* 3 */
        {.kind = AB_EVENT_FREE, .block = 1},                          /* 4: in the next scope */
        {.kind = AB_EVENT_ALLOC, .size = 8, .site = 3},               /* 5: scoped, odd */
        {.kind = AB_EVENT_ALLOC_ZEROED, .size = 9, .site = 1, .failed = true}, /* 6: odd */
        {.kind = AB_EVENT_FREE, .block = 2},                                   /* 7 */
        {.kind = AB_EVENT_ALLOC, .size = 8}, /* 8: never freed, even */
    };
    static uint64_t ends[] = {4, 8};
    const struct ab_scopes scopes = {.ends = ends, .n = 2, .from = AB_SCOPES_FOUND};
    static const uint8_t both[] = {1 | AB_ORIGIN_SCOPED, 0, 2 | AB_ORIGIN_SCOPED | AB_ORIGIN_ODD,
                                   1 | AB_ORIGIN_ODD, 0};
    struct ab_origins o;
    assert_int_equal(find(write_trace(calls, 9, 4), &scopes, match, &o), AB_OK);
    assert_int_equal(o.n, 5);
    assert_memory_equal(o.bytes, both, 5);
    assert_int_equal(n_asked, 3); /* a resize is not, and no stack is asked for twice */
    assert_int_equal(o.n_classes, 3);
    assert_int_equal(o.patterns[0], 0);
    assert_int_equal(o.patterns[1], 1);
    assert_int_equal(o.patterns[2], 3);
    assert_int_equal(o.n_without_site, 1);
    ab_origins_fini(&o);
    assert_int_equal(find(write_trace(calls, 9, 4), NULL, match, &o), AB_OK);
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(o.bytes[i], both[i] & AB_ORIGIN_CLASS);
    ab_origins_fini(&o);
    assert_int_equal(find(write_trace(calls, 9, 4), &scopes, NULL, &o), AB_OK);
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(o.bytes[i], both[i] & ~AB_ORIGIN_CLASS);
    ab_origins_fini(&o);
}

/* Blocks of other threads take no part, whoever frees them. */
static void scopes_of_one_thread(void **state)
{
    (void)state;
    static const struct ab_event calls[] = {
        {.kind = AB_EVENT_ALLOC, .size = 8},                           /* 0: another's */
        {.kind = AB_EVENT_ALLOC, .size = 8, .thread = 1},              /* 1: scoped */
        {.kind = AB_EVENT_RESIZE, .size = 9, .block = 0, .thread = 1}, /* still another's */
        {.kind = AB_EVENT_RESIZE, .size = 9, .block = 1, .thread = 0}, /* still its own */
        {.kind = AB_EVENT_FREE, .block = 0, .thread = 1},
        {.kind = AB_EVENT_FREE, .block = 1},
    };
    static uint64_t ends[] = {6};
    const struct ab_scopes scopes = {
        .ends = ends, .n = 1, .from = AB_SCOPES_FOUND, .is_of_thread = true, .thread = 1};
    struct ab_origins o;
    assert_int_equal(find(write_trace(calls, 6, 1), &scopes, NULL, &o), AB_OK);
    assert_int_equal(o.n, 2);
    assert_int_equal(o.bytes[0], 0);
    assert_int_equal(o.bytes[1], AB_ORIGIN_SCOPED);
    ab_origins_fini(&o);
}

static void more_classes_than_a_byte_has_are_refused(void **state)
{
    (void)state;
    struct ab_event calls[AB_ORIGIN_CLASSES];
    struct ab_origins o;
    for (uint32_t i = 0; i < AB_ORIGIN_CLASSES; i++)
        calls[i] = (struct ab_event){.kind = AB_EVENT_ALLOC, .size = 8, .site = i + 1};
    enum ab_status status = find(write_trace(calls, AB_ORIGIN_CLASSES - 1, AB_ORIGIN_CLASSES), NULL,
                                 each_its_own, &o);
    assert_int_equal(status, AB_OK);
    assert_int_equal(o.bytes[62], 63);
    ab_origins_fini(&o);
    status = find(write_trace(calls, AB_ORIGIN_CLASSES, AB_ORIGIN_CLASSES), NULL, each_its_own, &o);
    assert_int_equal(status, AB_USAGE);
    assert_non_null(strstr(err.text, "overlap in more than 64 ways"));
    ab_origins_fini(&o);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scopes_and_sites_of_each_allocation),
        cmocka_unit_test(scopes_of_one_thread),
        cmocka_unit_test(more_classes_than_a_byte_has_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
