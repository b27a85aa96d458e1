/* SPDX-License-Identifier: MIT
 *
 * Memory and depth on the terminal, from records made by hand: what is told, with what it is
 * compared, and that nothing ever wraps.
 */
#include "report/table/sink_table.h"
#include "result/memory_dist.h"
#include "result/numbers.h"
#include "result/shown.h"
#include "support/cmocka.h"
#include "support/report_session.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct numbers {
    struct ab_memory memory[24];
    struct ab_timeline_point points[2][4];
    struct ab_timeline timelines[2];
    struct ab_size_class classes[2];
    struct ab_window windows[8];
    struct ab_memory_dist dists[2 * AB_DIST_COUNT];
};

static bool has_dists; /* and external bytes over time */

/* Of back end 0 external is 10 % of the live bytes, at one op in 50 it is 300 %; of back end 1 nothing
 * is known. */
static struct ab_memory_dist dist(uint32_t backend, enum ab_memory_dist_kind kind)
{
    struct ab_memory_dist d = {.backend = backend, .phase = "steady", .kind = kind, .n_ops = 4000};
    if (backend == 1) {
        snprintf(d.reason, sizeof d.reason, "blocks may move: their addresses are unknown");
        return d;
    }
    d.hdr = ab_memory_dist_histogram();
    for (unsigned i = 0; i < 2000; i++)
        ab_memory_dist_add(&d, kind == AB_DIST_EXTERNAL_RATIO ? (i % 50 == 0 ? 3 : 0.1) : 12.5, 2);
    return d;
}

static struct ab_memory record(uint32_t backend, uint32_t round, enum ab_memory_at at)
{
    double scale = 1 + 0.1 * ((round + 1) % 3); /* the median is that of round 0 */
    const double kib = 1024 * scale, none = NAN;
    struct ab_memory m = {.backend = backend,
                          .phase = "steady",
                          .round = round,
                          .at = at,
                          .live_peak_bytes = 1 << 20,
                          .rss_peak_bytes = 3000 * kib,
                          .requested_bytes = 1000 * kib,
                          .live_bytes = 1000 * kib,
                          .internal_bytes = backend == 0 ? 250 * kib : none,
                          .external_bytes = backend == 0 ? 750 * kib : 1000 * kib,
                          .retained_bytes = 1000 * kib,
                          .footprint_bytes = 3000 * kib,
                          .overhead_peak = 3 * scale,
                          .overhead = 3,
                          .overhead_mean = 1.5,
                          .faults_minor = 500,
                          .faults_major = 0};
    for (unsigned i = 0; i < AB_DRAIN_COUNT; i++)
        m.drained_bytes[i] = at == AB_AT_END && i < 2 ? 4096.0 * (i + 1) : none;
    snprintf(m.reason, sizeof m.reason, "%sdrained: not waited for: --drain=10s; purged: no purge",
             backend == 1 ? "internal: no usable_size: counted as external; " : "");
    return m;
}

static struct numbers *attach(struct ab_session *s)
{
    struct numbers *n = calloc(1, sizeof *n);
    s->memory = n->memory;
    for (uint32_t backend = 0; backend < 2; backend++)
        for (uint32_t round = 0; round < 3; round++)
            for (int at = 0; at < AB_AT_COUNT; at++)
                n->memory[s->n_memory++] = record(backend, round, (enum ab_memory_at)at);
    s->timelines = n->timelines;
    s->n_timelines = 2;
    for (uint32_t b = 0; b < 2; b++) {
        n->timelines[b] = (struct ab_timeline){b, 0, 4, n->points[b]};
        for (uint32_t i = 0; i < 4; i++)
            n->points[b][i] = (struct ab_timeline_point){i * 100, 0, 0, (b + 1) * 1000.0 * i,
                                                         has_dists && b == 0 ? 500.0 * i : NAN};
    }
    s->dists = n->dists;
    for (uint32_t b = 0; b < 2 && has_dists; b++)
        for (unsigned k = 0; k < AB_DIST_COUNT; k++)
            n->dists[s->n_dists++] = dist(b, (enum ab_memory_dist_kind)k);
    s->size_classes = n->classes;
    s->n_size_classes = 2;
    s->windows = n->windows;
    s->n_windows = 8;
    for (uint32_t b = 0; b < 2; b++) {
        n->classes[b] = (struct ab_size_class){b, "steady", AB_OP_ALLOC,
                                               0, 6,        calloc(1, sizeof(struct ab_hdr))};
        ab_hdr_init(n->classes[b].hdr);
        for (int i = 0; i < 2000; i++)
            ab_hdr_record(n->classes[b].hdr, 40 + 10 * b);
        for (uint32_t i = 0; i < 4; i++)
            n->windows[4 * b + i] = (struct ab_window){.backend = b,
                                                       .phase = "steady",
                                                       .begin = i * 10,
                                                       .end = i * 10 + 10,
                                                       .n = 100,
                                                       .p50 = 30,
                                                       .p99 = 60,
                                                       .max = 100.0 * (i + 1)};
    }
    return n;
}

static void detach(struct ab_session *s, struct numbers *n)
{
    for (uint32_t b = 0; b < 2; b++)
        free(n->classes[b].hdr);
    for (uint32_t i = 0; i < s->n_dists; i++)
        free(n->dists[i].hdr);
    s->dists = NULL;
    s->n_dists = 0;
    s->memory = NULL;
    s->timelines = NULL;
    s->size_classes = NULL;
    s->windows = NULL;
    s->n_memory = s->n_timelines = s->n_size_classes = s->n_windows = 0;
    free(n);
}

static void write_both(FILE *to, const struct ab_session *s, void *user)
{
    const struct ab_table_style *style = user;
    struct ab_format_guard guard;
    ab_format_begin(&guard);
    struct ab_view view;
    ab_view_make(s, &view);
    ab_table_places(to, &view, AB_TERMINAL_MEMORY, AB_TERMINAL_MEMORY, *style);
    ab_table_places(to, &view, AB_TERMINAL_DEPTH, AB_TERMINAL_DEPTH, *style);
    ab_view_fini(&view);
    ab_format_end(&guard);
}

static void expect(const char *text, const char *part)
{
    if (strstr(text, part) == NULL) {
        fputs(text, stderr);
        fail_msg("not there: %s", part);
    }
}

/* Drawn by `change` from the records, at this width. */
static char *draw(void (*change)(struct ab_memory *m), struct ab_table_style style)
{
    struct fake_session *f = fake_session_new();
    struct numbers *n = attach(&f->s);
    for (uint32_t i = 0; i < f->s.n_memory && change != NULL; i++)
        change(&n->memory[i]);
    char *text = fake_capture(write_both, &f->s, &style);
    detach(&f->s, n);
    fake_session_free(f);
    return text;
}

static void the_bytes_of_the_median_run_add_up(void **state)
{
    (void)state;
    char *text = draw(
        NULL, (struct ab_table_style){.width = 120, .topics = ab_topic_words_up_to(AB_LEVEL_RARE)});
    expect(text, "memory / steady, in MiB: live peak 1.00 MiB");
    expect(text,
           "steady      live  internal  external  retained  = peak  x live   mean  at end  faults");
    expect(text,
           "glibc     1.07      0.27      0.81      1.07    3.22   3.00x  1.50x    3.22     500");
    expect(text,
           "jemalloc  1.07      -(1)      1.08      1.07    3.22   3.00x  1.50x    3.22     500");
    const char *arena = strstr(text,
                               "arena"); /* it has no records: only tables of latency name it */
    assert_true(arena == NULL || arena > strstr(text, "percentiles of the first round"));
    assert_null(strstr(text, "untouched  "));
    free(text);
}

static void a_dash_has_the_number_of_its_reason(void **state)
{
    (void)state;
    char *text = draw(
        NULL, (struct ab_table_style){.width = 120, .topics = ab_topic_words_up_to(AB_LEVEL_RARE)});
    expect(text, "\n(1) no usable_size: counted as external\n");
    assert_null(strstr(text, "(2)")); /* what has no dash needs no note */
    free(text);
    text = draw(NULL,
                (struct ab_table_style){.width = 120, .utf8 = true, .topics = AB_TOPIC_MEMORY});
    expect(text, "1.07        -\xc2\xb9      1.08");
    expect(text, "\n\xc2\xb9 no usable_size: counted as external\n");
    free(text);
}

static void break_pages(struct ab_memory *m)
{
    if (m->backend == 0)
        return;
    m->live_bytes = m->internal_bytes = m->external_bytes = m->retained_bytes = NAN;
    m->untouched_bytes = m->overhead = NAN;
    strcpy(m->reason, "pages: its blocks move: where they lie is not known");
}

static void break_footprint(struct ab_memory *m)
{
    break_pages(m);
    if (m->backend == 0)
        return;
    m->footprint_bytes = m->overhead_mean = NAN;
    for (unsigned i = 0; i < AB_DRAIN_COUNT; i++)
        m->drained_bytes[i] = NAN;
    strcpy(m->reason,
           "footprint: the allocator uses shared mappings, which the footprint excludes; "
           "internal: no usable_size: counted as external");
}

static void what_is_not_known_of_pages_is_no_zero(void **state)
{
    (void)state;
    char *text = draw(
        break_pages,
        (struct ab_table_style){.width = 120, .topics = ab_topic_words_up_to(AB_LEVEL_RARE)});
    expect(text, "jemalloc  -(1)      -(1)      -(1)      -(1)    3.22    -(1)       -(1)  1.50x"
                 "    3.22     500\n");
    free(text);
    text = draw(break_footprint, (struct ab_table_style){
                                     .width = 120, .topics = ab_topic_words_up_to(AB_LEVEL_RARE)});
    expect(text, "jemalloc  -(1)      -(1)      -(1)      -(1)    -(1)    -(1)       -(1)   -(1)"
                 "    -(1)     500\n");
    expect(text, "jemalloc         -(1)         -(1)");
    expect(text, "(1) the allocator uses shared mappings");
    free(text);
}

static void only_what_was_waited_for_has_a_column(void **state)
{
    (void)state;
    char *text = draw(
        NULL, (struct ab_table_style){.width = 120, .topics = ab_topic_words_up_to(AB_LEVEL_RARE)});
    expect(text, "after free  immediately  0.1 s later");
    expect(text, "glibc        4.00 KiB     8.00 KiB");
    assert_null(strstr(text, "10 s later"));
    assert_null(strstr(text, "after purge"));
    free(text);
}

static void make_untouched(struct ab_memory *m)
{
    m->untouched_bytes = 5 << 20;
}

static void what_is_untouched_stands_apart(void **state)
{
    (void)state;
    char *text = draw(
        make_untouched,
        (struct ab_table_style){.width = 120, .topics = ab_topic_words_up_to(AB_LEVEL_RARE)});
    expect(text, "  = peak  x live  untouched   mean");
    expect(text, "    3.22   3.00x       5.00  1.50x");
    free(text);
}

/* Thirds do not fit two decimals: the sums so far are what is rounded. */
static void make_thirds(struct ab_memory *m)
{
    m->live_bytes = m->internal_bytes = m->external_bytes = m->retained_bytes = (1 << 20) / 3.0;
    m->footprint_bytes = 4 * m->live_bytes;
}

static void what_is_printed_adds_up(void **state)
{
    (void)state;
    char *text = draw(
        make_thirds,
        (struct ab_table_style){.width = 120, .topics = ab_topic_words_up_to(AB_LEVEL_RARE)});
    expect(text, "glibc     0.33      0.34      0.33      0.33    1.33");
    free(text);
}

/* Every title and every number, in lines below each other. */
static void no_column_goes_where_the_width_is_short(void **state)
{
    (void)state;
    static const char *const titles[] = {"live",   "internal",    "external", "retained",
                                         "= peak", "x live",      "mean",     "at end",
                                         "faults", "immediately", "over time"};
    for (unsigned width = 34; width <= 110; width += 4) {
        char *text = draw(NULL, (struct ab_table_style){.width = width, .topics = AB_TOPIC_MEMORY});
        char *legend = strstr(text, "live + internal + external");
        assert_non_null(legend);
        *legend = 0;
        for (size_t i = 0; i < sizeof titles / sizeof titles[0]; i++)
            expect(text, titles[i]);
        free(text);
    }
}

static void footprints_are_drawn_over_one_range(void **state)
{
    (void)state;
    struct fake_session *f = fake_session_new();
    struct numbers *n = attach(&f->s);
    struct ab_table_style style = {.width = 120, .topics = ab_topic_words_up_to(AB_LEVEL_RARE)};
    char *text = fake_capture(write_both, &f->s, &style);
    expect(text, ".     :      -     =\n"); /* half as high as the other */
    expect(text, ".     -      *     @\n");
    free(text);
    detach(&f->s, n);
    fake_session_free(f);
}

static void memory_over_the_ops_is_told_in_percent_of_the_live_bytes(void **state)
{
    (void)state;
    has_dists = true;
    char *text = draw(
        NULL, (struct ab_table_style){.width = 120, .topics = ab_topic_words_up_to(AB_LEVEL_RARE)});
    expect(text, "memory over the ops / steady, in % of live\n");
    expect(text,
           "steady      external p50   p90    p99    max  retained p50    p90    p99    max\n");
    expect(text, "glibc             10.0  10.0  300.0  300.0         12.5x  12.5x  12.5x  12.5x\n");
    expect(text, "jemalloc          -(2)  -(2)   -(2)   -(2)          -(2)   -(2)   -(2)   -(2)\n");
    expect(text, "(2) blocks may move: their addresses are unknown");
    expect(text,
           "steady      internal p50    p90    p99    max  overhead p50    p90    p99    max\n");
    expect(text, "over time    external over time\n");
    free(text);
    has_dists = false;
    text = draw(
        NULL, (struct ab_table_style){.width = 120, .topics = ab_topic_words_up_to(AB_LEVEL_RARE)});
    assert_null(strstr(text, "over the ops /"));
    assert_null(strstr(text, "external over time"));
    free(text);
}

static void forget_memory(struct ab_memory *m)
{
    m->phase = "another";
}

/* Without the table of the phase, that of the ops still has its words, once. */
static void words_about_the_ops_stand_with_their_table(void **state)
{
    static const char words[] = "half, 90 %, 99 %: ";
    (void)state;
    has_dists = true;
    for (unsigned i = 0; i < 2; i++) {
        char *text = draw(i == 0 ? NULL : forget_memory,
                          (struct ab_table_style){.width = 100, .topics = AB_TOPIC_MEMORY});
        char *first = strstr(text, words);
        expect(text, words);
        assert_null(strstr(first + 1, words));
        free(text);
    }
    has_dists = false;
}

static void set_worst(struct fake_session *f, unsigned backend, uint32_t round, uint32_t position,
                      double ns)
{
    for (uint32_t i = 0; i < f->s.n_results; i++) {
        struct ab_result *r = &f->results[i];
        if (r->backend != backend || r->round != round || r->op != AB_OP_ALLOC)
            continue;
        r->n_worst = 1;
        r->worst[0] = (struct ab_worst_op){ns, position, 2048, 0};
    }
}

static void sizes_times_and_the_worst_are_told(void **state)
{
    (void)state;
    struct fake_session *f = fake_session_new();
    struct numbers *n = attach(&f->s);
    struct ab_table_style style = {.width = 120, .topics = ab_topic_words_up_to(AB_LEVEL_RARE)};
    set_worst(f, FAKE_GLIBC, 0, 1000, 24000);
    set_worst(f, FAKE_GLIBC, 1, 1000, 26000);
    set_worst(f, FAKE_GLIBC, 2, 77, 8030000);
    char *text = fake_capture(write_both, &f->s, &style);
    expect(text, "glibc        25.0 us  alloc of 2.00 KiB  1000   2 of 3\n");
    expect(text, "glibc                            1 call           once\n");
    assert_null(strstr(text, "8.03 ms"));
    expect(text, "alloc, p50/p99, ns");
    expect(text, "\n  33 - 64 B ");
    expect(text, "over the ops of the phase");
    expect(text, "400"); /* the largest of the stretches */
    expect(text, "slowest calls, by their position in the work");
    free(text);
    detach(&f->s, n);
    fake_session_free(f);
}

static void nothing_wraps_whatever_the_width(void **state)
{
    (void)state;
    struct fake_session *f = fake_session_new();
    struct numbers *n = attach(&f->s);
    struct ab_format_guard guard;
    memset(f->backends[0].name, 'x', 120);
    ab_format_begin(&guard);
    for (unsigned width = 20; width <= 200; width += 3) {
        struct ab_table_style style = {
            .width = width, .utf8 = width % 2 == 0, .topics = ab_topic_words_up_to(AB_LEVEL_RARE)};
        char *text = fake_capture(write_both, &f->s, &style), *rest = NULL;
        for (char *line = strtok_r(text, "\n", &rest); line != NULL;
             line = strtok_r(NULL, "\n", &rest)) {
            assert_in_range(ab_format_width(line), 1, width);
            assert_true(line[strlen(line) - 1] != ' ');
        }
        free(text);
    }
    ab_format_end(&guard);
    detach(&f->s, n);
    fake_session_free(f);
}

static void a_session_without_records_says_nothing(void **state)
{
    (void)state;
    struct fake_session *f = fake_session_new();
    struct ab_table_style style = {.width = 80, .topics = ab_topic_words_up_to(AB_LEVEL_RARE)};
    f->s.n_phases = 0;
    char *text = fake_capture(write_both, &f->s, &style);
    assert_string_equal(text, "");
    free(text);
    fake_session_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_bytes_of_the_median_run_add_up),
        cmocka_unit_test(a_dash_has_the_number_of_its_reason),
        cmocka_unit_test(what_is_not_known_of_pages_is_no_zero),
        cmocka_unit_test(only_what_was_waited_for_has_a_column),
        cmocka_unit_test(what_is_untouched_stands_apart),
        cmocka_unit_test(what_is_printed_adds_up),
        cmocka_unit_test(no_column_goes_where_the_width_is_short),
        cmocka_unit_test(footprints_are_drawn_over_one_range),
        cmocka_unit_test(words_about_the_ops_stand_with_their_table),
        cmocka_unit_test(memory_over_the_ops_is_told_in_percent_of_the_live_bytes),
        cmocka_unit_test(sizes_times_and_the_worst_are_told),
        cmocka_unit_test(nothing_wraps_whatever_the_width),
        cmocka_unit_test(a_session_without_records_says_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
