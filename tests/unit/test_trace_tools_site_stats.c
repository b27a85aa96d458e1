/* SPDX-License-Identifier: MIT
 *
 * Calls of known sites, small enough to be counted on paper; and that all sites together are the
 * trace.
 */
#include "trace_tools/site_stats.h"

#include "base/bits.h"
#include "base/rng.h"
#include "support/cmocka.h"
#include "support/trace.h"

#include <stdlib.h>
#include <unistd.h>

static struct ab_site_stats stats;
static struct ab_trace_info info;
static struct ab_err err;

static void survey(const struct ab_event *calls, size_t n, uint32_t n_sites)
{
    struct ab_site_table t = {0}, back = {0};
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
    struct ab_walk walk = {.path = path,
                           .end = UINT64_MAX,
                           .sites = &back,
                           .visit = ab_site_stats_visit,
                           .user = &stats};
    ab_site_stats_fini(&stats);
    if (ab_trace_walk(&walk, &info, &err) != AB_OK)
        fail_msg("%s", err.text);
    ab_site_table_fini(&t);
    ab_site_table_fini(&back);
    unlink(path);
    free(path);
}

static void known_calls_give_known_figures(void **state)
{
    (void)state;
    static const struct ab_event calls[] = {
        {.kind = AB_EVENT_ALLOC, .size = 100, .site = 1},              /* block 0 */
        {.kind = AB_EVENT_FREE, .block = 0},                           /* temporary, life 0 */
        {.kind = AB_EVENT_ALLOC, .size = 50, .site = 1},               /* block 1 */
        {.kind = AB_EVENT_ALLOC, .size = 30, .site = 2, .thread = 1},  /* block 2 */
        {.kind = AB_EVENT_FREE, .block = 1},                           /* temporary, life 1 */
        {.kind = AB_EVENT_RESIZE, .size = 400, .block = 2, .site = 3}, /* the peak: 400 */
        {.kind = AB_EVENT_ALLOC, .size = 7, .failed = true, .site = 2},
        {.kind = AB_EVENT_RESIZE, .size = 20, .block = 2, .site = 3, .thread = 1},
        {.kind = AB_EVENT_ALLOC, .size = 9}, /* block 3, not known */
        {.kind = AB_EVENT_FREE, .block = 2}, /* another's, not temporary; life 5 */
    };
    survey(calls, AB_ARRAY_LEN(calls), 3);
    const struct ab_site_stat *s = stats.sites;
    assert_int_equal(stats.n, 4);
    assert_int_equal(s[1].calls, 2);
    assert_int_equal(s[1].bytes, 150);
    assert_int_equal(s[1].size_least, 50);
    assert_int_equal(s[1].size_most, 100);
    assert_int_equal(s[1].frees, 2);
    assert_int_equal(s[1].temporary, 2);
    assert_int_equal(s[1].peak_bytes, 0);
    assert_int_equal(s[1].lives[0], 1);
    assert_int_equal(s[1].lives[1], 1);
    assert_int_equal(ab_site_stat_median_life(&s[1]), 0);
    assert_int_equal(s[2].calls, 1);
    assert_int_equal(s[2].failed, 1);
    assert_int_equal(s[2].frees, 0);
    assert_int_equal(s[2].peak_bytes, 0);
    assert_true(ab_site_stat_median_life(&s[2]) == UINT64_MAX);
    assert_int_equal(s[3].calls, 2);
    assert_int_equal(s[3].resizes, 2);
    assert_int_equal(s[3].bytes, 420);
    assert_int_equal(s[3].peak_bytes, 400);
    assert_int_equal(s[3].peak_blocks, 1);
    assert_int_equal(s[3].live_bytes, 0);
    assert_int_equal(s[3].frees, 1);
    assert_int_equal(s[3].temporary, 0);
    assert_int_equal(ab_site_stat_median_life(&s[3]), 7);
    assert_int_equal(s[0].calls, 1);
    assert_int_equal(s[0].live_bytes, 9);
    assert_int_equal(s[0].peak_bytes, 0);
}

static void all_sites_are_the_trace(void **state)
{
    enum { N = 20000, SITES = 37 };
    static struct ab_event calls[N];
    static uint64_t live[N];
    struct ab_rng rng;
    size_t n_live = 0;
    uint64_t n_blocks = 0;
    (void)state;
    ab_rng_init(&rng, 3, 3);
    for (size_t i = 0; i < N; i++) {
        uint64_t r = ab_rng_next(&rng), at = n_live > 0 ? r / 8 % n_live : 0;
        calls[i] = (struct ab_event){.size = r / 64 % 5000, .site = (uint32_t)(r % (SITES + 1))};
        if (n_live > 0 && r % 8 < 3) {
            calls[i].kind = AB_EVENT_FREE;
            calls[i].block = live[at];
            calls[i].size = 0;
            live[at] = live[--n_live];
        } else if (n_live > 0 && r % 8 == 3) {
            calls[i].kind = AB_EVENT_RESIZE;
            calls[i].block = live[at];
        } else {
            live[n_live++] = n_blocks++;
        }
    }
    survey(calls, N, SITES);
    struct ab_site_stat sum = {0};
    for (size_t i = 0; i < stats.n; i++) {
        sum.calls += stats.sites[i].calls;
        sum.bytes += stats.sites[i].bytes;
        sum.peak_bytes += stats.sites[i].peak_bytes;
        sum.live_bytes += stats.sites[i].live_bytes;
        sum.live_blocks += stats.sites[i].live_blocks;
        sum.frees += stats.sites[i].frees;
    }
    assert_int_equal(sum.bytes, info.total_bytes);
    assert_int_equal(sum.peak_bytes, info.live_peak_bytes);
    assert_int_equal(sum.live_bytes, info.live_end_bytes);
    assert_int_equal(sum.frees, info.ops[AB_EVENT_FREE]);
    assert_int_equal(sum.calls, info.events - info.ops[AB_EVENT_FREE]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_calls_give_known_figures),
        cmocka_unit_test(all_sites_are_the_trace),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    ab_site_stats_fini(&stats);
    return failed;
}
