/* SPDX-License-Identifier: MIT
 *
 * The signals of a terminal reach the command by themselves, being in the same group; those that
 * somebody sends to us alone are passed on. Either way we live on, to convert what was recorded
 * and to remove the folder: from its making to its removal these signals are blocked here. Those
 * that come once the command has ended are seen by the conversion, which they end.
 */
#include "cli/launch.h"

#include "backend/elf.h"
#include "core/clock.h"
#include "core/text.h"
#include "record/spool.h"
#include "runner/spawn.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

enum { SCRIPT_DEPTH_MAX = 4 };

static void held_signals(sigset_t *out)
{
    sigemptyset(out);
    sigaddset(out, SIGCHLD);
    sigaddset(out, SIGINT);
    sigaddset(out, SIGQUIT);
    sigaddset(out, SIGTERM);
    sigaddset(out, SIGHUP);
}

/* A SIGCHLD that is ignored, as some parents leave it, would lose the command's exit status. */
static void hold_signals(struct ab_launch *l)
{
    sigset_t held;
    struct sigaction plain = {.sa_handler = SIG_DFL};
    held_signals(&held);
    sigprocmask(SIG_BLOCK, &held, &l->old_mask);
    sigaction(SIGCHLD, &plain, &l->old_child);
    l->is_holding = true;
}

static void drop_signals(void)
{
    sigset_t held;
    struct timespec no_time = {0, 0};
    held_signals(&held);
    while (sigtimedwait(&held, NULL, &no_time) > 0)
        ;
}

static void give_back_signals(const struct ab_launch *l)
{
    sigaction(SIGCHLD, &l->old_child, NULL);
    sigprocmask(SIG_SETMASK, &l->old_mask, NULL);
}

static bool is_program(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

/* As execvp looks: a word with a '/' is a path, others are searched for. */
static bool find_program(const char *command, char *out, size_t cap)
{
    if (strchr(command, '/') != NULL) {
        snprintf(out, cap, "%s", command);
        return is_program(out);
    }
    const char *path = getenv("PATH");
    for (const char *p = path != NULL ? path : "/usr/local/bin:/usr/bin:/bin"; *p != 0;) {
        size_t n = strcspn(p, ":");
        snprintf(out, cap, "%.*s%s%s", (int)n, p, n > 0 ? "/" : "./", command);
        if (is_program(out))
            return true;
        p += n + (p[n] == ':');
    }
    return false;
}

/* "#!interpreter" of a script; false when it is none. */
static bool read_interpreter(const char *path, char *out, size_t cap)
{
    char line[PATH_MAX + 2] = "";
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? 0 : read(fd, line, sizeof line - 1);
    if (fd >= 0)
        close(fd);
    if (n < 3 || line[0] != '#' || line[1] != '!')
        return false;
    line[n] = 0;
    char *begin = line + 2 + strspn(line + 2, " \t");
    begin[strcspn(begin, " \t\n")] = 0;
    snprintf(out, cap, "%s", begin);
    return true;
}

static enum ab_status refuse_privileged(const char *path, const char *shown, struct ab_err *err)
{
    struct stat st;
    if (stat(path, &st) != 0)
        return ab_fail_errno(err, AB_USAGE, "cannot read %s", shown);
    if (((st.st_mode & S_ISUID) != 0 && st.st_uid != geteuid()) ||
        ((st.st_mode & S_ISGID) != 0 && st.st_gid != getegid()))
        return ab_fail(err, AB_USAGE, "%s is setuid or setgid: the system loads no recorder into "
                                      "such a program", shown);
    if (geteuid() != 0 && getxattr(path, "security.capability", NULL, 0) > 0)
        return ab_fail(err, AB_USAGE, "%s has file capabilities: the system loads no recorder "
                                      "into such a program", shown);
    return AB_OK;
}

static enum ab_status refuse_foreign(const char *path, struct ab_err *err)
{
    char real[PATH_MAX], shown[512];
    struct ab_elf elf;
    struct ab_err why;
    ab_text_printable(shown, sizeof shown, path);
    snprintf(real, sizeof real, "%s", path);
    for (int depth = 0; read_interpreter(real, real, sizeof real); depth++)
        if (depth == SCRIPT_DEPTH_MAX)
            return ab_fail(err, AB_USAGE, "%s: scripts within scripts", shown);
    if (ab_elf_read(real, NULL, 0, &elf, &why) != AB_OK)
        return ab_fail(err, AB_USAGE, "%s cannot be recorded: it %s", shown, why.text);
    if (elf.interp[0] == 0)
        return ab_fail(err, AB_USAGE, "%s is linked statically: no recorder can be loaded into it",
                       shown);
    if (strstr(elf.interp, "musl") != NULL)
        return ab_fail(err, AB_USAGE, "%s runs on musl, the recorder on glibc", shown);
    return refuse_privileged(real, shown, err);
}

/* LD_PRELOAD splits at spaces and colons and expands '$': then the recorder is named by a link in
 * the folder. Only then: what the command leaves running in the background outlives the folder,
 * and ld.so would complain to it of a recorder that is gone. */
static enum ab_status alias_recorder(struct ab_launch *l, struct ab_err *err)
{
    char alias[PATH_MAX];
    if (strpbrk(l->recorder, " :;,$\t\n") == NULL)
        return AB_OK;
    snprintf(alias, sizeof alias, "%s/recorder.so", l->folder);
    if (symlink(l->recorder, alias) != 0)
        return ab_fail_errno(err, AB_SYSTEM, "cannot write in %s", l->folder);
    snprintf(l->recorder, sizeof l->recorder, "%s", alias);
    return AB_OK;
}

/* The command may change its folder: the path has to be a whole one. */
static enum ab_status make_named_folder(struct ab_launch *l, const char *path, struct ab_err *err)
{
    char whole[PATH_MAX], shown[512];
    ab_text_printable(shown, sizeof shown, path);
    if (mkdir(path, 0700) != 0)
        return ab_fail_errno(err, AB_USAGE, "cannot make the folder %s for the spool", shown);
    bool has_path = realpath(path, whole) != NULL && strlen(whole) <= sizeof l->folder - 64;
    if (!has_path) {
        rmdir(path);
        return ab_fail(err, AB_USAGE, "the path of %s is too long for a spool", shown);
    }
    snprintf(l->folder, sizeof l->folder, "%.*s", (int)sizeof l->folder - 1, whole);
    return AB_OK;
}

static enum ab_status make_folder(struct ab_launch *l, struct ab_err *err)
{
    const char *places[] = {getenv("TMPDIR"), "/tmp", "/var/tmp"};
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        if (places[i] == NULL || strpbrk(places[i], " :;,$\t\n") != NULL || places[i][0] != '/' ||
            strlen(places[i]) > sizeof l->folder - 64)
            continue;
        snprintf(l->folder, sizeof l->folder, "%s/allocbench-XXXXXX", places[i]);
        if (mkdtemp(l->folder) != NULL)
            return AB_OK;
    }
    l->folder[0] = 0;
    return ab_fail_errno(err, AB_SYSTEM, "cannot make a folder for the spool in $TMPDIR, /tmp or "
                                         "/var/tmp");
}

enum ab_status ab_launch_prepare(const char *command, const char *spool, struct ab_launch *out,
                                 int *exit_code, struct ab_err *err)
{
    struct ab_launch l = {.folder = ""};
    char shown[512];
    *exit_code = AB_LAUNCH_NOT_FOUND;
    ab_text_printable(shown, sizeof shown, command);
    if (!find_program(command, l.program, sizeof l.program)) {
        bool is_there = strchr(command, '/') != NULL && access(command, F_OK) == 0;
        if (is_there)
            *exit_code = AB_LAUNCH_CANNOT_RUN;
        return ab_fail(err, AB_USAGE, is_there ? "%s is no program that can be run"
                                               : "%s: there is no such program", shown);
    }
    *exit_code = AB_LAUNCH_FAILED;
    enum ab_status status = refuse_foreign(l.program, err);
    if (status == AB_OK)
        status = ab_companion_path(AB_RECORDER_NAME, l.recorder, sizeof l.recorder, err);
    if (status != AB_OK)
        return status;
    hold_signals(&l);
    status = spool != NULL ? make_named_folder(&l, spool, err) : make_folder(&l, err);
    if (status != AB_OK || (status = alias_recorder(&l, err)) != AB_OK)
        ab_launch_clean(&l);
    else
        *out = l;
    return status;
}

/* Ours in front of what the user preloads, so that it stays behind us and serves the calls. */
static bool set_environment(const struct ab_launch *l)
{
    struct ab_text preload = {0};
    char pid[24];
    const char *users = getenv("LD_PRELOAD");
    snprintf(pid, sizeof pid, "%d%s", (int)getpid(), l->takes_children ? "+" : "");
    ab_text_addf(&preload, "%s%s%s", l->recorder, users != NULL && users[0] != 0 ? ":" : "",
                 users != NULL ? users : "");
    bool is_set = setenv("LD_PRELOAD", preload.s, 1) == 0 &&
                  setenv(AB_SPOOL_ENV_FOLDER, l->folder, 1) == 0 &&
                  setenv(AB_SPOOL_ENV_PID, pid, 1) == 0;
    ab_text_fini(&preload);
    return is_set;
}

/* `report` takes why the command could not be executed; a successful exec closes it. */
static _Noreturn void become_command(const struct ab_launch *l, const char *const *argv, int report)
{
    int why = ENOMEM;
    if (set_environment(l)) {
        give_back_signals(l);
        execv(l->program, (char *const *)argv);
        why = errno;
    }
    ssize_t ignored = write(report, &why, sizeof why);
    (void)ignored;
    _exit(AB_LAUNCH_CANNOT_RUN);
}

static enum ab_status start(const struct ab_launch *l, const char *const *argv, pid_t *out,
                            struct ab_err *err)
{
    int report[2], why = 0;
    char shown[512];
    if (pipe2(report, O_CLOEXEC) != 0)
        return ab_fail_errno(err, AB_SYSTEM, "cannot start the command");
    pid_t pid = fork();
    if (pid == 0)
        become_command(l, argv, report[1]);
    close(report[1]);
    ssize_t n = pid < 0 ? 0 : read(report[0], &why, sizeof why);
    close(report[0]);
    if (pid < 0)
        return ab_fail_errno(err, AB_SYSTEM, "cannot start the command");
    if (n > 0) {
        waitpid(pid, NULL, 0);
        errno = why;
        return ab_fail_errno(err, AB_USAGE, "cannot run %s",
                             ab_text_printable(shown, sizeof shown, l->program));
    }
    *out = pid;
    return AB_OK;
}

/* A process that has ended and was not waited for still says what it was called last, and how many
 * pages it and its children took. */
static void read_end(pid_t pid, struct ab_launch_end *end)
{
    char path[64], text[1024] = "";
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof text - 1);
    if (fd >= 0)
        close(fd);
    char *begin = strchr(text, '('), *behind = strrchr(text, ')');
    unsigned long long own = 0, children = 0;
    if (n <= 0 || begin == NULL || behind == NULL || behind < begin)
        return;
    sscanf(behind + 1, " %*c %*d %*d %*d %*d %*d %*u %llu %llu", &own, &children);
    snprintf(end->comm, sizeof end->comm, "%.*s", (int)(behind - begin - 1), begin + 1);
    end->own_faults = own;
    end->children_faults = children;
}

/* si_code > 0: from the kernel, as ^C is, and the command has got it too. */
static void await(pid_t pid)
{
    sigset_t held;
    held_signals(&held);
    for (siginfo_t ended = {0}, got;;) {
        if (waitid(P_PID, (id_t)pid, &ended, WEXITED | WNOWAIT | WNOHANG) != 0 ||
            ended.si_pid == pid)
            return;
        if (sigwaitinfo(&held, &got) > 0 && got.si_signo != SIGCHLD && got.si_code <= 0)
            kill(pid, got.si_signo);
    }
}

/* Orphans of the command are ours, so that we know of them; those that have ended are reaped. */
static bool has_left(void)
{
    pid_t pid;
    while ((pid = waitpid(-1, NULL, WNOHANG)) > 0)
        ;
    return pid == 0;
}

enum ab_status ab_launch_run(struct ab_launch *l, const char *const *argv, int *exit_code,
                             struct ab_err *err)
{
    pid_t pid = 0;
    int ended = 0;
    uint64_t begin_ns = ab_clock_now_ns(), begin_ticks = ab_tick_end();
    *exit_code = AB_LAUNCH_CANNOT_RUN;
    if (l->takes_children)
        prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    enum ab_status status = start(l, argv, &pid, err);
    if (status != AB_OK)
        return status;
    l->pid = pid;
    await(pid);
    l->end.wall_ticks = ab_tick_end() - begin_ticks;
    l->end.wall_ns = ab_clock_now_ns() - begin_ns;
    read_end(pid, &l->end);
    waitpid(pid, &ended, 0);
    l->end.has_left = l->takes_children && has_left();
    drop_signals();
    *exit_code = WIFEXITED(ended) ? WEXITSTATUS(ended) : 128 + WTERMSIG(ended);
    return AB_OK;
}

static void remove_folder(struct ab_launch *l)
{
    DIR *folder = l->folder[0] == 0 ? NULL : opendir(l->folder);
    if (folder == NULL)
        return;
    for (struct dirent *e; (e = readdir(folder)) != NULL;)
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
            unlinkat(dirfd(folder), e->d_name, 0);
    closedir(folder);
    rmdir(l->folder);
    l->folder[0] = 0;
}

void ab_launch_clean(struct ab_launch *l)
{
    if (!l->is_kept)
        remove_folder(l);
    if (!l->is_holding)
        return;
    drop_signals();
    give_back_signals(l);
    l->is_holding = false;
}
