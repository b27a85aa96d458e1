/* SPDX-License-Identifier: MIT
 *
 * The samples of a mapped row, heap by heap: against a second way to find the heap of each op, by a
 * walk of its own over the tape; and with one heap they are the row's.
 */
#include "core/alloc.h"
#include "result/numbers.h"
#include "runner/fold.h"
#include "runner/fold_samples.h"
#include "runner/sampling.h"
#include "support/cmocka.h"
#include "support/tape.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N = 300, ROUNDS = 30000, MOST = 100000, SMALL = 64 };

static struct ab_err err;
static struct ab_tape tape;
static struct ab_tape_map map;
static const struct ab_clock clock_one = {.ns_per_tick = 1, .quantum_ns = 1};
static struct ab_run_page page;
static uint32_t positions[MOST], ticks[MOST];
static uint8_t classes[MOST], kinds[MOST];

static const struct ab_placement_heap heaps[3] = {
    {.source = AB_SOURCE_BUILTIN, .name = "pool#1", .builtin = "pool"},
    {.source = AB_SOURCE_BUILTIN, .name = "slab", .builtin = "slab"},
    {.source = AB_SOURCE_BUILTIN, .name = "pool#2", .builtin = "pool"}}; /* as of 2*pool */

#define SMALL_ONES \
    { \
        .ranges = { [AB_PLACEMENT_SIZE] = {true, 0, SMALL} } \
    }
#define REST(to) \
    { \
        .heap = (to), .odd_heap = (to) \
    }
static const struct ab_placement_rule by_size[] = {SMALL_ONES, REST(1)};

/* Every op of the measured phases is timed; what it took says where it stands. */
static struct ab_outcome outcome(void)
{
    struct ab_outcome run = {
        .page = &page, .positions = positions, .ticks = ticks, .classes = classes, .kinds = kinds};
    memset(&page, 0, sizeof page);
    page.report.hooks = ~0u;
    for (uint32_t i = map.phases[1].begin; i < map.phases[2].end; i++) {
        uint32_t n = run.n_samples++;
        assert_true(n < MOST);
        positions[n] = i;
        kinds[n] = (uint8_t)test_tape_op(&map, i).kind;
        ticks[n] = 1 + 20 + i % 1000;
    }
    return run;
}

static int setup(void **state)
{
    (void)state;
    test_tape_churn_map(N, ROUNDS, &tape, &map);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    ab_tape_map_close(&map);
    ab_tape_fini(&tape);
    return 0;
}

static void fold_all(struct ab_session *s, const struct ab_placement *placement,
                     const struct ab_outcome *run)
{
    struct ab_fold f = {s, &map, &clock_one, 0, 3};
    struct ab_throughput runs = {0};
    ab_throughput_add(&runs, &f, 0, run);
    ab_fold_throughput(&f, &runs, 0);
    ab_throughput_fini(&runs);
    ab_fold_latency(&f, run);
    ab_fold_heaps(&f, placement, run);
}

static void forget_all(struct ab_session *s)
{
    ab_fold_drop(s, 0, AB_FOLD_ANY);
    assert_int_equal(s->n_heap_parts, 0);
    free(s->results);
    free(s->heap_parts);
}

static const struct ab_heap_part *find(const struct ab_session *s, uint32_t heap, const char *phase,
                                       unsigned op)
{
    for (uint32_t i = 0; i < s->n_heap_parts; i++) {
        const struct ab_heap_part *p = &s->heap_parts[i];
        if (p->heap == heap && p->op == op && strcmp(p->phase, phase) == 0)
            return p;
    }
    return NULL;
}

static void make_placement(const struct ab_placement_rule *rules, size_t n_rules, uint32_t n_heaps,
                           struct ab_placement *out)
{
    const struct ab_placement_plan plan = {
        .rules = rules, .n_rules = n_rules, .heaps = heaps, .n_heaps = n_heaps};
    assert_int_equal(ab_placement_make(&plan, &map, NULL, out, &err), AB_OK);
}

struct sum {
    uint64_t calls, blocks, bytes, peak_blocks, peak_bytes;
    double ns;
};

/* The other way: which block is how large now says in which heap it is. */
static void sum_up(const char *phase, struct sum sums[2][AB_OP_ALL + 1])
{
    uint64_t *sizes = calloc(map.image->n_slots + 1u, sizeof sizes[0]);
    memset(sums, 0, 2 * sizeof sums[0]);
    for (uint32_t p = 0; p < map.image->n_phases; p++)
        for (uint32_t i = map.phases[p].begin; i < map.phases[p].end; i++) {
            struct ab_op_view op = test_tape_op(&map, i);
            bool is_it = strcmp(map.phases[p].name, phase) == 0;
            uint64_t before = sizes[op.slot], after = op.kind == AB_OP_FREE ? 0 : op.size;
            uint32_t heap = (op.kind == AB_OP_FREE ? before : after) > SMALL;
            if (before > 0) {
                struct sum *from = &sums[before > SMALL][AB_OP_ALL];
                from->blocks--;
                from->bytes -= before;
            }
            if (after > 0) {
                sums[heap][AB_OP_ALL].blocks++;
                sums[heap][AB_OP_ALL].bytes += after;
            }
            sizes[op.slot] = after;
            for (unsigned k = 0; k <= AB_OP_ALL && is_it; k++)
                if (k == (unsigned)op.kind || k == AB_OP_ALL) {
                    sums[heap][k].calls++;
                    sums[heap][k].ns += 20 + i % 1000;
                }
        }
    free(sizes);
}

static void each_sample_is_its_heaps(void **state)
{
    (void)state;
    struct ab_backend_info backend = {.n_heaps = 2};
    struct ab_session s = {.seed = 1, .backends = &backend, .n_backends = 1};
    struct ab_outcome run = outcome();
    struct ab_placement placement;
    make_placement(by_size, 2, 2, &placement);
    fold_all(&s, &placement, &run);
    for (uint32_t p = 1; p < 3; p++) {
        struct sum sums[2][AB_OP_ALL + 1];
        sum_up(map.phases[p].name, sums);
        for (uint32_t h = 0; h < 2; h++)
            for (unsigned k = 0; k <= AB_OP_ALL; k++) {
                const struct ab_heap_part *part = find(&s, h, map.phases[p].name, k);
                assert_true((part != NULL) == (sums[h][k].calls > 0));
                if (part == NULL)
                    continue;
                assert_int_equal(part->n_calls, sums[h][k].calls);
                assert_int_equal(part->round, 3);
                if (k != AB_OP_ALL)
                    assert_int_equal(ab_hdr_total(part->hdr), sums[h][k].calls);
                assert_true(
                    fabs(ab_hdr_mean(part->hdr) / (sums[h][k].ns / (double)sums[h][k].calls) - 1) <
                    (k == AB_OP_ALL ? 0.05 : 0.001));
            }
    }
    assert_null(find(&s, 0, "fill", AB_OP_ALLOC)); /* not measured */
    ab_placement_close(&placement);
    forget_all(&s);
}

/* 1 / rate of each kind is how many calls a sample stands for. */
static void times_are_of_all_calls(void **state)
{
    (void)state;
    struct ab_backend_info backend = {.n_heaps = 2};
    struct ab_session s = {.seed = 1, .backends = &backend, .n_backends = 1};
    struct ab_outcome run = outcome();
    struct ab_placement placement;
    make_placement(by_size, 2, 2, &placement);
    fold_all(&s, &placement, &run);
    const struct ab_phase *phase = &map.phases[1];
    double sum = 0;
    for (unsigned k = 0; k < AB_OP_KIND_COUNT; k++) {
        const struct ab_heap_part *part = find(&s, 1, phase->name, k);
        if (part == NULL)
            continue;
        double expected = ab_hdr_mean(part->hdr) * (double)part->n_calls /
                          ab_sampling_rate(phase, k);
        assert_true(fabs(part->time_ns / expected - 1) < 0.001);
        sum += part->time_ns;
    }
    assert_true(fabs(find(&s, 1, phase->name, AB_OP_ALL)->time_ns / sum - 1) < 1e-9);
    ab_placement_close(&placement);
    forget_all(&s);
}

static void expect_the_rows_numbers(const struct ab_placement_rule *rules, size_t n_rules,
                                    uint32_t n_heaps)
{
    struct ab_backend_info backend = {.n_heaps = 1};
    struct ab_session s = {.seed = 1, .backends = &backend, .n_backends = 1};
    struct ab_outcome run = outcome();
    struct ab_placement placement;
    make_placement(rules, n_rules, n_heaps, &placement);
    fold_all(&s, &placement, &run);
    for (uint32_t i = 0; i < s.n_results; i++) {
        const struct ab_result *r = &s.results[i];
        const struct ab_heap_part *part = find(&s, 0, r->phase, r->op);
        assert_non_null(part);
        assert_memory_equal(part->hdr, r->hdr, sizeof *r->hdr);
        if (r->op == AB_OP_ALL)
            assert_int_equal(part->n_calls, r->n_ops);
    }
    assert_int_equal(s.n_results, s.n_heap_parts);
    /* From one of two heaps to the other a block is for a moment in both. */
    const struct ab_heap_part *all = find(&s, 0, "churn", AB_OP_ALL);
    assert_int_equal(all->live_peak_blocks, N + n_heaps / 2);
    if (n_heaps == 1)
        assert_int_equal(all->live_peak_bytes, map.image->facts.live_peak_bytes);
    ab_placement_close(&placement);
    forget_all(&s);
}

static void one_heap_has_the_rows_numbers(void **state)
{
    (void)state;
    static const struct ab_placement_rule one[] = {REST(0)}, same_name[] = {SMALL_ONES, REST(2)};
    expect_the_rows_numbers(one, 1, 1);
    expect_the_rows_numbers(same_name, 2, 3);
}

static void peaks_are_those_of_the_phase(void **state)
{
    (void)state;
    struct ab_placement placement;
    uint64_t most[2] = {0}, *sizes = calloc(map.image->n_slots + 1u, sizeof sizes[0]),
             live[2] = {0};
    make_placement(by_size, 2, 2, &placement);
    for (uint32_t p = 0; p < 2; p++) {
        most[0] = live[0];
        most[1] = live[1];
        for (uint32_t i = map.phases[p].begin; i < map.phases[p].end; i++) {
            struct ab_op_view op = test_tape_op(&map, i);
            uint64_t before = sizes[op.slot], after = op.kind == AB_OP_FREE ? 0 : op.size;
            bool moves = before > 0 && after > 0 && (before > SMALL) != (after > SMALL);
            if (moves) { /* both are there for a moment */
                live[after > SMALL] += after;
                most[after > SMALL] = live[after > SMALL] > most[after > SMALL]
                                          ? live[after > SMALL]
                                          : most[after > SMALL];
                live[before > SMALL] -= before;
            } else {
                live[before > SMALL] -= before;
                live[after > SMALL] += after;
            }
            for (unsigned h = 0; h < 2; h++)
                most[h] = live[h] > most[h] ? live[h] : most[h];
            sizes[op.slot] = after;
        }
        assert_int_equal(placement.uses[p][0].live_peak_bytes, most[0]);
        assert_int_equal(placement.uses[p][1].live_peak_bytes, most[1]);
    }
    free(sizes);
    ab_placement_close(&placement);
}

static void what_is_not_mapped_has_no_heaps(void **state)
{
    (void)state;
    struct ab_session s = {.seed = 1};
    struct ab_outcome run = outcome();
    fold_all(&s, NULL, &run);
    assert_int_equal(s.n_heap_parts, 0);
    forget_all(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_sample_is_its_heaps),
        cmocka_unit_test(times_are_of_all_calls),
        cmocka_unit_test(one_heap_has_the_rows_numbers),
        cmocka_unit_test(peaks_are_those_of_the_phase),
        cmocka_unit_test(what_is_not_mapped_has_no_heaps),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
