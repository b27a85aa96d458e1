/* SPDX-License-Identifier: MIT
 *
 * Runs a command and writes to a file how much memory it had at most, in KiB. Small itself, because
 * the peak of a process counts what it was before it became the command.
 *   usage: peak_rss FILE COMMAND…      Exits as the command did.
 */
#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>

extern char **environ;

int main(int argc, char **argv)
{
    struct rusage usage;
    pid_t pid;
    int status;
    if (argc < 3 || posix_spawnp(&pid, argv[2], NULL, NULL, argv + 2, environ) != 0)
        return 127;
    while (wait4(pid, &status, 0, &usage) < 0)
        if (errno != EINTR)
            return 127;
    FILE *to = fopen(argv[1], "w");
    if (to == NULL || fprintf(to, "%ld\n", usage.ru_maxrss) < 0 || fclose(to) != 0)
        return 127;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
