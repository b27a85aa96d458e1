/* SPDX-License-Identifier: MIT
 *
 * Sessions taken apart by hand and joined again: the whole comes out as it was; what does not belong
 * together is refused with a message of its own.
 * tests: shard_part.c
 */
#include "result/merge/merge.h"
#include "result/merge/shard_part.h"
#include "result/numbers.h"
#include "result/session.h"

#include "base/bits.h"
#include "core/text.h"
#include "report/sinks/sinks.h"
#include "support/report_session.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void write_json(FILE *to, const struct ab_session *s, void *user)
{
    (void)user;
    ab_sink_json(to, s);
}

/* The whole that parts are made of: three rounds, with memory. */
static struct fake_session *make_whole(void)
{
    struct fake_session *f = fake_session_new();
    fake_session_set_peak(f, FAKE_GLIBC, 1e6);
    fake_session_set_peak(f, FAKE_ARENA, 2e6);
    struct ab_memory memory[6];
    for (uint32_t i = 0; i < 6; i++) { /* by round, as a session measures */
        memory[i] = f->memory[i / 2 + i % 2 * 3];
        memory[i].requested_bytes = 1e5 + i;
    }
    memcpy(f->memory, memory, sizeof memory);
    strcpy(f->s.host.fingerprint, "aa");
    f->s.tool.version = AB_VERSION;
    f->s.resumed_from = NULL;
    return f;
}

static void *copy_of(const void *from, size_t n, size_t size)
{
    void *to = calloc(n + 1, size);
    assert_non_null(to);
    memcpy(to, from, n * size);
    return to;
}

static struct ab_hdr *hdr_of(const struct ab_hdr *from)
{
    return copy_of(from, 1, sizeof *from);
}

/* What a shard of `whole` would have measured; owns its lists, borrows the rest. */
static struct ab_session part_of(const struct ab_session *whole, struct ab_run_shard shard)
{
    struct ab_session s = *whole;
    uint32_t planned = whole->n_rounds_planned;
    s.shard = shard;
    s.rounds = copy_of(whole->rounds, whole->n_rounds, sizeof s.rounds[0]);
    s.results = copy_of(whole->results, whole->n_results, sizeof s.results[0]);
    s.nulls = copy_of(whole->nulls, whole->n_nulls, sizeof s.nulls[0]);
    s.memory = copy_of(whole->memory, whole->n_memory, sizeof s.memory[0]);
    s.n_rounds = s.n_results = s.n_nulls = s.n_memory = 0;
    for (uint32_t i = 0; i < whole->n_rounds; i++)
        if (ab_shard_has_round(shard, planned, whole->rounds[i].index)) {
            struct ab_round *round = &s.rounds[s.n_rounds++];
            *round = whole->rounds[i];
            round->order = copy_of(round->order, round->n_order, sizeof round->order[0]);
        }
    for (uint32_t i = 0; i < whole->n_results; i++)
        if (ab_shard_has_round(shard, planned, whole->results[i].round) &&
            ab_shard_has_backend(shard, planned, whole->results[i].backend)) {
            s.results[s.n_results] = whole->results[i];
            s.results[s.n_results++].hdr = hdr_of(whole->results[i].hdr);
        }
    for (uint32_t i = 0; i < whole->n_nulls; i++)
        if (ab_shard_has_round(shard, planned, whole->nulls[i].round))
            s.nulls[s.n_nulls++] = whole->nulls[i];
    for (uint32_t i = 0; i < whole->n_memory; i++)
        if (ab_shard_has_round(shard, planned, whole->memory[i].round) &&
            ab_shard_has_backend(shard, planned, whole->memory[i].backend))
            s.memory[s.n_memory++] = whole->memory[i];
    return s;
}

struct parts {
    struct fake_session *whole;
    struct ab_session sessions[8];
    struct ab_merge_part parts[8];
    uint32_t n;
};

static const char *const files[] = {"a.json", "b.json", "c.json", "d.json",
                                    "e.json", "f.json", "g.json", "h.json"};

static struct parts *make_parts(uint32_t count)
{
    struct parts *p = calloc(1, sizeof *p);
    assert_non_null(p);
    p->whole = make_whole();
    for (p->n = 0; p->n < count; p->n++) {
        p->sessions[p->n] = part_of(&p->whole->s, (struct ab_run_shard){p->n + 1, count});
        p->parts[p->n] = (struct ab_merge_part){&p->sessions[p->n], files[p->n], ""};
    }
    return p;
}

static void free_parts(struct parts *p)
{
    for (uint32_t i = 0; i < p->n; i++)
        ab_session_fini(&p->sessions[i]);
    fake_session_free(p->whole);
    free(p);
}

static struct ab_session merge(struct parts *p)
{
    struct ab_session s;
    struct ab_err err = {.text = ""};
    if (ab_merge(p->parts, p->n, false, &s, &err) != AB_OK)
        fail_msg("refused: %s", err.text);
    return s;
}

static void free_merged(struct ab_session *s)
{
    ab_session_fini(s);
    free(s->backends);
}

/* With two parts the rounds of one lie between those of the other. */
static void merged_parts_are_the_whole_to_the_last_byte(void **state)
{
    (void)state;
    for (uint32_t count = 1; count <= 3; count++) {
        struct parts *p = make_parts(count);
        struct ab_session s = merge(p);
        assert_true(s.is_complete);
        assert_int_equal(s.n_parts, count);
        s.n_parts = 0; /* says where it is from; the whole does not */
        char *whole = fake_capture(write_json, &p->whole->s, NULL);
        char *merged = fake_capture(write_json, &s, NULL);
        assert_string_equal(whole, merged);
        free(whole);
        free(merged);
        free_merged(&s);
        free_parts(p);
    }
}

static void a_list_of_parts_says_where_each_round_is_from(void **state)
{
    (void)state;
    struct parts *p = make_parts(2);
    strcpy(p->parts[1].sha256, "00ff");
    struct ab_session s = merge(p);
    assert_string_equal(s.parts[0].file, "a.json");
    assert_string_equal(s.parts[1].sha256, "00ff");
    assert_int_equal(s.parts[0].n_rounds, 2);
    assert_int_equal(s.parts[1].n_rounds, 1);
    assert_int_equal(s.parts[1].shard.index, 2);
    assert_int_equal(s.shard.count, 0);
    free_merged(&s);
    free_parts(p);
}

static void machines_are_kept_apart(void **state)
{
    (void)state;
    struct parts *p = make_parts(3);
    strcpy(p->sessions[0].host.name, "node1");
    strcpy(p->sessions[1].host.name, "node2");
    strcpy(p->sessions[2].host.name, "node1");
    p->sessions[1].timer.ns_per_tick = 0.5;
    p->sessions[1].timer.quantum_ns = 40;
    for (uint32_t i = 0; i < p->sessions[1].n_nulls; i++)
        p->sessions[1].nulls[i].floor_ns = 70;
    struct ab_session s = merge(p);
    assert_int_equal(ab_session_host_count(&s), 2);
    assert_string_equal(s.hosts[0].name, "node1");
    assert_string_equal(s.hosts[1].name, "node2");
    assert_int_equal(s.rounds[0].host, 0);
    assert_int_equal(s.rounds[1].host, 1);
    assert_int_equal(s.rounds[2].host, 0);
    assert_string_equal(ab_session_round_host(&s, 1)->name, "node2");
    assert_true(isnan(s.timer.ns_per_tick)); /* two clocks */
    assert_true(s.timer.quantum_ns == 40);
    assert_true(s.timer.floor_ns == 70); /* the higher of the two machines' */
    free_merged(&s);
    free_parts(p);
}

static void what_disturbed_the_parts_is_added_up(void **state)
{
    (void)state;
    for (uint32_t n_hosts = 1; n_hosts <= 2; n_hosts++) {
        struct parts *p = make_parts(3);
        p->sessions[0].noise = (struct ab_noise){.runs = 10, .wall_s = 1.5, .canary_quiet_ns = 30};
        p->sessions[1].noise = (struct ab_noise){.runs = 5, .wall_s = 0.25, .canary_quiet_ns = 20};
        p->sessions[2].noise = (struct ab_noise){.runs = 0}; /* not known */
        if (n_hosts == 2)
            strcpy(p->sessions[1].host.fingerprint, "bb");
        struct ab_session s = merge(p);
        assert_true(s.noise.runs == 15 && s.noise.wall_s == 1.75);
        assert_true(n_hosts == 1 ? s.noise.canary_quiet_ns == 20 : isnan(s.noise.canary_quiet_ns));
        free_merged(&s);
        free_parts(p);
    }
}

static void one_machine_of_a_kind_is_one_machine(void **state)
{
    (void)state;
    const struct ab_host *a, *b;
    struct parts *p = make_parts(2);
    strcpy(p->sessions[0].host.name, "node1"); /* the other has no name, and the same fingerprint */
    struct ab_session s = merge(p);
    assert_int_equal(s.n_hosts, 0);
    assert_null(s.hosts);
    assert_true(ab_sessions_share_host(&s, &p->whole->s, &a, &b));
    free_merged(&s);
    free_parts(p);
}

static void results_of_several_machines_share_none_with_another(void **state)
{
    (void)state;
    const struct ab_host *a = NULL, *b = NULL;
    struct parts *p = make_parts(2);
    strcpy(p->sessions[0].host.fingerprint, "bb");
    struct ab_session s = merge(p);
    assert_false(ab_sessions_share_host(&p->whole->s, &s, &a, &b));
    assert_string_equal(a->fingerprint, "aa");
    assert_string_equal(b->fingerprint, "bb");
    assert_false(ab_sessions_share_host(&s, &s, &a, &b));
    free_merged(&s);
    free_parts(p);
}

/* Six shards of three rounds: two parts of each, which never pair. */
static void parts_of_divided_rounds_are_rounds_of_their_own(void **state)
{
    (void)state;
    struct parts *p = make_parts(6);
    uint32_t n_results = p->whole->s.n_results;
    struct ab_session s = merge(p);
    assert_true(s.is_complete);
    assert_int_equal(s.n_rounds, 6);
    assert_int_equal(s.n_rounds_planned, 6);
    assert_int_equal(s.n_results, n_results);
    for (uint32_t i = 0; i < s.n_results; i++) /* even rounds have the even back ends */
        assert_int_equal(s.results[i].round % 2, s.results[i].backend % 2);
    free_merged(&s);
    free_parts(p);
}

static void a_back_end_that_failed_in_one_part_has_no_numbers(void **state)
{
    (void)state;
    struct parts *p = make_parts(3);
    struct ab_backend_info backends[FAKE_COUNT];
    memcpy(backends, p->whole->backends, sizeof backends);
    backends[FAKE_ARENA].status = AB_BACKEND_CRASHED;
    strcpy(backends[FAKE_ARENA].reason, "SIGSEGV in free");
    p->sessions[2].backends = backends;
    struct ab_session s = merge(p);
    assert_int_equal(s.backends[FAKE_ARENA].status, AB_BACKEND_CRASHED);
    assert_string_equal(s.backends[FAKE_ARENA].reason, "in c.json: SIGSEGV in free");
    assert_int_equal(s.backends[FAKE_GLIBC].status, AB_BACKEND_OK);
    assert_int_equal(s.backends[FAKE_SCUDO].status, AB_BACKEND_ABSENT);
    assert_string_equal(s.backends[FAKE_SCUDO].reason, "not installed");
    free_merged(&s);
    free_parts(p);
}

static void what_is_missing_is_allowed_when_asked_for_and_marked(void **state)
{
    (void)state;
    struct parts *p = make_parts(3);
    struct ab_session s;
    struct ab_err err = {.text = ""};
    struct ab_merge_part two[] = {p->parts[0], p->parts[2]};
    assert_int_equal(ab_merge(two, 2, true, &s, &err), AB_OK);
    assert_false(s.is_complete);
    assert_int_equal(s.n_rounds, 2);
    assert_int_equal(s.rounds[1].index, 2);
    free_merged(&s);
    free_parts(p);
}

/* ---- refusals ---- */

static const char *const other_settings[] = {"rounds=3", "touch=all", NULL};
static const char *const other_phases[] = {"steady", "drained"};
static const int other_cpus[] = {2};

static void of_other_work(struct parts *p)
{
    p->sessions[1].tape_sha256 = "00";
}
static void of_another_seed(struct parts *p)
{
    p->sessions[1].seed = 8;
}
static void of_other_settings(struct parts *p)
{
    p->sessions[1].settings = other_settings;
}
static void of_another_version(struct parts *p)
{
    p->sessions[1].tool.version = "0.0.1";
}
static void of_other_rounds(struct parts *p)
{
    p->sessions[1].n_rounds_planned = 5;
}
static void of_other_phases(struct parts *p)
{
    p->sessions[1].phases = other_phases;
}
static void on_other_cpus(struct parts *p)
{
    p->sessions[1].cpus = other_cpus;
    p->sessions[1].n_cpus = 1;
}
static void with_fewer_back_ends(struct parts *p)
{
    p->sessions[1].n_backends--;
}
static void with_another_build(struct parts *p)
{
    static struct ab_backend_info backends[FAKE_COUNT];
    memcpy(backends, p->whole->backends, sizeof backends);
    strcpy(backends[FAKE_JEMALLOC].build_id, "ffff");
    p->sessions[1].backends = backends;
}
static void with_other_huge_pages(struct parts *p)
{
    strcpy(p->sessions[1].host.thp, "always");
}
static void with_a_round_twice(struct parts *p)
{
    p->sessions[1].shard = (struct ab_run_shard){0};
    p->sessions[1].rounds[0].index = 2;
}
static void with_a_round_that_is_not_its_own(struct parts *p)
{
    p->sessions[1].rounds[0].index = 0;
}
static void without_a_part(struct parts *p)
{
    ab_session_fini(&p->sessions[--p->n]);
}
static void interrupted(struct parts *p)
{
    p->sessions[0].is_complete = false;
    free((void *)p->sessions[0].rounds[--p->sessions[0].n_rounds].order);
    for (uint32_t i = 0; i < p->sessions[0].n_results; i++)
        if (p->sessions[0].results[i].round != 0)
            p->sessions[0].results[i].round = 0;
}
static void of_another_division(struct parts *p)
{
    p->sessions[1].shard = (struct ab_run_shard){2, 4};
}
static void without_a_digest(struct parts *p)
{
    p->sessions[0].tape_sha256 = "";
    p->sessions[1].tape_sha256 = "";
}

/* Every refusal leaves the parts whole, and has its own message: one golden line each. */
static void what_does_not_belong_together_is_refused(void **state)
{
    (void)state;
    static void (*const spoil[])(struct parts *) = {
        of_other_work,      of_another_seed,       of_other_settings,
        of_another_version, of_other_rounds,       of_other_phases,
        on_other_cpus,      with_fewer_back_ends,  with_another_build,
        with_a_round_twice, with_other_huge_pages, with_a_round_that_is_not_its_own,
        without_a_part,     interrupted,           of_another_division,
        without_a_digest,
    };
    struct ab_text all = {0};
    for (size_t i = 0; i < AB_ARRAY_LEN(spoil); i++) {
        struct parts *p = make_parts(2);
        struct ab_session s;
        struct ab_err err = {.text = ""};
        spoil[i](p);
        uint32_t n = p->sessions[0].n_results;
        enum ab_status status = ab_merge(p->parts, p->n, false, &s, &err);
        assert_int_not_equal(status, AB_OK);
        assert_int_equal(p->sessions[0].n_results, n);
        ab_text_addf(&all, "%d: %s\n", ab_status_exit_code(status), err.text);
        free_parts(p);
    }
    fake_assert_golden("merge-refusals.txt", all.s);
    ab_text_fini(&all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(merged_parts_are_the_whole_to_the_last_byte),
        cmocka_unit_test(a_list_of_parts_says_where_each_round_is_from),
        cmocka_unit_test(machines_are_kept_apart),
        cmocka_unit_test(what_disturbed_the_parts_is_added_up),
        cmocka_unit_test(one_machine_of_a_kind_is_one_machine),
        cmocka_unit_test(results_of_several_machines_share_none_with_another),
        cmocka_unit_test(parts_of_divided_rounds_are_rounds_of_their_own),
        cmocka_unit_test(a_back_end_that_failed_in_one_part_has_no_numbers),
        cmocka_unit_test(what_is_missing_is_allowed_when_asked_for_and_marked),
        cmocka_unit_test(what_does_not_belong_together_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
