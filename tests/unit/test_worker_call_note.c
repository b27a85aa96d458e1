/* SPDX-License-Identifier: MIT */
#include "support/cmocka.h"
#include "worker/crash/crash.h"

#include <pthread.h>
#include <string.h>

static struct ab_call_log call_log;

static void nothing_is_noted_before_there_is_a_place_for_it(void **state)
{
    (void)state;
    ab_call_note_begin(AB_CALLED_MALLOC, 1, 0, 0);
    ab_call_note_end();
    struct ab_call_note before = ab_call_note_ask(AB_CALLED_RESOLVE, 1);
    ab_call_note_answered(&before);
    ab_call_note_fail();
    assert_int_equal(ab_call_note_index(), 0);
    assert_int_equal(call_log.n_calls, 0);
}

static void a_call_is_inside_until_it_ends(void **state)
{
    (void)state;
    const struct ab_call_note *n = &call_log.notes[0];
    ab_call_note_open(&call_log);
    ab_call_note_begin(AB_CALLED_REALLOC, 0x1000, 64, 0);
    assert_int_equal(n->called, AB_CALLED_REALLOC);
    assert_int_equal(n->is_inside, 1);
    assert_int_equal(n->number, 1);
    assert_int_equal(n->args[0], 0x1000);
    assert_int_equal(n->args[1], 64);
    assert_int_equal(ab_call_note_index(), 1);
    ab_call_note_end();
    assert_int_equal(n->is_inside, 0);
    ab_call_note_begin(AB_CALLED_FREE, 0x1000, 0, 0);
    assert_int_equal(n->number, 2);
    ab_call_note_end();
}

static void a_question_leaves_the_call_before_it_as_it_was(void **state)
{
    (void)state;
    const struct ab_call_note *n = &call_log.notes[0];
    struct ab_call_note before = ab_call_note_ask(AB_CALLED_USABLE_SIZE, 0x2000);
    assert_int_equal(n->called, AB_CALLED_USABLE_SIZE);
    assert_int_equal(n->is_inside, 1);
    ab_call_note_answered(&before);
    assert_int_equal(n->called, AB_CALLED_FREE);
    assert_int_equal(n->is_inside, 0);
    assert_int_equal(n->number, 2);
    assert_int_equal(call_log.n_calls, 2);
}

static void who_fails_is_known(void **state)
{
    (void)state;
    ab_call_note_fail();
    assert_int_equal(call_log.failed, 1);
}

static void *call_once(void *out)
{
    ab_call_note_begin(AB_CALLED_MALLOC, 7, 0, 0);
    *(uint32_t *)out = ab_call_note_index();
    return NULL;
}

static void each_thread_has_a_note_and_those_beyond_them_none(void **state)
{
    (void)state;
    pthread_t thread;
    uint32_t index = 0;
    for (uint32_t i = 2; i < AB_CALL_NOTES + 4; i++) {
        assert_int_equal(pthread_create(&thread, NULL, call_once, &index), 0);
        pthread_join(thread, NULL);
        assert_int_equal(index, i < AB_CALL_NOTES ? i : 0);
    }
    assert_int_equal(call_log.notes[AB_CALL_NOTES - 1].called, AB_CALLED_NONE);
    ab_call_note_child();
    assert_int_equal(ab_call_note_index(), AB_CALL_NOTES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_noted_before_there_is_a_place_for_it),
        cmocka_unit_test(a_call_is_inside_until_it_ends),
        cmocka_unit_test(a_question_leaves_the_call_before_it_as_it_was),
        cmocka_unit_test(who_fails_is_known),
        cmocka_unit_test(each_thread_has_a_note_and_those_beyond_them_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
