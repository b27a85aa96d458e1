/* SPDX-License-Identifier: MIT
 *
 * Call sites in trace files: what is written comes back with its event, over several chunks, with a
 * thread that packs and without; files without them, and files that hold what cannot be.
 * tests: reader.c site_table.c writer.c
 */
#include "base/rng.h"
#include "support/cmocka.h"
#include "trace/compress.h"
#include "trace/format.h"
#include "trace/reader.h"
#include "trace/site_table.h"
#include "trace/writer.h"
#include "trace_tools/walk.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char path[] = "/tmp/test-trace-sites-XXXXXX";
static struct ab_err err;

/* ---- the table ---- */

static void what_is_the_same_is_there_once(void **state)
{
    (void)state;
    struct ab_site_table t = {0};
    uint32_t a, b, c;
    a = ab_site_know_module(&t, "/bin/a", 6, (const uint8_t *)"12", 2);
    b = ab_site_know_module(&t, "/bin/ab", 6, (const uint8_t *)"12", 2);
    c = ab_site_know_module(&t, "/bin/a", 6, (const uint8_t *)"13", 2);
    assert_int_equal(a, 1);
    assert_int_equal(b, 1);
    assert_int_equal(c, 2); /* the same path, another build */
    struct ab_site_frame frames[] = {{100, 1}, {200, 1}, {100, 2}};
    a = ab_site_know_stack(&t, frames, 2, AB_SITE_WHOLE);
    b = ab_site_know_stack(&t, frames, 3, AB_SITE_WHOLE);
    c = ab_site_know_stack(&t, frames, 2, AB_SITE_DEPTH);
    assert_int_equal(a, 1);
    assert_int_equal(b, 2);
    assert_int_equal(c, 3); /* the same frames, another end */
    c = ab_site_know_stack(&t, frames, 2, AB_SITE_WHOLE);
    assert_int_equal(c, 1);
    assert_int_equal(t.n_frames, 3);
    assert_int_equal(ab_site_frame(&t, 2, 2)->module, 2);
    ab_site_table_fini(&t);
}

/* As many as a file may have: the calls of others have no known site. */
static void what_has_no_room_has_no_number(void **state)
{
    (void)state;
    struct ab_site_table t = {0};
    struct ab_site_frame known = {100, 1}, other = {200, 1};
    uint32_t number;
    assert_int_equal(ab_site_know_module(&t, "/bin/a", 6, NULL, 0), 1);
    number = ab_site_know_stack(&t, &known, 1, AB_SITE_WHOLE);
    size_t *counts[] = {&t.n_stacks, &t.n_frames, &t.n_modules};
    const size_t most[] = {AB_SITE_STACKS_MAX, AB_SITE_FRAMES_MAX, AB_SITE_MODULES_MAX};
    for (int i = 0; i < 3; i++) {
        size_t n = *counts[i];
        *counts[i] = most[i];
        number = i == 2 ? ab_site_know_module(&t, "/bin/b", 6, NULL, 0)
                        : ab_site_know_stack(&t, &other, 1, AB_SITE_WHOLE);
        assert_int_equal(number, 0);
        number = ab_site_know_stack(&t, &known, 1, AB_SITE_WHOLE);
        assert_int_equal(number, 1);
        *counts[i] = n;
        if (i == 0)
            other.address = 300; /* one whose frame is new as well */
    }
    ab_site_table_fini(&t);
}

static void fill(struct ab_site_table *t, size_t n, uint64_t seed)
{
    struct ab_rng rng;
    ab_rng_init(&rng, seed, 1);
    for (size_t i = 0; i < n; i++) {
        struct ab_site_frame frames[AB_SITE_DEPTH_MAX];
        char name[64];
        uint32_t module;
        size_t depth = 1 + ab_rng_next(&rng) % AB_SITE_DEPTH_MAX;
        snprintf(name, sizeof name, "/lib/%llu", (unsigned long long)(ab_rng_next(&rng) % 300));
        module = ab_site_know_module(t, name, strlen(name), (const uint8_t *)name, 3);
        for (size_t k = 0; k < depth; k++)
            frames[k] = (struct ab_site_frame){ab_rng_next(&rng) >> (ab_rng_next(&rng) % 64),
                                               (uint32_t)(ab_rng_next(&rng) % (module + 1))};
        assert_int_not_equal(ab_site_know_stack(t, frames, depth, ab_rng_next(&rng) % 5), 0);
    }
}

static void assert_same(const struct ab_site_table *a, const struct ab_site_table *b)
{
    assert_int_equal(a->n_modules, b->n_modules);
    assert_int_equal(a->n_stacks, b->n_stacks);
    for (size_t i = 0; i < a->n_modules; i++) {
        assert_string_equal(a->modules[i].path, b->modules[i].path);
        assert_int_equal(a->modules[i].n_build_id, b->modules[i].n_build_id);
        assert_memory_equal(a->modules[i].build_id, b->modules[i].build_id, AB_SITE_BUILD_ID_MAX);
    }
    for (uint32_t s = 1; s <= a->n_stacks; s++) {
        assert_int_equal(a->stacks[s - 1].depth, b->stacks[s - 1].depth);
        assert_int_equal(a->stacks[s - 1].end, b->stacks[s - 1].end);
        for (size_t k = 0; k < a->stacks[s - 1].depth; k++) {
            assert_int_equal(ab_site_frame(a, s, k)->module, ab_site_frame(b, s, k)->module);
            assert_int_equal(ab_site_frame(a, s, k)->address, ab_site_frame(b, s, k)->address);
        }
    }
}

/* More than a chunk can hold, and then again some. */
static void definitions_come_back(void **state)
{
    (void)state;
    struct ab_site_table t = {0}, back = {0};
    struct ab_sites_done mark = {0};
    uint8_t *raw = malloc(AB_TRACE_RAW_MAX);
    size_t n, n_chunks = 0;
    for (int round = 0; round < 2; round++) {
        fill(&t, 6000, (uint64_t)round);
        for (; (n = ab_site_encode_definitions(&t, &mark, raw)) > 0; n_chunks++) {
            assert_true(n <= AB_TRACE_RAW_MAX);
            assert_null(ab_site_decode_definitions(&back, raw, n));
        }
    }
    assert_true(n_chunks > 4);
    assert_same(&t, &back);
    free(raw);
    ab_site_table_fini(&t);
    ab_site_table_fini(&back);
}

/* The worst that a chunk can be asked to hold. */
static void the_longest_definitions_fit(void **state)
{
    (void)state;
    struct ab_site_table t = {0};
    struct ab_sites_done mark = {0};
    char name[AB_SITE_PATH_MAX];
    uint8_t id[AB_SITE_BUILD_ID_MAX], *raw = malloc(AB_TRACE_RAW_MAX);
    memset(name, 'a', sizeof name);
    memset(id, 1, sizeof id);
    for (unsigned i = 0; i < 128; i++)
        ab_site_append_module(&t, name, sizeof name, id, sizeof id);
    for (unsigned i = 0; i < 65536; i++)
        ab_site_append_frame(&t,
                             (struct ab_site_frame){i % 2 ? UINT64_C(1) << 62 : UINT64_MAX, 128});
    for (uint32_t i = 0; i < 131072; i++)
        ab_site_append_stack(&t, &(uint32_t){65535}, 1, AB_SITE_DEPTH);
    size_t n = ab_site_encode_definitions(&t, &mark, raw);
    assert_true(n > 1900000 && n <= AB_TRACE_RAW_MAX);
    assert_int_equal(mark.n_stacks, 131072);
    free(raw);
    ab_site_table_fini(&t);
}

/* ---- files ---- */

static uint32_t site_of(uint64_t i, size_t n_stacks)
{
    return (uint32_t)(i * 2654435761u % (n_stacks + 1));
}

/* Allocations and resizes have sites, frees have none; the table grows meanwhile. */
static void write_trace(bool has_thread, uint32_t chunk_events, uint64_t n, struct ab_site_table *t)
{
    struct ab_trace_writer_options options = {
        .program = "prog", .has_thread = has_thread, .sites = t, .chunk_events = chunk_events};
    struct ab_trace_writer *w;
    FILE *to = fopen(path, "w");
    assert_int_equal(ab_trace_writer_open_with(to, &options, &w, &err), AB_OK);
    for (uint64_t i = 0; i < n; i++) {
        uint64_t number = 0;
        struct ab_event e = {.kind = AB_EVENT_ALLOC, .size = 8, .thread = (uint32_t)(i % 2)};
        if (i % 700 == 0)
            fill(t, 100, i);
        e.site = site_of(i, t->n_stacks);
        assert_int_equal(ab_trace_write(w, &e, &number, &err), AB_OK);
        struct ab_event resize = {.kind = AB_EVENT_RESIZE,
                                  .block = number,
                                  .size = 9,
                                  .site = site_of(i + 1, t->n_stacks)};
        assert_int_equal(ab_trace_write(w, &resize, &number, &err), AB_OK);
        struct ab_event end = {.kind = AB_EVENT_FREE, .block = number, .site = 77};
        assert_int_equal(ab_trace_write(w, &end, &number, &err), AB_OK);
    }
    assert_int_equal(ab_trace_writer_close(w, NULL, &err), AB_OK);
    fclose(to);
}

/* Fills all[] with the sites of the events, and says how many events there are. */
static size_t read_sites(const char *from, struct ab_site_table *t, uint32_t *all, size_t cap)
{
    struct ab_trace_options options = {.sites = t};
    struct ab_trace_reader *r;
    struct ab_event events[333];
    size_t n = 1, done = 0;
    assert_int_equal(ab_trace_open_with(from, &options, &r, &err), AB_OK);
    while (n > 0) {
        assert_int_equal(ab_trace_next(r, events, 333, &n, &err), AB_OK);
        for (size_t i = 0; i < n && done < cap; i++)
            all[done++] = events[i].site;
    }
    assert_int_equal(ab_trace_reader_info(r)->has_sites, true);
    assert_int_equal(ab_trace_reader_info(r)->optional_chunks, 0);
    ab_trace_close(r);
    return done;
}

static void sites_come_back_with_their_events(void **state)
{
    enum { N = 5000 };
    static uint32_t sites[3 * N];
    (void)state;
    for (unsigned kind = 0; kind < 4; kind++) {
        struct ab_site_table t = {0}, back = {0}, again = {0};
        write_trace(kind % 2, kind < 2 ? 500 : 0, N, &t);
        assert_int_equal(read_sites(path, &back, sites, 3 * N), 3 * N);
        assert_same(&t, &back);
        for (uint64_t i = 0; i < N; i++) {
            if (i % 700 == 0)
                fill(&again, 100, i);
            assert_int_equal(sites[3 * i], site_of(i, again.n_stacks));
            assert_int_equal(sites[3 * i + 1], site_of(i + 1, again.n_stacks));
            assert_int_equal(sites[3 * i + 2], 0);
        }
        ab_site_table_fini(&t);
        ab_site_table_fini(&back);
        ab_site_table_fini(&again);
    }
}

/* Who does not ask for them does not read them, and sees the same calls. */
static void they_can_be_passed_over(void **state)
{
    (void)state;
    struct ab_site_table t = {0};
    struct ab_trace_reader *r;
    struct ab_event events[100];
    size_t n;
    write_trace(false, 500, 900, &t);
    assert_int_equal(ab_trace_open(path, &r, &err), AB_OK);
    assert_int_equal(ab_trace_next(r, events, 100, &n, &err), AB_OK);
    assert_int_equal(n, 100);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(events[i].site, 0);
    while (n > 0)
        assert_int_equal(ab_trace_next(r, events, 100, &n, &err), AB_OK);
    assert_true(ab_trace_reader_info(r)->has_sites);
    assert_int_equal(ab_trace_reader_info(r)->optional_chunks, 0);
    ab_trace_close(r);
    ab_site_table_fini(&t);
}

/* Written by another program, from the document. */
static void the_golden_file_is_read(void **state)
{
    static uint32_t sites[4000];
    (void)state;
    struct ab_site_table t = {0};
    size_t n = read_sites("tests/golden/traces/good/sites.abt", &t, sites, 4000), with = 0;
    assert_int_equal(n, 3000);
    assert_int_equal(t.n_modules, 2);
    assert_string_equal(t.modules[1].path, "/lib/b.so");
    assert_int_equal(t.modules[0].n_build_id, 20);
    assert_int_equal(t.n_stacks, 5);
    assert_int_equal(t.stacks[4].end, AB_SITE_NO_MEMORY);
    assert_int_equal(ab_site_frame(&t, 5, 0)->address, 80);
    assert_int_equal(ab_site_frame(&t, 5, 1)->address, 4096);
    for (size_t i = 0; i < 2000; i++)
        with += sites[i] != 0;
    assert_true(with > 500);
    for (size_t i = 2000; i < 3000; i++)
        assert_int_equal(sites[i], 0); /* a chunk without a column */
    ab_site_table_fini(&t);
}

static void bad_files_are_refused(void **state)
{
    (void)state;
    glob_t found;
    assert_int_equal(glob("tests/golden/traces/bad-sites/*.abt", 0, NULL, &found), 0);
    assert_true(found.gl_pathc >= 20);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        struct ab_walk walk = {.path = found.gl_pathv[i]};
        char beside[300], wanted[200] = "";
        snprintf(beside, sizeof beside, "%.*s.expect", (int)strlen(walk.path) - 4, walk.path);
        FILE *f = fopen(beside, "r");
        assert_non_null(f);
        assert_non_null(fgets(wanted, sizeof wanted, f));
        fclose(f);
        wanted[strcspn(wanted, "\n")] = 0;
        if (ab_trace_check(&walk, NULL, &err) != AB_INPUT || strstr(err.text, wanted) == NULL)
            fail_msg("%s: no \"%s\" but \"%s\"", walk.path, wanted, err.text);
    }
    globfree(&found);
}

/* Whatever a byte of the definitions becomes, what is taken holds together. */
static void damage_is_refused_or_harmless(void **state)
{
    (void)state;
    struct ab_site_table t = {0};
    struct ab_sites_done mark = {0};
    uint8_t *raw = malloc(AB_TRACE_RAW_MAX);
    fill(&t, 40, 3);
    size_t n = ab_site_encode_definitions(&t, &mark, raw), n_refused = 0;
    for (size_t at = 0; at < n; at += 3) {
        struct ab_site_table back = {0};
        uint8_t was = raw[at];
        raw[at] = (uint8_t)(was + 1 + at % 250);
        n_refused += ab_site_decode_definitions(&back, raw, n) != NULL;
        for (uint32_t s = 1; s <= back.n_stacks; s++)
            for (size_t k = 0; k < back.stacks[s - 1].depth; k++)
                assert_true(ab_site_frame(&back, s, k)->module <= back.n_modules);
        raw[at] = was;
        ab_site_table_fini(&back);
    }
    assert_true(n_refused > 10);
    free(raw);
    ab_site_table_fini(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_the_same_is_there_once),
        cmocka_unit_test(what_has_no_room_has_no_number),
        cmocka_unit_test(definitions_come_back),
        cmocka_unit_test(the_longest_definitions_fit),
        cmocka_unit_test(sites_come_back_with_their_events),
        cmocka_unit_test(they_can_be_passed_over),
        cmocka_unit_test(the_golden_file_is_read),
        cmocka_unit_test(bad_files_are_refused),
        cmocka_unit_test(damage_is_refused_or_harmless),
    };
    int fd = mkstemp(path);
    close(fd);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(path);
    return failed;
}
