/* SPDX-License-Identifier: MIT
 *
 * What a replay says is set beside each round of the program, of which there may be more.
 */
#include "app/exec_trace.h"

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

static void fill(struct fake *f, const char *kind, const char *phase, uint32_t n)
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
        f->results[i] = (struct ab_result){
            .phase = phase, .op = AB_OP_ALL, .round = i, .n_ops = CALLS, .ns_per_op = 10 + i};
        f->results[i].calls = f->results[i].replay_ns_per_call = NAN;
    }
}

static void rounds_beyond_the_replay_have_the_calls_and_no_prediction(void **state)
{
    (void)state;
    static struct fake replay, program;
    fill(&replay, "trace", AB_TRACE_PHASE, 2);
    fill(&program, AB_KIND_EXEC, AB_PROGRAM_PHASE, ROUNDS_MOST);
    ab_prediction_note(&replay.s, 0, &program.s);
    for (uint32_t i = 0; i < ROUNDS_MOST; i++) {
        assert_true(program.results[i].calls == CALLS);
        if (i < 2)
            assert_true(program.results[i].replay_ns_per_call == 10 + i);
        else
            assert_true(isnan(program.results[i].replay_ns_per_call));
    }
    ab_prediction_note(&replay.s, 5 * CALLS, &program.s); /* of which a part was replayed */
    assert_true(program.results[0].calls == 5 * CALLS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rounds_beyond_the_replay_have_the_calls_and_no_prediction),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
