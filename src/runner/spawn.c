/* SPDX-License-Identifier: MIT
 *
 * fork + exec. Between the two only calls that are safe in a child of a threaded process.
 */
#include "runner/spawn.h"

#include "runner/supervise.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    FD_LIBRARY = 5,
    FD_CALLS = AB_WORKER_FD_CALLS,
    FD_ROUTE = AB_WORKER_FD_ROUTE,
    FD_COUNT,
    FD_SAFE = 64
};
enum { ARGUMENTS_MAX = 14 }; /* of what runs the worker */
enum { DESCRIPTORS_LEAST = FD_SAFE + 2 * FD_COUNT, STACK_LEAST = 512 << 10 };

static void write_text(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    ssize_t ignored = write(fd, text, strlen(text));
    (void)ignored;
    close(fd);
}

void ab_spawn_detach(pid_t parent)
{
    struct rlimit no_core = {0, 0};
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(1);
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    setrlimit(RLIMIT_CORE, &no_core);
    write_text("/proc/self/oom_score_adj", "800");
}

/* A ^C that came before we left our parent's group is pending: the parent has it too, and it alone
 * is to act on it. To ignore a signal discards what is pending of it. */
void ab_spawn_reset_signals(void)
{
    sigset_t none;
    sigemptyset(&none);
    for (int s = 1; s < NSIG; s++) {
        signal(s, SIG_IGN);
        signal(s, SIG_DFL);
    }
    sigprocmask(SIG_SETMASK, &none, NULL);
}

void ab_spawn_give_up(int told)
{
    int error = errno;
    ssize_t ignored = write(told, &error, sizeof error);
    (void)ignored;
    _exit(1);
}

int ab_spawn_await_exec(int listen)
{
    int error = 0;
    ssize_t n;
    do
        n = read(listen, &error, sizeof error);
    while (n < 0 && errno == EINTR);
    return n == (ssize_t)sizeof error ? error : 0;
}

bool ab_spawn_needs_alias(const char *path)
{
    return strpbrk(path, " :,;\t\n\"'$") != NULL;
}

/* LD_PRELOAD splits at spaces and colons and expands '$': such a path goes in as a descriptor. */
static void preload_text(const struct ab_spawn *s, char *buf, size_t cap)
{
    if (ab_spawn_needs_alias(s->preload))
        snprintf(buf, cap, "LD_PRELOAD=/proc/self/fd/%d", FD_LIBRARY);
    else
        snprintf(buf, cap, "LD_PRELOAD=%s", s->preload);
}

static int move_high(int fd)
{
    return fcntl(fd, F_DUPFD_CLOEXEC, FD_SAFE);
}

/* First past FD_SAFE, then down: no dup2 may overwrite a descriptor still to be placed. */
static bool place_descriptors(const struct ab_spawn *s)
{
    int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    int from[FD_COUNT] = {null, s->stdout_fd, s->stderr_fd, s->tape_fd, s->run_fd, -1, -1, -1};
    if (s->route_fd > 0)
        from[FD_ROUTE] = s->route_fd;
    if (s->calls_fd > 0)
        from[FD_CALLS] = s->calls_fd;
    if (s->preload != NULL && ab_spawn_needs_alias(s->preload))
        from[FD_LIBRARY] = open(s->preload, O_RDONLY | O_CLOEXEC);
    for (int i = 0; i < FD_COUNT; i++)
        if (from[i] >= 0 && (from[i] = move_high(from[i])) < 0)
            return false;
    if (close_range(FD_LIBRARY, ~0u, CLOSE_RANGE_CLOEXEC) != 0)
        return false;
    for (int i = 0; i < FD_COUNT; i++)
        if (from[i] >= 0 && dup2(from[i], i) < 0) /* what dup2 makes stays open */
            return false;
    return true;
}

enum ab_status ab_spawn_fit_stack(struct ab_err *err)
{
    struct rlimit stack;
    if (getrlimit(RLIMIT_STACK, &stack) != 0 || stack.rlim_cur >= STACK_LEAST)
        return AB_OK;
    stack.rlim_cur = STACK_LEAST;
    if (stack.rlim_max >= STACK_LEAST && setrlimit(RLIMIT_STACK, &stack) == 0)
        return AB_OK;
    return ab_fail(err, AB_SYSTEM,
                   "the limit on the stack (ulimit -s) is %llu KiB, at least %d are needed",
                   (unsigned long long)stack.rlim_max >> 10, STACK_LEAST >> 10);
}

/* The worker, or what runs it, with its arguments. */
static const char *name_program(const struct ab_spawn *s, char **argv)
{
    size_t n = 0;
    for (; s->under != NULL && s->under[n] != NULL && n < ARGUMENTS_MAX; n++)
        argv[n] = (char *)s->under[n];
    argv[n] = (char *)(n > 0 ? s->worker_path : AB_WORKER_NAME);
    argv[n + 1] = NULL;
    return n > 0 ? argv[0] : s->worker_path;
}

static _Noreturn void become_worker(const struct ab_spawn *s, char **envp, pid_t parent, int told)
{
    char *argv[ARGUMENTS_MAX + 2];
    const char *program = name_program(s, argv);
    ab_spawn_detach(parent);
    if (s->is_layout_fixed)
        personality(ADDR_NO_RANDOMIZE);
    if (s->is_thp_off)
        prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
    ab_spawn_reset_signals();
    if (place_descriptors(s))
        execve(program, argv, envp);
    ab_spawn_give_up(told);
}

enum { ENV_MAX = 16 };
struct environment {
    char preload[PATH_MAX + 32], tunables[512], *list[ENV_MAX + 1];
    int n;
};

/* The last of one name counts: a user may want another PATH than ours. */
static void add_variable(struct environment *e, const char *text)
{
    int i = 0;
    size_t name = strcspn(text, "=") + 1;
    while (i < e->n && strncmp(e->list[i], text, name) != 0)
        i++;
    if (i < ENV_MAX)
        e->list[i] = (char *)text;
    e->n += i == e->n && i < ENV_MAX;
    e->list[e->n] = NULL;
}

/* The user's settings of glibc and those that dlopen needs share one variable. */
static void add_tunables(struct environment *e, const char *users, bool is_plugin)
{
    const char *name = "GLIBC_TUNABLES=", *tls = "glibc.rtld.optional_static_tls=32768";
    if (users != NULL)
        snprintf(e->tunables, sizeof e->tunables, "%s%s%s", users, is_plugin ? ":" : "",
                 is_plugin ? tls : "");
    else if (is_plugin)
        snprintf(e->tunables, sizeof e->tunables, "%s%s", name, tls);
    if (e->tunables[0] != 0)
        add_variable(e, e->tunables);
}

static void build_environment(const struct ab_spawn *spawn, struct environment *e)
{
    const char *tunables = NULL;
    *e = (struct environment){.n = 0};
    add_variable(e, "PATH=/usr/local/bin:/usr/bin:/bin");
    add_variable(e, "LC_ALL=C");
    if (spawn->preload != NULL) {
        preload_text(spawn, e->preload, sizeof e->preload);
        add_variable(e, e->preload);
    }
    for (const char *const *v = spawn->env; v != NULL && *v != NULL; v++) {
        if (strncmp(*v, "GLIBC_TUNABLES=", 15) == 0)
            tunables = *v;
        else
            add_variable(e, *v);
    }
    add_tunables(e, tunables, spawn->is_plugin);
}

/* Checks the limits that a worker needs before it starts: it could only crash, and be blamed for
 * it. */
static enum ab_status check_limits(struct ab_err *err)
{
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur < DESCRIPTORS_LEAST)
        return ab_fail(err, AB_SYSTEM,
                       "cannot start a worker: the limit on open files (ulimit -n) "
                       "is %llu, at least %d are needed",
                       (unsigned long long)files.rlim_cur, DESCRIPTORS_LEAST);
    return AB_OK;
}

enum ab_status ab_spawn(const struct ab_spawn *spawn, pid_t *out, struct ab_err *err)
{
    enum ab_status status = check_limits(err);
    if (status != AB_OK)
        return status;
    struct environment environment;
    build_environment(spawn, &environment);
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return ab_fail_errno(err, AB_SYSTEM, "cannot start a worker: pipe");
    pid_t parent = getpid();
    /* Until it is a worker, the child shares our memory and our group: a ^C would run our handler in
     * both, and count for two. */
    sigset_t all, before;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before);
    pid_t pid = vfork(); /* a copy of our page tables would take longer than many a run */
    if (pid == 0)
        become_worker(spawn, environment.list, parent, move_high(ends[1]));
    ab_supervise_expect(pid > 0 ? pid : 0);
    sigprocmask(SIG_SETMASK, &before, NULL);
    close(ends[1]);
    if (pid < 0) {
        close(ends[0]);
        return ab_fail_errno(err, AB_SYSTEM, "cannot start a worker: fork");
    }
    setpgid(pid, pid); /* in both, so that neither can be first to rely on it */
    int error = ab_spawn_await_exec(ends[0]);
    close(ends[0]);
    if (error != 0) {
        waitpid(pid, NULL, 0);
        return ab_fail(err, AB_SYSTEM, "cannot start %s: %s", spawn->worker_path, strerror(error));
    }
    *out = pid;
    return AB_OK;
}

enum ab_status ab_spawn_become(const struct ab_spawn *spawn, struct ab_err *err)
{
    struct environment environment;
    char *argv[ARGUMENTS_MAX + 2];
    const char *program = name_program(spawn, argv);
    build_environment(spawn, &environment);
    if (place_descriptors(spawn))
        execve(program, argv, environment.list);
    return ab_fail_errno(err, AB_SYSTEM, "cannot start %s", spawn->worker_path);
}

enum ab_status ab_companion_path(const char *name, char *out, size_t cap, struct ab_err *err)
{
    static const char *const places[] = {"", "../libexec/allocbench/", "../lib/allocbench/"};
    char self[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    if (n <= 0)
        return ab_fail_errno(err, AB_SYSTEM, "cannot read /proc/self/exe");
    self[n] = 0;
    *strrchr(self, '/') = 0;
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        int used = snprintf(out, cap, "%s/%s%s", self, places[i], name);
        if (used > 0 && (size_t)used < cap && access(out, R_OK) == 0)
            return AB_OK;
    }
    return ab_fail(err, AB_SYSTEM, "%s is missing in the folder of %s/allocbench", name, self);
}
