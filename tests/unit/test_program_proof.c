/* SPDX-License-Identifier: MIT
 *
 * Which allocator serves a process: asked of ourselves, and of children with a library preloaded.
 * AB_BUILD names the build whose guests are used.
 */
#include "program/proof.h"

#include "support/cmocka.h"

#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char toy[PATH_MAX + 64], bump[PATH_MAX + 64];

static struct ab_proof_wanted wanted(const char *path)
{
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    return (struct ab_proof_wanted){path, st.st_dev, st.st_ino};
}

/* `cat` with this preloaded ("" = nothing), once it is through its start: it has said a word. */
static pid_t start(const char *preload)
{
    int in[2], out[2];
    char byte;
    assert_int_equal(pipe(in), 0);
    assert_int_equal(pipe(out), 0);
    pid_t pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* a test that fails leaves no process */
        for (int fd = 3; fd < 64; fd++)
            if (fd != in[0] && fd != out[1])
                close(fd);
        dup2(in[0], 0);
        dup2(out[1], 1);
        if (preload[0] != 0)
            setenv("LD_PRELOAD", preload, 1);
        else
            unsetenv("LD_PRELOAD");
        execlp("cat", "cat", NULL);
        _exit(127);
    }
    assert_int_equal(write(in[1], "x", 1), 1);
    assert_int_equal(read(out[0], &byte, 1), 1);
    return pid;
}

static void expect(const char *preload, const struct ab_proof_wanted *w,
                   enum ab_proof_answer answer, const char *why_part)
{
    struct ab_proof_cache cache = {.n = 0};
    char why[700] = "";
    pid_t pid = start(preload);
    assert_int_equal(ab_proof_check(&cache, pid, w, why, sizeof why), answer);
    if (strstr(why, why_part) == NULL)
        fail_msg("%s", why);
    assert_true(cache.n > 0);
    size_t n = cache.n;
    ab_proof_check(&cache, pid, w, why, sizeof why);
    assert_int_equal(cache.n, n); /* each file is read once */
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    ab_proof_cache_fini(&cache);
}

static void the_librarys_file_has_to_be_mapped(void **state)
{
    struct ab_proof_wanted w = wanted(toy);
    (void)state;
    expect(toy, &w, AB_PROOF_YES, "");
    expect("", &w, AB_PROOF_NO, "cat has not loaded");
    expect(bump, &w, AB_PROOF_NO, "libbump.so mapped as well");
    w.ino++;
    expect(toy, &w, AB_PROOF_NO, "libtoy.so mapped as well"); /* of the same name, not the same */
}

static void glibc_means_nothing_else(void **state)
{
    struct ab_proof_wanted w = {.path = NULL};
    (void)state;
    expect("", &w, AB_PROOF_YES, "");
    expect(toy, &w, AB_PROOF_NO, "libtoy.so mapped as well");
}

static void of_two_the_one_that_comes_first_is_called(void **state)
{
    char both[3 * PATH_MAX];
    struct ab_proof_wanted w = wanted(toy);
    (void)state;
    snprintf(both, sizeof both, "%s:%s", toy, bump);
    expect(both, &w, AB_PROOF_YES, "");
    snprintf(both, sizeof both, "%s:%s", bump, toy);
    expect(both, &w, AB_PROOF_NO, "libbump.so mapped as well, which defines malloc too, and calls");
}

/* Reads of this process so far; 0 = not known. */
static unsigned long count_reads(void)
{
    char line[100];
    unsigned long n = 0;
    FILE *f = fopen("/proc/self/io", "r");
    while (f != NULL && fgets(line, sizeof line, f) != NULL)
        sscanf(line, "syscr: %lu", &n);
    if (f != NULL)
        fclose(f);
    return n;
}

/* A program that runs many processes has all of them proven. */
static void relocations_of_a_file_are_read_once(void **state)
{
    struct ab_proof_cache cache = {.n = 0};
    struct ab_proof_wanted w = wanted(toy);
    char why[700], both[3 * PATH_MAX];
    pid_t pids[2];
    unsigned long reads[2];
    (void)state;
    snprintf(both, sizeof both, "%s:%s:libstdc++.so.6", toy, bump);
    for (int i = 0; i < 2; i++) {
        pids[i] = start(both);
        unsigned long before = count_reads();
        assert_int_equal(ab_proof_check(&cache, pids[i], &w, why, sizeof why), AB_PROOF_YES);
        reads[i] = count_reads() - before;
    }
    print_message("%lu reads, then %lu\n", reads[0], reads[1]);
    assert_true(reads[1] < reads[0] && reads[1] < 150); /* libstdc++ has thousands of relocations */
    for (int i = 0; i < 2; i++) {
        kill(pids[i], SIGKILL);
        waitpid(pids[i], NULL, 0);
    }
    ab_proof_cache_fini(&cache);
}

static void a_process_that_is_gone_proves_nothing(void **state)
{
    struct ab_proof_cache cache = {.n = 0};
    struct ab_proof_wanted w = {.path = NULL};
    char why[100];
    (void)state;
    pid_t pid = start("");
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    assert_int_equal(ab_proof_check(&cache, pid, &w, why, sizeof why), AB_PROOF_GONE);
    ab_proof_cache_fini(&cache);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_librarys_file_has_to_be_mapped),
        cmocka_unit_test(glibc_means_nothing_else),
        cmocka_unit_test(of_two_the_one_that_comes_first_is_called),
        cmocka_unit_test(relocations_of_a_file_are_read_once),
        cmocka_unit_test(a_process_that_is_gone_proves_nothing),
    };
    const char *build = getenv("AB_BUILD");
    char base[PATH_MAX];
    if (realpath(build != NULL ? build : "build/release", base) == NULL)
        return 1;
    snprintf(toy, sizeof toy, "%s/guests/libtoy.so", base);
    snprintf(bump, sizeof bump, "%s/guests/libbump.so", base);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
