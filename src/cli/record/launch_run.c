/* SPDX-License-Identifier: MIT
 *
 * The signals of a terminal reach the command by themselves, being in the same group; those that
 * somebody sends to us alone are passed on. Either way we live on, to convert what was recorded
 * and to remove the folder: from its making to its removal these signals are blocked here. A second
 * one ends the recording of a command that goes on all the same. Those that come once the recording
 * has ended are seen by the conversion, which they end.
 */
#include "cli/record/launch.h"

#include "base/clock.h"
#include "cli/record/descendants.h"
#include "core/text.h"
#include "record/relay.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

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
void ab_launch_hold_signals(struct ab_launch *l)
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

void ab_launch_drop_signals(struct ab_launch *l)
{
    if (!l->is_holding)
        return;
    drop_signals();
    give_back_signals(l);
    l->is_holding = false;
}

/* ---- the start ---- */

/* Ours in front of what the user preloads, so that it stays behind us and serves the calls. */
static bool set_environment(const struct ab_launch *l)
{
    struct ab_text preload = {0};
    char pid[24];
    const char *users = getenv("LD_PRELOAD");
    snprintf(pid, sizeof pid, "%d%s", (int)getpid(), l->takes_children ? "+" : "");
    ab_text_addf(&preload, "%s%s%s%s%s", l->recorder, l->frames[0] != 0 ? ":" : "", l->frames,
                 users != NULL && users[0] != 0 ? ":" : "", users != NULL ? users : "");
    bool is_set = setenv("LD_PRELOAD", preload.s, 1) == 0 &&
                  setenv(AB_SPOOL_ENV_FOLDER, l->spool, 1) == 0 &&
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

static enum ab_status start(struct ab_launch *l, const char *const *argv, struct ab_err *err)
{
    int report[2], why = 0;
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
        return ab_fail_errno(err, AB_USAGE, "cannot run %s", AB_SHOWN(512, l->program));
    }
    l->pid = pid;
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

/* Children need what their parents did from its begin: where they are recorded too, all is converted
 * at the end. */
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

/* Half of what is free: the command, and others, need space too. 0 = it cannot be known. */
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
    if (options.most_bytes > 0 && l->along_bytes > options.most_bytes / 2)
        l->along_bytes = options.most_bytes / 2; /* early enough to stay within the bound */
    AB_TRY(ab_relay_open(l->spool, options, &l->relay, err));
    if (l->takes_children)
        prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    l->begin_ns = ab_clock_now_ns();
    l->begin_ticks = ab_tick_end();
    enum ab_status status = start(l, argv, err);
    if (status == AB_OK && serve(l, err) != AB_OK) {
        kill(l->pid, SIGKILL);
        waitpid(l->pid, NULL, 0);
        status = AB_SYSTEM;
    }
    return status;
}

/* ---- the end ---- */

enum { AT_DEADLINE = -1, LOOK_NS = 200000000 };
#define UNSEEN_NS UINT64_C(3000000000)

/* The next signal within `most_ns`, or 0; AT_DEADLINE once it is past. */
static int next_signal(struct ab_launch *l, uint64_t deadline, uint64_t most_ns, siginfo_t *got)
{
    sigset_t held;
    held_signals(&held);
    ab_live_line_show(&l->live, l->relay, ab_live_converter_events(l->along));
    uint64_t now = ab_clock_now_ns(), rest_ns = ab_live_line_rest_ns(&l->live);
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

/* Until the command has ended, or the recording is to end before. si_code > 0: from the kernel, as
 * ^C is, and the command has got it too. */
static enum ab_spool_stop await_command(struct ab_launch *l, uint64_t deadline)
{
    enum { HOUR_NS_E9 = 3600 };
    siginfo_t got;
    while (!has_ended(l)) {
        int signal = next_signal(l, deadline, HOUR_NS_E9 * UINT64_C(1000000000), &got);
        if (signal == AT_DEADLINE)
            return AB_SPOOL_TIME_UP;
        if (signal == 0 || signal == SIGCHLD)
            continue;
        if (signal != SIGQUIT && ++l->n_signals > 1) {
            l->signal = signal;
            return AB_SPOOL_SIGNAL;
        }
        if (got.si_code <= 0)
            kill(l->pid, signal);
    }
    return AB_SPOOL_RUNNING;
}

/* Orphans of the command are ours, so that we know of them; those that have ended are reaped. */
static bool has_left(void)
{
    pid_t pid;
    while ((pid = waitpid(-1, NULL, WNOHANG)) > 0)
        ;
    return pid == 0;
}

/* Is the recorder in any of those that are left? They may not have made a call yet. */
static bool is_recording(const struct ab_launch *l)
{
    char path[sizeof l->spool + 16];
    struct stat st;
    snprintf(path, sizeof path, "%s/%s", l->spool, AB_SPOOL_CONTROL);
    return stat(path, &st) == 0 && ab_descendants_map(getpid(), AB_SPOOL_CONTROL, st.st_ino);
}

/* Those that the command has left: with --wait until none of them is recorded any more. One that is
 * just becoming another program has no recorder for a moment. */
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
        if (is_recording(l))
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

void ab_launch_await(struct ab_launch *l)
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
    }
    ab_live_line_end(&l->live);
    if (why != AB_SPOOL_RUNNING)
        ab_relay_stop(l->relay, why);
#define LOOK(name) l->end.has_frames |= ab_relay_has_mark(l->relay, #name);
    AB_FRAMES(LOOK)
    ab_live_converter_stop(l->along);
    ab_relay_close(l->relay);
    l->relay = NULL;
    drop_signals();
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
