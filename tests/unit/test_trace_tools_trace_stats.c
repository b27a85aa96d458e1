/* SPDX-License-Identifier: MIT */
#include "trace_tools/trace_stats.h"

#include "support/cmocka.h"
#include "support/trace.h"

#include <stdlib.h>
#include <unistd.h>

static struct ab_survey survey;

static void read_survey(const char *path, uint64_t begin)
{
    struct ab_err err = {0};
    struct ab_walk w = {
        .path = path, .begin = begin, .end = UINT64_MAX, .visit = ab_survey_visit, .user = &survey};
    ab_survey_fini(&survey);
    if (ab_trace_walk(&w, NULL, &err) != AB_OK)
        fail_msg("%s", err.text);
}

static char *write_calls(const struct ab_event *r, size_t n)
{
    struct ab_err err = {0};
    struct ab_trace_writer *w;
    char *path = test_trace_file(NULL, 0);
    FILE *to = fopen(path, "wb");
    assert_int_equal(ab_trace_writer_open(to, "known", &w, &err), AB_OK);
    for (size_t i = 0; i < n; i++) {
        uint64_t number;
        if (ab_trace_write(w, &r[i], &number, &err) != AB_OK)
            fail_msg("%s", err.text);
    }
    assert_int_equal(ab_trace_writer_close(w, NULL, &err), AB_OK);
    fclose(to);
    return path;
}

static void known_calls_give_known_figures(void **state)
{
    (void)state;
    static const struct ab_event calls[] = {
        {.kind = AB_EVENT_ALLOC, .size = 100},                                   /* block 0 */
        {.kind = AB_EVENT_ALLOC_ALIGNED, .size = 64, .align = 256, .thread = 1}, /* block 1 */
        {.kind = AB_EVENT_ALLOC, .size = 1000, .failed = true},
        {.kind = AB_EVENT_RESIZE, .size = 300, .block = 0, .thread = 1}, /* remote */
        {.kind = AB_EVENT_FREE, .block = 1},                             /* remote; 2, 300 */
        {.kind = AB_EVENT_RESIZE, .size = 5, .block = 0, .failed = true},
        {.kind = AB_EVENT_RESIZE, .released = true, .block = 0, .thread = 1}, /* own; 5, 364 */
        {.kind = AB_EVENT_ALLOC_ZEROED, .size = 0},
    };
    char *path = write_calls(calls, AB_ARRAY_LEN(calls));
    read_survey(path, 0);
    assert_int_equal(ab_classes_total(&survey.alloc_sizes), 3);
    assert_int_equal(survey.alloc_sizes.n[ab_class_of(100)], 1);
    assert_int_equal(survey.alloc_bytes[ab_class_of(100)], 100);
    assert_int_equal(survey.alloc_sizes.n[0], 1);
    assert_int_equal(ab_classes_total(&survey.resize_sizes), 1);
    assert_int_equal(survey.aligns[8], 1);
    assert_int_equal(survey.n_frees, 2);
    assert_int_equal(survey.n_remote_frees, 1);
    assert_int_equal(survey.n_remote_resizes, 1);
    assert_int_equal(survey.life_events.n[ab_class_of(2)], 1);
    assert_int_equal(survey.life_events.n[ab_class_of(5)], 1);
    assert_int_equal(survey.life_bytes.n[ab_class_of(300)], 2); /* 300 and 364 */
    assert_int_equal(survey.n_threads, 2);
    assert_int_equal(survey.threads[0].events, 5);
    assert_int_equal(survey.threads[0].remote_frees, 1);
    assert_int_equal(survey.threads[1].frees, 1);
    assert_int_equal(survey.live.steps[3].bytes, 364);
    assert_int_equal(survey.live.steps[7].bytes, 0);
    assert_int_equal(survey.live.steps[7].blocks, 1);
    unlink(path);
    free(path);
}

static void a_survey_may_begin_in_the_middle(void **state)
{
    (void)state;
    size_t n;
    struct ab_trace_info info;
    uint8_t *bytes = test_trace_random((struct test_trace_kind){9, 4, 3000, true}, &n, &info);
    char *path = test_trace_file(bytes, n);
    static const uint64_t begins[] = {0, 1, 1500, 2999};
    for (size_t i = 0; i < AB_ARRAY_LEN(begins); i++) {
        read_survey(path, begins[i]);
        assert_int_equal(survey.live.n_events, 3000 - begins[i]);
        assert_int_equal(survey.n_events, 3000);
        assert_int_equal(survey.live_bytes, info.live_end_bytes);
        assert_int_equal(survey.live_blocks, info.live_end_blocks);
        assert_int_equal(survey.total_bytes, info.total_bytes);
    }
    read_survey(path, 0);
    assert_int_equal(survey.n_frees + info.live_end_blocks, ab_classes_total(&survey.alloc_sizes));
    assert_int_equal(ab_classes_total(&survey.life_bytes), survey.n_frees);
    assert_true(survey.n_remote_frees > survey.n_frees / 2); /* four threads at random */
    uint64_t peak = 0;
    for (size_t i = 0; i < ab_curve_count(&survey.live); i++)
        peak = survey.live.steps[i].bytes > peak ? survey.live.steps[i].bytes : peak;
    assert_int_equal(peak, info.live_peak_bytes);
    unlink(path);
    free(path);
    free(bytes);
}

static int fini(void **state)
{
    (void)state;
    ab_survey_fini(&survey);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_calls_give_known_figures),
        cmocka_unit_test(a_survey_may_begin_in_the_middle),
    };
    return cmocka_run_group_tests(tests, NULL, fini);
}
