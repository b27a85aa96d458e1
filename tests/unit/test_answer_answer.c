/* SPDX-License-Identifier: MIT
 *
 * The answer as data: bytes that add up, ratios that follow from the numbers beside them, calls
 * joined over the rounds, warnings.
 * tests: latency.c ranking.c memory_view.c warnings.c
 */
#include "answer/answer.h"
#include "result/numbers.h"

#include "support/cmocka.h"
#include "support/report_session.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct ab_view view_of(const struct fake_session *f)
{
    struct ab_view v;
    ab_view_make(&f->s, &v);
    return v;
}

static void bytes_add_up_and_are_of_one_run(void **state)
{
    (void)state;
    struct fake_session *f = fake_session_of(8);
    fake_session_set_peak(f, FAKE_GLIBC, 6 << 20);
    fake_session_set_peak(f, FAKE_JEMALLOC, 9 << 20);
    for (uint32_t i = 0; i < f->s.n_memory; i++) { /* each round another peak */
        struct ab_memory *m = &f->memory[i];
        m->retained_bytes += 4096.0 * m->round;
        m->footprint_bytes += 4096.0 * m->round;
        m->rss_peak_bytes += 4096.0 * m->round;
        m->peak_bytes += 4096.0 * m->round;
    }
    struct ab_view v = view_of(f);
    const struct ab_view_memory_row *m = &v.memory.rows[FAKE_GLIBC];
    double sum = 0;
    for (unsigned i = 0; i < AB_VIEW_MEMORY_PARTS; i++) {
        assert_true(m->parts[i] >= 0);
        sum += m->parts[i];
    }
    assert_true(sum == m->peak_bytes);
    assert_true(m->peak_bytes == (6 << 20) + 3 * 4096.0); /* the lower of the two in the middle */
    const struct ab_view_rank *jemalloc = ab_view_ranking_find(&v.ranking, FAKE_JEMALLOC);
    assert_true(fabs(jemalloc->times_live - jemalloc->peak_bytes / (4.5 * (1 << 20))) < 1e-9);
    assert_true(jemalloc->peak_ratio.ratio == jemalloc->peak_bytes / m->peak_bytes);
    assert_true(jemalloc->after_free_bytes == 9.0 * (1 << 20) / 16);
    assert_int_equal(v.ranking.drain, 1);
    ab_view_fini(&v);
    fake_session_free(f);
}

/* Where one row does not know it, none is compared by it. */
static void what_is_resident_within_calls_counts_where_all_rows_know_it(void **state)
{
    (void)state;
    const double mib = 1 << 20;
    struct fake_session *f = fake_session_of(8);
    fake_session_set_peak(f, FAKE_GLIBC, 6 * mib);
    fake_session_set_peak(f, FAKE_JEMALLOC, 6 * mib);
    for (uint32_t i = 8; i < 16; i++) {
        f->memory[i].during_calls_bytes = 3 * mib;
        f->memory[i].peak_bytes = 9 * mib;
    }
    struct ab_view v = view_of(f);
    const struct ab_view_memory_row *m = &v.memory.rows[FAKE_JEMALLOC];
    assert_true(v.memory.has_during && m->parts[AB_VIEW_DURING] == 3 * mib);
    assert_true(m->peak_bytes == 9 * mib);
    assert_true(ab_view_ranking_find(&v.ranking, FAKE_JEMALLOC)->peak_ratio.ratio == 1.5);
    assert_true(ab_session_peak(&f->s, FAKE_JEMALLOC).median == 9 * mib);
    ab_view_fini(&v);
    f->memory[3].during_calls_bytes = f->memory[3].peak_bytes = NAN;
    v = view_of(f);
    assert_true(v.memory.rows[FAKE_JEMALLOC].peak_bytes == 6 * mib);
    assert_true(ab_view_ranking_find(&v.ranking, FAKE_JEMALLOC)->peak_ratio.ratio == 1);
    assert_true(ab_session_peak(&f->s, FAKE_JEMALLOC).median == 6 * mib);
    ab_view_fini(&v);
    fake_session_free(f);
}

/* It is among the live bytes of the record, and a part of its own in the view; who is fastest is asked
 * of rows on the aged heap of the base. */
static void bytes_of_the_aged_heap_stand_apart(void **state)
{
    (void)state;
    struct fake_session *f = fake_session_of(8);
    fake_session_set_peak(f, FAKE_GLIBC, 6 << 20);
    const double aging = 1 << 20;
    struct ab_view fresh = view_of(f);
    uint32_t winner = ab_view_sentences(&fresh)->headline.winner;
    double live = fresh.memory.rows[FAKE_GLIBC].parts[AB_VIEW_LIVE];
    double peak = fresh.memory.rows[FAKE_GLIBC].peak_bytes;
    assert_false(fresh.memory.has_aged_heap);
    assert_true(fresh.memory.rows[FAKE_GLIBC].parts[AB_VIEW_AGED] == 0);
    ab_view_fini(&fresh);
    f->backends[winner].aging = (struct ab_aging_request){0.5, 1, 1};
    f->backends[FAKE_GLIBC].aged.bytes = (uint64_t)aging;
    struct ab_view v = view_of(f);
    const struct ab_view_memory_row *m = &v.memory.rows[FAKE_GLIBC];
    double sum = 0;
    for (unsigned i = 0; i < AB_VIEW_MEMORY_PARTS; i++)
        sum += m->parts[i];
    assert_true(v.memory.has_aged_heap);
    assert_true(m->parts[AB_VIEW_AGED] == aging);
    assert_true(m->parts[AB_VIEW_LIVE] == live - aging);
    assert_true(sum == peak && m->peak_bytes == peak);
    assert_true(ab_view_sentences(&v)->headline.winner != winner);
    ab_view_fini(&v);
    fake_session_free(f);
}

static void what_is_not_known_has_its_reason(void **state)
{
    (void)state;
    struct fake_session *f = fake_session_of(8);
    fake_session_set_peak(f, FAKE_GLIBC, 6 << 20);
    for (uint32_t i = 0; i < f->s.n_memory; i++) {
        f->memory[i].internal_bytes = NAN;
        strcpy(f->memory[i].reason, "purged: no purge; internal: no usable_size: it is external");
    }
    struct ab_view v = view_of(f);
    assert_true(isnan(v.memory.rows[FAKE_GLIBC].parts[AB_VIEW_INTERNAL]));
    assert_string_equal(v.memory.rows[FAKE_GLIBC].whys[AB_VIEW_INTERNAL],
                        "no usable_size: it is external");
    assert_string_equal(v.memory.rows[FAKE_GLIBC].whys[AB_VIEW_LIVE], "");
    assert_null(v.memory.rows[FAKE_JEMALLOC].of);
    ab_view_fini(&v);
    fake_session_free(f);
}

static void the_ranking_is_by_time_and_keeps_all(void **state)
{
    static const uint32_t order[FAKE_COUNT] = {FAKE_ARENA, FAKE_JEMALLOC, FAKE_GLIBC,
                                               FAKE_POOL,  FAKE_BROKEN,   FAKE_SCUDO};
    (void)state;
    struct fake_session *f = fake_session_of(8);
    struct ab_view v = view_of(f);
    assert_int_equal(v.ranking.n_ranked, 3);
    for (unsigned i = 0; i < FAKE_COUNT; i++)
        assert_int_equal(v.ranking.rows[i].backend, order[i]);
    const struct ab_view_rank *arena = &v.ranking.rows[0], *glibc = &v.ranking.rows[2];
    assert_true(glibc->is_base && arena->never_frees);
    assert_true(fabs(arena->vs.times - glibc->figure.median / arena->figure.median) < 1e-12);
    assert_true(arena->vs.is_clear && !arena->vs.is_less);
    assert_int_equal(v.ranking.rows[3].standing, AB_VIEW_ASIDE);
    assert_int_equal(v.ranking.rows[5].standing, AB_VIEW_FAILED);
    ab_view_fini(&v);
    fake_session_free(f);
}

static void phases_have_their_harness(void **state)
{
    (void)state;
    struct fake_session *f = fake_session_of(8);
    struct ab_view v = view_of(f);
    assert_int_equal(ab_view_phases(&v)->n_phases, 2);
    assert_int_equal(ab_view_phases(&v)->phases[0].n_ops, 2000000);
    assert_int_equal(ab_view_phases(&v)->n_harness, 2);
    assert_string_equal(ab_view_phases(&v)->harness[0].boundary, "malloc");
    assert_true(ab_view_phases(&v)->harness[0].ns_per_op[1] == 0.9);
    assert_true(ab_view_phases_at(ab_view_phases(&v), FAKE_JEMALLOC, 1)->ns_per_op.median > 29);
    assert_true(
        isnan(ab_view_phases_at(ab_view_phases(&v), FAKE_GLIBC, 0)->speed.ratio)); /* the base */
    assert_true(ab_view_phases_at(ab_view_phases(&v), FAKE_BROKEN, 0)->ns_per_op.n == 0);
    ab_view_fini(&v);
    fake_session_free(f);
}

/* Rows of several heaps at one boundary; those of one placement have one harness. */
static void harnesses_of_one_boundary_are_named_by_their_rows(void **state)
{
    (void)state;
    struct fake_session *f = fake_session_of(8);
    for (unsigned b = FAKE_JEMALLOC; b <= FAKE_POOL; b++)
        f->backends[b].boundary = "routed";
    strcpy(f->backends[FAKE_JEMALLOC].rules.placement, "aa");
    strcpy(f->backends[FAKE_ARENA].rules.placement, "aa");
    strcpy(f->backends[FAKE_POOL].rules.placement, "aa");
    for (uint32_t i = 0; i < f->s.n_nulls; i++)
        if (strcmp(f->nulls[i].boundary, "heap") == 0) {
            f->nulls[i].boundary = "routed";
            strcpy(f->nulls[i].placement, "aa");
        }
    struct ab_view v = view_of(f);
    assert_int_equal(ab_view_phases(&v)->n_harness, 2);
    assert_string_equal(ab_view_phases(&v)->harness[1].name, "routed");
    assert_true(ab_view_phases_harness(ab_view_phases(&v), FAKE_POOL, 0) == 1);
    ab_view_fini(&v);
    strcpy(f->backends[FAKE_ARENA].rules.placement, "bb");
    for (uint32_t i = 2; i < f->s.n_nulls; i += 4) { /* one phase of one of them is its own */
        strcpy(f->nulls[i].placement, "bb");
        f->nulls[i].ns_per_op = 7;
    }
    v = view_of(f);
    assert_int_equal(ab_view_phases(&v)->n_harness, 3);
    assert_string_equal(ab_view_phases(&v)->harness[0].name, "malloc");
    assert_string_equal(ab_view_phases(&v)->harness[1].name, "jemalloc, pool");
    assert_string_equal(ab_view_phases(&v)->harness[2].name, f->backends[FAKE_ARENA].name);
    assert_true(ab_view_phases_harness(ab_view_phases(&v), FAKE_ARENA, 0) == 7);
    assert_true(isnan(ab_view_phases_harness(ab_view_phases(&v), FAKE_ARENA, 1)));
    assert_true(isnan(ab_view_phases_harness(ab_view_phases(&v), FAKE_POOL, 0)));
    assert_true(ab_view_phases_harness(ab_view_phases(&v), FAKE_POOL, 1) == 1);
    ab_view_fini(&v);
    fake_session_free(f);
}

/* 1,000 allocs of 10 ns in one phase, of which 100 were timed, and 1 million of 99 ns in the other,
 * of which 100,000 were: the quantiles are those of the work, not of the samples. */
static void allocation_latency_is_weighted_by_the_work(void **state)
{
    static const double quantiles[] = {0.01, 0.5, 0.99999};
    (void)state;
    struct fake_session *f = fake_session_of(1);
    double ns[3];
    for (uint32_t i = 0; i < f->s.n_results; i++) {
        struct ab_result *r = &f->results[i];
        if (r->backend != FAKE_GLIBC || r->op == AB_OP_ALL)
            continue;
        ab_hdr_init(r->hdr);
        bool is_first = strcmp(r->phase, "steady") == 0;
        if (r->op == AB_OP_FREE && !is_first) {
            r->op = AB_OP_ALLOC;
            for (int k = 0; k < 100000; k++)
                ab_hdr_record(r->hdr, 99);
            r->tail_n = 1000000;
        } else if (r->op == AB_OP_ALLOC) {
            for (int k = 0; k < 100000; k++)
                ab_hdr_record(r->hdr, 10);
            r->tail_n = 1000;
        }
    }
    ab_view_latency_of_allocation(&f->s, FAKE_GLIBC, quantiles, 3, ns);
    assert_true(ns[0] == 99); /* half of the samples, but a thousandth of the work are 10 ns */
    assert_true(ns[1] == 99);
    assert_true(isnan(ns[2])); /* two samples are above it */
    fake_session_free(f);
}

static void set_worst(struct fake_session *f, uint32_t round, unsigned i, uint32_t position,
                      double ns)
{
    for (uint32_t k = 0; k < f->s.n_results; k++) {
        struct ab_result *r = &f->results[k];
        if (r->backend != FAKE_GLIBC || r->round != round || r->op != AB_OP_FREE ||
            strcmp(r->phase, "steady") != 0)
            continue;
        r->worst[i] = (struct ab_worst_op){ns, position, i == 0 ? 64 : AB_SIZE_UNKNOWN, 0};
        r->n_worst = i + 1;
        r->max = r->worst[0].ns;
    }
}

static const struct ab_view_latency_cell *free_of_glibc(const struct ab_view *v)
{
    for (uint32_t c = 0; c < ab_view_latency(v)->n_columns; c++)
        if (ab_view_latency(v)->columns[c].op == AB_OP_FREE &&
            ab_view_latency(v)->columns[c].phase == 0)
            return ab_view_latency_at(ab_view_latency(v), FAKE_GLIBC, c);
    return NULL;
}

/* What a stored result does not say of a call is no place and no time. */
static void calls_of_unknown_place_or_time_are_left_out(void **state)
{
    (void)state;
    struct fake_session *f = fake_session_of(3);
    set_worst(f, 0, 0, 900, NAN);
    set_worst(f, 1, 0, UINT32_MAX, 31000);
    set_worst(f, 2, 0, UINT32_MAX, 35000);
    struct ab_view v = view_of(f);
    assert_int_equal(ab_view_slowest(&v)->n_calls, 0);
    ab_view_fini(&v);
    fake_session_free(f);
}

/* Only rounds whose tail pass ran can have seen a call. */
static void rounds_without_a_tail_pass_are_not_counted(void **state)
{
    (void)state;
    struct fake_session *f = fake_session_of(3);
    f->s.passes.is_known = true;
    for (unsigned pass = 0; pass < AB_PASS_COUNT; pass++)
        f->s.passes.rounds[pass] = AB_EVERY_ROUND;
    f->s.passes.rounds[AB_PASS_TAIL] = 2;
    struct ab_view v = view_of(f);
    assert_int_equal(ab_view_slowest(&v)->n_rounds, 2);
    ab_view_fini(&v);
    fake_session_free(f);
}

/* A free of 4 ms in one round is an interruption; one of 30 us in all of them the allocator's. */
static void slow_calls_are_joined_by_their_place(void **state)
{
    (void)state;
    struct fake_session *f = fake_session_of(3);
    set_worst(f, 0, 0, 500, 4030000);
    set_worst(f, 0, 1, 900, 30000);
    set_worst(f, 1, 0, 900, 31000);
    set_worst(f, 2, 0, 900, 35000);
    struct ab_view v = view_of(f);
    const struct ab_view_slow_call *call = ab_view_slowest(&v)->calls;
    assert_int_equal(ab_view_slowest(&v)->n_calls, 2);
    assert_int_equal(call->position, 900);
    assert_int_equal(call->n_seen, 3);
    assert_int_equal(call->size, 64);
    assert_true(call->ns == 31000 && call->max_ns == 35000);
    assert_int_equal(call[1].n_seen, 1);
    assert_true(free_of_glibc(&v)->max_ns == 4030000);
    assert_true(free_of_glibc(&v)->max_repeated_ns == 31000);
    assert_true(free_of_glibc(&v)->is_max_single);
    ab_view_fini(&v);
    set_worst(f, 0, 0, 900, 36000);
    v = view_of(f);
    assert_false(free_of_glibc(&v)->is_max_single);
    ab_view_fini(&v);
    fake_session_free(f);
}

/* The first frame is slow in two rounds of three, the fifth in one, the same one of another lane in
 * all: that one takes least, but is the slowest of most rounds that is known for certain. */
static void slow_iterations_are_those_of_most_rounds(void **state)
{
    (void)state;
    struct fake_session *f = fake_session_of(3);
    static struct ab_iterations x[3];
    const struct ab_iteration_time times[3][3] = {{{9000, 1, 0}, {300, 5, 2}, {200, 5, 0}},
                                                  {{800, 1, 0}, {400, 5, 2}},
                                                  {{350, 5, 2}, {100, 9, 0}}};
    for (uint32_t i = 0; i < 3; i++) {
        x[i] = (struct ab_iterations){
            .phase = f->s.phases[0], .round = i, .n_worst = i == 0 ? 3 : 2};
        memcpy(x[i].worst, times[i], sizeof times[i]);
    }
    f->s.iterations = x;
    f->s.n_iterations = 3;
    struct ab_view v = view_of(f);
    const struct ab_view_slow_call *slow = ab_view_slow_iterations(&v)->calls;
    assert_int_equal(ab_view_slow_iterations(&v)->n_calls, 4);
    assert_true(slow[0].iteration == 1 && slow[0].op == 0 && slow[0].n_seen == 2);
    assert_true(slow[0].ns == 800 && slow[0].max_ns == 9000 &&
                slow[0].repeats); /* of 0, 800, 9000 */
    assert_true(slow[1].iteration == 5 && slow[1].op == 2 && slow[1].n_seen == 3);
    assert_true(slow[1].ns == 350 && slow[1].max_ns == 400 && slow[1].repeats);
    assert_true(slow[2].ns == 0 && !slow[2].repeats && !slow[3].repeats);
    ab_view_fini(&v);
    f->s.iterations = NULL;
    f->s.n_iterations = 0;
    fake_session_free(f);
}

static void warnings_have_ids_and_remedies(void **state)
{
    (void)state;
    struct fake_session *f = fake_session_of(3);
    strcpy(f->backends[FAKE_JEMALLOC].package, "");
    f->s.noise = (struct ab_noise){.slices_s = 10, .quiet_s = 1, .waited_s = 2};
    struct ab_view v = view_of(f);
    static const struct {
        const char *id, *remedy;
    } wanted[] = {{"failed", ""},
                  {"not-compared", ""},
                  {"few-rounds", "--rounds 10"},
                  {"shared-core", "stop other programs, or use --cpus N for an idle CPU"},
                  {"unverified", "allocbench verify /usr/lib/x86_64-linux-gnu/libjemalloc.so.2"},
                  {"absent", "apt install libscudo-14-dev"}};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        const struct ab_view_warning *w = ab_view_warnings_find(&ab_view_sentences(&v)->warnings,
                                                                wanted[i].id);
        if (w == NULL)
            fail_msg("no %s", wanted[i].id);
        else
            assert_string_equal(w->remedy, wanted[i].remedy);
    }
    assert_true(ab_view_sentences(&v)->warnings.is_noisy);
    for (size_t i = 1; i < ab_view_sentences(&v)->warnings.n; i++)
        assert_true(ab_view_sentences(&v)->warnings.items[i - 1].severity <=
                    ab_view_sentences(&v)->warnings.items[i].severity);
    assert_null(ab_view_warnings_find(&ab_view_sentences(&v)->warnings, "noise"));
    assert_int_equal(ab_view_sentences(&v)->warnings.items[0].severity, AB_VIEW_FAILURE);
    ab_view_fini(&v);
    fake_session_free(f);
}

static void a_ratio_is_said_in_one_direction(void **state)
{
    static const struct ab_effect slower = {.ratio = 0.5, .low = 0.4, .high = 0.8},
                                  unclear = {.ratio = 1.2, .low = 0.9, .high = 1.5};
    (void)state;
    char text[64];
    struct ab_view_factor f = ab_view_factor_of(&slower);
    assert_string_equal(ab_view_factor_words(text, sizeof text, &f, "faster", "slower"),
                        "2.00x slower");
    f = ab_view_factor_of(&unclear);
    assert_string_equal(ab_view_factor_words(text, sizeof text, &f, "faster", "slower"),
                        "~1.20x faster");
    f = ab_view_factor_of(&(struct ab_effect){.ratio = NAN, .low = NAN, .high = NAN});
    assert_string_equal(ab_view_factor_words(text, sizeof text, &f, "faster", "slower"), "-");
}

static void what_would_settle_it_is_the_next_step(void **state)
{
    static const double near[3] = {20.4, 21.8, 21.2}, glibc[3] = {21.5, 21.5, 21.5};
    (void)state;
    struct fake_session *f = fake_session_of(8);
    fake_session_keep(f, FAKE_ARENA);
    fake_session_set_ns(f, FAKE_GLIBC, glibc);
    fake_session_set_ns(f, FAKE_JEMALLOC, near);
    for (uint32_t i = 0; i < f->s.n_results; i++) /* nothing was preempted */
        f->results[i].cpu_ns_per_op = f->results[i].ns_per_op;
    struct ab_view v = view_of(f);
    assert_int_equal(ab_view_sentences(&v)->next.n, 1);
    unsigned rounds = 0;
    assert_int_equal(sscanf(ab_view_sentences(&v)->next.items[0].command, "--rounds %u", &rounds),
                     1);
    assert_int_equal(rounds, ab_effect_rounds_needed(&ab_view_sentences(&v)->headline.speed, NAN));
    ab_view_fini(&v);
    fake_session_free(f);
}

/* The next step where jemalloc takes 10 ns and arena, whose functions a program calls itself, 5. */
static const char *start_with(struct fake_session *f, const char *name, const char *path, char *buf,
                              size_t cap)
{
    struct ab_backend_info *b = &f->s.backends[FAKE_JEMALLOC];
    snprintf(b->name, sizeof b->name, "%s", name);
    snprintf(b->path, sizeof b->path, "%s", path);
    struct ab_view v = view_of(f);
    assert_int_equal(ab_view_sentences(&v)->headline.verdict, AB_VIEW_FASTER);
    snprintf(buf, cap, "%s",
             ab_view_sentences(&v)->next.n > 0 ? ab_view_sentences(&v)->next.items[0].command : "");
    ab_view_fini(&v);
    return buf;
}

static void a_winner_comes_with_what_a_program_is_started_with(void **state)
{
    static const struct {
        const char *name, *path, *line;
    } cases[] = {
        {"jemalloc", "/l/libj.so.2", "LD_PRELOAD=/l/libj.so.2"},
        {"jemalloc{A=b:1;C=d}", "/l/libj.so.2", "A=b:1 C=d LD_PRELOAD=/l/libj.so.2"},
        {"glibc{MALLOC_ARENA_MAX=1}", "/l/libc.so.6", "MALLOC_ARENA_MAX=1"},
        {"glibc", "/l/libc.so.6", ""},        /* programs have it anyway */
        {"jemalloc", "", ""},                 /* of what file is not known */
        {"jemalloc{A=$(id)}", "/l/j.so", ""}, /* is not for every shell */
        {"jemalloc", "/l/a b.so", ""},
        {"jemalloc", "/l/a:b.so", ""}, /* ends a name in LD_PRELOAD */
        {"./l.so:prefix=x_", "/l/l.so", ""},
    };
    static const double slow[3] = {20, 20, 20}, fast[3] = {10, 10, 10}, fastest[3] = {5, 5, 5};
    (void)state;
    char line[200];
    for (int has_arena = 0; has_arena < 2; has_arena++) {
        struct fake_session *f = fake_session_of(8);
        fake_session_set_ns(f, FAKE_GLIBC, slow);
        fake_session_set_ns(f, FAKE_JEMALLOC, fast);
        if (has_arena)
            fake_session_set_ns(f, FAKE_ARENA, fastest);
        else
            fake_session_keep(f, FAKE_ARENA);
        for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
            assert_string_equal(start_with(f, cases[i].name, cases[i].path, line, sizeof line),
                                cases[i].line);
        fake_session_set_ns(f, FAKE_JEMALLOC, slow); /* no faster than the base */
        if (has_arena)
            assert_string_equal(start_with(f, "jemalloc", "/l/j.so", line, sizeof line), "");
        fake_session_free(f);
    }
}

/* What is measured next after a replay is the program; only what passed verify is put to use. */
static void the_next_step_is_the_program_itself(void **state)
{
    static const double slow[3] = {20, 20, 20}, fast[3] = {10, 10, 10};
    static const char *const settings[] = {"program=perl", NULL};
    static const char *const hostile[] = {"program=a;reboot", NULL};
    (void)state;
    struct fake_session *f = fake_session_of(8);
    char line[200];
    fake_session_set_ns(f, FAKE_GLIBC, slow);
    fake_session_set_ns(f, FAKE_JEMALLOC, fast);
    fake_session_keep(f, FAKE_ARENA);
    f->s.settings = settings;
    struct ab_backend_info *b = &f->backends[FAKE_JEMALLOC];
    strcpy(b->package, "libjemalloc2");
    assert_string_equal(start_with(f, "jemalloc", "/l/j.so", line, sizeof line),
                        "allocbench exec -b jemalloc,glibc -- perl ...");
    assert_string_equal(start_with(f, "jemalloc{A=b;C=d}", "/l/j.so", line, sizeof line),
                        "allocbench exec -b 'jemalloc{A=b;C=d},glibc' -- perl ...");
    strcpy(b->package, "");
    assert_string_equal(start_with(f, "mine", "/l/mine.so", line, sizeof line),
                        "allocbench exec -b /l/mine.so,glibc -- perl ...");
    f->s.settings = hostile;
    assert_string_equal(start_with(f, "mine", "/l/mine.so", line, sizeof line), "");
    f->s.settings = NULL;
    assert_string_equal(start_with(f, "mine", "/l/mine.so", line, sizeof line),
                        "allocbench verify /l/mine.so");
    b->n_verify_failed = 1;
    assert_string_equal(start_with(f, "mine", "/l/mine.so", line, sizeof line),
                        "allocbench verify /l/mine.so");
    b->n_verify_failed = 0;
    b->is_verified = true;
    assert_string_equal(start_with(f, "mine", "/l/mine.so", line, sizeof line),
                        "LD_PRELOAD=/l/mine.so");
    fake_session_free(f);
}

/* The title is a text of its own each time that it is made. */
static void a_part_is_made_once(void **state)
{
    (void)state;
    struct fake_session *f = fake_session_of(8);
    struct ab_view v = view_of(f);
    const char *title = ab_view_sentences(&v)->title;
    const struct ab_view_phase *phases = ab_view_phases(&v)->phases;
    assert_ptr_equal(ab_view_sentences(&v)->title, title);
    assert_ptr_equal(ab_view_phases(&v)->phases, phases);
    ab_view_fini(&v);
    fake_session_free(f);
}

static void an_empty_session_has_a_view(void **state)
{
    (void)state;
    struct ab_session s = {.kind = AB_SESSION_WORKLOAD, .name = "nothing", .is_complete = true};
    struct ab_view v;
    ab_view_make(&s, &v);
    assert_int_equal(ab_view_sentences(&v)->headline.verdict, AB_VIEW_NOTHING);
    assert_int_equal(v.ranking.n_rows, 0);
    ab_view_fini(&v);
}

static void a_row_that_was_not_in_virtual_time_says_so(void **state)
{
    (void)state;
    struct fake_session *f = fake_session_of(8);
    strcpy(f->backends[FAKE_GLIBC].clock, "real");
    strcpy(f->backends[FAKE_GLIBC].clock_reason, "--pace 1x"); /* as it was asked for */
    struct ab_view v = view_of(f);
    assert_null(ab_view_warnings_find(&ab_view_sentences(&v)->warnings, "real-clock"));
    ab_view_fini(&v);
    strcpy(f->backends[FAKE_JEMALLOC].clock, "real");
    strcpy(f->backends[FAKE_JEMALLOC].clock_reason, "it reads the processor's tick counter");
    v = view_of(f);
    const struct ab_view_warning *w = ab_view_warnings_find(&ab_view_sentences(&v)->warnings,
                                                            "real-clock");
    assert_non_null(w);
    assert_int_equal(w->backend, FAKE_JEMALLOC);
    assert_non_null(strstr(w->text, "tick counter"));
    ab_view_fini(&v);
    fake_session_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_add_up_and_are_of_one_run),
        cmocka_unit_test(a_row_that_was_not_in_virtual_time_says_so),
        cmocka_unit_test(what_is_resident_within_calls_counts_where_all_rows_know_it),
        cmocka_unit_test(bytes_of_the_aged_heap_stand_apart),
        cmocka_unit_test(what_is_not_known_has_its_reason),
        cmocka_unit_test(the_ranking_is_by_time_and_keeps_all),
        cmocka_unit_test(phases_have_their_harness),
        cmocka_unit_test(harnesses_of_one_boundary_are_named_by_their_rows),
        cmocka_unit_test(allocation_latency_is_weighted_by_the_work),
        cmocka_unit_test(calls_of_unknown_place_or_time_are_left_out),
        cmocka_unit_test(rounds_without_a_tail_pass_are_not_counted),
        cmocka_unit_test(slow_calls_are_joined_by_their_place),
        cmocka_unit_test(slow_iterations_are_those_of_most_rounds),
        cmocka_unit_test(warnings_have_ids_and_remedies),
        cmocka_unit_test(a_ratio_is_said_in_one_direction),
        cmocka_unit_test(what_would_settle_it_is_the_next_step),
        cmocka_unit_test(a_winner_comes_with_what_a_program_is_started_with),
        cmocka_unit_test(the_next_step_is_the_program_itself),
        cmocka_unit_test(a_part_is_made_once),
        cmocka_unit_test(an_empty_session_has_a_view),
    };
    return cmocka_run_group_tests_name("view", tests, NULL, NULL);
}
