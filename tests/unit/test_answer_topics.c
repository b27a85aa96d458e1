/* SPDX-License-Identifier: MIT
 *
 * The table of topics: each stands somewhere, and walks make the grids of a place in order.
 */
#include "answer/topics.h"

#include "support/cmocka.h"
#include "support/report_session.h"

#include <string.h>

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
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
