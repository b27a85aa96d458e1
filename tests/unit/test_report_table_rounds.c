/* SPDX-License-Identifier: MIT */
#include "answer/answer.h"
#include "result/numbers.h"

#include "support/report_session.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

typedef void note(const struct ab_session *s, struct ab_text *out);

static void assert_says(note *make, const struct ab_session *s, const char *wanted)
{
    struct ab_text text = {0};
    make(s, &text);
    assert_string_equal(text.s != NULL ? text.s : "", wanted);
    ab_text_fini(&text);
}

static void passes_that_are_not_in_every_round_are_named(void **state)
{
    (void)state;
    struct fake_session *f = fake_session_of(10);
    uint32_t *rounds = f->s.passes.rounds;
    assert_says(ab_rounds_note_passes, &f->s, "");
    f->s.passes.is_known = true;
    rounds[AB_PASS_LATENCY] = rounds[AB_PASS_TAIL] = rounds[AB_PASS_MEMORY] = AB_EVERY_ROUND;
    assert_says(ab_rounds_note_passes, &f->s, "");
    rounds[AB_PASS_TAIL] = rounds[AB_PASS_MEMORY] = 6;
    assert_says(ab_rounds_note_passes, &f->s, "tail and memory in 6 of 10 rounds");
    rounds[AB_PASS_MEMORY] = 0;
    assert_says(ab_rounds_note_passes, &f->s, "tail in 6 of 10 rounds; not run: memory (--passes)");
    rounds[AB_PASS_LATENCY] = 2;
    assert_says(ab_rounds_note_passes, &f->s,
                "latency in 2 of 10 rounds; tail in 6 of 10 rounds; not run: memory (--passes)");
    rounds[AB_PASS_LATENCY] = rounds[AB_PASS_TAIL] = 0;
    rounds[AB_PASS_MEMORY] = AB_EVERY_ROUND;
    f->s.is_strict = true;
    assert_says(ab_rounds_note_passes, &f->s, "not run: latency and tail (--order strict)");
    fake_session_free(f);
}

static void the_end_gives_its_reason(void **state)
{
    (void)state;
    struct fake_session *f = fake_session_of(8);
    assert_says(ab_rounds_note_end, &f->s, "");
    f->s.stopping = (struct ab_stopping){.precision = 0.02, .ended = AB_ENDED_PRECISION};
    assert_says(
        ab_rounds_note_end, &f->s,
        "stopped after 8 rounds: the ratio of each back end to its base is known to within 2 %");
    f->s.stopping = (struct ab_stopping){.time_budget_s = 60, .ended = AB_ENDED_TIME};
    assert_says(ab_rounds_note_end, &f->s,
                "stopped after 8 rounds: another one would have exceeded the --time-budget of "
                "60 s");
    f->s.stopping.precision = 0.02;
    assert_says(ab_rounds_note_end, &f->s,
                "stopped after 8 rounds: another one would have exceeded the --time-budget of "
                "60 s; widest interval of a whole run within 0.1 % (goal 2 %)");
    f->s.stopping.ended = AB_ENDED_ROUNDS;
    assert_says(
        ab_rounds_note_end, &f->s,
        "stopped at the limit of 8 rounds; widest interval of a whole run within 0.1 % (goal 2 %)");
    fake_session_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(passes_that_are_not_in_every_round_are_named),
        cmocka_unit_test(the_end_gives_its_reason),
    };
    return cmocka_run_group_tests_name("table_rounds", tests, NULL, NULL);
}
