/* SPDX-License-Identifier: MIT
 *
 * Checks that the recorder can be loaded into the command, runs the command under it, and makes and
 * removes the folder of its spool.
 */
#include "app/record/launch.h"

#include "app/record/descendants.h"
#include "base/clock.h"
#include "core/alloc.h"
#include "core/system_file.h"
#include "core/text.h"
#include "core/unfinished.h"
#include "program/program.h"
#include "program/program_file.h"
#include "record/relay.h"
#include "runner/supervise.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define SECOND_NS UINT64_C(1000000000)

static void held_signals(sigset_t *out)
{
    sigemptyset(out);
    sigaddset(out, SIGCHLD);
    sigaddset(out, SIGINT);
    sigaddset(out, SIGQUIT);
    sigaddset(out, SIGTERM);
    sigaddset(out, SIGHUP);
}

/* Blocks the signals that could end this process. Also resets SIGCHLD, because a parent may have
 * left it ignored, and the command's exit status would then be lost. */
static void hold_signals(struct ab_launch *l)
{
    sigset_t held;
    struct sigaction plain = {.sa_handler = SIG_DFL};
    held_signals(&held);
    sigprocmask(SIG_BLOCK, &held, &l->old_mask);
    sigaction(SIGCHLD, &plain, &l->old_child);
    l->is_holding = true;
}

/* True if this process ignores the signal, as nohup and `trap '' INT` arrange. */
static bool is_ignored(int signal)
{
    struct sigaction now;
    return sigaction(signal, NULL, &now) == 0 && now.sa_handler == SIG_IGN;
}

/* Discards the signals that came while they were blocked. If the recording is contained, stores the
 * first of them in l->signal, because the caller must know that it was interrupted. */
static void take_held_signals(struct ab_launch *l)
{
    sigset_t held;
    struct timespec no_time = {0, 0};
    held_signals(&held);
    for (int signal; (signal = sigtimedwait(&held, NULL, &no_time)) > 0;)
        if (l->is_contained && l->signal == 0 && signal != SIGCHLD && !is_ignored(signal))
            l->signal = signal;
}

static void give_back_signals(const struct ab_launch *l)
{
    sigaction(SIGCHLD, &l->old_child, NULL);
    sigprocmask(SIG_SETMASK, &l->old_mask, NULL);
}

static void drop_signals(struct ab_launch *l)
{
    if (!l->is_holding)
        return;
    take_held_signals(l);
    give_back_signals(l);
    l->is_holding = false;
}

/* Creates a link to a library in the folder if LD_PRELOAD cannot contain the library's path,
 * because of blanks, colons or '$'. Other libraries get no link, because background processes may
 * outlive the folder, and ld.so would complain about a missing recorder. */
static enum ab_status alias_library(const struct ab_launch *l, const char *name, char path[4096],
                                    struct ab_err *err)
{
    char alias[PATH_MAX];
    if (strpbrk(path, " :;,$\t\n") == NULL)
        return AB_OK;
    AB_FIT(alias, "%s/%s", l->folder, name);
    if (symlink(path, alias) != 0)
        return ab_fail_errno(err, AB_SYSTEM, "cannot write in %s", l->folder);
    snprintf(path, 4096, "%s", alias);
    return AB_OK;
}

static enum ab_status mark_frames(struct ab_launch *l, struct ab_err *err)
{
    AB_TRY(ab_companion_path(AB_FRAMES_NAME, l->frames, sizeof l->frames, err));
    return alias_library(l, "frames.so", l->frames, err);
}

/* Creates the folder that the user named. Makes its path absolute, because the command may change
 * its directory. */
static enum ab_status make_named_folder(struct ab_launch *l, const char *path, struct ab_err *err)
{
    char whole[PATH_MAX], shown[512];
    ab_text_printable(shown, sizeof shown, path);
    if (mkdir(path, 0700) != 0)
        return ab_fail_errno(err, AB_USAGE, "cannot create the folder %s for the spool", shown);
    bool has_path = realpath(path, whole) != NULL && strlen(whole) <= sizeof l->folder - 64;
    if (!has_path) {
        rmdir(path);
        return ab_fail(err, AB_USAGE, "the path of %s is too long for a spool", shown);
    }
    AB_FIT(l->folder, "%.*s", (int)sizeof l->folder - 1, whole);
    return AB_OK;
}

static enum ab_status make_folder(struct ab_launch *l, const char *in, struct ab_err *err)
{
    const char *places[] = {in, ab_temporary_place(), "/tmp", "/var/tmp"};
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        if (places[i] == NULL || strpbrk(places[i], " :;,$\t\n") != NULL || places[i][0] != '/' ||
            strlen(places[i]) > sizeof l->folder - 64)
            continue;
        AB_FIT(l->folder, "%s/allocbench-XXXXXX", places[i]);
        if (mkdtemp(l->folder) != NULL) {
            l->owner_fd = ab_temporary_own(l->folder);
            return AB_OK;
        }
    }
    l->folder[0] = 0;
    return ab_fail_errno(err, AB_SYSTEM,
                         "cannot create a folder for the spool in $TMPDIR, /tmp or /var/tmp");
}

/* Appends "/0123…", an unguessable name of 128 bits, to a path. */
static bool add_secret(char *path, size_t cap)
{
    uint64_t secret[2];
    size_t n = strlen(path);
    if (getrandom(secret, sizeof secret, 0) != (ssize_t)sizeof secret)
        return false;
    snprintf(path + n, cap - n, "/%016llx%016llx", (unsigned long long)secret[0],
             (unsigned long long)secret[1]);
    return true;
}

static bool make_passage(struct ab_launch *l)
{
    return add_secret(l->inner, sizeof l->inner) && mkdir(l->inner, 0700) == 0 &&
           chmod(l->inner, 0711) == 0 && chmod(l->folder, 0711) == 0;
}

/* Creates the spool within the private folder. Processes of any user can write to the spool, but
 * cannot remove each other's files (sticky bit). If root records, the path is open as well, because
 * a program that root starts as another user must reach the spool (spool.h). */
static enum ab_status make_open_folder(struct ab_launch *l, struct ab_err *err)
{
    AB_COPY(l->inner, l->folder);
    bool is_made = geteuid() != 0 || make_passage(l);
    AB_FIT(l->spool, "%s/%s", l->inner, AB_SPOOL_FOLDER);
    if (!is_made || mkdir(l->spool, 0700) != 0 || chmod(l->spool, 01777) != 0)
        return ab_fail_errno(err, AB_SYSTEM, "cannot write in %s", l->folder);
    AB_FIT(l->part, "%s/%s", l->inner, AB_LIVE_CONVERTER_PART);
    return AB_OK;
}

static const struct ab_program_use recording = {
    .done = "recorded",
    .loaded = "the recorder",
    .needs = "the recorder needs glibc",
};

enum ab_status ab_launch_check(const char *path, struct ab_err *err)
{
    return ab_program_file_check(path, &recording, err);
}

enum ab_status ab_launch_prepare(const char *command, struct ab_launch_folder folder,
                                 struct ab_launch *out, int *exit_code, struct ab_err *err)
{
    struct ab_launch l = {.folder = "", .owner_fd = -1};
    *exit_code = AB_LAUNCH_NOT_FOUND;
    if (!ab_program_file_find(command, l.program, sizeof l.program)) {
        bool is_there = strchr(command, '/') != NULL && access(command, F_OK) == 0;
        if (is_there)
            *exit_code = AB_LAUNCH_CANNOT_RUN;
        return ab_fail(err, AB_USAGE, is_there ? "%s is not executable%s" : "%s: no such program%s",
                       AB_SHOWN(512, command), ab_program_file_hint(command));
    }
    *exit_code = AB_LAUNCH_FAILED;
    enum ab_status status = ab_launch_check(l.program, err);
    if (status == AB_OK)
        status = ab_companion_path(AB_RECORDER_NAME, l.recorder, sizeof l.recorder, err);
    if (status != AB_OK)
        return status;
    hold_signals(&l);
    status = folder.kept != NULL ? make_named_folder(&l, folder.kept, err)
                                 : make_folder(&l, folder.in, err);
    if (status == AB_OK)
        status = make_open_folder(&l, err);
    if (status != AB_OK || (status = alias_library(&l, "recorder.so", l.recorder, err)) != AB_OK)
        ab_launch_clean(&l);
    else
        *out = l;
    return status;
}

static void remove_folder(const char *path)
{
    DIR *folder = path[0] == 0 ? NULL : opendir(path);
    if (folder == NULL)
        return;
    for (struct dirent *e; (e = readdir(folder)) != NULL;)
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
            unlinkat(dirfd(folder), e->d_name, 0);
    closedir(folder);
    rmdir(path);
}

/* Makes a kept folder accessible to its owner only, and moves spool and unfinished trace from the
 * inner folder into it. */
static void close_to_others(const struct ab_launch *l)
{
    char spool[sizeof l->spool], part[sizeof l->part];
    if (strcmp(l->inner, l->folder) == 0)
        return;
    AB_FIT(spool, "%s/%s", l->folder, AB_SPOOL_FOLDER);
    AB_FIT(part, "%s/%s", l->folder, AB_LIVE_CONVERTER_PART);
    chmod(l->folder, 0700);
    rename(l->spool, spool);
    rename(l->part, part);
    rmdir(l->inner);
}

/* Ends the processes that a contained command has left in its process group. */
static void end_group(pid_t group)
{
    kill(-group, SIGKILL);
    while (waitpid(-group, NULL, 0) > 0)
        ;
    ab_guardian_forget(group);
}

void ab_launch_clean(struct ab_launch *l)
{
    if (l->is_contained && l->pid > 0)
        end_group(l->pid);
    ab_live_converter_close(l->along);
    l->along = NULL;
    ab_relay_close(l->relay);
    l->relay = NULL;
    if (!l->is_kept) {
        remove_folder(l->spool);
        remove_folder(l->inner);
        remove_folder(l->folder);
    } else
        close_to_others(l);
    if (l->owner_fd >= 0)
        close(l->owner_fd);
    l->owner_fd = -1;
    l->folder[0] = l->inner[0] = l->spool[0] = 0;
    drop_signals(l);
}

/* Handling of signals: those of a terminal reach the command directly, because it is in the same
 * process group. Signals that are sent only to us are passed on. In both cases we keep running, to
 * convert the recording and to remove the folder. So these signals are blocked while the folder
 * exists. A second signal ends the recording even if the command goes on. Signals after the end of
 * the recording end the conversion. */

/* ---- starting the command ---- */

/* Sets the environment of the command. The recorder comes before the user's preloaded libraries, so
 * that these serve its calls. */
static bool set_environment(const struct ab_launch *l)
{
    struct ab_text preload = {0};
    char pid[24];
    const char *users = getenv("LD_PRELOAD");
    AB_FIT(pid, "%d%s", (int)getpid(), l->takes_children ? "+" : "");
    ab_text_addf(&preload, "%s%s%s%s%s", l->recorder, l->frames[0] != 0 ? ":" : "", l->frames,
                 users != NULL && users[0] != 0 ? ":" : "", users != NULL ? users : "");
    bool is_set = setenv("LD_PRELOAD", preload.s, 1) == 0 &&
                  setenv(AB_SPOOL_ENV_FOLDER, l->spool, 1) == 0 &&
                  setenv(AB_SPOOL_ENV_PID, pid, 1) == 0;
    ab_text_fini(&preload);
    return is_set;
}

/* Gives the command a process group and streams of its own. */
static bool contain(const struct ab_launch *l, pid_t parent)
{
    int in = open(l->stdin_path != NULL ? l->stdin_path : "/dev/null", O_RDONLY | O_CLOEXEC);
    int out = open("/dev/null", O_WRONLY | O_CLOEXEC);
    ab_spawn_detach(parent);
    return in >= 0 && out >= 0 && dup2(in, STDIN_FILENO) >= 0 && dup2(out, STDOUT_FILENO) >= 0;
}

/* Executes the command. On failure, writes errno to the pipe `report`. A successful exec closes
 * this pipe. */
static _Noreturn void become_command(const struct ab_launch *l, const char *const *argv,
                                     pid_t parent, int report)
{
    if ((!l->is_contained || contain(l, parent)) && set_environment(l)) {
        give_back_signals(l);
        execv(l->program, (char *const *)argv);
    }
    int why = errno;
    ssize_t ignored = write(report, &why, sizeof why);
    (void)ignored;
    _exit(AB_LAUNCH_CANNOT_RUN);
}

static enum ab_status start(struct ab_launch *l, const char *const *argv, struct ab_err *err)
{
    int report[2], why = 0;
    pid_t parent = getpid();
    if (pipe2(report, O_CLOEXEC) != 0)
        return ab_fail_errno(err, AB_SYSTEM, "cannot start the command");
    pid_t pid = fork();
    if (pid == 0)
        become_command(l, argv, parent, report[1]);
    close(report[1]);
    ssize_t n = pid < 0 ? 0 : read(report[0], &why, sizeof why);
    close(report[0]);
    if (pid < 0)
        return ab_fail_errno(err, AB_SYSTEM, "cannot start the command");
    if (n > 0) {
        waitpid(pid, NULL, 0);
        errno = why;
        return ab_fail_errno(err, AB_USAGE, "cannot run %s", AB_SHOWN(512, l->program));
    }
    l->pid = pid;
    if (l->is_contained) {
        setpgid(pid, pid);
        ab_guardian_add(pid);
    }
    return AB_OK;
}

/* Reads the last name and the page faults of a process that has ended, before the process is waited
 * for. */
static void read_end(pid_t pid, struct ab_launch_end *end)
{
    struct ab_process_stat stat;
    if (!ab_process_stat_of(pid, &stat))
        return;
    AB_COPY(end->comm, stat.name);
    end->own_faults = stat.faults;
    end->children_faults = stat.children_faults;
}

/* Begins to serve the recorder and to convert the recording. If children are recorded too,
 * conversion waits until the end, because a child needs its parent's events from the beginning. */
static enum ab_status serve(struct ab_launch *l, struct ab_err *err)
{
    struct ab_live_converter_options along = {.folder = l->spool,
                                              .part = l->part,
                                              .command = (uint32_t)l->pid,
                                              .from_bytes = l->along_bytes,
                                              .is_eager = l->is_eager,
                                              .relay = l->relay};
    AB_TRY(ab_relay_serve(l->relay, err));
    if (l->along_bytes == 0 || l->takes_children)
        return AB_OK;
    l->along = ab_live_converter_start(&along);
    return AB_OK;
}

/* Returns half of the free disk space in bytes, because other programs need space too; 0 =
 * unknown. */
static uint64_t share_of_disk(const struct ab_launch *l)
{
    struct statvfs st;
    return statvfs(l->spool, &st) == 0 ? (uint64_t)st.f_bavail * st.f_frsize / 2 : 0;
}

enum ab_status ab_launch_start(struct ab_launch *l, const char *const *argv, struct ab_err *err)
{
    struct ab_relay_options options = {.most_events = l->most_events,
                                       .most_bytes = l->most_bytes,
                                       .why_full = AB_SPOOL_FULL,
                                       .site_depth = l->site_depth,
                                       .has_time = l->has_time};
    if (options.most_bytes == 0) {
        options.most_bytes = share_of_disk(l);
        options.why_full = AB_SPOOL_SHARE;
    }
    if (l->marks_frames)
        AB_TRY(mark_frames(l, err));
    if (options.most_bytes > 0 && l->along_bytes > options.most_bytes / 2)
        /* converts early enough to stay within the limit */
        l->along_bytes = options.most_bytes / 2;
    AB_TRY(ab_relay_open(l->spool, options, &l->relay, err));
    if (l->takes_children)
        prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    l->begin_ns = ab_clock_now_ns();
    l->next_show_ns = l->begin_ns + SECOND_NS;
    l->begin_ticks = ab_tick_end();
    enum ab_status status = start(l, argv, err);
    if (status == AB_OK && serve(l, err) != AB_OK) {
        kill(l->pid, SIGKILL);
        waitpid(l->pid, NULL, 0);
        status = AB_SYSTEM;
    }
    return status;
}

/* ---- the end of the recording ---- */

enum { AT_DEADLINE = -1, LOOK_NS = 200000000 };
#define GRACE_NS UINT64_C(5000000000)
#define UNSEEN_NS UINT64_C(3000000000)

/* ---- progress, once a second, and less often if showing it takes long ---- */

enum { LEAST_SHARE = 20 }; /* showing takes at most 1/LEAST_SHARE of the time */

/* Returns the time in ns until the progress must be shown next; UINT64_MAX = it is not shown. */
static uint64_t rest_of_second(const struct ab_launch *l)
{
    uint64_t now = ab_clock_now_ns();
    if (l->watch.show == NULL)
        return UINT64_MAX;
    return now < l->next_show_ns ? l->next_show_ns - now : 0;
}

/* Shows the progress if it is time for that. */
static void show_progress(struct ab_launch *l)
{
    uint64_t begin = ab_clock_now_ns();
    if (l->watch.show == NULL || begin < l->next_show_ns)
        return;
    struct ab_relay_view view = ab_relay_look(l->relay);
    l->watch.show(l->watch.user, &(struct ab_launch_progress){
                                     .spent_ns = begin - l->begin_ns,
                                     .n_calls = view.n_calls,
                                     .n_events = view.n_events,
                                     .n_converted = ab_live_converter_events(l->along),
                                     .spool_bytes = view.spool_bytes,
                                     .is_ended = view.is_ended,
                                 });
    uint64_t spent = (ab_clock_now_ns() - begin) * LEAST_SHARE;
    l->next_show_ns = begin + (spent > SECOND_NS ? spent : SECOND_NS);
}

/* Waits for the next signal and returns it. Returns 0 after `most_ns`, and AT_DEADLINE after the
 * deadline. */
static int next_signal(struct ab_launch *l, uint64_t deadline, uint64_t most_ns, siginfo_t *got)
{
    sigset_t held;
    held_signals(&held);
    show_progress(l);
    uint64_t now = ab_clock_now_ns(), rest_ns = rest_of_second(l);
    if (now >= deadline)
        return AT_DEADLINE;
    most_ns = rest_ns < most_ns ? rest_ns : most_ns;
    uint64_t ns = deadline - now < most_ns ? deadline - now : most_ns;
    struct timespec most = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)};
    int signal = sigtimedwait(&held, got, &most);
    return signal > 0 ? signal : 0;
}

static bool has_ended(const struct ab_launch *l)
{
    siginfo_t ended = {0};
    return waitid(P_PID, (id_t)l->pid, &ended, WEXITED | WNOWAIT | WNOHANG) != 0 ||
           ended.si_pid == l->pid;
}

/* Waits until the command has ended or the recording must end. Passes signals on to the command. A
 * signal with si_code > 0 comes from the kernel, as ^C does, and is not passed on, because the
 * command has received it too. */
static enum ab_spool_stop await_command(struct ab_launch *l, uint64_t deadline)
{
    siginfo_t got;
    while (!has_ended(l)) {
        int signal = next_signal(l, deadline, 3600 * SECOND_NS, &got);
        if (signal == AT_DEADLINE)
            return AB_SPOOL_TIME_UP;
        if (signal == 0 || signal == SIGCHLD || (l->is_contained && is_ignored(signal)))
            continue;
        if (l->is_contained || (signal != SIGQUIT && ++l->n_signals > 1)) {
            l->signal = signal;
            return AB_SPOOL_SIGNAL;
        }
        if (got.si_code <= 0)
            kill(l->pid, signal);
    }
    return AB_SPOOL_RUNNING;
}

/* Reaps ended children and returns true if others still run. Orphans of the command are children of
 * this process. */
static bool has_left(void)
{
    pid_t pid;
    while ((pid = waitpid(-1, NULL, WNOHANG)) > 0)
        ;
    return pid == 0;
}

/* True if the recorder is loaded in the process, even before its first call. */
static bool maps_spool(const struct ab_launch *l, pid_t pid)
{
    char path[sizeof l->spool + 16];
    struct stat st;
    AB_FIT(path, "%s/%s", l->spool, AB_SPOOL_CONTROL);
    return stat(path, &st) == 0 && ab_process_maps(pid, AB_SPOOL_CONTROL, st.st_ino);
}

static bool is_recorded(void *user, pid_t pid)
{
    return maps_spool(user, pid);
}

/* With --wait, waits until no process that the command left behind is recorded any more. Allows for
 * processes that are just executing another program and have no recorder for a moment. Returns why
 * the wait ended; AB_SPOOL_RUNNING if no recorded process is left. */
static enum ab_spool_stop await_others(struct ab_launch *l, uint64_t deadline)
{
    siginfo_t got;
    uint64_t seen_ns = ab_clock_now_ns();
    while (has_left()) {
        if (!l->is_waiting)
            return AB_SPOOL_ENDED;
        int signal = next_signal(l, deadline, LOOK_NS, &got);
        if (signal == AT_DEADLINE)
            return AB_SPOOL_TIME_UP;
        if (signal > 0 && signal != SIGCHLD)
            return AB_SPOOL_SIGNAL;
        if (ab_descendants_each(getpid(), is_recorded, l))
            seen_ns = ab_clock_now_ns();
        else if (ab_clock_now_ns() - seen_ns > UNSEEN_NS)
            break;
    }
    return AB_SPOOL_RUNNING;
}

static void reap(struct ab_launch *l)
{
    int ended = 0;
    read_end(l->pid, &l->end);
    waitpid(l->pid, &ended, 0);
    l->end.code = WIFEXITED(ended) ? WEXITSTATUS(ended) : 128 + WTERMSIG(ended);
    l->end.is_known = true;
}

/* Returns the CPU time in ns of all ended processes: the command, the children that it waited for,
 * and the orphans that it left. Returns 0 on failure. */
static uint64_t children_cpu_ns(void)
{
    struct rusage u;
    if (getrusage(RUSAGE_CHILDREN, &u) != 0)
        return 0;
    return (uint64_t)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * UINT64_C(1000000000) +
           (uint64_t)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1000;
}

bool ab_launch_await(struct ab_launch *l)
{
    uint64_t deadline = l->duration_ns == 0 ? UINT64_MAX : l->begin_ns + l->duration_ns;
    enum ab_spool_stop why = await_command(l, deadline);
    l->end.wall_ticks = ab_tick_end() - l->begin_ticks;
    l->end.wall_ns = ab_clock_now_ns() - l->begin_ns;
    if (why == AB_SPOOL_RUNNING) {
        reap(l);
        if (l->takes_children)
            why = await_others(l, deadline);
        l->end.has_left = why != AB_SPOOL_RUNNING;
        l->end.cpu_ns = l->end.has_left ? 0 : children_cpu_ns();
    }
    if (l->watch.end != NULL)
        l->watch.end(l->watch.user);
    if (why != AB_SPOOL_RUNNING)
        ab_relay_stop(l->relay, why);
#define LOOK(name) l->end.has_frames |= ab_relay_has_mark(l->relay, #name);
    AB_FRAMES(LOOK)
    ab_live_converter_stop(l->along);
    ab_relay_close(l->relay);
    l->relay = NULL;
    take_held_signals(l);
    return why == AB_SPOOL_TIME_UP;
}

/* Processes to end, as pidfds, because process ids may be reused meanwhile. */
struct stopping {
    const struct ab_launch *launch;
    struct pollfd *ends;
    size_t n, cap;
};

static bool add_stopping(void *user, pid_t pid)
{
    struct stopping *s = user;
    int fd = (int)syscall(SYS_pidfd_open, pid, 0);
    if (fd < 0)
        return false;
    AB_GROW(s->ends, s->cap, s->n);
    s->ends[s->n++] = (struct pollfd){.fd = fd, .events = POLLIN};
    return false;
}

/* Adds the process if it is recorded. It is an orphan of the command, or a descendant of an
 * orphan. */
static bool add_recorded(void *user, pid_t pid)
{
    const struct stopping *s = user;
    return maps_spool(s->launch, pid) && add_stopping(user, pid);
}

/* Sends the signal to those of the processes that still run; 0 = no signal. Returns the number of
 * running processes. */
static size_t signal_stopping(struct stopping *s, int signal)
{
    size_t n = 0;
    for (size_t i = 0; i < s->n; i++)
        if (s->ends[i].fd >= 0 && poll(&s->ends[i], 1, 0) == 0) {
            if (signal != 0)
                syscall(SYS_pidfd_send_signal, s->ends[i].fd, signal, NULL, 0);
            n++;
        }
    return n;
}

void ab_launch_stop(struct ab_launch *l)
{
    enum { LOOK_US = 20000 };
    struct stopping s = {.launch = l};
    uint64_t begin = ab_clock_now_ns();
    l->is_stopped = true;
    if (!l->end.is_known) {
        add_stopping(&s, l->pid);
        ab_descendants_each(l->pid, add_stopping, &s);
    } else
        ab_descendants_each(getpid(), add_recorded, &s);
    for (size_t n = signal_stopping(&s, SIGTERM); n > 0; n = signal_stopping(&s, 0)) {
        if (ab_clock_now_ns() - begin > GRACE_NS) {
            signal_stopping(&s, SIGKILL);
            break;
        }
        usleep(LOOK_US);
    }
    for (size_t i = 0; i < s.n; i++)
        close(s.ends[i].fd);
    free(s.ends);
}

int ab_launch_finish(struct ab_launch *l)
{
    if (l->signal != 0)
        return 128 + l->signal;
    if (!l->end.is_known) {
        await_command(l, UINT64_MAX);
        if (l->signal != 0)
            return 128 + l->signal;
        reap(l);
    }
    return l->end.code;
}
