/* SPDX-License-Identifier: MIT
 *
 * Memory and depth on the terminal, from records made by hand: what is told, with what it is
 * compared, and that nothing ever wraps.
 */
#include "report/format.h"
#include "report/table_depth.h"
#include "report/table_memory.h"
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
};

static struct ab_memory record(uint32_t backend, uint32_t block, enum ab_memory_at at)
{
    double scale = 1 + 0.1 * block; /* the median is that of block 1 */
    struct ab_memory m = {.backend = backend, .phase = "steady", .block = block, .at = at,
                          .live_peak_bytes = 1 << 20, .rss_peak_bytes = scale * (2 << 20),
                          .overhead_peak = 2 * scale - 1, .overhead = 2 * scale - 1,
                          .overhead_mean = 0.5, .internal = 0.25, .spread = 0.125,
                          .retained = backend == 0 ? 0.4 : NAN, .footprint_bytes = 3 << 20,
                          .faults_minor = 500, .faults_major = 0};
    for (unsigned i = 0; i < AB_DRAIN_COUNT; i++)
        m.drained_bytes[i] = at == AB_AT_END && i < 2 ? 4096.0 * (i + 1) : NAN;
    if (backend == 1)
        strcpy(m.reason, "no usable_size; not waited for: --drain=10s");
    if (backend == 0)
        strcpy(m.reason, "not waited for: --drain=10s");
    return m;
}

static struct numbers *attach(struct ab_session *s)
{
    struct numbers *n = calloc(1, sizeof *n);
    s->memory = n->memory;
    for (uint32_t backend = 0; backend < 2; backend++)
        for (uint32_t block = 0; block < 3; block++)
            for (int at = 0; at < AB_AT_COUNT; at++)
                n->memory[s->n_memory++] = record(backend, block, (enum ab_memory_at)at);
    s->timelines = n->timelines;
    s->n_timelines = 2;
    for (uint32_t b = 0; b < 2; b++) {
        n->timelines[b] = (struct ab_timeline){b, 0, 4, n->points[b]};
        for (uint32_t i = 0; i < 4; i++)
            n->points[b][i] = (struct ab_timeline_point){i * 100, 0, 0, (b + 1) * 1000.0 * i};
    }
    s->size_classes = n->classes;
    s->n_size_classes = 2;
    s->windows = n->windows;
    s->n_windows = 8;
    for (uint32_t b = 0; b < 2; b++) {
        n->classes[b] = (struct ab_size_class){b, "steady", AB_OP_ALLOC, 0, 6,
                                               calloc(1, sizeof(struct ab_hdr))};
        ab_hdr_init(n->classes[b].hdr);
        for (int i = 0; i < 2000; i++)
            ab_hdr_record(n->classes[b].hdr, 40 + 10 * b);
        for (uint32_t i = 0; i < 4; i++)
            n->windows[4 * b + i] = (struct ab_window){b, "steady", 0, i * 10, i * 10 + 10, 100,
                                                       30, 60, 100.0 * (i + 1)};
    }
    return n;
}

static void detach(struct ab_session *s, struct numbers *n)
{
    for (uint32_t b = 0; b < 2; b++)
        free(n->classes[b].hdr);
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
    ab_table_memory(to, s, *style);
    ab_table_depth(to, s, *style);
    ab_format_end(&guard);
}

static void expect(const char *text, const char *part)
{
    if (strstr(text, part) == NULL)
        {
        fputs(text, stderr);
        fail_msg("not there: %s", part);
    }
}

static void medians_parts_and_reasons_are_told(void **state)
{
    (void)state;
    struct fake_session *f = fake_session_new();
    struct numbers *n = attach(&f->s);
    struct ab_table_style style = {.width = 120};
    char *text = fake_capture(write_both, &f->s, &style);
    expect(text, "memory / steady: live peak 1.00 MiB");
    expect(text, "glibc     2.20 MiB      120%       25%     12%       40%   50%  3.00 MiB     500");
    expect(text, "jemalloc  2.20 MiB      120%       25%     12%         -   50%  3.00 MiB     500");
    expect(text, "4.00 KiB  8.00 KiB   -    -       -");
    expect(text, "-: not known, because: not waited for: --drain=10s (glibc, jemalloc); no "
                 "usable_size (jemalloc)");
    assert_null(strstr(text, "arena")); /* it has no records */
    free(text);
    detach(&f->s, n);
    fake_session_free(f);
}

static void a_share_of_nothing_has_no_sign(void **state)
{
    (void)state;
    struct fake_session *f = fake_session_new();
    struct numbers *n = attach(&f->s);
    struct ab_table_style style = {.width = 120};
    for (uint32_t i = 0; i < f->s.n_memory; i++) {
        n->memory[i].retained = -0.0004;
        n->memory[i].spread = -0.0;
        n->memory[i].internal = -0.002;
    }
    char *text = fake_capture(write_both, &f->s, &style);
    expect(text, "0.0%      0.0%");
    assert_null(strstr(text, "-0.0%"));
    expect(text, "-0.2%");
    free(text);
    detach(&f->s, n);
    fake_session_free(f);
}

static void footprints_are_drawn_over_one_range(void **state)
{
    (void)state;
    struct fake_session *f = fake_session_new();
    struct numbers *n = attach(&f->s);
    struct ab_table_style style = {.width = 120};
    char *text = fake_capture(write_both, &f->s, &style);
    expect(text, ".     :      -     =\n"); /* half as high as the other */
    expect(text, ".     -      *     @\n");
    free(text);
    detach(&f->s, n);
    fake_session_free(f);
}

static void sizes_times_and_the_worst_are_told(void **state)
{
    (void)state;
    struct fake_session *f = fake_session_new();
    struct numbers *n = attach(&f->s);
    struct ab_table_style style = {.width = 120};
    char *text = fake_capture(write_both, &f->s, &style);
    expect(text, "alloc up to 64 B");
    expect(text, "over the ops of the phase");
    expect(text, "400"); /* the largest of the stretches */
    expect(text, "the worst ops of all blocks");
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
        struct ab_table_style style = {.width = width, .utf8 = width % 2 == 0};
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
    struct ab_table_style style = {.width = 80};
    f->s.n_phases = 0;
    char *text = fake_capture(write_both, &f->s, &style);
    assert_string_equal(text, "");
    free(text);
    fake_session_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(medians_parts_and_reasons_are_told),
        cmocka_unit_test(a_share_of_nothing_has_no_sign),
        cmocka_unit_test(footprints_are_drawn_over_one_range),
        cmocka_unit_test(sizes_times_and_the_worst_are_told),
        cmocka_unit_test(nothing_wraps_whatever_the_width),
        cmocka_unit_test(a_session_without_records_says_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
