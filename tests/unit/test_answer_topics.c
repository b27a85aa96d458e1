/* SPDX-License-Identifier: MIT
 *
 * The table of topics: each stands somewhere, and walks make the grids of a place in order.
 */
#include "answer/topics.h"

#include "support/cmocka.h"
#include "support/report_session.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void every_topic_stands_somewhere(void **state)
{
    (void)state;
    for (size_t i = 0; i < ab_n_topics; i++) {
        unsigned n_places = 0;
        for (unsigned k = 0; k < AB_SURFACE_COUNT; k++)
            n_places += ab_topics[i].places[k] != 0;
        if (n_places == 0)
            fail_msg("%s stands nowhere", ab_topics[i].id);
        for (size_t k = 0; k < i; k++)
            assert_string_not_equal(ab_topics[i].id, ab_topics[k].id);
    }
}

/* The two that are left out: a note about terminals, and calls that the slowest of all include. */
static void markdown_has_every_topic(void **state)
{
    (void)state;
    for (size_t i = 0; i < ab_n_topics; i++) {
        bool is_there = strcmp(ab_topics[i].id, "by_value_others") == 0 ||
                        strcmp(ab_topics[i].id, "slow_calls") == 0;
        for (size_t k = 0; k < ab_n_topics; k++)
            is_there = is_there || (ab_topics[k].make == ab_topics[i].make &&
                                    ab_topics[k].places[AB_MARKDOWN] != AB_MARKDOWN_NONE);
        if (!is_there)
            fail_msg("Markdown has no %s", ab_topics[i].id);
    }
}

/* Counts the grids of a place of terminals, and checks that turns begin with their phase. */
static unsigned count(const struct ab_view *v, enum ab_terminal_place place, const char *phase)
{
    struct ab_topic_walk walk = {.at = {.view = v, .surface = AB_TERMINAL, .asked = AB_TOPIC_TIME},
                                 .place = place,
                                 .phase = phase};
    struct ab_grid g;
    unsigned n = 0, n_turns = 0;
    for (; ab_topics_next(&walk, &g) != NULL; n++) {
        n_turns += walk.is_new_turn;
        assert_true(n > 0 || walk.is_new_turn);
        assert_true(phase == NULL || strcmp(walk.at.phase, phase) == 0);
        ab_grid_fini(&g);
    }
    assert_true(n_turns <= v->session->n_phases);
    return n;
}

static void a_walk_takes_one_turn_for_each_phase(void **state)
{
    (void)state;
    struct fake_session *f = fake_session_new();
    struct ab_view v;
    ab_view_make(&f->s, &v);
    unsigned n = count(&v, AB_TERMINAL_LATENCY, NULL);
    assert_true(f->s.n_phases > 1);
    assert_int_equal(n, 2 * f->s.n_phases); /* latency and throughput */
    assert_int_equal(count(&v, AB_TERMINAL_LATENCY, f->s.phases[1]), 2);
    assert_int_equal(count(&v, AB_TERMINAL_LATENCY, "no such phase"), 0);
    assert_int_equal(count(&v, AB_TERMINAL_INSIDE, NULL), 0);
    ab_view_fini(&v);
    fake_session_free(f);
}

static void only_what_is_asked_for_is_made(void **state)
{
    (void)state;
    struct fake_session *f = fake_session_new();
    struct ab_view v;
    struct ab_grid g;
    ab_view_make(&f->s, &v);
    struct ab_topic_walk brief = {.at = {.view = &v, .surface = AB_TERMINAL},
                                  .place = AB_TERMINAL_LATENCY};
    assert_null(ab_topics_next(&brief, &g));
    ab_view_fini(&v);
    fake_session_free(f);
}

static void a_walk_that_ended_stays_at_its_end(void **state)
{
    (void)state;
    struct fake_session *f = fake_session_new();
    struct ab_view v;
    struct ab_grid g;
    ab_view_make(&f->s, &v);
    struct ab_topic_walk walk = {.at = {.view = &v, .surface = AB_MARKDOWN},
                                 .place = AB_MARKDOWN_MORE};
    while (ab_topics_next(&walk, &g) != NULL)
        ab_grid_fini(&g);
    walk.at.phase = "none"; /* a further turn would set it */
    const struct ab_topic_walk end = walk;
    for (unsigned i = 0; i < 3; i++)
        assert_null(ab_topics_next(&walk, &g));
    assert_true(walk.at.phase == end.at.phase && walk.first == end.first && walk.turn == end.turn);
    ab_view_fini(&v);
    fake_session_free(f);
}

/* A machine more would be another grid. */
static void the_grids_of_a_turn_are_counted_once(void **state)
{
    (void)state;
    struct fake_session *f = fake_session_new();
    struct ab_host hosts[2] = {f->s.host, f->s.host};
    struct ab_view v;
    struct ab_grid g;
    unsigned n = 0;
    ab_view_make(&f->s, &v);
    f->s.hosts = hosts;
    f->s.n_hosts = 2;
    struct ab_topic_walk walk = {.at = {.view = &v, .surface = AB_PAGE},
                                 .place = AB_PAGE_ENVIRONMENT};
    for (const struct ab_topic *topic; (topic = ab_topics_next(&walk, &g)) != NULL;) {
        n += strcmp(topic->id, "machine") == 0;
        f->s.n_hosts = n > 0 ? 1 : 2;
        ab_grid_fini(&g);
    }
    assert_int_equal(n, 2);
    f->s.hosts = NULL;
    f->s.n_hosts = 0;
    ab_view_fini(&v);
    fake_session_free(f);
}

/* A topic that has nothing to show leaves the grid as it is. */
static void what_shows_nothing_makes_nothing(void **state)
{
    static bool (*const of_programs[])(const struct ab_topic_at *, struct ab_grid *) = {
        ab_inside_grid, ab_inside_calls_grid, ab_program_instr_grid, ab_sizes_grid,
        ab_slow_iterations_grid};
    (void)state;
    struct fake_session *f = fake_session_new();
    struct ab_view v;
    ab_view_make(&f->s, &v);
    for (unsigned surface = 0; surface < AB_SURFACE_COUNT; surface++)
        for (size_t i = 0; i < sizeof of_programs / sizeof of_programs[0]; i++) {
            struct ab_grid g = {0};
            assert_false(of_programs[i](
                &(struct ab_topic_at){.view = &v, .surface = surface, .phase = f->s.phases[0]},
                &g));
            assert_int_equal(g.n_columns, 0);
        }
    ab_view_fini(&v);
    fake_session_free(f);
}

/* ---- large results ----
 * Each function fills n records of one kind and makes the grids that are about them. */

static void draw_pins(struct fake_session *f, uint32_t n)
{
    struct ab_pin *pins = calloc(n, sizeof pins[0]);
    struct ab_view v;
    struct ab_grid g;
    uint32_t n_grids = 0;
    for (uint32_t i = 0; i < n; i++) {
        pins[i] = (struct ab_pin){.phase = f->s.phases[0], .pinned_bytes = 4096, .live_bytes = 10};
        snprintf(pins[i].at, sizeof pins[i].at, "mark %u", i);
    }
    f->s.pins = pins;
    f->s.n_pins = n;
    ab_view_make(&f->s, &v);
    struct ab_topic_walk walk = {.at = {.view = &v, .surface = AB_MARKDOWN},
                                 .place = AB_MARKDOWN_PINS};
    for (; ab_topics_next(&walk, &g) != NULL; n_grids++)
        ab_grid_fini(&g);
    assert_int_equal(n_grids, n);
    ab_view_fini(&v);
    f->s.pins = NULL;
    f->s.n_pins = 0;
    free(pins);
}

enum { PER_PHASE = 10 };

static void draw_sizes(struct fake_session *f, uint32_t n)
{
    struct ab_size_class *classes = calloc(n, sizeof classes[0]);
    char(*phases)[12] = calloc(n / PER_PHASE, sizeof phases[0]);
    struct ab_hdr *hdr = calloc(1, sizeof *hdr);
    struct ab_view v;
    struct ab_grid g;
    ab_hdr_record(hdr, 50);
    for (uint32_t i = 0; i < n; i++) {
        snprintf(phases[i / PER_PHASE], sizeof phases[0], "p%u", i / PER_PHASE);
        classes[i] = (struct ab_size_class){
            .phase = phases[i / PER_PHASE], .log2 = i % PER_PHASE, .hdr = hdr};
    }
    f->s.size_classes = classes;
    f->s.n_size_classes = n;
    ab_view_make(&f->s, &v);
    for (uint32_t p = 0; p < n / PER_PHASE; p++)
        for (uint32_t i = 0; i < ab_sizes_grids(&f->s); i++) {
            struct ab_topic_at at = {.view = &v, .phase = phases[p], .phase_index = p, .number = i};
            assert_int_equal(ab_sizes_grid(&at, &g), i < 2); /* allocations have two tables */
            if (i < 2) {
                assert_int_equal(g.n_rows, 1 + PER_PHASE);
                ab_grid_fini(&g);
            }
        }
    ab_view_fini(&v);
    f->s.size_classes = NULL;
    f->s.n_size_classes = 0;
    free(hdr);
    free(phases);
    free(classes);
}

static void draw_call_sites(struct fake_session *f, uint32_t n)
{
    struct ab_call_site *sites = calloc(n, sizeof sites[0]);
    struct ab_view v;
    struct ab_grid g;
    for (uint32_t i = 0; i < n; i++) { /* each place in two rounds */
        sites[i] = (struct ab_call_site){.round = 2 * i / n, .line = i % (n / 2) + 1};
        sites[i].all_calls = sites[i].inside_ns = 1 + i % 7;
        strcpy(sites[i].function, "parse");
    }
    f->s.call_sites = sites;
    f->s.n_call_sites = n;
    ab_view_make(&f->s, &v);
    assert_true(ab_call_sites_grid(&(struct ab_topic_at){.view = &v}, &g));
    ab_grid_fini(&g);
    ab_view_fini(&v);
    f->s.call_sites = NULL;
    f->s.n_call_sites = 0;
    free(sites);
}

static void draw_idle(struct fake_session *f, uint32_t n)
{
    struct ab_over_time *rows = calloc(n, sizeof rows[0]);
    struct ab_view v;
    struct ab_grid g;
    for (uint32_t i = 0; i < n; i++)
        rows[i] = (struct ab_over_time){.phase = f->s.phases[0],
                                        .time_ns = UINT64_C(1000000000) * i,
                                        .idle = i % 2 == 0 ? AB_IDLE_BEGIN : AB_IDLE_END,
                                        .position = AB_NO_POSITION,
                                        .resident_bytes = 4096};
    f->s.over_time = rows;
    f->s.n_over_time = n;
    ab_view_make(&f->s, &v);
    assert_true(ab_over_time_grid(&(struct ab_topic_at){.view = &v}, &g));
    ab_grid_fini(&g);
    ab_view_fini(&v);
    f->s.over_time = NULL;
    f->s.n_over_time = 0;
    free(rows);
}

/* Returns the least CPU time of three attempts. */
static double cpu_of(void (*draw)(struct fake_session *f, uint32_t n), uint32_t n)
{
    double least = INFINITY;
    for (unsigned i = 0; i < 3; i++) {
        struct fake_session *f = fake_session_of(1);
        clock_t begin = clock();
        draw(f, n);
        least = fmin(least, (double)(clock() - begin));
        fake_session_free(f);
    }
    return least;
}

/* With 32 times the records it takes 32 times as long, or a little more. A search of all records for
 * each of them would take up to 1,024 times as long. */
static void large_results_take_their_share_of_time(void **state)
{
    enum { FEW = 1000, TIMES = 32 };
    static void (*const draws[])(struct fake_session * f,
                                 uint32_t n) = {draw_pins, draw_sizes, draw_call_sites, draw_idle};
    (void)state;
    for (size_t i = 0; i < sizeof draws / sizeof draws[0]; i++) {
        double few = cpu_of(draws[i], FEW), many = cpu_of(draws[i], TIMES * FEW);
        if (many > 3 * TIMES * few)
            fail_msg("kind %zu: %.0f and %.0f us of CPU time", i, few, many);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_topic_stands_somewhere),
        cmocka_unit_test(markdown_has_every_topic),
        cmocka_unit_test(a_walk_takes_one_turn_for_each_phase),
        cmocka_unit_test(only_what_is_asked_for_is_made),
        cmocka_unit_test(a_walk_that_ended_stays_at_its_end),
        cmocka_unit_test(the_grids_of_a_turn_are_counted_once),
        cmocka_unit_test(what_shows_nothing_makes_nothing),
        cmocka_unit_test(large_results_take_their_share_of_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
