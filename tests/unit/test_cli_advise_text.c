/* SPDX-License-Identifier: MIT
 *
 * An advice on the screen, as JSON and as rules: golden, by numbers that are made up; and where
 * nothing is to be changed.
 * tests: advise_json.c advise_rules.c advise_view.c
 */
#include "app/advise/advise_rules.h"
#include "cli/advise/advise.h"
#include "result/numbers.h"
#include "support/cmocka.h"
#include "support/report_session.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct ab_advice_group groups[4];
static struct ab_advice advice;
static struct ab_advised measured;
static struct ab_advised_nested nested;
static struct ab_advised_budget budget;
static struct ab_advise_view view;

static void set_group(size_t i, const char *key, const char *function, int line, uint64_t calls)
{
    groups[i] = (struct ab_advice_group){.line = line,
                                         .calls = calls,
                                         .frees = calls,
                                         .in_scope = calls,
                                         .why = "dies in its scope"};
    groups[i].heap = AB_ADVICE_NO_HEAP;
    snprintf(groups[i].key, sizeof groups[i].key, "%s", key);
    snprintf(groups[i].function, sizeof groups[i].function, "%s", function);
    snprintf(groups[i].file, sizeof groups[i].file, "%s", line > 0 ? "game.c" : "");
    snprintf(groups[i].module, sizeof groups[i].module, "game");
}

static void set_heap(size_t i, enum ab_advice_kind kind, const char *backend, uint64_t calls)
{
    advice.heaps[i] = (struct ab_advice_heap){.kind = kind,
                                              .calls = calls,
                                              .align = 16,
                                              .n_groups = 1,
                                              .size_most = 96,
                                              .most_blocks = 2000,
                                              .most_bytes = 400000,
                                              .capacity_bytes = 524288,
                                              .n_threads = 1,
                                              .is_local = true};
    if (kind == AB_ADVICE_POOL)
        advice.heaps[i].capacity_blocks = 2512;
    snprintf(advice.heaps[i].name, sizeof advice.heaps[i].name, "%c", (char)('A' + (int)i));
    snprintf(advice.heaps[i].backend, sizeof advice.heaps[i].backend, "%s", backend);
}

static struct ab_advised_row row_of(const char *name, double time_ns, double ratio)
{
    struct ab_advised_row row = {.is_measured = true,
                                 .time_ns = time_ns,
                                 .memory_bytes = 13.1e6,
                                 .base_time_ns = 18e6,
                                 .base_memory_bytes = 13.1e6,
                                 .held_bytes = NAN,
                                 .base_held_bytes = NAN};
    snprintf(row.name, sizeof row.name, "%s", name);
    row.speed = (struct ab_effect){
        .ratio = ratio, .low = ratio * 0.98, .high = ratio * 1.02, .method = AB_EFFECT_PAIRED};
    return row;
}

/* 300 frames: an arena that pays, a pool that does not, a place with survivors. */
static int set_up(void **state)
{
    (void)state;
    advice = (struct ab_advice){.groups = groups,
                                .n_groups = 4,
                                .n_heaps = 2,
                                .calls = 131400,
                                .n_events = 260700,
                                .n_before_end = 260600,
                                .n_scopes = 300,
                                .has_sites = true,
                                .n_threads = 1};
    snprintf(advice.program, sizeof advice.program, "game");
    set_group(0, "site:game.c:88", "draw_label", 88, 120000);
    set_group(1, "site:game.c:120", "spawn(int)", 120, 11000);
    set_group(2, "site:game.c:140", "spawn_trail", 140, 300);
    set_group(3, "site:game+0x1a2b", "", 0, 100);
    groups[0].heap = 0;
    groups[0].kind = AB_ADVICE_FRAME;
    groups[1].heap = 1;
    groups[1].kind = AB_ADVICE_POOL;
    groups[2].in_scope = 298;
    groups[2].later = groups[2].n_survivors = 2;
    groups[2].survivors[0] = (struct ab_advice_survivor){96, 41, 43};
    groups[2].survivors[1] = (struct ab_advice_survivor){96, 204, AB_ADVICE_NEVER};
    set_heap(0, AB_ADVICE_FRAME, "arena:keep=512KiB", 120000);
    set_heap(1, AB_ADVICE_POOL, "pool:slot=96", 11000);
    measured = (struct ab_advised){.base = row_of("glibc", 18e6, NAN), .n_rounds = 10, .used = 1};
    measured.heaps[0] = row_of("@map", 9e6, 2);
    measured.heaps[1] = row_of("@map2", 17.9e6, 1.01);
    measured.together = measured.heaps[0];
    measured.compiled = row_of("@map", 6e6, 3);
    measured.compiled.memory_bytes = measured.compiled.base_memory_bytes = NAN;
    measured.has_compiled = true;
    measured.generals[measured.n_generals] = row_of("mimalloc", 12e6, 1.5);
    measured.generals[measured.n_generals++].is_malloc = true;
    measured.generals[measured.n_generals] = (struct ab_advised_row){.time_ns = NAN};
    snprintf(measured.generals[measured.n_generals].name, 128, "scudo");
    snprintf(measured.generals[measured.n_generals++].reason, 512, "it crashed");
    nested = (struct ab_advised_nested){.is_asked = false};
    budget.before = (struct ab_advised_scopes){
        .is_known = true, .worst_ns = 212e3, .n_rounds = 6, .n = 1800, .n_missed = 6};
    budget.after = (struct ab_advised_scopes){
        .is_known = true, .worst_ns = 71e3, .n_rounds = 6, .n = 1800};
    view = (struct ab_advise_view){.advice = &advice,
                                   .measured = &measured,
                                   .trace = "game.abt",
                                   .base = "glibc",
                                   .budget_ns = 16.67e6,
                                   .budget = &budget,
                                   .nested = &nested,
                                   .other = &advice};
    return 0;
}

static char *print(void)
{
    char *text = NULL;
    size_t n;
    FILE *to = open_memstream(&text, &n);
    ab_advise_print(to, &view, (struct ab_table_style){.width = 80});
    fclose(to);
    return text;
}

static void screen_is_golden(void **state)
{
    (void)state;
    char *text = print();
    fake_assert_golden("advise.txt", text);
    for (char *line = strtok(text, "\n"); line != NULL; line = strtok(NULL, "\n"))
        if (strlen(line) > 80)
            fail_msg("%zu columns: %s", strlen(line), line);
    free(text);
}

static void expect(const char *part)
{
    char *text = print();
    if (strstr(text, part) == NULL)
        fail_msg("no \"%s\" in\n%s", part, text);
    free(text);
}

/* Wherever lines are broken. */
static void expect_words(const char *part)
{
    char *text = print(), *to = text;
    for (const char *from = text; *from != 0; from++)
        if ((*from != ' ' && *from != '\n') || (to > text && to[-1] != ' '))
            *to++ = *from == '\n' ? ' ' : *from;
    *to = 0;
    if (strstr(text, part) == NULL)
        fail_msg("no \"%s\" in\n%s", part, text);
    free(text);
}

static void refuse(const char *part)
{
    char *text = print();
    if (strstr(text, part) != NULL)
        fail_msg("\"%s\" in\n%s", part, text);
    free(text);
}

static void nothing_to_change_is_an_answer(void **state)
{
    (void)state;
    measured.used = 0;
    measured.together.speed.low = 0.9;
    expect("arena, 512 KiB: faster alone, but not with the others");
    expect("together"); /* which is why */
    measured.heaps[0].speed.low = 0.9;
    expect("Advice: keep malloc: no proposal is significantly faster or takes less memory");
    refuse("together");
    measured.n_rounds = 1;
    expect(
        "Advice: none: 1 round cannot show what is faster; at least 6 are needed\n  (--rounds).");
    measured.heaps[0].is_measured = measured.heaps[1].is_measured = false;
    expect("Advice: keep malloc: no proposal could be measured.");
    advice.n_heaps = 0;
    expect("Advice: keep malloc: no allocations of this trace have a pattern");
}

static void a_gain_in_memory_is_said(void **state)
{
    (void)state;
    refuse("a gain in memory");
    measured.heaps[1].memory_bytes = 12.0e6;
    expect("~1.01x faster [0.99, 1.03]; memory 12.5 MiB -> 11.4 MiB: a gain in memory");
    expect("pool, 96 B x 2512: faster alone, but not with the others");
    measured.used = 2;
    measured.by_memory = true;
    measured.together = measured.heaps[1];
    measured.has_compiled = false;
    expect_words(
        "1 heap: calls take 59.7 us per scope instead of 60.0 us (memory 12.5 MiB -> 11.4 MiB)");
    measured.heaps[0].memory_bytes = 12.0e6;
    expect("2.00x faster [1.96, 2.04]; memory 12.5 MiB -> 11.4 MiB\n"); /* faster anyway */
}

static void what_did_not_run_is_not_advised_and_says_why(void **state)
{
    (void)state;
    measured.used = 0;
    measured.heaps[0].is_measured = false;
    snprintf(measured.heaps[0].reason, sizeof measured.heaps[0].reason, "a block was written over");
    expect("arena, 512 KiB: n/a");
    expect("not measured: a block was written over");
}

static void what_is_not_known_is_not_called_slower(void **state)
{
    (void)state;
    measured.used = 0;
    measured.together = row_of("@map3", 4e6, 4);
    measured.together.speed.low = measured.together.speed.high = NAN;
    expect("Advice: none: in fewer than 6 of the 10 rounds the difference could be measured");
    expect("arena, 512 KiB: faster alone; with the others not known");
    measured.heaps[0].speed.low = NAN;
    expect("arena, 512 KiB: not known");
    expect("pool, 96 B x 2512: no significant gain");
}

/* A slab may be faster, but no program calls it without a change. */
static void another_malloc_is_one_that_takes_no_change(void **state)
{
    (void)state;
    measured.generals[1] = row_of("slab:threads=sharded:classes=fine", 6e6, 3);
    measured.has_compiled = false;
    expect_words(
        "Advice: use 1 heap: calls take 30.0 us per scope instead of 60.0 us. Alternatively "
        "mimalloc for everything, no code change: calls take 40.0 us per scope instead of "
        "60.0 us (replays");
    expect("\n   slab:threads=sharded:classes=fine\n"); /* too long for its column */
    measured.generals[1].is_malloc = true;
    expect("Advice: use slab:threads=sharded:classes=fine for everything, no code");
}

static void what_needs_no_code_and_gains_as_much_comes_first(void **state)
{
    (void)state;
    measured.generals[0] = row_of("mimalloc", 5e6, 3.37);
    measured.generals[0].is_malloc = true;
    expect_words(
        "Advice: use mimalloc for everything, no code change: calls take 16.7 us per scope "
        "instead of 60.0 us. Alternatively 1 heap: calls take 30.0 us per scope instead of "
        "60.0 us (20.0 us when compiled in with --code) (replays of 10");
    measured.used = 0;
    measured.has_compiled = false;
    measured.together.speed.low = measured.heaps[0].speed.low = 0.9;
    expect_words(
        "memory (replays of 10 rounds). Alternatively mimalloc for everything, no code change: "
        "calls take 16.7 us per scope instead of 60.0 us");
}

static void so_small_a_part_of_the_budget_needs_no_change(void **state)
{
    (void)state;
    refuse("change nothing"); /* some scopes missed it */
    budget.before.n_missed = 0;
    expect("Advice: change nothing: allocation takes only 60.0 us of 16.7 ms (0.36 % of the\n"
           "  budget). If it has to take less: use 1 heap: calls take 30.0 us per scope");
    view.budget_ns = 5.9e6; /* 1.02 % */
    refuse("change nothing");
    expect("Advice: use 1 heap");
}

static void much_more_memory_is_part_of_the_answer(void **state)
{
    (void)state;
    measured.together.memory_bytes = 1.49 * 13.1e6;
    refuse("the memory");
    measured.together.memory_bytes = 1.51 * 13.1e6;
    expect_words("with --code), but 1.51x the memory (12.5 MiB -> 18.9 MiB).");
    measured.generals[0].memory_bytes = 170 * 13.1e6;
    expect_words("instead of 60.0 us, but 170x the memory (12.5 MiB -> 2.07");
}

static void heaps_that_cannot_be_compiled_in_say_why(void **state)
{
    (void)state;
    expect_words(
        "use 1 heap: calls take 30.0 us per scope instead of 60.0 us (20.0 us when compiled in "
        "with --code).");
    measured.compiled = (struct ab_advised_row){.time_ns = NAN};
    snprintf(measured.compiled.reason, 512, "it crashed");
    refuse("when compiled in");
    expect(
        "compiled in (--code)                                   n/a\n   not measured: it crashed\n");
}

static void the_worst_of_several_threads_is_of_one(void **state)
{
    (void)state;
    refuse("of one");
    advice.n_threads = 2;
    expect("6 of 1800 scopes of one");
}

static void scopes_of_survivors_are_named_once(void **state)
{
    (void)state;
    groups[2].survivors[1].born = 41;
    expect("  scope 41 -> malloc");
    groups[2].n_survivors = 4; /* they come as they die */
    groups[2].survivors[2].born = advice.n_scopes;
    groups[2].survivors[3].born = 7;
    expect("  scopes 7, 41, after the last -> malloc");
}

static void names_are_short_and_shown_once(void **state)
{
    (void)state;
    strcpy(groups[0].function, "void ui::label<char, std::allocator<char> >::draw(int, cha");
    expect("game.c:88 ui::label::draw");
    groups[1].heap = groups[0].heap;
    memcpy(groups[1].function, groups[0].function, sizeof groups[0].function);
    groups[0].line = groups[1].line = 0;
    expect("   ui::label::draw (2 calls in it)\n");
    strcpy(groups[0].module, "libui.so.1");
    strcpy(groups[1].module, "libui.so.1");
    expect("   libui.so.1 ui::label::draw (2 calls in it)\n");
}

/* Those that are left were measured in a session of their own. */
static void before_and_after_are_of_one_session(void **state)
{
    (void)state;
    measured.together.base_time_ns = 24e6;
    measured.together.time_ns = 12e6;
    measured.together.base_memory_bytes = 26.2e6;
    expect("80.0 us -> 40.0 us");
    expect("memory 25.0 MiB -> 12.5 MiB");
    expect("80.0 us on average (0.48 %)");
}

static void a_mean_that_is_not_known_is_no_share_of_the_budget(void **state)
{
    (void)state;
    measured.used = 0;
    measured.base.is_measured = false;
    measured.base.time_ns = NAN;
    refuse("nan");
    expect("allocation takes n/a on average, 212 us");
}

static void without_scopes_the_unit_is_a_million_calls(void **state)
{
    (void)state;
    advice.n_scopes = 0;
    expect("game.abt: no scopes, 131400 allocations; by call site");
    snprintf(budget.before.reason, sizeof budget.before.reason, "the trace has no scopes");
    expect("budget of 16.7 ms a scope: n/a: the trace has no scopes");
    expect("time per M calls");
    expect("69.0 ms -> 34.5 ms"); /* 18 ms of 260,700 calls */
}

static void of_a_short_trace_the_unit_is_a_call(void **state)
{
    (void)state;
    advice.n_scopes = 0;
    advice.n_events = advice.n_before_end = 1000;
    expect("time per M calls");
    advice.n_events = advice.n_before_end = 20;
    expect("time per call");
    expect("us a call");
    assert_true(ab_advise_unit_time(&advice, 40) == 2);
}

static void scopes_of_threads_are_counted_together(void **state)
{
    (void)state;
    refuse("scopes of");
    advice.n_scope_threads = 4;
    expect("game.abt: 300 scopes of 4 threads (found), 438 allocations a scope");
}

/* Nothing where it is one thread's. */
static void heaps_of_several_threads_say_what_else_can_be_measured(void **state)
{
    static const struct {
        enum ab_advice_kind kind;
        bool is_of_thread_scopes;
        const char *backend, *wanted;
    } cases[] = {
        {AB_ADVICE_POOL, false, "pool:slot=96:threads=local",
         "threads=local: one heap for each thread; 400 of 1000 frees are by another thread than the one that "
         "allocated, through the queue of its heap; to measure others (lockfree, sharded, mutex): "
         "replay --map '...=pool:slot=96:threads=lockfree' game.c"},
        {AB_ADVICE_SLAB, false, "slab:threads=local",
         "others (sharded, mutex): replay --map '...=slab:threads=sharded' game.c"},
        {AB_ADVICE_FRAME, false, "arena:keep=64KiB:threads=local",
         "which the code no longer needs; replays do not reset it, so the program needs less memory than shown; "
         "to measure others (mutex): replay --map '...=arena:keep=64KiB:threads=mutex' game.c"},
        {AB_ADVICE_FRAME, true, "arena:keep=64KiB:threads=local",
         "needs less memory than shown game.c"},
        {AB_ADVICE_STACK, false, "arena:threads=local", "needs less memory than shown game.c"},
    };
    (void)state;
    refuse("threads=");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        set_heap(1, cases[i].kind, cases[i].backend, 11000);
        advice.heaps[1].n_threads = 2;
        advice.heaps[1].n_remote = 400;
        advice.heaps[1].frees = 1000;
        advice.heaps[1].is_of_thread_scopes = cases[i].is_of_thread_scopes;
        expect_words(cases[i].wanted);
    }
}

static void what_is_too_fast_says_so_and_not_twice(void **state)
{
    (void)state;
    measured.heaps[1].is_measured = false;
    strcpy(measured.heaps[1].reason, AB_ADVISED_TOO_FAST);
    expect("\n   too fast to measure: within harness overhead\n");
    refuse("not measured: too fast");
}

static void few_rounds_have_no_interval(void **state)
{
    (void)state;
    measured.heaps[0].speed.low = measured.heaps[0].speed.high = NAN;
    expect("(too few rounds for an interval)");
}

/* As measured: so much faster than the arena of the scope, and so many bytes less. */
static void nest(double ratio, double less)
{
    nested = (struct ab_advised_nested){.is_asked = true,
                                        .n_rounds = 10,
                                        .limit = 0.05,
                                        .flat = row_of("@map", 1e6, NAN),
                                        .nested = row_of("@map2", 1e6 / ratio, ratio)};
    nested.nested.base_memory_bytes = nested.flat.memory_bytes = 1048576;
    nested.nested.memory_bytes = 1048576 - less;
    ab_advise_decide_nested(&nested);
}

static void nested_scopes_are_taken_where_they_gain_on_the_arena_of_the_scope(void **state)
{
    (void)state;
    nest(1.3, 0);
    assert_true(nested.is_taken && !nested.by_memory);
    nest(1.05, 0); /* for certain, but less than is asked for: another run may say something else */
    assert_false(nested.is_taken);
    nest(1.05, 262144);
    assert_true(nested.is_taken && nested.by_memory);
    nest(1, 262144);
    assert_true(nested.is_taken && nested.by_memory);
    nest(1, 40000); /* that may be anything */
    assert_false(nested.is_taken);
    nest(0.5, 262144); /* slower */
    assert_false(nested.is_taken);
    nested.n_rounds = 1;
    nested.nested.speed.low = nested.nested.speed.high = NAN;
    ab_advise_decide_nested(&nested); /* nothing is known, and nothing will be advised */
    assert_true(nested.is_taken);
    nest(1.3, 0);
    nested.nested.is_measured = false;
    ab_advise_decide_nested(&nested);
    assert_false(nested.is_taken);
}

static void nested_scopes_say_what_they_gain_or_why_not(void **state)
{
    (void)state;
    groups[0].kind = advice.heaps[0].kind = AB_ADVICE_NESTED;
    advice.heaps[0].n_nested = 3600;
    refuse("than in the arena of the scope"); /* no other arena: nothing to compare with */
    expect("3600 nested scopes, 12 a scope");
    nest(1, 262144);
    expect("dies in a nested scope");
    expect("nested, 512 KiB");
    expect("3600 nested scopes, 12 a scope; ~1.00x faster [0.98, 1.02] than in");
    expect("memory 1.00 MiB -> 768 KiB: a gain in memory");
    refuse("no nested scopes for");
    nest(0.5, 0);
    expect("no nested scopes for game.c:88 draw_label: 2.00x slower [1.96, 2.04] than in the");
    nested.nested.is_measured = false;
    snprintf(nested.nested.reason, sizeof nested.nested.reason, "it ran out of memory");
    expect("not measured: it ran out of memory");
    refuse("not in a nested scope");
    groups[1].n_stragglers = 3;
    groups[1].straggler_size = 48;
    expect("not in a nested scope, because some of their blocks outlive it\n"
           "(place, size, number of its blocks -> where all are freed)\n"
           "  game.c:120 spawn  48 B  3 of 11000 -> B\n");
}

static void the_rules_of_a_stack_say_that_an_arena_stands_for_it(void **state)
{
    (void)state;
    char *file = NULL;
    size_t n;
    set_heap(1, AB_ADVICE_STACK, "arena", 11000);
    FILE *to = open_memstream(&file, &n);
    ab_advise_write_rules(to, &advice, 2, "glibc", "game.abt");
    fclose(to);
    assert_non_null(strstr(file, "\n# B: stack: an arena whose youngest block is freed first\n"
                                 "site:game.c:120=arena  # spawn(int)\n"));
    free(file);
}

static void rules_are_those_of_the_heaps_that_pay(void **state)
{
    (void)state;
    char *file = NULL;
    size_t n;
    struct ab_text both = ab_advise_rules(&advice, 3, "jemalloc");
    assert_string_equal(both.s, "site:game.c:88=arena:keep=512KiB,site:game.c:120=pool:slot=96,"
                                "*=jemalloc");
    ab_text_fini(&both);
    FILE *to = open_memstream(&file, &n);
    ab_advise_write_rules(to, &advice, 2, "glibc", "game.abt");
    fclose(to);
    assert_string_equal(file, "# allocbench advise game.abt\n"
                              "# to try it: allocbench replay game.abt --map @FILE\n"
                              "\n# B: pool\n"
                              "site:game.c:120=pool:slot=96  # spawn(int)\n"
                              "\n*=glibc\n");
    free(file);
}

static void json_has_what_the_screen_has(void **state)
{
    (void)state;
    char *text = NULL;
    size_t n;
    FILE *to = open_memstream(&text, &n);
    ab_advise_write_json(to, &view);
    fclose(to);
    fake_assert_golden("advise.json", text);
    json_t *o = json_loads(text, 0, NULL);
    assert_non_null(o);
    assert_string_equal(json_string_value(json_object_get(o, "schema")), "allocbench-advice/1");
    json_t *scudo = json_array_get(json_object_get(o, "generals"), 1);
    assert_true(json_is_null(json_object_get(scudo, "time_ns"))); /* not 0 */
    assert_true(json_is_null(json_object_get(o, "nesting")));
    assert_string_equal(json_string_value(json_object_get(o, "map")),
                        "site:game.c:88=arena:keep=512KiB,*=glibc");
    json_decref(o);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(screen_is_golden, set_up),
        cmocka_unit_test_setup(nothing_to_change_is_an_answer, set_up),
        cmocka_unit_test_setup(a_gain_in_memory_is_said, set_up),
        cmocka_unit_test_setup(what_did_not_run_is_not_advised_and_says_why, set_up),
        cmocka_unit_test_setup(before_and_after_are_of_one_session, set_up),
        cmocka_unit_test_setup(a_mean_that_is_not_known_is_no_share_of_the_budget, set_up),
        cmocka_unit_test_setup(what_is_not_known_is_not_called_slower, set_up),
        cmocka_unit_test_setup(another_malloc_is_one_that_takes_no_change, set_up),
        cmocka_unit_test_setup(what_needs_no_code_and_gains_as_much_comes_first, set_up),
        cmocka_unit_test_setup(so_small_a_part_of_the_budget_needs_no_change, set_up),
        cmocka_unit_test_setup(much_more_memory_is_part_of_the_answer, set_up),
        cmocka_unit_test_setup(heaps_that_cannot_be_compiled_in_say_why, set_up),
        cmocka_unit_test_setup(the_worst_of_several_threads_is_of_one, set_up),
        cmocka_unit_test_setup(scopes_of_survivors_are_named_once, set_up),
        cmocka_unit_test_setup(names_are_short_and_shown_once, set_up),
        cmocka_unit_test_setup(without_scopes_the_unit_is_a_million_calls, set_up),
        cmocka_unit_test_setup(of_a_short_trace_the_unit_is_a_call, set_up),
        cmocka_unit_test_setup(scopes_of_threads_are_counted_together, set_up),
        cmocka_unit_test_setup(heaps_of_several_threads_say_what_else_can_be_measured, set_up),
        cmocka_unit_test_setup(what_is_too_fast_says_so_and_not_twice, set_up),
        cmocka_unit_test_setup(few_rounds_have_no_interval, set_up),
        cmocka_unit_test_setup(nested_scopes_are_taken_where_they_gain_on_the_arena_of_the_scope,
                               set_up),
        cmocka_unit_test_setup(nested_scopes_say_what_they_gain_or_why_not, set_up),
        cmocka_unit_test_setup(the_rules_of_a_stack_say_that_an_arena_stands_for_it, set_up),
        cmocka_unit_test_setup(rules_are_those_of_the_heaps_that_pay, set_up),
        cmocka_unit_test_setup(json_has_what_the_screen_has, set_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
