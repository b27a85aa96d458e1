/* SPDX-License-Identifier: MIT
 *
 * The sanitizers find what they are run for: each heap of tests/mutants/expected that makes one
 * wrong access, or leaves one unordered, is reported by name, and what it was made from is not.
 * Each is worked on in a process of its own, this program again with its number, because a report
 * ends it. Some are real allocators, compiled here with a weaker order of their atomics; as they
 * are, the same work finds nothing in them. In a plain build there is only that to see.
 */
#include "allocators/builtin.h"
#include "allocators/pool/pool_lockfree.h"
#include "backend/settings.h"
#include "mutants/lane_work.h"
#include "mutants/laneheap.h"
#include "support/cmocka.h"
#include "support/heap_model.h"

#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(__has_feature)
#if __has_feature(thread_sanitizer) && !defined(__SANITIZE_THREAD__)
#define __SANITIZE_THREAD__ 1
#endif
#endif
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define IS_SANITIZED 1
#else
#define IS_SANITIZED 0
#endif

static int weaker; /* which of the real ones is spoiled: an enum lane_mutant, or none */

/* A push of the lock-free pool is a release, one of the shards the only sequentially consistent
 * exchange; taking all is an acquire; other exchanges stay. */
#define IS_WEAKER(order, strong, mutant) ((order) == (strong) && weaker == (mutant))
#define __atomic_compare_exchange_n(p, e, d, w, s, f) \
    (IS_WEAKER(s, __ATOMIC_SEQ_CST, SHARDS_WITHOUT_RELEASE) || \
             IS_WEAKER(s, __ATOMIC_RELEASE, LOCKFREE_WITHOUT_RELEASE) \
         ? __atomic_compare_exchange_n(p, e, d, w, __ATOMIC_RELAXED, __ATOMIC_RELAXED) \
         : __atomic_compare_exchange_n(p, e, d, w, s, f))
#define __atomic_exchange_n(p, v, o) \
    (IS_WEAKER(o, __ATOMIC_ACQUIRE, SHARDS_WITHOUT_ACQUIRE) \
         ? __atomic_exchange_n(p, v, __ATOMIC_RELAXED) \
         : __atomic_exchange_n(p, v, o))
#include "allocators/common/shards_queue.c"
#include "allocators/pool/pool_lockfree.c"
#undef __atomic_compare_exchange_n
#undef __atomic_exchange_n

/* What nothing must be said about. The first is what most mutants are made from. */
static const struct right {
    const char *name, *params;
    bool is_shared; /* has a lock in every hook */
} rights[] = {
    {"laneheap", "mutant=0", true},
    {"pool", "threads=local:slots=32", false},
    {"pool", "threads=lockfree", false},
    {"pool", "threads=mutex", true},
    {"pool", "threads=sharded", true},
    {"slab", "threads=local", false},
    {"slab", "threads=mutex", true},
    {"slab", "threads=sharded:shards=2", true},
    {"arena", "threads=mutex", true},
    {"arena", "threads=local", false},
    {"paged", "form=arena", true},
    {"paged", "form=pool", true},
    {"handle", "", true},
};
enum { RIGHT_SHARDS = 1, RIGHT_LOCKFREE, N_RIGHTS = sizeof rights / sizeof rights[0], N_SEEDS = 3 };

enum { EXIT_CONTENT = 3, EXIT_REPORT = 66, SECONDS_MAX = 60, N_TRIES = 6 };

/* ---- the child ---- */

static struct lane_work work;

static size_t right_of(int number)
{
    if (number == SHARDS_WITHOUT_RELEASE || number == SHARDS_WITHOUT_ACQUIRE)
        return RIGHT_SHARDS;
    if (number == LOCKFREE_WITHOUT_RELEASE)
        return RIGHT_LOCKFREE;
    return number < N_RIGHTS ? (size_t)number : 0;
}

static void open_heap(int number)
{
    static const struct ab_facts facts = {.largest_bytes = LARGEST_BYTES,
                                          .live_peak_blocks = 1000,
                                          .total_blocks = 100000,
                                          .total_bytes = 100000 * LARGEST_BYTES,
                                          .lanes = N_WORKERS};
    uint64_t values[AB_PARAMS_MAX];
    char params[64];
    const struct right *right = &rights[right_of(number)];
    const struct ab_backend *b = ab_builtin_find(right->name);
    snprintf(params, sizeof params, "%s", right->params);
    if (b == NULL) {
        b = &lane_backend;
        snprintf(params, sizeof params, "mutant=%d", number);
    }
    assert_int_equal(ab_params_parse(b, params, values, NULL), AB_OK);
    work.b = ab_backend_variant(b, values);
    work.heap = heap_model_open(b, params, &facts);
    work.is_shared = right->is_shared;
}

static int run_mutant(int number, uint64_t seed)
{
    weaker = number;
    open_heap(number);
    work.seed = seed;
    unsigned n_bad = lane_work_run(&work);
    work.b->close(work.heap);
    return n_bad == 0 ? 0 : EXIT_CONTENT;
}

/* ---- the parent ---- */

struct report {
    int status;
    char text[1 << 16]; /* what it said, as far as it fits */
};

static void become_mutant(int number, unsigned seed, int fd)
{
    char text[2][16];
    snprintf(text[0], sizeof text[0], "%d", number);
    snprintf(text[1], sizeof text[1], "%u", seed);
    setenv("TSAN_OPTIONS", "halt_on_error=1:exitcode=66", 1);
    setenv("ASAN_OPTIONS", "exitcode=66", 1);
    dup2(fd, 2);
    alarm(SECONDS_MAX);
    execl("/proc/self/exe", "mutant", text[0], text[1], (char *)NULL);
    _exit(127);
}

static const struct report *run(int number, unsigned seed)
{
    static struct report report;
    int pipes[2];
    char rest[512];
    size_t n = 0;
    assert_int_equal(pipe(pipes), 0);
    pid_t child = fork();
    if (child == 0)
        become_mutant(number, seed, pipes[1]);
    close(pipes[1]);
    for (ssize_t got; (got = read(pipes[0], rest, sizeof rest)) > 0;) {
        size_t kept = sizeof report.text - 1 - n;
        kept = (size_t)got < kept ? (size_t)got : kept;
        memcpy(report.text + n, rest, kept);
        n += kept;
    }
    report.text[n] = '\0';
    close(pipes[0]);
    assert_int_equal(waitpid(child, &report.status, 0), child);
    return &report;
}

static void what_is_right_is_not_reported(void **state)
{
    (void)state;
    for (int number = 0; number < N_RIGHTS; number++)
        for (unsigned seed = 1; seed <= N_SEEDS; seed++) {
            const struct report *report = run(number, seed);
            if (report->status != 0 || report->text[0] != '\0')
                fail_msg("%s:%s: exit status %#x, \"%s\"", rights[number].name,
                         rights[number].params, (unsigned)report->status, report->text);
        }
}

/* ---- the list ---- */

struct mutant {
    char tool[16], kind[32], function[32];
    int number;
};

/* The next one of the list; false at its end. */
static bool read_mutant(FILE *list, struct mutant *out)
{
    char line[256];
    while (fgets(line, sizeof line, list) != NULL)
        if ((strncmp(line, "tsan ", 5) == 0 || strncmp(line, "asan ", 5) == 0) &&
            sscanf(line, "%15s %d %31s %31s", out->tool, &out->number, out->kind, out->function) ==
                4)
            return true;
    return false;
}

static FILE *open_list(void)
{
    FILE *list = fopen("tests/mutants/expected", "r");
    assert_non_null(list);
    return list;
}

static void every_mutant_is_listed_once_under_its_sanitizer(void **state)
{
    (void)state;
    int next_tsan = TSAN_FIRST, next_asan = ASAN_FIRST;
    struct mutant mutant;
    FILE *list = open_list();
    while (read_mutant(list, &mutant)) {
        int *next = strcmp(mutant.tool, "tsan") == 0 ? &next_tsan : &next_asan;
        assert_int_equal(mutant.number, *next);
        ++*next;
    }
    fclose(list);
    assert_int_equal(next_tsan, TSAN_END);
    assert_int_equal(next_asan, ASAN_END);
}

#if IS_SANITIZED

#ifdef __SANITIZE_THREAD__
static const char tool[] = "tsan", headline[] = "ThreadSanitizer: data race";
#else
static const char tool[] = "asan", headline[] = "AddressSanitizer: ";
#endif

/* NULL, or what is missing. */
static const char *find_fault(const struct mutant *mutant, const struct report *report)
{
    const char *at = strstr(report->text, headline);
    if (!WIFEXITED(report->status) || WEXITSTATUS(report->status) != EXIT_REPORT || at == NULL)
        return "no report";
    if (strcmp(tool, "asan") == 0 &&
        strncmp(at + sizeof headline - 1, mutant->kind, strlen(mutant->kind)) != 0)
        return "a report of something else";
    return strstr(at, mutant->function) != NULL ? NULL : "a report that does not name it";
}

/* A race is reported when two threads meet in it, which one run in a hundred misses where other
 * programs hold the CPUs: a seed that missed is followed by others. */
static void expect_report(const struct mutant *mutant, unsigned seed)
{
    const struct report *report = NULL;
    const char *fault = "";
    for (unsigned i = 0; fault != NULL && i < N_TRIES; i++) {
        report = run(mutant->number, 1 + (seed + i) % N_SEEDS);
        fault = find_fault(mutant, report);
    }
    if (fault != NULL)
        fail_msg("%s %d: %s: exit status %#x, \"%s\"", tool, mutant->number, fault,
                 (unsigned)report->status, report->text);
}

static void every_mutant_is_reported_by_name(void **state)
{
    (void)state;
    struct mutant mutant;
    unsigned n = 0;
    FILE *list = open_list();
    while (read_mutant(list, &mutant)) {
        if (strcmp(mutant.tool, tool) != 0)
            continue;
        expect_report(&mutant, n++);
    }
    fclose(list);
    assert_true(n >= 6);
}

#endif

int main(int argc, char **argv)
{
    if (argc == 3)
        return run_mutant(atoi(argv[1]), (uint64_t)atoi(argv[2]));
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_mutant_is_listed_once_under_its_sanitizer),
        cmocka_unit_test(what_is_right_is_not_reported),
#if IS_SANITIZED
        cmocka_unit_test(every_mutant_is_reported_by_name),
#endif
    };
    return cmocka_run_group_tests_name("mutants", tests, NULL, NULL);
}
