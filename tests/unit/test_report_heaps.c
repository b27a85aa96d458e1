/* SPDX-License-Identifier: MIT
 *
 * The tables of single heaps, by numbers that are made up, in every width: golden; what is not known
 * has its reason; and each number of a heap in the CSV.
 */
#include "answer/answer.h"
#include "report/sinks/sinks.h"
#include "report/table/sink_table.h"
#include "result/numbers.h"
#include "result/shown.h"
#include "support/cmocka.h"
#include "support/report_session.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { KIB = 1 << 10, HEAPS = 3, PARTS = 7 };

static struct ab_heap_part parts[PARTS];
static struct ab_hdr hdrs[PARTS];

static void add_part(struct ab_session *s, uint32_t heap, unsigned op, uint64_t ns, uint32_t n)
{
    struct ab_heap_part *p = &parts[s->n_heap_parts];
    struct ab_hdr *hdr = &hdrs[s->n_heap_parts++];
    ab_hdr_init(hdr);
    for (uint32_t i = 0; i < n; i++)
        ab_hdr_record(hdr, ns + ns * i / n);
    *p = (struct ab_heap_part){.heap = heap,
                               .phase = s->memory[0].phase,
                               .op = op,
                               .n_calls = 100 * (uint64_t)n,
                               .time_ns = 150.0 * (double)ns * n,
                               .live_peak_blocks = op == AB_OP_ALL ? n : 0,
                               .live_peak_bytes = op == AB_OP_ALL ? 64 * (uint64_t)n : 0,
                               .hdr = hdr};
}

/* One row of three heaps: an arena, a slab without usable sizes, and a malloc that reports nothing. */
static struct fake_session *make(void)
{
    struct fake_session *f = fake_session_of(1);
    struct ab_backend_info *b = &f->backends[FAKE_GLIBC];
    struct ab_memory *m = f->memory;
    const struct ab_heap_memory arena = {.requested_bytes = 100 * KIB,
                                         .footprint_bytes = 132 * KIB,
                                         .live_bytes = 100 * KIB,
                                         .internal_bytes = 8 * KIB,
                                         .external_bytes = 20 * KIB,
                                         .retained_bytes = 4 * KIB,
                                         .allocated_bytes = NAN,
                                         .mapped_bytes = 256 * KIB,
                                         .reserved_bytes = NAN,
                                         .metadata_bytes = 448,
                                         .drained_bytes = {132 * KIB, NAN, NAN, NAN, 0}};
    f->s.memory = f->memory;
    f->s.n_memory = 2;
    f->s.n_heap_parts = 0;
    f->s.heap_parts = parts;
    snprintf(b->name, sizeof b->name, "@map");
    b->n_heaps = HEAPS;
    snprintf(b->heaps[0].name, sizeof b->heaps[0].name, "arena");
    snprintf(b->heaps[0].keys, sizeof b->heaps[0].keys, "frame");
    snprintf(b->heaps[1].name, sizeof b->heaps[1].name, "slab:threads=sharded:quarantine=64KiB");
    snprintf(b->heaps[1].keys, sizeof b->heaps[1].keys, "size:1-256");
    snprintf(b->heaps[2].name, sizeof b->heaps[2].name, "glibc");
    snprintf(b->heaps[2].keys, sizeof b->heaps[2].keys, "*");
    for (unsigned i = 0; i < 2; i++) {
        m[i] = (struct ab_memory){.phase = f->s.phases[0],
                                  .at = i == 0 ? AB_AT_FOOTPRINT_PEAK : AB_AT_END,
                                  .footprint_bytes = 400 * KIB,
                                  .retained_bytes = 12 * KIB,
                                  .drained_bytes = {300 * KIB, NAN, NAN, NAN, 0},
                                  .reason = "internal: no usable_size: counted as external"};
        for (unsigned h = 0; h < HEAPS; h++)
            m[i].heaps[h] = arena;
        m[i].heaps[1].internal_bytes = NAN;
        m[i].heaps[2].mapped_bytes = NAN;
        m[i].heaps[2].live_bytes = 0;
        m[i].heaps[2].drained_bytes[0] = 0;
    }
    add_part(&f->s, 0, AB_OP_ALLOC, 20, 5000);
    add_part(&f->s, 0, AB_OP_ALL, 20, 5000);
    add_part(&f->s, 1, AB_OP_ALLOC, 40, 300);
    add_part(&f->s, 1, AB_OP_FREE, 30, 15); /* too few for any percentile */
    add_part(&f->s, 1, AB_OP_ALL, 40, 315);
    add_part(&f->s, 2, AB_OP_RESIZE, 900, 0); /* of which none was timed */
    add_part(&f->s, 2, AB_OP_ALL, 900, 0);
    return f;
}

static void forget(struct fake_session *f)
{
    f->s.heap_parts = NULL;
    f->s.n_heap_parts = 0;
    fake_session_free(f);
}

static void draw(FILE *to, const struct ab_session *s, void *user)
{
    struct ab_table_style style = {
        .width = *(unsigned *)user, .utf8 = true, .topics = AB_TOPIC_MEMORY | AB_TOPIC_TIME};
    struct ab_legend legend = {0};
    struct ab_format_guard guard;
    struct ab_view view;
    struct ab_grid g;
    ab_format_begin(&guard);
    ab_view_make(s, &view);
    ab_table_places(to, &view, AB_TERMINAL_HEAPS, AB_TERMINAL_HEAPS, style);
    assert_true(ab_heaps_memory_grid(&(struct ab_topic_at){.view = &view,
                                                           .surface = AB_TERMINAL,
                                                           .phase = s->phases[0],
                                                           .backend = UINT32_MAX,
                                                           .utf8 = true},
                                     &g));
    ab_legend_grid(to, &g, style, &legend);
    ab_footnotes_print(to, &legend.notes, style);
    ab_grid_fini(&g);
    ab_view_fini(&view);
    ab_format_end(&guard);
}

static void assert_fits(const char *text, unsigned width)
{
    char line[1000];
    for (const char *end; (end = strchr(text, '\n')) != NULL; text = end + 1) {
        snprintf(line, sizeof line, "%.*s", (int)(end - text), text);
        struct ab_format_guard guard;
        ab_format_begin(&guard);
        if (ab_format_width(line) > width)
            fail_msg("%u columns: %s", ab_format_width(line), line);
        ab_format_end(&guard);
    }
}

static void tables_are_golden_and_fit(void **state)
{
    (void)state;
    unsigned widths[] = {60, 80, 140};
    for (unsigned i = 0; i < 3; i++) {
        struct fake_session *f = make();
        char name[32], *text = fake_capture(draw, &f->s, &widths[i]);
        snprintf(name, sizeof name, "heaps-%u.txt", widths[i]);
        assert_fits(text, widths[i]);
        if (widths[i] <= 80)
            fake_assert_golden(name, text);
        free(text);
        forget(f);
    }
}

static bool make_topic(bool (*topic)(const struct ab_topic_at *, struct ab_grid *),
                       const struct ab_session *s, struct ab_grid *g)
{
    const struct ab_view view = {.session = s};
    return topic(&(struct ab_topic_at){.view = &view, .phase = s->phases[0]}, g);
}

/* The calls of the second heap that give a block. */
static double timed_allocs(const struct ab_session *s)
{
    struct ab_grid g;
    double n = NAN;
    assert_true(make_topic(ab_heaps_latency_grid, s, &g));
    for (size_t r = 0; r < g.n_rows; r++)
        if (strncmp(g.rows[r].label, "slab", 4) == 0 && strcmp(g.rows[r].tail, " alloc") == 0)
            n = g.rows[r].cells[0].value;
    ab_grid_fini(&g);
    return n;
}

/* What is held of no single heap. */
static void assert_rest(const struct ab_session *s, enum ab_grid_kind kind, double bytes)
{
    enum { HELD = 4 };
    struct ab_grid g;
    assert_true(make_topic(ab_heaps_memory_grid, s, &g));
    assert_int_equal(g.rows[g.n_rows - 1].cells[HELD].kind, kind);
    assert_true(g.rows[g.n_rows - 1].cells[HELD].value == bytes);
    ab_grid_fini(&g);
}

static void calls_of_a_heap_are_those_of_all_rounds(void **state)
{
    (void)state;
    struct fake_session *f = make();
    assert_true(timed_allocs(&f->s) == 300);
    parts[3].op = AB_OP_ALLOC;
    parts[3].round = 1;
    assert_true(timed_allocs(&f->s) == 315);
    assert_rest(&f->s, AB_GRID_BYTES, 4 * KIB);
    f->memory[0].heaps[1].footprint_bytes = NAN;
    assert_rest(&f->s, AB_GRID_BLANK, 0);
    forget(f);
}

/* Pages say it above their tables. */
static void times_that_no_heap_has_are_missed_aloud(void **state)
{
    (void)state;
    struct fake_session *f = make();
    for (uint32_t i = 0; i < f->s.n_heap_parts; i++)
        parts[i].time_ns = NAN;
    for (unsigned surface = 0; surface < AB_SURFACE_COUNT; surface++) {
        struct ab_grid g;
        const struct ab_view view = {.session = &f->s};
        assert_true(ab_heaps_grid(
            &(struct ab_topic_at){.view = &view, .surface = surface, .phase = f->s.phases[0]}, &g));
        assert_int_equal(g.note != NULL, surface != AB_PAGE);
        ab_grid_fini(&g);
    }
    forget(f);
}

static void write_csv(FILE *to, const struct ab_session *s, void *user)
{
    (void)user;
    ab_sink_csv(to, s);
}

static void numbers_have_the_name_of_their_heap(void **state)
{
    (void)state;
    struct fake_session *f = make();
    char p50[64], *csv = fake_capture(write_csv, &f->s, NULL);
    unsigned n = 0;
    for (const char *at = csv; (at = strstr(at, ",alloc,heap:arena:")) != NULL; at++)
        n++;
    assert_int_equal(n, 9); /* p99.9 is n/a */
    snprintf(p50, sizeof p50, ",alloc,heap:arena:p50,%.12g,ns", ab_result_quantile(&hdrs[0], 0.5));
    assert_non_null(strstr(csv, p50));
    assert_non_null(strstr(csv, ",heap:glibc:drained_0s,0,bytes"));
    assert_non_null(strstr(csv, "heap:slab:threads=sharded:quarantine=64KiB:mapped_bytes,"));
    assert_null(strstr(csv, "heap:glibc:mapped_bytes"));
    free(csv);
    forget(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables_are_golden_and_fit),
        cmocka_unit_test(calls_of_a_heap_are_those_of_all_rounds),
        cmocka_unit_test(times_that_no_heap_has_are_missed_aloud),
        cmocka_unit_test(numbers_have_the_name_of_their_heap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
