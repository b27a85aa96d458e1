/* SPDX-License-Identifier: MIT
 *
 * A tape in bursts holds the ops of the whole, phase by phase and lane by lane; what is known of all
 * bursts is what is known of the whole.
 * tests: workload/generate/generate.c tape.c
 */
#include "support/workload_ops.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { PHASES_MOST = 8 };

struct row { /* the ops of one lane in one phase, without what guards them */
    uint64_t *ops;
    uint32_t n;
};

struct pieces {
    struct row rows[PHASES_MOST][4];
    uint32_t n_bursts, n_phases, n_ops, n_only;
};

static void take_row(struct row *row, const struct ab_tape *tape, uint32_t begin, uint32_t end)
{
    row->ops = realloc(row->ops, (row->n + (size_t)(end - begin) + 1) * sizeof row->ops[0]);
    for (uint32_t i = begin; i < end; i++)
        if (AB_OP_CODE(tape->ops[i]) != AB_CODE_WAIT && AB_OP_CODE(tape->ops[i]) != AB_CODE_PUBLISH)
            row->ops[row->n++] = tape->ops[i];
}

static enum ab_status take(void *user, const struct ab_tape *burst, bool is_only,
                           struct ab_err *err)
{
    (void)err;
    struct pieces *p = user;
    assert_true(burst->n_phases <= PHASES_MOST && burst->facts.lanes <= 4);
    assert_true(p->n_bursts == 0 || p->n_phases == burst->n_phases);
    p->n_bursts++;
    p->n_only += is_only;
    p->n_phases = burst->n_phases;
    p->n_ops += burst->n_ops;
    for (uint32_t k = 0, i = 0; k < burst->n_phases; k++) {
        assert_int_equal(burst->phases[k].begin, burst->lane_begin[i]);
        for (uint32_t l = 0; l < burst->facts.lanes; l++, i++)
            take_row(&p->rows[k][l], burst, burst->lane_begin[i], burst->lane_begin[i + 1]);
        assert_int_equal(burst->phases[k].end, burst->lane_begin[i]);
    }
    return AB_OK;
}

static struct pieces cut(const char *text, uint64_t most, struct ab_tape *total)
{
    struct ab_workload *w = load_text(text);
    struct ab_err err = {0};
    struct pieces p = {0};
    struct ab_workload_bursts bursts = {.most_bytes = most, .take = take, .user = &p};
    assert_non_null(w);
    if (ab_workload_compile_bursts(w, &bursts, total, &err) != AB_OK)
        fail_msg("%s", err.text);
    assert_int_equal(bursts.n, p.n_bursts);
    ab_workload_free(w);
    return p;
}

static void release(struct pieces *p)
{
    for (unsigned k = 0; k < PHASES_MOST; k++)
        for (unsigned l = 0; l < 4; l++)
            free(p->rows[k][l].ops);
}

static void expect_same(const char *text, uint64_t most)
{
    struct ab_tape whole, total;
    struct pieces one = cut(text, UINT64_MAX, &whole), many = cut(text, most, &total);
    assert_int_equal(one.n_bursts, 1);
    assert_int_equal(one.n_only, 1);
    assert_true(many.n_bursts > 3 && many.n_only == 0);
    for (uint32_t k = 0, at = 0; k < one.n_phases; k++) {
        for (unsigned l = 0; l < 4; l++) {
            const struct row *a = &one.rows[k][l], *b = &many.rows[k][l];
            assert_int_equal(a->n, b->n);
            if (a->n > 0)
                assert_memory_equal(a->ops, b->ops, a->n * sizeof a->ops[0]);
        }
        assert_string_equal(total.phases[k].name, whole.phases[k].name);
        assert_memory_equal(total.phases[k].n_ops, whole.phases[k].n_ops,
                            sizeof whole.phases[k].n_ops);
        assert_int_equal(total.phases[k].begin, at);
        at = total.phases[k].end;
    }
    assert_int_equal(total.phases[total.n_phases - 1].end, total.n_ops);
    assert_int_equal(total.n_ops, many.n_ops);
    assert_int_equal(total.facts.live_peak_bytes, whole.facts.live_peak_bytes);
    assert_int_equal(total.facts.total_blocks, whole.facts.total_blocks);
    assert_string_not_equal(total.sha256, whole.sha256);
    ab_tape_fini(&whole);
    ab_tape_fini(&total);
    release(&one);
    release(&many);
}

static void phases_and_sizes(void **state)
{
    (void)state;
    expect_same(
        "allocbench: 1\nname: t\nsets: [{name: s, count: 100}, {name: l, kind: list}, {name: e, kind: list}]\n"
        "phases:\n"
        "  - {name: warm, measure: false, do: [{alloc: s, size: 'uniform(8, 900)', count: all}]}\n"
        "  - {name: run, until: ops(9000), do: [{replace: s, at: random, size: 'uniform(8, 64)'}]}\n"
        "  - {name: more, repeat: 3, until: ops(2000), do: [{alloc: l, size: 8}]}\n"
        "  - {name: none, measure: false, do: [{free: e, count: all}]}\n"
        "  - {name: drain, do: [{free: s, count: all}, {free: l, count: all}]}\n",
        4096);
}

static void lanes_with_a_queue(void **state)
{
    (void)state;
    expect_same("allocbench: 1\nname: t\n"
                "sets: [{name: q, kind: queue, count: 50, per: all}, {name: s, count: 40}]\n"
                "phases:\n"
                "  - name: run\n    until: ops(8000)\n    roles:\n"
                "      - {name: a, lanes: 2, do: [{send: q, size: 'uniform(8, 64)'}]}\n"
                "      - {name: b, lanes: 2, do: [{recv: q}, {toggle: s, at: random, size: 16}]}\n"
                "  - {name: drain, measure: false, do: [{recv: q, count: all}]}\n",
                8192);
}

/* A save point does not outlive a burst: a scope is never cut. */
static void scopes(void **state)
{
    (void)state;
    expect_same("allocbench: 1\nname: t\nsets: [{name: r, kind: region}, {name: s, count: 9}]\n"
                "phases:\n"
                "  - name: run\n    until: iters(300)\n    each: {name: call}\n    do:\n"
                "      - {scope: r, do: [{alloc: r, size: 24, count: 40}]}\n"
                "      - {replace: s, size: 100, count: 7}\n",
                4096);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(phases_and_sizes),
        cmocka_unit_test(lanes_with_a_queue),
        cmocka_unit_test(scopes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
