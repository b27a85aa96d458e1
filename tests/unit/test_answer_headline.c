/* SPDX-License-Identifier: MIT
 *
 * The sentences of the answer: who wins, at what price, and when nobody does.
 */
#include "answer/answer.h"
#include "result/numbers.h"

#include "stats/check.h"
#include "support/cmocka.h"
#include "support/report_session.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void join(const struct fake_session *f, char *buf, size_t cap, enum ab_view_verdict *verdict)
{
    struct ab_view v;
    size_t used = 0;
    ab_view_make(&f->s, &v);
    buf[0] = 0;
    for (unsigned i = 0; i < ab_view_sentences(&v)->headline.n_sentences; i++)
        used += (size_t)snprintf(buf + used, cap - used, "%s%s", i > 0 ? " " : "",
                                 ab_view_sentences(&v)->headline.sentences[i]);
    *verdict = ab_view_sentences(&v)->headline.verdict;
    ab_view_fini(&v);
}

static void assert_says(const struct fake_session *f, enum ab_view_verdict verdict,
                        const char *wanted)
{
    char text[4000];
    enum ab_view_verdict came;
    join(f, text, sizeof text, &came);
    assert_string_equal(text, wanted);
    assert_int_equal(came, verdict);
}

static void assert_mentions(const struct fake_session *f, const char *what, bool does)
{
    char text[4000];
    enum ab_view_verdict came;
    join(f, text, sizeof text, &came);
    if ((strstr(text, what) != NULL) != does)
        fail_msg("'%s' in: %s", what, text);
}

/* 2 M ops at 21.5 ns and 90 k at 40.25 are 46.6 ms. */
static void the_winner_and_its_price_are_named(void **state)
{
    (void)state;
    struct fake_session *f = fake_session_of(8);
    fake_session_set_peak(f, FAKE_GLIBC, 6 << 20);
    fake_session_set_peak(f, FAKE_ARENA, 57 << 20);
    fake_session_set_peak(f, FAKE_JEMALLOC, 6.6 * (1 << 20));
    assert_says(
        f, AB_VIEW_FASTER,
        "arena is 6.15x [6.15, 6.15] faster than glibc over the whole run, but takes 9.50x the "
        "memory at the peak. arena never frees; the fastest one that frees is jemalloc, 1.41x "
        "[1.41, 1.41] faster than glibc, but takes 10 % more memory at the peak. Left out: "
        "pool (partial), broken (crashed).");
    fake_session_free(f);
}

static void set_peaks(struct fake_session *f, unsigned backend, double first, double second)
{
    uint32_t from = f->s.n_memory;
    fake_session_set_peak(f, backend, first);
    for (uint32_t i = from + f->s.n_rounds / 2; i < f->s.n_memory; i++)
        f->memory[i].footprint_bytes = f->memory[i].rss_peak_bytes = f->memory[i].peak_bytes =
            second;
}

/* Four times the memory on the first machine; the same on the second, where glibc takes ten times. */
static void peaks_of_several_machines_are_compared_round_by_round(void **state)
{
    (void)state;
    struct fake_session *f = fake_session_of(8);
    struct ab_host hosts[2] = {f->s.host, f->s.host};
    set_peaks(f, FAKE_GLIBC, 6 << 20, 60 << 20);
    set_peaks(f, FAKE_ARENA, 24 << 20, 60 << 20);
    set_peaks(f, FAKE_JEMALLOC, 3 << 20, 30 << 20);
    assert_mentions(f, "but takes 4.00x the memory", true); /* 24 and 6 MiB, of the middle round */
    assert_mentions(f, "Least memory at the peak: jemalloc", true);
    f->s.hosts = hosts;
    f->s.n_hosts = 2;
    for (uint32_t i = 4; i < 8; i++)
        f->rounds[i].host = 1;
    assert_mentions(f, "4.00x the memory", false);
    assert_mentions(f, "but takes 2.50x the memory", true);
    assert_mentions(f, "Least memory", false);
    fake_session_free(f);
}

static void failed_and_partial_ones_take_no_part(void **state)
{
    (void)state;
    struct fake_session *f = fake_session_of(8);
    assert_mentions(f, "pool is", false); /* 2.25 ns/op: fastest of all, but it left work out */
    assert_mentions(f, "broken is", false);
    f->backends[FAKE_ARENA].status = AB_BACKEND_TIMEOUT;
    assert_says(
        f, AB_VIEW_FASTER,
        "jemalloc is 1.41x [1.41, 1.41] faster than glibc over the whole run. jemalloc's p99.9 of "
        "free in steady is 2.28x [2.28, 2.28] higher than that of glibc. Left out: arena (timeout), pool "
        "(partial), broken (crashed).");
    fake_session_free(f);
}

/* The long phase decides, however much faster the short one is: no mean of ratios. */
static void the_time_of_the_whole_run_decides(void **state)
{
    (void)state;
    struct fake_session *f = fake_session_of(8);
    for (uint32_t i = 0; i < f->s.n_results; i++) {
        struct ab_result *r = &f->results[i];
        if (r->backend == FAKE_ARENA && r->op == AB_OP_ALL)
            r->ns_per_op = r->n_ops > 1000000 ? 40 : 1;
    }
    assert_mentions(f, "jemalloc is 1.41x [1.41, 1.41] faster than glibc", true);
    assert_mentions(f, "arena", false); /* 40 times as fast in drain, and slowest of all */
    fake_session_free(f);
}

/* Many made-up workloads: whoever takes least time in all is named first. */
static void the_fastest_is_named_on_every_workload(void **state)
{
    (void)state;
    struct fake_session *f = fake_session_of(8);
    fake_session_keep(f, FAKE_POOL);
    f->backends[FAKE_ARENA].never_frees = false;
    srandom(7);
    for (int work = 0; work < 200; work++) {
        double ns[3][2], total[3] = {0};
        for (int b = 0; b < 3; b++)
            for (int p = 0; p < 2; p++)
                ns[b][p] = 1 + (double)(random() % 100000) / 1000;
        for (uint32_t i = 0; i < f->s.n_results; i++) {
            struct ab_result *r = &f->results[i];
            if (r->op != AB_OP_ALL || r->backend > 2)
                continue;
            int p = r->n_ops < 1000000;
            r->ns_per_op = ns[r->backend][p];
            total[r->backend] += r->round == 0 ? r->ns_per_op * (double)r->n_ops : 0;
        }
        uint32_t best = 0;
        for (uint32_t b = 1; b < 3; b++)
            best = total[b] < total[best] ? b : best;
        struct ab_view v;
        ab_view_make(&f->s, &v);
        assert_int_equal(ab_view_sentences(&v)->headline.winner, best);
        assert_int_equal(v.ranking.rows[0].backend, best);
        const char *name = f->backends[best].name;
        assert_non_null(strstr(ab_view_sentences(&v)->headline.sentences[0], name));
        if (ab_view_sentences(&v)->headline.verdict == AB_VIEW_FASTER)
            assert_int_equal(
                strncmp(ab_view_sentences(&v)->headline.sentences[0], name, strlen(name)), 0);
        ab_view_fini(&v);
    }
    fake_session_free(f);
}

/* What was given back in one call is not "never freed". */
static void an_arena_that_was_reset_frees(void **state)
{
    (void)state;
    struct fake_session *f = fake_session_of(8);
    assert_mentions(f, "arena never frees", true);
    for (uint32_t i = 0; i < f->s.n_results; i++)
        if (f->results[i].backend == FAKE_ARENA && f->results[i].op == AB_OP_RESIZE)
            f->results[i].op = AB_OP_RESET;
    assert_mentions(f, "never frees", false);
    fake_session_free(f);
}

/* What an allocator does wrong where this work does not need it is no part of the verdict. */
static void a_deviation_that_does_not_matter_here_is_not_said(void **state)
{
    (void)state;
    struct fake_session *f = fake_session_of(8);
    strcpy(f->backends[FAKE_GLIBC].caveat, "aligned_alloc is wrong");
    strcpy(f->backends[FAKE_ARENA].caveat, "memalign is wrong");
    assert_mentions(f, "deviates", false);
    assert_mentions(f, "memalign", false);
    fake_session_free(f);
}

/* Every allocator with the same reason: it is the program. One that ran: it is not. */
static void a_program_that_fails_by_itself_is_said(void **state)
{
    (void)state;
    struct fake_session *f = fake_session_of(8);
    f->s.kind = AB_SESSION_EXEC;
    f->s.n_results = 0;
    for (uint32_t i = 0; i < f->s.n_backends; i++) {
        f->backends[i].status = AB_BACKEND_FAILED_CHECK;
        strcpy(f->backends[i].reason, "the program failed: exit status 3");
    }
    assert_mentions(f, "The program itself fails", true);
    strcpy(f->backends[1].reason, "the program failed: exit status 4");
    assert_mentions(f, "The program itself fails", false);
    f->backends[1].status = AB_BACKEND_OK;
    assert_mentions(f, "The program itself fails", false);
    fake_session_free(f);
}

/* 20 ops in 0.4 us, or 900 in 0.9 ms: however clear the ratio, no verdict; 900 in 2 ms are huge blocks. */
static void too_little_work_is_no_verdict(void **state)
{
    static const struct {
        uint64_t n;
        double ns;
        bool is_little;
    } cases[] = {{20, 20, true}, {900, 500, true}, {900, 2000, false}, {2000, 20, false}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct fake_session *f = fake_session_of(8);
        fake_session_set_peak(f, FAKE_GLIBC, 4096);
        fake_session_set_peak(f, FAKE_JEMALLOC, 0);
        for (uint32_t k = 0; k < f->s.n_results; k++)
            if (f->results[k].op == AB_OP_ALL) {
                f->results[k].n_ops = cases[i].n / 2;
                f->results[k].n_unsupported = 0;
                f->results[k].ns_per_op = (f->results[k].backend + 1) * cases[i].ns;
            }
        fake_session_keep(f, FAKE_JEMALLOC + 1);
        assert_mentions(f, "No verdict, too little work", cases[i].is_little);
        assert_mentions(f, "faster than", !cases[i].is_little);
        assert_mentions(f, "100 % less", false);
        fake_session_free(f);
    }
}

/* The ops of a phase are those of any back end and round: here the first round has none. */
static void ops_that_one_round_does_not_know_are_those_of_the_others(void **state)
{
    (void)state;
    struct fake_session *f = fake_session_of(8);
    fake_session_keep(f, FAKE_JEMALLOC + 1);
    for (uint32_t k = 0; k < f->s.n_results; k++)
        if (f->results[k].op == AB_OP_ALL) {
            f->results[k].n_ops = f->results[k].round == 0 ? UINT64_MAX : 1000;
            f->results[k].ns_per_op = f->results[k].round == 0 ? NAN : 100;
            f->results[k].n_unsupported = 0;
        }
    assert_mentions(f, "too little work", false); /* 2,000 in 0.2 ms */
    for (uint32_t k = 0; k < f->s.n_results; k++)
        f->results[k].ns_per_op /= 100;
    assert_mentions(f, "too little work: 2000 operations in 2.00 us cannot be timed", true);
    for (uint32_t k = 0; k < f->s.n_results; k++)
        f->results[k].n_ops = f->results[k].n_unsupported = UINT64_MAX;
    assert_mentions(f, "operations in", false);
    fake_session_free(f);
}

static void too_few_rounds_are_no_verdict(void **state)
{
    (void)state;
    struct fake_session *f = fake_session_of(5);
    fake_session_keep(f, FAKE_ARENA);
    assert_says(
        f, AB_VIEW_TOO_FEW,
        "No verdict: 5 rounds cannot distinguish a difference from noise; at least 6 are needed. "
        "So far jemalloc is ahead of glibc in the time of the whole run (33.2 ms vs. 46.6 ms).");
    fake_session_free(f);
}

static void what_the_interval_does_not_show_is_no_difference(void **state)
{
    static const double near[3] = {21, 22, 21.6}, glibc[3] = {21.5, 21.5, 21.5};
    (void)state;
    struct fake_session *f = fake_session_of(8);
    fake_session_keep(f, FAKE_ARENA);
    fake_session_set_ns(f, FAKE_GLIBC, glibc);
    fake_session_set_ns(f, FAKE_JEMALLOC, near);
    assert_says(
        f, AB_VIEW_NO_CLEAR,
        "No clear difference in the time of the whole run between glibc and jemalloc (44.9 ms "
        "vs. 45.1 ms).");
    fake_session_free(f);
}

/* The same difference on a machine that something else used as well, and wide intervals. */
static void noise_forbids_a_verdict(void **state)
{
    static const double wild[3] = {12, 45, 20}, glibc[3] = {21.5, 21.5, 21.5};
    (void)state;
    struct fake_session *f = fake_session_of(8);
    fake_session_keep(f, FAKE_ARENA);
    fake_session_set_ns(f, FAKE_GLIBC, glibc);
    fake_session_set_ns(f, FAKE_JEMALLOC, wild);
    for (uint32_t i = 0; i < f->s.n_results; i++)
        f->results[i].cpu_ns_per_op = f->results[i].ns_per_op;
    assert_mentions(f, "No clear difference", true);
    f->nulls[4].ns_per_op = 1.8;
    assert_says(f, AB_VIEW_TOO_NOISY, "No verdict: this machine is too busy.");
    fake_session_free(f);
}

/* Noise does not hide what is clear all the same. */
static void noise_does_not_forbid_what_is_clear(void **state)
{
    (void)state;
    struct fake_session *f = fake_session_of(8);
    f->nulls[4].ns_per_op = 1.8;
    assert_mentions(f, "arena is 6.15x", true);
    fake_session_free(f);
}

static void libraries_given_by_path_are_not_verified(void **state)
{
    (void)state;
    struct fake_session *f = fake_session_of(8);
    assert_mentions(f, "Not verified", false);
    strcpy(f->backends[FAKE_JEMALLOC].package, "");
    assert_mentions(f, "Not verified: jemalloc.", true);
    f->backends[FAKE_JEMALLOC].is_verified = true;
    assert_mentions(f, "Not verified", false);
    fake_session_free(f);
}

static void make_one_build(struct fake_session *f)
{
    for (uint32_t b = FAKE_GLIBC; b <= FAKE_JEMALLOC; b += FAKE_JEMALLOC - FAKE_GLIBC) {
        strcpy(f->backends[b].build_id, "1234abcd");
        strcpy(f->backends[b].version, "1");
    }
}

/* One library in two folders: nothing about it is faster than itself. */
static void rows_of_one_build_are_one_allocator(void **state)
{
    (void)state;
    struct fake_session *f = fake_session_of(8);
    fake_session_keep(f, FAKE_ARENA);
    make_one_build(f);
    assert_mentions(f, "glibc and jemalloc are the same build: a difference between them is noise.",
                    true);
    assert_mentions(f, "faster", false);
    struct ab_view v;
    ab_view_make(&f->s, &v);
    assert_int_equal(ab_view_sentences(&v)->next.n, 0);
    for (uint32_t i = 0; i < v.ranking.n_rows; i++)
        assert_false(v.ranking.rows[i].vs.is_clear);
    ab_view_fini(&v);
    strcpy(f->backends[FAKE_JEMALLOC].settings, "{A=b}"); /* another way to run it */
    assert_mentions(f, "same build", false);
    assert_mentions(f, "jemalloc is 1.41x", true);
    fake_session_free(f);
}

/* A third one is compared with the one that stands for both. */
static void a_third_one_is_compared_with_one_of_a_build(void **state)
{
    (void)state;
    struct fake_session *f = fake_session_of(8);
    make_one_build(f);
    assert_mentions(f, "arena is 6.15x [6.15, 6.15] faster than glibc", true);
    assert_mentions(f, "the fastest one that frees is jemalloc", false);
    assert_mentions(f, "are the same build", true);
    fake_session_free(f);
}

static void what_failed_verify_is_said_first(void **state)
{
    (void)state;
    struct fake_session *f = fake_session_of(8);
    struct ab_backend_info *b = &f->backends[FAKE_JEMALLOC];
    strcpy(b->package, "");
    strcpy(b->verify_failed[b->n_verify_failed++], "limits");
    strcpy(b->verify_failed[b->n_verify_failed++], "fork");
    struct ab_view v;
    ab_view_make(&f->s, &v);
    assert_string_equal(ab_view_sentences(&v)->headline.sentences[0],
                        "jemalloc FAILED verify (limits, fork).");
    ab_view_fini(&v);
    assert_mentions(f, "Not verified", false);
    fake_session_free(f);
}

/* 1.41x at first; the rounds that were to confirm it did not. */
static void what_more_rounds_took_back_is_not_said(void **state)
{
    (void)state;
    struct fake_session *f = fake_session_of(8);
    struct ab_checked gate = {.backend = "glibc",
                              .base_backend = "jemalloc",
                              .metric = "ns_per_op",
                              .unit = "ns",
                              .text = "glibc:steady/all/ns_per_op < 1.08x jemalloc",
                              .verdict = AB_VERDICT_FAIL,
                              .n_confirm = 10};
    fake_session_keep(f, FAKE_ARENA);
    f->s.gates = &gate;
    f->s.n_gates = 1;
    assert_mentions(f, "jemalloc is 1.41x", true); /* confirmed */
    gate.verdict = AB_VERDICT_INCONCLUSIVE;
    assert_says(f, AB_VIEW_NO_CLEAR,
                "No clear difference in the time of the whole run between jemalloc and glibc (33.2 "
                "ms vs. 46.6 ms): 10 more rounds did not confirm that glibc is slower.");
    gate.metric = "p99"; /* says nothing about the whole run */
    assert_mentions(f, "jemalloc is 1.41x", true);
    f->s.gates = NULL;
    f->s.n_gates = 0;
    fake_session_free(f);
}

static void an_interrupted_run_says_so(void **state)
{
    (void)state;
    struct fake_session *f = fake_session_of(8);
    assert_mentions(f, "Interrupted", false);
    f->s.is_complete = false;
    f->s.n_rounds_planned = 10;
    assert_mentions(f, "Interrupted after 8 of 10 rounds.", true);
    fake_session_free(f);
}

static void one_alone_and_none(void **state)
{
    (void)state;
    struct fake_session *f = fake_session_of(8);
    fake_session_keep(f, FAKE_JEMALLOC);
    fake_session_set_peak(f, FAKE_GLIBC, 6 << 20);
    assert_says(f, AB_VIEW_ALONE,
                "glibc takes 46.6 ms for the whole run and 6.00 MiB at the peak.");
    f->backends[FAKE_GLIBC].status = AB_BACKEND_CRASHED;
    assert_says(f, AB_VIEW_NOTHING,
                "No back end has comparable results. Left out: glibc (crashed).");
    fake_session_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_winner_and_its_price_are_named),
        cmocka_unit_test(peaks_of_several_machines_are_compared_round_by_round),
        cmocka_unit_test(failed_and_partial_ones_take_no_part),
        cmocka_unit_test(the_time_of_the_whole_run_decides),
        cmocka_unit_test(the_fastest_is_named_on_every_workload),
        cmocka_unit_test(an_arena_that_was_reset_frees),
        cmocka_unit_test(a_deviation_that_does_not_matter_here_is_not_said),
        cmocka_unit_test(a_program_that_fails_by_itself_is_said),
        cmocka_unit_test(too_little_work_is_no_verdict),
        cmocka_unit_test(ops_that_one_round_does_not_know_are_those_of_the_others),
        cmocka_unit_test(too_few_rounds_are_no_verdict),
        cmocka_unit_test(what_the_interval_does_not_show_is_no_difference),
        cmocka_unit_test(noise_forbids_a_verdict),
        cmocka_unit_test(noise_does_not_forbid_what_is_clear),
        cmocka_unit_test(libraries_given_by_path_are_not_verified),
        cmocka_unit_test(rows_of_one_build_are_one_allocator),
        cmocka_unit_test(a_third_one_is_compared_with_one_of_a_build),
        cmocka_unit_test(what_failed_verify_is_said_first),
        cmocka_unit_test(what_more_rounds_took_back_is_not_said),
        cmocka_unit_test(an_interrupted_run_says_so),
        cmocka_unit_test(one_alone_and_none),
    };
    return cmocka_run_group_tests_name("headline", tests, NULL, NULL);
}
