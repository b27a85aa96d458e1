/* SPDX-License-Identifier: MIT
 *
 * Which form a heap of several threads is proposed in, by times that are made up, and what is said of it.
 */
#include "cli/advise/advise_forms.h"

#include "advise/heap_form.h"
#include "support/cmocka.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct ab_advice advice;
static struct ab_advised_forms forms;

static void set(size_t i, bool is_measured, double low, double ratio, double high)
{
    struct ab_advised_form *f = &forms.all[0][i];
    memset(f, 0, sizeof *f);
    f->threads = (enum ab_advice_threads)(AB_ADVICE_LOCAL + i);
    f->row = (struct ab_advised_row){.is_measured = is_measured,
                                     .memory_bytes = 65536,
                                     .speed = {.ratio = ratio, .low = low, .high = high}};
    snprintf(f->row.reason, sizeof f->row.reason, "it crashed");
}

static void the_fastest_for_certain_is_taken_else_one_for_each_thread(void **state)
{
    (void)state;
    static const struct {
        double low[3], ratio[3];
        size_t taken;
    } cases[] = {
        {{1.1, 1.2, 0.9}, {1.2, 1.3, 1.0}, 2}, {{1.1, 0.9, 1.3}, {1.2, 5.0, 1.4}, 3},
        {{0.9, 0.9, 0.9}, {1.2, 1.3, 1.4}, 0}, {{0.5, 0.4, 0.3}, {0.6, 0.5, 0.4}, 0},
        {{NAN, NAN, NAN}, {2.0, 3.0, 4.0}, 0},
    };
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        set(0, true, NAN, NAN, NAN);
        for (size_t i = 0; i < 3; i++)
            set(i + 1, true, cases[c].low[i], cases[c].ratio[i], cases[c].ratio[i] * 1.1);
        assert_int_equal(ab_advise_decide_form(forms.all[0], 4), cases[c].taken);
    }
}

static void what_did_not_run_is_not_taken(void **state)
{
    (void)state;
    set(0, true, NAN, NAN, NAN);
    set(1, false, 1.2, 1.3, 1.4);
    set(2, true, 1.1, 1.2, 1.3);
    assert_int_equal(ab_advise_decide_form(forms.all[0], 3), 2);
    set(0, false, NAN, NAN, NAN);
    assert_int_equal(ab_advise_decide_form(forms.all[0], 3), 2); /* the first that ran */
    set(2, false, NAN, NAN, NAN);
    assert_int_equal(ab_advise_decide_form(forms.all[0], 3), 0);
}

static struct ab_advice_heap *heap_of(enum ab_advice_kind kind, uint32_t n_threads, uint64_t remote)
{
    advice = (struct ab_advice){.n_heaps = 1, .n_threads = 4};
    advice.heaps[0] = (struct ab_advice_heap){.kind = kind,
                                              .n_threads = n_threads,
                                              .n_remote = remote,
                                              .frees = 1000,
                                              .is_local = remote == 0,
                                              .size_most = 96,
                                              .capacity_bytes = 65536};
    ab_advice_take_form(&advice, 0, ab_heap_form_usual(&advice.heaps[0]));
    return &advice.heaps[0];
}

static void expect_forms(const char *wanted)
{
    enum ab_advice_threads all[AB_ADVICE_THREADS_COUNT];
    char text[128] = "";
    size_t n = ab_advice_forms(&advice, 0, all);
    for (size_t i = 0; i < n; i++) {
        strcat(text, i > 0 ? " " : "");
        strcat(text, ab_advice_threads_name(all[i]));
    }
    assert_string_equal(text, wanted);
}

static void each_kind_has_the_forms_that_its_back_end_has(void **state)
{
    (void)state;
    struct ab_advice_heap *h = heap_of(AB_ADVICE_POOL, 2, 0);
    expect_forms("local lockfree sharded mutex");
    assert_string_equal(h->backend, "pool:slot=96:threads=local");
    ab_advice_take_form(&advice, 0, AB_ADVICE_LOCKFREE);
    assert_string_equal(h->backend, "pool:slot=96:threads=lockfree");
    h = heap_of(AB_ADVICE_SLAB, 1, 5); /* another one frees */
    expect_forms("local sharded mutex");
    ab_advice_take_form(&advice, 0, AB_ADVICE_MUTEX);
    assert_string_equal(h->backend, "slab:threads=mutex");
    heap_of(AB_ADVICE_FRAME, 2, 0);
    expect_forms("local mutex");
    heap_of(AB_ADVICE_STACK, 2, 0);
    expect_forms("local");
    heap_of(AB_ADVICE_FRAME, 2, 0)->is_of_thread_scopes = true;
    expect_forms("local");
    heap_of(AB_ADVICE_FRAME, 1, 5); /* its frees go from the code */
    expect_forms("one");
    h = heap_of(AB_ADVICE_POOL, 1, 0);
    expect_forms("one");
    assert_string_equal(h->backend, "pool:slot=96");
}

static void expect_text(const char *wanted)
{
    char *text = NULL;
    size_t n = 0;
    FILE *to = open_memstream(&text, &n);
    ab_advise_print_forms(to, &advice, &forms, 0, (struct ab_table_style){.width = 2000});
    fclose(to);
    if (strcmp(text, wanted) != 0)
        fail_msg("\"%s\", not \"%s\"", text, wanted);
    free(text);
}

static void scopes_of_threads_are_counted_together(void **state)
{
    (void)state;
    const struct {
        uint32_t n_threads;
        const char *wanted;
    } cases[] = {{0, "300 scopes (found), 20 allocations a scope"},
                 {1, "300 scopes (found), 20 allocations a scope"},
                 {4, "300 scopes of 4 threads (found), 20 allocations a scope"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[128] = "";
        const struct ab_advice a = {
            .n_scopes = 300, .calls = 6000, .n_scope_threads = cases[i].n_threads};
        FILE *to = fmemopen(text, sizeof text, "w");
        ab_advise_print_scopes(to, &a);
        fclose(to);
        assert_string_equal(text, cases[i].wanted);
    }
}

static void the_screen_says_which_and_what_the_others_are_worth(void **state)
{
    (void)state;
    memset(&forms, 0, sizeof forms);
    heap_of(AB_ADVICE_POOL, 1, 0);
    expect_text("");
    heap_of(AB_ADVICE_POOL, 2, 400);
    expect_text("   threads=local: one for each thread; 400 of 1000 frees by another thread than "
                "the one that allocated, through the queue of its heap\n");
    set(0, true, NAN, NAN, NAN);
    set(1, true, 1.9, 2.0, 2.1);
    set(2, false, 0, 0, 0);
    forms.n[0] = 3;
    forms.n_rounds = 10;
    expect_text(
        "   threads=local: one for each thread; 400 of 1000 frees by another thread than "
        "the one that allocated, through the queue of its heap; as fast as threads=local with "
        "64.0 KiB: lockfree 2.00x [1.90, 2.10] with 64.0 KiB, sharded n/a (it crashed); "
        "none is significantly faster\n");
    forms.taken[0] = 1;
    ab_advice_take_form(&advice, 0, AB_ADVICE_LOCKFREE);
    expect_text("   threads=lockfree: one for all, lock-free; 400 of 1000 frees by another thread "
                "than the one that allocated; as fast as threads=local with 64.0 KiB: lockfree "
                "2.00x [1.90, 2.10] with 64.0 KiB, sharded n/a (it crashed)\n");
    forms.n[0] = 0;
    forms.left_out = 1;
    heap_of(AB_ADVICE_FRAME, 2, 7);
    expect_text("   threads=local: one for each thread; 7 of 1000 frees by another thread than the "
                "one that allocated, which go from the code; replays do not reset it: a program "
                "needs less memory than is said; other forms were not measured: others have more "
                "calls\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_fastest_for_certain_is_taken_else_one_for_each_thread),
        cmocka_unit_test(what_did_not_run_is_not_taken),
        cmocka_unit_test(each_kind_has_the_forms_that_its_back_end_has),
        cmocka_unit_test(scopes_of_threads_are_counted_together),
        cmocka_unit_test(the_screen_says_which_and_what_the_others_are_worth),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
