/* SPDX-License-Identifier: MIT
 *
 * Finds out which settings are in force, by running two processes in which nothing is measured. One
 * is a worker with the row's environment and no work. The other is the loader, which lists glibc's
 * tunables as it read them.
 */
#include "runner/setting_proof.h"

#include "base/bits.h"
#include "base/clock.h"
#include "core/alloc.h"
#include "core/text.h"
#include "runner/setting_judge.h"
#include "runner/supervise.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <gnu/libc-version.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CAPTURE_BYTES = 1 << 18, WAIT_S = 30, ENV_MAX = AB_ARRAY_LEN(((struct ab_case *)0)->env) };

static char *read_capture(int fd)
{
    char *text = ab_alloc_zeroed(CAPTURE_BYTES, 1);
    ssize_t n = fd >= 0 ? pread(fd, text, CAPTURE_BYTES - 1, 0) : 0;
    for (ssize_t i = 0; i < n; i++)
        text[i] = text[i] != 0 ? text[i] : ' '; /* the output may contain NULs */
    text[n > 0 ? strnlen(text, (size_t)n) : 0] = 0;
    return text;
}

static void close_if_open(int fd)
{
    if (fd >= 0)
        close(fd);
}

/* Returns the tunables that the loader of this process lists with the variables `env`; the worker
 * has the same loader. "" = there is no loader, or it cannot list tunables. */
static char *list_tunables(const char *const *env)
{
    Dl_info loader;
    posix_spawn_file_actions_t actions;
    pid_t pid;
    int status, out = ab_memfd("allocbench-tunables", CAPTURE_BYTES);
    char *argv[] = {"ld.so", "--list-tunables", NULL};
    bool is_there = out >= 0 && dladdr((void *)getauxval(AT_BASE), &loader) != 0 && /* NOLINT */
                    loader.dli_fname != NULL;
    if (is_there) {
        posix_spawn_file_actions_init(&actions);
        posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
        posix_spawn_file_actions_adddup2(&actions, out, STDERR_FILENO);
        is_there = posix_spawn(&pid, loader.dli_fname, &actions, NULL, argv, (char **)env) == 0;
        posix_spawn_file_actions_destroy(&actions);
    }
    while (is_there && waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
    char *text = read_capture(is_there && WIFEXITED(status) && WEXITSTATUS(status) == 0 ? out : -1);
    close_if_open(out);
    return text;
}

static bool is_word_char(char c, bool is_upper)
{
    return (c >= '0' && c <= '9') || c == '_' ||
           (is_upper ? c >= 'A' && c <= 'Z' : c >= 'a' && c <= 'z');
}

/* Appends the last word of each string in `bytes`, each on a line. */
static void add_words(const char *bytes, size_t n, bool is_upper, struct ab_text *out)
{
    enum { LEAST = 4, MOST = 63 };
    for (size_t i = 0, begin = 0; i < n; i++) {
        if (is_word_char(bytes[i], is_upper))
            continue;
        if (bytes[i] == 0 && i - begin >= LEAST && i - begin <= MOST)
            ab_text_addf(out, "%.*s\n", (int)(i - begin), bytes + begin);
        begin = i + 1;
    }
}

/* Appends the words of a file. Words that look like names of variables come first, because
 * suggestions are looked for among the first words only. */
static void add_words_of(const char *path, struct ab_text *out)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st) != 0 || st.st_size <= 0) {
        close_if_open(fd);
        return;
    }
    void *p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    close(fd);
    if (p == MAP_FAILED)
        return;
    add_words(p, (size_t)st.st_size, true, out);
    add_words(p, (size_t)st.st_size, false, out);
    munmap(p, (size_t)st.st_size);
}

/* Appends the words of the library's files. oneTBB's libtbbmalloc_proxy has a second library beside
 * it that reads the settings. */
static void add_words_of_library(const struct ab_case *c, struct ab_text *out)
{
    Dl_info of;
    char beside[4096 + 32];
    if (c->source == AB_SOURCE_LIBC && dladdr((void *)gnu_get_libc_version, &of) != 0)
        add_words_of(of.dli_fname, out);
    if (c->path == NULL)
        return;
    const char *slash = strrchr(c->path, '/');
    add_words_of(c->path, out);
    AB_FIT(beside, "%.*s/libtbbmalloc.so.2", slash != NULL ? (int)(slash - c->path) : 0, c->path);
    if (strstr(c->path, "libtbbmalloc_proxy") != NULL)
        add_words_of(beside, out);
}

/* Runs the worker on the case and captures its standard output and standard error. */
static void ask_worker(const char *worker_path, const struct ab_case *c, const char *const *env,
                       char *said[2])
{
    struct ab_err err;
    pid_t pid;
    int out = ab_memfd("allocbench-said", CAPTURE_BYTES), null = open("/dev/null", O_RDWR);
    int complaints = ab_memfd("allocbench-complaints", CAPTURE_BYTES);
    int run = ab_memfd("allocbench-run", sizeof(struct ab_run_page));
    struct ab_run_page *page =
        run < 0 ? MAP_FAILED : mmap(NULL, sizeof *page, PROT_READ | PROT_WRITE, MAP_SHARED, run, 0);
    struct ab_spawn spawn = {.worker_path = worker_path,
                             .tape_fd = null,
                             .run_fd = run,
                             .stdout_fd = out,
                             .stderr_fd = complaints,
                             .preload = c->source == AB_SOURCE_PRELOAD ? c->path : NULL,
                             .env = env};
    if (page != MAP_FAILED) {
        page->magic = AB_RUN_MAGIC;
        page->size = sizeof *page;
        page->request.pass = AB_PASS_SETTINGS;
        if (null >= 0 && out >= 0 && complaints >= 0 && ab_spawn(&spawn, &pid, &err) == AB_OK)
            ab_supervise(pid, ab_clock_now_ns() + WAIT_S * UINT64_C(1000000000), UINT64_MAX);
        munmap(page, sizeof *page);
    }
    said[0] = read_capture(out);
    said[1] = read_capture(complaints);
    close_if_open(null);
    close_if_open(out);
    close_if_open(complaints);
    close_if_open(run);
}

static enum ab_serves serves(const struct ab_case *c)
{
    bool is_malloc = c->source == AB_SOURCE_LIBC ||
                     (c->builtin != NULL && strcmp(c->builtin, "system") == 0);
    bool is_sure = c->source == AB_SOURCE_PRELOAD || c->source == AB_SOURCE_BUILTIN ||
                   c->source == AB_SOURCE_NULL;
    return c->boundary == AB_BOUNDARY_PLACED ? AB_SERVES_UNKNOWN
           : is_malloc                       ? AB_SERVES_LIBC
           : is_sure                         ? AB_SERVES_ANOTHER
                                             : AB_SERVES_UNKNOWN;
}

/* Reads for which programs transparent huge pages are enabled; "" = the kernel does not say. */
static void read_thp_mode(char *out, size_t cap)
{
    int fd = open("/sys/kernel/mm/transparent_hugepage/enabled", O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, out, cap - 1) : 0;
    out[n > 0 ? n : 0] = 0;
    close_if_open(fd);
}

/* Returns the minor version of the C library: 36 for 2.36. 0 = its version has another form. */
static unsigned libc_minor(void)
{
    const char *version = gnu_get_libc_version();
    return strncmp(version, "2.", 2) == 0 ? (unsigned)strtoul(version + 2, NULL, 10) : 0;
}

/* Returns the number N of "NAME: N" in the worker's output; 0 = there is none. */
static unsigned number_of(const char *said, const char *name)
{
    const char *at = strstr(said, name);
    return at != NULL ? (unsigned)strtoul(at + strlen(name), NULL, 10) : 0;
}

void ab_setting_prove(const char *worker_path, const struct ab_case *c, struct ab_backend_info *b)
{
    const char *env[ENV_MAX + 1] = {NULL};
    struct ab_text words = {0};
    char *said[2], thp[64] = "";
    size_t n = 0;
    b->n_proofs = 0;
    if (c->env[0] == NULL)
        return;
    for (; n + 1 < ENV_MAX && c->env[n] != NULL; n++)
        env[n] = c->env[n];
    env[n] = "MIMALLOC_VERBOSE=1"; /* makes mimalloc list its options; no other library reads it */
    ask_worker(worker_path, c, env, said);
    char *tunables = list_tunables(c->env);
    add_words_of_library(c, &words);
    read_thp_mode(thp, sizeof thp);
    struct ab_setting_evidence e = {
        .serves = serves(c),
        .is_builtin = c->source == AB_SOURCE_BUILTIN,
        .kind = (enum ab_introspect_kind)number_of(said[0], "kind: "),
        .is_libc = c->source == AB_SOURCE_LIBC,
        .said = said[0],
        .complaints = said[1],
        .tunables = tunables,
        .words = words.s != NULL ? words.s : "",
        .thp = thp,
        .libc_minor = libc_minor(),
    };
    for (size_t i = 0; c->env[i] != NULL; i++)
        if (strncmp(c->env[i], AB_TWIN_VARIABLE "=", sizeof AB_TWIN_VARIABLE) != 0)
            ab_setting_judge(&e, c->env[i], b);
    if (b->reason[0] != 0)
        b->status = AB_BACKEND_WRONG_LIBRARY;
    ab_text_fini(&words);
    free(tunables);
    free(said[0]);
    free(said[1]);
}
