/* SPDX-License-Identifier: MIT
 *
 * A heap of few slots runs full: that is proven to be all there is to it. One that loses what is
 * freed, or spoils what is live as it runs full, must be found out.
 */
#include "support/cmocka.h"
#include "worker/checks/checks.h"

#include <setjmp.h>
#include <stdio.h>
#include <string.h>

enum { SLOTS = 20, SLOT_BYTES = 64 };
enum how { SOUND, LOSES_ALL, LOSES_HALF, SPOILS, WEARS, NEVER_FREES };

static _Alignas(64) unsigned char memory[SLOTS][SLOT_BYTES];
static bool is_taken[SLOTS];
static enum how how;
static unsigned n_freed;
static struct ab_trial trial;
static struct ab_verify_report report;
static char told[512];
static jmp_buf back;

static ab_ref take_slot(struct ab_heap *heap, size_t size)
{
    (void)heap;
    for (unsigned i = 0; i < SLOTS && size <= SLOT_BYTES; i++)
        if (!is_taken[i]) {
            is_taken[i] = true;
            return (ab_ref)memory[i];
        }
    if (how == SPOILS)
        memory[3][0] ^= 1;
    return 0;
}

static void give_slot(struct ab_heap *heap, ab_ref ref, size_t size)
{
    (void)heap;
    (void)size;
    n_freed++;
    if (how != LOSES_ALL && how != WEARS && !(how == LOSES_HALF && n_freed % 2 == 0))
        is_taken[(ref - (ab_ref)memory) / SLOT_BYTES] = false;
}

static const struct ab_backend hooks = {.alloc = take_slot, .free = give_slot};

static __attribute__((noreturn)) void note(void *user, const char *text)
{
    (void)user;
    snprintf(told, sizeof told, "%s", text);
    longjmp(back, 1);
}

/* "full" is what the worker would end with; anything else was found behind the NULL. */
static __attribute__((noreturn)) void note_null(void *user, const char *text)
{
    ab_trial_prove_full(&trial);
    (void)text;
    note(user, "full");
}

static const char *run_full(enum how kind)
{
    static struct ab_target target;
    struct ab_ask ask = {.call = AB_CALL_ALLOC, .size = 40};
    how = kind;
    n_freed = 0;
    told[0] = 0;
    memset(is_taken, 0, sizeof is_taken);
    target = (struct ab_target){.hooks = &hooks,
                                .traits = kind == WEARS         ? AB_TRAIT_WEARS
                                          : kind == NEVER_FREES ? AB_TRAIT_NO_FREE
                                                                : 0u};
    report = (struct ab_verify_report){0};
    trial = (struct ab_trial){.target = &target, .report = &report};
    assert_true(ab_checker_open(&trial.checker, &target));
    trial.checker.fail = note;
    trial.checker.fail_null = note_null;
    if (setjmp(back) == 0)
        for (unsigned i = 0; i <= SLOTS; i++)
            ab_checker_ask(&trial.checker, NULL, &ask);
    ab_shadow_close(&trial.checker.shadow);
    return told;
}

static void a_full_heap_is_full_and_nothing_worse(void **state)
{
    (void)state;
    assert_string_equal(run_full(SOUND), "full");
    assert_int_equal(report.n_live, SLOTS);
    assert_true(n_freed >= 10 * SLOTS); /* tried many times over */
}

static void one_that_loses_what_is_freed_is_found(void **state)
{
    (void)state;
    assert_string_equal(run_full(LOSES_ALL), "of 20 blocks freed after a NULL only 0 "
                                             "could be allocated again");
    assert_non_null(strstr(run_full(LOSES_HALF), "could be allocated again"));
}

static void one_that_spoils_a_block_as_it_runs_full_is_found(void **state)
{
    (void)state;
    assert_non_null(strstr(run_full(SPOILS), "the contents of a live block changed"));
}

static void what_says_that_it_gives_nothing_back_is_not_asked_again(void **state)
{
    (void)state;
    assert_string_equal(run_full(WEARS), "full");
    assert_int_equal(n_freed, 0);
    assert_string_equal(run_full(NEVER_FREES), "full");
    assert_int_equal(n_freed, 0);
}

static bool is_enough(uint32_t n, uint32_t again)
{
    if (setjmp(back) != 0)
        return false;
    ab_trial_expect_again(&trial, n, again);
    return true;
}

static void a_few_of_many_are_enough_but_none_is_not(void **state)
{
    (void)state;
    trial.checker.fail = note;
    static const struct {
        uint32_t n, again;
        bool is_fine;
    } table[] = {{0, 0, true}, {1, 0, false}, {1, 1, true}, {80, 10, true}, {80, 9, false}};
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        assert_true(is_enough(table[i].n, table[i].again) == table[i].is_fine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_full_heap_is_full_and_nothing_worse),
        cmocka_unit_test(one_that_loses_what_is_freed_is_found),
        cmocka_unit_test(one_that_spoils_a_block_as_it_runs_full_is_found),
        cmocka_unit_test(what_says_that_it_gives_nothing_back_is_not_asked_again),
        cmocka_unit_test(a_few_of_many_are_enough_but_none_is_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
