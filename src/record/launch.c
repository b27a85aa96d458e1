/* SPDX-License-Identifier: MIT
 *
 * The signals of a terminal reach the command by themselves, being in the same group; those that
 * somebody sends to us alone are passed on. Either way we live on to convert what was recorded.
 */
#include "record/launch.h"

#include "record/spool.h"
#include "record/target.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define RECORDER "liballocbench-record.so"
#define ALIAS_NAME "recorder.so"

static const int held_signals[] = {SIGCHLD, SIGINT, SIGQUIT, SIGTERM, SIGHUP};
enum { N_HELD = sizeof held_signals / sizeof held_signals[0] };

static void held_set(sigset_t *set)
{
    sigemptyset(set);
    for (int i = 0; i < N_HELD; i++)
        sigaddset(set, held_signals[i]);
}

/* LD_PRELOAD splits at spaces and colons and expands '$'. */
static bool needs_alias(const char *path)
{
    return strpbrk(path, " :$") != NULL;
}

static enum ab_status find_recorder(char *out, size_t cap, struct ab_err *err)
{
    static const char *const places[] = {"", "../libexec/allocbench/", "../lib/allocbench/"};
    char self[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    if (n <= 0)
        return ab_fail_errno(err, AB_SYSTEM, "cannot read /proc/self/exe");
    self[n] = 0;
    int dir = (int)(strrchr(self, '/') + 1 - self);
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        int used = snprintf(out, cap, "%.*s%s%s", dir, self, places[i], RECORDER);
        if (used > 0 && (size_t)used < cap && access(out, R_OK) == 0)
            return AB_OK;
    }
    return ab_fail(err, AB_SYSTEM, "%s is neither beside %s nor in ../libexec/allocbench",
                   RECORDER, self);
}

static enum ab_status make_control(const char *dir, struct ab_err *err)
{
    char path[PATH_MAX + 64];
    struct ab_spool_control control = {.magic = AB_SPOOL_MAGIC, .version = AB_SPOOL_VERSION};
    snprintf(path, sizeof path, "%s/%s", dir, AB_SPOOL_CONTROL_NAME);
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    bool is_made = fd >= 0 && write(fd, &control, sizeof control) == (ssize_t)sizeof control;
    if (!is_made)
        ab_fail_errno(err, AB_SYSTEM, "cannot write in %s", dir);
    if (fd >= 0)
        close(fd);
    return is_made ? AB_OK : AB_SYSTEM;
}

enum ab_status ab_launch_begin(struct ab_launch *l, struct ab_err *err)
{
    char dir[sizeof l->dir];
    sigset_t held;
    const char *base = getenv("TMPDIR");
    if (base == NULL || base[0] != '/' || needs_alias(base))
        base = "/tmp";
    l->dir[0] = 0;
    held_set(&held);
    sigprocmask(SIG_BLOCK, &held, &l->old_mask);
    sigaction(SIGCHLD, &(struct sigaction){.sa_handler = SIG_DFL}, &l->old_child);
    int n = snprintf(dir, sizeof dir, "%s/allocbench-record-XXXXXX", base);
    if (n < 0 || n >= (int)sizeof dir)
        return ab_fail(err, AB_SYSTEM, "TMPDIR is too long");
    if (mkdtemp(dir) == NULL)
        return ab_fail_errno(err, AB_SYSTEM, "cannot make a folder in %s", base);
    memcpy(l->dir, dir, sizeof dir);
    return make_control(dir, err);
}

/* The child's pid is known in the child first: it puts it where the recorder will look. */
static bool claim(const char *dir)
{
    char path[PATH_MAX + 64];
    snprintf(path, sizeof path, "%s/%s", dir, AB_SPOOL_CONTROL_NAME);
    int fd = open(path, O_WRONLY | O_NOFOLLOW | O_CLOEXEC);
    uint32_t pid = (uint32_t)getpid();
    bool is_written = fd >= 0 && pwrite(fd, &pid, sizeof pid,
                                        offsetof(struct ab_spool_control, pid)) == sizeof pid;
    if (fd >= 0)
        close(fd);
    return is_written;
}

/* In front of what the user preloads, so that it stays behind us and serves the calls. */
static bool set_environment(const char *dir, const char *recorder)
{
    const char *old = getenv("LD_PRELOAD");
    size_t cap = strlen(recorder) + (old != NULL ? strlen(old) : 0) + 2;
    char *value = malloc(cap);
    if (value == NULL)
        return false;
    snprintf(value, cap, "%s%s%s", recorder, old != NULL && *old != 0 ? ":" : "",
             old != NULL ? old : "");
    bool is_set = setenv("LD_PRELOAD", value, 1) == 0 && setenv(AB_SPOOL_ENV, dir, 1) == 0;
    free(value);
    return is_set;
}

static _Noreturn void become_command(const struct ab_launch *l, const char *path,
                                     char *const *argv, const char *recorder, int report)
{
    int why = 0;
    if (!claim(l->dir) || !set_environment(l->dir, recorder))
        why = errno != 0 ? errno : ENOMEM;
    sigaction(SIGCHLD, &l->old_child, NULL);
    sigprocmask(SIG_SETMASK, &l->old_mask, NULL);
    if (why == 0) {
        execv(path, argv);
        why = errno;
    }
    ssize_t ignored = write(report, &why, sizeof why);
    (void)ignored;
    _exit(AB_RECORD_FAILED);
}

/* Passes on what was sent to us and not by the terminal to the whole group. */
static void wait_for(pid_t child, int *wait_status)
{
    sigset_t held;
    siginfo_t info;
    held_set(&held);
    while (waitpid(child, wait_status, WNOHANG) == 0)
        if (sigwaitinfo(&held, &info) > 0 && info.si_signo != SIGCHLD && info.si_code <= 0)
            kill(child, info.si_signo);
}

static enum ab_status start(const struct ab_launch *l, const char *path, char *const *argv,
                            const char *recorder, pid_t *child, struct ab_err *err)
{
    int report[2], why = 0;
    if (pipe2(report, O_CLOEXEC) != 0)
        return ab_fail_errno(err, AB_SYSTEM, "cannot make a pipe");
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0)
        become_command(l, path, argv, recorder, report[1]);
    close(report[1]);
    if (pid < 0) {
        close(report[0]);
        return ab_fail_errno(err, AB_SYSTEM, "cannot fork");
    }
    ssize_t n = read(report[0], &why, sizeof why); /* ends when exec closes it; held: no EINTR */
    close(report[0]);
    if (n == (ssize_t)sizeof why) {
        waitpid(pid, NULL, 0);
        errno = why;
        return ab_fail_errno(err, AB_INPUT, "cannot run '%s'", path);
    }
    *child = pid;
    return AB_OK;
}

static enum ab_status make_alias(const struct ab_launch *l, char *recorder, size_t cap,
                                 struct ab_err *err)
{
    char alias[PATH_MAX];
    if (!needs_alias(recorder))
        return AB_OK;
    int n = snprintf(alias, sizeof alias, "%s/%s", l->dir, ALIAS_NAME);
    if (n < 0 || n >= (int)sizeof alias || symlink(recorder, alias) != 0)
        return ab_fail_errno(err, AB_SYSTEM, "cannot link %s", recorder);
    snprintf(recorder, cap, "%s", alias);
    return AB_OK;
}

enum ab_status ab_launch_run(const struct ab_launch *l, const char *path, char *const *argv,
                             int *exit_code, struct ab_err *err)
{
    char recorder[PATH_MAX];
    pid_t child = 0;
    int wait_status = 0;
    *exit_code = AB_RECORD_FAILED;
    enum ab_status status = find_recorder(recorder, sizeof recorder, err);
    if (status != AB_OK || (status = make_alias(l, recorder, sizeof recorder, err)) != AB_OK)
        return status;
    status = start(l, path, argv, recorder, &child, err);
    if (status != AB_OK) {
        *exit_code = AB_RECORD_NOT_EXECUTABLE;
        return status;
    }
    wait_for(child, &wait_status);
    *exit_code = WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status)
                                          : WEXITSTATUS(wait_status);
    return AB_OK;
}

static void remove_spool(const char *dir)
{
    char path[PATH_MAX];
    for (unsigned i = 0; i < AB_SPOOL_IMAGES_MAX; i++) {
        snprintf(path, sizeof path, AB_SPOOL_IMAGE_FORMAT, dir, i);
        unlink(path);
    }
    snprintf(path, sizeof path, "%s/" ALIAS_NAME, dir);
    unlink(path);
    snprintf(path, sizeof path, "%s/" AB_SPOOL_CONTROL_NAME, dir);
    unlink(path);
    rmdir(dir);
}

void ab_launch_end(struct ab_launch *l)
{
    sigset_t held;
    siginfo_t info;
    struct timespec no_time = {0, 0};
    if (l->dir[0] != 0)
        remove_spool(l->dir);
    l->dir[0] = 0;
    held_set(&held);
    while (sigtimedwait(&held, &info, &no_time) > 0) {
    }
    sigaction(SIGCHLD, &l->old_child, NULL);
    sigprocmask(SIG_SETMASK, &l->old_mask, NULL);
}
