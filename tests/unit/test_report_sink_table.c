/* SPDX-License-Identifier: MIT */
/* tests: sink_checks.c verify_table.c */
#include "report/table/sink_table.h"
#include "result/numbers.h"

#include "base/bits.h"
#include "report/sinks/sinks.h"
#include "result/shown.h"
#include "support/report_session.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void write_table(FILE *to, const struct ab_session *s, void *style)
{
    ab_sink_table(to, s, *(struct ab_table_style *)style);
}

static unsigned topics; /* beyond the answer */

static char *table(const struct fake_session *f, unsigned width, bool utf8)
{
    struct ab_table_style style = {.width = width, .utf8 = utf8, .topics = topics};
    return fake_capture(write_table, &f->s, &style);
}

static void assert_fits(const char *text, unsigned width)
{
    struct ab_format_guard guard;
    char *copy = strdup(text), *rest = NULL;
    ab_format_begin(&guard);
    for (char *line = strtok_r(copy, "\n", &rest); line != NULL;
         line = strtok_r(NULL, "\n", &rest)) {
        if (ab_format_width(line) > width)
            fail_msg("%u columns in a terminal of %u: %s", ab_format_width(line), width, line);
        assert_true(line[strlen(line) - 1] != ' ');
    }
    ab_format_end(&guard);
    free(copy);
}

static void looks_as_it_should(void **state)
{
    const struct {
        unsigned width;
        bool utf8;
        unsigned topics;
        const char *golden;
    } cases[] = {
        {60, true, 0, "table-60.txt"},
        {80, true, 0, "table-80.txt"},
        {80, false, 0, "table-80-ascii.txt"},
        {80, true, ab_topic_words_up_to(AB_LEVEL_USUAL), "table-80-verbose.txt"},
    };
    (void)state;
    struct fake_session *f = fake_session_new();
    for (size_t i = 0; i < AB_ARRAY_LEN(cases); i++) {
        topics = cases[i].topics;
        char *text = table(f, cases[i].width, cases[i].utf8);
        assert_fits(text, cases[i].width);
        fake_assert_golden(cases[i].golden, text);
        free(text);
    }
    topics = 0;
    fake_session_free(f);
}

/* Eight rounds have intervals; a ratio whose interval contains 1 is marked. All columns still fit in
 * 80, and without --base it is glibc that the others are compared with. */
static void ratios_have_intervals(void **state)
{
    static const double glibc[3] = {20, 20, 20}, near[3] = {19, 20.5, 21}, fast[3] = {3.9, 4, 4.4};
    (void)state;
    struct fake_session *f = fake_session_of(8);
    fake_session_set_ns(f, FAKE_GLIBC, glibc);
    fake_session_set_ns(f, FAKE_JEMALLOC, near);
    fake_session_set_ns(f, FAKE_ARENA, fast);
    char *text = table(f, 80, true);
    assert_fits(text, 80);
    fake_assert_golden("table-80-intervals.txt", text);
    free(text);
    fake_session_free(f);
}

static void what_is_compared_with_nothing_says_so(void **state)
{
    (void)state;
    struct fake_session *f = fake_session_of(8);
    f->s.base = "scudo"; /* absent */
    char *text = table(f, 200, true);
    assert_non_null(strstr(text, "warning: no ratios: the base, scudo, has no numbers\n"));
    assert_null(strstr(text, "vs scudo"));
    assert_null(strstr(text, "vs glibc"));
    free(text);
    f->s.base = "arena";
    text = table(f, 200, true);
    assert_non_null(strstr(text, "vs arena"));
    assert_null(strstr(text, "no ratios"));
    free(text);
    fake_session_free(f);
}

static void never_wraps_whatever_the_width(void **state)
{
    (void)state;
    struct fake_session *f = fake_session_new();
    memset(f->backends[0].name, 'x', 120);
    for (unsigned width = 20; width <= 140; width++) {
        topics = width % 3 == 0 ? ab_topic_words_up_to(AB_LEVEL_RARE) : 0;
        char *text = table(f, width, width % 2 == 0);
        assert_fits(text, width);
        free(text);
    }
    topics = 0;
    fake_session_free(f);
}

static void columns_go_in_the_order_of_their_worth(void **state)
{
    static const struct {
        unsigned width;
        const char *titles;
    } cases[] = {
        {55, "alloc             p50  p90  p99   p99.9      max      n\n"},
        {54, "alloc             p50  p99   p99.9      max      n\n"},
        {49, "alloc             p50  p99      max      n\n"},
        {39, "alloc             p50  p99      max\n"},
        {32, "alloc             p50  p99\n"},
        {24, "alloc             p50\n"},
    };
    (void)state;
    topics = AB_TOPIC_TIME;
    struct fake_session *f = fake_session_new();
    for (size_t i = 0; i < AB_ARRAY_LEN(cases); i++) {
        char *text = table(f, cases[i].width, true);
        if (strstr(text, cases[i].titles) == NULL)
            fail_msg("%u columns: %.200s", cases[i].width, text);
        free(text);
    }
    topics = 0;
    fake_session_free(f);
}

static void ascii_is_ascii_even_for_hostile_names(void **state)
{
    (void)state;
    struct fake_session *f = fake_session_new();
    strcpy(f->backends[1].name, "\033[2Jj\xc3\xa9\xe2\x80\xae\xff\n\"q\"");
    strcpy(f->backends[4].reason, "\033]0;title\a and \xe2\x80\xae");
    char *text = table(f, 80, false);
    for (const char *c = text; *c != 0; c++)
        assert_true(*c == '\n' || (*c >= 0x20 && *c < 0x7f));
    assert_non_null(strstr(text, "\\x1b[2Jj"));
    free(text);
    text = table(f, 80, true);
    assert_null(strchr(text, '\033'));
    assert_null(strstr(text, "\xe2\x80\xae")); /* right-to-left override */
    assert_non_null(strstr(text, "j\xc3\xa9"));
    free(text);
    fake_session_free(f);
}

static void failed_back_ends_are_named_and_have_no_numbers(void **state)
{
    (void)state;
    struct fake_session *f = fake_session_new();
    char *text = table(f, 120, true);
    assert_non_null(strstr(text, "\n  broken            crashed\n"));
    assert_null(strstr(strstr(text, "time per op"), "\n  broken"));
    assert_non_null(strstr(text, "\nLeft out: pool (partial), broken (crashed).\n"));
    assert_non_null(strstr(text, "\nbroken: crashed, SIGSEGV"));
    assert_non_null(strstr(text, "\nnot installed: scudo\n"));
    free(text);
    fake_session_free(f);
}

static void a_session_without_numbers_still_says_why(void **state)
{
    (void)state;
    struct fake_session *f = fake_session_new();
    for (unsigned b = 0; b < FAKE_COUNT; b++)
        f->backends[b].status = AB_BACKEND_TIMEOUT;
    char *text = table(f, 80, true);
    assert_null(strstr(text, "p50"));
    assert_non_null(strstr(text, "\nglibc: timeout"));
    assert_non_null(strstr(text, "No back end has comparable"));
    free(text);
    f->s.n_backends = f->s.n_results = f->s.n_rounds = f->s.n_nulls = f->s.n_phases = 0;
    free(table(f, 80, true));
    fake_session_free(f);
}

static void colour_only_emphasises(void **state)
{
    (void)state;
    struct fake_session *f = fake_session_new();
    struct ab_table_style style = {.width = 80, .color = true, .utf8 = true};
    char *plain = table(f, 80, true);
    char *colored = fake_capture(write_table, &f->s, &style), *to = colored;
    assert_non_null(strstr(colored, "\033[1m"));
    for (const char *from = colored; *from != 0;) {
        if (*from == '\033')
            from = strchr(from, 'm') + 1;
        else
            *to++ = *from++;
    }
    *to = 0;
    assert_string_equal(colored, plain);
    free(colored);
    free(plain);
    fake_session_free(f);
}

static void numbers_that_do_not_exist_print_as_a_dash(void **state)
{
    (void)state;
    topics = AB_TOPIC_TIME;
    struct fake_session *f = fake_session_new();
    double none[3] = {NAN, NAN, NAN};
    fake_session_set_ns(f, FAKE_GLIBC, none);
    f->s.timer.floor_ns = f->s.timer.quantum_ns = NAN;
    f->s.n_nulls = 0;
    char *text = table(f, 80, true);
    assert_null(strstr(text, "nan"));
    assert_non_null(strstr(text, "floor unknown"));
    free(text);
    topics = 0;
    fake_session_free(f);
}

/* Prose ends at 100 columns, however wide the terminal is: joins its lines again. */
static char *join_lines(const char *text)
{
    char *joined = strdup(text), *to = joined;
    for (const char *from = text; *from != 0; from++) {
        bool goes_on = strncmp(from, "\n  ", 3) == 0 && from[3] != ' ';
        *to++ = goes_on ? ' ' : *from;
        from += goes_on ? 2 : 0;
    }
    *to = 0;
    return joined;
}

static void expect(struct fake_session *f, unsigned width, const char *what, bool is_there)
{
    char *text = table(f, width, true), *joined = join_lines(text);
    if ((strstr(text, what) != NULL || strstr(joined, what) != NULL) != is_there)
        fail_msg("'%s' %s:\n%s", what, is_there ? "is missing" : "is there", text);
    free(joined);
    free(text);
}

/* Lines of prose have one or two blanks in front at most, rows of tables have two or more between cells. */
static void prose_ends_at_100_columns(void **state)
{
    (void)state;
    struct fake_session *f = fake_session_new();
    char *text = table(f, 200, true);
    unsigned n_long = 0;
    for (char *line = strtok(text, "\n"); line != NULL; line = strtok(NULL, "\n")) {
        n_long += strlen(line) > 90;
        assert_true(ab_format_width(line) <= 100 || strstr(line + 2, "  ") != NULL);
    }
    assert_true(n_long > 0);
    free(text);
    fake_session_free(f);
}

/* Settings of 100 characters are no name for a row: it has a short one, and a line says what that is. */
static void long_settings_have_short_names(void **state)
{
    static const char *const settings = "jemalloc{MALLOC_CONF=background_thread:true,"
                                        "dirty_decay_ms:1000,muzzy_decay_ms:0,narenas:2}";
    (void)state;
    struct fake_session *f = fake_session_new();
    snprintf(f->backends[FAKE_JEMALLOC].name, sizeof f->backends->name, "%s", settings);
    ab_backends_set_labels(f->backends, f->s.n_backends);
    expect(f, 80, "\n  jemalloc{1}  ", true);
    expect(f, 80, "jemalloc{MALLOC_CONF=background_thread:true,dirty_decay_ms:1000,", true);
    char *text = table(f, 80, true), *first = strstr(text, "MALLOC_CONF");
    assert_null(strstr(first + 1, "MALLOC_CONF")); /* once */
    free(text);
    strcpy(f->backends[FAKE_JEMALLOC].name, "bg");
    strcpy(f->backends[FAKE_JEMALLOC].full_name, settings);
    ab_backends_set_labels(f->backends, f->s.n_backends);
    expect(f, 80, "\n  bg  ", true);
    expect(f, 80, "\nbg: jemalloc{MALLOC_CONF=background_thread:true,dirty_", true);
    fake_session_free(f);
}

/* A row that has no aged heap tells its own reason, unless the reason is that of the one line. */
static void a_row_without_aged_heap_has_its_own_reason(void **state)
{
    (void)state;
    struct fake_session *f = fake_session_new();
    struct ab_backend_info *b = &f->backends[FAKE_SCUDO];
    assert_int_equal(b->status, AB_BACKEND_ABSENT);
    b->was_named = false;
    b->aging.occupancy = 0.5;
    strcpy(b->reason, "is not installed");
    expect(f, 80, "no aged heap", false);
    expect(f, 80, "note: scudo: absent, is not installed", true);
    b->never_frees = true;
    expect(f, 80, "no aged heap, because they cannot free single blocks: scudo\n", true);
    expect(f, 80, "scudo: absent", false);
    b->aging.occupancy = 0;
    expect(f, 80, "not installed: scudo\n", true);
    expect(f, 80, "no aged heap", false);
    fake_session_free(f);
}

static void what_the_width_leaves_out_is_named(void **state)
{
    (void)state;
    topics = AB_TOPIC_TIME;
    struct fake_session *f = fake_session_new();
    expect(f, 120, "not shown", false);
    expect(f, 55, "(not shown: distribution)", true);
    expect(f, 49, "(not shown: p90, p99.9, distribution)", true);
    topics = 0;
    fake_session_free(f);
}

static void a_legend_belongs_to_a_column_that_is_shown(void **state)
{
    (void)state;
    topics = AB_TOPIC_TIME;
    struct fake_session *f = fake_session_new();
    expect(f, 120, "distribution: from 11 ns", true);
    memset(f->backends[0].name, 'x', 120);
    expect(f, 70, "distribution: from", false);
    topics = 0;
    fake_session_free(f);
}

/* What a back end can do is no news: the note is of what it did. */
static void resets_are_noted_where_there_were_any(void **state)
{
    (void)state;
    struct fake_session *f = fake_session_new();
    f->s.facts.kinds |= 1u << AB_OP_RESET;
    f->backends[FAKE_ARENA].has_reset = true;
    expect(f, 120, "reset in one call", false);
    for (uint32_t i = 0; i < f->s.n_results; i++)
        if (f->results[i].backend == FAKE_ARENA && f->results[i].op == AB_OP_RESIZE)
            f->results[i].op = AB_OP_RESET;
    expect(f, 120, "bulk reset: arena; individual frees: glibc, jemalloc, pool\n", true);
    fake_session_free(f);
}

static struct ab_result *throughput_of(struct fake_session *f, unsigned backend, uint32_t round)
{
    for (uint32_t i = 0; i < f->s.n_results; i++)
        if (f->results[i].backend == backend && f->results[i].op == AB_OP_ALL &&
            f->results[i].round == round)
            return &f->results[i];
    return NULL;
}

static void the_scheduler_is_not_blamed_on_the_allocator(void **state)
{
    (void)state;
    struct fake_session *f = fake_session_new();
    f->s.facts.lanes = 1;
    expect(f, 400, "preempted", false);
    throughput_of(f, FAKE_GLIBC, 1)->cpu_ns_per_op = 10; /* 1 switch, 21.7 ns of wall time */
    expect(f, 400,
           "warning: 1 of 24 runs of a phase were preempted (wall time up to 2.2x the CPU time): "
           "their times are too long -> --cpus N pins the run to one CPU\n",
           true);
    fake_session_free(f);
}

/* Its CPU time is known, if it is more than that of all others. */
static void what_was_interrupted_is_shown_as_the_least_that_it_takes(void **state)
{
    (void)state;
    topics = ab_topic_words_up_to(AB_LEVEL_USUAL);
    struct fake_session *f = fake_session_new();
    struct ab_result *alloc = f->results;
    assert_int_equal(alloc->op, AB_OP_ALLOC);
    alloc->max_least_ns = 1;
    expect(f, 400, "\u2265", false);
    alloc->max_least_ns = 5e6;
    expect(f, 400, " \u22655.00ms ", true);
    char *text = table(f, 400, false);
    assert_non_null(strstr(text, " >=5.00ms "));
    free(text);
    fake_session_free(f);
}

/* Of a run with an undisturbed slice only such slices count. */
static void runs_with_an_undisturbed_slice_are_not_too_long(void **state)
{
    (void)state;
    struct fake_session *f = fake_session_new();
    f->s.facts.lanes = 1;
    throughput_of(f, FAKE_GLIBC, 1)->cpu_ns_per_op = 10;
    throughput_of(f, FAKE_GLIBC, 1)->quiet_percent = 3;
    expect(f, 400, "preempted", false);
    throughput_of(f, FAKE_GLIBC, 2)->cpu_ns_per_op = 10;
    expect(f, 400, "warning: 1 of 24 runs of a phase were preempted", true);
    fake_session_free(f);
}

static void what_costs_no_more_than_the_harness_is_said(void **state)
{
    static const double at[3] = {0.95, 0.95, 0.95}, above[3] = {2.5, 2.5, 2.5};
    (void)state;
    struct fake_session *f = fake_session_new();
    fake_session_set_ns(f, FAKE_ARENA, above);
    expect(f, 400, "not distinguishable from the harness overhead", false);
    fake_session_set_ns(f, FAKE_ARENA, at);
    for (uint32_t i = 0; i < f->s.n_nulls; i++)
        f->nulls[i].ns_per_op = 0.9;
    expect(f, 400, "not distinguishable from the harness overhead (within 10 %): arena in ", true);
    fake_session_free(f);
}

/* Straight after the measurement the command line to continue follows; a stored result has the hint. */
static void how_to_continue_is_said_once(void **state)
{
    (void)state;
    struct fake_session *f = fake_session_new();
    f->s.is_complete = false;
    f->s.n_rounds_planned = 8;
    expect(f, 400, "--resume RESULT.json", true);
    expect(f, 400, "next: --rounds", false);
    struct ab_table_style style = {.width = 400, .utf8 = true, .is_live = true};
    char *text = fake_capture(write_table, &f->s, &style);
    assert_null(strstr(text, "--resume"));
    assert_non_null(strstr(text, "Interrupted after 3 of 8 rounds."));
    free(text);
    fake_session_free(f);
}

static void write_json(FILE *to, const struct ab_session *s, void *user)
{
    (void)user;
    ab_sink_json(to, s);
}

static unsigned count_in_json(const struct fake_session *f, const char *what)
{
    unsigned n = 0;
    char *text = fake_capture(write_json, &f->s, NULL);
    for (const char *at = text; (at = strstr(at, what)) != NULL; at++)
        n++;
    free(text);
    return n;
}

static void phases_that_were_waited_through_are_told(void **state)
{
    (void)state;
    struct fake_session *f = fake_session_new();
    for (uint32_t i = 0; i < f->s.n_results; i++)
        if (f->results[i].op == AB_OP_ALL)
            f->results[i].wait_percent = 20;
    expect(f, 400, "waited", false);
    assert_int_equal(count_in_json(f, "\"is_waiting\": true"), 0);
    assert_int_equal(count_in_json(f, "\"is_waiting\": false"), 24);
    throughput_of(f, FAKE_GLIBC, 0)->wait_percent = 21;
    throughput_of(f, FAKE_ARENA, 1)->wait_percent = 67.4;
    throughput_of(f, FAKE_BROKEN, 1)->wait_percent = 99; /* it has no numbers */
    expect(f, 400,
           "note: in 2 of 24 measured phases threads waited for each other, up to 67 % of their "
           "time; times and ratios exclude this (wall_ns_per_op includes it)\n",
           true);
    assert_int_equal(count_in_json(f, "\"is_waiting\": true"), 2);
    fake_session_free(f);
}

static void threads_that_mostly_wait_for_each_other_are_told_as_no_contention(void **state)
{
    (void)state;
    struct fake_session *f = fake_session_new();
    f->s.host.cpus_allowed = 2;
    f->s.facts.lanes = 16;
    throughput_of(f, FAKE_GLIBC, 0)->wait_percent = 88;
    throughput_of(f, FAKE_GLIBC, 0)->ready_threads =
        9; /* as many as take the CPUs from each other */
    expect(f, 600, "ready to run", false);
    throughput_of(f, FAKE_GLIBC, 0)->ready_threads = 1.9;
    expect(f, 600, "warning: of 16 threads on 2 CPUs only 1.9 were ready to run at the same time, ",
           true);
    f->s.facts.lanes = 2;
    expect(f, 600, "ready to run", false);
    fake_session_free(f);
}

static void a_noisy_machine_is_named(void **state)
{
    (void)state;
    struct fake_session *f = fake_session_new();
    expect(f, 400, "harness overhead varied", false);
    f->nulls[4].ns_per_op = 1.8;
    expect(f, 400,
           "warning: the harness overhead varied by 100 % over the rounds (0.90 to 1.80 ns/op) -> "
           "run allocbench doctor",
           true);
    fake_session_free(f);
}

static void page_faults_outside_the_latencies_are_noted(void **state)
{
    (void)state;
    struct fake_session *f = fake_session_new();
    expect(f, 400, "page faults", false);
    for (uint32_t round = 0; round < f->s.n_rounds; round++)
        throughput_of(f, FAKE_ARENA, round)->faults_minor = 500000;
    expect(f, 400, "faults per op: steady 0.25 (arena) to 0.00 (glibc)\n", true);
    for (uint32_t round = 0; round < f->s.n_rounds; round++)
        throughput_of(f, FAKE_ARENA, round)->faults_minor = 40000;
    expect(f, 400, "faults per op: steady 0.02 (arena) to 0.00 (glibc)\n", true);
    for (uint32_t round = 0; round < f->s.n_rounds; round++)
        throughput_of(f, FAKE_ARENA, round)->faults_minor = 400;
    expect(f, 400, "page faults", false);
    fake_session_free(f);
}

static void set_counts(struct fake_session *f)
{
    f->s.counting = (struct ab_counting){.is_asked = true, .method = "callgrind", .n_ops = 500000};
    for (uint32_t i = 0; i < f->s.n_results; i++) {
        struct ab_result *r = (struct ab_result *)&f->s.results[i];
        if (r->op != AB_OP_ALL || r->round != 0)
            continue;
        r->instr_per_op = 100 - 20 * r->backend;
        r->syscalls_mmap = r->backend;
        r->syscalls_munmap = r->syscalls_brk = r->syscalls_futex = r->syscalls_other = 0;
        r->syscalls_mremap = r->syscalls_madvise = 123456;
    }
    strcpy(f->s.backends[1].uncounted, "under callgrind: SIGABRT \033[31m before the first op");
}

static void counts_are_shown_where_they_were_asked_for(void **state)
{
    (void)state;
    struct fake_session *f = fake_session_new();
    char *text = table(f, 80, true);
    assert_null(strstr(text, ": counts"));
    free(text);
    set_counts(f);
    for (unsigned width = 40; width <= 120; width += 40) {
        text = table(f, width, width != 40);
        const char *begin = strstr(text, "web-cache / steady: counts");
        assert_fits(text, width);
        assert_non_null(begin);
        assert_null(strchr(text, '\033'));
        char *end = strstr(begin, "\nbroken: ");
        if (end != NULL)
            *end = 0;
        if (width == 80)
            fake_assert_golden("table-counts.txt", begin);
        free(text);
    }
    fake_session_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(looks_as_it_should),
        cmocka_unit_test(counts_are_shown_where_they_were_asked_for),
        cmocka_unit_test(ratios_have_intervals),
        cmocka_unit_test(what_is_compared_with_nothing_says_so),
        cmocka_unit_test(never_wraps_whatever_the_width),
        cmocka_unit_test(a_row_without_aged_heap_has_its_own_reason),
        cmocka_unit_test(what_the_width_leaves_out_is_named),
        cmocka_unit_test(a_legend_belongs_to_a_column_that_is_shown),
        cmocka_unit_test(resets_are_noted_where_there_were_any),
        cmocka_unit_test(the_scheduler_is_not_blamed_on_the_allocator),
        cmocka_unit_test(runs_with_an_undisturbed_slice_are_not_too_long),
        cmocka_unit_test(what_was_interrupted_is_shown_as_the_least_that_it_takes),
        cmocka_unit_test(what_costs_no_more_than_the_harness_is_said),
        cmocka_unit_test(how_to_continue_is_said_once),
        cmocka_unit_test(phases_that_were_waited_through_are_told),
        cmocka_unit_test(threads_that_mostly_wait_for_each_other_are_told_as_no_contention),
        cmocka_unit_test(a_noisy_machine_is_named),
        cmocka_unit_test(page_faults_outside_the_latencies_are_noted),
        cmocka_unit_test(columns_go_in_the_order_of_their_worth),
        cmocka_unit_test(ascii_is_ascii_even_for_hostile_names),
        cmocka_unit_test(failed_back_ends_are_named_and_have_no_numbers),
        cmocka_unit_test(a_session_without_numbers_still_says_why),
        cmocka_unit_test(colour_only_emphasises),
        cmocka_unit_test(prose_ends_at_100_columns),
        cmocka_unit_test(long_settings_have_short_names),
        cmocka_unit_test(numbers_that_do_not_exist_print_as_a_dash),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
