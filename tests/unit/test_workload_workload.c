/* SPDX-License-Identifier: MIT
 *
 * The whole way from file to tape on golden files: tests/golden/workloads/bad/NAME.yaml must end
 * in exactly the text of NAME.expect, good/NAME.yaml in exactly that plan with that digest.
 * `# set: a=b` lines become --set options. AB_UPDATE_GOLDEN=1 rewrites the .expect files.
 * tests: workload_language.c print_plan.c
 */
#include "support/report_locale.h"
#include "support/workload_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dirent.h>
#include <locale.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

static char root[4096];

static char *read_whole(const char *path, size_t *n)
{
    FILE *f = fopen(path, "r");
    char *text = calloc(1, 1 << 20);
    *n = f == NULL ? 0 : fread(text, 1, (1 << 20) - 1, f);
    if (f != NULL)
        fclose(f);
    return text;
}

/* What a user would see for one file. */
static char *outcome(const char *path)
{
    size_t n, n_sets = 0;
    char *text = read_whole(path, &n), *messages = NULL, *shown = NULL;
    const char *sets[8] = {NULL};
    struct ab_workload *w = NULL;
    struct ab_tape tape = {0};
    struct ab_err err = {0};
    for (char *s = text; strncmp(s, "# set: ", 7) == 0 && n_sets < 7;) {
        sets[n_sets++] = s + 7;
        s = strchr(s, '\n');
        *s++ = 0;
    }
    struct ab_workload_options options = {.sets = sets};
    if (ab_workload_load(path, &options, &w, &messages, &err) != AB_OK) {
        assert_int_equal(err.status, AB_CONFIG);
        assert_string_equal(err.text, "");
        shown = messages;
    } else if (ab_workload_compile(w, &tape, &err) != AB_OK) {
        assert_int_equal(err.status, AB_CONFIG);
        assert_true(asprintf(&shown, "%s\n", err.text) > 0);
    } else {
        FILE *f = open_memstream(&shown, &n);
        ab_workload_print_plan(f, w, &tape);
        fclose(f);
        ab_tape_fini(&tape);
    }
    ab_workload_free(w);
    free(text);
    return shown;
}

static bool check_one(const char *name)
{
    char expect_path[512];
    snprintf(expect_path, sizeof expect_path, "%.*s.expect", (int)(strlen(name) - 5), name);
    char *shown = outcome(name);
    if (getenv("AB_UPDATE_GOLDEN") != NULL) {
        FILE *f = fopen(expect_path, "w");
        fputs(shown, f);
        fclose(f);
    }
    size_t n;
    char *expected = read_whole(expect_path, &n);
    bool same = strcmp(shown, expected) == 0;
    if (!same)
        fprintf(stderr, "%s: expected\n%s\nfound\n%s\n", name, expected, shown);
    free(expected);
    free(shown);
    return same;
}

static void check_folder(const char *folder, int at_least)
{
    char path[5000];
    int n = 0, n_wrong = 0;
    snprintf(path, sizeof path, "%s/tests/golden/workloads/%s", root, folder);
    assert_int_equal(chdir(path), 0);
    DIR *dir = opendir(".");
    for (struct dirent *e; (e = readdir(dir)) != NULL;) {
        size_t length = strlen(e->d_name);
        if (length < 6 || strcmp(e->d_name + length - 5, ".yaml") != 0)
            continue;
        n++;
        n_wrong += !check_one(e->d_name);
    }
    closedir(dir);
    assert_int_equal(chdir(root), 0);
    assert_true(n >= at_least);
    assert_int_equal(n_wrong, 0);
}

static void bad_workloads_end_in_exactly_their_messages(void **state)
{
    (void)state;
    check_folder("bad", 60);
}

static void good_workloads_give_exactly_their_plan_and_digest(void **state)
{
    (void)state;
    check_folder("good", 5);
}

static void a_decimal_comma_locale_changes_nothing(void **state)
{
    (void)state;
    if (!fake_german_locale())
        skip();
    check_folder("bad", 60);
    check_folder("good", 5);
    setlocale(LC_ALL, "C");
}

static void the_shipped_workloads_compile_and_stay_within_their_promises(void **state)
{
    (void)state;
    static const char *const names[] = {
        "quickstart",        "churn",   "realloc-growth", "random-free", "exchange", "game-frame",
        "producer-consumer", "handles", "region",         "rare-mixed"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char path[5000], *messages = NULL;
        struct ab_workload *w = NULL;
        struct ab_tape tape;
        struct ab_err err;
        snprintf(path, sizeof path, "%s/configs/%s.yaml", root, names[i]);
        assert_int_equal(ab_workload_load(path, NULL, &w, &messages, &err), AB_OK);
        assert_string_equal(ab_workload_name(w), names[i]);
        assert_int_equal(ab_workload_compile(w, &tape, &err), AB_OK);
        assert_true(tape.facts.total_bytes < UINT64_C(400) << 20);
        assert_true(tape.n_ops > 100000 && tape.n_ops < 3000000);
        assert_int_equal(tape.live_end_blocks, 0);
        ab_tape_fini(&tape);
        ab_workload_free(w);
    }
}

static struct ab_tape compile_with(const char *set, uint64_t seed)
{
    static const char text[] = "allocbench: 1\nname: t\nseed: 5\n"
                               "params: [{name: n, value: 100}, {name: m, value: 2*$n}]\n"
                               "sets: [{name: s, count: $m}]\n"
                               "phases: [{name: p, do: [{alloc: s, size: 'uniform(1, 999)', "
                               "count: $n}]}]\n";
    const char *sets[] = {set, NULL};
    struct ab_workload_options options = {.sets = sets, .has_seed = seed != 0, .seed = seed};
    char *messages;
    struct ab_err err;
    struct ab_tape tape = {0};
    struct ab_workload *w = load_bytes(text, sizeof text - 1, &options, &messages);
    assert_non_null(w);
    assert_int_equal(ab_workload_compile(w, &tape, &err), AB_OK);
    ab_workload_free(w);
    return tape;
}

static void the_same_seed_gives_the_same_tape_and_another_seed_another(void **state)
{
    (void)state;
    struct ab_tape a = compile_with(NULL, 0), b = compile_with(NULL, 5), c = compile_with(NULL, 6);
    assert_string_equal(a.sha256, b.sha256);
    assert_string_not_equal(a.sha256, c.sha256);
    ab_tape_fini(&a);
    ab_tape_fini(&b);
    ab_tape_fini(&c);
}

static void set_overrides_a_param_and_what_follows_from_it(void **state)
{
    (void)state;
    struct ab_tape tape = compile_with("n=2k", 0);
    assert_int_equal(tape.facts.live_peak_blocks, 2000);
    ab_tape_fini(&tape);
}

static void a_missing_file_is_an_input_error(void **state)
{
    (void)state;
    struct ab_workload *w = NULL;
    char *messages = NULL;
    struct ab_err err;
    assert_int_equal(ab_workload_load("/nonexistent/x.yaml", NULL, &w, &messages, &err), AB_INPUT);
    assert_non_null(strstr(err.text, "cannot open workload '/nonexistent/x.yaml'"));
    assert_int_equal(ab_workload_load("/", NULL, &w, &messages, &err), AB_INPUT);
    assert_null(w);
    assert_null(messages);
}

static void too_many_ops_are_refused_with_the_figure_before_they_are_made(void **state)
{
    (void)state;
    static const char *const phases[] = {
        "    until: ops(1e18)\n    repeat: 1e18\n    do: [{replace: s, size: 8}]\n",
        "    until: iters(1e9)\n    do: [{repeat: 1e6, do: [{replace: s, size: 8}]}]\n",
        "    until: iters(1e15)\n    do: [{alloc: s, size: 8}, {free: s, count: all}]\n",
        "    do: [{repeat: 1e15, do: [{alloc: s, size: 8}, {free: s, count: all}]}]\n",
        "    lanes: 256\n    until: iters(1e8)\n    do: [{toggle: s, size: 8}]\n",
        "    until: iters(1e10)\n    do: [{exchange: s, size: 8}]\n",
        "    until: iters(1e10)\n    roles:\n      - {name: a, do: [{toggle: s, size: 8}]}\n",
    };
    for (size_t i = 0; i < sizeof phases / sizeof phases[0]; i++) {
        struct ab_tape tape;
        struct ab_err err;
        assert_int_equal(compile_phase(phases[i], &tape, &err), AB_CONFIG);
        assert_non_null(strstr(err.text, " ops; a tape here has room for "));
    }
}

/* ---- bombs: in a child with a cap on memory and processor time ---- */

static char *repeat_text(const char *head, const char *unit, size_t n)
{
    size_t length = strlen(unit), used = strlen(head);
    char *text = malloc(used + n * length + 1);
    strcpy(text, head);
    for (size_t i = 0; i < n; i++, used += length)
        strcpy(text + used, unit);
    return text;
}

static int run_bomb(const char *text)
{
    pid_t pid = fork();
    if (pid == 0) {
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
        struct rlimit memory = {UINT64_C(96) << 20, UINT64_C(96) << 20};
        setrlimit(RLIMIT_AS, &memory);
#endif
        struct rlimit seconds = {5, 5};
        setrlimit(RLIMIT_CPU, &seconds);
        char *messages;
        struct ab_workload *w = load_bytes(text, strlen(text), NULL, &messages);
        struct rusage used;
        getrusage(RUSAGE_SELF, &used);
        bool is_small = used.ru_maxrss < 64 << 10;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
        is_small = true;
#endif
        _exit(w != NULL || messages == NULL ? 1 : is_small ? 0 : 2);
    }
    int status = 0;
    waitpid(pid, &status, 0);
    return status;
}

static void bombs_end_in_an_error_within_64_mib(void **state)
{
    (void)state;
    static const struct {
        const char *head, *unit;
        size_t n;
    } bombs[] = {
        {"", "[", 500000},
        {"", "{a: ", 200000},
        {"allocbench: 1\nphases:\n", " - ", 300000},
        {"a: &a [x,x]\nb: &b [*a,*a]\nc: [", "*b,", 300000},
        {"allocbench: 1\nphases: [", "{},", 340000},
        {"allocbench: 1\nphases: [{do: [", "{},", 16000},
        {"allocbench: 1\n", "a: b\n", 200000},
        {"allocbench: 1\nname: \"", "\\x41", 200000},
        {"? ", "? ", 400000},
        {"allocbench: 1\nsizes: [{name: a, dist: 'choice(", "1,", 400000},
        {"allocbench: 1\nsizes: [{name: a, dist: '", "(", 400000},
    };
    for (size_t i = 0; i < sizeof bombs / sizeof bombs[0]; i++) {
        char *text = repeat_text(bombs[i].head, bombs[i].unit, bombs[i].n);
        int status = run_bomb(text);
        if (status != 0)
            fprintf(stderr, "bomb %zu: wait status %d\n", i, status);
        assert_int_equal(status, 0);
        free(text);
    }
}

static void a_million_phases_are_refused(void **state)
{
    (void)state;
    char *messages = NULL;
    char *text = repeat_text("allocbench: 1\nname: x\nphases:\n", " - {name: a}\n", 70000);
    assert_null(load_bytes(text, strlen(text), NULL, &messages));
    assert_non_null(strstr(messages, "more than 50000 values"));
    free(messages);
    free(text);
    text = repeat_text("allocbench: 1\nname: x\nphases:\n", " - {name: a}\n", 2000);
    assert_null(load_bytes(text, strlen(text), NULL, &messages));
    assert_non_null(strstr(messages, "more than 1000 entries in 'phases'"));
    free(messages);
    free(text);
}

static void a_file_beyond_1_mib_is_an_input_error(void **state)
{
    (void)state;
    char path[] = "/tmp/ab-large-XXXXXX", *messages = NULL;
    struct ab_workload *w = NULL;
    struct ab_err err;
    int fd = mkstemp(path);
    assert_int_equal(ftruncate(fd, (1 << 20) + 1), 0);
    close(fd);
    assert_int_equal(ab_workload_load(path, NULL, &w, &messages, &err), AB_INPUT);
    assert_non_null(strstr(err.text, "larger than 1 MiB"));
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bad_workloads_end_in_exactly_their_messages),
        cmocka_unit_test(good_workloads_give_exactly_their_plan_and_digest),
        cmocka_unit_test(a_decimal_comma_locale_changes_nothing),
        cmocka_unit_test(the_shipped_workloads_compile_and_stay_within_their_promises),
        cmocka_unit_test(the_same_seed_gives_the_same_tape_and_another_seed_another),
        cmocka_unit_test(set_overrides_a_param_and_what_follows_from_it),
        cmocka_unit_test(a_missing_file_is_an_input_error),
        cmocka_unit_test(too_many_ops_are_refused_with_the_figure_before_they_are_made),
        cmocka_unit_test(bombs_end_in_an_error_within_64_mib),
        cmocka_unit_test(a_million_phases_are_refused),
        cmocka_unit_test(a_file_beyond_1_mib_is_an_input_error),
    };
    if (getcwd(root, sizeof root) == NULL)
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
