/* SPDX-License-Identifier: MIT
 *
 * Latency by size: what overflowed is a call, and its time is not known.
 * tests: time_grids.c
 */
#include "answer/topics.h"
#include "report/table/sink_table.h"
#include "result/numbers.h"

#include "result/shown.h"
#include "support/cmocka.h"
#include "support/report_depth.h"

#include <stdlib.h>
#include <string.h>

static void write_sizes(FILE *to, const struct ab_session *s, void *user)
{
    (void)user;
    struct ab_table_style style = {
        .width = 80, .utf8 = true, .topics = AB_TOPIC_SIZE, .phase = s->phases[0]};
    struct ab_format_guard guard;
    ab_format_begin(&guard);
    struct ab_view view;
    ab_view_make(s, &view);
    ab_table_places(to, &view, AB_TERMINAL_DEPTH, AB_TERMINAL_DEPTH, style);
    ab_view_fini(&view);
    ab_format_end(&guard);
}

static char *draw(const struct fake_depth *d)
{
    return fake_capture(write_sizes, &d->f->s, NULL);
}

/* 100 calls of 50 ns in each class of allocations, and `overflow` that took longer than a minute. */
static struct fake_depth *depth(uint64_t overflow)
{
    struct fake_depth *d = fake_depth_new();
    for (uint32_t i = 0; i < d->f->s.n_size_classes; i++) {
        struct ab_hdr *hdr = d->classes[i].hdr;
        ab_hdr_init(hdr);
        for (unsigned k = 0; k < 100; k++)
            ab_hdr_record(hdr, 50);
        hdr->overflow = d->classes[i].log2 == 4 ? overflow : 0;
    }
    return d;
}

static unsigned count(const char *text, const char *wanted)
{
    unsigned n = 0;
    while ((text = strstr(text, wanted)) != NULL) {
        text += strlen(wanted);
        n++;
    }
    return n;
}

static void the_longest_is_known_where_nothing_overflowed(void **state)
{
    (void)state;
    struct fake_depth *d = depth(0);
    char *text = draw(d);
    assert_int_equal(count(text, "-/50"), 6);   /* 3 classes of 2 back ends; 300 calls: no p99.9 */
    assert_int_equal(count(text, "50.0 %"), 4); /* of the allocations, in both tables */
    assert_null(strstr(text, "minute"));
    free(text);
    fake_depth_free(d);
}

/* No back end has such calls, so the table of pages is not even begun. */
static void ops_without_sizes_are_passed_over(void **state)
{
    (void)state;
    struct fake_depth *d = depth(0);
    struct ab_session *s = &d->f->s;
    struct ab_view view;
    ab_view_make(s, &view);
    for (unsigned surface = 0; surface < AB_SURFACE_COUNT; surface++)
        for (uint32_t i = 0; i < ab_sizes_grids(s); i++) {
            struct ab_grid g = {0};
            bool is_there = ab_sizes_grid(
                &(struct ab_topic_at){
                    .view = &view, .surface = surface, .phase = s->phases[0], .number = i},
                &g);
            assert_int_equal(is_there, g.n_columns > 0);
            ab_grid_fini(&g);
        }
    ab_view_fini(&view);
    fake_depth_free(d);
}

static void what_overflowed_is_a_call_of_unknown_length(void **state)
{
    (void)state;
    struct fake_depth *d = depth(100); /* 600 calls of 900 */
    char *text = draw(d);
    assert_int_equal(count(text, "-/50"), 4); /* not of the class that overflowed */
    assert_int_equal(count(text, "66.7 %"), 2);
    assert_int_equal(count(text, "33.3 %"), 2);
    assert_non_null(
        strstr(text, "-: some calls took more than a minute, which no counter can hold."));
    free(text);
    fake_depth_free(d);
}

static void all_that_overflowed_still_has_a_row(void **state)
{
    (void)state;
    struct fake_depth *d = depth(100);
    for (uint32_t i = 0; i < d->f->s.n_size_classes; i++)
        if (d->classes[i].log2 == 4) {
            ab_hdr_init(d->classes[i].hdr);
            d->classes[i].hdr->overflow = 100;
        }
    char *text = draw(d);
    assert_int_equal(count(text, "9 - 16 B"), 2);
    assert_int_equal(count(text, "50.0 %"), 4);
    assert_int_equal(count(text, "-/- "), 2); /* p50 and p99 of the first back end, and its tail */
    free(text);
    fake_depth_free(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ops_without_sizes_are_passed_over),
        cmocka_unit_test(the_longest_is_known_where_nothing_overflowed),
        cmocka_unit_test(what_overflowed_is_a_call_of_unknown_length),
        cmocka_unit_test(all_that_overflowed_still_has_a_row),
    };
    return cmocka_run_group_tests_name("table_sizes", tests, NULL, NULL);
}
