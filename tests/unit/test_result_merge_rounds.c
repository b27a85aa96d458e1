/* SPDX-License-Identifier: MIT
 *
 * A result with its histograms merged over the rounds says the same as the original wherever rounds
 * are taken together.
 */
#include "document/read_result.h"
#include "document/session_record.h"
#include "report/sinks/sinks.h"
#include "result/merge/merge_rounds.h"
#include "result/numbers.h"
#include "result/session.h"
#include "stats/aggregate.h"
#include "support/cmocka.h"
#include "support/report_depth.h"
#include "support/stored_text.h"

#include <string.h>

static void write_json(FILE *to, const struct ab_session *s, void *user)
{
    (void)user;
    ab_sink_json(to, s);
}

static void assert_same_merges(const struct ab_session *a, const struct ab_session *b)
{
    struct ab_hdr *x = malloc(sizeof *x), *y = malloc(sizeof *y);
    uint64_t seen = 0;
    for (uint32_t backend = 0; backend < a->n_backends; backend++)
        for (uint32_t p = 0; p < a->n_phases; p++)
            for (unsigned op = 0; op <= AB_OP_ALL && ab_session_has_numbers(a, backend); op++) {
                struct ab_merged m = ab_session_merge(a, backend, a->phases[p], op, x);
                struct ab_merged n = ab_session_merge(b, backend, a->phases[p], op, y);
                assert_int_equal(m.n, n.n);
                assert_int_equal(m.n_rounds, n.n_rounds);
                assert_memory_equal(x->counts, y->counts, sizeof x->counts);
                assert_int_equal(x->overflow, y->overflow);
                seen += ab_hdr_total(x);
            }
    assert_true(seen > 1000);
    free(x);
    free(y);
}

/* Only those that were read back: overflow is each round's there. */
static void merged_histograms_are_those_of_all_rounds(void **state)
{
    (void)state;
    struct fake_depth *d = fake_depth_new();
    struct ab_merged_rounds m;
    struct ab_stored stored;
    struct ab_err err = {.text = ""};
    ab_session_settle(&d->f->s);
    ab_merge_rounds(&d->f->s, &m);
    char *json = fake_capture(write_json, &m.session, NULL);
    if (read_text(json, strlen(json), &stored, &err) != AB_OK)
        fail_msg("%s", err.text);
    assert_true(stored.session.is_histogram_merged);
    assert_int_equal(stored.checksum, AB_CHECKSUM_GOOD);
    assert_same_merges(&d->f->s, &stored.session);
    char *again = fake_capture(write_json, &stored.session, NULL);
    assert_string_equal(json, again);
    free(json);
    free(again);
    ab_stored_fini(&stored);
    ab_merged_rounds_fini(&m);
    fake_depth_free(d);
}

static void scalars_of_each_round_stay(void **state)
{
    (void)state;
    struct fake_depth *d = fake_depth_new();
    const struct ab_session *s = &d->f->s;
    struct ab_merged_rounds m;
    ab_merge_rounds(s, &m);
    assert_int_equal(m.session.n_results, s->n_results);
    for (uint32_t i = 0; i < s->n_results; i++) {
        assert_int_equal(m.session.results[i].n, s->results[i].n);
        assert_int_equal(m.session.results[i].round, s->results[i].round);
        assert_memory_equal(m.session.results[i].quantiles, s->results[i].quantiles,
                            sizeof s->results[i].quantiles);
        assert_true(s->results[i].n == 0 || ab_hdr_total(s->results[i].hdr) > 0); /* untouched */
    }
    assert_int_equal(m.session.n_dists, s->n_dists);
    assert_int_equal(m.session.n_memory, s->n_memory);
    ab_merged_rounds_fini(&m);
    fake_depth_free(d);
}

static void classes_windows_and_time_lines_are_there_once(void **state)
{
    (void)state;
    struct fake_depth *d = fake_depth_new();
    const struct ab_session *s = &d->f->s;
    struct ab_merged_rounds m;
    uint64_t before = 0, after = 0, overflow = 0;
    ab_merge_rounds(s, &m);
    assert_int_equal(m.session.n_size_classes * 3, s->n_size_classes);
    for (uint32_t i = 0; i < s->n_size_classes; i++)
        before += ab_hdr_total(s->size_classes[i].hdr);
    for (uint32_t i = 0; i < m.session.n_size_classes; i++) {
        after += ab_hdr_total(m.session.size_classes[i].hdr);
        overflow += m.session.size_classes[i].hdr->overflow;
    }
    assert_int_equal(after, before);
    assert_int_equal(overflow, 3); /* of round 1, of three back ends */
    assert_int_equal(m.session.n_windows, s->n_windows);
    assert_int_equal(m.session.windows[0].counts[9], 3 * 600);
    assert_int_equal(s->windows[0].counts[9], 600);
    assert_int_equal(m.session.n_timelines * 3, s->n_timelines);
    ab_merged_rounds_fini(&m);
    fake_depth_free(d);
}

static void a_histogram_too_many_or_too_few_is_refused(void **state)
{
    (void)state;
    struct fake_depth *d = fake_depth_new();
    struct ab_merged_rounds m;
    struct ab_stored stored;
    struct ab_err err = {.text = ""};
    ab_merge_rounds(&d->f->s, &m);
    m.session.results[0].n++;
    char *json = fake_capture(write_json, &m.session, NULL);
    assert_int_equal(read_text(json, strlen(json), &stored, &err), AB_INPUT);
    assert_non_null(strstr(err.text, "results: have "));
    free(json);
    ab_merged_rounds_fini(&m);
    fake_depth_free(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(merged_histograms_are_those_of_all_rounds),
        cmocka_unit_test(scalars_of_each_round_stay),
        cmocka_unit_test(classes_windows_and_time_lines_are_there_once),
        cmocka_unit_test(a_histogram_too_many_or_too_few_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
