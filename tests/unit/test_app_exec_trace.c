/* SPDX-License-Identifier: MIT
 *
 * What a replay says is set beside each round of the program, of which there may be more.
 */
#include "app/exec_trace.h"
#include "result/numbers.h"

#include "trace_tools/to_tape.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { ROUNDS_MOST = 4, CALLS = 1000 };

struct fake { /* a session of one back end; result i is of round i */
    struct ab_session s;
    struct ab_backend_info backend;
    struct ab_round rounds[ROUNDS_MOST];
    struct ab_result results[ROUNDS_MOST];
};

static void fill(struct fake *f, enum ab_session_kind kind, const char *phase, uint32_t n,
                 double mean)
{
    *f = (struct fake){.backend = {.name = "glibc", .status = AB_BACKEND_OK}};
    f->s = (struct ab_session){.kind = kind,
                               .backends = &f->backend,
                               .n_backends = 1,
                               .rounds = f->rounds,
                               .n_rounds = n,
                               .results = f->results,
                               .n_results = n};
    for (uint32_t i = 0; i < n; i++) {
        f->rounds[i].index = i;
        f->results[i] = (struct ab_result){.phase = phase,
                                           .op = AB_OP_ALL,
                                           .round = i,
                                           .n_ops = CALLS,
                                           .ns_per_op = 10 + i,
                                           .n = 10,
                                           .mean = mean + i};
        f->results[i].calls = f->results[i].replay_ns_per_call = NAN;
        f->results[i].replay_warm_ns_per_call = f->results[i].replay_cold_ns_per_call = NAN;
    }
}

static void rounds_beyond_the_replay_have_the_calls_and_no_prediction(void **state)
{
    (void)state;
    static struct fake warm, cold, program;
    static struct ab_null_cost empty = {.floor_ns = 10, .floor_mean_ns = 20};
    struct ab_prediction p = {.n_replays = 0};
    fill(&warm, AB_SESSION_TRACE, AB_TRACE_PHASE, 2, 25);
    fill(&cold, AB_SESSION_TRACE, AB_TRACE_PHASE, 3, 18); /* its calls take less than the clock */
    fill(&program, AB_SESSION_EXEC, AB_PROGRAM_PHASE, ROUNDS_MOST, NAN);
    warm.s.nulls = cold.s.nulls = &empty;
    warm.s.n_nulls = cold.s.n_nulls = 1;
    p.replays[AB_REPLAY_WARM].session = warm.s;
    p.replays[AB_REPLAY_COLD].session = cold.s;
    ab_prediction_note(&p, &program.s);
    for (uint32_t i = 0; i < ROUNDS_MOST; i++) {
        const struct ab_result *r = &program.results[i];
        assert_true(r->calls == CALLS);
        assert_true(i < 2 ? r->replay_ns_per_call == 10 + i : isnan(r->replay_ns_per_call));
        assert_true(i < 2 ? r->replay_warm_ns_per_call == 5 + i
                          : isnan(r->replay_warm_ns_per_call));
        assert_true(isnan(r->replay_cold_ns_per_call));
    }
    p.n_calls = UINT64_C(5) * CALLS; /* of which a part was replayed */
    ab_prediction_note(&p, &program.s);
    assert_true(program.results[0].calls == 5 * CALLS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rounds_beyond_the_replay_have_the_calls_and_no_prediction),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
