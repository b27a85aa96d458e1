/* SPDX-License-Identifier: MIT */
#include "cli/launch.h"

#include "backend/elf.h"
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
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

enum { SCRIPT_DEPTH_MAX = 4 };

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

/* In the folder the recorder has a name without spaces and colons, at which LD_PRELOAD splits. */
static enum ab_status make_folder(struct ab_launch *l, struct ab_err *err)
{
    char alias[PATH_MAX];
    const char *places[] = {getenv("TMPDIR"), "/tmp", "/var/tmp"};
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        if (places[i] == NULL || strpbrk(places[i], " :;,$\t\n") != NULL || places[i][0] != '/' ||
            strlen(places[i]) > 30)
            continue;
        snprintf(l->folder, sizeof l->folder, "%s/allocbench-XXXXXX", places[i]);
        if (mkdtemp(l->folder) == NULL)
            continue;
        snprintf(alias, sizeof alias, "%s/recorder.so", l->folder);
        if (symlink(l->recorder, alias) == 0)
            return AB_OK;
        ab_launch_clean(l);
    }
    l->folder[0] = 0;
    return ab_fail_errno(err, AB_SYSTEM, "cannot make a folder for the spool in $TMPDIR, /tmp or "
                                         "/var/tmp");
}

enum ab_status ab_launch_prepare(const char *command, struct ab_launch *out, int *exit_code,
                                 struct ab_err *err)
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
    if (status == AB_OK)
        status = make_folder(&l, err);
    if (status == AB_OK)
        *out = l;
    return status;
}

static _Noreturn void become_command(const struct ab_launch *l, const char *const *argv)
{
    char pid[24], preload[PATH_MAX * 2];
    const char *users = getenv("LD_PRELOAD"); /* stays behind ours */
    snprintf(pid, sizeof pid, "%d", (int)getpid());
    snprintf(preload, sizeof preload, "%s/recorder.so%s%s", l->folder,
             users != NULL && users[0] != 0 ? ":" : "", users != NULL ? users : "");
    setenv("LD_PRELOAD", preload, 1);
    setenv(AB_SPOOL_ENV_FOLDER, l->folder, 1);
    setenv(AB_SPOOL_ENV_PID, pid, 1);
    execv(l->program, (char *const *)argv);
    _exit(AB_LAUNCH_CANNOT_RUN);
}

static volatile sig_atomic_t command_pid;

static void pass_on(int signal)
{
    if (command_pid > 0)
        kill((pid_t)command_pid, signal);
}

/* ^C goes to the command as to us; it decides, and what it recorded is still converted. Signals
 * that are sent to us alone are passed on. */
static void outlive_the_command(void)
{
    struct sigaction pass = {.sa_handler = pass_on, .sa_flags = SA_RESTART};
    signal(SIGINT, SIG_IGN);
    signal(SIGQUIT, SIG_IGN);
    sigaction(SIGTERM, &pass, NULL);
    sigaction(SIGHUP, &pass, NULL);
}

enum ab_status ab_launch_run(const struct ab_launch *l, const char *const *argv, int *exit_code,
                             struct ab_err *err)
{
    int status;
    struct sigaction old_int, old_quit;
    sigaction(SIGINT, NULL, &old_int);
    sigaction(SIGQUIT, NULL, &old_quit);
    outlive_the_command();
    pid_t pid = fork();
    if (pid == 0) {
        sigaction(SIGINT, &old_int, NULL);
        sigaction(SIGQUIT, &old_quit, NULL);
        signal(SIGTERM, SIG_DFL);
        signal(SIGHUP, SIG_DFL);
        become_command(l, argv);
    }
    if (pid < 0)
        return ab_fail_errno(err, AB_SYSTEM, "cannot start the command");
    command_pid = pid;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    command_pid = 0;
    *exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return AB_OK;
}

void ab_launch_clean(struct ab_launch *l)
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
