/* SPDX-License-Identifier: MIT
 *
 * A program that gives up rights, as daemons do: prog_confined WHO HOW N
 *   self      makes N calls, gives up, makes N more
 *   children  four one after another make 2 N calls each; the second gives up in the middle
 *   early     the second gives up before its first call
 *   threads   gives up, then starts three threads of 2 N calls each
 *   forks     gives up, then forks three children of 2 N calls each
 *   exec      makes N calls, then becomes /inside of the folder HOW, its root from then on
 * HOW it gives up: none, free (a block that was inherited, and ends), idle (ends without a call),
 * chroot, setuid, nofile (no descriptor beyond 2), nofile0 (none at all), fsize (files of no
 * size), closed (all descriptors), all (chroot, setuid, nofile, fsize, closed), strict (seccomp's strict
 * mode, in which only read, write and the end of the thread are left).
 */
#include <errno.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *how;
static long n_calls;
static void *inherited;

static void work(long n)
{
    for (long i = 0; i < n / 2; i++) {
        volatile char *p = malloc((size_t)(i % 300) + 1);
        free((void *)p);
    }
}

static int is(const char *what)
{
    return strcmp(how, what) == 0 || (strcmp(how, "all") == 0 && strcmp(what, "nofile0") != 0);
}

static void limit(int resource, rlim_t most)
{
    struct rlimit l = {most, most};
    if (setrlimit(resource, &l) != 0)
        _exit(20);
}

static void give_up(void)
{
    if (strcmp(how, "free") == 0 || strcmp(how, "idle") == 0) {
        if (how[0] == 'f')
            free(inherited);
        _exit(0);
    }
    if (strcmp(how, "strict") == 0) {
        if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) != 0)
            _exit(26);
        work(n_calls);
        syscall(SYS_exit, write(STDOUT_FILENO, "strict\n", 7) == 7 ? 5 : 27);
    }
    if (is("closed"))
        closefrom(3);
    if (is("nofile"))
        limit(RLIMIT_NOFILE, 3);
    if (is("nofile0"))
        limit(RLIMIT_NOFILE, 0);
    if (is("fsize"))
        limit(RLIMIT_FSIZE, 0);
    if (is("chroot") && (chdir("/proc/self") != 0 || chroot(".") != 0))
        _exit(21);
    if (is("setuid") && (setgid(65534) != 0 || setuid(65534) != 0))
        _exit(22);
}

static void *in_thread(void *arg)
{
    work(2 * n_calls);
    return arg;
}

static void children(int n, int is_early)
{
    for (int child = 1; child <= n; child++) {
        int status;
        pid_t pid = fork();
        if (pid != 0) {
            if (pid < 0 || waitpid(pid, &status, 0) != pid || status != 0)
                _exit(23);
            continue;
        }
        if (child == 2 && is_early)
            give_up();
        work(n_calls);
        if (child == 2 && !is_early)
            give_up();
        work(n_calls);
        _exit(0);
    }
}

static void threads(void)
{
    pthread_t t[3];
    for (int i = 0; i < 3; i++)
        if (pthread_create(&t[i], NULL, in_thread, NULL) != 0)
            _exit(24);
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], NULL);
}

int main(int argc, char **argv)
{
    const char *who = argc == 4 ? argv[1] : "";
    if (argc != 4)
        return 2;
    how = argv[2];
    n_calls = atol(argv[3]);
    inherited = malloc(100);
    if (strcmp(how, "free") != 0)
        free(inherited);
    if (strcmp(who, "children") == 0 || strcmp(who, "early") == 0) {
        children(4, who[0] == 'e');
        return 5;
    }
    work(n_calls);
    if (strcmp(who, "exec") == 0) {
        if (chdir(how) == 0 && chroot(".") == 0)
            execl("/inside", "inside", "self", "none", argv[3], (char *)NULL);
        return 25;
    }
    give_up();
    if (strcmp(who, "threads") == 0)
        threads();
    else if (strcmp(who, "forks") == 0) {
        how = "none";
        children(3, 0);
    } else
        work(n_calls);
    return 5;
}
